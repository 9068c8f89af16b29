"""Regression with any loss of the residual."""

from __future__ import annotations

import warnings
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import RegressorMixin
from sklearn.utils._param_validation import StrOptions

from rectiline.backends import Design
from rectiline.constraints import Constraint
from rectiline.estimators._check import (
    check_data,
    check_design,
    check_weight,
    column_names,
    linear_scores,
)
from rectiline.estimators._defaults import (
    RelativeLoss,
    auto_C,
    first_fit,
    in_unit,
    read_loss,
    width_of,
)
from rectiline.estimators._docs import documented
from rectiline.estimators._fairness import FairnessData, bound_constraints, fairness_table
from rectiline.estimators._fitted import store_solutions
from rectiline.estimators._inference import InferenceMixin, InferenceTerms, level_of
from rectiline.estimators._model import FitsC
from rectiline.estimators._parameters import COMMON
from rectiline.estimators._row_fits import RowsData, RowTask
from rectiline.estimators._rows import PredictsRows, sample_rows
from rectiline.estimators._run import RunOptions, seed_of, solve_all
from rectiline.estimators._scale import column_spreads, robust_scale, weighted_median
from rectiline.estimators._state import keep_parameters
from rectiline.exceptions import ConvergenceWarning
from rectiline.losses import Loss
from rectiline.penalties import Penalty
from rectiline.problems import Problem
from rectiline.rows import RowBlocks
from rectiline.solvers import Solution

__all__ = ["PLQRegressor"]

_FIRST_SHARE = 0.1  # of the time limit, for the fit that finds the scale of the residuals


@dataclass(frozen=True, eq=False)
class RegressionData:
    """What a fit was given, checked."""

    X: Any
    y: NDArray[Any]
    targets: NDArray[np.float64]  # one column per output
    design: Design
    weight: NDArray[np.float64]
    constraints: list[Constraint]
    groups: FairnessData | None
    losses: list[Loss] = field(default_factory=list)  # one per output
    C: list[float] = field(default_factory=list)  # one per output
    scale: NDArray[np.float64] | None = None  # of the residuals, where a default depends on it

    @property
    def is_multi(self) -> bool:
        """Whether y has columns."""
        return self.y.ndim > 1

    @property
    def tasks(self) -> range:
        """The outputs."""
        return range(self.targets.shape[1])


