"""Quantile and expectile regression: scikit-learn's objective, several quantiles, no crossing."""

from __future__ import annotations

import time
from collections.abc import Callable
from functools import partial
from numbers import Real
from typing import Any, cast

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import RegressorMixin
from sklearn.utils._param_validation import Interval, StrOptions

from rectiline.estimators._adaptive import adapted_makers, is_adaptive
from rectiline.estimators._array_api import as_numpy, like
from rectiline.estimators._check import (
    check_data,
    check_design,
    check_weight,
    column_names,
)
from rectiline.estimators._docs import documented
from rectiline.estimators._fitted import store_solutions
from rectiline.estimators._inference import InferenceMixin, InferenceTerms
from rectiline.estimators._intervals import central_pair, checked_levels, explained_loss
from rectiline.estimators._parameters import COMMON, RUNNING, shared_loss
from rectiline.estimators._quantile_joint import FitsJointly
from rectiline.estimators._rows import PredictsRows, as_rows, note_columns, refuse_on_rows
from rectiline.estimators._state import keep_parameters, restored_on_failure
from rectiline.estimators._typed import checked_fit
from rectiline.losses import Expectile, Loss, Pinball
from rectiline.penalties import L1, ElasticNet, Penalty
from rectiline.problems import Problem
from rectiline.rows import RowBlocks, TensorRows

__all__ = ["QuantileRegressor"]

# What scikit-learn calls its solvers; they are accepted and mean "auto".
_SCIPY_SOLVERS = ("highs", "highs-ds", "highs-ipm", "interior-point", "revised simplex")

_CONSTRAINED = ("penalty", "penalty_params", "constraints", "monotone", "order")


