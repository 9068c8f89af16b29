"""Quantile regression with the strength chosen by cross-validation."""

from __future__ import annotations

import time
from functools import partial
from numbers import Integral
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils._param_validation import Interval
from sklearn.utils.validation import check_is_fitted

from rectiline.estimators._check import check_data, check_design, check_weight
from rectiline.estimators._chooses import ChoosesStrength
from rectiline.estimators._docs import documented
from rectiline.estimators._fitted import store_solutions
from rectiline.estimators._intervals import checked_levels, explained_loss
from rectiline.estimators._parameters import GRID
from rectiline.estimators._quantile import QuantileRegressor
from rectiline.estimators._scoring import predictions, rows_of, scorer_of
from rectiline.estimators._search import MakeProblem, ScoreFold, ScorePoints, grid_values
from rectiline.estimators._state import keep_parameters, restored_on_failure
from rectiline.estimators._typed import checked_fit
from rectiline.penalties import Penalty
from rectiline.problems import Problem

__all__ = ["QuantileRegressorCV"]

# Parameters of `QuantileRegressor` that a search does not have.
_FIXED = (
    "non_crossing",
    "shared_slopes",
    "penalty",
    "penalty_params",
    "constraints",
    "monotone",
    "order",
    "inference",
)


@documented()
class QuantileRegressorCV(ChoosesStrength, QuantileRegressor):
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

    _parameter_constraints: dict[str, list[Any]] = {
        **{
            name: rule
            for name, rule in QuantileRegressor._parameter_constraints.items()
            if name not in (*_FIXED, "alpha", "l1_ratio", "warm_start")
        },
        **{name: rule for name, rule in GRID.items() if name != "Cs"},
        "alphas": [Interval(Integral, 1, None, closed="left"), "array-like"],
    }
    non_crossing = False
    shared_slopes = False
    penalty = "elasticnet"
    penalty_params = None
    constraints = ()
    monotone = None
    order = None
    inference = None

    def __init__(
        self,
        *,
        quantile: Any = 0.5,
        alphas: Any = 30,
        l1_ratios: Any = (1.0,),
        loss: str = "pinball",
        cv: Any = None,
        scoring: Any = None,
        fold_tol: float | None = None,
        fit_intercept: bool = True,
        solver: str = "auto",
        solver_options: dict[str, Any] | None = None,
        tol: float = 1e-9,
        max_iter: int | None = None,
        time_limit: float | None = None,
        n_jobs: int | None = None,
        random_state: Any = None,
        verbose: int = 0,
        progress_bar: bool = False,
        callback: Any = None,
    ) -> None:
        keep_parameters(self, locals())

    @checked_fit
    def fit(
        self,
        X: Any,
        y: ArrayLike | None = None,
        sample_weight: ArrayLike | None = None,
        **params: Any,
    ) -> QuantileRegressorCV:
        """Choose alpha on folds and fit on all the data.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
        y : array-like of shape (n_samples,)
        sample_weight : array-like of shape (n_samples,), optional
            Non-negative weights, of losses and of scores.
        **params
            ``groups`` for the splitter, and what metadata routing sends there.

        Returns
        -------
        self
        """
        with restored_on_failure(self):
            return self._fit_cv(X, y, sample_weight, params)

    def _fit_cv(
        self, X: Any, y: Any, sample_weight: Any, params: dict[str, Any]
    ) -> QuantileRegressorCV:
        began = time.perf_counter()
        X, y = check_data(self, X, y, numeric_y=True, multi_output=False)
        y = np.asarray(y, dtype=np.float64)
        weight = check_weight(sample_weight, X)
        self.quantiles_ = checked_levels(self.quantile)
        losses = [self._loss(q) for q in self.quantiles_]
        design = check_design(X)

        def problem(task: int, penalty: Penalty | None, used: NDArray[np.float64]) -> Problem:
            return Problem(
                design,
                y,
                loss=losses[task],
                penalty=penalty,
                sample_weight=used,
                fit_intercept=self.fit_intercept,
            )

        def make(task: int, ratio: float | None, keep: NDArray[np.bool_] | None) -> Problem:
            used = weight if keep is None else np.where(keep, weight, 0.0)
            # Losses as means: the strength of the penalty is alpha itself, on every fold.
            return problem(task, self._penalty_at(1.0, 1.0, ratio), used / used.sum())

        def explained(test: NDArray[np.intp]) -> ScorePoints:
            part, share = rows_of(X, test), explained_loss(losses, y[test], weight[test])
            return lambda coefs, intercepts: share(predictions(part, coefs, intercepts))

        score: ScoreFold = explained
        if self.scoring is not None:
            given = None if sample_weight is None else weight
            fitted = {"quantiles_": self.quantiles_}
            score = scorer_of(self, self.scoring, X, y, given, fitted, not self._is_list)
        chosen = self._choose(X, y, len(losses), make, score, params, began)
        self.alpha_, self.alphas_ = chosen.strength, chosen.strengths
        table = dict(chosen.results)
        self.cv_results_ = {"param_alpha": table.pop("strength"), **table}
        total = float(weight.sum())
        penalty = self._penalty_at(total, self.alpha_, self.l1_ratio_)
        makers = [partial(problem, task, penalty, weight) for task in range(len(losses))]
        solutions = self._solve_chosen(chosen, makers, total, began)
        store_solutions(self, solutions, rows=self._is_list)
        self._state_certificates_in(1.0 / total)
        return self

    def _problems(self, X: Any, y: Any, sample_weight: Any = None) -> list[Problem]:
        check_is_fitted(self)
        return super()._problems(X, y, sample_weight)

    def _ratios(self) -> list[float | None]:
        return [float(one) for one in self.l1_ratios]

    def _grid(self, make: MakeProblem, ratio: float | None, n_tasks: int) -> NDArray[np.float64]:
        problems = (make(task, ratio, None) for task in range(n_tasks))
        strengths, values = grid_values(self.alphas, problems, "alphas")
        if strengths is not None:
            return strengths
        assert values is not None
        return np.sort(values)[::-1].copy()
