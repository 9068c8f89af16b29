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
from rectiline.estimators.multitask import MultiTaskRegressor

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
    ("outputs", model(MultiTaskRegressor("huber", alpha=10.0, tol=1e-8))),
    ("outputs", model(MultiTaskRegressor("huber", alpha=10.0, center=True, tol=1e-8))),
]


OF_FILE = ("format", "version", "library", "source", "columns", "targets", "labels", "n_samples")
OF_FILE = (*OF_FILE, "checksums", "problems")


def flat(header: dict[str, Any], arrays: dict[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return header and arrays of a file of one problem for tests that change it."""
    (stated,) = header["problems"]
    header = {name: value for name, value in header.items() if name != "problems"}
    return header | stated, {name[2:]: array.copy() for name, array in arrays.items()}


def nested(header: dict[str, Any], arrays: dict[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return what `flat` was given; files of format 1 stay as they are."""
    if header.get("version") == 1 or "problems" in header:
        return header, arrays
    stated = {name: value for name, value in header.items() if name not in OF_FILE}
    file = {name: value for name, value in header.items() if name in OF_FILE}
    return file | {"problems": [stated]}, {f"0/{name}": array for name, array in arrays.items()}


def write(path: Any, header: Any, arrays: dict[str, Any]) -> None:
    """Write header and arrays, flat or nested, without a look at what they say."""
    if isinstance(header, dict):
        header, arrays = nested(header, arrays)
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("header.json", json.dumps(header, indent=1))
        for name, array in sorted(arrays.items()):
            buffer = io.BytesIO()
            np.save(buffer, array)
            archive.writestr(f"{name}.npy", buffer.getvalue())


def smaller(text: str, factor: float) -> str:
    """Return a hexadecimal number times a factor."""
    return float(float.fromhex(text) * factor).hex()


Change = Callable[[dict[str, Any], dict[str, Any]], Any]


def _gap(factor: float) -> Change:
    def change(header: dict[str, Any], arrays: dict[str, Any]) -> None:
        claim = header["problems"][0]["claim"]
        claim["gap"] = smaller(claim["gap"], factor)

    return change


def _array(name: str, at: Any, value: Any) -> Change:
    return lambda h, a: a[name].__setitem__(at, value)


def _scaled(name: str, factor: float) -> Change:
    return lambda h, a: a[name].__imul__(factor)


def _header(name: str, value: Any) -> Change:
    return lambda h, a: h.__setitem__(name, value)


def _problem(k: int, name: str, value: Any) -> Change:
    return lambda h, a: h["problems"][k].__setitem__(name, value)


# Number of the valid file, what is done to it.
CORRUPTED: list[tuple[int, Change]] = [
    (0, _gap(1e-3)),
    (0, _header("version", 3)),
    (1, _problem(0, "weights", "mine")),
    (2, _array("0/encoding", (0, 0), -1.0)),
    (2, lambda h, a: h.update(n_samples=39)),
    (2, lambda h, a: h["problems"].pop()),
    (3, _header("labels", [10.0, 12.0, 11.0])),
    (3, _array("0/encoding", (slice(None), 2), 1.0)),
    (4, _scaled("0/weight", -1.0)),
    (5, _problem(1, "losses", [])),
    (5, lambda h, a: a.update({"7/coef": a["0/coef"]})),
    (6, _array("0/columns", (1, 0), 0)),  # both copies of the first feature have one coefficient
    (7, _array("0/slopes", 0, 0.5)),
    (8, _array("0/copies", (0, 1), 1)),
    (9, _scaled("0/direction", -1.0)),
    (9, _array("0/direction", 2, -1.0)),  # leaves the bounds
    (10, _array("0/shared", 0, 1.0)),  # a weaker penalty
    (10, _array("0/shares", 0, 1.5)),
    (11, _scaled("0/turns", 0.5)),
    (11, _array("0/shared", 3, 0.0)),  # charges what the tasks have in common
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
        header, arrays = verify.read(paths[source])
        arrays = {name: array.copy() for name, array in arrays.items()}
        spoil(header, arrays)
        name = VALID[source][0]
        write(FOLDER / f"corrupted_{k + 20:02d}_{name}.rlcert", header, arrays)


if __name__ == "__main__":
    main()