@documented()
class PLQRegressor(PredictsRows[np.float64], InferenceMixin, RegressorMixin, FitsC):  # type: ignore[misc]
    """Linear regression with a piecewise linear-quadratic loss and a proof of optimality.

    Minimises ``C * sum_i w_i loss(y_i - x_i'b - b0) + penalty(b)`` under the constraints. With
    several columns of y there is one such problem for each; they share X and run in parallel.

    Parameters
    ----------
    loss : str or Loss, default="huber"
        "huber", "absolute", "epsilon_insensitive", "squared_epsilon_insensitive", "pinball",
        "expectile", "squared_error", or any loss of the residual from `rectiline.losses`,
        `PiecewiseLQ` included.
    {relative_loss_params}
    {penalty}
    {auto_C}
    {constraints}
    {fit_intercept}
    {running}
    {warm_start}

    Attributes
    ----------
    coef_ : ndarray of shape (n_features,) or (n_outputs, n_features)
    intercept_ : float or ndarray of shape (n_outputs,)
    {relative}
    C_ : float or ndarray of shape (n_outputs,)
        The C of the fit.
    fairness_ : dict of ndarray
        Reached values per group, a table by columns; only if sensitive features were given.
    {proof}

    Notes
    -----
    The defaults do not depend on the unit of y: y in metres and in millimetres give the same
    model. They follow a robust scale s of the residuals, ``1.4826 median |r_i|`` of a first fit by
    absolute errors with "l2", whose C follows the formula below with the same scale of y about its
    median. Then ``delta`` is 1.345 s, ``epsilon`` is 0.1 s, and C is ``penalty(u) / (d loss(s))``
    with d the number of columns that vary and ``u_j = s / (sqrt(d) spread_j)``: coefficients that
    move predictions as much as the residuals vary cost as much as d residuals of size s. For the
    squared error and "l2" this is the ridge under which columns and noise are expected to explain
    equally much. The elastic net adds terms of two units; with ``C="auto"`` its L1 norm counts s
    times, so that both are squares of the unit of y.
    For rows in blocks the scale comes from 100,000 of them, evenly spread, if there are more.

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from rectiline.estimators import PLQRegressor
    >>> X, y = load_diabetes(return_X_y=True, as_frame=True)
    >>> model = PLQRegressor().fit(X, y)
    >>> round(model.score(X, y), 3), round(model.delta_, 1), round(model.C_, 1)
    (0.515, 75.1, 44.2)
    >>> model = PLQRegressor(loss="absolute", C=10, monotone={"bmi": 1}).fit(X, y)
    >>> model.status_, model.certificate_.relative_gap <= 1e-6, bool(model.coef_[2] >= 0)
    ('solved', True, True)
    """

    loss_: Any  # a Loss, or one for each output
    _parameter_constraints: dict[str, list[Any]] = {
        **COMMON,
        "C": [*COMMON["C"], StrOptions({"auto"})],
    }

    def __init__(
        self,
        loss: str | Loss = "huber",
        *,
        loss_params: dict[str, Any] | None = None,
        penalty: str | Penalty | None = "l2",
        penalty_params: dict[str, Any] | None = None,
        C: float | str = "auto",
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
        progress_bar: bool = False,
        callback: Any = None,
    ) -> None:
        keep_parameters(self, locals())

    def _read(self, X: Any, y: Any, sample_weight: Any, sensitive: Any) -> RegressionData:
        """Check what fit was given; note the columns of X."""
        loss = read_loss(self.loss, self.loss_params)
        X, y = check_data(self, X, y, numeric_y=True, multi_output=True)
        data = RegressionData(
            X=X,
            y=y,
            targets=np.asarray(y[:, None] if y.ndim == 1 else y, dtype=np.float64),
            design=check_design(X),
            weight=check_weight(sample_weight, X),
            constraints=self._listed_constraints(),
            groups=FairnessData.read(sensitive, X.shape[0]),
        )
        return self._with_defaults(data, loss)

    def _read_rows(self, rows: RowBlocks) -> RowsData:
        """Return what a fit on rows in blocks needs; defaults come from a sample of the rows."""
        loss = read_loss(self.loss, self.loss_params)
        constraints = self._listed_constraints()
        C = getattr(self, "C", 1.0)  # a search has a grid instead
        if isinstance(loss, Loss) and (C != "auto" or not isinstance(self.penalty, str)):
            C = 1.0 if C == "auto" else float(C)
            return RowsData(rows, [RowTask(loss)], [C], constraints)
        sample = sample_rows(rows, seed_of(self.random_state))
        block, weight = sample.block, sample.stands_for / sample.stands_for.max()
        if block.weight is not None:
            weight = weight * np.asarray(block.weight, dtype=np.float64)
        targets = np.asarray(block.y, dtype=np.float64)[:, None]
        design = check_design(block.X)
        some = RegressionData(block.X, block.y, targets, design, weight, constraints, None)
        made = self._with_defaults(some, loss)
        tasks = [RowTask(made.losses[0])]
        return RowsData(rows, tasks, made.C, constraints, scale=made.scale, sample=sample)

    def _with_defaults(self, data: RegressionData, loss: Loss | RelativeLoss) -> RegressionData:
        """Return the data with a loss and a C for each output, where they depend on the data."""
        C = getattr(self, "C", 1.0)  # a search has a grid instead
        if C == "auto" and not isinstance(self.penalty, str):
            C = 1.0
        if isinstance(loss, Loss) and C != "auto":
            return replace(data, losses=[loss] * len(data.tasks), C=[float(C)] * len(data.tasks))
        spreads = column_spreads(data.X, data.weight, centred=self.fit_intercept)
        scale = self._residual_scales(data, spreads)
        losses = [loss if isinstance(loss, Loss) else loss.at(s) for s in scale]
        if C == "auto":
            unit = self._penalty()
            strengths = [auto_C(in_unit(unit, s), one, s, spreads) for one, s in zip(losses, scale)]
        else:
            strengths = [float(C)] * len(losses)
        return replace(data, losses=losses, C=strengths, scale=scale)

    def _residual_scales(
        self, data: RegressionData, spreads: NDArray[np.float64]
    ) -> NDArray[np.float64]:
        """Return the robust scale of the residuals of each output, from a first fit."""
        makers = []
        for output, y in enumerate(data.targets.T):
            middle = weighted_median(y, data.weight) if self.fit_intercept else 0.0
            loss, penalty = first_fit(robust_scale(y - middle, data.weight), spreads)
            first = replace(data, losses=[loss] * len(data.tasks))
            makers.append(partial(self._problem, first, output, penalty))
        limit = None if self.time_limit is None else _FIRST_SHARE * self.time_limit
        options = RunOptions.of(self)
        options = RunOptions(n_jobs=options.n_jobs, seed=options.seed, time_limit=limit)
        with warnings.catch_warnings():
            # Residuals of an answer that a limit cut short have nearly the same scale.
            warnings.simplefilter("ignore", ConvergenceWarning)
            fits = solve_all(makers, options, names=column_names(self))
        residuals = [
            y - data.design.dot(fit.coef) - fit.intercept for y, fit in zip(data.targets.T, fits)
        ]
        return np.array([robust_scale(one, data.weight) for one in residuals])

    def _problem(
        self,
        data: RegressionData,
        output: int,
        penalty: Penalty | None,
        keep: NDArray[np.bool_] | None = None,
        factor: float = 1.0,
    ) -> Problem:
        """Return the problem of one output; samples that are not kept have no weight."""
        penalty = self._in_unit_of_y(penalty, data.scale, output)
        weight = factor * data.weight
        return Problem(
            data.design,
            data.targets[:, output],
            loss=data.losses[output],
            penalty=penalty,
            constraints=bound_constraints(data.constraints, data.groups, None, keep),
            sample_weight=weight if keep is None else np.where(keep, weight, 0.0),
            fit_intercept=self.fit_intercept,
            feature_names=column_names(self),
        )

    def _in_unit_of_y(
        self, penalty: Penalty | None, scale: NDArray[np.float64] | None, output: int
    ) -> Penalty | None:
        """Return the penalty under which the default C does not depend on the unit of y."""
        is_auto = getattr(self, "C", 1.0) == "auto" and isinstance(self.penalty, str)
        return in_unit(penalty, float(scale[output])) if is_auto and scale is not None else penalty

    def _rows_penalty(self, data: RowsData, C: float) -> Penalty | None:
        return self._in_unit_of_y(super()._rows_penalty(data, C), data.scale, 0)

    def _keep(self, data: Any, solutions: list[Solution]) -> Self:
        """Set the fitted attributes."""
        rows = data.is_multi
        store_solutions(self, solutions, rows=rows)
        self.loss_ = tuple(data.losses) if rows else data.losses[0]
        for name in ("delta_", "epsilon_", "scale_"):
            self.__dict__.pop(name, None)
        found = width_of(data.losses)
        if found is not None:
            setattr(self, f"{found[0]}_", found[1] if rows else float(found[1][0]))
        if data.scale is not None:
            self.scale_ = data.scale if rows else float(data.scale[0])
        if hasattr(self, "C"):
            self.C_ = np.array(data.C) if rows else data.C[0]
        self._set_fairness(data.X, data.groups)
        return self

    def _set_fairness(self, X: Any, groups: FairnessData | None) -> None:
        if groups is None:
            self.__dict__.pop("fairness_", None)
        else:
            self.fairness_ = fairness_table(groups, linear_scores(self, X), None)

    def _inference_terms(self, y: NDArray[Any]) -> InferenceTerms:
        if np.ndim(y) > 1:
            raise ValueError(
                f"Standard errors need one column of y; got {np.shape(y)}. Fit one model per "
                "column."
            )
        level = level_of(self.loss_)
        levels = None if level is None else np.array([level])
        return (self.loss_,), levels, np.asarray(y, dtype=np.float64)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.multi_output = True
        return tags
