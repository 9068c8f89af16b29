"""The epigraph form: what the further columns cost, and which problems have the form."""

import numpy as np
import pytest
from scipy.optimize import linprog

from rectiline import Problem
from rectiline.constraints import Nonnegative
from rectiline.losses import Absolute
from rectiline.penalties import L1, ElasticNet, GroupLinf, Ridge, Slope
from rectiline.problems.forms import EpigraphForm
from rectiline.problems.proofs import prove

RNG = np.random.default_rng(0)
D = 6
COUPLED = {
    "groups": GroupLinf(1.5, [0, 0, 1, 1, 1, 2]),
    "some groups": GroupLinf(0.7, [[0, 3], [1, 4]]),
    "bh": Slope.bh(D, q=0.2),
    "oscar": Slope.oscar(D, l1=0.3, slope=0.1),
    "two levels": Slope.two_level(D, k=2, high=2.0, low=0.5),
    "largest only": Slope([2.0, 0, 0, 0, 0, 0]),
    "equal": Slope(np.full(D, 0.8)),
    "nothing": Slope(np.zeros(D)),
}


def form_of(penalty, **more):
    X = RNG.normal(size=(8, D))
    return EpigraphForm.apply(Problem(X, np.arange(8.0), Absolute(), penalty=penalty, **more))


def least_cost(form, b):
    """Minimise the cost of the further columns for fixed coefficients, as a linear program."""
    more = form.epigraph
    d, extra, rows = D, more.n_columns - D, more.cap.size
    above, capped = more.above.toarray(), more.capped.toarray()
    fixed = float(form.columns.l1 @ np.abs(b) + more.linear[:d] @ b)
    if extra == 0:
        return fixed
    # minimise linear't + cap's with U (b, t) >= 0, s >= C (b, t), s >= 0
    left = np.block(
        [[-above[:, d:], np.zeros((above.shape[0], rows))], [capped[:, d:], -np.eye(rows)]]
    )
    right = np.concatenate([above[:, :d] @ b, -capped[:, :d] @ b])
    bounds = [(None, None)] * extra + [(0, None)] * rows
    cost = np.concatenate([more.linear[d:], more.cap])
    return fixed + linprog(cost, A_ub=left, b_ub=right, bounds=bounds).fun


@pytest.mark.parametrize("name", COUPLED)
def test_the_further_columns_cost_the_penalty(name):
    form = form_of(COUPLED[name])
    for b in (RNG.normal(size=D), np.round(RNG.normal(size=D)), np.zeros(D), np.eye(D)[2]):
        value = COUPLED[name].value(b)
        assert form.problem.penalty_value(b) == value
        assert least_cost(form, b) == pytest.approx(value, abs=1e-9)


@pytest.mark.parametrize("name", COUPLED)
def test_sizes(name):
    form = form_of(COUPLED[name])
    more = form.epigraph
    assert more.n_columns == form.n_columns
    assert more.above.shape[1] == more.capped.shape[1] == more.linear.size == form.n_columns
    assert more.capped.shape[0] == more.cap.size
    assert (more.cap > 0).all()


@pytest.mark.parametrize("penalty", [Ridge(2.0), L1(1.0), ElasticNet(1.0, 0.5), None])
def test_a_separable_penalty_needs_nothing_more(penalty):
    form = form_of(penalty)
    assert form.n_columns == form.epigraph.n_columns == D
    assert form.epigraph.above.shape == (0, D) and not form.epigraph.linear.any()
    assert form.columns is form.problem.columns


def test_equal_strengths_are_an_l1_penalty():
    np.testing.assert_array_equal(form_of(COUPLED["equal"]).columns.l1, np.full(D, 0.8))
    assert form_of(COUPLED["equal"]).n_columns == D


def test_bounds_under_a_coupled_penalty_are_rows():
    form = form_of(COUPLED["groups"], constraints=[Nonnegative()])
    assert form.n_inequalities == D and not form.columns.has_bounds


def test_there_and_back():
    form = form_of(COUPLED["bh"])
    problem = form.problem
    b, g = RNG.normal(size=D), RNG.uniform(-1, 1, size=8)
    point = form.point_of(b, 0.5, prove(problem, b, 0.5, g).dual)
    coef, intercept, dual = form.invert(point)
    np.testing.assert_array_equal(coef, b)
    assert intercept == 0.5 and dual.sample.shape == (8,)


def test_too_many_levels_are_refused_with_the_way_out():
    d = 2_100
    X, y = np.ones((2, d)), np.arange(2.0)
    problem = Problem(X, y, Absolute(), penalty=Slope.oscar(d, l1=1.0, slope=0.1))
    reason = EpigraphForm.accepts(problem)
    assert "drop 2099 times" in reason and "generation" in reason
    with pytest.raises(ValueError, match="no EpigraphForm"):
        EpigraphForm.apply(problem)
    few = problem.with_penalty(Slope.two_level(d, k=10, high=2.0, low=1.0))
    assert EpigraphForm.accepts(few) is None
