"""Quantile and expectile regression: scikit-learn's objective, several quantiles, no crossing."""

from __future__ import annotations

import copy
import warnings
from collections.abc import Sequence
from dataclasses import replace
from typing import Any, Self, Unpack

import numpy as np
from numpy.typing import ArrayLike

from rectiline import rows as row_sources
from rectiline._polling import Clock
from rectiline._typing import Vector
from rectiline.estimators._check import as_numpy, column_names
from rectiline.estimators._docs import documented
from rectiline.estimators._non_crossing import Region, fit_without_crossing
from rectiline.estimators._parameters import (
    TableParameters,
    TermParameters,
    is_adaptive,
    keeps_parameters,
)
from rectiline.estimators._proofs import ProvedAgain
from rectiline.estimators._quantile_base import BaseQuantile
from rectiline.estimators._quantile_problems import StackedQuantiles
from rectiline.estimators._rows import refuse_on_rows
from rectiline.estimators._scores import SummedScore
from rectiline.estimators._search import SearchMixin
from rectiline.estimators._tasks import FitData
from rectiline.penalties import Penalty
from rectiline.problems import Problem
from rectiline.rows import TensorRows
from rectiline.solvers import Solution

# Points at which a pair of quantiles is kept apart from which on interior points are quicker than
# Newton's method: 0.6 instead of 3.2 s for 25 quantiles of 1,000 x 20 with 20 points a pair.
_MANY_POINTS = 15
_DEFAULT_ALPHA = 1.0  # that of scikit-learn


