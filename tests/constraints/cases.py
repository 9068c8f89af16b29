"""Every constraint once, with feasibility written down directly from its definition."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy import sparse

from rectiline.constraints import (
    Box,
    Constraint,
    Fairness,
    LinearConstraint,
    LinearEquality,
    LinearInequality,
    Monotone,
    Nonnegative,
)

D = 4
RNG = np.random.default_rng(20)
X = RNG.normal(size=(30, D)) + np.arange(D)
GROUP = (RNG.random(30) < 0.4).astype(float)
PAIR = np.column_stack([GROUP, 5.0 + RNG.normal(size=30)])
A = RNG.normal(size=(3, D))
C = RNG.normal(size=3) + 1.0


class Design:
    """The least that a constraint may ask of the data."""

    def __init__(self, matrix: np.ndarray) -> None:
        self.matrix = matrix
        self.n_samples, self.n_features = matrix.shape

    def tdot(self, v: np.ndarray) -> np.ndarray:
        return self.matrix.T @ v


DESIGN = Design(X)


@dataclass(frozen=True)
class Case:
    name: str
    constraint: Constraint
    # The largest amount by which b breaks the constraint, 0.0 if it does not.
    broken_by: Callable[[np.ndarray], float]

    def points(self) -> list[np.ndarray]:
        """Random coefficients, some of them close to zero, ordered, or of one sign."""
        rng = np.random.default_rng(3)
        found: list[np.ndarray] = [np.zeros(D)]
        for scale in (0.05, 1.0):
            for _ in range(15):
                b = scale * rng.normal(size=D)
                found += [b, np.abs(b), np.sort(b), np.sort(b)[::-1]]
        return found


def above(*amounts: np.ndarray | float) -> float:
    return max(0.0, *(float(np.max(a)) for a in amounts))


def covariance(column: np.ndarray, b: np.ndarray) -> float:
    return abs(float(np.mean((column - column.mean()) * (X @ b))))


CONSTRAINTS = [
    Case("nonnegative", Nonnegative(), lambda b: above(-b)),
    Case("box-scalars", Box(-0.5, 0.7), lambda b: above(-0.5 - b, b - 0.7)),
    Case(
        "box-arrays",
        Box([-np.inf, 0.0, -1.0, 0.0], [0.0, np.inf, 1.0, 0.0]),
        lambda b: above(b[0], -b[1], abs(b[2]) - 1.0, abs(b[3])),
    ),
    Case("box-open", Box(), lambda b: 0.0),
    Case("box-upper", Box(upper=[1.0, 2.0, 0.5, 0.1]), lambda b: above(b - [1.0, 2.0, 0.5, 0.1])),
    Case("monotone", Monotone(), lambda b: above(b[:-1] - b[1:])),
    Case("monotone-falling", Monotone(increasing=False), lambda b: above(b[1:] - b[:-1])),
    Case("fairness", Fairness(GROUP, 0.05), lambda b: above(covariance(GROUP, b) - 0.05)),
    Case(
        "fairness-two",
        Fairness(PAIR, [0.05, 0.3]),
        lambda b: above(covariance(PAIR[:, 0], b) - 0.05, covariance(PAIR[:, 1], b) - 0.3),
    ),
    Case("fairness-exact", Fairness(GROUP, 0.0), lambda b: covariance(GROUP, b)),
    Case("fairness-constant", Fairness(np.full(30, 0.1), 0.01), lambda b: 0.0),
    Case("inequality", LinearInequality(A, C), lambda b: above(-(A @ b + C))),
    Case(
        "inequality-sparse", LinearInequality(sparse.coo_matrix(A), C), lambda b: above(-A @ b - C)
    ),
    Case("inequality-row", LinearInequality(A[0], 0.5), lambda b: above(-(A[0] @ b + 0.5))),
    Case(
        "linear",
        LinearConstraint(A, [-1.0, -np.inf, 0.2], [1.5, 0.3, 0.2]),
        lambda b: above(-1.0 - A[0] @ b, A[0] @ b - 1.5, A[1] @ b - 0.3, abs(A[2] @ b - 0.2)),
    ),
    Case(
        "linear-sparse",
        LinearConstraint(sparse.csr_array(A), upper=C),
        lambda b: above(A @ b - C),
    ),
    Case("equality", LinearEquality(A, 0.0), lambda b: above(np.abs(A @ b))),
    Case(
        "equality-sparse",
        LinearEquality(sparse.csc_array(A), C),
        lambda b: above(np.abs(A @ b + C)),
    ),
]
