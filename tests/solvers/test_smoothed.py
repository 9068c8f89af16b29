"""`smoothed`: certified rough answers under L1, and what it leaves to `generation`.

The oracle is Clarabel through cvxpy on the whole problem.
"""

import cvxpy as cp
import numpy as np
import pytest
from scipy import sparse as sp
from words import optimum, problem_of, words

import rectiline as rl
from rectiline import _core
from rectiline.losses import Absolute, EpsilonInsensitive, Hinge, Pinball, SquaredHinge
from rectiline.penalties import L1, ElasticNet, Slope
from rectiline.problems.forms import CompositeForm
from rectiline.solvers._base import Budget
from rectiline.solvers._choose import choose
from rectiline.solvers.smoothed import Smoothed

N, D = 400, 1500


def add_all(method, X, strength):
    part = sp.csc_array(X)
    pointers = part.indptr.astype(np.int64)
    method.add(part.data, part.indices, pointers, np.full(D, strength))


COSTS = {
    "hinge": (Hinge(), lambda y, w: lambda z: w @ cp.pos(1 - cp.multiply(y, z))),
    "pinball": (
        Pinball(0.3),
        lambda y, w: lambda z: w @ cp.maximum(0.3 * (y - z), -0.7 * (y - z)),
    ),
    "epsilon": (
        EpsilonInsensitive(0.2),
        lambda y, w: lambda z: w @ cp.pos(cp.abs(y - z) - 0.2),
    ),
    "squared hinge": (
        SquaredHinge(),
        lambda y, w: lambda z: w @ cp.square(cp.pos(1 - cp.multiply(y, z))),
    ),
}


@pytest.mark.parametrize("fit_intercept", [True, False])
@pytest.mark.parametrize("name", COSTS)
def test_a_rough_answer_is_proved_and_near_the_optimum(name, fit_intercept):
    X, y = words()
    loss, cost = COSTS[name]
    weight = np.random.default_rng(1).choice([0.0, 1.0, 2.0], size=N, p=[0.1, 0.5, 0.4])
    problem = problem_of(loss, 0.1, X, y, sample_weight=weight, fit_intercept=fit_intercept)
    best = optimum(problem, cost(y, weight))
    for tol in (1e-1, 1e-2):
        found = rl.solve(problem, solver="smoothed", tol=tol)
        assert found.certificate.relative_gap <= tol
        assert (1 - 1e-7) * best <= found.objective <= (1 + 1.01 * tol) * best
    assert np.count_nonzero(found.coef) < 300


def test_storage_does_not_matter():
    X, y = words()
    found = [
        rl.solve(problem_of(Absolute(), 0.1, table, y), solver="smoothed", tol=1e-2)
        for table in (X, sp.csc_array(X), X.toarray(), np.asfortranarray(X.toarray()))
    ]
    for one in found[1:]:
        np.testing.assert_allclose(one.coef, found[0].coef, rtol=1e-6, atol=1e-9)
        assert one.n_iter == found[0].n_iter


def test_few_columns_join_and_nobody_outside_is_asked_for():
    X, y = words()
    form = CompositeForm.apply(problem_of(Hinge(), 0.05, X, y))
    solver = Smoothed()
    state = solver.start(form, None, 0)
    first = state.columns.copy()
    assert solver.advance(state, Budget(200, np.inf, 1e-2)).reached
    assert first.size < state.columns.size < 0.5 * D
    assert np.unique(state.columns).size == state.columns.size
    q = X.T @ solver.point(state).sample
    outside = np.setdiff1d(np.arange(D), state.columns)
    assert np.abs(q[outside]).max() <= 1.01 * form.columns.l1[0]


