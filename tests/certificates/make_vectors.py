"""Write the test vectors of the certificate format: 20 valid and 20 corrupted files, and data.

    python tests/certificates/make_vectors.py

The files are kept in the repository: a checker written elsewhere can be tested on them.
"""

from __future__ import annotations

import io
import json
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

import rectiline as rl
from rectiline import constraints as C
from rectiline import losses as L
from rectiline import penalties as P
from rectiline import verify
from rectiline.problems._saved import save_infeasibility, save_optimality

FOLDER = Path(__file__).parent / "vectors"


def data(name: str) -> dict[str, Any]:
    """Return a small table."""
    rng = np.random.default_rng(sum(name.encode()))
    if name == "wide":
        X = rng.standard_normal((12, 20)) * (rng.random((12, 20)) < 0.3)
    else:
        X = rng.standard_normal((40, 4)) * [1.0, 1e3, 1e-3, 1.0]
    y = X[:, 0] - 0.5 * X[:, 3] + 0.3 * rng.standard_normal(len(X))
    if name == "labels":
        y = np.where(y > 0, 1.0, -1.0)
    return {"X": X, "y": y, "w": rng.uniform(0.5, 2.0, len(X))}


def total(d: int, value: float) -> C.LinearEquality:
    """Return the constraint that the coefficients add up to a value."""
    return C.LinearEquality(np.ones((1, d)), [-value])


CASES: list[tuple[str, Any, Any, Any, bool, bool]] = [
    # data, loss, penalty, constraints, intercept, weights
    ("labels", L.Hinge(), P.Ridge(0.5), (), True, False),
    ("labels", L.Hinge(), P.L1(1.0), (), True, True),
    ("labels", L.SquaredHinge(), P.Ridge(1.0), (), False, False),
    ("labels", L.SmoothedHinge(), P.ElasticNet(0.5, 0.5), (), True, False),
    ("labels", L.Hinge(), P.GroupLinf(2.0, [0, 0, 1, 1]), (), True, False),
    ("labels", L.Hinge(), P.Slope([2.0, 1.5, 1.0, 0.5]), (), True, False),
    ("numbers", L.Pinball(0.9), P.Ridge(1e-3), (), True, False),
    ("numbers", L.Pinball(0.5), None, (), True, False),
    ("numbers", L.Absolute(), P.L1(2.0), (C.Nonnegative(),), True, True),
    ("numbers", L.Huber(0.5), P.Ridge(0.1), (total(4, 1.0),), True, False),
    ("numbers", L.SquaredError(), P.L1(0.5), (), False, False),
    ("numbers", L.Expectile(0.8), P.ElasticNet(0.1, 0.1), (C.Box(-0.5, 0.5),), True, True),
    ("numbers", L.EpsilonInsensitive(0.1), P.Ridge(1.0), (C.Monotone(),), True, False),
    ("numbers", L.SquaredEpsilonInsensitive(0.1), P.GroupLinf(1.0, [[0, 1]]), (), True, False),
    ("wide", L.Huber(1.0), P.L1(0.5), (), True, False),
    ("wide", L.SquaredError(), P.Slope(np.linspace(1.0, 0.1, 20)), (), True, False),
    ("wide", L.Pinball(0.3), P.L1(0.2), (total(20, 0.5),), True, False),
    ("wide", L.SquaredError(), P.Ridge(1.0), (), False, True),
    ("numbers", [L.Pinball(0.2), L.Pinball(0.8)], P.Ridge(0.1), (), True, False),
]


