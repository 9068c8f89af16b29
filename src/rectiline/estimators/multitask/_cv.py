"""The strengths and the dimension of the shared subspace chosen by cross-validation.

`MultiTaskRegressorCV` and `MultiTaskClassifierCV` are the public names.
"""

from __future__ import annotations

import warnings
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from itertools import product
from typing import Any

import numpy as np
from joblib import effective_n_jobs
from numpy.typing import NDArray

from rectiline._polling import Clock, OutOfTime, asked_at_checkpoints, checkpoint
from rectiline.estimators._docs import documented
from rectiline.estimators._run import seed_of
from rectiline.estimators._search import score_table
from rectiline.estimators._state import keep_parameters
from rectiline.estimators.multitask._classifier import MultiTaskClassifier
from rectiline.estimators.multitask._docs import ATTRIBUTES
from rectiline.estimators.multitask._folds import folds
from rectiline.estimators.multitask._inputs import TaskData
from rectiline.estimators.multitask._model import MultiTaskModel
from rectiline.estimators.multitask._regressor import MultiTaskRegressor
from rectiline.exceptions import ConvergenceWarning
from rectiline.losses import Loss
from rectiline.paths import in_threads
from rectiline.penalties import SharedSubspace
from rectiline.problems import MultiTaskProblem
from rectiline.solvers.multitask import MultiTaskSolution

__all__ = ["MultiTaskClassifierCV", "MultiTaskRegressorCV"]

_LOOSE = 1e-4  # relative gap of the fits that are only compared

_GRID = """
shared_dims : sequence of int, optional
    Dimensions to try; by default 1, 2, 4, 8 as far as there are tasks and columns.
alphas, betas : sequence of float
    Strengths to try.
cv : int, splitter or None, default=None
    Number of folds (5 by default) or a scikit-learn splitter of the rows. A number splits
    tasks with rows of their own task by task."""

_CHOSEN = """
shared_dim_, alpha_, beta_
    The choice: the smallest loss on held-out rows, averaged over the tasks, then over the
    folds.
loss_path_ : ndarray of shape (n_dims, n_alphas, n_betas, n_folds)
    That loss for every candidate and fold; infinite for those that a time limit left out.
cv_results_ : dict of ndarray
    The candidates as a table, one row each, with columns as in scikit-learn's searches; scores
    are the losses with a minus sign.
shared_dims_ : ndarray of int
    The dimensions that were tried."""
_TEXTS = ("grid", _GRID, "chosen", _CHOSEN, "attributes", ATTRIBUTES)


