"""The one loop of all solvers: limits, callbacks, warm starts, interruption, refusals."""

import os
import signal
import threading
import time
import warnings

import numpy as np
import pytest
from cases import GENERAL

import rectiline as rl
from rectiline import ConvergenceWarning, Problem
from rectiline.constraints import LinearInequality
from rectiline.losses import Absolute, PiecewiseLQ, Pinball
from rectiline.penalties import ElasticNet, Ridge
from rectiline.solvers import Progress, Status
from rectiline.solvers._arguments import SOLVERS as METHODS
from rectiline.solvers._base import Budget

RNG = np.random.default_rng(21)
X = RNG.normal(size=(80, 5))
Y = X @ RNG.normal(size=5) + RNG.normal(size=80)
solvers = pytest.mark.parametrize("solver", [solver.name for solver in GENERAL])


@pytest.fixture
def problem():
    return Problem(X, Y, loss=Pinball(0.8), penalty=Ridge(10.0))


@pytest.fixture
def stubborn():
    """Badly scaled and hardly penalised: coordinate ascent does not get far in a few sweeps."""
    return Problem(X * [1e-2, 1.0, 50.0, 1.0, 1.0] + 5.0, Y, loss=Absolute(), penalty=Ridge(1e-3))


def collect(problem, **options):
    """Solve, and return the solution with all progress seen by the callback."""
    seen = []
    solution = rl.solve(problem, callback=lambda progress: seen.append(progress), **options)
    return solution, seen


# ---- callbacks and history --------------------------------------------------------------------


@solvers
def test_callback_sees_every_certificate(problem, solver):
    solution, seen = collect(problem, solver=solver, tol=1e-10)
    assert all(isinstance(progress, Progress) for progress in seen)
    assert set(solution.history) <= set(seen)  # a busy machine hears more than certificates
    assert [p.seconds for p in solution.history] == sorted(p.seconds for p in solution.history)
    gaps = [p.relative_gap for p in solution.history]
    assert gaps == sorted(gaps, reverse=True)


def test_callback_can_stop(problem):
    calls = []
    solution = rl.solve(
        problem, solver="rehline", tol=1e-15, callback=lambda p: calls.append(p) or len(calls) == 2
    )
    assert solution.status == "stopped" == Status.STOPPED
    assert len(calls) == 2
    assert solution.history[-1].n_iter == solution.n_iter == calls[-1].n_iter
    assert np.isfinite(solution.coef).all()
    proof = problem.certify(solution.coef, solution.intercept, solution.dual)
    assert proof.primal == solution.certificate.primal


def test_an_exception_in_a_callback_gets_out(problem):
    def fail(progress):
        raise RuntimeError("not today")

    with pytest.raises(RuntimeError, match="not today"):
        rl.solve(problem, solver="rehline", tol=1e-15, callback=fail)


def test_a_numpy_answer_of_a_callback_counts(problem):
    solution = rl.solve(problem, solver="rehline", tol=1e-15, callback=lambda p: np.bool_(True))
    assert solution.status == "stopped"
    solution = rl.solve(problem, solver="rehline", callback=lambda p: None)
    assert solution.status == "solved"


# ---- limits -----------------------------------------------------------------------------------


def test_the_iteration_limit_warns_with_gap_and_advice(stubborn):
    with pytest.warns(ConvergenceWarning) as caught:
        solution = rl.solve(stubborn, solver="rehline", max_iter=7)
    assert solution.status == "iteration_limit"
    assert solution.n_iter == 7
    (warning,) = caught
    text = str(warning.message)
    assert "'rehline'" in text and "7" in text
    assert f"{solution.certificate.relative_gap:.1e}" in text
    assert "tol=1.0e-06" in text
    assert "max_iter" in text and "scale the columns" in text
    assert warning.filename == __file__  # points at the caller


@solvers
def test_an_exhausted_limit_is_not_an_exception(stubborn, solver):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        solution = rl.solve(stubborn, solver=solver, max_iter=1, tol=1e-12)
    assert solution.status in ("iteration_limit", "solved")
    proof = stubborn.certify(solution.coef, solution.intercept, solution.dual)
    assert proof.primal == solution.certificate.primal
    assert proof.gap == pytest.approx(solution.certificate.gap, rel=1e-6)


def test_the_time_limit_warns_and_holds():
    X = RNG.normal(size=(4000, 60)) + 30.0
    y = X[:, 0] + RNG.normal(size=4000)
    problem = Problem(X, y, loss=Absolute(), penalty=Ridge(1e-4))
    with pytest.warns(ConvergenceWarning, match="time_limit") as caught:
        solution = rl.solve(problem, solver="rehline", time_limit=0.3, max_iter=10**9, tol=1e-14)
    assert "relative gap" in str(caught[0].message)
    assert solution.status == "time_limit"
    assert 0.2 < solution.seconds < 3.0
    assert solution.n_iter >= 1


