"""A guard against getting slower: the same small races under two installed versions, in turn.

    python -m benchmarks guard --base v0.1.0            build that revision and this checkout
    python -m benchmarks guard BASE_PYTHON HEAD_PYTHON  compare two interpreters that have rectiline

Counts user-mode instructions through ``perf`` where the system allows it (repeatable to a fraction
of a percent, whatever else runs), else takes the smallest CPU time of several turns. Exit status 1
when any race got more than ``--allow`` slower. For maintainers before merging; not a test.
"""

from __future__ import annotations

import argparse
import io
import json
import os
import shutil
import subprocess
import sys
import tarfile
import tempfile
import venv
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
ROUNDS = 5

# Runs in the interpreter under test and must work with every release: public names only.
PROBE = """
import json, os, sys, time
for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ[name] = "1"
import numpy as np
import rectiline as rl
rng = np.random.default_rng(0)
def problem(n, d, loss, C, sparse=False):
    X = rng.standard_normal((n, d))
    z = X @ rng.standard_normal(d) / np.sqrt(d)
    margin = "Hinge" in type(loss).__name__
    y = np.sign(z + 0.5 * rng.standard_normal(n)) if margin else z + rng.standard_t(3, n)
    if sparse:
        from scipy.sparse import csr_matrix
        X = csr_matrix(X * (rng.random((n, d)) < 0.1))
    return rl.Problem(X, y, loss=loss, penalty=rl.penalties.Ridge(1.0),
                      sample_weight=np.full(n, C / n), fit_intercept=False)
L = rl.losses
races = {
    "hinge 10000x50 C=1": (problem(10_000, 50, L.Hinge(), 1.0), "auto"),
    "pinball 10000x50 C=1": (problem(10_000, 50, L.Pinball(0.5), 1.0), "auto"),
    "huber 10000x50 C=1": (problem(10_000, 50, L.Huber(1.0), 1.0), "auto"),
    "hinge 5000x20 C=100": (problem(5_000, 20, L.Hinge(), 100.0), "auto"),
    "hinge 5000x20 C=100 rehline": (problem(5_000, 20, L.Hinge(), 100.0), "rehline"),
    "squared hinge sparse 5000x200": (problem(5_000, 200, L.SquaredHinge(), 1.0, True), "auto"),
    "hinge 100x5 (overhead)": (problem(100, 5, L.Hinge(), 1.0), "auto"),
}
name, turns = sys.argv[1], int(sys.argv[2])
if name == "list":
    print(json.dumps(list(races)))
    sys.exit()
best = {}
for key, (p, solver) in races.items():
    if not turns or name not in ("all", key):
        continue
    rl.solve(p, solver=solver, tol=1e-6)
    best[key] = float("inf")
    for _ in range(turns):
        began = time.process_time()
        rl.solve(p, solver=solver, tol=1e-6)
        best[key] = min(best[key], time.process_time() - began)
print(json.dumps(best))
"""


def _probe(python: str, *arguments: str, prefix: tuple[str, ...] = ()) -> tuple[str, str]:
    command = [*prefix, python, "-c", PROBE, *arguments]
    done = subprocess.run(command, capture_output=True, text=True, cwd=tempfile.gettempdir())
    if done.returncode:
        raise SystemExit(f"{python} failed on {arguments[0]}:\n{done.stderr[-2000:]}")
    return done.stdout.strip().splitlines()[-1], done.stderr


def can_count() -> bool:
    """Whether ``perf`` may count instructions here."""
    if not shutil.which("perf"):
        return False
    command = ["perf", "stat", "-x,", "-e", "instructions:u", "true"]
    done = subprocess.run(command, capture_output=True, text=True)
    return done.returncode == 0 and "not" not in done.stderr.partition("instructions")[0]


def _instructions(python: str, race: str, turns: int) -> float:
    """Instructions of ``turns`` solves: a run with them minus a run without."""
    prefix = ("perf", "stat", "-x,", "-e", "instructions:u")
    counts = []
    for repeat in (0, turns):
        _, words = _probe(python, race, str(repeat), prefix=prefix)
        line = next(line for line in words.splitlines() if "instructions" in line)
        counts.append(float(line.split(",")[0]))
    return (counts[1] - counts[0]) / (turns + 1)


