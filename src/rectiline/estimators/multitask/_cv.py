"""The strengths and the dimension of the shared subspace chosen by cross-validation.

`MultiTaskRegressorCV` and `MultiTaskClassifierCV` are the public names.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from contextlib import suppress
from functools import partial
from itertools import product
from numbers import Integral
from typing import Any, Unpack

import numpy as np
from numpy.typing import NDArray
from sklearn.model_selection import check_cv

from rectiline._numbers import seed_of
from rectiline._polling import Clock, OutOfTime, asked_at_checkpoints, checkpoint
from rectiline._typing import Mask
from rectiline.estimators._parameters import TaskParameters, keeps_parameters
from rectiline.estimators._search_folds import score_table
from rectiline.estimators.multitask._classifier import MultiTaskClassifier
from rectiline.estimators.multitask._inputs import TaskData
from rectiline.estimators.multitask._model import MultiTaskModel
from rectiline.estimators.multitask._regressor import MultiTaskRegressor
from rectiline.exceptions import ConvergenceWarning
from rectiline.losses import Loss
from rectiline.paths import FairShares, in_threads
from rectiline.penalties import SharedSubspace
from rectiline.problems import MultiTaskProblem
from rectiline.solvers.multitask import MultiTaskSolution

Masks = list[Mask]

_FOLD_TOL = 1e-4  # relative gap of the fits that are only compared


class MultiTaskSearch(MultiTaskModel):
    """Choose the penalty first, then fit as always. A fold is a function of its rows alone."""

    @keeps_parameters(TaskParameters)
    def __init__(
        self,
        loss: str | Loss = "squared_error",
        shared_dims: Any = None,
        alphas: Any = (0.01, 0.1, 1.0, 10.0),
        betas: Any = (0.1, 0.01, 0.001),
        *,
        cv: Any = None,
        **shared: Unpack[TaskParameters],
    ) -> None: ...

    def _penalty(self) -> SharedSubspace:
        return SharedSubspace(self.shared_dim_, self.alpha_, self.beta_)

    def _solve_tasks(self, data: TaskData, clock: Clock) -> tuple[TaskData, list[Any]]:
        self._choose(data, self._problem(data), clock)
        return super()._solve_tasks(data, clock)

    def _choose(self, data: TaskData, problem: MultiTaskProblem, clock: Clock) -> None:
        dims = self._dims(data)
        grid = list(product(dims, map(float, self.alphas), map(float, self.betas)))
        for name, values in (("alphas", self.alphas), ("betas", self.betas)):
            if not len(values) or not all(0.0 < float(value) < np.inf for value in values):
                raise ValueError(f"{name}={values!r}: must hold finite numbers > 0.")
        candidates = [SharedSubspace(*one) for one in grid]
        folds = list(_folds(data, self.cv, seed_of(self.random_state)))
        left = clock.remaining
        for_folds = None if left is None else left * len(folds) / (len(folds) + 1)
        shares = FairShares(for_folds, len(folds), self.n_jobs)

        with warnings.catch_warnings():  # `score_table` tells which candidates were left out
            warnings.simplefilter("ignore", ConvergenceWarning)
            # Whoever runs a fold, its fits take one thread each: equal bits for any n_jobs.
            fold = partial(self._fold, data, problem, candidates, shares)
            found = in_threads(fold, folds, self.n_jobs or 1)
        losses, seconds = (np.column_stack(part) for part in zip(*found, strict=True))
        self.shared_dims_ = np.array(dims)
        self.loss_path_ = losses.reshape(len(dims), len(self.alphas), len(self.betas), -1)
        self.shared_dim_, self.alpha_, self.beta_ = grid[int(np.argmin(losses.mean(axis=1)))]
        names = ("param_shared_dim", "param_alpha", "param_beta")
        columns = dict(zip(names, map(list, zip(*grid, strict=True)), strict=True))
        self.cv_results_ = score_table(columns, -losses, seconds, self.time_limit)

    def _dims(self, data: TaskData) -> list[int]:
        """Return the dimensions of the subspace to try."""
        d = data.X[0].shape[1]
        if self.shared_dims is None:
            most = max(1, min(d, data.n_tasks))
            return [h for h in (1, 2, 4, 8) if h <= most]
        dims = [int(h) for h in self.shared_dims]
        for h in dims:
            if not 1 <= h <= d:
                raise ValueError(
                    f"shared_dims holds {h}; each must lie between 1 and the number of columns, "
                    f"{d}."
                )
        return dims

    def _fold(
        self,
        data: TaskData,
        problem: MultiTaskProblem,
        candidates: list[SharedSubspace],
        shares: FairShares,
        held_out: Masks,
    ) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Return the held-out loss of every candidate on one fold, and the seconds of its fit.

        Candidates are tried in turn, as many as there is time for. Held-out rows keep their place
        and get the weight zero, so that nothing is copied.
        """
        clock = Clock.with_grace(shares.next())
        losses, seconds = np.full(len(candidates), np.inf), np.zeros(len(candidates))
        warm: MultiTaskSolution | None = None
        known: dict[float, float] = {}  # without a shared part alpha does not matter
        changes = {"tol": max(self.tol, _FOLD_TOL), "polish": False, "n_threads": 1}
        pairs = zip(held_out, data.weight, strict=True)
        weights = [np.where(mask, 0.0, weight) for mask, weight in pairs]
        with asked_at_checkpoints(clock), suppress(OutOfTime):
            training = problem.with_sample_weight(weights)
            for k, penalty in enumerate(candidates):
                one = training.with_penalty(penalty)
                if one.is_decoupled and penalty.beta in known:
                    losses[k] = known[penalty.beta]
                    continue
                checkpoint()
                warm = self._solve(one, clock, warm, **changes)
                if clock.is_late:  # a fit that was cut off says nothing about its candidate
                    break
                losses[k], seconds[k] = _held_out_loss(data, problem, held_out, warm), warm.seconds
                if one.is_decoupled:
                    known[penalty.beta] = float(losses[k])
        return losses, seconds