def test_an_answer_cut_short_is_not_the_most_violated_one():
    A = [
        [-1.085, -0.324, -0.07, 0.026],
        [-0.449, -0.552, 0.354, -0.079],
        [1.088, 0.341, -0.171, 0.109],
    ]
    loss = PiecewiseLQ.from_units(relu=[(1, -2), (-2, 1)], rehu=[(1, 0, 2)], of="prediction")
    problem = Problem(
        X[:, :4],
        Y,
        loss=loss,
        penalty=ElasticNet(0.5, 0.2),
        constraints=[LinearInequality(A, [0.1, 0.0, -0.2])],
    )
    with pytest.warns(ConvergenceWarning):
        solution = rl.solve(problem, solver="rehline", max_iter=2000)
    method = METHODS["rehline"]()
    form = method.form.apply(problem)
    state = method.start(form, None, 0)
    method.advance(state, Budget(2000, 60.0, 0.0))
    last = problem.certify(*form.invert(method.point(state)))
    assert solution.certificate.violation <= 2 * last.violation


# ---- warm starts ------------------------------------------------------------------------------


def test_a_warm_start_from_fewer_rows_of_constraints(problem):
    cold = rl.solve(problem, solver="rehline")
    rows = LinearInequality(np.eye(5)[:2], 0.01)
    constrained = Problem(X, Y, loss=Pinball(0.8), penalty=Ridge(10.0), constraints=[rows])
    assert rl.solve(constrained, solver="rehline", warm_start=cold).status == "solved"
    back = rl.solve(problem, solver="rehline", warm_start=rl.solve(constrained, solver="rehline"))
    assert back.status == "solved"


def test_a_warm_start_from_another_intercept(problem):
    origin = Problem(X, Y, loss=Pinball(0.8), penalty=Ridge(10.0), fit_intercept=False)
    first = rl.solve(origin, solver="rehline", warm_start=rl.solve(problem, solver="rehline"))
    assert first.status == "solved" and first.intercept == 0.0
    assert rl.solve(problem, solver="rehline", warm_start=first).status == "solved"


def test_a_warm_start_from_an_infeasible_problem_is_a_cold_one(problem):
    contradiction = [LinearInequality(np.vstack([np.eye(5)[0], -np.eye(5)[0]]), [-1.0, 0.0])]
    nothing = rl.solve(Problem(X, Y, loss=Pinball(0.8), constraints=contradiction))
    assert nothing.status == "infeasible"
    solution = rl.solve(problem, solver="rehline", warm_start=nothing)
    cold = rl.solve(problem, solver="rehline")
    np.testing.assert_array_equal(solution.coef, cold.coef)


def test_a_warm_start_does_not_change_its_source(problem):
    first = rl.solve(problem, solver="rehline", tol=1e-3)
    coef, sample = first.coef.copy(), first.dual.sample.copy()
    rl.solve(problem, solver="rehline", tol=1e-9, warm_start=first)
    np.testing.assert_array_equal(first.coef, coef)
    np.testing.assert_array_equal(first.dual.sample, sample)


# ---- interruption -----------------------------------------------------------------------------


def test_control_c_ends_a_long_solve_quickly():
    big = RNG.normal(size=(20_000, 100)) + 30.0
    y = big[:, 0] + RNG.normal(size=20_000)
    problem = Problem(big, y, loss=Absolute(), penalty=Ridge(1e-6))
    sent = []

    def interrupt():
        time.sleep(0.5)
        sent.append(time.perf_counter())
        os.kill(os.getpid(), signal.SIGINT)

    # A process that was started in the background ignores the signal unless told otherwise.
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    thread = threading.Thread(target=interrupt)
    thread.start()
    try:
        with pytest.raises(KeyboardInterrupt):
            rl.solve(problem, solver="rehline", tol=1e-14, max_iter=10**9, time_limit=60.0)
        assert time.perf_counter() - sent[0] < 2.0
    finally:
        thread.join()
        signal.signal(signal.SIGINT, before)


def test_other_threads_run_while_a_solve_does():
    big = RNG.normal(size=(20_000, 60)) + 30.0
    y = big[:, 0] + RNG.normal(size=20_000)
    problem = Problem(big, y, loss=Absolute(), penalty=Ridge(1e-6))
    ticks, done = [], threading.Event()

    def tick():
        while not done.is_set():
            ticks.append(time.perf_counter())
            time.sleep(0.01)

    thread = threading.Thread(target=tick)
    thread.start()
    try:
        with pytest.warns(ConvergenceWarning, match="time_limit"):
            rl.solve(problem, solver="rehline", tol=1e-14, max_iter=10**9, time_limit=0.5)
    finally:
        done.set()
        thread.join()
    assert len(ticks) > 10


def test_two_threads_may_solve_at_once(problem):
    answers = {}

    def work(name):
        answers[name] = rl.solve(problem, solver="rehline", tol=1e-9)

    threads = [threading.Thread(target=work, args=(k,)) for k in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    alone = rl.solve(problem, solver="rehline", tol=1e-9)
    for answer in answers.values():
        np.testing.assert_array_equal(answer.coef, alone.coef)
    assert len(answers) == 4
