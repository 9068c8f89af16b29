"""Dual coordinate ascent: its options, its two ways to set rows aside, and its own estimates."""

import itertools

import numpy as np
import pytest
import scipy.sparse as sp
from cases import LOSSES

import rectiline as rl
from rectiline import Problem
from rectiline.constraints import Box, LinearEquality, LinearInequality, Monotone
from rectiline.losses import EpsilonInsensitive, Hinge, Huber, Pinball, SmoothedHinge
from rectiline.penalties import ElasticNet, Ridge
from rectiline.solvers import Rehline
from rectiline.solvers._base import Budget

RNG = np.random.default_rng(31)
X = RNG.normal(size=(700, 8))  # several blocks of rows
SIGNAL = X @ RNG.normal(size=8) + RNG.normal(size=700)
LABELS = np.where(SIGNAL > 0.2, 1, -1)
ROWS = [LinearInequality(RNG.normal(size=(3, 8)), 0.05), LinearEquality(np.ones(8), -0.1)]

KINDS = {
    "hinge": {"y": LABELS, "loss": Hinge(), "penalty": Ridge(100.0)},
    "smoothed": {"y": LABELS, "loss": SmoothedHinge(0.5), "penalty": ElasticNet(5.0, 100.0)},
    "pinball": {"y": SIGNAL, "loss": Pinball(0.9), "penalty": Ridge(100.0)},
    "huber": {
        "y": SIGNAL,
        "loss": Huber(0.5),
        "penalty": Ridge(50.0),
        "constraints": [Box(-0.3, 0.3)],
    },
    "rows": {"y": SIGNAL, "loss": Pinball(0.5), "penalty": Ridge(100.0), "constraints": ROWS},
    "order": {
        "y": SIGNAL,
        "loss": Huber(1.0),
        "penalty": Ridge(200.0),
        "constraints": [Monotone()],
    },
}
SWITCHES = ("shuffle", "shrink", "screen", "accelerate")
ALL_OPTIONS = [
    dict(zip(SWITCHES, flags, strict=True)) for flags in itertools.product([True, False], repeat=4)
]


def started(problem, **options):
    method = Rehline(**options)
    form = method.form.apply(problem)
    return method, form, method.start(form, None, 0)


@pytest.mark.parametrize("intercept", [True, False])
@pytest.mark.parametrize("kind", KINDS)
def test_every_option_leads_to_the_same_answer(kind, intercept):
    problem = Problem(X, **KINDS[kind], fit_intercept=intercept)
    answers = [rl.solve(problem, solver="rehline", tol=1e-8, **options) for options in ALL_OPTIONS]
    for answer in answers:
        assert answer.status == "solved"
        assert answer.objective == pytest.approx(answers[0].objective, rel=2e-8)
        np.testing.assert_allclose(answer.coef, answers[0].coef, atol=2e-3)


@pytest.mark.parametrize("intercept", [True, False])
@pytest.mark.parametrize("case", LOSSES, ids=[case.name for case in LOSSES])
def test_without_an_intercept_the_dual_never_falls(case, intercept):
    """Each step maximises the dual along one coordinate; with an intercept the bound may waver."""
    y = LABELS if case.loss.of == "margin" else SIGNAL
    problem = Problem(X[:90], y[:90], loss=case.loss, penalty=Ridge(5.0), fit_intercept=intercept)
    method, form, state = started(problem, shrink=False, screen=False)
    bounds = []
    for _ in range(15):
        method.advance(state, Budget(1, 10.0, 0.0))
        bounds.append(problem.certify(*form.invert(method.point(state))).dual)
    level = problem.objective(np.zeros(8))
    if not intercept:
        assert (np.diff(bounds) >= -1e-10 * level).all()
    assert bounds[-1] >= bounds[0] - 1e-10 * level