@documented()
class QuantileRegressor(
    PredictsRows[np.float64],
    InferenceMixin,
    RegressorMixin,  # type: ignore[misc]
    FitsJointly,
):
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
    non_crossing : bool, default=False
        Whether a higher quantile must lie above a lower one everywhere on the bounding box of the
        training data. All quantiles are then one problem with linear constraints.
    shared_slopes : bool, default=False
        Composite quantile regression: one slope vector for all quantiles, own intercepts. The
        loss is the mean over the quantiles, and they cannot cross.
    penalty : str, Penalty or None, default="elasticnet"
        What the coefficients pay, times alpha; see `PLQRegressor`. Joint fits take no
        other than "elasticnet", "l1" and "l2".
    penalty_params : dict, optional
        ``{"groups": ...}`` for "group" and "sparse_group", ``{"weights": ...}`` for "l1",
        ``{"q": ...}`` or ``{"strengths": ...}`` for "slope".
    {constraints}
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

    _parameter_constraints: dict[str, list[Any]] = {
        "quantile": [Interval(Real, 0, 1, closed="neither"), "array-like"],
        "alpha": [Interval(Real, 0, None, closed="left")],
        "l1_ratio": [Interval(Real, 0, 1, closed="both")],
        "loss": [StrOptions({"pinball", "expectile"})],
        "non_crossing": ["boolean"],
        "shared_slopes": ["boolean"],
        **{name: COMMON[name] for name in _CONSTRAINED},
        "inference": [str, None],
        **RUNNING,
    }

    def __init__(
        self,
        *,
        quantile: Any = 0.5,
        alpha: float = 1.0,
        fit_intercept: bool = True,
        solver: str = "auto",
        solver_options: dict[str, Any] | None = None,
        l1_ratio: float = 1.0,
        loss: str = "pinball",
        non_crossing: bool = False,
        shared_slopes: bool = False,
        penalty: str | Penalty | None = "elasticnet",
        penalty_params: dict[str, Any] | None = None,
        constraints: Any = (),
        monotone: dict[Any, int] | None = None,
        order: Any = None,
        inference: str | None = None,
        tol: float = 1e-9,
        max_iter: int | None = None,
        time_limit: float | None = None,
        warm_start: bool = False,
        n_jobs: int | None = None,
        random_state: Any = None,
        verbose: int = 0,
        progress_bar: bool = False,
        callback: Any = None,
    ) -> None:
        keep_parameters(self, locals())

    @checked_fit
    def fit(
        self, X: Any, y: ArrayLike | None = None, sample_weight: ArrayLike | None = None
    ) -> QuantileRegressor:
        """Fit the quantiles.

        Parameters
        ----------
        X : array-like, sparse matrix of shape (n_samples, n_features), or source of rows
            Rows in blocks, see `rectiline.rows`, dask collections and arrays on a GPU are read
            where they are; all quantiles share the passes over them.
        y : array-like of shape (n_samples,), optional
            Targets. None for rows that hold their own.
        sample_weight : array-like of shape (n_samples,), optional
            Non-negative weights.

        Returns
        -------
        self
        """
        with restored_on_failure(self):
            self._fit(X, y, sample_weight)
            return self._keep_summary(X, y, sample_weight)

    def _fit(self, X: Any, y: Any, sample_weight: Any) -> QuantileRegressor:
        began = time.perf_counter()
        rows = as_rows(X, y, sample_weight)
        if rows is not None:
            makers = self._rows_makers(rows)
            if self._is_joint:
                self._fit_jointly(self._stacked_rows(rows), self._total, began)
                return self
            solutions = self._solve(makers, None, None, began)
            store_solutions(self, solutions, rows=self._is_list)
            self._state_certificates_in(1.0 / self._total)
            return self
        X, y = check_data(self, X, y, numeric_y=True, multi_output=False)
        y = np.asarray(y, dtype=np.float64)
        weight = check_weight(sample_weight, X)
        self.quantiles_ = checked_levels(self.quantile)
        if self._is_joint:
            self._fit_jointly(self._stacked(X, y, weight), float(weight.sum()), began)
            return self
        solutions = self._solve(self._makers(X, y, weight), X, y, began)
        store_solutions(self, solutions, rows=self._is_list)
        self._state_certificates_in(1.0 / float(weight.sum()))
        return self

    def _makers(self, X: Any, y: Any, weight: NDArray[np.float64]) -> list[Callable[[], Problem]]:
        """Return how to make the problem of each quantile."""
        first = Problem(
            check_design(X),
            y,
            self._loss(self.quantiles_[0]),
            penalty=self._penalty_at(float(weight.sum())),
            constraints=self._listed_constraints(),
            sample_weight=weight,
            fit_intercept=self.fit_intercept,
            feature_names=column_names(self),
        )
        makers: list[Callable[[], Problem]] = [lambda: first]
        makers += [partial(first.with_loss, self._loss(q)) for q in self.quantiles_[1:]]
        return adapted_makers(self, makers, rows=self._is_list)

    certificate_: Any

    def _rows_makers(self, rows: RowBlocks) -> list[partial[Problem]]:
        """Return how to make the problem of each quantile on rows in blocks."""
        if not rows.has_target:
            raise ValueError("QuantileRegressor.fit needs targets y; these rows have none.")
        note_columns(self, rows)
        self.quantiles_ = checked_levels(self.quantile)
        refuse_on_rows(
            self,
            inference=self.inference is not None,
            **{
                "weights='adaptive'": is_adaptive(self),
                "a joint fit on a GPU": self._is_joint and isinstance(rows, TensorRows),
            },
        )
        self._total = rows.total_weight()
        if not self._total > 0:
            raise ValueError("The weights of the rows must not all be zero.")
        make = partial(
            Problem,
            rows,
            None,
            penalty=self._penalty_at(self._total),
            constraints=self._listed_constraints(),
            fit_intercept=self.fit_intercept,
        )
        return [partial(make, self._loss(q)) for q in self.quantiles_]

    def _problems(self, X: Any, y: Any, sample_weight: Any = None) -> list[Any]:
        rows = as_rows(X, y, sample_weight)
        if rows is not None:
            makers = self._rows_makers(rows)
            if self._is_joint:
                return [self._joint_problem(self._stacked_rows(rows))]
            return [make() for make in makers]
        X, y = check_data(self, X, y, numeric_y=True, multi_output=False)
        y, weight = np.asarray(y, dtype=np.float64), check_weight(sample_weight, X)
        self.quantiles_, self._total = checked_levels(self.quantile), float(weight.sum())
        if not self._is_joint:
            return [make() for make in self._makers(X, y, weight)]
        return [self._joint_problem(self._stacked(X, y, weight))]

    def _objective_unit(self, problem: Problem) -> float:
        return 1.0 / self._total

    def _loss(self, level: float) -> Loss:
        kind = Pinball if self.loss == "pinball" else Expectile
        return shared_loss(kind(float(level)))

    def _penalty_at(
        self, total: float, alpha: float | None = None, l1_ratio: float | None = None
    ) -> Penalty | None:
        """Return the penalty on the scale of a sum of losses with this total weight."""
        if alpha is None:  # a search has chosen its own
            alpha = self.alpha if hasattr(self, "alpha") else self.alpha_
        if l1_ratio is None:
            l1_ratio = self.l1_ratio if hasattr(self, "l1_ratio") else self.l1_ratio_
        strength, ratio = total * alpha, l1_ratio
        if strength == 0.0:
            return None
        if self.penalty != "elasticnet":
            made: Penalty | None = self._penalty(strength, ratio)
            return made
        if ratio == 1.0:
            return L1(strength)
        return ElasticNet(ratio * strength, (1.0 - ratio) * strength)

    def _inference_terms(self, y: NDArray[Any]) -> InferenceTerms:
        losses = tuple(self._loss(level) for level in self.quantiles_)
        return losses, np.asarray(self.quantiles_), np.asarray(y, dtype=np.float64)

    def _penalty_in_words(self) -> str | None:
        if self.shared_slopes and self.quantiles_.size > 1:
            return "slopes shared by all quantiles"
        alpha = getattr(self, "alpha_", getattr(self, "alpha", None))
        return None if alpha == 0.0 or self.penalty is None else f"alpha={alpha:g}"

    def _active_constraint(self, X: Any) -> str | None:
        if self.non_crossing and self.quantiles_.size > 1:
            return "the quantiles were fitted under the constraint not to cross"
        return super()._active_constraint(X)

    def _run_solver(self) -> str:
        return "auto" if self.solver in _SCIPY_SOLVERS else self.solver

    def _coef_titles(self) -> list[Any]:
        return [float(q) for q in self.quantiles_] if self._is_list else ["coef"]

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
        quantiles = as_numpy(self.predict(X))
        low, high = central_pair(self.quantiles_, coverage)
        return cast(NDArray[np.float64], like(np.sort(quantiles[:, [low, high]], axis=1), X))

    def pinball_score(self, X: Any, y: ArrayLike, sample_weight: ArrayLike | None = None) -> float:
        """Return the share of the loss that the model explains, averaged over the quantiles.

        1 is perfect, 0 is as good as the best constant for each quantile.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
        y : array-like of shape (n_samples,)
        sample_weight : array-like of shape (n_samples,), optional

        Returns
        -------
        float
        """
        quantiles = as_numpy(self.predict(X)).reshape(np.shape(y)[0], -1)
        losses = [self._loss(q) for q in self.quantiles_]
        return float(explained_loss(losses, np.asarray(y, float), sample_weight)(quantiles))

    def score(self, X: Any, y: ArrayLike, sample_weight: ArrayLike | None = None) -> float:
        """Return the share of the loss that the model explains (D^2), averaged over the quantiles.

        It is `pinball_score`: 1 is perfect, 0 is as good as the best constant for each quantile.
        For one quantile it is `sklearn.metrics.d2_pinball_score`, except that there the constant
        is an interpolated quantile, which may be a little worse than the best one.
        `sklearn.linear_model.QuantileRegressor.score` is R^2 instead, which rewards predicting the
        mean; use `sklearn.metrics.r2_score` for it.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
        y : array-like of shape (n_samples,)
        sample_weight : array-like of shape (n_samples,), optional

        Returns
        -------
        float
        """
        return self.pinball_score(X, y, sample_weight)
