"""The program: its objective, its boxes, its violations, and that it leaves its data alone."""

import numpy as np
import pytest
from cases import COUPLED, FLAT, GENERAL, LOSSES, RIDGES
from scipy import sparse

import rectiline as rl
from rectiline import Problem
from rectiline.constraints import (
    Box,
    Fairness,
    LinearEquality,
    LinearInequality,
    Monotone,
    Nonnegative,
)
from rectiline.losses import Absolute, EpsilonInsensitive, Hinge, Pinball, SquaredError
from rectiline.penalties import L1, ElasticNet, Ridge, Slope

RNG = np.random.default_rng(4)
X = RNG.normal(size=(30, 5))
TARGETS = X @ RNG.normal(size=5) + RNG.normal(size=30)
LABELS = np.where(TARGETS > 0, 1, 0)
WEIGHT = RNG.uniform(0, 2, 30) * (RNG.random(30) < 0.8)

every_loss = pytest.mark.parametrize("case", LOSSES, ids=[case.name for case in LOSSES])
PENALTIES = [*RIDGES, *FLAT, *COUPLED]


def target(loss):
    return LABELS if loss.of == "margin" else TARGETS


@every_loss
@pytest.mark.parametrize("penalty", PENALTIES, ids=[case.name for case in PENALTIES])
def test_objective_is_the_sum_of_its_parts(case, penalty):
    loss, charged = case.loss, penalty.make(5)
    problem = Problem(X, target(loss), loss=loss, penalty=charged, sample_weight=WEIGHT)
    coef = RNG.normal(size=5)
    expected = loss.value(target(loss), X @ coef + 0.3, WEIGHT).sum()
    expected += 0.0 if charged is None else charged.value(coef)
    assert problem.objective(coef, 0.3) == pytest.approx(expected, rel=1e-13)
    assert problem.certify(coef, 0.3).primal == pytest.approx(expected, rel=1e-13)


@every_loss
def test_boxes_hold_every_slope(case):
    loss = case.loss
    problem = Problem(X, target(loss), loss=loss, sample_weight=WEIGHT)
    low, high = problem.dual_boxes
    assert (low <= high).all()
    z = np.linspace(-50, 50, 30)
    left, right = loss.derivative(target(loss), z, WEIGHT)
    tiny = 1e-12 * (1 + np.abs(left))
    assert (left >= low - tiny).all() and (right <= high + tiny).all()
    assert not low[WEIGHT == 0].any() and not high[WEIGHT == 0].any()


@every_loss
def test_certify_without_multipliers_takes_slopes(case):
    """For a smooth loss at its minimum the slopes at the predictions are the proof."""
    loss = case.loss
    problem = Problem(X, target(loss), loss=loss, penalty=Ridge(1.0), fit_intercept=False)
    proof = problem.certify(np.zeros(5))
    assert proof.gap >= 0
    assert proof.dual <= problem.objective(np.full(5, 1e-3))


def test_smooth_optimum_is_certified_without_multipliers():
    problem = Problem(X, TARGETS, loss=SquaredError(), penalty=Ridge(3.0), fit_intercept=False)
    coef = np.linalg.solve(X.T @ X + 3.0 * np.eye(5), X.T @ TARGETS)
    proof = problem.certify(coef)
    assert proof.relative_gap <= 1e-14
    assert proof.holds(1e-12)


def test_defaults_are_those_of_the_documentation():
    problem = Problem(X, LABELS, loss=Hinge())
    assert problem.penalty == Ridge(1.0)
    assert problem.constraints == ()
    assert problem.fit_intercept
    assert (problem.weight == 1.0).all()
    assert (problem.n_samples, problem.n_features) == (30, 5)


def test_two_labels_of_any_kind():
    values = [
        Problem(X, y, loss=Hinge()).objective(np.ones(5), 0.1)
        for y in (LABELS, LABELS == 1, np.where(LABELS, "yes", "no"), 2.5 * LABELS - 7)
    ]
    assert len(set(values)) == 1


def test_one_constraint_need_not_be_in_a_list():
    alone = Problem(X, TARGETS, loss=Absolute(), constraints=Nonnegative())
    assert alone.constraints == (Nonnegative(),)
    assert (alone.constraint_rows.lower == 0).all()


def test_repr_says_what_it_is():
    text = repr(Problem(X, TARGETS, loss=Pinball(0.9), constraints=[Monotone()]))
    for part in ("30 x 5", "dense", "Pinball", "Ridge", "Monotone", "fit_intercept=True"):
        assert part in text
    assert "sparse" in repr(Problem(sparse.csr_array(X), TARGETS, loss=Absolute()))


def test_another_penalty_shares_the_data():
    problem = Problem(X, TARGETS, loss=Absolute(), constraints=[Box(-1, 1)])
    for penalty in (Ridge(5.0), L1(0.1), None, Slope(np.linspace(2, 1, 5)), ElasticNet(1.0, 2.0)):
        other = problem.with_penalty(penalty)
        fresh = Problem(X, TARGETS, loss=Absolute(), penalty=penalty, constraints=[Box(-1, 1)])
        assert other.design is problem.design
        coef = np.linspace(-0.5, 0.5, 5)
        assert other.objective(coef, 0.1) == fresh.objective(coef, 0.1)
        assert other.certify(coef, 0.1) == fresh.certify(coef, 0.1)
    assert problem.penalty == Ridge(1.0)


