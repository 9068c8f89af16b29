"""Quantile and expectile regression: scikit-learn's objective, several quantiles, no crossing."""

from __future__ import annotations

import copy
import warnings
from collections.abc import Sequence
from dataclasses import replace
from numbers import Real
from typing import Any, Self, Unpack, cast

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import RegressorMixin
from sklearn.utils._param_validation import StrOptions

from rectiline import rows as row_sources
from rectiline._polling import Clock
from rectiline._typing import Vector
from rectiline.estimators._check import as_numpy, column_names, like
from rectiline.estimators._inference import InferenceTerms
from rectiline.estimators._linear import LinearFitMixin
from rectiline.estimators._non_crossing import Region, fit_without_crossing
from rectiline.estimators._parameters import TermParameters, keeps_parameters
from rectiline.estimators._proofs import ProvedAgain, shown_one_by_one
from rectiline.estimators._quantile_problems import StackedQuantiles
from rectiline.estimators._rows import with_targets
from rectiline.estimators._scores import SummedScore
from rectiline.estimators._tasks import FitData, Task
from rectiline.losses import Expectile, Loss, Pinball
from rectiline.problems import Problem
from rectiline.solvers import Solution

# What scikit-learn calls its solvers; they are accepted and mean "auto".
_SCIPY_SOLVERS = ("highs", "highs-ds", "highs-ipm", "interior-point", "revised simplex")
# Points at which a pair of quantiles is kept apart from which on interior points are quicker than
# Newton's method: 0.6 instead of 3.2 s for 25 quantiles of 1,000 x 20 with 20 points a pair.
_MANY_POINTS = 15
_DEFAULT_ALPHA = 1.0  # that of scikit-learn


