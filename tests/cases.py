"""One list per concept: solvers, losses, penalties, constraints and designs.

Something is tested by being listed here. Next to each loss, penalty and constraint stands the same
thing written for cvxpy, straight from its definition, so that no formula of the library is used to
evaluate the library. `combinations.py` puts them together with designs.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import cvxpy as cp
import numpy as np

import rectiline as rl
from rectiline.constraints import (
    Box,
    Fairness,
    LinearEquality,
    LinearInequality,
    Monotone,
    Nonnegative,
)
from rectiline.losses import (
    Absolute,
    EpsilonInsensitive,
    Expectile,
    Hinge,
    Huber,
    ModifiedHuber,
    PiecewiseLQ,
    Pinball,
    SmoothedHinge,
    SquaredEpsilonInsensitive,
    SquaredError,
    SquaredHinge,
)
from rectiline.penalties import L1, ElasticNet, GroupLinf, Ridge, Slope

# ---- losses, in their own argument t ----------------------------------------------------------


def rehu(z: cp.Expression, tau: float) -> cp.Expression:
    return 0.5 * cp.huber(cp.pos(z), tau)


@dataclass(frozen=True)
class LossCase:
    loss: rl.losses.Loss
    express: Callable[[cp.Expression], cp.Expression]

    @property
    def name(self) -> str:
        return self.loss.name + (f"-{self.loss.of}" if self.loss.name == "piecewise_lq" else "")


LOSSES = [
    LossCase(Hinge(), lambda t: cp.pos(1 - t)),
    LossCase(SquaredHinge(), lambda t: cp.square(cp.pos(1 - t))),
    LossCase(SmoothedHinge(width=0.5), lambda t: 2 * rehu(1 - t, 0.5)),
    LossCase(ModifiedHuber(), lambda t: 2 * rehu(1 - t, 2.0)),
    LossCase(Absolute(), cp.abs),
    LossCase(EpsilonInsensitive(epsilon=0.3), lambda t: cp.pos(cp.abs(t) - 0.3)),
    LossCase(SquaredEpsilonInsensitive(epsilon=0.3), lambda t: cp.square(cp.pos(cp.abs(t) - 0.3))),
    LossCase(Pinball(quantile=0.9), lambda t: 0.9 * cp.pos(t) + 0.1 * cp.pos(-t)),
    LossCase(Huber(delta=0.8), lambda t: 0.5 * cp.huber(t, 0.8)),
    LossCase(SquaredError(), lambda t: 0.5 * cp.square(t)),
    LossCase(
        Expectile(quantile=0.8),
        lambda t: 0.4 * cp.square(cp.pos(t)) + 0.1 * cp.square(cp.pos(-t)),
    ),
    # kinks, flat, straight and curved pieces in one, and a least value that is not zero
    LossCase(
        PiecewiseLQ([-1, 0, 1], [(0, -2, 0), (0, -1, 1), (0, 0, 1), (0.5, 0, 0.5)]),
        lambda t: 1 + cp.pos(-t) + cp.pos(-t - 1) + 0.5 * cp.square(cp.pos(t - 1)) + cp.pos(t - 1),
    ),
    LossCase(
        PiecewiseLQ.maximum([(0, -1, 1), (0, 0, 0), (0.5, 0, -3)], of="margin"),
        lambda t: cp.maximum(cp.pos(1 - t), 0.5 * cp.square(t) - 3),
    ),
    LossCase(
        PiecewiseLQ.from_units(relu=[(1, -2), (-2, 1)], rehu=[(1, 0, 2)], of="prediction"),
        lambda t: cp.pos(t - 2) + cp.pos(1 - 2 * t) + rehu(t, 2.0),
    ),
]

# ---- penalties ----------------------------------------------------------------------------------


@dataclass(frozen=True)
class PenaltyCase:
    name: str
    make: Callable[[int], rl.penalties.Penalty | None]  # from the number of columns
    express: Callable[[cp.Expression], cp.Expression]
    flat: bool = False  # no ridge part
    hard: bool = False  # too weak for coordinate ascent to be quick


def sorted_l1(b: cp.Expression, strengths: np.ndarray) -> cp.Expression:
    total = float(strengths[-1]) * cp.norm1(b)
    for k, drop in enumerate(-np.diff(strengths)):
        total = total + float(drop) * cp.sum_largest(cp.abs(b), k + 1)
    return total


def group_linf(b: cp.Expression) -> cp.Expression:
    groups = [[j for j in range(b.size) if j % 3 == label] for label in range(3)]
    return 0.7 * sum(cp.norm_inf(b[group]) for group in groups)


def falling(d: int) -> np.ndarray:
    return np.linspace(1.5, 0.3, d)


RIDGES = [
    PenaltyCase("strong-ridge", lambda d: Ridge(20.0), lambda b: 10.0 * cp.sum_squares(b)),
    PenaltyCase(
        "elastic-net",
        lambda d: ElasticNet(l1=0.5, l2=4.0),
        lambda b: 0.5 * cp.norm1(b) + 2.0 * cp.sum_squares(b),
    ),
    PenaltyCase("weak-ridge", lambda d: Ridge(0.1), lambda b: 0.05 * cp.sum_squares(b), hard=True),
]
FLAT = [
    PenaltyCase("l1", lambda d: L1(0.6), lambda b: 0.6 * cp.norm1(b), flat=True),
    PenaltyCase(
        "l1-weights",
        lambda d: L1(0.6, weights=np.arange(d) % 3),
        lambda b: 0.6 * (np.arange(b.size) % 3) @ cp.abs(b),
        flat=True,
    ),
    PenaltyCase("none", lambda d: None, lambda b: cp.Constant(0.0), flat=True),
]
COUPLED = [
    PenaltyCase("group-linf", lambda d: GroupLinf(0.7, np.arange(d) % 3), group_linf, flat=True),
    PenaltyCase(
        "slope", lambda d: Slope(falling(d)), lambda b: sorted_l1(b, falling(b.size)), flat=True
    ),
]

# ---- constraints --------------------------------------------------------------------------------


def sensitive(n: int) -> np.ndarray:
    rng = np.random.default_rng(11)
    return np.column_stack([rng.random(n) < 0.4, 3.0 + rng.normal(size=n)]).astype(float)


def fair(b: cp.Expression, X: np.ndarray, tolerance: Sequence[float]) -> list[cp.Constraint]:
    columns = sensitive(X.shape[0]).T[: len(tolerance)]
    rows = [(s - s.mean()) @ X / X.shape[0] for s in columns]
    return [cp.abs(row @ b) <= limit for row, limit in zip(rows, tolerance, strict=True)]


def some_rows(m: int, d: int) -> np.ndarray:
    """Orthogonal rows: parallel ones have cases of their own."""
    square = np.random.default_rng(m * 100 + d).normal(size=(d, d))
    return np.linalg.qr(square)[0][:m]


@dataclass(frozen=True)
class ConstraintCase:
    name: str
    make: Callable[[np.ndarray], list[rl.constraints.Constraint]]  # from X
    express: Callable[[cp.Expression, np.ndarray], list[cp.Constraint]]


CONSTRAINTS = [
    ConstraintCase("free", lambda X: [], lambda b, X: []),
    ConstraintCase("nonnegative", lambda X: [Nonnegative()], lambda b, X: [b >= 0]),
    ConstraintCase("box", lambda X: [Box(-0.2, 0.35)], lambda b, X: [b >= -0.2, b <= 0.35]),
    ConstraintCase("monotone", lambda X: [Monotone()], lambda b, X: [cp.diff(b) >= 0]),
    ConstraintCase(
        "fairness",
        lambda X: [Fairness(sensitive(X.shape[0]), [0.01, 0.05])],
        lambda b, X: fair(b, X, [0.01, 0.05]),
    ),
    ConstraintCase(
        "inequality",
        lambda X: [LinearInequality(some_rows(3, X.shape[1]), [0.1, 0.0, -0.2])],
        lambda b, X: [some_rows(3, X.shape[1]) @ b + np.array([0.1, 0.0, -0.2]) >= 0],
    ),
    ConstraintCase(
        "simplex",
        lambda X: [LinearEquality(np.ones(X.shape[1]), -1.0), Box(0.0, 1.0)],
        lambda b, X: [cp.sum(b) == 1, b >= 0, b <= 1],
    ),
    ConstraintCase(
        "equality",
        lambda X: [LinearEquality(some_rows(2, X.shape[1]), [0.3, 0.0]), Box(upper=1.0)],
        lambda b, X: [some_rows(2, X.shape[1]) @ b + np.array([0.3, 0.0]) == 0, b <= 1],
    ),
    ConstraintCase(
        "several",
        lambda X: [
            Monotone(increasing=False),
            Box(-1.0, 0.5),
            Fairness(sensitive(X.shape[0])[:, 0], 0.02),
            LinearInequality(-np.ones(X.shape[1]), 0.4),
        ],
        lambda b, X: [cp.diff(b) <= 0, b >= -1, b <= 0.5, cp.sum(b) <= 0.4, *fair(b, X, [0.02])],
    ),
]

# ---- solvers ----------------------------------------------------------------------------------


@dataclass(frozen=True)
class SolverCase:
    """A solver and what it is meant to manage."""

    name: str
    penalties: Sequence[PenaltyCase]  # those that it takes
    hard: bool = True  # badly scaled designs with weak penalties
    constraints: Sequence[ConstraintCase] = tuple(CONSTRAINTS)  # those that it takes
    warm: bool = False  # gains from a warm start
    tol: float = 1e-10  # it goes as far as this

    @property
    def is_general(self) -> bool:
        """Whether it takes strongly convex problems with any constraint to any tolerance."""
        return (
            set(RIDGES) <= set(self.penalties)
            and set(CONSTRAINTS) <= set(self.constraints)
            and self.tol <= 1e-10
        )


SEPARABLE = [*RIDGES, *FLAT]
PENALTIES = [*SEPARABLE, *COUPLED]
UNCONSTRAINED = CONSTRAINTS[:1]
SOLVERS = [
    SolverCase("auto", PENALTIES),
    SolverCase("rehline", RIDGES, hard=False, warm=True),
    SolverCase("newton", SEPARABLE, warm=True),
    SolverCase("reduced_newton", [RIDGES[0], RIDGES[2]], constraints=UNCONSTRAINED, warm=True),
    SolverCase("interior", SEPARABLE),
    SolverCase("generation", [*FLAT, *COUPLED], hard=False),
    SolverCase("smoothed", FLAT[:1], hard=False, constraints=UNCONSTRAINED, tol=3e-2),
    SolverCase("passes", PENALTIES, hard=False),
]
GENERAL = [solver for solver in SOLVERS if solver.is_general]