def _measure(pythons: dict[str, str], turns: int, count: bool) -> dict[str, dict[str, float]]:
    """The smallest number seen for each race under each interpreter, taken in turn."""
    races = json.loads(_probe(pythons["head"], "list", "0")[0])
    if count:
        return {
            which: {race: _instructions(python, race, turns) for race in races}
            for which, python in pythons.items()
        }
    best = {which: dict.fromkeys(races, float("inf")) for which in pythons}
    for _ in range(ROUNDS):
        for which, python in pythons.items():
            for race, value in json.loads(_probe(python, "all", str(turns))[0]).items():
                best[which][race] = min(best[which][race], value)
    return best


def compare(base: str, head: str, turns: int, allow: float | None) -> int:
    """Measure both in turn and print the ratios, worst last."""
    count = can_count()
    allow = allow if allow is not None else (0.05 if count else 0.20)
    unit = "instructions" if count else "CPU seconds"
    print(f"{unit}; above 1 head is slower than base, up to {1 + allow:.2f} is tolerated")
    best = _measure({"base": base, "head": head}, turns, count)
    slower = False
    for ratio, race in sorted((best["head"][r] / best["base"][r], r) for r in best["head"]):
        mark = "  SLOWER" if ratio > 1 + allow else ""
        slower = slower or bool(mark)
        before, after = best["base"][race], best["head"][race]
        print(f"{ratio:7.3f}  {race:34s} {before:12.4g} -> {after:12.4g}{mark}")
    return int(slower)


def _build(source: Path, place: Path) -> str:
    """A fresh environment with the checkout in ``source`` installed."""
    venv.create(place, with_pip=True)
    python = place / ("Scripts/python.exe" if sys.platform == "win32" else "bin/python")
    pip = [str(python), "-m", "pip", "-q", "--disable-pip-version-check", "install"]
    subprocess.run([*pip, str(source)], check=True)
    return str(python)


def _git(*arguments: str) -> bytes:
    return subprocess.run(["git", "-C", str(ROOT), *arguments], check=True, stdout=-1).stdout


def export(revision: str | None, place: Path) -> Path:
    """The files of a revision, or those of the working tree as they are, in a folder of their own.

    Building there leaves the folders that this checkout builds in alone.
    """
    if revision is not None:
        with tarfile.open(fileobj=io.BytesIO(_git("archive", revision))) as archive:
            archive.extractall(place, filter="data")
        return place
    names = _git("ls-files", "-z", "--cached", "--others", "--exclude-standard").split(b"\0")
    for name in (os.fsdecode(name) for name in names if name):
        if (ROOT / name).is_file():  # a deleted file is still listed
            (place / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(ROOT / name, place / name)
    return place


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("pythons", nargs="*", help="BASE_PYTHON HEAD_PYTHON")
    parser.add_argument("--base", help="a git revision to build and compare this checkout with")
    parser.add_argument("--turns", type=int, default=10, help="solves per measurement")
    parser.add_argument("--allow", type=float, help="tolerated slowdown (0.05 counted, 0.20 timed)")


def run(options: argparse.Namespace) -> int:
    """Build what must be built and compare; the status is 1 if a race got slower."""
    if len(options.pythons) == 2 and options.base is None:
        base, head = (os.path.abspath(python) for python in options.pythons)
        return compare(base, head, options.turns, options.allow)
    if options.base is None or options.pythons:
        raise SystemExit("guard: give either two interpreters or --base REVISION")
    with tempfile.TemporaryDirectory() as folder:
        here = Path(folder)
        pythons = []
        for name, revision in (("base", options.base), ("head", None)):
            print(f"building {revision or 'this checkout'}", flush=True)
            pythons.append(_build(export(revision, here / name), here / f"venv-{name}"))
        return compare(*pythons, options.turns, options.allow)
