"""The working set of columns of `interior`: same optimum, few columns.

The oracle is Clarabel through cvxpy on the whole problem.
"""

import cvxpy as cp
import numpy as np
import pytest
from scipy import sparse as sp
from words import optimum, problem_of, words

import rectiline as rl
from rectiline.losses import Hinge, Huber, Pinball, SquaredHinge
from rectiline.penalties import L1, ElasticNet
from rectiline.problems.forms import EpigraphForm
from rectiline.solvers._base import Budget
from rectiline.solvers.interior import Interior
from rectiline.solvers.interior.method import generates_columns

N, D = 400, 1500


CASES = {
    "hinge": (Hinge(), lambda y, w: lambda z: w @ cp.pos(1 - cp.multiply(y, z))),
    "squared hinge": (
        SquaredHinge(),
        lambda y, w: lambda z: w @ cp.square(cp.pos(1 - cp.multiply(y, z))),
    ),
    "pinball": (
        Pinball(0.3),
        lambda y, w: lambda z: w @ cp.maximum(0.3 * (y - z), -0.7 * (y - z)),
    ),
    "huber": (Huber(0.5), lambda y, w: lambda z: 0.5 * (w @ cp.huber(y - z, 0.5))),
}


@pytest.mark.parametrize("fit_intercept", [True, False])
@pytest.mark.parametrize("name", CASES)
def test_the_optimum_is_that_of_all_columns(name, fit_intercept):
    X, y = words()
    loss, cost = CASES[name]
    weight = np.random.default_rng(1).choice([0.0, 1.0, 2.0], size=N, p=[0.1, 0.5, 0.4])
    problem = problem_of(loss, 0.02, X, y, sample_weight=weight, fit_intercept=fit_intercept)
    found = rl.solve(problem, solver="interior", tol=1e-7)
    assert found.certificate.relative_gap <= 1e-7
    assert found.objective == pytest.approx(optimum(problem, cost(y, weight)), rel=1e-6)
    assert np.count_nonzero(found.coef) < 300


@pytest.mark.parametrize("share", [0.3, 0.01])
def test_few_columns_join(share):
    X, y = words()
    form = EpigraphForm.apply(problem_of(Hinge(), share, X, y))
    solver = Interior()
    state = solver.start(form, None, 0)
    first = state.working.columns.copy()
    step = solver.advance(state, Budget(100, np.inf, 1e-6))
    assert step.reached
    inside = state.working.columns
    assert np.isin(first, inside).all() and inside.size < 0.5 * D
    assert (inside.size > first.size) == (share < 0.1)
    # Nobody outside is asked for at the answer.
    q = X.T @ solver.point(state).sample
    outside = np.setdiff1d(np.arange(D), inside)
    assert np.abs(q[outside]).max() <= (1.0 + 1e-6) * form.columns.l1[0]
    # What joined on the way did not cost a start from the beginning.
    assert step.iterations <= 40


def test_csc_and_a_warm_start():
    X, y = words()
    problem = problem_of(Hinge(), 0.02, sp.csc_array(X), y)
    found = rl.solve(problem, solver="interior", tol=1e-6)
    nearby = problem_of(Hinge(), 0.018, sp.csc_array(X), y)
    again = rl.solve(nearby, solver="interior", tol=1e-6, warm_start=found)
    assert again.certificate.relative_gap <= 1e-6
    alone = rl.solve(nearby, solver="generation", tol=1e-9)
    assert again.objective == pytest.approx(alone.objective, rel=2e-6)


def test_which_problems_have_a_working_set():
    X, y = words()
    of = EpigraphForm.apply
    assert generates_columns(of(problem_of(Hinge(), 0.1, X, y)))
    assert generates_columns(of(problem_of(Hinge(), 0.1, X.toarray(), y)))
    assert not generates_columns(of(problem_of(Hinge(), 0.1, X[:, :900], y)))
    assert not generates_columns(of(rl.Problem(X, y, Hinge(), ElasticNet(1.0, 1.0))))
    bounded = [rl.constraints.Nonnegative()]
    assert not generates_columns(of(rl.Problem(X, y, Hinge(), L1(1.0), constraints=bounded)))


@pytest.mark.parametrize("loss", [Hinge(), SquaredHinge()], ids=lambda loss: loss.name)
@pytest.mark.parametrize("n", [150, 700])
def test_arrays_on_fewer_and_on_more_columns_than_rows(loss, n):
    rng = np.random.default_rng(n)
    X = rng.standard_normal((n, 1100))
    y = np.where(X[:, :3].sum(axis=1) + rng.standard_normal(n) > 0, 1.0, -1.0)
    problem = problem_of(loss, 0.15, X, y)
    found = rl.solve(problem, solver="interior", tol=1e-7)
    assert found.status == "solved"
    alone = rl.solve(problem, solver="generation", tol=1e-9)
    assert found.objective == pytest.approx(alone.objective, rel=2e-7)


def test_all_columns_take_part_where_nearly_all_are_asked_for():
    rng = np.random.default_rng(3)
    X, y = rng.standard_normal((200, 1100)), np.sign(rng.standard_normal(200))
    for share, takes_all in ((0.3, False), (1e-3, True)):
        form = EpigraphForm.apply(problem_of(Hinge(), share, X, y))
        assert (Interior().start(form, None, 0).working is None) == takes_all


def test_more_columns_than_a_matrix_could_have():
    X, y = words(d=9000)
    wide = sp.vstack([X] * 21).tocsr()
    problem = rl.Problem(wide, np.tile(y, 21), Hinge(), L1(200.0))
    assert min(wide.shape) > 8000
    assert Interior().refuses(problem) is None
    found = rl.solve(problem, solver="interior", tol=1e-6)
    once = rl.solve(rl.Problem(X, y, Hinge(), L1(200.0 / 21)), solver="generation", tol=1e-9)
    assert found.objective == pytest.approx(21 * once.objective, rel=2e-6)
