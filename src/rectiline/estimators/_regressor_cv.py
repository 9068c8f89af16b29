"""Regression with the strength chosen by cross-validation."""

from __future__ import annotations

from typing import Any, Unpack

from rectiline.estimators._docs import documented
from rectiline.estimators._parameters import TermParameters, keeps_parameters
from rectiline.estimators._regressor import PLQRegressor
from rectiline.estimators._search import SearchMixin
from rectiline.losses import Loss

__all__ = ["PLQRegressorCV"]


@documented()
class PLQRegressorCV(SearchMixin, PLQRegressor):
    """`PLQRegressor` with C, and the mix of an elastic net, chosen by cross-validation.

    Every fold follows a warm-started path from the strongest penalty down, in parallel threads
    that share X; then the path is solved on all the data. Every point of it has a certificate.
    Several columns of y share one C.

    Parameters
    ----------
    loss : str or Loss, default="huber"
        As for `PLQRegressor`.
    {relative_loss_params}
    {Cs}
    {penalty}
    {constraints}
    {effects}
    {tables}
    {cv}
    {fit_intercept}
    {running}

    Attributes
    ----------
    coef_ : ndarray of shape (n_features,) or (n_outputs, n_features)
    intercept_ : float or ndarray of shape (n_outputs,)
    {relative}
    {chosen}
    {proof}

    Notes
    -----
    A width "auto" is found once, on all the data, as for `PLQRegressor`; the folds share it.

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from rectiline.estimators import PLQRegressorCV
    >>> X, y = load_diabetes(return_X_y=True)
    >>> model = PLQRegressorCV(loss="absolute", penalty="l1", Cs=10).fit(X, y)
    >>> model.path_.relative_gaps.max() <= 1e-6, model.score(X, y) > 0.4
    (np.True_, True)
    """

    @keeps_parameters(TermParameters)
    def __init__(
        self,
        loss: str | Loss = "huber",
        *,
        loss_params: dict[str, Any] | None = None,
        Cs: Any = 30,
        l1_ratios: Any = None,
        cv: Any = None,
        scoring: Any = None,
        fold_tol: float | None = None,
        **shared: Unpack[TermParameters],
    ) -> None: ...