@pytest.mark.parametrize("kind", KINDS)
def test_coefficients_follow_from_the_multipliers(kind):
    """b = grad h*(A'xi + E'nu - X'g) holds at every point of the loop."""
    problem = Problem(X, **KINDS[kind])
    method, form, state = started(problem)
    for sweeps in (1, 5, 150):
        method.advance(state, Budget(sweeps, 10.0, 0.0))
        point = method.point(state)
        q = form.constraint_design.tdot(point.constraint) - X.T @ point.sample
        h = form.columns
        best = np.clip((q - np.clip(q, -h.l1, h.l1)) / h.rho, h.lower, h.upper)
        np.testing.assert_allclose(point.coef, best, rtol=1e-8, atol=1e-10)
        low, high = problem.dual_boxes
        assert (point.sample >= low).all() and (point.sample <= high).all()
        assert (point.constraint[: form.n_inequalities] >= 0).all()


@pytest.mark.parametrize("kind", ["hinge", "pinball", "smoothed"])
def test_screened_rows_stay_where_the_optimum_has_them(kind):
    """Gap-safe: what is fixed early is right, at every gap it is told."""
    problem = Problem(X, **KINDS[kind], fit_intercept=False)
    exact = rl.solve(problem, solver="rehline", tol=1e-12, screen=False)
    method, form, state = started(problem, screen=False)
    left = [700]
    for _ in range(12):
        method.advance(state, Budget(2, 10.0, 0.0))
        proof = problem.certify(*form.invert(method.point(state)))
        left.append(state.loop.screen(proof.gap))
    assert left == sorted(left, reverse=True)
    assert left[-1] < 400
    for _ in range(20):
        method.advance(state, Budget(100, 10.0, 0.0))
    proof = problem.certify(*form.invert(method.point(state)))
    assert proof.relative_gap <= 1e-10
    assert proof.primal == pytest.approx(exact.objective, rel=1e-10)


def test_screening_with_a_huge_gap_fixes_nothing():
    problem = Problem(X, **KINDS["hinge"], fit_intercept=False)
    _, _, state = started(problem)
    assert state.loop.screen(1e12) == 700
    assert state.loop.screen(np.inf) == 700
    assert state.loop.screen(np.nan) == 700


def test_screening_is_not_done_with_an_intercept():
    problem = Problem(X, **KINDS["hinge"])
    method, _, state = started(problem)
    method.advance(state, Budget(50, 10.0, 0.0))
    assert state.loop.screen(1e-9) == 700


def test_shrinking_visits_fewer_rows():
    problem = Problem(X, **KINDS["hinge"], fit_intercept=False)
    _, _, state = started(problem, screen=False)
    assert state.loop.run(6, 0.0, 0.0, 10.0).n_active < 200
    _, _, everything = started(problem, screen=False, shrink=False)
    assert everything.loop.run(6, 0.0, 0.0, 10.0).n_active == 700


@pytest.mark.parametrize("kind", KINDS)
def test_its_own_estimate_of_the_gap_is_an_estimate(kind):
    """What it says it reached, a certificate finds to be about true."""
    problem = Problem(X, **KINDS[kind], fit_intercept=False)
    method, form, state = started(problem)
    done = method.advance(state, Budget(5000, 10.0, 1e-7))
    assert done.reached and done.iterations < 5000
    proof = problem.certify(*form.invert(method.point(state)))
    assert proof.gap / abs(proof.primal) <= 1e-4


def test_bursts_grow_while_only_constraints_are_open():
    """The rows are at their least loss from the start; certificates must not follow every sweep."""
    A = np.array([[1.0, 1.0, 0.0], [-1.0, -1.02, 0.02], [0.0, 1.0, -1.01]])
    problem = Problem(
        X[:50, :3],
        X[:50, :3] @ [0.1, 0.1, 0.1],
        loss=EpsilonInsensitive(50.0),
        penalty=Ridge(1.0),
        constraints=[LinearInequality(A, [-1.0, 1.001, 0.5])],
        fit_intercept=False,
    )
    seen = []
    rl.solve(
        problem,
        solver="rehline",
        callback=lambda progress: seen.append(progress) or progress.n_iter > 2000,
    )
    assert len(seen) <= 60


