"""`auto` takes the solver `passes` for arrays with very many rows where that is of use."""

import math

import numpy as np
import pytest

import rectiline as rl
from rectiline import losses as L
from rectiline import penalties as P

N = 200_000
_RNG = np.random.default_rng(0)
X = _RNG.standard_normal((N, 4))
Y = X @ np.array([1.0, -1.0, 0.5, 0.0]) + _RNG.standard_t(3, N)


@pytest.mark.parametrize(
    "options",
    [
        {"loss": L.Pinball(0.9)},
        {"loss": L.Huber(1.0), "penalty": P.ElasticNet(l1=0.01 * N, l2=1.0)},
        {"loss": L.Absolute(), "penalty": None},
    ],
    ids=["pinball", "huber, elastic net", "absolute, no penalty"],
)
def test_the_answer_is_that_of_another_solver(options):
    problem = rl.Problem(X, Y, **options)
    solution = rl.solve(problem, tol=1e-8)
    assert (solution.solver, solution.status) == ("passes", "solved")
    assert solution.passes == 2 and solution.rows_kept <= 0.25 * N
    other = rl.solve(problem, "newton", tol=1e-8)
    assert abs(solution.objective - other.objective) <= 2e-8 * other.objective
    assert problem.certify(solution).holds(1.1e-8)
    assert solution.problem is problem


def test_where_rows_meet_on_a_knot_another_solver_goes_on():
    # All rows of the large class end on the kink of their loss: nothing can be frozen.
    labels = np.where(np.sort(Y)[-100] < Y, 1, -1)
    solution = rl.solve(rl.Problem(X, labels, loss=L.Hinge()))
    assert solution.status == "solved"
    assert solution.solver != "passes" and solution.passes is None


def test_a_warm_start_and_a_limit_of_iterations_are_for_other_solvers():
    problem = rl.Problem(X, Y, loss=L.Absolute())
    first = rl.solve(problem, tol=1e-4)
    assert first.solver == "passes"
    assert rl.solve(problem, tol=1e-7, warm_start=first).solver != "passes"
    with pytest.warns(rl.exceptions.ConvergenceWarning):
        assert rl.solve(problem, max_iter=1).solver != "passes"


def test_a_time_limit_that_is_too_short_for_anything_is_an_error():
    problem = rl.Problem(X, Y, loss=L.Absolute())
    with pytest.raises(rl.NoAnswerError, match="time_limit=1e-09"):
        rl.solve(problem, tol=1e-12, time_limit=1e-9)


def test_progress_is_reported_and_can_stop():
    seen = []

    def stop(progress):
        seen.append(progress)
        return math.isfinite(progress.certificate.gap)  # a slow machine reports before an answer

    solution = rl.solve(rl.Problem(X, Y, loss=L.Absolute()), tol=1e-13, callback=stop)
    assert solution.status in ("stopped", "solved")
    assert all(one.solver == "passes" for one in seen)
    assert sum(math.isfinite(one.certificate.gap) for one in seen) == 1


def test_estimators_take_it_too():
    model = rl.QuantileRegressor(quantile=0.9, alpha=0.0).fit(X, Y)
    share = np.mean(model.predict(X) >= Y)
    assert abs(share - 0.9) < 1e-3
