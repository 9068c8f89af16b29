"""Regression with any loss of the residual."""

from __future__ import annotations

import warnings
from dataclasses import replace
from typing import Any, Unpack

import numpy as np
from numpy.typing import NDArray
from sklearn.base import RegressorMixin
from sklearn.utils._param_validation import StrOptions

from rectiline._numbers import seed_of
from rectiline._typing import Vector
from rectiline.backends import as_design
from rectiline.estimators import _defaults as defaults
from rectiline.estimators._check import linear_scores
from rectiline.estimators._fairness import fairness_table
from rectiline.estimators._inference import InferenceTerms, level_of
from rectiline.estimators._linear import LinearFitMixin
from rectiline.estimators._parameters import PARAMETER_RULES, TermParameters, keeps_parameters
from rectiline.estimators._rows import with_targets
from rectiline.estimators._run import RunOptions, solve_all
from rectiline.estimators._search import SearchMixin
from rectiline.estimators._tasks import FitData, Task
from rectiline.exceptions import ConvergenceWarning
from rectiline.losses import Absolute, Loss
from rectiline.penalties import Ridge
from rectiline.solvers import Solution, draw_rows

_SCALE_FIT_SHARE = 0.1  # of the time limit, for the fit that finds the scale of the residuals


class PLQRegressor(RegressorMixin, LinearFitMixin[np.float64]):  # type: ignore[misc]
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
    {effects}
    {tables}
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
    For rows in blocks the scale comes from 100,000 of them, spread at random, if there are more.

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from rectiline.estimators import PLQRegressor
    >>> X, y = load_diabetes(return_X_y=True, as_frame=True)
    >>> model = PLQRegressor().fit(X, y)
    >>> round(model.score(X, y), 3), round(model.delta_, 1), round(model.C_, 1)
    (0.515, 75.1, 45.2)
    >>> model = PLQRegressor(loss="absolute", C=10, monotone={"bmi": 1}).fit(X, y)
    >>> model.status_, model.certificate_.relative_gap <= 1e-6, bool(model.coef_[2] >= 0)
    ('solved', True, True)
    """

    loss_: Any  # a Loss, or one for each output
    _own_rules = {"C": [*PARAMETER_RULES["C"], StrOptions({"auto"})]}
    _multi_output = True

    @keeps_parameters(TermParameters)
    def __init__(
        self,
        loss: str | Loss = "huber",
        *,
        loss_params: dict[str, Any] | None = None,
        C: float | str = "auto",
        l1_ratio: float = 0.5,
        warm_start: bool = False,
        **shared: Unpack[TermParameters],
    ) -> None: ...

    def _given_C(self) -> Any:
        """Return C, a number or "auto"."""
        C = super()._given_C()
        return 1.0 if C == "auto" and not isinstance(self.penalty, str) else C

    def _with_tasks(self, data: FitData) -> FitData:
        """Return the data with a task for each output, its loss and C relative to the data.

        Those of rows in blocks are relative to a sample of the rows.
        """
        columns: list[Any] = [None]
        if data.rows is None:
            columns = list(np.atleast_2d(np.asarray(data.y, dtype=np.float64).T))
        loss, C = defaults.read_loss(self.loss, self.loss_params), self._given_C()
        if isinstance(loss, Loss) and C != "auto":
            tasks = [Task(loss, y, C=float(C), output=k) for k, y in enumerate(columns)]
            return replace(data, tasks=tasks)
        some = data if data.rows is None else self._sampled(data)
        targets = columns if data.rows is None else [some.y]
        spreads = defaults.column_spreads(some.X, some.weight, centred=self.fit_intercept)
        spreads = spreads[: spreads.size - self._n_effects]
        size = [self._target_scale(y, some.weight) for y in targets]
        scale = self._residual_scales(some, targets, spreads, size)
        tasks = []
        for k, (y, s, t) in enumerate(zip(columns, scale, size, strict=True)):
            made, own, unit = loss if isinstance(loss, Loss) else loss.at(s), C, None
            if C == "auto":
                unit, penalty = float(s), defaults.in_unit(self._penalty(), float(s))
                own = defaults.auto_C(penalty, made, max(s, t), spreads)
            tasks.append(Task(made, y, C=float(own), unit=unit, output=k))
        return replace(data, tasks=tasks, scale=scale, sample=some.sample)

    def _sampled(self, data: FitData) -> FitData:
        """Return a sample of rows in blocks, weighted by how many each stands for."""
        sample = draw_rows(data.rows, seed_of(self.random_state))
        X, y = sample.block.X, np.asarray(sample.block.y, dtype=np.float64)
        weight = sample.stands_for / sample.stands_for.max()
        if sample.block.weight is not None:
            weight = weight * np.asarray(sample.block.weight, dtype=np.float64)
        given = {"design": as_design(X), "weight": weight, "loss_weight": weight}
        return replace(data, rows=None, X=X, y=y, sample=sample, **given)

    def _target_scale(self, y: Vector, weight: Vector) -> float:
        """Return the robust scale of targets, around their median if there is an intercept."""
        middle = defaults.weighted_median(y, weight) if self.fit_intercept else 0.0
        return defaults.robust_scale(y - middle, weight)

    def _residual_scales(
        self, data: FitData, columns: list[Vector], spreads: Vector, size: list[float]
    ) -> Vector:
        """Return the robust scale of the residuals of each output, from a first fit."""
        weight, design, loss = data.weight, data.design, Absolute()
        problems = []
        for y, one in zip(columns, size, strict=True):
            penalty = Ridge(1.0 / defaults.auto_C(Ridge(1.0), loss, one, spreads))
            problems.append(self._problem(data, Task(loss, y), penalty))
        limit = None if self.time_limit is None else _SCALE_FIT_SHARE * self.time_limit
        seed = seed_of(self.random_state)
        options = RunOptions(n_jobs=self.n_jobs, seed=seed, time_limit=limit, polish=False)
        continues = getattr(self, "warm_start", False)
        earlier = getattr(self, "_scale_fits", ()) if continues else ()
        with warnings.catch_warnings():
            # Residuals of an answer that a limit cut short have nearly the same scale.
            warnings.simplefilter("ignore", ConvergenceWarning)
            fits = solve_all(problems, options, earlier)
        if continues:
            self._scale_fits = [replace(fit, problem=None) for fit in fits]
        residuals = [y - design.dot(fit.coef) - fit.intercept for y, fit in zip(columns, fits)]
        return np.array([defaults.robust_scale(one, weight) for one in residuals])

    def _has_coef_rows(self, data: FitData) -> bool:
        return data.y is not None and data.y.ndim > 1

    def _set_fitted(self, data: FitData, solutions: list[Solution]) -> None:
        super()._set_fitted(data, solutions)
        rows, losses = self._has_coef_rows(data), [task.loss for task in data.tasks]
        self.loss_ = tuple(losses) if rows else losses[0]
        for name in ("delta_", "epsilon_", "scale_", "fairness_"):
            self.__dict__.pop(name, None)
        if (relative := defaults.RELATIVE.get(losses[0].name)) is not None:
            widths = np.array([getattr(one, relative.parameter) for one in losses])
            setattr(self, f"{relative.parameter}_", widths if rows else float(widths[0]))
        if data.scale is not None:
            self.scale_ = data.scale if rows else float(data.scale[0])
        if hasattr(self, "C"):
            self.C_ = np.array([task.C for task in data.tasks]) if rows else data.tasks[0].C
        if data.groups is not None:
            self.fairness_ = fairness_table(data.groups, linear_scores(self, data.X), None)

    def score(self, X: Any, y: Any = None, sample_weight: Any = None) -> float:
        """Return R^2, the share of the variance of y that is explained, whatever the loss.

        A fitted quantile has a low one. `QuantileRegressor.score` is the share of the pinball loss
        that is explained; `rectiline.make_scorer` makes a score of any loss.

        Parameters
        ----------
        X : array-like, sparse matrix of shape (n_samples, n_features), or source of rows
        y : array-like of shape (n_samples,)
            Targets; rows in blocks hold them.
        sample_weight : array-like of shape (n_samples,), optional
        """
        return float(super().score(*with_targets(X, y, sample_weight)))

    def _inference_terms(self, y: NDArray[Any]) -> InferenceTerms:
        if np.ndim(y) > 1:
            raise ValueError(
                f"Standard errors need one column of y; got {np.shape(y)}. Fit one model per "
                "column."
            )
        level = level_of(self.loss_)
        levels = None if level is None else np.array([level])
        return (self.loss_,), levels, np.asarray(y, dtype=np.float64)


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
    {effects}
    {tables}
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

    @keeps_parameters(TermParameters)
    def __init__(
        self,
        loss: str | Loss = "huber",
        *,
        loss_params: dict[str, Any] | None = None,
        Cs: Any = 30,
        l1_ratios: Any = None,
        cv: Any = None,
        scoring: Any = None,
        fold_tol: float | None = None,
        **shared: Unpack[TermParameters],
    ) -> None: ...
