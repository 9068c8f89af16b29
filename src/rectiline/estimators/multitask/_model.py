"""What the multi-task estimators have in common: from tasks to coefficients and back."""

from __future__ import annotations

import time
from contextlib import closing
from numbers import Integral, Real
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator
from sklearn.utils._param_validation import Interval, StrOptions
from sklearn.utils.validation import check_is_fitted, validate_data

from rectiline.estimators._callbacks import FitReport
from rectiline.estimators._coefficients import ListsCoefficients
from rectiline.estimators._notebook import ShowsCertificate
from rectiline.estimators._parameters import RUNNING
from rectiline.estimators._run import seed_of
from rectiline.estimators._state import restored_on_failure, without_multipliers
from rectiline.estimators._typed import checked_fit
from rectiline.estimators.multitask._inputs import (
    DTYPES,
    FORMATS,
    TaskData,
    is_listed,
    place_tasks,
    read_tasks,
)
from rectiline.losses import Loss, get
from rectiline.penalties import SharedSubspace
from rectiline.problems import MultiTaskProblem
from rectiline.solvers import Callback
from rectiline.solvers.multitask import MultiTaskSolution, round_solution, solve_multitask

Vector = NDArray[np.float64]

__all__ = ["MultiTaskModel"]


class MultiTaskModel(ListsCoefficients, ShowsCertificate, BaseEstimator):  # type: ignore[misc]
    """Fit and hold the coefficients of tasks that share a subspace."""

    _parameter_constraints: dict[str, list[Any]] = {
        "loss": [str, Loss],
        "shared_dim": [Interval(Integral, 1, None, closed="left")],
        "alpha": [Interval(Real, 0, None, closed="neither")],
        "beta": [Interval(Real, 0, None, closed="neither")],
        "center": ["boolean"],
        "constraints": [object],
        **RUNNING,
        "solver": [StrOptions({"auto", "bcd", "apg", "bcd_plain", "apg_joint"})],
    }
    _loss_kinds: tuple[str, ...] = ()
    _numeric_targets = True

    def __getstate__(self) -> Any:
        state = super().__getstate__()
        # A fit that is to be continued needs the multipliers.
        return state if self.warm_start else without_multipliers(state)

    # ---- fitting ------------------------------------------------------------------------------

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
        with restored_on_failure(self):
            self._began = time.perf_counter()
            data = read_tasks(self, X, y, tasks, sample_weight, numeric=self._numeric_targets)
            targets = self._targets(data)
            self._fit_tasks(data, targets, self._problem(data, targets))
            return self

    def _targets(self, data: TaskData) -> list[NDArray[Any]]:
        """Return the numbers that the losses see; a classifier learns its labels here."""
        return data.y

    def _loss(self) -> Loss:
        made = get(self.loss)
        if made.of not in self._loss_kinds:
            raise ValueError(
                f"loss={self.loss!r} is a loss of the {made.of}; {type(self).__name__} takes "
                f"losses of the {' or '.join(self._loss_kinds)}."
            )
        return made

    def _problem(self, data: TaskData, targets: list[Any]) -> MultiTaskProblem:
        """Return the problem, under a penalty that is to be replaced."""
        return MultiTaskProblem(
            data.X,
            targets,
            self._loss(),
            SharedSubspace(),
            () if self.constraints is None else self.constraints,
            data.weight,
            self.fit_intercept,
            self.center,
        )

    def _penalty(self) -> SharedSubspace:
        return SharedSubspace(self.shared_dim, self.alpha, self.beta)

    @property
    def _n_threads(self) -> int | None:
        """`n_jobs` as threads: None is one, -1 one per processor."""
        if self.n_jobs is None:
            return 1
        return None if self.n_jobs < 0 else int(self.n_jobs)

    def _solve(
        self,
        problem: MultiTaskProblem,
        warm: MultiTaskSolution | None,
        tol: float,
        polish: bool,
        callback: Callback | None = None,
        n_threads: int | None = None,
    ) -> MultiTaskSolution:
        if warm is not None and warm.coef.shape != (problem.n_features, problem.n_tasks):
            warm = None
        return solve_multitask(
            problem,
            solver=self.solver,
            tol=tol,
            max_iter=self.max_iter,
            time_limit=self._seconds_left(),
            warm_start=warm,
            callback=callback,
            random_state=seed_of(self.random_state),
            polish=polish,
            n_threads=self._n_threads if n_threads is None else n_threads,
            **(self.solver_options or {}),
        )

    def _seconds_left(self) -> float | None:
        """Return what is left of the time limit of the fit, or None without one."""
        if self.time_limit is None:
            return None
        return max(float(self.time_limit) - (time.perf_counter() - self._began), 1e-6)

    def _fit_tasks(self, data: TaskData, targets: list[Any], problem: MultiTaskProblem) -> None:
        """Solve the tasks and set every attribute that ends in an underscore."""
        problem = problem.with_penalty(self._penalty())
        warm = getattr(self, "solution_", None) if self.warm_start else None
        report = FitReport(self, 1)
        with closing(report):
            solution = self._solve(problem, warm, self.tol, True, report.for_problem(0))
            report.solved(0, solution)
        report.end()
        self._store(problem, solution, data)

    def _store(
        self, problem: MultiTaskProblem, solution: MultiTaskSolution, data: TaskData
    ) -> None:
        rounded = round_solution(
            problem,
            solution,
            tol=self.tol,
            time_limit=self._seconds_left(),
            random_state=seed_of(self.random_state),
            n_threads=self._n_threads,
        )
        common = solution.coef.mean(axis=1) if self.center else np.zeros(problem.n_features)
        self.tasks_ = list(data.labels)
        self.coef_ = np.ascontiguousarray(solution.coef.T)
        self.intercept_ = solution.intercept
        self.common_ = common
        own = self.coef_ - common
        self.shared_components_ = rounded.components
        self.task_components_ = own @ rounded.components.T
        self.specific_components_ = own - self.task_components_ @ rounded.components
        self.shared_basis_, self.shared_weights_ = rounded.basis, rounded.weights
        self.eta_ = problem.penalty.eta
        self.certificate_ = solution.certificate
        self.aso_bound_ = rounded.bound
        self.solution_ = solution
        self.n_iter_ = solution.n_iter
        self.solver_ = solution.solver
        self.status_ = str(solution.status)
        self._form = data.form
        del self._began

    def _coef_titles(self) -> list[Any]:
        return list(self.tasks_)

    @property
    def M_(self) -> NDArray[np.float64]:
        """The soft projector on the shared subspace, built from its basis and weights."""
        check_is_fitted(self)
        return np.asarray((self.shared_basis_ * self.shared_weights_) @ self.shared_basis_.T)

    # ---- predicting ---------------------------------------------------------------------------

    def _scores(self, X: Any, tasks: Any) -> Any:
        """Return ``x'u_t + b_t`` in the form that was asked: list, vector or matrix."""
        check_is_fitted(self)
        if is_listed(X):
            if tasks is not None:
                raise ValueError("tasks must be None when X is a list with one matrix per task.")
            if len(X) != len(self.tasks_):
                raise ValueError(f"X holds {len(X)} tasks; fit saw {len(self.tasks_)}.")
            return [self._check(one) @ u + b for one, u, b in zip(X, self.coef_, self.intercept_)]
        X = self._check(X)
        if tasks is not None:
            codes = place_tasks(tasks, X.shape[0], self.tasks_)
            scores = np.empty(X.shape[0])
            for t in np.unique(codes):
                rows = np.flatnonzero(codes == t)
                scores[rows] = X[rows] @ self.coef_[t] + self.intercept_[t]
            return scores
        if self._form == "single":
            return np.asarray(X @ self.coef_[0] + self.intercept_[0])
        if self._form != "shared":
            raise ValueError(
                "tasks must say which task each row of X belongs to, because the model was fitted "
                "on tasks with rows of their own; or pass a list with one matrix per task."
            )
        return np.asarray(X @ self.coef_.T + self.intercept_)

    def _check(self, X: Any) -> Any:
        return validate_data(self, X, accept_sparse=FORMATS, dtype=DTYPES, reset=False)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags
