"""What the multi-task estimators have in common: from tasks to coefficients and back."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any, Self, Unpack

import numpy as np
from numpy.typing import NDArray
from sklearn.utils._param_validation import StrOptions
from sklearn.utils.validation import check_is_fitted

from rectiline._numbers import seed_of
from rectiline._polling import Clock
from rectiline._typing import Vector
from rectiline.estimators._base import BaseLinear
from rectiline.estimators._check import checked_fit
from rectiline.estimators._encode import new_rows
from rectiline.estimators._parameters import POSITIVE, TaskParameters, keeps_parameters, make_loss
from rectiline.estimators._proofs import ProvedAgain
from rectiline.estimators._run import RunOptions
from rectiline.estimators._show import FitReport
from rectiline.estimators.multitask._inputs import TaskData, is_listed, place_tasks, read_tasks
from rectiline.losses import Loss
from rectiline.penalties import SharedSubspace
from rectiline.problems import MultiTaskProblem
from rectiline.solvers.multitask import MultiTaskSolution, round_solution, solve_multitask


class MultiTaskModel(BaseLinear):
    """Fit and hold the coefficients of tasks that share a subspace: one problem for all tasks."""

    _own_rules = {
        "loss": [str, Loss],
        "alpha": [POSITIVE],
        "alphas": ["array-like"],
        "constraints": [object],
        "solver": [StrOptions({"auto", "bcd", "apg", "bcd_plain", "apg_joint"})],
    }
    _loss_kinds: tuple[str, ...] = ()
    _multi_output = True

    @keeps_parameters(TaskParameters)
    def __init__(
        self,
        loss: str | Loss = "squared_error",
        shared_dim: int = 1,
        alpha: float = 1.0,
        beta: float = 0.1,
        **shared: Unpack[TaskParameters],
    ) -> None: ...

    # ---- fitting --------------------------------------------------------------------------------

    @checked_fit
    def fit(self, X: Any, y: Any, tasks: Any = None, sample_weight: Any = None) -> Self:
        """Fit the model.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features), or a list of them
            A list holds one matrix per task.
        y : array-like of shape (n_samples,) or (n_samples, n_tasks), or a list of vectors
            Targets, or two labels per task. A matrix holds one task per column, all on the same X;
            NaN, or None among labels, means that the row is not part of the task. A vector without
            `tasks` is one task.
        tasks : array-like of shape (n_samples,), optional
            The task of each row of X, by any hashable labels; y is then a vector.
        sample_weight : array-like of shape (n_samples,), or a list of vectors, optional
            Non-negative weights inside the average of each task.

        Returns
        -------
        self
        """
        return self._fit(X, y, sample_weight, tasks)

    def _read(self, X: Any, y: Any, sample_weight: Any = None, tasks: Any = None) -> TaskData:
        data = read_tasks(self, X, y, tasks, sample_weight)
        return replace(data, targets=self._targets(data))

    def _targets(self, data: TaskData) -> list[NDArray[Any]]:
        """Return the numbers that the losses see; a classifier learns its labels here."""
        return data.y

    def _problem(self, data: TaskData) -> MultiTaskProblem:
        """Return the problem, under a penalty that is to be replaced."""
        return MultiTaskProblem(
            data.X,
            data.targets,
            make_loss(self.loss, None, of=self._loss_kinds),
            SharedSubspace(),
            () if self.constraints is None else self.constraints,
            data.weight,
            self.fit_intercept,
            self.center,
        )

    def _penalty(self) -> SharedSubspace:
        return SharedSubspace(self.shared_dim, self.alpha, self.beta)

    def _problems(self, data: TaskData) -> list[MultiTaskProblem]:
        """Return the problem of a fit, which is one for all tasks."""
        return [self._problem(data).with_penalty(self._penalty())]

    def _objective_units(self, data: TaskData) -> list[float]:
        return [1.0]

    def _solve_tasks(self, data: TaskData, clock: Clock) -> tuple[TaskData, list[Any]]:
        """Solve the tasks and round the subspace of the answer."""
        (problem,) = self._problems(data)
        warm = getattr(self, "solution_", None) if self.warm_start else None
        with FitReport(self, 1) as report:
            solution = self._solve(problem, clock, warm, callback=report.for_problem(0))
            report.solved(0, solution)
        rounded = round_solution(
            problem,
            solution,
            tol=self.tol,
            time_limit=clock.remaining,
            random_state=seed_of(self.random_state),
            n_threads=self.n_jobs or 1,
        )
        return replace(data, rounded=rounded), [solution]

    def _solve(
        self,
        problem: MultiTaskProblem,
        clock: Clock,
        warm: MultiTaskSolution | None,
        **changes: Any,
    ) -> MultiTaskSolution:
        """Solve a problem; `changes` are options that differ from the parameters."""
        if warm is not None and warm.coef.shape != (problem.n_features, problem.n_tasks):
            warm = None
        options = RunOptions.of(self, clock).keywords(clock.remaining)
        given: dict[str, Any] = {"n_threads": self.n_jobs or 1, "polish": True} | options | changes
        return solve_multitask(problem, warm_start=warm, **given)

    def _set_fitted(self, data: TaskData, solutions: list[MultiTaskSolution]) -> None:
        (solution,), rounded = solutions, data.rounded
        self.tasks_ = list(data.labels)
        self.coef_ = np.ascontiguousarray(solution.coef.T)
        self.intercept_ = solution.intercept
        self.common_ = solution.coef.mean(axis=1) if self.center else np.zeros(len(solution.coef))
        own = self.coef_ - self.common_
        self.shared_components_ = rounded.components
        self.task_components_ = own @ rounded.components.T
        self.specific_components_ = own - self.task_components_ @ rounded.components
        self.shared_basis_, self.shared_weights_ = rounded.basis, rounded.weights
        self.eta_ = self._penalty().eta
        self.aso_bound_ = rounded.bound
        self._note_solutions(solutions, self._objective_units(data))
        self._form = data.form

    def _coef_titles(self) -> list[Any]:
        return list(self.tasks_)

    def _shown(self, again: ProvedAgain) -> ProvedAgain:
        (problem,), (found,) = again.problems, again.solutions
        answers = zip(found.coef.T, found.intercept, found.dual, strict=True)
        words = (
            f"The {problem.n_tasks} tasks are fitted together: the sum of their mean losses and of "
            f"{problem.penalty!r}, a penalty on the coefficients of all tasks, is minimised."
        )
        return again.one_by_one(problem.tasks, answers, words)

    def _scored(self, data: TaskData, X: Any, y: Any) -> tuple[Any, Any]:
        found = zip(data.X, self.coef_, self.intercept_, strict=True)
        return data.y, [self._prediction(one @ u + b, t) for t, (one, u, b) in enumerate(found)]

    @property
    def M_(self) -> NDArray[np.float64]:
        """The soft projector on the shared subspace, built from its basis and weights."""
        check_is_fitted(self)
        return np.asarray((self.shared_basis_ * self.shared_weights_) @ self.shared_basis_.T)

    # ---- predicting ---------------------------------------------------------------------------

    def predict(self, X: Any, tasks: Any = None) -> Any:
        """Return the predictions: targets, or labels.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features), or a list of them
        tasks : array-like of shape (n_samples,), optional
            The task of each row, if rows of several tasks are stacked in X.

        Returns
        -------
        ndarray of shape (n_samples,) or (n_samples, n_tasks), or a list of vectors
            In the form of the input; after ``fit(X, Y)`` one column per task.
        """
        return self._by_task(X, tasks, self._prediction)

    def _prediction(self, scores: Vector, t: int) -> NDArray[Any]:
        """Return the predictions of a task from its scores."""
        return scores

    def _by_task(self, X: Any, tasks: Any, answer: Callable[[Vector, int], Any]) -> Any:
        """Return ``answer(x'u_t + b_t, t)`` in the form that was asked: list, vector or matrix."""
        check_is_fitted(self)

        def of(rows: Any, t: int) -> Any:
            return answer(np.asarray(rows @ self.coef_[t] + self.intercept_[t]), t)

        if is_listed(X):
            if tasks is not None:
                raise ValueError("tasks must be None when X is a list with one matrix per task.")
            if len(X) != len(self.tasks_):
                raise ValueError(f"X holds {len(X)} tasks; fit saw {len(self.tasks_)}.")
            return [of(new_rows(self, one), t) for t, one in enumerate(X)]
        X = new_rows(self, X)
        if tasks is not None:
            _, codes = place_tasks(tasks, X.shape[0], self.tasks_)
            rows = [np.flatnonzero(codes == t) for t in range(len(self.tasks_))]
            parts = [of(X[some], t) for t, some in enumerate(rows)]
            return np.concatenate(parts)[np.argsort(np.concatenate(rows))]
        if self._form == "single":
            return of(X, 0)
        if self._form != "shared":
            raise ValueError(
                "tasks must say which task each row of X belongs to, because the model was fitted "
                "on tasks with rows of their own; or pass a list with one matrix per task."
            )
        scores = np.asarray(X @ self.coef_.T + self.intercept_)
        return np.column_stack([answer(one, t) for t, one in enumerate(scores.T)])
