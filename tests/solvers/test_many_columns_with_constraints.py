"""More columns than rows under linear constraints: every loss with every sparse penalty, twice.

The second solve of a problem must not depend on what the first one left behind.
"""

from __future__ import annotations

import warnings

import cvxpy as cp
import numpy as np
import pytest

import rectiline as rl
from rectiline.constraints import LinearEquality, LinearInequality
from rectiline.losses import Absolute, Huber, SquaredError, SquaredHinge
from rectiline.penalties import L1, GroupLinf, Slope

N, D = 30, 1004
_rng = np.random.default_rng(184)
X = _rng.normal(size=(N, D))
Y = 2.0 * X[:, :5] @ _rng.normal(size=5) + 0.5 * _rng.normal(size=N)
GROUPS = np.arange(D) // 4
STRENGTHS = 4.0 * np.concatenate([np.linspace(1.0, 0.4, 9), np.full(D - 9, 0.4)])
E = _rng.normal(size=(1, D))
A = _rng.normal(size=(2, D))

LOSSES = {
    "squared": (SquaredError(), lambda y, z: 0.5 * cp.sum_squares(y - z)),
    "huber": (Huber(), lambda y, z: 0.5 * cp.sum(cp.huber(y - z, 1.0))),
    "squared_hinge": (
        SquaredHinge(),
        lambda y, z: cp.sum_squares(cp.pos(1 - cp.multiply(np.sign(y), z))),
    ),
    "absolute": (Absolute(), lambda y, z: cp.norm1(y - z)),
}
PENALTIES = {
    "l1": (L1(4.0), lambda b: 4.0 * cp.norm1(b)),
    "weak_l1": (L1(0.05), lambda b: 0.05 * cp.norm1(b)),
    "group": (
        GroupLinf(4.0, GROUPS),
        lambda b: 4.0 * cp.sum(cp.max(cp.abs(cp.reshape(b, (D // 4, 4), order="C")), axis=1)),
    ),
    "slope": (Slope(STRENGTHS), lambda b: sorted_l1(b)),
}
CONSTRAINTS = {
    "equality": ([LinearEquality(E, [-1.0])], lambda b: [E @ b == 1.0]),
    "inequalities": ([LinearInequality(A, [-1.0, -0.5])], lambda b: [A @ b >= [1.0, 0.5]]),
}


def sorted_l1(b: cp.Expression) -> cp.Expression:
    """Return the sorted penalty, with a term for each place where the strengths drop."""
    total = float(STRENGTHS[-1]) * cp.norm1(b)
    for k in np.flatnonzero(np.diff(STRENGTHS)):
        total = total + float(STRENGTHS[k] - STRENGTHS[k + 1]) * cp.sum_largest(cp.abs(b), k + 1)
    return total


def optimum(loss: str, penalty: str, constraint: str) -> float:
    b, b0 = cp.Variable(D), cp.Variable()
    cost = LOSSES[loss][1](Y, X @ b + b0) + PENALTIES[penalty][1](b)
    program = cp.Problem(cp.Minimize(cost), CONSTRAINTS[constraint][1](b))
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="Solution may be inaccurate")
        program.solve(solver=cp.CLARABEL)
    return float(program.value)


@pytest.mark.parametrize("constraint", CONSTRAINTS)
@pytest.mark.parametrize("penalty", PENALTIES)
@pytest.mark.parametrize("loss", LOSSES)
def test_each_combination_is_solved_and_solved_again(loss, penalty, constraint):
    problem = rl.Problem(
        X,
        np.sign(Y) if loss == "squared_hinge" else Y,
        loss=LOSSES[loss][0],
        penalty=PENALTIES[penalty][0],
        constraints=CONSTRAINTS[constraint][0],
    )
    first, second = rl.solve(problem), rl.solve(problem)
    assert first.status == "solved"
    assert first.objective == pytest.approx(optimum(loss, penalty, constraint), rel=2e-6)
    np.testing.assert_array_equal(first.coef, second.coef)
    assert second.status == "solved"
