"""Programs that a start at zero in the units of the data does not suit.

Ordered coefficients of columns of very different size were left unsolved by every solver; random
problems (`make fuzz-solve`) found them.
"""

from __future__ import annotations

import cvxpy as cp
import numpy as np
import pytest
from scipy import sparse as sp

import rectiline as rl
from rectiline.constraints import LinearEquality, Monotone
from rectiline.losses import Absolute, PiecewiseLQ, Pinball
from rectiline.penalties import L1, GroupLinf, Ridge
from rectiline.problems.forms import EpigraphForm
from rectiline.solvers.interior.program import build


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_ordered_coefficients_of_columns_of_all_sizes(seed):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(30, 100)) * 10.0 ** rng.uniform(-3, 3, 100)
    loss = PiecewiseLQ.from_units(relu=[(1, -2), (-2, 1)], rehu=[(1, 0, 2)], of="prediction")
    problem = rl.Problem(X, np.zeros(30), loss, L1(0.05), [Monotone()], fit_intercept=False)
    answer = rl.solve(problem, solver="interior")
    assert answer.status == "solved"
    b = cp.Variable(100)
    z = X @ b
    cost = cp.pos(z - 2) + cp.pos(1 - 2 * z) + 0.5 * cp.huber(cp.pos(z), 2.0)
    program = cp.Problem(cp.Minimize(cp.sum(cost) + 0.05 * cp.norm1(b)), [cp.diff(b) >= 0])
    program.solve(solver=cp.CLARABEL)
    assert answer.objective == pytest.approx(program.value, rel=2e-5)


def test_units_follow_predictions_that_constraints_force():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(50, 3)), rng.normal(size=50)
    far = LinearEquality(np.ones(3), -3e6)  # coefficients of a million
    free, forced = (
        build(EpigraphForm.apply(rl.Problem(X, y, Absolute(), None, given))).scales.prediction
        for given in ([], [far])
    )
    assert free < 2.0 and forced > 1e5


@pytest.mark.parametrize("seed", [0, 1, 2])
def test_units_grow_with_coefficients_that_a_linear_term_takes_far(seed):
    """Columns of all sizes depend on one another: to a million times what the targets suggest."""
    rng = np.random.default_rng(seed)
    X = 0.3 * rng.normal(size=(60, 30)) + rng.normal(size=(60, 1))
    X = X @ rng.integers(-2, 3, (30, 40)) * 10.0 ** rng.uniform(-3, 3, 40)
    linear = 30.0 * rng.normal(size=40) * X.std(axis=0)
    problem = rl.Problem(
        X, rng.normal(size=60), Pinball(0.8), Ridge(0.01), fit_intercept=False, linear=linear
    )
    for solver in ("interior", "auto"):
        assert rl.solve(problem, solver=solver).status == "solved"


@pytest.mark.parametrize("seed", [0, 23, 33, 45])
def test_an_objective_that_falls_is_progress(seed):
    """Columns far from zero: coefficients go far in short steps, and products hardly fall."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(100, 20)) * (rng.random((100, 20)) < 0.5)
    X = (X + 100.0 * rng.random(20)) * 10.0 ** rng.uniform(-3, 3, 20)
    y = np.where(rng.random(100) < 0.5, 1.0, -1.0)
    problem = rl.Problem(X, y, "hinge", GroupLinf(0.01, rng.integers(7, size=20)))
    assert rl.solve(problem, solver="interior", digits=16).status == "solved"


def test_a_sparse_matrix_with_few_zeros_is_centred():
    X = sp.csr_array(np.random.default_rng(0).normal(size=(50, 3)) + 100.0)
    program = build(EpigraphForm.apply(rl.Problem(X, np.arange(50.0), Absolute(), L1(1.0))))
    assert program.scales.centre == pytest.approx(X.mean(axis=0))
