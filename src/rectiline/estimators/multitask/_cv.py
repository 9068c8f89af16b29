"""The strengths and the dimension of the shared subspace chosen by cross-validation."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rectiline.estimators._run import seed_of
from rectiline.estimators.multitask._classifier import MultiTaskClassifier
from rectiline.estimators.multitask._docs import described
from rectiline.estimators.multitask._folds import folds
from rectiline.estimators.multitask._inputs import TaskData
from rectiline.estimators.multitask._model import MultiTaskModel
from rectiline.estimators.multitask._regressor import MultiTaskRegressor
from rectiline.losses import Loss
from rectiline.penalties import SharedSubspace
from rectiline.solvers.multitask import MultiTaskSolution

__all__ = ["MultiTaskClassifierCV", "MultiTaskRegressorCV"]

_LOOSE = 1e-4  # relative gap of the fits that are only compared

_GRID = """shared_dims : sequence of int, optional
        Dimensions to try; by default 1, 2, 4, 8 as far as there are tasks and columns.
    alphas, betas : sequence of float
        Strengths to try.
    cv : int, splitter or None, default=None
        Number of folds (5 by default) or a scikit-learn splitter of the rows. A number splits
        tasks with rows of their own task by task."""

_CHOSEN = """shared_dim_, alpha_, beta_
        The choice: the smallest loss on held-out rows, averaged over the tasks, then over the
        folds.
    loss_path_ : ndarray of shape (n_dims, n_alphas, n_betas, n_folds)
        That loss for every candidate and fold.
    shared_dims_ : ndarray of int
        The dimensions that were tried."""


class _Chooses(MultiTaskModel):
    """Choose the penalty first, then fit as always. Fits of one fold start from each other."""

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

    def _choose(self, data: TaskData, targets: list[NDArray[Any]]) -> None:
        dims, alphas, betas = self._grid(data)
        losses = []
        for train, test in folds(data, self.cv, seed_of(self.random_state)):
            losses.append(self._fold(data, targets, train, test, (dims, alphas, betas)))
        self.loss_path_ = np.stack(losses, axis=-1)
        best = np.unravel_index(np.argmin(self.loss_path_.mean(axis=-1)), self.loss_path_.shape[:3])
        self.shared_dims_ = np.array(dims)
        self.shared_dim_ = dims[best[0]]
        self.alpha_, self.beta_ = alphas[best[1]], betas[best[2]]

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
        self,
        data: TaskData,
        targets: list[NDArray[Any]],
        train: Sequence[NDArray[np.intp]],
        test: Sequence[NDArray[np.intp]],
        grid: tuple[list[int], list[float], list[float]],
    ) -> NDArray[np.float64]:
        """Return the held-out loss of every candidate."""
        dims, alphas, betas = grid
        self.shared_dim_, self.alpha_, self.beta_ = dims[0], alphas[0], betas[0]
        kept = data.take(train)
        problem = self._problem(kept, [y[k] for y, k in zip(targets, train)])
        out = data.take(test)
        goals = [y[k] for y, k in zip(targets, test)]
        found = np.empty((len(dims), len(alphas), len(betas)))
        warm: MultiTaskSolution | None = None
        known: dict[float, float] = {}  # without a shared part alpha does not matter
        for i, j, k in product(*(range(len(part)) for part in grid)):
            candidate = problem.with_penalty(SharedSubspace(dims[i], alphas[j], betas[k]))
            if candidate.is_decoupled and betas[k] in known:
                found[i, j, k] = known[betas[k]]
                continue
            warm = self._solve(candidate, warm, max(self.tol, _LOOSE), False)
            found[i, j, k] = _held_out(candidate.loss, warm, out, goals)
            if candidate.is_decoupled:
                known[betas[k]] = found[i, j, k]
        return found


def _held_out(
    loss: Loss, solution: MultiTaskSolution, data: TaskData, targets: list[NDArray[Any]]
) -> float:
    """Return the loss on the rows of `data`, averaged in each task and over the tasks."""
    means = []
    for t, (X, y) in enumerate(zip(data.X, targets)):
        weight = None if data.weight is None else data.weight[t]
        if not y.size or (weight is not None and not weight.any()):
            continue
        z = X @ solution.coef[:, t] + solution.intercept[t]
        means.append(float(np.average(loss.value(y, z), weights=weight)))
    return float(np.mean(means)) if means else 0.0


@described
class MultiTaskRegressorCV(_Chooses, MultiTaskRegressor):
    """`MultiTaskRegressor` with `shared_dim`, `alpha` and `beta` chosen by cross-validation.

    Parameters
    ----------
    loss : str or Loss, default="squared_error"
    <GRID>
    center, fit_intercept, constraints, solver, solver_options, tol, max_iter, warm_start, n_jobs
        As in `MultiTaskRegressor`.
    time_limit, random_state, verbose, progress_bar, callback
        As in `MultiTaskRegressor`; the time limit is for search and fit together, and the
        callback hears about the fit.

    Attributes
    ----------
    <CHOSEN>
    <ATTRIBUTES>

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
        _set(self, locals())

    def _fit_data(self, data: TaskData) -> None:
        self._choose(data, data.y)
        super()._fit_data(data)


@described
class MultiTaskClassifierCV(_Chooses, MultiTaskClassifier):
    """`MultiTaskClassifier` with `shared_dim`, `alpha` and `beta` chosen by cross-validation.

    Parameters
    ----------
    loss : str or Loss, default="hinge"
    <GRID>
    center, fit_intercept, constraints, solver, solver_options, tol, max_iter, warm_start, n_jobs
        As in `MultiTaskClassifier`.
    time_limit, random_state, verbose, progress_bar, callback
        As in `MultiTaskClassifier`; the time limit is for search and fit together, and the
        callback hears about the fit.

    Attributes
    ----------
    classes_ : ndarray, or list of ndarray
    <CHOSEN>
    <ATTRIBUTES>

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
        _set(self, locals())

    def _fit_data(self, data: TaskData) -> None:
        self._choose(data, self._signs(data))
        super()._fit_data(data)


def _set(estimator: Any, given: dict[str, Any]) -> None:
    for name, value in given.items():
        if name not in ("self", "__class__"):
            setattr(estimator, name, value)


for _kind in (MultiTaskRegressorCV, MultiTaskClassifierCV):
    assert _kind.__doc__ is not None
    _kind.__doc__ = _kind.__doc__.replace("<GRID>", _GRID).replace("<CHOSEN>", _CHOSEN)
