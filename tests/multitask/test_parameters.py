"""Multi-task estimators take the same parameters of a run as the others, and obey them."""

from __future__ import annotations

import time

import numpy as np
import pytest

from rectiline import ConvergenceWarning, Progress
from rectiline.estimators.multitask import (
    MultiTaskClassifier,
    MultiTaskClassifierCV,
    MultiTaskRegressor,
    MultiTaskRegressorCV,
)
from rectiline.losses import Absolute, SquaredError
from rectiline.penalties import SharedSubspace
from rectiline.problems import MultiTaskProblem
from rectiline.solvers.multitask import solve_multitask

_rng = np.random.default_rng(5)
X = _rng.normal(size=(60, 6))
Y = X @ _rng.normal(size=(6, 3)) + 0.3 * _rng.normal(size=(60, 3))
RUN = {"solver_options", "time_limit", "verbose", "callback", "random_state", "max_iter", "tol"}


@pytest.mark.parametrize(
    "kind", [MultiTaskRegressor, MultiTaskClassifier, MultiTaskRegressorCV, MultiTaskClassifierCV]
)
def test_every_estimator_has_the_parameters_of_a_run(kind):
    parameters = kind().get_params()
    assert set(parameters) >= RUN
    assert parameters["random_state"] is None


def test_no_random_state_is_the_fixed_seed():
    one = MultiTaskRegressor("absolute").fit(X, Y)
    two = MultiTaskRegressor("absolute", random_state=0).fit(X, Y)
    np.testing.assert_array_equal(one.coef_, two.coef_)


def test_a_callback_hears_about_a_fit_and_stops_it():
    seen = []
    model = MultiTaskRegressor("absolute", tol=1e-12, callback=lambda p: seen.append(p) or True)
    model.fit(X, Y)
    assert model.status_ == "stopped"
    assert len(seen) == 1 and isinstance(seen[0], Progress)
    assert np.isfinite(model.coef_).all()


@pytest.mark.parametrize("kind", [MultiTaskRegressor, MultiTaskClassifier])
def test_a_refused_fit_leaves_the_model_as_it_was(kind):
    model = kind().fit(X, Y > 0)
    before = dict(vars(model))
    with pytest.raises(ValueError, match="y\\[:, 1\\] has no entry"):
        model.fit(X[:, :4], np.where([False, True, False], np.nan, Y > 0))
    assert vars(model) == before


def test_verbose_prints_a_line_for_each_certificate(capsys):
    model = MultiTaskRegressor(verbose=1).fit(X, Y)
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) >= len(model.solution_.history) + 1  # more on a busy machine
    assert "relative gap" in lines[0] and lines[-1].endswith("(solved)")


def test_options_reach_the_named_solver():
    with pytest.raises(TypeError, match="'colour'"):
        MultiTaskRegressor(solver="bcd", solver_options={"colour": 0}).fit(X, Y)
    plain = MultiTaskRegressor(solver="bcd", solver_options={"memory": 0}).fit(X, Y)
    fast = MultiTaskRegressor(solver="bcd").fit(X, Y)
    assert plain.n_iter_ > fast.n_iter_


def test_the_time_limit_is_for_the_whole_search():
    model = MultiTaskRegressorCV("absolute", cv=3, time_limit=1e-6)
    began = time.perf_counter()
    with pytest.warns(ConvergenceWarning, match="time_limit"):
        model.fit(X, Y)
    # The first candidate is so strong that zeros prove something.
    assert model.status_ == "time_limit" and model.certificate_.relative_gap < 0.9
    assert np.isfinite(model.coef_).all()
    # 36 fits that each took their first pass to the end would take far longer than this.
    assert time.perf_counter() - began < 20.0


def test_a_stalled_solver_hands_over_and_counts_all_passes():
    problem = MultiTaskProblem([X] * 3, list(Y.T), Absolute(), SharedSubspace(1, 1.0, 0.1))
    with pytest.warns(ConvergenceWarning, match="max_iter"):
        cut = solve_multitask(problem, tol=1e-9, max_iter=3)
    assert cut.status == "iteration_limit" and cut.n_iter == 3
    again = solve_multitask(problem, warm_start=solve_multitask(problem))
    assert again.n_iter == 0 and again.reason == "the start is already certified"


def test_independent_tasks_are_polished_in_the_open():
    problem = MultiTaskProblem([X] * 3, list(Y.T), SquaredError(), SharedSubspace(3, 1.0, 0.1))
    assert problem.is_decoupled
    rough = solve_multitask(problem, tol=1e-3)
    exact = solve_multitask(problem, tol=1e-3, polish=True)
    assert exact.certificate.relative_gap <= max(rough.certificate.relative_gap, 1e-12)
    assert "polish" in exact.reason and exact.history[-1].solver == "polish"