def test_zero_rows_are_never_visited():
    """Their multiplier is known at once: the slope at a prediction of zero."""
    data = X[:60].copy()
    data[::3] = 0.0
    problem = Problem(data, LABELS[:60], loss=Hinge(), penalty=Ridge(9.0), fit_intercept=False)
    method, _, state = started(problem)
    assert state.loop.run(1, 0.0, 0.0, 10.0).n_active == 40
    np.testing.assert_array_equal(method.point(state).sample[::3], -LABELS[:60:3])


def test_no_rows_at_all_still_meets_the_constraints():
    """All rows zero: only constraints move the coefficients."""
    problem = Problem(
        np.zeros((5, 3)),
        np.ones(5),
        loss=Pinball(0.5),
        penalty=Ridge(2.0),
        constraints=[LinearInequality([1.0, 1.0, 0.0], -2.0)],
        fit_intercept=False,
    )
    solution = rl.solve(problem, solver="rehline", tol=1e-9)
    assert solution.status == "solved"
    np.testing.assert_allclose(solution.coef, [1.0, 1.0, 0.0], atol=1e-6)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_order_of_storage_gives_the_same_steps(dtype):
    """Blocks gathered from a Fortran array hold the same numbers as rows used in place."""
    data = X.astype(dtype)
    found = [
        rl.solve(Problem(stored, **KINDS["huber"]), solver="rehline", tol=1e-9)
        for stored in (data, np.asfortranarray(data))
    ]
    assert found[0].n_iter == pytest.approx(found[1].n_iter, abs=2)
    np.testing.assert_allclose(found[0].coef, found[1].coef, atol=1e-6)


def test_a_restart_continues_where_it_stood():
    problem = Problem(X, **KINDS["rows"])
    method, form, state = started(problem)
    method.advance(state, Budget(30, 10.0, 0.0))
    point = method.point(state)
    again = method.start(form, point, 0)
    restored = method.point(again)
    np.testing.assert_allclose(restored.coef, point.coef, rtol=1e-9, atol=1e-12)
    np.testing.assert_array_equal(restored.sample, point.sample)
    np.testing.assert_array_equal(restored.constraint, point.constraint)


def test_multipliers_of_another_problem_are_clipped_on_a_restart():
    problem = Problem(X, **KINDS["rows"])
    method, form, _ = started(problem)
    point = form.point_of(
        np.zeros(8), 0.0, rl.DualPoint(np.full(700, 99.0), np.full(3, -5.0), np.array([2.0]))
    )
    state = method.point(method.start(form, point, 0))
    assert (state.sample <= problem.dual_boxes[1]).all()
    np.testing.assert_array_equal(state.constraint, [0.0, 0.0, 0.0, 2.0])


def test_the_variant_of_the_paper_is_gone_and_says_so():
    with pytest.raises(TypeError, match="no option 'variant'"):
        rl.solve(Problem(X, **KINDS["hinge"]), solver="rehline", variant="unit")


def test_options_are_frozen_and_shown():
    assert Rehline() == Rehline(shuffle=True, shrink=True, screen=True, accelerate=None)
    assert "shrink=False" in repr(Rehline(shrink=False))
    with pytest.raises(AttributeError):
        Rehline().shrink = False


def test_arrays_of_mostly_zeros_take_the_steps_of_sparse_rows():
    """Images are visited by their entries, so the same sweeps follow as with a sparse matrix."""
    rng = np.random.default_rng(4)
    pixels = rng.uniform(size=(2000, 300)) * (rng.uniform(size=(2000, 300)) < 0.2)
    y = np.where(pixels @ rng.standard_normal(300) > 0, 1, -1)
    sparse, dense = (
        Rehline().start(Rehline.form.apply(Problem(X, y, "squared_hinge", Ridge(1.0))), None, 0)
        for X in (sp.csr_array(pixels), pixels)
    )
    for state in (sparse, dense):
        state.loop.run(3, 0.0, 0.0, np.inf)
    np.testing.assert_array_equal(dense.loop.coef, sparse.loop.coef)
