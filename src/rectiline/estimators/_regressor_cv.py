"""Regression with the strength chosen by cross-validation."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import _fit_context

from rectiline.estimators._check import check_data, check_design, check_weight
from rectiline.estimators._chooses_c import ChoosesC
from rectiline.estimators._docs import documented
from rectiline.estimators._fairness import FairnessData, bound_constraints
from rectiline.estimators._fitted import store_solutions
from rectiline.estimators._parameters import GRID, make_loss
from rectiline.estimators._regressor import PLQRegressor
from rectiline.estimators._run import RunOptions
from rectiline.estimators._scoring import r2_of, scorer_of
from rectiline.estimators._search import Search
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
            if name not in ("C", "l1_ratio")
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
        warm_start: bool = False,
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
        loss = make_loss(self.loss, self.loss_params, of=("residual",))
        X, y = check_data(self, X, y, numeric_y=True, multi_output=True)
        weight = check_weight(sample_weight, X)
        groups = FairnessData.read(sensitive, X.shape[0])
        constraints = self._listed_constraints()
        design = check_design(X)
        targets = np.asarray(y[:, None] if y.ndim == 1 else y, dtype=np.float64)

        def make(
            task: int, ratio: float | None, keep: NDArray[np.bool_] | None, factor: float
        ) -> Problem:
            return Problem(
                design,
                targets[:, task],
                loss=loss,
                penalty=self._penalty(l1_ratio=ratio),
                constraints=bound_constraints(constraints, groups, None, keep),
                sample_weight=factor * (weight if keep is None else np.where(keep, weight, 0.0)),
                fit_intercept=self.fit_intercept,
            )

        if self.scoring is None:
            score = r2_of(X, targets, weight)
        else:
            given = None if sample_weight is None else weight
            score = scorer_of(self, self.scoring, X, y, given, {}, y.ndim == 1)
        search = Search(
            n_samples=X.shape[0],
            n_tasks=targets.shape[1],
            make=make,
            score=score,
            folds=self._folds(X, y, params, classifier=False),
            l1_ratios=self._ratios(),
            strengths=self._grids(make, targets.shape[1]),
            options=RunOptions.of(self),
        )
        store_solutions(self, self._choose(search), rows=y.ndim > 1)
        self._set_fairness(X, groups)
        return self