class _Chooses(MultiTaskModel):
    """Choose the penalty first, then fit as always. A fold is a function of its rows alone."""

    _parameter_constraints: dict[str, list[Any]] = {
        name: allowed
        for name, allowed in MultiTaskModel._parameter_constraints.items()
        if name not in ("shared_dim", "alpha", "beta")
    } | {
        "shared_dims": ["array-like", None],
        "alphas": ["array-like"],
        "betas": ["array-like"],
        "cv": ["cv_object"],
    }

    def _penalty(self) -> SharedSubspace:
        return SharedSubspace(self.shared_dim_, self.alpha_, self.beta_)

    def _fit_tasks(self, data: TaskData, targets: list[Any], problem: MultiTaskProblem) -> None:
        self._choose(data, targets, problem)
        super()._fit_tasks(data, targets, problem)

    def _choose(self, data: TaskData, targets: list[Any], problem: MultiTaskProblem) -> None:
        dims, alphas, betas = self._grid(data)
        held_out = list(folds(data, self.cv, seed_of(self.random_state)))
        jobs = [
            _FoldJob(problem, data.weight, targets, masks, Clock.with_grace(seconds))
            for masks, seconds in zip(held_out, self._shares(len(held_out)), strict=True)
        ]
        on_grid = partial(self._fold, grid=(dims, alphas, betas))
        with warnings.catch_warnings():  # `score_table` tells which candidates were left out
            warnings.simplefilter("ignore", ConvergenceWarning)
            # Whoever runs a fold, its fits take one thread each: equal bits for any n_jobs.
            found = in_threads(on_grid, jobs, self.n_jobs or 1)
        losses, seconds = (np.stack(part, axis=-1) for part in zip(*found, strict=True))
        self.loss_path_ = losses
        best = np.unravel_index(np.argmin(losses.mean(axis=-1)), losses.shape[:3])
        self.shared_dims_ = np.array(dims)
        self.shared_dim_ = dims[best[0]]
        self.alpha_, self.beta_ = alphas[best[1]], betas[best[2]]
        names = ("param_shared_dim", "param_alpha", "param_beta")
        tried = zip(*product(dims, alphas, betas), strict=True)
        self.cv_results_ = score_table(
            {name: list(values) for name, values in zip(names, tried, strict=True)},
            -losses.reshape(-1, len(jobs)),
            seconds.reshape(-1, len(jobs)),
            self.time_limit,
        )

    def _shares(self, n_folds: int) -> list[float | None]:
        """Return the seconds from now on by which each fold ends; the last share is for the fit."""
        left = self._seconds_left()
        if left is None:
            return [None] * n_folds
        alone = effective_n_jobs(self.n_jobs or 1) == 1
        return [left * (k + 1 if alone else n_folds) / (n_folds + 1) for k in range(n_folds)]

    def _grid(self, data: TaskData) -> tuple[list[int], list[float], list[float]]:
        d = data.X[0].shape[1]
        if self.shared_dims is None:
            most = max(1, min(d, data.n_tasks))
            dims = [h for h in (1, 2, 4, 8) if h <= most]
        else:
            dims = [int(h) for h in self.shared_dims]
        for h in dims:
            if not 1 <= h <= d:
                raise ValueError(
                    f"shared_dims holds {h}; each must lie between 1 and the number of columns, "
                    f"{d}."
                )
        strengths = []
        for name in ("alphas", "betas"):
            values = [float(v) for v in getattr(self, name)]
            wrong = [v for v in values if not 0.0 < v < np.inf]
            if wrong or not values:
                raise ValueError(f"{name}={values}: must hold finite numbers > 0.")
            strengths.append(values)
        return dims, strengths[0], strengths[1]

    def _fold(
        self, job: _FoldJob, grid: tuple[list[int], list[float], list[float]]
    ) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Return the held-out loss of every candidate on one fold, and the seconds of its fit."""
        losses = np.full([len(values) for values in grid], np.inf)
        seconds = np.zeros(losses.shape)
        with asked_at_checkpoints(job.deadline), suppress(OutOfTime):
            self._try_all(job, grid, losses, seconds)
        return losses, seconds

    def _try_all(
        self,
        job: _FoldJob,
        grid: tuple[list[int], list[float], list[float]],
        losses: NDArray[np.float64],
        seconds: NDArray[np.float64],
    ) -> None:
        """Fill in the candidates in turn, as many as there is time for."""
        dims, alphas, betas = grid
        on_fold = job.training_problem()
        warm: MultiTaskSolution | None = None
        known: dict[float, float] = {}  # without a shared part alpha does not matter
        for place in np.ndindex(losses.shape):
            beta = betas[place[2]]
            problem = on_fold.with_penalty(SharedSubspace(dims[place[0]], alphas[place[1]], beta))
            if problem.is_decoupled and beta in known:
                losses[place] = known[beta]
                continue
            checkpoint()
            warm = self._solve(problem, warm, max(self.tol, _LOOSE), False, n_threads=1)
            if job.deadline.is_late:  # a fit that time has cut off says nothing about its candidate
                return
            losses[place] = job.held_out_loss(warm)
            seconds[place] = warm.seconds
            if problem.is_decoupled:
                known[beta] = float(losses[place])


@dataclass(frozen=True, eq=False)
class _FoldJob:
    """A fold: which rows of each task are held out, and when its fits have to end.

    Held-out rows keep their place and get the weight zero, so that nothing is copied.
    """

    problem: MultiTaskProblem
    weight: list[NDArray[np.float64]] | None
    targets: list[NDArray[Any]]
    masks: list[NDArray[np.bool_]]
    deadline: Clock

    def training_problem(self) -> MultiTaskProblem:
        """Return the problem on the rows that are not held out."""
        return self.problem.with_sample_weight(
            [np.where(mask, 0.0, self._weight_of(t)) for t, mask in enumerate(self.masks)]
        )

    def held_out_loss(self, solution: MultiTaskSolution) -> float:
        """Return the loss on the held-out rows, averaged in each task and over the tasks."""
        means = []
        columns = np.ascontiguousarray(solution.coef.T)
        for t, (task, mask) in enumerate(zip(self.problem.tasks, self.masks, strict=True)):
            weight = np.where(mask, self._weight_of(t), 0.0)
            if weight.any():
                z = task.design.dot(columns[t]) + solution.intercept[t]
                losses = self.problem.loss.value(self.targets[t][mask], z[mask])
                means.append(float(np.average(losses, weights=weight[mask])))
        return float(np.mean(means)) if means else 0.0

    def _weight_of(self, t: int) -> NDArray[np.float64] | float:
        return 1.0 if self.weight is None else self.weight[t]


@documented(*_TEXTS)
class MultiTaskRegressorCV(_Chooses, MultiTaskRegressor):
    """`MultiTaskRegressor` with `shared_dim`, `alpha` and `beta` chosen by cross-validation.

    Parameters
    ----------
    loss : str or Loss, default="squared_error"
    {grid}
    center, fit_intercept, constraints, solver, solver_options, tol, max_iter, warm_start, n_jobs
        As in `MultiTaskRegressor`.
    time_limit, random_state, verbose, progress_bar, callback
        As in `MultiTaskRegressor`; the time limit is for search and fit together, and the
        callback is called during the fit.

    Attributes
    ----------
    {chosen}
    {attributes}

    Examples
    --------
    >>> import numpy as np
    >>> from rectiline.estimators.multitask import MultiTaskRegressorCV
    >>> rng = np.random.default_rng(0)
    >>> X = rng.standard_normal((40, 6))
    >>> Y = np.outer(X[:, 0], [1.0, -1.0, 2.0]) + 0.1 * rng.standard_normal((40, 3))
    >>> model = MultiTaskRegressorCV(alphas=[0.1, 1.0], betas=[0.001, 0.1], cv=3).fit(X, Y)
    >>> model.shared_dim_, model.beta_
    (1, 0.001)
    """

    def __init__(
        self,
        loss: str | Loss = "squared_error",
        shared_dims: Any = None,
        alphas: Any = (0.01, 0.1, 1.0, 10.0),
        betas: Any = (0.1, 0.01, 0.001),
        *,
        cv: Any = None,
        center: bool = False,
        fit_intercept: bool = True,
        constraints: Any = (),
        solver: str = "auto",
        solver_options: dict[str, Any] | None = None,
        tol: float = 1e-6,
        max_iter: int | None = None,
        time_limit: float | None = None,
        warm_start: bool = False,
        n_jobs: int | None = None,
        random_state: Any = None,
        verbose: int = 0,
        progress_bar: bool = False,
        callback: Any = None,
    ) -> None:
        keep_parameters(self, locals())


@documented(*_TEXTS)
class MultiTaskClassifierCV(_Chooses, MultiTaskClassifier):
    """`MultiTaskClassifier` with `shared_dim`, `alpha` and `beta` chosen by cross-validation.

    Parameters
    ----------
    loss : str or Loss, default="hinge"
    {grid}
    center, fit_intercept, constraints, solver, solver_options, tol, max_iter, warm_start, n_jobs
        As in `MultiTaskClassifier`.
    time_limit, random_state, verbose, progress_bar, callback
        As in `MultiTaskClassifier`; the time limit is for search and fit together, and the
        callback is called during the fit.

    Attributes
    ----------
    classes_ : ndarray, or list of ndarray
    {chosen}
    {attributes}

    Examples
    --------
    >>> from sklearn.datasets import make_multilabel_classification
    >>> from rectiline.estimators.multitask import MultiTaskClassifierCV
    >>> X, Y = make_multilabel_classification(n_samples=60, n_classes=3, random_state=0)
    >>> model = MultiTaskClassifierCV(alphas=[0.1], betas=[0.1, 0.01], cv=3).fit(X, Y)
    >>> model.loss_path_.shape
    (2, 1, 2, 3)
    """

    def __init__(
        self,
        loss: str | Loss = "hinge",
        shared_dims: Any = None,
        alphas: Any = (0.01, 0.1, 1.0, 10.0),
        betas: Any = (0.1, 0.01, 0.001),
        *,
        cv: Any = None,
        center: bool = False,
        fit_intercept: bool = True,
        constraints: Any = (),
        solver: str = "auto",
        solver_options: dict[str, Any] | None = None,
        tol: float = 1e-6,
        max_iter: int | None = None,
        time_limit: float | None = None,
        warm_start: bool = False,
        n_jobs: int | None = None,
        random_state: Any = None,
        verbose: int = 0,
        progress_bar: bool = False,
        callback: Any = None,
    ) -> None:
        keep_parameters(self, locals())