@every_loss
@pytest.mark.parametrize("penalty", PENALTIES, ids=[case.name for case in PENALTIES])
def test_other_weights_share_the_data_and_nothing_that_came_from_weights(case, penalty):
    y = LABELS if case.loss.of == "margin" else TARGETS
    given = case.loss, penalty.make(5), [Box(-1, 1)]
    problem = Problem(X, y, *given)
    # Whatever is remembered about these weights must not come along.
    rl.solve(problem, tol=1e-3)
    other = problem.with_sample_weight(WEIGHT)
    fresh = Problem(X, y, *given, sample_weight=WEIGHT)
    assert other.design is problem.design and repr(other) == repr(fresh)
    assert set(vars(other)) == set(vars(fresh))
    coef = np.linspace(-0.5, 0.5, 5)
    assert other.certify(coef, 0.1) == fresh.certify(coef, 0.1)
    assert other.argument_scale == fresh.argument_scale
    np.testing.assert_array_equal(other.column_means, fresh.column_means)
    with pytest.raises(ValueError, match=r"sample_weight must have shape \(30,\)"):
        problem.with_sample_weight(np.ones(3))


@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_data_is_neither_copied_nor_changed(order, dtype):
    data = np.array(X, dtype=dtype, order=order)
    y, weight, kept = TARGETS.copy(), WEIGHT.copy(), data.copy()
    problem = Problem(data, y, loss=Absolute(), sample_weight=weight, penalty=Ridge(9.0))
    rl.solve(problem, solver="rehline")
    assert np.shares_memory(problem.design.X, data)
    np.testing.assert_array_equal(data, kept)
    np.testing.assert_array_equal(y, TARGETS)
    np.testing.assert_array_equal(weight, WEIGHT)


@pytest.mark.parametrize("make", [sparse.csr_array, sparse.csc_array])
def test_sparse_data_is_neither_copied_nor_changed(make):
    data = make(np.where(np.abs(X) > 0.5, X, 0.0))
    kept = [part.copy() for part in (data.data, data.indices, data.indptr)]
    problem = Problem(data, TARGETS, loss=Absolute(), penalty=Ridge(9.0))
    rl.solve(problem, solver="rehline")
    assert np.shares_memory(problem.design.X.data, data.data)
    for part, old in zip((data.data, data.indices, data.indptr), kept, strict=True):
        np.testing.assert_array_equal(part, old)


def test_later_changes_of_weights_and_targets_do_not_matter():
    y, weight = TARGETS.copy(), np.ones(30)
    problem = Problem(X, y, loss=Absolute(), sample_weight=weight)
    before = problem.objective(np.ones(5))
    y[:], weight[:] = 0.0, 7.0
    assert problem.objective(np.ones(5)) == before


def test_certify_does_not_change_what_it_is_given():
    problem = Problem(X, TARGETS, loss=Absolute(), penalty=L1(1.0))
    coef, sample = np.ones(5), np.full(30, 9.0)
    problem.certify(coef, 0.0, rl.DualPoint(sample))
    problem.certify(coef, 0.0, sample)
    assert (coef == 1.0).all() and (sample == 9.0).all()


def test_violation_is_the_worst_of_all():
    problem = Problem(
        X,
        TARGETS,
        loss=Absolute(),
        constraints=[
            Box([-1, -1, -np.inf, 0, 0], [1, 1, 0.5, np.inf, 9]),
            LinearInequality([[1, 1, 0, 0, 0]], -3.0),
            LinearEquality([[0, 0, 0, 1, -1]], 0.25),
        ],
    )
    feasible = np.array([1.0, 1.0, 0.5, 0.0, 0.25])
    assert problem.violation(feasible)[0] == 1.0  # the inequality alone
    assert problem.violation([1.0, 2.5, 0.5, 0.0, 0.25])[0] == 1.5  # the upper bound
    assert problem.violation([1.0, 1.0, 0.5, -2.0, 0.25])[0] == 2.0  # the lower one and the rows
    assert problem.violation([1.0, 1.0, 0.5, 4.0, 0.25])[0] == 4.0  # the equality
    assert Problem(X, TARGETS, loss=Absolute()).violation(feasible) == (0.0, 0.0)


def test_a_hair_below_a_zero_bound_is_a_hair():
    for constraint in (Nonnegative(), Monotone(), LinearInequality(np.eye(5))):
        problem = Problem(X, TARGETS, loss=Absolute(), constraints=[constraint])
        coef = np.array([0.0, -1e-15, 1.0, 1.0, 1.0])
        absolute, relative = problem.violation(coef)
        assert absolute == pytest.approx(1e-15)
        assert relative <= 1e-12


