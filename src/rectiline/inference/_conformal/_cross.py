"""Cross-conformal intervals (CV+): every sample calibrates, none is held out for good."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import clone
from sklearn.model_selection import KFold, check_cv
from sklearn.utils import _safe_indexing
from sklearn.utils.validation import check_consistent_length, column_or_1d

from rectiline._typing import Matrix
from rectiline.inference._conformal._scores import (
    band,
    checked_coverage,
    pair_of_levels,
    rank_of,
    side_scores,
    uncrossed,
)
from rectiline.paths import in_threads

__all__ = ["CrossConformalIntervals", "cross_conformal"]

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
        pairs = list(zip(bands, self.scores, strict=True))
        lower = np.concatenate([ends[:, :1] - one[:, 0] for ends, one in pairs], axis=1)
        upper = np.concatenate([ends[:, 1:] + one[:, 1] for ends, one in pairs], axis=1)
        count = lower.shape[1]
        return np.column_stack(
            [
                np.partition(lower, count - self.rank, axis=1)[:, count - self.rank],
                np.partition(upper, self.rank - 1, axis=1)[:, self.rank - 1],
            ]
        )


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
    checked_coverage(coverage)
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
        both = side_scores(band(fitted, _safe_indexing(X, test), pair), targets[test])
        scores.append(np.repeat(both.max(axis=1)[:, None], 2, axis=1) if symmetric else both)
    one_side = coverage if symmetric else 0.5 + 0.5 * coverage
    rank = rank_of(tested.size, one_side, "cross_conformal")
    return CrossConformalIntervals(models, coverage, scores, pair, rank)
