"""Problems that share parts: each is the one made anew, whatever was worked out before."""

import dataclasses

import numpy as np
import pytest
from scipy import sparse

import rectiline as rl

RNG = np.random.default_rng(2)
X = RNG.standard_normal((60, 4))
Y = X[:, 0] + RNG.standard_normal(60)
CHOSEN = np.array([3, 7, 8, 20, 41, 59])
WEIGHT = RNG.uniform(0.5, 2.0, CHOSEN.size)


@pytest.mark.parametrize("layout", [np.asarray, np.asfortranarray, sparse.csr_array])
@pytest.mark.parametrize("several", [False, True])
def test_the_same_objective_and_certificate(layout, several):
    loss, index = rl.losses.Absolute(), None
    if several:
        loss, index = [rl.losses.Absolute(), rl.losses.Pinball(0.2)], np.arange(60) % 2
    bound = rl.constraints.Nonnegative()
    whole = rl.Problem(layout(X), Y, loss, rl.penalties.Ridge(2.0), bound, loss_index=index)
    part = whole.on_rows(CHOSEN, WEIGHT)
    own = rl.Problem(
        layout(X)[CHOSEN],
        Y[CHOSEN],
        loss,
        rl.penalties.Ridge(2.0),
        bound,
        sample_weight=WEIGHT,
        loss_index=None if index is None else index[CHOSEN],
    )
    found, expected = rl.solve(part, tol=1e-9), rl.solve(own, tol=1e-9)
    np.testing.assert_allclose(found.coef, expected.coef, atol=1e-7)
    np.testing.assert_allclose(part.objective(X[0], 0.3), own.objective(X[0], 0.3))
    assert part.n_samples == CHOSEN.size and whole.n_samples == 60


def test_weights_are_checked():
    with pytest.raises(ValueError, match="sample_weight"):
        rl.Problem(X, Y, rl.losses.Absolute()).on_rows(CHOSEN, -WEIGHT)


CASES = {
    "ridge": (rl.penalties.Ridge(2.0), (rl.constraints.Box(-0.2, 0.4),)),
    "l1": (rl.penalties.L1(0.5, weights=[1.0, 0.0, 2.0, 1.0]), (rl.constraints.Nonnegative(),)),
    "groups": (
        rl.penalties.GroupLinf(1.5, groups=[0, 1, 1, 0]),
        (rl.constraints.LinearEquality([[1.0, 1.0, -1.0, 1.0]], [0.5]), rl.constraints.Box(-1, 1)),
    ),
    "none": (None, (rl.constraints.LinearInequality([[1.0, 0.0, 0.0, 2.0]], [0.1]),)),
}
VECTORS = ("coef_unit", "column_means", "column_mean_squares", "weight", "offset")
NUMBERS = ("argument_scale", "loss_at_zero", "least_loss")


def remember_everything(problem):
    """Ask for all that a problem may keep."""
    for name in (*VECTORS, *NUMBERS, "rows", "dual_boxes", "slope_width", "feasibility"):
        getattr(problem, name)
    problem.violation(np.full(problem.n_features, 3.0))
    problem.certify(np.zeros(problem.n_features))


def assert_equal(found, made):
    for name in VECTORS:
        np.testing.assert_allclose(getattr(found, name), getattr(made, name), rtol=1e-14)
    for name in NUMBERS:
        assert getattr(found, name) == pytest.approx(getattr(made, name), rel=1e-14), name
    for one, other in zip(found.dual_boxes, made.dual_boxes, strict=True):
        np.testing.assert_array_equal(one, other)
    assert found.slope_width == made.slope_width
    point = np.linspace(-2.0, 2.0, found.n_features)
    assert found.violation(point) == pytest.approx(made.violation(point), rel=1e-12)
    assert found.objective(point, 0.3) == pytest.approx(made.objective(point, 0.3), rel=1e-12)
    slopes = 0.5 * np.sin(np.arange(found.n_samples))
    first, second = found.certify(point, 0.3, slopes), made.certify(point, 0.3, slopes)
    assert dataclasses.astuple(first) == pytest.approx(dataclasses.astuple(second), rel=1e-9)
    assert repr(found.penalty) == repr(made.penalty)


@pytest.fixture(params=CASES)
def case(request):
    penalty, constraints = CASES[request.param]
    problem = rl.Problem(X, Y, rl.losses.Huber(), penalty, constraints)
    remember_everything(problem)
    return problem, penalty, constraints