@pytest.mark.parametrize("fit_intercept", [True, False])
def test_steps_solve_the_smoothed_problem(fit_intercept):
    """The smoothed hinge is a loss of the library, and newton an independent way to its optimum."""
    X, y = words()
    mu, strength = 0.3, 2.0
    hinge = rl.Problem(X, y, Hinge(), L1(strength), fit_intercept=fit_intercept)
    method = _core.SmoothedL1(hinge.rows, fit_intercept)
    add_all(method, X, strength)
    method.place(np.zeros(D), 0.0)
    for _ in range(5):
        method.sweep(mu, True, np.inf)
    worst = [method.step(mu, np.inf) for _ in range(40)]
    assert worst[0] > 1e-2 and max(worst[-3:]) < 1e-6
    smooth = rl.Problem(
        X, y, rl.losses.SmoothedHinge(mu), L1(strength), fit_intercept=fit_intercept
    )
    exact = rl.solve(smooth, solver="interior", tol=1e-9)
    np.testing.assert_allclose(method.coefficients(), exact.coef, atol=2e-4)
    z = X @ method.coefficients() + method.intercept
    np.testing.assert_allclose(method.predictions(), z, atol=1e-9)


def test_sweeps_descend():
    X, y = words()
    mu, strength = 0.5, 2.0
    smooth = rl.Problem(X, y, rl.losses.SmoothedHinge(mu), L1(strength))
    hinge = rl.Problem(X, y, Hinge(), L1(strength))
    method = _core.SmoothedL1(hinge.rows, True)
    add_all(method, X, strength)
    method.place(np.zeros(D), 0.3)
    values = []
    for _ in range(8):
        method.sweep(mu, True, np.inf)
        values.append(smooth.objective(method.coefficients(), method.intercept))
    assert np.all(np.diff(values) <= 1e-10)


def test_auto_takes_it_for_rough_answers_and_generation_goes_on():
    X, y = words(n=2000, d=6000)  # X'X of fewer rows is sparse enough for a factor
    problem = problem_of(Hinge(), 0.05, X, y)
    assert [stage.method.name for stage in choose(problem)][:2] == ["smoothed", "generation"]
    rough = rl.solve(problem, tol=1e-2)
    assert rough.solver == "smoothed" and rough.certificate.relative_gap <= 1e-2
    found = rl.solve(problem, tol=1e-9)
    assert found.solver == "generation" and found.certificate.relative_gap <= 1e-9
    alone = rl.solve(problem, solver="generation", tol=1e-9)
    assert found.objective == pytest.approx(alone.objective, rel=1e-8)
    strong = problem_of(Hinge(), 0.5, X, y)
    assert choose(strong)[0].method.name == "generation"
    assert choose(strong, tol=1e-2)[0].method.name == "smoothed"


def test_a_warm_start_keeps_its_columns():
    X, y = words()
    before = rl.solve(problem_of(Hinge(), 0.11, X, y), solver="smoothed", tol=1e-2)
    problem = problem_of(Hinge(), 0.1, X, y)
    form = CompositeForm.apply(problem)
    warm = form.point_of(before.coef, before.intercept, before.dual)
    state = Smoothed().start(form, warm, 0)
    assert np.isin(np.flatnonzero(before.coef), state.columns).all()
    np.testing.assert_array_equal(state.method.coefficients(), before.coef[state.columns])
    again = rl.solve(problem, solver="smoothed", tol=1e-2, warm_start=before)
    assert again.certificate.relative_gap <= 1e-2


def test_what_it_refuses():
    X, y = words()
    bounded = [rl.constraints.Nonnegative()]
    for problem, why in (
        (rl.Problem(X, y, Hinge(), ElasticNet(1.0, 1.0)), "L1"),
        (rl.Problem(X, y, Hinge(), Slope(np.linspace(2, 1, D))), "L1"),
        (rl.Problem(X, y, Hinge(), L1(1.0), constraints=bounded), "bounds"),
    ):
        assert why in Smoothed.refuses(problem)
    with pytest.raises(ValueError, match="smoothing=0"):
        Smoothed(smoothing=0)
