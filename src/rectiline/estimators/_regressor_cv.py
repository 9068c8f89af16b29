"""Regression with the strength chosen by cross-validation."""

from __future__ import annotations

from typing import Any

import numpy as np

from rectiline.estimators._docs import documented
from rectiline.estimators._parameters import keep_parameters
from rectiline.estimators._regressor import PLQRegressor
from rectiline.estimators._search import SearchMixin
from rectiline.estimators._search_folds import ScoreFold, r2_of
from rectiline.estimators._tasks import FitData
from rectiline.losses import Loss
from rectiline.penalties import Penalty

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

    def __init__(
        self,
        loss: str | Loss = "huber",
        *,
        loss_params: dict[str, Any] | None = None,
        Cs: Any = 30,
        l1_ratios: Any = None,
        penalty: str | Penalty = "l2",
        penalty_params: dict[str, Any] | None = None,
        constraints: Any = (),
        monotone: dict[Any, int] | None = None,
        order: Any = None,
        cv: Any = None,
        scoring: Any = None,
        fold_tol: float | None = None,
        fit_intercept: bool = True,
        solver: str = "auto",
        solver_options: dict[str, Any] | None = None,
        tol: float = 1e-6,
        max_iter: int | None = None,
        time_limit: float | None = None,
        n_jobs: int | None = None,
        random_state: Any = None,
        verbose: int = 0,
        progress_bar: bool = False,
        callback: Any = None,
    ) -> None:
        keep_parameters(self, locals())

    def _own_score(self, data: FitData) -> ScoreFold | None:
        targets = np.column_stack([task.targets for task in data.tasks])
        return r2_of(data.X, targets, data.weight)