class QuantileRegressor(RegressorMixin, LinearFitMixin[np.float64]):  # type: ignore[misc]
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

    _own_rules = {"loss": [StrOptions({"pinball", "expectile"})]}
    quantiles_: Vector

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
        alpha = getattr(self, "alpha", None)  # a search chooses it
        if alpha == _DEFAULT_ALPHA and self.n_features_in_ and not np.any(self.coef_):
            warnings.warn(
                f"{type(self).__name__}: the penalty of the default alpha={alpha:g} makes "
                "every coefficient zero. Set alpha=0 for no penalty, or choose it by "
                "QuantileRegressorCV.",
                UserWarning,
                stacklevel=2,
            )
        if getattr(self, "inference", None) is not None:
            self.summary_ = self.summary(X, y, self.inference, sample_weight=sample_weight)
        return self

    def _asked_levels(self) -> Any:
        """Return the level, or the levels, to fit."""
        return self.quantile

    @property
    def _is_list(self) -> bool:
        return not isinstance(self._asked_levels(), Real)

    @property
    def _is_joint(self) -> bool:
        asked = (getattr(self, name, False) for name in ("non_crossing", "shared_slopes"))
        return any(asked) and self.quantiles_.size > 1

    @property
    def _always_lists(self) -> bool:  # type: ignore[override]
        return self._is_list and not self._is_joint

    def _run_solver(self) -> str:
        return "auto" if self.solver in _SCIPY_SOLVERS else self.solver

    def _loss(self, level: float) -> Loss:
        kind = Pinball if self.loss == "pinball" else Expectile
        return kind(float(level))

    def _with_tasks(self, data: FitData) -> FitData:
        self.quantiles_ = _checked_levels(self._asked_levels())
        y = None if data.rows is not None else np.asarray(data.y, dtype=np.float64)
        total = float(data.weight.sum()) if data.rows is None else data.rows.total_weight()
        if not total > 0:
            raise ValueError("The weights of the rows must not all be zero.")
        tasks = [Task(self._loss(level), y) for level in self.quantiles_]
        return replace(data, y=y, total=total, tasks=tasks)

    def _has_coef_rows(self, data: FitData) -> bool:
        return self._is_list

    def _strength(self, data: FitData) -> float:
        alpha: float = self.alpha if hasattr(self, "alpha") else self.alpha_  # a search chooses it
        return data.total * alpha

    def _penalty(self, strength: float = 1.0, l1_ratio: float | None = None) -> Any:
        return None if strength == 0.0 else super()._penalty(strength, l1_ratio)

    def _problems(self, data: FitData) -> list[Problem]:
        if self._is_joint:
            names, d = column_names(self), self.n_features_in_
            features = [f"x{k}" for k in range(d)] if names is None else list(names)
            joint = replace(StackedQuantiles.of(self, data), points=getattr(self, "_points", ()))
            return [joint.problem(features, np.sort(self.quantiles_).tolist())]
        return self._single_problems(data)

    def _single_problems(self, data: FitData) -> list[Problem]:
        """Return one problem for each level."""
        return super()._problems(data)

    def _objective_units(self, data: FitData) -> list[float]:
        return [1.0 / data.total] * (1 if self._is_joint else len(data.tasks))

    def _inference_terms(self, y: NDArray[Any]) -> InferenceTerms:
        losses = self._explained_loss().losses
        return losses, np.asarray(self.quantiles_), np.asarray(y, dtype=np.float64)

    def _penalty_in_words(self) -> str | None:
        if self._is_joint and self.shared_slopes:
            return "slopes shared by all quantiles"
        alpha = getattr(self, "alpha_", getattr(self, "alpha", None))
        return None if alpha == 0.0 or self.penalty is None else f"alpha={alpha:g}"

    def _coef_titles(self) -> list[Any]:
        return [float(q) for q in self.quantiles_] if self._is_list else ["coef"]

    def _quantiles_at(self, X: Any) -> NDArray[np.float64]:
        """Return the quantiles at the rows of X, with one column for each."""
        found = as_numpy(self.predict(X))
        return np.asarray(found.reshape(len(found), -1))

    def predict_interval(self, X: Any, coverage: float = 0.9) -> NDArray[np.float64]:
        """Return central prediction intervals from two of the fitted quantiles.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
        coverage : float, default=0.9
            The quantiles ``(1 - coverage)/2`` and ``(1 + coverage)/2`` must have been fitted.

        Returns
        -------
        ndarray of shape (n_samples, 2)
            Lower and upper ends.
        """
        from rectiline.inference import central_pair

        quantiles = as_numpy(self.predict(X))
        pair = central_pair(self.quantiles_, coverage)
        if pair is None:
            shown = ", ".join(f"{level:g}" for level in np.sort(self.quantiles_))
            raise ValueError(
                f"coverage={coverage!r} needs the quantiles {0.5 - 0.5 * coverage:g} and "
                f"{0.5 + 0.5 * coverage:g}; fitted are {shown}. DistributionRegressor has "
                "intervals of any coverage."
            )
        return cast(NDArray[np.float64], like(np.sort(quantiles[:, pair], axis=1), X))

    def pinball_score(self, X: Any, y: ArrayLike, sample_weight: ArrayLike | None = None) -> float:
        """Return the share of the loss that the model explains, averaged over the quantiles.

        1 is perfect, 0 is the score of the best constant for each quantile.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
        y : array-like of shape (n_samples,)
        sample_weight : array-like of shape (n_samples,), optional

        Returns
        -------
        float
        """
        quantiles, targets = self._quantiles_at(X), np.asarray(y, dtype=np.float64)
        weight = np.ones(targets.size) if sample_weight is None else np.array(sample_weight, float)
        score = self._explained_loss()
        missed = score.missed(quantiles[:, None], targets, weight)
        return float(score.value(score.constant(targets, weight), missed)[0])

    def _explained_loss(self) -> SummedScore:
        return SummedScore(losses=tuple(self._loss(level) for level in self.quantiles_))

    def score(self, X: Any, y: Any = None, sample_weight: ArrayLike | None = None) -> float:
        """Return the share of the loss that the model explains (D^2), averaged over the quantiles.

        It is `pinball_score`: 1 is perfect, 0 is the score of the best constant for each quantile.
        For one quantile it is `sklearn.metrics.d2_pinball_score`, except that there the constant
        is an interpolated quantile, which may be a little worse than the best one.
        `sklearn.linear_model.QuantileRegressor.score` is R^2 instead, which rewards predicting the
        mean; use `sklearn.metrics.r2_score` for it.

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
        return self.pinball_score(*with_targets(X, y, sample_weight))

    # ---- several quantiles in one problem -------------------------------------------------------

    def _region(self, data: FitData) -> Region:
        """Return where the quantiles must not cross."""
        rows = data.rows if data.rows is not None else row_sources.of(data.X, data.y, data.weight)
        return Region.of(rows, self.non_crossing == "box")

    def _solve_tasks(self, data: FitData, clock: Clock) -> tuple[FitData, list[Solution]]:
        if not self._is_joint:
            return super()._solve_tasks(data, clock)
        stacked = StackedQuantiles.of(self, data)
        if self.shared_slopes:
            (solution,) = self._solve([stacked.problem()], data, clock)
        else:
            singles: list[Problem] = []
            if data.rows is None:
                made = self._single_problems(data)
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

    def verify(
        self, X: Any, y: ArrayLike | None = None, sample_weight: Any = None, **fit_params: Any
    ) -> Any:
        """Prove again how good the coefficients are; quantiles are also compared at every row."""
        proof: Any = super().verify(X, y, sample_weight, **fit_params)
        if not (self._is_joint and self.non_crossing):
            return proof
        up = np.argsort(self.quantiles_)
        region = self._region(copy.copy(self)._read(X, y, sample_weight, **fit_params))
        return region.checked(proof, as_numpy(self.coef_)[up], as_numpy(self.intercept_)[up])

    def _shown(self, again: ProvedAgain) -> ProvedAgain:
        if not self._is_joint:
            return again
        return shown_one_by_one(self, again, again.model._single_problems(again.data))

    # ---- standard errors ------------------------------------------------------------------------

    def _active_constraint(self, X: Any) -> str | None:
        if self._is_joint and self.non_crossing:
            return "the quantiles were fitted under the constraint not to cross"
        return super()._active_constraint(X)


def _checked_levels(quantile: Any) -> Vector:
    """Return the quantiles that a user asked for, one or several."""
    levels = np.atleast_1d(np.asarray(quantile, dtype=np.float64))
    if levels.ndim != 1 or not levels.size or not ((levels > 0) & (levels < 1)).all():
        raise ValueError(
            f"quantile={quantile!r}: must be a number or a list of numbers strictly between 0 "
            "and 1."
        )
    if np.unique(levels).size < levels.size:
        raise ValueError(f"quantile={quantile!r}: holds a quantile twice.")
    return levels