@documented()
class QuantileRegressor(BaseQuantile):
    """Linear quantile regression, a drop-in replacement for scikit-learn's.

    Minimises ``1/W sum_i w_i pinball(y_i - x_i'b - b0) + alpha * penalty(b)`` with W the sum of the
    weights and ``penalty(b) = l1_ratio |b|_1 + (1 - l1_ratio)/2 |b|^2``; the default, the L1 norm,
    is scikit-learn's objective.

    Parameters
    ----------
    quantile : float or list of float, default=0.5
        Quantiles to fit, strictly between 0 and 1. A list fits them all, with own slopes, and
        predictions get one column for each.
    alpha : float, default=1.0
        Strength of the penalty, >= 0.
    l1_ratio : float, default=1.0
        Share of the L1 norm in the "elasticnet" penalty; 0 is ridge.
    loss : {"pinball", "expectile"}, default="pinball"
        "expectile" fits expectiles by asymmetric squares, which react to the size of errors.
    non_crossing : bool or "box", default=False
        Whether a higher quantile must lie above a lower one: with True at every training row, and
        so on the convex hull of the training data, with "box" everywhere on their bounding box.
        Quantiles that would cross become one problem with linear constraints, which are generated
        where they are violated; the others are fitted on their own.
    shared_slopes : bool, default=False
        Composite quantile regression: one slope vector for all quantiles, own intercepts. The
        loss is the mean over the quantiles, and they cannot cross.
    penalty : str, Penalty or None, default="elasticnet"
        The penalty on the coefficients, times alpha; see `PLQRegressor`. Joint fits take sums
        over columns only, such as "elasticnet", "l1" and "l2".
    penalty_params : dict, optional
        ``{"groups": ...}`` for "group" and "sparse_group", ``{"weights": ...}`` for "l1",
        ``{"q": ...}`` or ``{"strengths": ...}`` for "slope".
    {constraints}
    {effects}
    {tables}
    inference : str, optional
        Keep a summary of this kind at the fit, such as "nid"; see `summary`.
    {fit_intercept}
    {running_tight}
    {warm_start}

    Attributes
    ----------
    coef_ : ndarray of shape (n_features,) or (n_quantiles, n_features)
    intercept_ : float or ndarray of shape (n_quantiles,)
    quantiles_ : ndarray
        The quantiles of the columns of a prediction.
    summary_ : SummaryTable or SummaryTables
        What ``summary()`` returns; only with `inference`.
    {proof}

    Notes
    -----
    The names of scikit-learn's solvers ("highs" and others) are accepted and mean "auto"; their
    ``solver_options`` are then ignored.

    Examples
    --------
    >>> import numpy as np
    >>> from rectiline.estimators import QuantileRegressor
    >>> rng = np.random.default_rng(0)
    >>> X = rng.uniform(0, 10, (500, 1))
    >>> y = X[:, 0] + (1 + 0.3 * X[:, 0]) * rng.standard_normal(500)
    >>> model = QuantileRegressor(quantile=0.8, alpha=0).fit(X, y)
    >>> round(float(np.mean(y <= model.predict(X))), 2)
    0.8
    """

    @keeps_parameters(TermParameters, penalty="elasticnet", tol=1e-9)
    def __init__(
        self,
        *,
        quantile: Any = 0.5,
        alpha: float = _DEFAULT_ALPHA,
        l1_ratio: float = 1.0,
        loss: str = "pinball",
        non_crossing: bool | str = False,
        shared_slopes: bool = False,
        inference: str | None = None,
        warm_start: bool = False,
        **shared: Unpack[TermParameters],
    ) -> None: ...

    def _fit(self, X: Any, y: Any, sample_weight: Any, *given: Any, **params: Any) -> Self:
        super()._fit(X, y, sample_weight, *given, **params)
        self.__dict__.pop("summary_", None)
        if self.alpha == _DEFAULT_ALPHA and self.n_features_in_ and not np.any(self.coef_):
            warnings.warn(
                f"{type(self).__name__}: the penalty of the default alpha={self.alpha:g} makes "
                "every coefficient zero. Set alpha=0 for no penalty, or choose it by "
                "QuantileRegressorCV.",
                UserWarning,
                stacklevel=2,
            )
        if self.inference is not None:
            self.summary_ = self.summary(X, y, self.inference, sample_weight=sample_weight)
        return self

    # ---- several quantiles in one problem -------------------------------------------------------

    @property
    def _is_joint(self) -> bool:
        return bool(self.non_crossing or self.shared_slopes) and self.quantiles_.size > 1

    @property
    def _always_lists(self) -> bool:  # type: ignore[override]
        return self._is_list and not self._is_joint

    def _joint_strengths(self, data: FitData) -> tuple[Vector, Vector]:
        """Return the strengths of the ridge and of the L1 norm for each column."""
        penalty = self._penalty(self._strength(data))
        if penalty is None:
            return np.zeros(self.n_features_in_), np.zeros(self.n_features_in_)
        adds_up = isinstance(penalty, Penalty) and not is_adaptive(self)
        parts: Any = penalty.separable(self.n_features_in_) if adds_up else None
        if parts is None:
            raise ValueError(
                f"penalty={self.penalty!r}, penalty_params={self.penalty_params!r}: quantiles that "
                "are fitted jointly (non_crossing, shared_slopes) take penalties that are sums "
                "over columns ('elasticnet', 'l1', 'l2'), without adaptive weights."
            )
        return parts[0], parts[1]

    def _stacked(self, data: FitData) -> StackedQuantiles:
        """Return the one problem of all quantiles, from the lowest to the highest."""
        strengths = self._joint_strengths(data)  # what is refused is refused before a pass
        refuse_on_rows(self, **{"a joint fit on a GPU": isinstance(data.rows, TensorRows)})
        if self._n_effects:
            raise ValueError(
                "fixed_effects do not go with non_crossing and shared_slopes: fit the quantiles "
                "one by one, or give the effects as columns with categorical='onehot'."
            )
        losses = [self._loss(q) for q in np.sort(self.quantiles_)]
        rows = self._task_problem(data, data.tasks[0]).terms.region.rows
        shared = bool(self.shared_slopes)
        return StackedQuantiles(data, losses, self.fit_intercept, strengths, rows, shared)

    def _region(self, data: FitData) -> Region:
        """Return where the quantiles must not cross."""
        rows = data.rows if data.rows is not None else row_sources.of(data.X, data.y, data.weight)
        return Region.of(rows, self.non_crossing == "box")

    def _solve_tasks(
        self, data: FitData, clock: Clock, **params: Any
    ) -> tuple[FitData, list[Solution]]:
        if not self._is_joint:
            return super()._solve_tasks(data, clock, **params)
        stacked = self._stacked(data)
        if self.shared_slopes:
            (solution,) = self._solve([stacked.problem()], data, clock)
        else:
            singles: list[Problem] = []
            if data.rows is None:
                made = super()._problems(data)
                singles = [made[k] for k in np.argsort(self.quantiles_)]

            def solve(problems: Sequence[Problem], n_points: int) -> list[Solution]:
                # A polish leaves the multipliers of constraint rows as they are.
                changes: dict[str, Any] = {"polish": False} if n_points else {}
                if n_points >= _MANY_POINTS and data.rows is None and self._run_solver() == "auto":
                    changes["solver"] = "interior"
                return self._solve(problems, data, clock, **changes)

            stacked, solution = fit_without_crossing(
                stacked, self._region(data), singles, solve, lambda: clock.is_late, self.tol
            )
        return replace(data, joint=stacked), [solution]

    def _set_fitted(self, data: FitData, solutions: list[Solution]) -> None:
        self.__dict__.pop("_points", None)
        if data.joint is None:
            super()._set_fitted(data, solutions)
            return
        super()._set_fitted(replace(data, tasks=data.tasks[:1]), solutions)
        back = np.argsort(np.argsort(self.quantiles_))
        slopes, intercepts = data.joint.unpack(solutions[0].coef)
        self.coef_, self.intercept_ = slopes[back], intercepts[back]
        self._points = data.joint.points
        if hasattr(self, "dual_coef_"):  # rows in blocks have none
            self.dual_coef_ = self.dual_coef_.reshape(self.quantiles_.size, -1)[back]

    def _problems(self, data: FitData) -> list[Problem]:
        if not self._is_joint:
            return super()._problems(data)
        names = column_names(self)
        features = [f"x{k}" for k in range(self.n_features_in_)] if names is None else list(names)
        stacked = replace(self._stacked(data), points=getattr(self, "_points", ()))
        return [stacked.problem(features, np.sort(self.quantiles_).tolist())]

    def _objective_units(self, data: FitData) -> list[float]:
        units = super()._objective_units(data)
        return units[:1] if self._is_joint else units

    def verify(
        self, X: Any, y: ArrayLike | None = None, sample_weight: Any = None, **fit_params: Any
    ) -> Any:
        """Prove again how good the coefficients are; quantiles are also compared at every row."""
        proof: Any = super().verify(X, y, sample_weight, **fit_params)
        if not self.non_crossing or self.quantiles_.size == 1:
            return proof
        up = np.argsort(self.quantiles_)
        region = self._region(copy.copy(self)._read(X, y, sample_weight, **fit_params))
        return region.checked(proof, as_numpy(self.coef_)[up], as_numpy(self.intercept_)[up])

    def _shown(self, again: ProvedAgain) -> ProvedAgain:
        if not self._is_joint:
            return again
        (solution,), model = again.solutions, again.model
        problems = super(QuantileRegressor, model)._problems(again.data)
        rows, dual = problems[0].constraint_rows, solution.dual
        copies = 1 if self.shared_slopes else len(problems)
        n_points = dual.inequality.size - copies * rows.A.shape[0]
        own = dual.inequality[n_points:].reshape(copies, -1)
        exact = dual.equality.reshape(copies, -1)
        places = np.argsort(np.argsort(self.quantiles_)) % copies  # multipliers go up the levels
        found = zip(as_numpy(self.coef_), as_numpy(self.intercept_).tolist(), places, strict=True)
        parts = [
            replace(
                solution,
                coef=coef,
                intercept=intercept,
                dual=replace(dual, inequality=own[place], equality=exact[place]),
            )
            for coef, intercept, place in found
        ]
        words = f"The {len(problems)} quantiles are fitted together: " + (
            "they share their slopes, and the mean of their losses is minimised."
            if self.shared_slopes
            else "the sum of their objectives is minimised, and none may cross the next one, which "
            f"takes constraints at {n_points} points."
        )
        return replace(again, problems=problems, solutions=parts, joint=(words, solution))

    # ---- standard errors ------------------------------------------------------------------------

    def _penalty_in_words(self) -> str | None:
        if self.shared_slopes and self.quantiles_.size > 1:
            return "slopes shared by all quantiles"
        return super()._penalty_in_words()

    def _active_constraint(self, X: Any) -> str | None:
        if self.non_crossing and self.quantiles_.size > 1:
            return "the quantiles were fitted under the constraint not to cross"
        return super()._active_constraint(X)


@documented()
class QuantileRegressorCV(SearchMixin, BaseQuantile):
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
