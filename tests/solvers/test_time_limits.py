"""Time limits: every long piece of work asks whether it may go on; counted, not timed."""

from __future__ import annotations

import math
import time
import warnings
from dataclasses import replace
from itertools import product

import numpy as np
import pytest

import rectiline as rl
from rectiline._polling import Clock, OutOfTime, asked_at_checkpoints, checkpoint, time_left
from rectiline.backends import Design
from rectiline.exceptions import ConvergenceWarning
from rectiline.paths import largest_strength, path
from rectiline.problems.forms import CompositeForm
from rectiline.solvers import Newton
from rectiline.solvers._base import Budget, Step
from rectiline.solvers.generation._curved import start_curved
from rectiline.solvers.multitask._blocks import in_threads

RNG = np.random.default_rng(4)


class Counting:
    """A timekeeper that ends after so many questions, with so many seconds left until then."""

    def __init__(self, questions: int, seconds: float = np.inf) -> None:
        self.questions, self.seconds, self.asked = questions, seconds, 0

    def is_over(self) -> bool:
        self.asked += 1
        return self.asked > self.questions

    def left(self) -> float:
        return self.seconds


def without_time() -> asked_at_checkpoints:
    """No time at all, not even the grace that a time limit has for what must be finished."""
    return asked_at_checkpoints(Counting(0, seconds=0.0))


def test_checkpoints_look_ahead():
    checkpoint(products=1e300)  # nobody is asked
    assert time_left() == np.inf
    keeper = Counting(10, seconds=1.0)
    with asked_at_checkpoints(keeper):
        assert time_left() == 1.0
        checkpoint(seconds=0.5, products=1e9)
        with pytest.raises(OutOfTime):
            checkpoint(seconds=0.5, products=1e10)
        with pytest.raises(OutOfTime):
            checkpoint(2.0)
    assert keeper.asked == 3


def test_the_stricter_of_two_timekeepers_counts():
    with asked_at_checkpoints(Counting(10, seconds=1.0)):
        with asked_at_checkpoints(Counting(10, seconds=2.0)):
            assert time_left() == 1.0
            with asked_at_checkpoints(None):
                checkpoint(5.0)  # done whatever the time
        with asked_at_checkpoints(Counting(0)), pytest.raises(OutOfTime):
            checkpoint()
    with asked_at_checkpoints(Clock.with_grace(None)):
        checkpoint(1e9)
    assert Clock.with_grace(1e-9).is_late and Clock.with_grace(1e-9).remaining == 1e-6
    assert Clock.with_grace(None).remaining is None and not Clock.with_grace(None).is_late


def test_threads_ask_whom_their_starter_asks():
    with asked_at_checkpoints(Counting(0)), pytest.raises(OutOfTime):
        in_threads(2, lambda _: checkpoint(), range(3))


LONG = RNG.normal(size=(200_000, 6))  # passes over so many entries ask
LONG_Y = LONG[:, 0] + RNG.normal(size=200_000)


@pytest.mark.parametrize("name", ["dot", "tdot", "both", "column_squares", "row_squares"])
def test_long_passes_ask_before_they_begin(name):
    left, right = np.ones(6), np.ones(200_000)
    arguments = {
        "dot": (left,),
        "tdot": (right,),
        "both": (left, right),
        "column_squares": (right,),
        "row_squares": (left,),
    }[name]
    keeper = Counting(1)
    with asked_at_checkpoints(keeper):
        getattr(Design(LONG[:1000]), name)(*(one[:1000] for one in arguments))
        assert keeper.asked == 0
        getattr(Design(LONG), name)(*arguments)
        with pytest.raises(OutOfTime):
            getattr(Design(LONG), name)(*arguments)


@pytest.fixture
def passes(monkeypatch):
    """Count the passes over a long X that are made."""
    begin, made = Design._begin_pass, []

    def counted(design):
        begin(design)
        if design.n_stored >= LONG.size:
            made.append(1)

    monkeypatch.setattr(Design, "_begin_pass", counted)
    return made


@pytest.mark.parametrize(
    ("solver", "penalty"),
    [
        *product(["auto", "interior", "newton"], [rl.penalties.ElasticNet(1.0, 1.0), None]),
        ("rehline", rl.penalties.ElasticNet(1.0, 1.0)),  # it needs a penalty
    ],
)
def test_no_pass_over_X_after_the_time_is_up(passes, solver, penalty):
    problem = rl.Problem(LONG, LONG_Y, rl.losses.Absolute(), penalty)
    passes.clear()
    with pytest.raises(rl.NoAnswerError, match="time_limit=1e-09"):
        rl.solve(problem, solver, tol=1e-12, time_limit=1e-9)
    assert not passes
    # Whoever is asked around it has answers to other parts.
    with without_time(), pytest.raises(OutOfTime):
        rl.solve(problem, solver, tol=1e-12, time_limit=1e-9)
    assert not passes


