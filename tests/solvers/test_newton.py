"""`newton`: its phases and guards, each on a case that trips it."""

import numpy as np
import pytest
from scipy import sparse as sp

import rectiline as rl
from rectiline import _core
from rectiline.problems import Certificate
from rectiline.problems.forms import RectifiedForm, ReducedForm
from rectiline.solvers import Newton, ReducedNewton
from rectiline.solvers._base import Budget
from rectiline.solvers._row_plan import RowPlan
from rectiline.solvers.newton._model import Model, WorkingSet, row_lengths

LOSSES = {
    "hinge": rl.losses.Hinge(),
    "squared_hinge": rl.losses.SquaredHinge(),
    "pinball": rl.losses.Pinball(0.9),
    "huber": rl.losses.Huber(1.0),
    "epsilon_insensitive": rl.losses.EpsilonInsensitive(0.2),
}


def data(loss, n, d, seed=0, spread=0.0):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, d)) * 10.0 ** rng.uniform(-spread, spread, d)
    z = X @ (rng.standard_normal(d) / np.sqrt(d) / X.std(axis=0))
    noise = rng.standard_t(3, n)
    y = np.sign(z + 0.5 * noise) if loss.of == "margin" else z + 0.5 * noise
    return X, y


def problem(name, n, d, C=100.0, **options):
    loss = LOSSES[name]
    X, y = data(loss, n, d, spread=options.pop("spread", 0.0))
    options.setdefault("penalty", rl.penalties.Ridge(1.0))
    return rl.Problem(X, y, loss, sample_weight=np.full(n, C / n), **options)


@pytest.mark.parametrize("name", LOSSES)
@pytest.mark.parametrize("C", [1.0, 1e4])
@pytest.mark.parametrize("intercept", [False, True])
def test_many_badly_scaled_rows(name, C, intercept):
    """The whole way: subsample, working set, certificate."""
    one = problem(name, 30_000, 8, C, spread=2.0, fit_intercept=intercept)
    solution = rl.solve(one, solver="newton", tol=1e-9)
    assert solution.status == "solved"


@pytest.mark.parametrize("phases", [(False, True), (True, False), (False, False)])
@pytest.mark.parametrize("name", ["pinball", "huber"])
def test_phases_change_the_way_and_not_the_answer(name, phases):
    one = problem(name, 20_000, 5)
    subsample, working_set = phases
    plain = rl.solve(one, solver="newton", tol=1e-10)
    other = rl.solve(one, solver="newton", tol=1e-10, subsample=subsample, working_set=working_set)
    assert other.objective == pytest.approx(plain.objective, rel=1e-9)


@pytest.mark.parametrize("make", [np.asfortranarray, sp.csr_array, sp.csc_array, np.float32])
def test_storage_does_not_matter(make):
    loss = LOSSES["pinball"]
    X, y = data(loss, 4000, 6)
    X = X.astype(np.float32).astype(np.float64)  # the same numbers in either precision
    stored = X.astype(np.float32) if make is np.float32 else make(X)
    answers = [rl.solve(rl.Problem(one, y, loss), solver="newton", tol=1e-9) for one in (X, stored)]
    np.testing.assert_allclose(answers[0].coef, answers[1].coef, atol=1e-7)
    assert answers[1].status == "solved"


def test_samples_grow_and_are_left_out_where_they_do_not_pay():
    assert RowPlan(1_000_000, 20).newton_samples(smooth=False) == [10_000, 100_000]
    assert RowPlan(40_000, 100).newton_samples(smooth=False) == [5000]
    assert RowPlan(40_000, 100).newton_samples(smooth=True) == [2000]
    assert RowPlan(2000, 20).newton_samples(smooth=False) == []


FOREVER = Budget(400, np.inf, 1e-9)


def started(one, **options):
    method = Newton(**options)
    form = RectifiedForm.apply(one)
    return method, form, method.start(form, None, 0)


def test_freezing_refuses_when_most_rows_would_stay():
    one = problem("pinball", 5000, 5, fit_intercept=False)
    _, _, state = started(one)
    state.rows.place(state.model.terms.expand(state.b))
    length = row_lengths(state.model)
    assert WorkingSet.split(state.rows, state.model, state.b, 1e6, length, FOREVER) is None
    few = WorkingSet.split(state.rows, state.model, state.b, 1e-9, length, FOREVER)
    assert few is not None and few.index.size >= 8 * state.model.order


