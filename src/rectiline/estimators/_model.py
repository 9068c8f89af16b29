"""What the classifier and the regressor have in common."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from sklearn.base import BaseEstimator

from rectiline.constraints import Constraint
from rectiline.estimators._callbacks import CallbackSupportMixin, FitReport
from rectiline.estimators._check import column_names
from rectiline.estimators._names import named_constraints
from rectiline.estimators._notebook import ShowsCertificate
from rectiline.estimators._parameters import make_penalty
from rectiline.estimators._run import RunOptions, solve_all
from rectiline.penalties import Penalty
from rectiline.problems import Problem
from rectiline.solvers import Solution

__all__ = ["PLQModel"]


class PLQModel(ShowsCertificate, CallbackSupportMixin, BaseEstimator):  # type: ignore[misc]
    """Turn parameters into problems, and run them."""

    def _penalty(self, strength: float = 1.0, l1_ratio: float | None = None) -> Penalty | None:
        return make_penalty(
            self.penalty,
            self.n_features_in_,
            getattr(self, "l1_ratio", 0.5) if l1_ratio is None else l1_ratio,
            strength,
            self.penalty_params,
            column_names(self),
        )

    def _listed_constraints(self) -> list[Constraint]:
        return named_constraints(
            self.constraints, self.monotone, self.order, column_names(self), self.n_features_in_
        )

    def _run_solver(self) -> str:
        """Return the name for `rectiline.solve`."""
        return str(self.solver)

    def _solve(
        self, makers: Sequence[Callable[[], Problem]], X: Any = None, y: Any = None
    ) -> list[Solution]:
        warm = None
        if self.warm_start:
            earlier = getattr(self, "solution_", None)
            warm = [earlier] if isinstance(earlier, Solution) else earlier
            if warm is not None and len(warm) != len(makers):
                warm = None
        report = FitReport(self, len(makers), X, y)
        solutions = solve_all(makers, RunOptions.of(self), warm, report)
        report.end()
        return solutions

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags
