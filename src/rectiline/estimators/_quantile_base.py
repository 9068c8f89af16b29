"""What quantile regression by a fit and by a search have in common, and its scores."""

from __future__ import annotations

from dataclasses import replace
from numbers import Real
from typing import Any, cast

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import RegressorMixin
from sklearn.utils._param_validation import StrOptions

from rectiline._numbers import checked_share
from rectiline._typing import Vector
from rectiline.estimators._check import as_numpy, like
from rectiline.estimators._inference import InferenceMixin, InferenceTerms
from rectiline.estimators._linear import LinearFitMixin
from rectiline.estimators._parameters import adapted_problems, shared_loss
from rectiline.estimators._rows import with_targets
from rectiline.estimators._scores import SummedScore
from rectiline.estimators._tasks import FitData, Task
from rectiline.losses import Expectile, Loss, Pinball
from rectiline.penalties import L1, ElasticNet
from rectiline.problems import Problem

# What scikit-learn calls its solvers; they are accepted and mean "auto".
_SCIPY_SOLVERS = ("highs", "highs-ds", "highs-ipm", "interior-point", "revised simplex")


class BaseQuantile(RegressorMixin, InferenceMixin, LinearFitMixin[np.float64]):  # type: ignore[misc]
    """Linear quantile or expectile regression: one problem for each level.

    The objective is a mean of losses plus alpha times the penalty; the problems have sums instead,
    and alpha times the weight of all samples.
    """

    _own_rules = {"loss": [StrOptions({"pinball", "expectile"})]}
    quantiles_: Vector

    def _asked_levels(self) -> Any:
        """Return the level, or the levels, to fit."""
        return self.quantile

    @property
    def _is_list(self) -> bool:
        return not isinstance(self._asked_levels(), Real)

    @property
    def _always_lists(self) -> bool:  # type: ignore[override]
        return self._is_list

    def _run_solver(self) -> str:
        return "auto" if self.solver in _SCIPY_SOLVERS else self.solver

    def _loss(self, level: float) -> Loss:
        kind = Pinball if self.loss == "pinball" else Expectile
        return shared_loss(kind(float(level)))

    def _with_row_tasks(self, data: FitData) -> FitData:
        data = replace(data, total=data.rows.total_weight())
        if not data.total > 0:
            raise ValueError("The weights of the rows must not all be zero.")
        return self._with_tasks(data)

    def _with_tasks(self, data: FitData) -> FitData:
        self.quantiles_ = _checked_levels(self._asked_levels())
        y = None if data.rows is not None else np.asarray(data.y, dtype=np.float64)
        total = data.total if data.weight is None else float(data.weight.sum())
        tasks = [Task(self._loss(level), y) for level in self.quantiles_]
        return replace(data, y=y, total=total, tasks=tasks)

    def _has_coef_rows(self, data: FitData) -> bool:
        return self._is_list

    def _strength(self, data: FitData) -> float:
        alpha: float = self.alpha if hasattr(self, "alpha") else self.alpha_  # a search chooses it
        return data.total * alpha

    def _penalty(self, strength: float = 1.0, l1_ratio: float | None = None) -> Any:
        if strength == 0.0:
            return None
        if getattr(self, "penalty", "elasticnet") != "elasticnet":
            return super()._penalty(strength, l1_ratio)
        if l1_ratio is None:
            l1_ratio = self.l1_ratio if hasattr(self, "l1_ratio") else self.l1_ratio_
        if l1_ratio == 1.0:
            return L1(strength)
        return ElasticNet(l1_ratio * strength, (1.0 - l1_ratio) * strength)

    def _problems(self, data: FitData) -> list[Problem]:
        if data.rows is not None or len(data.tasks) == 1:
            return super()._problems(data)
        # The problems share everything but the loss.
        first = self._task_problem(data, data.tasks[0])
        problems = [first.with_loss(task.loss) for task in data.tasks]
        return adapted_problems(self, problems, by_row=True)

    def _objective_units(self, data: FitData) -> list[float]:
        return [1.0 / data.total] * len(data.tasks)

    def _inference_terms(self, y: NDArray[Any]) -> InferenceTerms:
        return (
            self._explained_loss().losses,
            np.asarray(self.quantiles_),
            np.asarray(y, dtype=np.float64),
        )

    def _penalty_in_words(self) -> str | None:
        alpha = getattr(self, "alpha_", getattr(self, "alpha", None))
        is_free = alpha == 0.0 or getattr(self, "penalty", "elasticnet") is None
        return None if is_free else f"alpha={alpha:g}"

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
        quantiles = as_numpy(self.predict(X))
        low, high = _central_pair(self.quantiles_, coverage)
        return cast(NDArray[np.float64], like(np.sort(quantiles[:, [low, high]], axis=1), X))

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
        weight = np.ones(targets.size)
        if sample_weight is not None:
            weight = np.asarray(sample_weight, dtype=np.float64)
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


def _central_pair(levels: Vector, coverage: float) -> tuple[int, int]:
    """Return the positions of the quantiles that bound a central interval."""
    checked_share("coverage", coverage)
    found = []
    for wanted in (0.5 - 0.5 * coverage, 0.5 + 0.5 * coverage):
        near = np.flatnonzero(np.abs(levels - wanted) <= 1e-9)
        if not near.size:
            shown = ", ".join(f"{level:g}" for level in np.sort(levels))
            raise ValueError(
                f"coverage={coverage!r} needs the quantiles {0.5 - 0.5 * coverage:g} and "
                f"{0.5 + 0.5 * coverage:g}; fitted are {shown}. DistributionRegressor has "
                "intervals of any coverage."
            )
        found.append(int(near[0]))
    return found[0], found[1]
