"""Quantile regression whose penalty is chosen by cross-validation."""

from __future__ import annotations

from typing import Any, Unpack

from rectiline.estimators._parameters import TableParameters, keeps_parameters
from rectiline.estimators._quantile import QuantileRegressor
from rectiline.estimators._scores import SummedScore
from rectiline.estimators._search import SearchMixin
from rectiline.estimators._tasks import FitData
from rectiline.penalties import Penalty


class QuantileRegressorCV(SearchMixin, QuantileRegressor):
    """`QuantileRegressor` with alpha, and l1_ratio, chosen by cross-validation.

    Several quantiles share one alpha. Folds follow warm-started paths in threads that share X.

    Parameters
    ----------
    quantile : float or list of float, default=0.5
        Quantiles to fit, strictly between 0 and 1.
    alphas : int or array-like, default=30
        Strengths to try, or how many: then from the smallest that gives all-zero coefficients,
        computed exactly, down; see `rectiline.paths.default_strengths`.
    l1_ratios : array-like, default=(1.0,)
        Shares of the L1 norm to try.
    loss : {"pinball", "expectile"}, default="pinball"
        What is fitted.
    penalty : str or Penalty, default="elasticnet"
        The penalty on the coefficients, times alpha.
    constraints : Constraint, dict, str, or list of these, default=()
        As for `QuantileRegressor`.
    {tables}
    {cv}
    {fit_intercept}
    {running_tight}

    Attributes
    ----------
    alpha_ : float
        The chosen strength.
    l1_ratio_ : float
        The chosen share.
    alphas_ : ndarray
        The strengths of ``path_``.
    coef_ : ndarray of shape (n_features,) or (n_quantiles, n_features)
    intercept_ : float or ndarray of shape (n_quantiles,)
    quantiles_ : ndarray
        The quantiles of the columns of a prediction.
    path_ : Path or tuple of Path
        All strengths on all the data, for the chosen share, in the units of a mean of losses:
        certified to `fold_tol`.
    cv_results_ : dict of ndarray
        One entry per point of the grid: ``param_alpha``, scores of the folds, their mean and rank.
    {proof}

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from rectiline.estimators import QuantileRegressorCV
    >>> X, y = load_diabetes(return_X_y=True)
    >>> model = QuantileRegressorCV(quantile=0.75, alphas=8).fit(X, y)
    >>> bool(model.alpha_ < model.alphas_[0]), model.pinball_score(X, y) > 0.2
    (True, True)
    """

    _searched = "alpha"

    @keeps_parameters(TableParameters, tol=1e-9)
    def __init__(
        self,
        *,
        quantile: Any = 0.5,
        alphas: Any = 30,
        l1_ratios: Any = (1.0,),
        loss: str = "pinball",
        penalty: str | Penalty = "elasticnet",
        constraints: Any = (),
        cv: Any = None,
        scoring: Any = None,
        fold_tol: float | None = None,
        **shared: Unpack[TableParameters],
    ) -> None: ...

    def _exchanged(self, values: Any, unit: float) -> Any:
        return values

    def _path_factor(self, weight: float) -> float:
        """Return what makes losses means: the strength of the penalty is alpha on every fold."""
        return 1.0 / weight

    def _own_score(self, data: FitData) -> SummedScore | None:
        return self._explained_loss()