def test_relative_violation_does_not_depend_on_units():
    rows = RNG.normal(size=(3, 5))
    coef = RNG.normal(size=5)
    found = []
    for unit in (1.0, 1e-6, 1e6):
        constraints = [LinearInequality(unit * rows, unit * np.full(3, -5.0))]
        problem = Problem(X, TARGETS, loss=Absolute(), constraints=constraints)
        found.append(problem.violation(coef)[1])
    np.testing.assert_allclose(found, found[0], rtol=1e-12)


def test_moving_into_the_constraints_is_a_small_step():
    constraints = [Monotone(), Box(-0.5, 0.5), LinearEquality(np.ones(5), -0.2)]
    constraints.append(Fairness(np.random.default_rng(3).random(30), 0.01))
    problem = Problem(X, TARGETS, loss=Absolute(), constraints=constraints)
    inside = problem.feasibility.point
    assert problem.violation(inside)[1] <= 1e-9
    outside = inside + 1e-5 * RNG.normal(size=5)
    moved = problem.move_into_constraints(outside)
    assert problem.violation(moved)[1] <= 1e-12
    assert np.linalg.norm(moved - outside) <= 1e-3


def test_sparse_rows_stay_sparse():
    d = 400
    data = RNG.normal(size=(20, d))
    problem = Problem(data, np.ones(20), loss=Absolute(), constraints=[Monotone(), Box(0, 1)])
    rows = problem.constraint_rows
    assert sparse.issparse(rows.A)
    assert rows.A.nnz == 2 * (d - 1)
    assert rows.c.size == d - 1  # bounds are not rows


# ---- several losses ---------------------------------------------------------------------------

SEVERAL = [Pinball(0.1), Pinball(0.5), Pinball(0.9), SquaredError(), EpsilonInsensitive(0.5)]
INDEX = RNG.integers(0, 5, 30)


def test_rows_may_have_losses_of_their_own():
    problem = Problem(X, TARGETS, loss=SEVERAL, loss_index=INDEX, sample_weight=WEIGHT)
    coef, (low, high) = np.linspace(-1, 1, 5), problem.dual_boxes
    total = 0.5 * coef @ coef
    for k, loss in enumerate(SEVERAL):
        mine = np.equal(INDEX, k)
        weight = WEIGHT[mine]
        total += loss.value(TARGETS[mine], X[mine] @ coef + 0.2, weight).sum()
        left, right = loss.curve.domain()
        paid = weight > 0
        np.testing.assert_allclose(low[mine][paid], weight[paid] * -right)
        np.testing.assert_allclose(high[mine][paid], weight[paid] * -left)
    assert problem.objective(coef, 0.2) == pytest.approx(total, rel=1e-13)


@pytest.mark.parametrize("solver", [solver.name for solver in GENERAL])
@pytest.mark.parametrize("intercept", [True, False])
def test_several_losses_are_solved_and_proved(solver, intercept):
    problem = Problem(
        X, TARGETS, loss=SEVERAL, loss_index=INDEX, penalty=Ridge(5.0), fit_intercept=intercept
    )
    solution = rl.solve(problem, solver=solver, tol=1e-8)
    assert solution.status == "solved"
    rng = np.random.default_rng(0)
    for size in (1e-3, 1e-1, 1.0):
        moved = solution.coef + size * rng.normal(size=5)
        assert problem.objective(moved, solution.intercept) >= solution.certificate.dual


def test_one_loss_in_a_list_is_that_loss():
    one = Problem(X, TARGETS, loss=Pinball(0.3))
    listed = Problem(X, TARGETS, loss=[Pinball(0.3), SquaredError()], loss_index=np.zeros(30, int))
    alone, among = one.certify(np.ones(5), 0.1), listed.certify(np.ones(5), 0.1)
    # Rows of one loss are summed in vectors, rows of several one by one: equal up to rounding.
    assert among.primal == pytest.approx(alone.primal, rel=1e-15)
    assert among.gap == pytest.approx(alone.gap, rel=1e-15)
    assert (among.violation, among.scale) == (alone.violation, alone.scale)


@pytest.mark.parametrize(
    ("changes", "error", "message"),
    [
        ({"loss_index": INDEX[:-1]}, ValueError, "loss_index must hold 30 integers"),
        ({"loss_index": INDEX + 0.5}, ValueError, "loss_index must hold 30 integers"),
        ({"loss_index": INDEX + 1}, ValueError, "loss_index must lie between 0 and 4"),
        ({"loss_index": INDEX - 1}, ValueError, "loss_index must lie between 0 and 4"),
        ({"loss": [Absolute(), Hinge()]}, ValueError, "losses of one kind"),
        ({"loss": []}, TypeError, "loss must hold at least one Loss"),
        ({"loss": ["hubber"]}, ValueError, "Did you mean 'huber'"),
        ({"loss_index": None}, TypeError, "loss must be a Loss"),
    ],
)
def test_bad_lists_of_losses(changes, error, message):
    with pytest.raises(error, match=message):
        Problem(X, TARGETS, **{"loss": SEVERAL, "loss_index": INDEX, **changes})
