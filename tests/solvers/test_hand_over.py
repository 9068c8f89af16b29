"""What the driver does around solvers: hand-over, the best pair, polish, reports, the clock."""

from __future__ import annotations

import itertools
import warnings

import numpy as np
import pytest

import rectiline as rl
from rectiline import ConvergenceWarning, Problem
from rectiline._polling import REPORT_EVERY, Clock, OutOfTime, asked_at_checkpoints, checkpoint
from rectiline.estimators import QuantileRegressor
from rectiline.losses import Absolute, Hinge, Huber, Pinball, SquaredError
from rectiline.penalties import L1, Ridge
from rectiline.problems import DualPoint
from rectiline.problems.forms import ProblemForm, ReducedForm
from rectiline.solvers._arguments import SOLVERS
from rectiline.solvers._base import Budget, RunLimits, Stage, Step, polled
from rectiline.solvers._best import Best
from rectiline.solvers._choose import choose, remaining
from rectiline.solvers._run import Run
from rectiline.solvers._status import warn_about

_rng = np.random.default_rng(3)
X = _rng.normal(size=(80, 5))
Y = X @ _rng.normal(size=5) + _rng.normal(size=80)


class Time:
    """A clock that a test moves by hand."""

    def __init__(self):
        self.now = 0.0

    def __call__(self):
        return self.now


class GivesUp:
    """A solver that proposes fixed pairs in turn and is then exhausted."""

    name, form, default_max_iter, first_burst = "gives_up", ProblemForm, 50, 1

    def __init__(self, pairs, name="gives_up"):
        self.pairs, self.name = pairs, name

    @staticmethod
    def refuses(problem):
        return None

    def start(self, form, warm, seed):
        return {"form": form, "left": list(self.pairs), "pair": None}

    def advance(self, state, budget):
        if not state["left"]:
            return Step(0, False, exhausted=True)
        state["pair"] = state["form"].point_of(*state["left"].pop(0))
        return Step(1, False)

    def point(self, state):
        return state["pair"]

    def learn(self, state, certificate):
        pass


def limits(tol=1e-6, max_iter=None, time_limit=None):
    return RunLimits(tol, max_iter, time_limit, 0)


@pytest.fixture
def problem():
    return Problem(X, Y, loss=Pinball(0.8), penalty=Ridge(10.0))


@pytest.fixture
def optimum(problem):
    return rl.solve(problem, tol=1e-12)


# ---- hand-over -----------------------------------------------------------------------------------


def test_an_exhausted_solver_is_stalled_and_not_told_to_raise_a_limit(problem):
    run = Run(problem, limits())
    zero = (np.zeros(5), 0.0, DualPoint(np.zeros(80)))
    assert run.run_stages([Stage(GivesUp([zero]), "a try")], 1e-6) == "stalled"
    with pytest.warns(ConvergenceWarning, match="stalled") as caught:
        warn_about(run, rl.solvers.Status.STALLED, stacklevel=1)
    assert "max_iter" not in str(caught[0].message)


def test_the_next_stage_takes_over_and_the_best_pair_is_kept(problem, optimum):
    zero = (np.zeros(5), 0.0, DualPoint(np.zeros(80)))
    best = (optimum.coef, optimum.intercept, optimum.dual)
    run = Run(problem, limits())
    stages = [Stage(GivesUp([best, zero], "one"), "first"), Stage(GivesUp([zero], "two"), "then")]
    assert run.run_stages(stages, 1e-15) == "stalled"
    assert run.best.author == "one" and run.reasons == ["first", "then"] and run.n_iter == 3
    assert run.best.certificate.relative_gap <= 1e-12


def test_a_point_and_a_bound_of_different_pairs_are_put_together(problem, optimum):
    """One solver knows the coefficients, another one the multipliers: neither can prove alone."""
    wrong = DualPoint(np.zeros(80))
    half = (optimum.coef, optimum.intercept, wrong)
    other = (np.zeros(5), 0.0, optimum.dual)
    for pair in (half, other):
        alone = Best(problem, 1e-6)
        assert alone.keep(*pair, "alone").relative_gap > 1e-3
    run = Run(problem, limits())
    stages = [Stage(GivesUp([half], "one"), ""), Stage(GivesUp([other], "two"), "")]
    assert run.run_stages(stages, 1e-6) == "solved"
    assert run.best.author == "one"


