"""The fit of several quantiles in one problem, a part of `QuantileRegressor`.

The problems themselves are in `_quantile_problems`.
"""

from __future__ import annotations

import time
from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rectiline._polling import Clock, OutOfTime, asked_at_checkpoints
from rectiline.constraints import combine
from rectiline.estimators._check import check_design, column_names
from rectiline.estimators._fitted import store_solutions
from rectiline.estimators._model import PLQModel
from rectiline.estimators._quantile_problems import (
    NonCrossing,
    RangedRows,
    SharedSlopes,
    zero_answer,
)
from rectiline.penalties import Penalty
from rectiline.problems import Problem
from rectiline.rows import RowBlocks
from rectiline.solvers import Solution

__all__ = ["FitsJointly"]

_PENALTIES = ("elasticnet", "l1", "l2", None)


class FitsJointly(PLQModel):
    """Fit quantiles with `non_crossing` or `shared_slopes`, and prove their joint problem again."""

    quantiles_: NDArray[np.float64]
    _loss: Any  # (level) -> Loss
    _total: float  # weight of all samples
    dual_coef_: NDArray[np.float64]

    @property
    def _is_list(self) -> bool:
        return not isinstance(self.quantile, Real)

    _always_lists = _is_list

    @property
    def _is_joint(self) -> bool:
        return bool(self.non_crossing or self.shared_slopes) and self.quantiles_.size > 1

    def _stacked(self, X: Any, y: Any, weight: NDArray[np.float64]) -> SharedSlopes | NonCrossing:
        losses = [self._loss(q) for q in np.sort(self.quantiles_)]
        kind = SharedSlopes if self.shared_slopes else NonCrossing
        d, own = int(X.shape[1]), self._listed_constraints()
        if isinstance(X, RangedRows):
            rows = Problem(X.rows, None, losses[0], None, own).terms.region.rows
        else:
            rows = combine([one.rows(d, check_design(X)) for one in own], d, column_names(self))
        return kind(X, y, weight, losses, self.fit_intercept, rows)

    def _stacked_rows(self, rows: RowBlocks) -> SharedSlopes | NonCrossing:
        """Return the data of a joint fit on rows in blocks, whose ranges one pass finds."""
        self._parts(self._total)  # what is refused is refused before the pass
        found = RangedRows.of(rows)
        return self._stacked(found, found.targets, np.zeros(0))

    def _parts(self, total: float) -> tuple[float, float]:
        """Return the strengths of the L1 norm and of the ridge; `total` is the weight of all."""
        strength = self.alpha * total
        if isinstance(self.penalty, Penalty) or self.penalty not in _PENALTIES:
            raise ValueError(
                f"penalty={self.penalty!r}: quantiles that are fitted jointly (non_crossing, "
                "shared_slopes) take 'elasticnet', 'l1', 'l2' or None."
            )
        if self.penalty is None:
            return 0.0, 0.0
        share = {"elasticnet": self.l1_ratio, "l1": 1.0, "l2": 0.0}[self.penalty]
        return share * strength, (1.0 - share) * strength

    def _fit_jointly(self, stacked: SharedSlopes | NonCrossing, total: float, began: float) -> None:
        """Solve one problem for all quantiles and set the fitted attributes.

        The time limit counts from `began`.
        """
        parts = self._parts(total)
        problem, solution = self._solve_stacked(stacked, parts, began)
        self._n_wider = 0
        while stacked.reached_cap(solution.coef):
            stacked, self._n_wider = stacked.wider(), self._n_wider + 1
            problem, solution = self._solve_stacked(stacked, parts, began)
        store_solutions(self, [solution], rows=False)
        coef, self.certificate_ = stacked.mended(solution.coef), solution.certificate
        if (coef != solution.coef).any():
            try:
                with asked_at_checkpoints(self._time_since(began)):
                    self.certificate_ = problem.certify(coef, 0.0, solution.dual)
            except OutOfTime:
                coef = solution.coef
        self._state_certificates_in(1.0 / total)
        slopes, intercepts = stacked.unpack(coef)
        back = np.argsort(np.argsort(self.quantiles_, kind="stable"))
        self.coef_, self.intercept_ = slopes[back], intercepts[back]
        if hasattr(self, "dual_coef_"):  # rows in blocks have none
            self.dual_coef_ = self.dual_coef_.reshape(self.quantiles_.size, -1)[back]

    def _time_since(self, began: float) -> Clock:
        """Return what is left of the time limit."""
        limit = self.time_limit
        return Clock.with_grace(None if limit is None else limit - (time.perf_counter() - began))

    def _solve_stacked(
        self, stacked: SharedSlopes | NonCrossing, parts: tuple[float, float], began: float
    ) -> tuple[Problem, Solution]:
        try:
            with asked_at_checkpoints(self._time_since(began)):
                problem = stacked.problem(*parts)
        except OutOfTime:
            found = zero_answer(stacked, parts)
            if found is not None:
                return found
            problem = stacked.problem(*parts)  # zeros are not allowed: there is no other way
        (solution,) = self._solve([lambda: problem], began=began)
        return problem, solution

    def _joint_problem(self, stacked: SharedSlopes | NonCrossing) -> Problem:
        """Return the problem of the last joint fit, with as much room as that came to need."""
        for _ in range(getattr(self, "_n_wider", 0)):
            stacked = stacked.wider()
        self._mended, self._joint_columns = stacked.mended, stacked.columns
        return stacked.problem(*self._parts(self._total))

    def _verified_point(self, problem: Problem, solution: Solution) -> tuple[Any, float]:
        return (
            (self._mended(solution.coef), 0.0)
            if self._is_joint
            else super()._verified_point(problem, solution)
        )

    def _problem_columns(self) -> list[str] | None:
        if not self._is_joint:
            return None
        names = column_names(self)
        features = [f"x{k}" for k in range(self.n_features_in_)] if names is None else list(names)
        return self._joint_columns(features, [f"{q:g}" for q in np.sort(self.quantiles_)])

    def _is_single(self, count: int) -> bool:
        return count == 1 and (self._is_joint or not self._is_list)