def test_kept_rows_can_balance_the_frozen_ones():
    """Nearly all labels are +1: a handful of rows could not balance the others' slopes."""
    rng = np.random.default_rng(1)
    X = rng.standard_normal((20_000, 3))
    rare = rng.random(20_000) < 0.02
    X[rare] += 2.0
    one = rl.Problem(X, np.where(rare, -1, 1), rl.losses.Hinge(), rl.penalties.Ridge(1e-3))
    method, _, state = started(one)
    method._start_on_samples(state, Budget(60, np.inf, 1e-9))
    length = row_lengths(state.model)
    working = WorkingSet.split(state.rows, state.model, state.b, 1e-9, length, FOREVER)
    assert working is not None and working.index.size < 10_000
    low, high = one.dual_boxes
    need = -working.frozen_dual.sum()
    assert low[working.index].sum() <= need <= high[working.index].sum()
    assert rl.solve(one, solver="newton", tol=1e-9).status == "solved"


def test_rows_that_cannot_balance_are_not_frozen():
    """The rows of a rare class sit on their knot and cannot balance the others."""
    rng = np.random.default_rng(1)
    X = rng.standard_normal((20_000, 3))
    rare = rng.random(20_000) < 0.03
    one = rl.Problem(X, np.where(rare, 1, -1), rl.losses.Hinge(), rl.penalties.Ridge(1e-3))
    _, _, state = started(one)
    state.rows.place(np.array([0.0, 0.0, 0.0, 1.0]))
    assert state.rows.freeze(state.model.terms, rare.view(np.uint8), state.b, np.inf) is None
    length = row_lengths(state.model)
    assert WorkingSet.split(state.rows, state.model, state.b, 0.0, length, FOREVER) is None


def refused(method, state, *gaps):
    """Answer a burst for each gap and let the certificate refuse it."""
    for gap in gaps:
        assert method.advance(state, Budget(400, np.inf, 1e-6)).reached
        method.learn(state, Certificate(1.0, gap, 0.0, 0.0))


def test_frozen_rows_that_leave_their_piece_join_the_next_working_set():
    """A set wider all around took half of all rows where a few were missing."""
    one = problem("pinball", 40_000, 5, C=1e2)
    method, form, state = started(one)
    method._start_on_samples(state, FOREVER)
    state.reach, state.is_cold = 1e-9, False
    assert not method._on_working_set(state, 1e-9, 400, FOREVER)
    first = state.kept.sum()
    assert 400 < first < 4000 and state.has_working_set
    assert method.advance(state, FOREVER).reached and state.run is None
    assert one.certify(*form.invert(method.point(state))).relative_gap <= 1e-9


def test_a_working_set_that_no_row_has_left_and_that_does_not_help_is_the_last_one():
    """All rows follow, and they start at the best answer and not at the last one."""
    method, _, state = started(problem("pinball", 40_000, 5, C=1e2))
    refused(method, state, 1e-4)
    best = state.b.copy()
    assert state.has_working_set
    refused(method, state, 0.5)
    assert not state.has_working_set and np.array_equal(state.b, best)
    assert method.advance(state, Budget(400, np.inf, 1e-6)).reached and state.run is not None