def parts(path: Path) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return header and arrays of a file."""
    return verify.read(path)


def write(path: Any, header: dict[str, Any], arrays: dict[str, Any]) -> None:
    """Write header and arrays as they are, without a look at what they say."""
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("header.json", json.dumps(header, indent=1))
        for name, array in sorted(arrays.items()):
            buffer = io.BytesIO()
            np.save(buffer, array)
            archive.writestr(f"{name}.npy", buffer.getvalue())


def smaller(text: str, factor: float) -> str:
    """Return a hexadecimal number times a factor."""
    return float(float.fromhex(text) * factor).hex()


def _claim(name: str, factor: float) -> Callable[[dict[str, Any], dict[str, Any]], Any]:
    return lambda h, a: h["claim"].update({name: smaller(h["claim"][name], factor)})


def _array(name: str, at: Any, value: Any) -> Callable[[dict[str, Any], dict[str, Any]], Any]:
    return lambda h, a: a[name].__setitem__(at, value)


def _scaled(name: str, factor: float) -> Callable[[dict[str, Any], dict[str, Any]], Any]:
    return lambda h, a: a[name].__imul__(factor)


def _header(name: str, value: Any) -> Callable[[dict[str, Any], dict[str, Any]], Any]:
    return lambda h, a: h.__setitem__(name, value)


# Number of the valid file, what is done to it.
CORRUPTED: list[tuple[int, Callable[[dict[str, Any], dict[str, Any]], Any]]] = [
    (0, _claim("gap", 1e-3)),
    (6, _claim("objective", 1.01)),
    (0, _scaled("coef", 1.01)),
    (8, _array("coef", 0, -1e-3)),  # outside its bounds
    (1, _scaled("slopes", 0.5)),
    (0, _array("slopes", 0, 7.0)),  # outside the range of the hinge
    (6, _array("slopes", 0, np.nan)),
    (1, _array("l1", 0, 0.01)),
    (2, _array("rho", 0, -1.0)),
    (9, _array("equality", 0, 5.0)),
    (9, _array("f", 0, -2.0)),  # the coefficients break this constraint
    (12, _array("inequality", 0, -1.0)),
    (4, _array("strengths", 0, 0.1)),
    (1, _scaled("weight", 3.0)),
    (0, _header("version", 2)),
    (0, _header("n_samples", 39)),
    (0, _header("checksums", ["0" * 64])),
    (0, _header("format", "another")),
    (6, lambda h, a: a.pop("coef")),
    (19, _scaled("equality", -1.0)),  # an infeasibility proof that proves nothing
]


def main() -> None:
    """Write all files."""
    for name in ("labels", "numbers", "wide"):
        np.savez(FOLDER / f"{name}.npz", **data(name))
    for k, (name, loss, penalty, constraints, intercept, weighted) in enumerate(CASES):
        table = data(name)
        weight = table["w"] if weighted else None
        index = np.arange(len(table["y"])) % 2 if isinstance(loss, list) else None
        problem = rl.Problem(
            table["X"], table["y"], loss, penalty, constraints, weight, intercept, index
        )
        solution = rl.solve(problem, tol=1e-8)
        assert solution.status == "solved", (k, solution)
        path = FOLDER / f"valid_{k:02d}_{name}.rlcert"
        save_optimality(path, problem, solution.coef, solution.intercept, solution.dual)
    table = data("numbers")
    clash = [C.Nonnegative(), total(4, -1.0), C.LinearInequality(np.eye(4), -np.ones(4))]
    problem = rl.Problem(table["X"], table["y"], L.Absolute(), P.Ridge(1.0), clash)
    proof = rl.solve(problem).infeasibility
    assert proof is not None
    save_infeasibility(FOLDER / "valid_19_numbers.rlcert", problem.constraint_rows, proof)
    valid = sorted(FOLDER.glob("valid_*.rlcert"))
    for k, (source, spoil) in enumerate(CORRUPTED):
        header, arrays = parts(valid[source])
        arrays = {name: array.copy() for name, array in arrays.items()}
        spoil(header, arrays)
        name = valid[source].stem.split("_")[2]
        write(FOLDER / f"corrupted_{k:02d}_{name}.rlcert", header, arrays)


if __name__ == "__main__":
    main()