def test_every_solver_has_its_turn_before_auto_gives_up():
    for loss, penalty in ((Hinge(), L1(1.0)), (Absolute(), Ridge(1.0)), (SquaredError(), None)):
        y = np.sign(Y) if loss.of == "margin" else Y
        plan = choose(Problem(X, y, loss=loss, penalty=penalty))
        after = remaining(plan)
        names = [stage.method.name for stage in [*plan, *after]]
        assert set(names) == set(SOLVERS) - {"smoothed"}  # which gives rough answers
        # From its own start, as if it had been named.
        alone = {plan[0].method.name} | {stage.method.name for stage in after if stage.is_cold}
        assert alone == set(names)


def test_max_iter_counts_the_iterations_of_all_solvers(problem):
    zero = (np.zeros(5), 0.0, DualPoint(np.zeros(80)))
    run = Run(problem, limits(max_iter=3))
    stages = [Stage(GivesUp([zero] * 2, "one"), ""), Stage(GivesUp([zero] * 9, "two"), "")]
    assert run.run_stages(stages, 1e-6) == "iteration_limit"
    assert run.n_iter == 3


def test_no_warning_when_the_tolerance_of_the_user_is_met():
    """A fit aims beyond tol; not getting there is nobody's business."""
    rng = np.random.default_rng(0)
    for seed in range(6):
        rows = rng.normal(size=(60, 6)) * 10.0 ** rng.uniform(-1, 1, 6)
        y = rows @ rng.normal(size=6) + rng.standard_t(2, size=60)
        weight = 10.0 ** rng.uniform(0, 2, 60)
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            model = QuantileRegressor(alpha=1e-8, random_state=seed)
            model.fit(rows, y, sample_weight=weight)
        assert model.solution_.status == "solved"


# ---- the polish ----------------------------------------------------------------------------------


@pytest.mark.parametrize("solver", ["auto", "interior", "newton"])
def test_the_polish_is_under_the_same_solver_callback_and_limits(solver):
    problem = Problem(X, Y, loss=Huber(0.5), penalty=L1(2.0))
    seen = []
    exact = rl.solve(problem, solver=solver, polish=True, callback=lambda p: seen.append(p))
    assert exact.certificate.relative_gap <= 1e-12
    assert set(exact.history) <= set(seen)  # a busy machine hears more than certificates
    assert exact.n_iter == seen[-1].n_iter
    allowed = {"polish"} | (set(SOLVERS) if solver == "auto" else {solver})
    assert {progress.solver for progress in seen} <= allowed
    assert exact.seconds >= seen[-1].seconds


def test_a_callback_that_stops_the_polish_leaves_a_solved_answer():
    problem = Problem(X, Y, loss=Absolute(), penalty=L1(2.0))
    seen = []

    def stop_when_solved(progress):
        seen.append(progress)
        return progress.relative_gap <= 1e-3

    answer = rl.solve(problem, tol=1e-3, polish=True, callback=stop_when_solved)
    assert answer.status == "solved"
    assert seen[-1].relative_gap <= 1e-3
    assert "polish" not in answer.reason


def test_the_polish_respects_max_iter(problem):
    enough = rl.solve(problem, solver="newton", tol=1e-4).n_iter
    answer = rl.solve(problem, solver="newton", tol=1e-4, polish=True, max_iter=enough)
    assert answer.status == "solved" and answer.n_iter == enough


def test_the_central_intercept_is_the_middle_of_the_best_ones():
    rows, y = np.zeros((4, 1)), np.array([0.0, 1.0, 5.0, 9.0])
    answer = rl.solve(Problem(rows, y, loss=Absolute()), polish=True)
    assert answer.intercept == 3.0


# ---- the clock -----------------------------------------------------------------------------------


def test_a_watch_ends_reports_and_stops():
    time, told = Time(), []
    clock = Clock(1.0, lambda: told.append(time.now), now=time)
    assert clock.left() == 1.0 and not clock.poll() and not told
    time.now = REPORT_EVERY
    assert not clock.poll() and told == [REPORT_EVERY]
    assert not clock.poll() and len(told) == 1  # not again before the next interval
    time.now = 1.0
    assert clock.poll() and clock.left() == 0.0
    free = Clock(now=time)
    free.stop()
    assert free.poll() and free.left() == 0.0


def test_the_end_of_a_surrounding_solve_is_an_end():
    time = Time()
    outer = Clock(1.0, now=time)
    inner = Clock(5.0, outer=outer, now=time)
    assert inner.left() == 1.0
    time.now = 1.5
    assert inner.poll() and not Clock(5.0, now=time).poll()


def test_a_budget_leaves_time_for_the_certificate():
    time = Time()
    budget = Budget(10, np.inf, 1e-6, clock=Clock(1.0, now=time), reserve=0.25)
    assert budget.left() == 0.75 and not budget.is_over()
    time.now = 0.8
    assert budget.is_over()


