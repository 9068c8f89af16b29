"""Parts of certificate files that tests change by hand, and what makes a file malformed."""

from __future__ import annotations

import hashlib
import io
import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

import rectiline as rl
from certificates.make_vectors import flat, write
from rectiline import verify

RNG = np.random.default_rng(8)
X = RNG.standard_normal((30, 2))
Y = X @ [1.0, -2.0] + RNG.standard_normal(30)

Header = dict[str, Any]
Arrays = dict[str, Any]


def honest(tmp_path: Path, **terms: Any) -> tuple[Header, Arrays]:
    """Return the parts of a true certificate."""
    problem = rl.Problem(X, Y, **{"loss": rl.losses.Absolute(), **terms})
    rl.solve(problem, tol=1e-9).save(tmp_path / "true.rlcert", problem)
    return flat(*verify.read(tmp_path / "true.rlcert"))


def verdict(header: Any, arrays: Arrays, exact: bool = False, **names: Any) -> Any:
    """Write the parts as they are and check them."""
    file = io.BytesIO()
    write(file, header, arrays)
    file.seek(0)
    return verify.check(file, [(X, Y)], exact=exact)


def piece(*numbers: float) -> list[str]:
    return [float(number).hex() for number in numbers]


def claim(header: Header, objective: float, gap: float) -> None:
    header["claim"] = {"objective": float(objective).hex(), "gap": float(gap).hex()}


def infeasible(A: Any, c: Any, xi: Any) -> tuple[Header, Arrays]:
    A = np.array(A, dtype=float)
    d = A.shape[1]
    arrays = {"A": A, "c": np.array(c, dtype=float), "inequality": np.array(xi, dtype=float)}
    arrays |= {"E": np.zeros((0, d)), "f": np.zeros(0), "equality": np.zeros(0)}
    arrays |= {"lower": np.full(d, -np.inf), "upper": np.full(d, np.inf)}
    header = {"format": "rectiline-certificate", "version": 1, "kind": "infeasible"}
    return header | {"arrays": sorted(arrays)}, arrays


MALFORMED: dict[str, Callable[[Header, Arrays], Any]] = {
    "infinite knot": lambda h, a: h["losses"][0].update(knots=[math.inf.hex()]),
    "undefined knot": lambda h, a: h["losses"][0].update(knots=[math.nan.hex()]),
    "infinite piece": lambda h, a: h["losses"][0]["pieces"][0].__setitem__(1, math.inf.hex()),
    "undefined slope": lambda h, a: h["losses"][0]["pieces"][1].__setitem__(2, math.nan.hex()),
    "piece of three numbers": lambda h, a: h["losses"][0]["pieces"][0].pop(),
    "loss that jumps": lambda h, a: h["losses"][0]["pieces"].__setitem__(1, piece(0, 1, 1, 0)),
    "loss that bends down": lambda h, a: h["losses"][0]["pieces"].reverse(),
    "negative curvature": lambda h, a: h["losses"][0]["pieces"][1].__setitem__(3, (-1.0).hex()),
    "no losses": lambda h, a: h.update(losses=[]),
    "losses that are words": lambda h, a: h.update(losses="absolute"),
    "sizes that are words": lambda h, a: h.update(n_samples="30"),
    "sizes that are true": lambda h, a: h.update(n_samples=True),
    "negative size": lambda h, a: h.update(n_samples=-30),
    "claim without end": lambda h, a: h["claim"].update(gap=math.inf.hex()),
    "claim in decimal": lambda h, a: h["claim"].update(gap=1e-3),
    "a list of labels": lambda h, a: h.update(labels=[[1], [2]]),
    "labels of one kind": lambda h, a: h.update(labels=[1.0, 1.0]),
    "labels without an encoding": lambda h, a: h.update(labels=Y.tolist()),
    "a text of labels": lambda h, a: h.update(labels="y"),
    "a negative factor on the weights": lambda h, a: a["encoding"].__setitem__((0, 2), -1.0),
    "a prediction that counts twice": lambda h, a: a["encoding"].__setitem__((0, 0), 2.0),
    "targets that are shifted": lambda h, a: a["encoding"].__setitem__((0, 1), 1.0),
    "missing field": lambda h, a: h.pop("weights"),
    "rows of slopes out of range": lambda h, a: a.update(slope_rows=a["slope_rows"] + 30),
    "slopes of another shape": lambda h, a: a.update(slopes=a["slopes"][:, None]),
    "weights of another shape": lambda h, a: a.update(weight=np.ones((30, 2))),
    "weights in a vector": lambda h, a: a.update(weight=np.ones(30)),
    "fewer weights": lambda h, a: a.update(weight=np.ones((29, 1))),
    "negative weights": lambda h, a: a.update(weight=-np.ones((30, 1))),
    "coefficients in a matrix": lambda h, a: a.update(coef=a["coef"][None]),
    "coefficients that are integers": lambda h, a: a.update(coef=a["coef"].astype(int)),
    "coefficients that are complex": lambda h, a: a.update(coef=a["coef"].astype(complex)),
    "coefficients that are objects": lambda h, a: a.update(coef=a["coef"].astype("U8")),
    "weights of another problem": lambda h, a: a.update(weight=np.arange(1.0, 31.0)[:, None]),
    "a column that the data do not have": lambda h, a: (
        a.update({k: np.append(a[k], 0.0 * a[k][:1]) for k in ("coef", "rho", "l1", "strengths")}),
        a.update(
            {k: np.append(a[k], a[k][:1]) for k in ("split_coef", "lower", "upper", "groups")}
        ),
        a.update(A=np.zeros((0, 4)), E=np.zeros((0, 4)), columns=np.array([[0, 1, 2, 3]])),
    ),
    "a feature that is left out": lambda h, a: a.update(columns=np.array([[-1, 1, 2]])),
    "two features with one coefficient": lambda h, a: a.update(columns=np.array([[0, 0, 2]])),
    "an intercept in place of a feature": lambda h, a: a.update(columns=np.array([[0, 1, 1]])),
    "a coefficient that is not there": lambda h, a: a.update(columns=np.array([[0, 1, 3]])),
    "fewer features than the data have": lambda h, a: a.update(columns=np.array([[0, 2]])),
    "no copy of the rows": lambda h, a: a.update(
        copies=np.zeros((0, 2), dtype=int), columns=np.zeros((0, 3), dtype=int)
    ),
    "a copy without a loss": lambda h, a: a.update(copies=np.array([[1, 0]])),
    "a copy without columns": lambda h, a: a.update(copies=np.array([[0, 0], [0, 0]])),
    "two losses without loss_index": lambda h, a: h.update(losses=h["losses"] * 2),
    "columns that are numbers": lambda h, a: h.update(columns=[1, 2]),
    "targets that are a number": lambda h, a: h.update(targets=5),
    "a snapshot that is a list": lambda h, a: h.update(source=[["delta"]]),
    "an array too many": lambda h, a: a.update(more=np.zeros(3)),
    "loss_index outside the list": lambda h, a: a.update(loss_index=np.full(30, 1)),
    "loss_index that is missing": lambda h, a: a.update(copies=np.array([[-1, 0]])),
    "negative loss_index": lambda h, a: a.update(loss_index=np.full(30, -1)),
    "too many losses": lambda h, a: (
        h.update(losses=h["losses"] * 257),
        a.update(loss_index=np.zeros(30, dtype=int)),
    ),
    "a target that is not there": lambda h, a: a.update(copies=np.array([[0, 1]])),
    "a version in words": lambda h, a: h.update(version="2"),
    "a decimal number": lambda h, a: h["claim"].update(gap="1.0"),
    "no rows": lambda h, a: h.update(n_samples=0),
    "groups below -1": lambda h, a: a.update(groups=a["groups"] - 1),
    "groups that are no doubles": lambda h, a: a.update(groups=np.full(3, 2**60)),
    "groups that are negative once read": lambda h, a: a.update(
        groups=np.full(3, 2**63, dtype=np.uint64)
    ),
    "single precision": lambda h, a: a.update(coef=a["coef"].astype(np.float32)),
    "a negative factor of a label that no row has": lambda h, a: (
        h.update(labels=["a", "b"]),
        a.update(encoding=np.array([[1.0, 0.0, 1.0], [-1.0, 0.0, -1.0]])),
        a.update(copies=np.array([[0, -1]])),
    ),
}


