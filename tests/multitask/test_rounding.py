"""Certificates of several tasks cannot lie, against exact rational arithmetic.

For rational M with ``0 <= M <= I`` and ``tr M <= h`` the penalty is at most ``c tr(U'(eta I +
M)^-1 U)``, a rational number: no lower bound may exceed the objective with that in its place. Two
tasks have two columns, whose projectors have rational entries.
"""

from __future__ import annotations

import math
import warnings
from fractions import Fraction

import numpy as np
import pytest
from exact import ExactProblem, rational

from rectiline.exceptions import ConvergenceWarning
from rectiline.losses import Absolute, Hinge, Huber, SquaredError
from rectiline.penalties import SharedSubspace
from rectiline.problems import MultiTaskProblem
from rectiline.solvers import solve_multitask


def exact_upper_value(problem, U, intercept):
    """Return the objective with a rational projector near the best one."""
    total = Fraction(0)
    for task, u, b in zip(problem.tasks, U.T, intercept, strict=True):
        exact = ExactProblem(task.base)
        exact.rho = exact.l1 = [Fraction(0)] * 2
        total += exact.value(rational(u), rational(float(b)))
    penalty = problem.penalty
    alpha, beta = rational(penalty.alpha), rational(penalty.beta)
    eta = beta / alpha
    space = penalty.subspace(problem.charged(U))
    weights = sorted([*map(float, space.weights), 0.0, 0.0], reverse=True)[:2]
    first = min(Fraction(weights[0]), Fraction(1))
    second = min(Fraction(weights[1]), penalty.shared_dim - first)
    x, y = space.basis[:, 0] if space.weights.size else (1.0, 0.0)
    t = rational(math.tan(0.5 * math.atan2(y, x)))
    p = ((1 - t * t) / (1 + t * t), 2 * t / (1 + t * t))
    V = [rational(row) for row in U]
    if problem.center:
        V = [[v - sum(row) / 2 for v in row] for row in V]
    along = [p[0] * V[0][k] + p[1] * V[1][k] for k in range(2)]
    across = [-p[1] * V[0][k] + p[0] * V[1][k] for k in range(2)]
    parts = ((along, first), (across, second))
    charge = sum(sum(v * v for v in part) / (eta + g) for part, g in parts)
    return total + alpha * eta * (1 + eta) * charge


@pytest.mark.parametrize("center", [False, True])
@pytest.mark.parametrize("loss", [Absolute(), Hinge(), Huber(0.7), SquaredError()], ids=repr)
def test_bounds_are_below_rational_upper_values(loss, center):
    compared = 0
    for seed in range(8):
        rng = np.random.default_rng(seed)
        X = [rng.normal(size=(4, 2)) * 10.0 ** rng.uniform(-8, 8, 2) for _ in range(2)]
        y = [rng.permutation([-1.0, 1.0, 1.0, -1.0]) for _ in range(2)]
        if loss.of != "margin":
            y = [one * 10.0 ** rng.uniform(-8, 8, 4) for one in y]
        penalty = SharedSubspace(1, *(10.0 ** rng.uniform(-3, 3, 2)))
        problem = MultiTaskProblem(X, y, loss, penalty, fit_intercept=seed % 2 == 0, center=center)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            answer = solve_multitask(problem, tol=1e-6, max_iter=50)
        for tol in (None, 0.0):
            proof = problem.prove(answer.coef, answer.intercept, answer.dual, tol).certificate
            assert proof.gap >= proof.rounding >= 0.0
            if np.isfinite(proof.gap):
                compared += 1
                upper = exact_upper_value(problem, answer.coef, answer.intercept)
                assert rational(proof.primal) - rational(proof.gap) <= upper
    assert compared >= 8
