"""Write the test vectors of the certificate format 2, valid and corrupted files, and data.

    python tests/certificates/make_vectors.py

The files are kept in the repository: a checker written elsewhere can be tested on them. Numbers 0
to 19 are files of format 1 as version 0.2.0 wrote them; those from 20 on are of format 2.
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
    if name == "classes":
        y = np.digitize(y, [-0.5, 0.5]) + 10.0
    if name == "outputs":
        y = np.column_stack([y, y**2])
    if name == "falling":  # the last row is the linear term
        X, y = np.vstack([X[:5], [0.0, 0.0, -50.0, 50.0]]), np.append(y[:5], 0.0)
    return {"X": X, "y": y, "w": rng.uniform(0.5, 2.0, len(X))}


def total(d: int, value: float) -> C.LinearEquality:
    """Return the constraint that the coefficients add up to a value."""
    return C.LinearEquality(np.ones((1, d)), [-value])


def single(loss: Any, penalty: Any, *more: Any) -> Callable[[Path, Any], None]:
    """Return what writes the proof of one problem."""

    def save(path: Path, table: Any) -> None:
        rl.solve(rl.Problem(table["X"], table["y"], loss, penalty, *more), tol=1e-8).save(path)

    return save


def model(estimator: Any, weighted: bool = False) -> Callable[[Path, Any], None]:
    """Return what writes the proofs of a fitted model."""

    def save(path: Path, table: Any) -> None:
        given = (table["X"], table["y"], *([table["w"]] if weighted else []))
        estimator.fit(*given).save_certificate(path, *given)

    return save


def falling(path: Path, table: Any) -> None:
    """Write the proof that an objective falls without end."""
    X, y = table["X"], table["y"]
    bounds = C.Box([-1.0, -1.0, 0.0, -np.inf], [1.0, 1.0, np.inf, 0.0])
    problem = rl.Problem(
        X[:-1], y[:-1], L.Pinball(0.5), None, bounds, fit_intercept=False, linear=X[-1]
    )
    solution = rl.solve(problem)
    assert solution.status == "unbounded", solution
    solution.save(path)


VALID: list[tuple[str, Callable[[Path, Any], None]]] = [
    ("labels", single(L.Hinge(), P.Ridge(0.5))),
    ("numbers", single(L.Pinball(0.9), P.L1(1.0), C.Nonnegative())),
    ("classes", model(rl.PLQClassifier(tol=1e-8))),
    (
        "classes",
        model(rl.PLQClassifier(multi_class="ovo", class_weight="balanced", tol=1e-8), True),
    ),
    ("classes", model(rl.PLQClassifier(loss="squared_error", tol=1e-8), True)),
    ("numbers", model(rl.QuantileRegressor(quantile=[0.2, 0.5, 0.8], alpha=0.01, tol=1e-8), True)),
    (
        "numbers",
        model(rl.QuantileRegressor(quantile=[0.2, 0.8], alpha=0.1, non_crossing=True, tol=1e-8)),
    ),
    (
        "numbers",
        model(rl.QuantileRegressor(quantile=[0.2, 0.8], alpha=0.1, shared_slopes=True, tol=1e-8)),
    ),
    ("outputs", model(rl.PLQRegressor(loss="huber", tol=1e-8))),
    ("falling", falling),
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


def _problem(k: int, name: str, value: Any) -> Callable[[dict[str, Any], dict[str, Any]], Any]:
    return lambda h, a: h["problems"][k].__setitem__(name, value)


# Number of the valid file, what is done to it.
CORRUPTED: list[tuple[int, Callable[[dict[str, Any], dict[str, Any]], Any]]] = [
    (0, _claim("gap", 1e-3)),
    (0, _header("version", 3)),
    (1, _header("weights", "mine")),
    (2, _problem(0, "signs", [1, 1, -1])),
    (2, _problem(1, "n_samples", 40)),  # belongs to the file
    (2, lambda h, a: h["problems"].pop()),
    (3, _header("labels", [10.0, 12.0, 11.0])),
    (3, _problem(0, "factors", [(1.0).hex()] * 3)),
    (4, _scaled("weight", -1.0)),
    (5, _problem(1, "losses", [])),
    (5, lambda h, a: a.update({"7/coef": a["0/coef"]})),
    (6, _header("levels", {"shared": True, "intercepts": True})),
    (7, _array("slopes", 0, 0.5)),
    (8, _problem(0, "output", 1)),
    (9, _scaled("direction", -1.0)),
    (9, _array("direction", 2, -1.0)),  # leaves the bounds
]


def main() -> None:
    """Write all files."""
    for name in ("classes", "outputs", "falling"):
        np.savez(FOLDER / f"{name}.npz", **data(name))
    paths = []
    for k, (name, save) in enumerate(VALID):
        paths.append(FOLDER / f"valid_{k + 20:02d}_{name}.rlcert")
        save(paths[-1], data(name))
    for k, (source, spoil) in enumerate(CORRUPTED):
        header, arrays = parts(paths[source])
        arrays = {name: array.copy() for name, array in arrays.items()}
        spoil(header, arrays)
        name = VALID[source][0]
        write(
            FOLDER / f"corrupted_{k + 20:02d}_{name}.rlcert",
            {**header, "arrays": sorted(arrays)},
            arrays,
        )


if __name__ == "__main__":
    main()
