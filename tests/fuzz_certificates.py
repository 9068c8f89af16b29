"""Flip bits of certificate files and see what the checker says; `make fuzz-certificates`.

Half of the flips hit the archive as it is. It is refused, or the flip is in a part that is not read
(a date, say) and everything that is read is unchanged. The other half hit an array and the archive
is written anew, so that no checksum gives them away. The checker refuses, or the claim of the
changed file is confirmed in rational arithmetic: a flip in the last bits of a multiplier is
harmless. A tenth of the files has an odd or missing field in its header instead.

    python tests/fuzz_certificates.py --flips 10000 --seed 7
"""

from __future__ import annotations

import argparse
import io
import json
import math
import sys
import time
from collections import Counter
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
from certificates import make_vectors

from rectiline import verify

VECTORS = Path(__file__).parent / "certificates" / "vectors"
# What a field of a header may be changed to: most are wrong there.
ODD: list[Any] = [None, True, False, 0, 1, -1, 2, 1.5, 2**70, "", "x", "0x1p+0", [], [1], ["a"]]
ODD += [[None], [[1, 2]], {}, {"a": 1}, math.inf]
VALID = sorted(VECTORS.glob("valid_*.rlcert"))
FALLING = ("valid_19", "valid_29")  # infeasible, unbounded
PROOFS = [path for path in VALID if not path.name.startswith(FALLING)]


@cache
def content(path: Path) -> tuple[bytes, dict, dict]:
    """Return a vector as bytes and as what is read from it."""
    return path.read_bytes(), *verify.read(path)


@cache
def blocks(path: Path) -> list[tuple[np.ndarray, np.ndarray]]:
    """Return the data that a vector is about."""
    with np.load(VECTORS / f"{path.stem.split('_')[2]}.npz") as data:
        return [(data["X"], data["y"])]


def flip(data: bytes, rng: np.random.Generator) -> bytes:
    """Return the bytes with one bit flipped."""
    changed = bytearray(data)
    changed[rng.integers(len(changed))] ^= 1 << int(rng.integers(8))
    return bytes(changed)


def flip_the_archive(path: Path, rng: np.random.Generator) -> str:
    """Flip a bit of the file; AssertionError if other numbers are read from it then."""
    data, same_header, same_arrays = content(path)
    try:
        header, arrays = verify.read(io.BytesIO(flip(data, rng)))
    except verify.Refused:
        return "archive refused"
    assert header == same_header and arrays.keys() == same_arrays.keys(), path.name
    for name, values in arrays.items():
        assert values.tobytes() == same_arrays[name].tobytes(), f"{path.name}: {name}"
    return "archive unchanged"


def flip_an_array(path: Path, rng: np.random.Generator) -> str:
    """Flip a bit of an array; AssertionError if a false claim is accepted."""
    _, header, arrays = content(path)
    names = sorted(name for name, values in arrays.items() if values.size)
    name = names[int(rng.integers(len(names)))]
    old = arrays[name]
    new = np.frombuffer(flip(old.tobytes(), rng), old.dtype).reshape(old.shape)
    buffer = io.BytesIO()
    make_vectors.write(buffer, header, {**arrays, name: new})
    try:
        found = verify.check_all(buffer, blocks(path))
    except verify.Refused:
        return "array refused"
    stated = [header | one for one in header.get("problems", [{}])]
    proofs = zip(verify.check_all(buffer, blocks(path), exact=True), found, stated, strict=True)
    for exact, one, said in proofs:  # slopes next to a knot may be those of another piece
        gap = float.fromhex(said["claim"]["gap"])
        assert exact.gap <= gap and one.gap <= gap, f"{path.name}: {name}"
    return "array harmless"


def odd_header(path: Path, rng: np.random.Generator) -> dict:
    """Return the header of a file with one field that is odd or missing."""
    header = json.loads(json.dumps(content(path)[1]))
    places = list(fields(header))
    parent, key = places[int(rng.integers(len(places)))]
    if isinstance(parent, dict) and rng.random() < 0.1:
        del parent[key]
    else:
        parent[key] = ODD[int(rng.integers(len(ODD)))]
    return header


def fields(part: Any) -> Iterator[tuple[Any, Any]]:
    """Yield all objects and lists inside a header with their keys."""
    for key in range(len(part)) if isinstance(part, list) else list(part):
        yield part, key
        if isinstance(part[key], dict | list):
            yield from fields(part[key])


def change_the_header(path: Path, rng: np.random.Generator) -> str:
    """Change a field of the header; anything but a refusal or verdicts is an error."""
    buffer = io.BytesIO()
    make_vectors.write(buffer, odd_header(path, rng), content(path)[2])
    try:
        found = verify.check_all(buffer, blocks(path))
    except verify.Refused:
        return "header refused"
    assert all(map(verify.sentence, found))
    verify.stated(verify.read(buffer)[0])
    return "header harmless"


def main() -> int:
    """Run the flips, print what became of them, and return 1 if one proved something false."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--flips", type=int, default=10_000)
    parser.add_argument("--seconds", type=float, default=math.inf, help="stop after this long")
    parser.add_argument("--seed", type=int, default=0)
    arguments = parser.parse_args()
    began = time.perf_counter()
    outcomes: Counter[str] = Counter()
    for k in range(arguments.flips):
        if time.perf_counter() - began > arguments.seconds:
            break
        rng = np.random.default_rng([arguments.seed, k])
        try:
            if k % 10 == 0:
                outcomes[change_the_header(VALID[k // 10 % len(VALID)], rng)] += 1
            elif k % 2:
                outcomes[flip_an_array(PROOFS[k // 2 % len(PROOFS)], rng)] += 1
            else:
                outcomes[flip_the_archive(VALID[k // 2 % len(VALID)], rng)] += 1
        except Exception as error:  # anything but an answer or a refusal is a failure
            outcomes["FAILED"] += 1
            print(f"flip {k} of seed {arguments.seed}: {type(error).__name__}: {error}")
    seconds = time.perf_counter() - began
    print(f"{outcomes.total()} flips in {seconds:.0f} s: {dict(sorted(outcomes.items()))}")
    return 1 if outcomes["FAILED"] else 0


if __name__ == "__main__":
    sys.exit(main())
