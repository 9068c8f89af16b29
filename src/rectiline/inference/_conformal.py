"""Prediction intervals with guaranteed coverage, from any fitted quantiles."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import clone
from sklearn.model_selection import KFold, check_cv
from sklearn.utils import _safe_indexing
from sklearn.utils.validation import check_consistent_length, check_is_fitted, column_or_1d

from rectiline._numbers import checked_share
from rectiline._typing import Matrix, Vector
from rectiline.paths import in_threads


def central_pair(levels: Vector, coverage: float) -> tuple[int, int] | None:
    """Return the positions of the levels that bound a central interval, if both are there."""
    checked_share("coverage", coverage)
    wanted = (0.5 - 0.5 * coverage, 0.5 + 0.5 * coverage)
    near = [np.flatnonzero(np.abs(levels - one) <= 1e-9) for one in wanted]
    return (int(near[0][0]), int(near[1][0])) if near[0].size and near[1].size else None


def pair_of_levels(model: Any, coverage: float) -> tuple[int, int]:
    """Return which columns of a prediction bound the interval.

    They are the central pair for the coverage where that was fitted, else the outermost ones; a
    model with one column is its own lower and upper bound.
    """
    levels = np.atleast_1d(getattr(model, "quantiles_", np.array([0.5])))
    return central_pair(levels, coverage) or (int(np.argmin(levels)), int(np.argmax(levels)))


def band(model: Any, X: Any, pair: tuple[int, int]) -> Matrix:
    """Return the lower and the upper prediction for each row, (n, 2)."""
    predicted = np.asarray(model.predict(X), dtype=np.float64)
    predicted = predicted.reshape(predicted.shape[0], -1)
    return np.sort(predicted[:, list(pair)], axis=1)


def uncrossed(ends: Matrix) -> Matrix:
    """Return the intervals with both ends at their mean where they cross."""
    crossed = ends[:, 0] > ends[:, 1]
    ends[crossed] = ends[crossed].mean(axis=1, keepdims=True)
    return ends


def side_scores(ends: Matrix, y: Vector, symmetric: bool) -> Matrix:
    """Return how far y lies below the lower and above the upper end, (n, 2); negative inside.

    Where both ends move by the same, both are the larger one.
    """
    scores = np.column_stack([ends[:, 0] - y, y - ends[:, 1]])
    return np.repeat(scores.max(axis=1)[:, None], 2, axis=1) if symmetric else scores


def rank_of(count: int, coverage: float, symmetric: bool, what: str) -> int:
    """Return which smallest score covers: ceil(coverage (count + 1)).

    Raises ValueError where there are too few scores for any finite interval.
    """
    coverage = coverage if symmetric else 0.5 + 0.5 * coverage
    rank = math.ceil(coverage * (count + 1) - 1e-9)
    if rank > count:
        needed = math.ceil(coverage / (1.0 - coverage) - 1e-9)
        raise ValueError(
            f"{what}: {count} calibration samples are too few; a coverage of {coverage:g} on each "
            f"side that is widened needs at least {needed}."
        )
    return rank


@dataclass(frozen=True, eq=False)
class ConformalIntervals:
    """Prediction intervals that cover a share of exchangeable new samples.

    Attributes
    ----------
    model : estimator
    coverage : float
    widening : ndarray of shape (2,), or (n_groups, 2)
        What the lower end is moved down by, and the upper end up; negative values narrow.
    groups : ndarray of shape (n_groups,) or None
        Labels of the groups that are covered separately.
    pair : tuple of int
        The columns of a prediction that are widened.
    """

    model: Any
    coverage: float
    widening: Matrix
    groups: NDArray[Any] | None
    pair: tuple[int, int]

    def predict_interval(self, X: Any, groups: ArrayLike | None = None) -> Matrix:
        """Return the intervals at the rows of X.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
        groups : array-like of shape (n_samples,), optional
            Labels, needed exactly if the calibration had groups.

        Returns
        -------
        ndarray of shape (n_samples, 2)
            Lower and upper ends; where narrowing makes them cross, both are their mean.
        """
        ends, widening = band(self.model, X, self.pair), self.widening
        if self.groups is not None:
            if groups is None:
                raise ValueError("groups is needed: the intervals were calibrated for each group.")
            labels = np.asarray(groups)
            if labels.shape != ends.shape[:1]:
                raise ValueError(
                    f"groups must have one label for each of the {len(ends)} rows of X."
                )
            places = np.searchsorted(self.groups, labels).clip(0, self.groups.size - 1)
            unknown = self.groups[places] != labels
            if unknown.any():
                raise ValueError(
                    f"groups: {labels[unknown][0]!r} was not among the calibration groups."
                )
            widening = widening[places]
        return uncrossed(ends + widening * np.array([-1.0, 1.0]))


def conformal(
    model: Any,
    X_cal: Any,
    y_cal: ArrayLike,
    coverage: float = 0.9,
    *,
    symmetric: bool = True,
    groups: ArrayLike | None = None,
) -> ConformalIntervals:
    """Calibrate the intervals of a fitted model on samples it has not seen.

    Conformalised quantile regression (Romano, Patterson and Candes 2019): both ends of the
    interval between two fitted quantiles move by the ``ceil(coverage (m + 1))``-th smallest of the
    scores ``max(lower - y, y - upper)`` of m calibration samples. On samples that are exchangeable
    with these, the interval covers with at least the probability asked for, whatever the model.

    Parameters
    ----------
    model : fitted estimator
        A `QuantileRegressor` at two or more quantiles: the central pair for the coverage, or else
        the outermost ones. Any regressor with one prediction gives intervals of equal width.
    X_cal, y_cal : array-like
        Calibration samples, not those of the fit.
    coverage : float, default=0.9
    symmetric : bool, default=True
        Whether both ends move by the same amount. Otherwise each side misses with probability
        ``(1 - coverage) / 2``, which is a stronger guarantee with wider intervals.
    groups : array-like of shape (n_samples,), optional
        Labels; each group is calibrated, and covered, by itself.

    Returns
    -------
    ConformalIntervals
        With ``predict_interval(X)``.

    Examples
    --------
    >>> import numpy as np
    >>> import rectiline as rl
    >>> rng = np.random.default_rng(0)
    >>> X = rng.uniform(0, 4, (3000, 1))
    >>> y = np.sin(X[:, 0]) + (0.2 + X[:, 0]) * rng.standard_normal(3000)
    >>> model = rl.QuantileRegressor(quantile=[0.05, 0.95], alpha=0).fit(X[:1000], y[:1000])
    >>> intervals = rl.inference.conformal(model, X[1000:2000], y[1000:2000], coverage=0.9)
    >>> low, high = intervals.predict_interval(X[2000:]).T
    >>> round(float(np.mean((low <= y[2000:]) & (y[2000:] <= high))), 2)
    0.89
    """
    check_is_fitted(model)
    pair = pair_of_levels(model, coverage)
    y = column_or_1d(y_cal).astype(np.float64)
    ends = band(model, X_cal, pair)
    check_consistent_length(ends, y)
    scores = side_scores(ends, y, symmetric)
    labels = np.zeros(y.size, dtype=int) if groups is None else np.asarray(groups)
    if labels.shape != y.shape:
        raise ValueError(f"groups must have one label for each of the {y.size} samples.")
    found, widening = np.unique(labels), []
    for one in found:
        what = "conformal" if groups is None else f"conformal, group {one!r}"
        own = np.sort(scores[labels == one], axis=0)
        widening.append(own[rank_of(len(own), coverage, symmetric, what) - 1])
    if groups is None:
        return ConformalIntervals(model, coverage, widening[0], None, pair)
    return ConformalIntervals(model, coverage, np.array(widening), found, pair)


_MOST_ENDS_AT_ONCE = 4_000_000  # of the table of shifted ends that is made at once


@dataclass(frozen=True, eq=False)
class CrossConformalIntervals:
    """Intervals from several models, each widened by the samples it was not fitted on.

    Attributes
    ----------
    models : list of fitted estimators
        One per fold.
    coverage : float
    scores : list of ndarray of shape (n_k, 2)
        Scores of the samples of each fold under the model that has not seen them.
    pair : tuple of int
        The columns of a prediction that are widened.
    rank : int
        Which of the sorted shifted ends is the end of an interval.
    """

    models: list[Any]
    coverage: float
    scores: list[Matrix]
    pair: tuple[int, int]
    rank: int

    def predict_interval(self, X: Any) -> Matrix:
        """Return the intervals at the rows of X.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)

        Returns
        -------
        ndarray of shape (n_samples, 2)
            Lower and upper ends; where they cross, both are their mean.
        """
        bands = [band(model, X, self.pair) for model in self.models]
        total = sum(one.shape[0] for one in self.scores)
        step = max(_MOST_ENDS_AT_ONCE // total, 1)
        made = np.empty_like(bands[0])
        for first in range(0, made.shape[0], step):
            part = slice(first, first + step)
            made[part] = self._ends([one[part] for one in bands])
        return uncrossed(made)

    def _ends(self, bands: list[Matrix]) -> Matrix:
        made, pairs = [], list(zip(bands, self.scores, strict=True))
        for side, sign in enumerate((-1.0, 1.0)):  # a lower end is minus the upper end of -y
            moved = [sign * ends[:, [side]] + one[:, side] for ends, one in pairs]
            ranked = np.partition(np.concatenate(moved, axis=1), self.rank - 1, axis=1)
            made.append(sign * ranked[:, self.rank - 1])
        return np.column_stack(made)


def cross_conformal(
    model: Any,
    X: Any,
    y: ArrayLike,
    coverage: float = 0.9,
    *,
    cv: Any = 5,
    symmetric: bool = True,
    groups: ArrayLike | None = None,
    n_jobs: int | None = None,
) -> CrossConformalIntervals:
    """Fit a model on folds and calibrate its intervals on the samples left out (CV+).

    The lower end at a new x is an order statistic of ``lower_k(i)(x) - E_i`` over all samples i,
    where the model of i's fold has not seen i, and likewise for the upper end (Barber, Candes,
    Ramdas and Tibshirani 2021). All samples serve both purposes; the guarantee is
    ``2 coverage - 1``, and coverage is close to what was asked for unless the model is unstable.

    Parameters
    ----------
    model : estimator
        Cloned and fitted on each fold's complement; see `conformal` for its quantiles.
    X, y : array-like
        All samples.
    coverage : float, default=0.9
    cv : int or splitter, default=5
        A whole number means that many shuffled folds with a fixed seed.
    symmetric : bool, default=True
        Whether both ends use the larger of the two scores; otherwise each side has its own.
    groups : array-like of shape (n_samples,), optional
        For the splitter, such as GroupKFold.
    n_jobs : int, optional
        Threads.

    Returns
    -------
    CrossConformalIntervals
        With ``predict_interval(X)``.

    Examples
    --------
    >>> import numpy as np
    >>> import rectiline as rl
    >>> rng = np.random.default_rng(0)
    >>> X = rng.uniform(0, 4, (900, 1))
    >>> y = np.sin(X[:, 0]) + (0.2 + X[:, 0]) * rng.standard_normal(900)
    >>> model = rl.QuantileRegressor(quantile=[0.1, 0.9], alpha=0)
    >>> intervals = rl.inference.cross_conformal(model, X[:300], y[:300], coverage=0.8)
    >>> low, high = intervals.predict_interval(X[300:]).T
    >>> round(float(np.mean((low <= y[300:]) & (y[300:] <= high))), 1)
    0.8
    """
    checked_share("coverage", coverage)
    targets = column_or_1d(y).astype(np.float64)
    check_consistent_length(X, targets)
    if isinstance(cv, int):
        splitter: Any = KFold(cv, shuffle=True, random_state=0)
    else:
        splitter = check_cv(cv, targets)
    folds = list(splitter.split(X, targets, groups))
    tested = np.concatenate([test for _, test in folds])
    if np.unique(tested).size != tested.size:
        raise ValueError("cv must leave every sample out once at most; some are in two folds.")

    def one(fold: tuple[NDArray[np.intp], NDArray[np.intp]]) -> Any:
        train, _ = fold
        return clone(model).fit(_safe_indexing(X, train), targets[train])

    models = in_threads(one, folds, 1 if n_jobs is None else n_jobs)
    pair = pair_of_levels(models[0], coverage)
    scores = []
    for fitted, (_, test) in zip(models, folds, strict=True):
        ends = band(fitted, _safe_indexing(X, test), pair)
        scores.append(side_scores(ends, targets[test], symmetric))
    rank = rank_of(tested.size, coverage, symmetric, "cross_conformal")
    return CrossConformalIntervals(models, coverage, scores, pair, rank)