@pytest.mark.parametrize("solver", sorted(SOLVERS))
def test_every_solver_looks_at_the_clock_between_iterations(solver):
    """A clock that says stop whenever it is asked: a solver that never asks would go on."""
    needs_l1 = solver in ("generation", "smoothed")
    loss, penalty = (Absolute(), L1(1.0)) if needs_l1 else (Pinball(0.8), Ridge(1e-4))
    rows = _rng.normal(size=(600, 800 if solver == "reduced_newton" else 6)) + 5.0
    y = rows[:, 0] + _rng.normal(size=600)
    problem = Problem(rows, y, loss=loss, penalty=penalty)
    method = SOLVERS[solver]()
    form = method.form.apply(problem)
    state = method.start(form, None, 0)
    polls = []
    clock = Clock(None, lambda: True)
    clock.poll = lambda: polls.append(1) or True
    with polled(clock):
        step = method.advance(state, Budget(1_000_000, np.inf, 0.0, clock=clock))
    assert polls or step.exhausted
    assert step.iterations < 100_000
    form.invert(method.point(state))


@pytest.mark.parametrize("solver", ["rehline", "newton", "interior"])
def test_reports_between_certificates_do_not_change_the_steps(solver):
    rows = _rng.normal(size=(3000, 40))
    y = np.sign(rows @ _rng.normal(size=40) + _rng.normal(size=3000))
    problem = Problem(rows, y, loss=Hinge(), penalty=Ridge(0.5))
    told = []  # of "rehline" nothing: its burst is shorter than the time between two polls
    seconds = itertools.count()  # every look at the clock finds a report due
    points = []
    for clock in (Clock(), Clock(None, lambda: told.append(1), now=lambda: float(next(seconds)))):
        method = SOLVERS[solver]()
        state = method.start(method.form.apply(problem), None, 0)
        with polled(clock):
            method.advance(state, Budget(20, np.inf, 1e-7, clock=clock))
        points.append(method.point(state))
    assert told or solver == "rehline"
    np.testing.assert_array_equal(points[0].coef, points[1].coef)


def test_a_callback_can_stop_between_certificates():
    rows = _rng.normal(size=(5000, 60)) + 30.0
    y = rows[:, 0] + _rng.normal(size=5000)
    problem = Problem(rows, y, loss=Absolute(), penalty=Ridge(1e-6))
    told = []

    def stop(progress):
        told.append(progress)
        return len(told) > 1 and told[-1].certificate is told[-2].certificate

    answer = rl.solve(problem, solver="rehline", tol=1e-14, max_iter=10**9, callback=stop)
    assert answer.status == "stopped" and np.isfinite(answer.coef).all()


def test_checkpoints_ask_only_inside_a_solve():
    time = Time()
    checkpoint()  # nobody is asked
    with asked_at_checkpoints(Budget(0, np.inf, 0.0, clock=Clock(1.0, now=time))):
        checkpoint(0.9)
        with pytest.raises(OutOfTime):
            checkpoint(1.1)  # the next step takes longer than what is left
        time.now = 2.0
        with pytest.raises(OutOfTime):
            checkpoint()
    checkpoint(np.inf)


def test_a_solver_that_cannot_be_prepared_in_time_leaves_the_rest_to_others(monkeypatch):
    """The span of the rows needs a decomposition that nobody can interrupt."""
    wide = Problem(_rng.normal(size=(30, 100)), Y[:30], loss=Huber(), penalty=Ridge(1.0))

    def too_late(problem):
        raise OutOfTime

    with monkeypatch.context() as patch:
        patch.setattr(ReducedForm, "apply", too_late)
        with pytest.raises(rl.NoAnswerError, match=r"time_limit=20.0"):
            rl.solve(wide, solver="reduced_newton", time_limit=20.0)
        # Another solver takes over as long as time is left.
        assert rl.solve(wide, time_limit=20.0).status == "solved"
    assert rl.solve(wide, solver="reduced_newton").status == "solved"


def test_a_penalty_that_rounding_hides_is_named():
    """Weights of 1e100 leave 1e-102 of the objective to it; columns are of similar size already."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(120, 8))
    y = X @ rng.normal(size=8) + 0.3 * rng.normal(size=120)
    problem = rl.Problem(X, y, "absolute", Ridge(0.2), sample_weight=np.full(120, 1e100))
    with pytest.warns(ConvergenceWarning, match=r"penalty is only .* divide X or sample_weight"):
        answer = rl.solve(problem)
    plain = rl.solve(rl.Problem(X, y, "absolute", None))
    np.testing.assert_allclose(answer.coef, plain.coef, rtol=1e-6)