def test_a_path_without_time_has_no_point(passes):
    problem = rl.Problem(LONG, LONG_Y, rl.losses.Absolute(), rl.penalties.Ridge(1.0))
    passes.clear()
    with pytest.raises(rl.NoAnswerError, match="time_limit"):
        path(problem, [1.0, 0.1, 0.01], time_limit=1e-9)
    assert not passes


def test_the_largest_strength_is_an_upper_bound_when_time_is_up():
    # A whole class sits on the margin: the smallest strength with zeros only takes a program.
    X = RNG.normal(size=(40, 6))
    labels = np.where(X[:, 0] + RNG.normal(size=40) > 0, 1.0, -1.0)
    problem = rl.Problem(X, labels, rl.losses.Hinge(), rl.penalties.L1(1.0))
    exact = largest_strength(problem)
    with asked_at_checkpoints(Counting(0, seconds=0.0)):
        bound = largest_strength(problem)
    assert exact < bound < 100.0 * exact
    with asked_at_checkpoints(Counting(10**9)):
        assert largest_strength(problem) == exact


def test_a_solve_ends_with_the_time_of_whoever_is_asked_around_it(passes):
    problem = rl.Problem(LONG, LONG_Y, rl.losses.Absolute(), rl.penalties.Ridge(1.0))
    passes.clear()
    with without_time(), pytest.raises(OutOfTime):
        rl.solve(problem)
    assert not passes


def test_passes_without_time_know_nothing(passes):
    problem = rl.Problem(LONG, LONG_Y, rl.losses.Absolute(), rl.penalties.Ridge(1.0))
    with pytest.raises(rl.NoAnswerError, match="time_limit=1e-09"):
        rl.solve(problem, "passes", time_limit=1e-9)


@pytest.mark.parametrize(("last", "passes"), [(1, 0), (2, 0), (7, 0), (12, 1), (17, 2)])
def test_passes_over_files_end_within_a_block(monkeypatch, last, passes):
    asked = []

    def checkpoint():
        asked.append(1)
        if len(asked) == last:
            raise OutOfTime

    parts = np.split(np.arange(20_000), 5)  # five blocks: 1 to 5 for the sample, 6 to 10 a pass
    X = LONG[:20_000]
    y = LONG_Y[:20_000] + np.exp(3 * X[:, 1])  # long tails: two passes do not prove the optimum
    rows = rl.rows.from_stream(lambda: ((X[part], y[part]) for part in parts))
    problem = rl.Problem(rows, loss=rl.losses.EpsilonInsensitive(0.5))
    monkeypatch.setattr("rectiline.rows._base.checkpoint", checkpoint)
    if last == 1:  # before any row is drawn
        with pytest.raises(rl.NoAnswerError):
            rl.solve(problem, tol=1e-300, time_limit=100)
        return
    told = "nothing is certified" if passes < 2 else "at a certified relative gap of"
    with pytest.warns(ConvergenceWarning, match=told):
        found = rl.solve(problem, tol=1e-300, time_limit=100)
    assert len(asked) == last
    assert found.status == "time_limit" and found.passes == passes
    assert np.isfinite(found.certificate.gap) == (passes == 2)
    assert found.coef.any()


@pytest.mark.parametrize("kind", ["non_crossing", "shared_slopes"])
def test_joint_quantiles_without_time_leave_the_model_as_it_was(kind):
    X, y = LONG[:500], LONG_Y[:500]
    model = rl.QuantileRegressor(quantile=[0.2, 0.45, 0.5, 0.8], alpha=0.01, **{kind: True})
    before = model.fit(X, y).coef_.copy()
    with pytest.raises(rl.NoAnswerError, match="time_limit"):
        model.set_params(time_limit=1e-9).fit(X, y)
    np.testing.assert_array_equal(model.coef_, before)


def test_what_a_solver_had_when_time_ran_out_is_certified(monkeypatch):
    # Half a step may be left behind: any pair has a certificate, and the better one counts.
    problem = rl.Problem(RNG.normal(size=(60, 3)), RNG.normal(size=60), "absolute", "l2")
    advance = Newton.advance

    def late(self, state, budget):
        advance(self, state, budget)
        raise OutOfTime

    monkeypatch.setattr(Newton, "advance", late)
    found = rl.solve(problem, "newton", time_limit=100.0)
    assert found.status == "solved" and found.certificate.relative_gap <= 1e-6


@pytest.mark.parametrize("affordable", [True, False])
def test_what_a_solver_had_is_the_answer_when_no_time_is_left_for_a_proof(monkeypatch, affordable):
    problem = rl.Problem(RNG.normal(size=(60, 3)), RNG.normal(size=60), "absolute", "l2")
    best, advance = rl.solve(problem).objective, Newton.advance

    def late(self, state, budget):
        advance(self, state, replace(budget, seconds=math.inf, clock=None))
        time.sleep(0.03)
        raise OutOfTime

    monkeypatch.setattr(Newton, "advance", late)
    guess = 0.02 if affordable else 1e9
    monkeypatch.setattr("rectiline.solvers._drive._certificate_seconds", lambda _: guess)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        found = rl.solve(problem, "newton", tol=1e-15, time_limit=0.02)
    assert found.status == "time_limit"
    assert problem.objective(found.coef, found.intercept) <= (1 + 1e-6) * best
    assert np.isfinite(found.certificate.gap) == affordable