def _held_out_loss(
    data: TaskData, problem: MultiTaskProblem, held_out: Masks, solution: MultiTaskSolution
) -> float:
    """Return the loss on the held-out rows, averaged in each task and over the tasks."""
    means = []
    columns = np.ascontiguousarray(solution.coef.T)
    for t, (task, mask) in enumerate(zip(problem.tasks, held_out, strict=True)):
        weight = data.weight[t][mask]
        if weight.any():
            z = task.design.dot(columns[t]) + solution.intercept[t]
            losses = problem.loss.value(data.targets[t][mask], z[mask])
            means.append(float(np.average(losses, weights=weight)))
    return float(np.mean(means)) if means else 0.0


def _folds(data: TaskData, cv: Any, seed: int) -> Iterator[Masks]:
    """Yield, for each fold, which rows of each task are held out.

    A number of folds splits tasks with rows of their own task by task, so that each keeps its share
    of rows, and tasks that share X by rows, so that they go on sharing it. A splitter splits
    the rows of X. A task always keeps a row of positive weight to train on.
    """
    count = 5 if cv is None else cv
    rng = np.random.default_rng(seed)
    if not isinstance(count, Integral) or data.form == "shared":
        if data.places is None:
            raise ValueError("cv must be a number of folds when X is a list of matrices.")
        n = 1 + max(int(rows[-1]) for rows in data.places if rows.size)
        if isinstance(count, Integral):
            fold_of = rng.permutation(np.arange(n) % int(count))
            tests = [fold_of == k for k in range(int(count))]
        else:
            tests = [np.isin(np.arange(n), one) for _, one in check_cv(cv).split(np.zeros((n, 1)))]
        masks = [[out[rows] for rows in data.places] for out in tests]
    else:
        # Dealing out rows one by one from a random fold keeps the folds even over small tasks.
        folds = int(count)
        own = [rng.permutation((np.arange(y.size) + rng.integers(folds)) % folds) for y in data.y]
        masks = [[fold == k for fold in own] for k in range(folds)]
    for held_out in masks:
        for t, mask in enumerate(held_out):
            counted = np.flatnonzero(data.weight[t])
            if mask[counted].all():
                mask[counted[0]] = False
        yield held_out


class MultiTaskRegressorCV(MultiTaskSearch, MultiTaskRegressor):
    """`MultiTaskRegressor` with `shared_dim`, `alpha` and `beta` chosen by cross-validation.

    Parameters
    ----------
    loss : str or Loss, default="squared_error"
    {task_grid}
    center, fit_intercept, constraints, solver, solver_options, tol, max_iter, warm_start, n_jobs
        As in `MultiTaskRegressor`.
    time_limit, random_state, verbose, progress_bar, callback
        As in `MultiTaskRegressor`; the time limit is for search and fit together, and the
        callback is called during the fit.

    Attributes
    ----------
    {chosen_tasks}
    {task_attributes}

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


class MultiTaskClassifierCV(MultiTaskSearch, MultiTaskClassifier, loss="hinge"):
    """`MultiTaskClassifier` with `shared_dim`, `alpha` and `beta` chosen by cross-validation.

    Parameters
    ----------
    loss : str or Loss, default="hinge"
    {task_grid}
    center, fit_intercept, constraints, solver, solver_options, tol, max_iter, warm_start, n_jobs
        As in `MultiTaskClassifier`.
    time_limit, random_state, verbose, progress_bar, callback
        As in `MultiTaskClassifier`; the time limit is for search and fit together, and the
        callback is called during the fit.

    Attributes
    ----------
    classes_ : ndarray, or list of ndarray
    {chosen_tasks}
    {task_attributes}

    Examples
    --------
    >>> from sklearn.datasets import make_multilabel_classification
    >>> from rectiline.estimators.multitask import MultiTaskClassifierCV
    >>> X, Y = make_multilabel_classification(n_samples=60, n_classes=3, random_state=0)
    >>> model = MultiTaskClassifierCV(alphas=[0.1], betas=[0.1, 0.01], cv=3).fit(X, Y)
    >>> model.loss_path_.shape
    (2, 1, 2, 3)
    """