LOSS = {"knots": [(0.0).hex()], "pieces": [piece(0, 0, -1, 0), piece(0, 0, 1, 0)]}  # |t|


def hand_made(
    x: Any, y: Any, coef: Any, objective: float, gap: float, loss: Any = None, **more: Any
) -> tuple[Header, Arrays]:
    """Return a file about residuals without a penalty and intercept, with the right checksum."""
    x, y, coef = np.asarray(x, dtype=float), np.asarray(y, dtype=float), np.array(coef, dtype=float)
    d, zeros = coef.size, np.zeros(coef.size)
    arrays = {"coef": coef, "split_coef": coef, "rho": zeros, "l1": zeros, "strengths": zeros}
    arrays |= {"groups": np.full(d, -1), "copies": np.array([[0, 0]])}
    arrays |= {"columns": np.array([[*range(d), -1]]), "encoding": np.array([[-1.0, 0.0, 1.0]])}
    arrays |= {"A": np.zeros((0, d)), "E": np.zeros((0, d))}
    arrays |= {name: np.zeros(0) for name in ("c", "f", "inequality", "equality", "slopes")}
    arrays |= {"lower": np.full(d, -np.inf), "upper": np.full(d, np.inf)}
    arrays["slope_rows"] = np.zeros(0, dtype=int)
    sums = [hashlib.sha256(np.column_stack([x, y]).tobytes()).hexdigest()]
    header = {"format": "rectiline-certificate", "version": 2, "kind": "optimality"}
    header |= {"n_samples": len(y), "checksums": sums, "losses": [loss or LOSS], "labels": None}
    header |= {"weights": "file", "columns": None, "targets": None}
    claim(header, objective, gap)
    return header, arrays | {name: np.asarray(array) for name, array in more.items()}


def falling(header: Header, arrays: Arrays, direction: Any) -> tuple[Header, Arrays]:
    """Return the file as one of an objective that falls along a direction."""
    unused = ("inequality", "equality", "split_coef", "slopes", "slope_rows")
    arrays = {name: array for name, array in arrays.items() if name not in unused}
    arrays["direction"] = np.asarray(direction, dtype=float)
    return header | {"kind": "unbounded", "claim": {}}, arrays
