"""Regression with any loss of the residual."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import RegressorMixin

from rectiline.backends import Design
from rectiline.constraints import Constraint
from rectiline.estimators._check import (
    check_data,
    check_design,
    check_weight,
    linear_scores,
    predictions,
)
from rectiline.estimators._docs import documented
from rectiline.estimators._fairness import FairnessData, bound_constraints, fairness_table
from rectiline.estimators._fitted import store_solutions
from rectiline.estimators._model import FitsC
from rectiline.estimators._parameters import COMMON, make_loss
from rectiline.estimators._state import keep_parameters
from rectiline.losses import Loss
from rectiline.penalties import Penalty
from rectiline.problems import Problem
from rectiline.solvers import Solution

__all__ = ["PLQRegressor"]


@dataclass(frozen=True, eq=False)
class RegressionData:
    """What a fit was given, checked."""

    X: Any
    y: NDArray[Any]
    targets: NDArray[np.float64]  # one column per output
    design: Design
    loss: Loss
    weight: NDArray[np.float64]
    constraints: list[Constraint]
    groups: FairnessData | None

    @property
    def tasks(self) -> range:
        """The outputs."""
        return range(self.targets.shape[1])


@documented()
class PLQRegressor(RegressorMixin, FitsC):  # type: ignore[misc]
    """Linear regression with a piecewise linear-quadratic loss and a proof of optimality.

    Minimises ``C * sum_i w_i loss(y_i - x_i'b - b0) + penalty(b)`` under the constraints. With
    several columns of y there is one such problem for each; they share X and run in parallel.

    Parameters
    ----------
    loss : str or Loss, default="huber"
        "huber", "absolute", "epsilon_insensitive", "squared_epsilon_insensitive", "pinball",
        "expectile", "squared_error", or any loss of the residual from `rectiline.losses`,
        `PiecewiseLQ` included.
    {loss_params}
    {penalty}
    {C}
    {constraints}
    {fit_intercept}
    {running}
    {warm_start}

    Attributes
    ----------
    coef_ : ndarray of shape (n_features,) or (n_outputs, n_features)
    intercept_ : float or ndarray of shape (n_outputs,)
    fairness_ : dict of ndarray
        Reached values per group, a table by columns; only if sensitive features were given.
    {proof}

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from rectiline.estimators import PLQRegressor
    >>> X, y = load_diabetes(return_X_y=True, as_frame=True)
    >>> model = PLQRegressor(loss="absolute", C=10, monotone={"bmi": 1}).fit(X, y)
    >>> model.status_, model.certificate_.relative_gap <= 1e-6, bool(model.coef_[2] >= 0)
    ('solved', True, True)
    """

    _parameter_constraints: dict[str, list[Any]] = dict(COMMON)

    def __init__(
        self,
        loss: str | Loss = "huber",
        *,
        loss_params: dict[str, Any] | None = None,
        penalty: str | Penalty | None = "l2",
        penalty_params: dict[str, Any] | None = None,
        C: float = 1.0,
        l1_ratio: float = 0.5,
        constraints: Any = (),
        monotone: dict[Any, int] | None = None,
        order: Any = None,
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

    def _read(self, X: Any, y: Any, sample_weight: Any, sensitive: Any) -> RegressionData:
        """Check what fit was given; note the columns of X."""
        loss = make_loss(self.loss, self.loss_params, of=("residual",))
        X, y = check_data(self, X, y, numeric_y=True, multi_output=True)
        return RegressionData(
            X=X,
            y=y,
            targets=np.asarray(y[:, None] if y.ndim == 1 else y, dtype=np.float64),
            design=check_design(X),
            loss=loss,
            weight=check_weight(sample_weight, X),
            constraints=self._listed_constraints(),
            groups=FairnessData.read(sensitive, X.shape[0]),
        )

    def _problem(
        self,
        data: RegressionData,
        output: int,
        penalty: Penalty | None,
        keep: NDArray[np.bool_] | None = None,
        factor: float = 1.0,
    ) -> Problem:
        """Return the problem of one output; samples that are not kept have no weight."""
        weight = factor * data.weight
        return Problem(
            data.design,
            data.targets[:, output],
            loss=data.loss,
            penalty=penalty,
            constraints=bound_constraints(data.constraints, data.groups, None, keep),
            sample_weight=weight if keep is None else np.where(keep, weight, 0.0),
            fit_intercept=self.fit_intercept,
        )

    def _keep(self, data: RegressionData, solutions: list[Solution]) -> Self:
        """Set the fitted attributes."""
        store_solutions(self, solutions, rows=data.y.ndim > 1)
        self._set_fairness(data.X, data.groups)
        return self

    def _set_fairness(self, X: Any, groups: FairnessData | None) -> None:
        if groups is None:
            self.__dict__.pop("fairness_", None)
        else:
            self.fairness_ = fairness_table(groups, linear_scores(self, X), None)

    def predict(self, X: Any) -> NDArray[Any]:
        """Return the predictions for the rows of X.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)

        Returns
        -------
        ndarray of shape (n_samples,) or (n_samples, n_outputs)
        """
        return predictions(self, X)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.multi_output = True
        return tags
