"""The protocol of all forms, and the base of those that are views of a problem."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Protocol, Self

from rectiline import _core
from rectiline._lazy import Part
from rectiline._typing import Vector
from rectiline.backends import Design
from rectiline.problems._certificate import DualPoint
from rectiline.problems._problem import Problem


class Form(Protocol):
    """A problem rewritten so that some algorithms can start, with the way back."""

    problem: Problem

    @staticmethod
    def accepts(problem: Problem) -> str | None:
        """Return why the problem has no such form, or None if it has."""

    @classmethod
    def apply(cls, problem: Problem) -> Any:
        """Return the form of `problem`."""

    def invert(self, point: Any) -> tuple[Vector, float, DualPoint]:
        """Return coefficients, intercept and dual point in the problem's own terms."""

    def point_of(self, coef: Vector, intercept: float, dual: DualPoint) -> Any:
        """Return a pair of the problem in the form's terms; undone by `invert`."""


@dataclass(frozen=True, slots=True, eq=False)
class FormPoint:
    """A primal-dual pair in the form's own terms."""

    coef: Vector
    intercept: float
    sample: Vector
    constraint: Vector


@dataclass(frozen=True, eq=False)
class ProblemForm:
    """A form that holds its problem; subclasses add what their solvers ask of the columns."""

    problem: Problem

    @staticmethod
    def accepts(problem: Problem) -> str | None:
        """Return why the problem has no such form, or None if it has."""
        return None

    @classmethod
    def apply(cls, problem: Problem) -> Self:
        """Return the form of `problem`; nothing of the data is copied."""
        reason = cls.accepts(problem)
        if reason is not None:
            raise ValueError(f"The problem has no {cls.__name__}: {reason}.")
        return cls(problem)

    #: The data rows.
    design = Part[Design]("problem.design")
    #: The cost of each data row.
    rows = Part[_core.RowFunctions]("problem.rows")
    #: Signs p with ``t_i = p_i z_i + o_i``, z the prediction.
    direction = Part[Vector]("problem.direction")
    #: Offsets o with ``t_i = p_i z_i + o_i``, z the prediction.
    offset = Part[Vector]("problem.offset")
    #: Sample weights.
    weight = Part[Vector]("problem.weight")
    #: Whether there is a free intercept.
    fit_intercept = Part[bool]("problem.fit_intercept")

    #: Number of inequality rows; they come first.
    n_inequalities = Part[int]("problem.constraint_rows.c.size")

    @property
    def n_constraints(self) -> int:
        """Number of constraint rows."""
        rows = self.problem.constraint_rows
        return int(rows.c.size + rows.f.size)

    # ---- the way back ---------------------------------------------------------------------------

    def invert(self, point: FormPoint) -> tuple[Vector, float, DualPoint]:
        """Return coefficients, intercept and dual point in the problem's own terms."""
        m = self.n_inequalities
        dual = DualPoint(point.sample, point.constraint[:m], point.constraint[m:])
        return point.coef, point.intercept, dual

    def point_of(self, coef: Vector, intercept: float, dual: DualPoint) -> FormPoint:
        """Return the problem's pair in the form's terms; the inverse of `invert`."""
        return FormPoint(coef, intercept, dual.sample, dual.constraints)
