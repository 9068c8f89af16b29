"""The whole conditional distribution, from quantiles on a grid of levels."""

from __future__ import annotations

from typing import Any, Unpack, cast

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils import check_random_state

from rectiline._numbers import checked_share
from rectiline._typing import Matrix, Vector
from rectiline.estimators._parameters import TermParameters, keeps_parameters
from rectiline.estimators._quantile import QuantileRegressor
from rectiline.estimators._rows import predicted, with_targets


class DistributionRegressor(QuantileRegressor):
    """The conditional distribution of y, by linear quantile regression on a grid of levels.

    The quantile function at x runs linearly between the fitted levels; the probability below the
    lowest level lies on its quantile, and that above the highest on the highest. Quantiles that
    cross at x are put in order (Chernozhukov, Fernandez-Val and Galichon 2010), unless
    `non_crossing` keeps them from crossing in the fit.

    Parameters
    ----------
    levels : int or array-like, default=99
        Levels to fit, or how many: then ``k / (levels + 1)``, 0.01 to 0.99 by default.
    alpha : float, default=0.0
        Strength of the penalty, >= 0.
    l1_ratio : float, default=1.0
        Share of the L1 norm in the "elasticnet" penalty; 0 is ridge.
    non_crossing : bool or "box", default=False
        As for `QuantileRegressor`.
    penalty : str, Penalty or None, default="elasticnet"
        As for `QuantileRegressor`.
    penalty_params : dict, optional
    {constraints}
    {effects}
    {tables}
    {fit_intercept}
    {running_tight}
    {warm_start}

    Attributes
    ----------
    coef_ : ndarray of shape (n_levels, n_features)
    intercept_ : ndarray of shape (n_levels,)
    quantiles_ : ndarray of shape (n_levels,)
        The levels, in increasing order.
    {proof}

    See Also
    --------
    QuantileRegressor : A few quantiles.

    References
    ----------
    Gneiting and Raftery (2007), Strictly proper scoring rules, prediction, and estimation.

    Examples
    --------
    >>> import numpy as np
    >>> from rectiline.estimators import DistributionRegressor
    >>> rng = np.random.default_rng(0)
    >>> X = rng.uniform(0, 1, (2000, 1))
    >>> y = 2 * X[:, 0] + (1 + X[:, 0]) * rng.standard_normal(2000)
    >>> model = DistributionRegressor(levels=19).fit(X, y)
    >>> model.quantile([[0.5]], [0.5, 0.75, 0.9]).round(1)  # 1, 2.01, 2.92
    array([[1., 2., 3.]])
    >>> model.cdf([[0.5]], [1.0]).round(2)
    array([0.51])
    >>> round(model.score(X, y), 2)
    -0.85
    """

    @keeps_parameters(TermParameters, penalty="elasticnet", tol=1e-9)
    def __init__(
        self,
        levels: Any = 99,
        *,
        alpha: float = 0.0,
        l1_ratio: float = 1.0,
        non_crossing: bool | str = False,
        warm_start: bool = False,
        **shared: Unpack[TermParameters],
    ) -> None: ...

    loss = "pinball"
    shared_slopes = False

    def _asked_levels(self) -> Any:
        if isinstance(self.levels, int | np.integer) and not isinstance(self.levels, bool):
            return np.arange(1, self.levels + 1) / (self.levels + 1)
        return np.sort(np.asarray(self.levels, dtype=np.float64), axis=None)

    def _quantiles_at(self, X: Any) -> Matrix:
        """Return the quantiles of all levels, in order."""
        return cast(Matrix, predicted(self, X, False, "_in_order"))

    def _in_order(self, scores: Matrix) -> Matrix:
        return np.sort(scores, axis=1)

    def _from_scores(self, scores: Matrix) -> Vector:
        """Return medians."""
        return self._interpolated(np.sort(scores, axis=1), np.array([0.5]))[:, 0]

    def _interpolated(self, quantiles: Matrix, at: Matrix) -> Matrix:
        """Return the quantile functions at levels (k,), or (n, k) with own levels of each row."""
        values, tau = self._with_ends(quantiles)
        at = np.broadcast_to(at, (values.shape[0], at.shape[-1]))
        right = np.clip(np.searchsorted(tau, at), 1, tau.size - 1)
        low, high = (np.take_along_axis(values, place, axis=1) for place in (right - 1, right))
        return low + (at - tau[right - 1]) / (tau[right] - tau[right - 1]) * (high - low)

    def quantile(self, X: Any, q: ArrayLike) -> NDArray[np.float64]:
        """Return quantiles of y at the rows of X.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
        q : float or array-like of shape (k,)
            Levels between 0 and 1; those between fitted ones are interpolated.

        Returns
        -------
        ndarray of shape (n_samples,) or (n_samples, k)
        """
        at = np.asarray(q, dtype=np.float64)
        if at.ndim > 1 or not ((at >= 0) & (at <= 1)).all():
            raise ValueError(f"q={q!r}: must be a level or a list of levels between 0 and 1.")
        found = self._interpolated(self._quantiles_at(X), np.atleast_1d(at))
        return found if at.ndim else found[:, 0]

    def cdf(self, X: Any, y: ArrayLike) -> Vector:
        """Return the probability that the target is at most y, at the rows of X.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
        y : float or array-like of shape (n_samples,)

        Returns
        -------
        ndarray of shape (n_samples,)
        """
        values, levels = self._quantiles_at(X), np.asarray(self.quantiles_)
        at = np.broadcast_to(np.asarray(y, dtype=np.float64), values.shape[:1])
        rows = np.arange(values.shape[0])
        count = np.sum(values <= at[:, None], axis=1)  # levels whose quantile is at most y
        left, right = np.clip(count - 1, 0, None), np.clip(count, None, levels.size - 1)
        width = values[rows, right] - values[rows, left]
        share = (at - values[rows, left]) / np.where(width > 0, width, 1.0)
        inside = levels[left] + np.clip(share, 0.0, 1.0) * (levels[right] - levels[left])
        return np.where(count == 0, 0.0, np.where(count == levels.size, 1.0, inside))

    def mean(self, X: Any) -> Vector:
        """Return the mean of the distribution at the rows of X.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)

        Returns
        -------
        ndarray of shape (n_samples,)
        """
        values, tau = self._with_ends(self._quantiles_at(X))
        return np.asarray(0.5 * (values[:, 1:] + values[:, :-1]) @ np.diff(tau))

    def sample(self, X: Any, n_draws: int = 1, random_state: Any = None) -> NDArray[np.float64]:
        """Draw targets at the rows of X.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
        n_draws : int, default=1
            Draws at each row.
        random_state : int, RandomState instance or None, default=None

        Returns
        -------
        ndarray of shape (n_samples, n_draws)
        """
        values = self._quantiles_at(X)
        at = check_random_state(random_state).uniform(size=(values.shape[0], int(n_draws)))
        return self._interpolated(values, at)

    def crps(self, X: Any, y: ArrayLike) -> Vector:
        """Return the continuous ranked probability score of each row, the smaller the better.

        It is ``2 integral pinball_tau(y - Q(tau)) dtau``, computed exactly.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
        y : array-like of shape (n_samples,)

        Returns
        -------
        ndarray of shape (n_samples,)
        """
        values, tau = self._with_ends(self._quantiles_at(X))
        target = np.asarray(y, dtype=np.float64)[:, None]
        low, high = values[:, :-1] - target, values[:, 1:] - target
        middle, rise = 0.5 * (low + high), high - low
        level, width = 0.5 * (tau[:-1] + tau[1:]), np.diff(tau)
        # On each segment the mean of |Q - y|, and that of (2 tau - 1) (Q - y).
        with np.errstate(divide="ignore", invalid="ignore"):
            crossing = 0.5 * (low**2 + high**2) / rise
        distance = np.where((low < 0) & (high > 0), crossing, np.abs(middle))
        spread = (2.0 * level - 1.0) * middle + rise * width / 6.0
        return np.asarray((distance - spread) @ width)

    def _with_ends(self, values: Matrix) -> tuple[Matrix, Vector]:
        """Return the quantile functions from level 0 to 1, and the levels."""
        return values[:, [0, *range(values.shape[1]), -1]], np.r_[0.0, self.quantiles_, 1.0]

    def predict_interval(self, X: Any, coverage: float = 0.9) -> NDArray[np.float64]:
        """Return central prediction intervals.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
        coverage : float, default=0.9

        Returns
        -------
        ndarray of shape (n_samples, 2)
            Lower and upper ends.
        """
        checked_share("coverage", coverage)
        return self.quantile(X, [0.5 - 0.5 * coverage, 0.5 + 0.5 * coverage])

    def score(self, X: Any, y: Any = None, sample_weight: ArrayLike | None = None) -> float:
        """Return minus the mean of `crps`, so that larger is better.

        Parameters
        ----------
        X : array-like, sparse matrix of shape (n_samples, n_features), or source of rows
        y : array-like of shape (n_samples,)
            Targets; rows in blocks hold them.
        sample_weight : array-like of shape (n_samples,), optional

        Returns
        -------
        float
        """
        X, y, sample_weight = with_targets(X, y, sample_weight)
        return -float(np.average(self.crps(X, y), weights=cast(Any, sample_weight)))

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.regressor_tags.poor_score = True  # its score is not R^2
        return tags