def test_a_working_set_hands_over_the_multipliers_of_the_point_it_ends_at():
    """Those of the step before left a gap of 6e-2 on columns of different scales."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((20_000, 5)) * [1.0, 10.0, 100.0, 1e3, 1e4]
    y = np.where(X @ [1.0, 0.1, 0.01, 1e-3, 1e-4] + rng.standard_normal(20_000) > 0, 1, -1)
    fair = rl.constraints.Fairness((X[:, 0] > 0).astype(float), 0.01)
    one = rl.Problem(X, y, rl.losses.Hinge(), rl.penalties.Ridge(1e-2), [fair])
    method, form, state = started(one)
    assert method.advance(state, Budget(400, np.inf, 1e-6)).reached and state.run is None
    assert one.certify(*form.invert(method.point(state))).relative_gap <= 1e-6


@pytest.mark.parametrize("seed", [1, 5, 13, 21])
def test_a_first_working_set_that_misleads_costs_few_steps(seed):
    """Raw, skewed columns: narrower sets around a rough answer ran away for 480 steps."""
    rng = np.random.default_rng(seed)
    X = np.exp(1.5 * rng.standard_normal((20_000, 8))) * 10.0 ** np.linspace(0.0, 3.0, 8)
    y = np.minimum(X @ (1.0 / X.std(axis=0)) * np.exp(rng.standard_normal(20_000)), 5.0)
    weight = np.full(y.size, 1.0 / y.size)
    one = rl.Problem(X, y, rl.losses.Pinball(0.1), None, sample_weight=weight, fit_intercept=True)
    solution = rl.solve(one, solver="newton")
    assert solution.status == "solved" and solution.n_iter <= 150


def test_too_stiff_a_start_is_stepped_back_from():
    """The guard on inner steps: a huge first stiffness must not end the solve."""
    one = problem("hinge", 2000, 30, C=1e4)
    _, _, state = started(one)
    schedule = state.schedule._replace(start=1e7, inner_steps=5)
    state.rows.set_multiplier(np.zeros(state.rows.n))
    state.rows.place(state.model.terms.expand(state.b))
    terms = state.model.terms
    run = _core.NewtonRun(terms, state.rows, None, state.b, *state.multipliers, schedule)
    run.solve(1e-9, 400, np.inf)
    assert run.growth < 1e7  # nothing but a guard takes it down


def test_it_says_when_it_cannot_go_on():
    """After too many guards or steps the stage ends and auto hands over."""
    one = problem("hinge", 200, 10)
    method, _, state = started(one)
    step = method.advance(state, Budget(1, 10.0, 1e-12))
    assert step.iterations <= 2 and not step.reached


def test_a_deadline_is_kept():
    one = problem("pinball", 50_000, 20, C=1e4)
    method, _, state = started(one)
    step = method.advance(state, Budget(10_000, 0.0, 1e-14))
    assert not step.reached


@pytest.mark.parametrize("shift", [0.0, 100.0, 1e5])
def test_large_means_cost_no_extra_steps(shift):
    X, y = data(LOSSES["pinball"], 400, 5)
    one = rl.Problem(X + shift, y, LOSSES["pinball"], rl.penalties.Ridge(1e-3))
    solution = rl.solve(one, solver="newton", tol=1e-8)
    assert solution.status == "solved" and solution.n_iter < 80


def test_centred_variables_go_there_and_back():
    one = problem("pinball", 300, 4, constraints=rl.constraints.Monotone())
    model = Model(RectifiedForm.apply(one))
    rng = np.random.default_rng(0)
    coef, intercept = rng.standard_normal(4), 0.7
    again = model.to_user(model.from_user(coef, intercept))
    np.testing.assert_allclose(again[0], coef)
    assert again[1] == pytest.approx(intercept)
    # gradients follow the same change of variables
    v = rng.standard_normal(5)
    jacobian = np.column_stack([model.terms.expand(e) for e in np.eye(5)])
    np.testing.assert_allclose(model.terms.contract(v), jacobian.T @ v, atol=1e-12)


def test_exact_zeros_and_exact_bounds():
    X, y = data(LOSSES["pinball"], 600, 20)
    sparse_fit = rl.solve(
        rl.Problem(X, y, LOSSES["pinball"], rl.penalties.L1(25.0)), solver="newton", tol=1e-8
    )
    assert 0 < np.count_nonzero(sparse_fit.coef == 0.0) < 20
    boxed = rl.solve(
        rl.Problem(X, y, LOSSES["pinball"], None, rl.constraints.Box(-0.05, 0.05)), solver="newton"
    )
    assert np.count_nonzero(np.abs(boxed.coef) == 0.05) > 0


@pytest.mark.parametrize("name", ["hinge", "squared_hinge", "pinball"])
@pytest.mark.parametrize("intercept", [False, True])
def test_more_columns_than_rows_in_the_span_of_the_rows(name, intercept):
    one = problem(name, 40, 200, C=40.0, fit_intercept=intercept)
    reduced = rl.solve(one, solver="reduced_newton", tol=1e-8)
    full = rl.solve(one, solver="interior", tol=1e-8)
    assert reduced.status == "solved"
    assert reduced.objective == pytest.approx(full.objective, rel=1e-7)
    np.testing.assert_allclose(reduced.coef, full.coef, atol=1e-4)


def test_what_does_not_reduce_is_refused():
    one = problem("hinge", 20, 100, penalty=rl.penalties.ElasticNet(0.1, 1.0))
    assert "plain ridge" in ReducedForm.accepts(one)
    with pytest.raises(rl.UnsupportedProblemError, match="plain ridge"):
        rl.solve(one, solver="reduced_newton")
    assert ReducedNewton.refuses(problem("hinge", 20, 100)) is None


@pytest.mark.parametrize("n, d, density", [(50, 4000, 0.01), (300, 3500, 0.02)])
def test_many_sparse_columns_are_solved_by_conjugate_gradients(n, d, density):
    rng = np.random.default_rng(0)
    X = sp.csr_array(np.where(rng.random((n, d)) < density, rng.random((n, d)), 0.0))
    one = rl.Problem(X, np.arange(n) % 2, rl.losses.Hinge(), rl.penalties.Ridge(0.1))
    assert rl.solve(one, solver="newton").status == "solved"


@pytest.mark.parametrize("penalty", [rl.penalties.Ridge(1.0), rl.penalties.L1(3.0)])
@pytest.mark.parametrize("name", ["pinball", "hinge", "huber"])
def test_more_columns_than_rows_at_a_kink(name, penalty):
    """Systems of the size of the free rows, here with many more columns than those."""
    rng = np.random.default_rng(3)
    X = rng.standard_normal((120, 700))
    y = X[:, :4].sum(axis=1) + rng.standard_normal(120)
    y = np.where(y > 0, 1, -1) if name == "hinge" else y
    one = rl.Problem(X, y, LOSSES[name], penalty)
    newton, interior = (rl.solve(one, solver=name, tol=1e-8) for name in ("newton", "interior"))
    assert newton.status == "solved"
    assert newton.objective == pytest.approx(interior.objective, rel=1e-7)


@pytest.mark.parametrize("delta", [1e6, 1e9, 1e12])
@pytest.mark.parametrize("solver", ["auto", "newton", "passes"])
def test_huber_with_knots_far_away_is_squared_error(solver, delta):
    rng = np.random.default_rng(1)
    X = rng.standard_normal((2000, 5))
    y = X.sum(axis=1) + rng.standard_normal(2000)
    for penalty in (None, rl.penalties.Ridge(1.0), rl.penalties.L1(1.0)):
        squared = rl.solve(rl.Problem(X, y, rl.losses.SquaredError(), penalty), tol=1e-10)
        huber = rl.solve(rl.Problem(X, y, rl.losses.Huber(delta), penalty), solver, tol=1e-8)
        assert huber.status == "solved"
        assert huber.objective == pytest.approx(squared.objective, rel=1e-8)


def test_images_with_many_zeros_by_products():
    """Arrays that are mostly zero are read by their entries; few products replace the matrix."""
    rng = np.random.default_rng(3)
    pixels = rng.uniform(size=(2000, 300)) * (rng.uniform(size=(2000, 300)) < 0.2)
    y = np.where(pixels @ rng.standard_normal(300) + 0.3 * rng.standard_normal(2000) > 0, 1, -1)
    objectives = []
    for X in (pixels, sp.csr_array(pixels)):
        problem = rl.Problem(X, y, "squared_hinge", rl.penalties.Ridge(0.1))
        assert problem.design.without_zeros.is_sparse
        found = rl.solve(problem, solver="newton", tol=1e-8)
        assert found.certificate.relative_gap <= 1e-8
        objectives.append(found.objective)
    other = rl.solve(problem, solver="rehline", tol=1e-8)
    assert objectives == pytest.approx([other.objective] * 2, rel=1e-7)
    assert not rl.Problem(pixels + 1, y, "squared_hinge").design.without_zeros.is_sparse


def test_an_intercept_that_no_row_holds_is_found_in_few_steps():
    """Far from the answer all residuals are on straight pieces of a Huber loss."""
    rng = np.random.default_rng(3)
    X = rng.standard_normal((200, 150)) * 10 ** rng.uniform(-2, 2, 150)
    y = X[:, 0] + rng.standard_normal(200) + 500.0
    found = rl.solve(rl.Problem(X, y, "huber", rl.penalties.Ridge(1.0)), "newton")
    assert found.status == "solved" and found.n_iter <= 20


@pytest.mark.parametrize("delta", [1e9, 1e20, 1e100])
@pytest.mark.parametrize("penalty", [None, rl.penalties.Ridge(1.0), rl.penalties.L1(3.0)], ids=repr)
def test_a_huge_delta_of_huber_takes_the_steps_of_the_squared_error(penalty, delta):
    """Slopes that no residual comes near must not set the unit of the multipliers."""
    X, y = data(rl.losses.SquaredError(), 200, 6)
    huber, squared = (
        rl.solve(rl.Problem(X, y, loss, penalty, fit_intercept=True), solver="newton")
        for loss in (rl.losses.Huber(delta), rl.losses.SquaredError())
    )
    assert huber.status == "solved" and huber.n_iter <= squared.n_iter + 2
    assert huber.objective == pytest.approx(squared.objective, rel=1e-9)


@pytest.mark.parametrize("knot", [1e3, -1e6])
def test_a_loss_about_a_far_target(knot):
    """Where all slopes are of arguments far away, they count."""
    X, _ = data(rl.losses.SquaredError(), 200, 6)
    loss = rl.losses.PiecewiseLQ([knot], [(0.5, -knot, 0.5 * knot**2)] * 2, of="prediction")
    target = np.full(200, knot)
    answer = rl.solve(rl.Problem(X, target, loss, fit_intercept=True), solver="newton")
    assert answer.status == "solved" and answer.intercept == pytest.approx(knot, rel=1e-3)
