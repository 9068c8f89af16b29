"""Regression with the strength chosen by cross-validation."""

from __future__ import annotations

import time
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import _fit_context

from rectiline.estimators._chooses import ChoosesC
from rectiline.estimators._docs import documented
from rectiline.estimators._parameters import GRID
from rectiline.estimators._regressor import PLQRegressor
from rectiline.estimators._scoring import r2_of, scorer_of
from rectiline.estimators._state import keep_parameters, restored_on_failure
from rectiline.losses import Loss
from rectiline.penalties import Penalty
from rectiline.problems import Problem

__all__ = ["PLQRegressorCV"]


@documented()
class PLQRegressorCV(ChoosesC, PLQRegressor):
    """`PLQRegressor` with C, and the mix of an elastic net, chosen by cross-validation.

    Every fold follows a warm-started path from the strongest penalty down, in parallel threads
    that share X; then the path is solved on all the data. Every point of it has a certificate.
    Several columns of y share one C.

    Parameters
    ----------
    Cs : int or array-like, default=30
        Values of C to try, or how many: then from the largest C that gives all-zero coefficients
        (computed exactly for norm penalties) up; see `rectiline.paths.default_strengths`.
    l1_ratios : array-like, optional
        Mixes to try with ``penalty="elasticnet"``; 0.5 by default.
    loss : str or Loss, default="huber"
        As for `PLQRegressor`.
    {loss_params}
    {penalty}
    {constraints}
    {cv}
    {fit_intercept}
    {running}

    Attributes
    ----------
    C_ : float
        The chosen C.
    l1_ratio_ : float or None
        The chosen mix.
    Cs_ : ndarray
        The values of C of ``path_``.
    coef_ : ndarray of shape (n_features,) or (n_outputs, n_features)
    intercept_ : float or ndarray of shape (n_outputs,)
    path_ : Path or tuple of Path
        All strengths on all the data, for the chosen mix.
    cv_results_ : dict of ndarray
        One entry per point of the grid: ``param_C``, scores of the folds, their mean and rank.
    {proof}

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from rectiline.estimators import PLQRegressorCV
    >>> X, y = load_diabetes(return_X_y=True)
    >>> model = PLQRegressorCV(loss="absolute", penalty="l1", Cs=10).fit(X, y)
    >>> model.path_.relative_gaps.max() <= 1e-6, model.score(X, y) > 0.4
    (np.True_, True)
    """

    _parameter_constraints: dict[str, list[Any]] = {
        **{
            name: rule
            for name, rule in PLQRegressor._parameter_constraints.items()
            if name not in ("C", "l1_ratio", "warm_start")
        },
        **GRID,
    }

    def __init__(
        self,
        Cs: Any = 30,
        *,
        l1_ratios: Any = None,
        loss: str | Loss = "huber",
        loss_params: dict[str, Any] | None = None,
        penalty: str | Penalty = "l2",
        penalty_params: dict[str, Any] | None = None,
        constraints: Any = (),
        monotone: dict[Any, int] | None = None,
        order: Any = None,
        cv: Any = None,
        scoring: Any = None,
        fit_intercept: bool = True,
        solver: str = "auto",
        solver_options: dict[str, Any] | None = None,
        tol: float = 1e-6,
        max_iter: int | None = None,
        time_limit: float | None = None,
        n_jobs: int | None = None,
        random_state: Any = None,
        verbose: int = 0,
        callback: Any = None,
    ) -> None:
        keep_parameters(self, locals())

    @_fit_context(prefer_skip_nested_validation=True)  # type: ignore[untyped-decorator]
    def fit(
        self,
        X: Any,
        y: ArrayLike,
        sample_weight: ArrayLike | None = None,
        sensitive_features: Any = None,
        **params: Any,
    ) -> PLQRegressorCV:
        """Choose C on folds and fit on all the data.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
        y : array-like of shape (n_samples,) or (n_samples, n_outputs)
        sample_weight : array-like of shape (n_samples,), optional
            Non-negative weights, of losses and of scores.
        sensitive_features : array-like of shape (n_samples,) or (n_samples, k), optional
            What fairness constraints without columns of their own are about.
        **params
            ``groups`` for the splitter, and what metadata routing sends there.

        Returns
        -------
        self
        """
        with restored_on_failure(self):
            return self._fit_cv(X, y, sample_weight, sensitive_features, params)

    def _fit_cv(
        self, X: Any, y: Any, sample_weight: Any, sensitive: Any, params: dict[str, Any]
    ) -> PLQRegressorCV:
        began = time.perf_counter()
        data = self._read(X, y, sample_weight, sensitive)
        outputs = range(data.targets.shape[1])

        def make(task: int, ratio: float | None, keep: NDArray[np.bool_] | None) -> Problem:
            return self._problem(data, task, self._penalty(l1_ratio=ratio), keep)

        if self.scoring is None:
            score = r2_of(data.X, data.targets, data.weight)
        else:
            given = None if sample_weight is None else data.weight
            score = scorer_of(self, self.scoring, data.X, data.y, given, {}, data.y.ndim == 1)
        chosen = self._choose(data.X, data.y, len(outputs), make, score, params, classifier=False)
        C = self._note_C(chosen)
        penalty = self._penalty(l1_ratio=chosen.l1_ratio)
        makers = [partial(self._problem, data, task, penalty, factor=C) for task in outputs]
        return self._keep(data, self._solve_chosen(chosen, makers, C, began))