def test_on_rows_forgets_what_was_about_all_rows(case):
    problem, penalty, constraints = case
    part = problem.on_rows(CHOSEN)
    assert_equal(part, rl.Problem(X[CHOSEN], Y[CHOSEN], rl.losses.Huber(), penalty, constraints))


def test_other_weights_forget_what_was_about_these(case):
    problem, penalty, constraints = case
    weight = RNG.uniform(0.0, 3.0, 60)
    made = rl.Problem(X, Y, rl.losses.Huber(), penalty, constraints, sample_weight=weight)
    assert_equal(problem.with_sample_weight(weight), made)


def test_another_loss_keeps_everything_that_is_not_about_the_loss(case):
    problem, penalty, constraints = case
    for loss in (rl.losses.Pinball(0.2), rl.losses.SquaredError()):
        found = problem.with_loss(loss)
        assert_equal(found, rl.Problem(X, Y, loss, penalty, constraints))
        assert found.design is problem.design and found.weight is problem.weight
        assert found.data.samples.offset is problem.data.samples.offset
    with pytest.raises(ValueError, match=r"loss must be of the residual, as Huber.* got 'hinge'"):
        problem.with_loss("hinge")


def test_another_loss_is_refused_where_rows_pay_different_ones():
    losses = [rl.losses.Pinball(0.2), rl.losses.Absolute()]
    problem = rl.Problem(X, Y, losses, loss_index=np.arange(60) % 2)
    with pytest.raises(ValueError, match="have different losses"):
        problem.with_loss("absolute")


def test_another_penalty_keeps_the_data_and_nothing_of_the_other_penalty(case):
    problem, _, constraints = case
    for penalty in (rl.penalties.L1(0.3), rl.penalties.Slope([3.0, 2.0, 2.0, 0.5]), None):
        found = problem.with_penalty(penalty)
        assert_equal(found, rl.Problem(X, Y, rl.losses.Huber(), penalty, constraints))
        assert found.rows is problem.rows and found.data is problem.data


def test_on_columns_forgets_what_was_about_the_other_columns():
    """The sizes of all columns used to come along to a problem with some of them."""
    problem = rl.Problem(X, Y, rl.losses.Huber(), constraints=rl.constraints.Box(-0.2, 0.4))
    remember_everything(problem)
    part = problem.on_columns(np.array([1, 3]))
    made = rl.Problem(X[:, [1, 3]], Y, rl.losses.Huber(), constraints=rl.constraints.Box(-0.2, 0.4))
    assert part.coef_unit.shape == (2,)
    assert_equal(part, made)
    assert part.rows is problem.rows  # what does not depend on the columns is shared


def test_on_columns_takes_the_columns_of_every_part():
    chosen = np.array([1, 3])
    for name, penalty in {
        "l1": rl.penalties.L1(0.5, weights=[0.0, 1.0]),
        "groups": rl.penalties.GroupLinf(1.5, groups=[1, 0]),
    }.items():
        whole, constraints = CASES[name]
        problem = rl.Problem(X, Y, rl.losses.Huber(), whole, constraints)
        remember_everything(problem)
        part = problem.on_columns(chosen)
        coef = np.zeros(4)
        coef[chosen] = [0.3, -0.7]
        assert part.objective(coef[chosen], 0.1) == pytest.approx(problem.objective(coef, 0.1))
        assert part.penalty_value(coef[chosen]) == pytest.approx(penalty.value(coef[chosen]))
        assert part.violation(coef[chosen])[0] == pytest.approx(problem.violation(coef)[0])


def test_another_design_has_no_memory_of_the_first(case):
    problem, _, _ = case
    Z = RNG.standard_normal((60, 7))
    ridge = rl.penalties.Ridge(3.0)
    made = rl.Problem(Z, Y, rl.losses.Huber(), ridge)
    assert_equal(problem.with_design(Z, ridge), made)
    with pytest.raises(ValueError, match="60 rows"):
        problem.with_design(Z[:5], ridge)


@pytest.mark.parametrize("name", ["data", "terms", "weight", "penalty", "anything"])
def test_problems_cannot_be_changed(name):
    problem = rl.Problem(X, Y, rl.losses.Huber())
    with pytest.raises(AttributeError):
        setattr(problem, name, None)
    for part in (problem.data, problem.terms, problem.data.samples, problem.terms.region):
        with pytest.raises(dataclasses.FrozenInstanceError):
            part.weight = None