def test_a_stop_before_anything_is_known_is_an_error(monkeypatch):
    problem = rl.Problem(RNG.normal(size=(60, 3)), RNG.normal(size=60), "absolute", "l2")
    start = Newton.start

    def slow(self, form, warm, seed):
        time.sleep(0.3)
        checkpoint()
        return start(self, form, warm, seed)

    monkeypatch.setattr(Newton, "start", slow)
    with pytest.raises(rl.NoAnswerError, match="callback stopped"):
        rl.solve(problem, "newton", callback=lambda progress: True)


def test_an_interrupt_carries_the_best_answer():
    problem = rl.Problem(RNG.normal(size=(60, 3)), RNG.normal(size=60), "absolute", "l2")

    def interrupt(progress):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt) as stopped:
        rl.solve(problem, "newton", callback=interrupt)
    found = stopped.value.solution
    assert (
        found.status == "stopped" and found.coef.any() and "solution" in stopped.value.__notes__[0]
    )


@pytest.mark.parametrize(("seconds", "moves"), [(np.inf, True), (1e-3, False)])
def test_a_newton_step_on_the_working_set_is_not_begun_without_the_time_for_it(seconds, moves):
    # Hundreds of clusters, each with a dense vector over thousands of rows.
    n, d = 4000, 400
    X = RNG.normal(size=(n, d))
    groups = rl.penalties.GroupLinf(1e-3, np.arange(d) // 5)
    problem = rl.Problem(X, X[:, 0] + RNG.normal(size=n), rl.losses.Huber(), groups)
    master = start_curved(CompositeForm.apply(problem), None, d, every_column=True).master
    master.outer(Budget(1, np.inf, 0.0))  # from zero, where there are no clusters
    coef, dual, work = master.coef.copy(), master.dual.copy(), master.work
    master.outer(Budget(1, np.inf, 0.0, clock=Counting(10**9, seconds)))
    assert (master.work > work + 100 * n * d) == moves != master.stopped  # products
    assert np.array_equal(master.coef, coef) == np.array_equal(master.dual, dual) != moves


@pytest.mark.parametrize("penalty", ["l1", "slope"])
def test_generation_knows_a_point_on_its_way_to_the_first_program(penalty):
    """100 x 1,000: a path of strengths, and for Slope one of equal strengths, come first."""
    X = RNG.normal(size=(100, 1000))
    y = X[:, :20].sum(axis=1) + RNG.normal(size=100)
    strengths = np.linspace(2.0, 1.0, 1000)
    chosen = rl.penalties.L1(1.0) if penalty == "l1" else rl.penalties.Slope(strengths)
    problem = rl.Problem(X, y, rl.losses.Absolute(), chosen)
    method, form = rl.solvers.Generation(), CompositeForm.apply(problem)
    known = []

    def begin():
        known[:] = [method.start(form, None, 0)]
        method.advance(known[0], Budget(1, np.inf, 1e-6))

    keeper = Counting(10**9)
    with asked_at_checkpoints(keeper):
        begin()
    known.clear()
    with asked_at_checkpoints(Counting(keeper.asked // 2)), pytest.raises(OutOfTime):
        begin()
    (state,) = known
    point = method.point(state)
    assert problem.objective(point.coef, point.intercept) < 0.5 * problem.objective(
        np.zeros(1000), float(np.median(y))
    )


@pytest.mark.parametrize("solver", ["interior", "generation", "newton", "rehline"])
def test_without_time_there_is_an_error_or_a_point_that_is_better_than_zeros(solver):
    X = RNG.normal(size=(300, 6))
    y = X[:, 0] + RNG.normal(size=300)
    problem = rl.Problem(X, y, rl.losses.Absolute(), rl.penalties.ElasticNet(1.0, 1.0))
    if solver == "generation":
        problem = rl.Problem(X, y, rl.losses.Absolute(), rl.penalties.L1(1.0))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        try:
            found = rl.solve(problem, solver, tol=1e-12, time_limit=1e-9)
        except rl.NoAnswerError:
            return
    assert found.status == "time_limit" and found.coef.any()


@pytest.mark.parametrize(("limit", "status"), [(100.0, "time_limit"), (None, "stalled")])
def test_a_step_that_does_not_fit_into_the_time_left_is_a_time_limit(monkeypatch, limit, status):
    monkeypatch.setattr(Newton, "advance", lambda self, state, budget: Step(0, False))
    problem = rl.Problem(RNG.normal(size=(30, 2)), RNG.normal(size=30), "absolute", "l2")
    if limit is not None:
        with pytest.raises(rl.NoAnswerError):
            rl.solve(problem, "newton", time_limit=limit)
        return
    with pytest.warns(ConvergenceWarning):
        assert rl.solve(problem, "newton", time_limit=limit).status == status
