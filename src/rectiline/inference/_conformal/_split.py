"""Split-conformal intervals: a fitted model widened by what a calibration set demands."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils.validation import check_consistent_length, check_is_fitted, column_or_1d

from rectiline._typing import Matrix, Vector
from rectiline.inference._conformal._scores import (
    band,
    checked_coverage,
    pair_of_levels,
    rank_of,
    side_scores,
    uncrossed,
)

__all__ = ["ConformalIntervals", "conformal"]


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
        ends = band(self.model, X, self.pair)
        widening = self.widening if self.groups is None else self._per_row(groups, ends.shape[0])
        return uncrossed(ends + widening * np.array([-1.0, 1.0]))

    def _per_row(self, groups: ArrayLike | None, n: int) -> Matrix:
        assert self.groups is not None
        if groups is None:
            raise ValueError("groups is needed: the intervals were calibrated for each group.")
        labels = np.asarray(groups)
        if labels.shape != (n,):
            raise ValueError(f"groups must have one label for each of the {n} rows of X.")
        places = np.searchsorted(self.groups, labels).clip(0, self.groups.size - 1)
        unknown = self.groups[places] != labels
        if unknown.any():
            raise ValueError(
                f"groups: {labels[unknown][0]!r} was not among the calibration groups."
            )
        return np.asarray(self.widening[places])


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
        ``(1 - coverage) / 2``, which is a stronger promise with wider intervals.
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
    checked_coverage(coverage)
    y = column_or_1d(y_cal).astype(np.float64)
    pair = pair_of_levels(model, coverage)
    ends = band(model, X_cal, pair)
    check_consistent_length(ends, y)
    scores = side_scores(ends, y)
    if groups is None:
        widening = _widening(scores, coverage, symmetric, "conformal")
        return ConformalIntervals(model, coverage, widening, None, pair)
    labels = np.asarray(groups)
    if labels.shape != y.shape:
        raise ValueError(f"groups must have one label for each of the {y.size} samples.")
    found = np.unique(labels)
    each = [
        _widening(scores[labels == one], coverage, symmetric, f"conformal, group {one!r}")
        for one in found
    ]
    return ConformalIntervals(model, coverage, np.array(each), found, pair)


def _widening(scores: Matrix, coverage: float, symmetric: bool, what: str) -> Vector:
    """Return what the two ends move by."""
    if symmetric:
        worst = np.sort(scores.max(axis=1))
        return np.full(2, worst[rank_of(worst.size, coverage, what) - 1])
    one_side = 0.5 + 0.5 * coverage
    rank = rank_of(scores.shape[0], one_side, what)
    return np.asarray(np.sort(scores, axis=0)[rank - 1])
