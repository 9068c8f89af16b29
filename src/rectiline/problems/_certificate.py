"""Dual points and certificates: what `Problem.certify` takes and returns."""

from __future__ import annotations

import math
from dataclasses import dataclass, field, fields, replace
from typing import Any

import numpy as np

from rectiline._frames import html_table
from rectiline._typing import Vector

ZERO_LEVEL = 2.0**-52  # gap of an optimum of zero, as a share of the terms that cancel
_UNDERFLOW = 2.0**-960  # more than all that products of doubles lose by underflow


_MOST_LISTED = 6  # constraints that a sentence lists
_NO_ROWS = np.zeros(0)
_NO_ROWS.flags.writeable = False


_IN_UNITS_OF_OBJECTIVE = ("primal", "gap", "rounding", "scale")  # fields of a certificate


@dataclass(frozen=True, slots=True, eq=False)
class DualPoint:
    """Multipliers of a problem; :doc:`/theory/multipliers` has the Lagrangian and its signs.

    Proofs need no multipliers of bounds: the best ones are known in closed form. Constraint rows
    whose largest entry is beyond ``2**-40 .. 2**40`` are scaled to ordinary size by a power of two
    first; their multipliers belong to the rows so scaled (`Problem.constraint_rows`).

    Attributes
    ----------
    sample : ndarray of shape (n_samples,)
        A slope of each sample's weighted loss in its prediction.
    inequality : ndarray
        ``xi >= 0``, one entry per row of ``A @ coef + c >= 0``.
    equality : ndarray
        One free entry per row of ``E @ coef + f == 0``.
    bounds : ndarray of shape (n_features,), or empty
        Reduced costs, where a solution has bounds: positive at a lower bound that holds a
        coefficient back, negative at an upper one.
    """

    sample: Vector
    inequality: Vector = field(default_factory=lambda: _NO_ROWS)
    equality: Vector = field(default_factory=lambda: _NO_ROWS)
    bounds: Vector = field(default_factory=lambda: _NO_ROWS)
    parts: tuple[tuple[Any, Vector], ...] = field(default=(), repr=False)

    def __setstate__(self, state: list[Any]) -> None:
        known = [*state, *(_NO_ROWS, ())[len(state) - 3 :]]  # pickles of 0.2.0 hold three parts
        for one, value in zip(fields(self), known, strict=True):
            object.__setattr__(self, one.name, value)

    def of(self, constraint: Any) -> Vector:
        """Return the multipliers of one of the constraints that a problem was made with.

        Parameters
        ----------
        constraint : Constraint or str
            The object, or one that equals it, or the name of its class, such as "nonnegative".

        Returns
        -------
        ndarray
            One number for each row: for `LinearConstraint`, positive where the lower bound of the
            row is active and negative where the upper one is. For constraints that are bounds, one
            number for each coefficient. Each is the derivative of the optimum in what the row must
            reach.

        Examples
        --------
        >>> import numpy as np
        >>> import rectiline as rl
        >>> budget = rl.constraints.LinearConstraint([1.0, 1.0], 1.0, 1.0)
        >>> problem = rl.Problem(np.eye(2), [1.0, 2.0], "squared_error", None, budget, None, False)
        >>> rl.solve(problem).dual.of(budget).round(6)
        array([-1.])
        """
        if isinstance(constraint, str):
            wanted = constraint.replace("_", "").lower()
            found = [part for one, part in self.parts if type(one).__name__.lower() == wanted]
        else:
            found = [part for one, part in self.parts if one is constraint or one == constraint][:1]
        if len(found) == 1:
            return found[0]
        known = ", ".join(repr(one) for one, _ in self.parts) or "none"
        which = "names several constraints" if found else "is no constraint"
        raise ValueError(f"{constraint!r} {which} of this solution; it has {known}.")

    @property
    def constraints(self) -> Vector:
        """The multipliers of inequality rows, then of equality rows."""
        return np.concatenate([self.inequality, self.equality])

    def scaled(self, factor: float) -> DualPoint:
        """Return this point moved towards zero, which lies in every box and dual ball."""
        if factor == 1.0:
            return self
        return DualPoint(factor * self.sample, factor * self.inequality, factor * self.equality)


def distance_from_zero(low: float, high: float) -> float:
    """Return how far an interval is away from zero."""
    return max(low, -high, 0.0)


@dataclass(frozen=True, slots=True)
class Certificate:
    """A primal value, a lower bound on the optimum, and how far constraints are violated.

    Attributes
    ----------
    primal : float
        Objective at the coefficients.
    gap : float
        Upper bound on ``primal - optimum``, rounding included: the sum of non-negative
        Fenchel-Young terms, never the difference of two large sums, plus `rounding`. The dual
        value ``primal - gap`` is a lower bound on the optimum always; `gap` bounds how far the
        coefficients are from optimal if `violation` is zero.
    violation : float
        Worst violated constraint in its own units; 0.0 means that the coefficients are feasible.
    relative_violation : float
        Worst violation divided by the size of the terms of its row.
    rounding : float
        What rounding errors of the proof may add to the gap; contained in `gap`.
    scale : float
        ``2**52`` times what rounding may cost where the terms of each prediction cancel one
        another, the target or a knot of the loss; computed for gaps that may belong to an optimum
        of zero, 0.0 otherwise.
    radius : float
        Infinite, with one exception. A column without penalty and bounds (and an intercept) needs
        multipliers that balance exactly. These are shown to exist near the given ones, and
        what they cost is part of `rounding`. Where that fails (columns that are dependent up to
        rounding) the bound holds among all coefficients that are no larger, in such columns, than
        `radius` times their size in this answer or the size that moves predictions noticeably.
        So it does with a linear term, whose multiplier cannot shrink, where the others cannot be
        moved into the range that the penalty allows.

    Examples
    --------
    >>> from rectiline.problems import Certificate
    >>> proof = Certificate(primal=2.0, gap=1e-8, violation=0.0)
    >>> proof.dual, proof.relative_gap
    (1.99999999, 5e-09)
    """

    primal: float
    gap: float
    violation: float
    relative_violation: float = 0.0
    rounding: float = 0.0
    scale: float = 0.0
    radius: float = math.inf

    @property
    def dual(self) -> float:
        """Lower bound on the optimum."""
        return self.primal - self.gap

    @property
    def relative_gap(self) -> float:
        """``gap / max(|primal|, |dual|)``: equal for y in metres and in millimetres."""
        if not math.isfinite(self.gap):
            return math.inf
        if self.gap <= 0.0:
            return 0.0
        return self.gap / max(abs(self.primal), abs(self.dual))

    def to_dict(self) -> dict[str, float]:
        """Return every number by name, as plain floats.

        >>> Certificate(primal=2.0, gap=0.5, violation=0.0).to_dict()["relative_gap"]
        0.25
        """
        derived = {"dual": self.dual, "relative_gap": self.relative_gap}
        return {one.name: float(getattr(self, one.name)) for one in fields(self)} | derived

    def scaled(self, factor: float) -> Certificate:
        """Return the certificate of the objective times a factor, at the same point.

        >>> Certificate(primal=2.0, gap=0.5, violation=0.0).scaled(0.5).primal
        1.0
        """
        if factor == 1.0:
            return self
        scaled = {name: factor * getattr(self, name) for name in _IN_UNITS_OF_OBJECTIVE}
        return replace(self, **scaled)

    def __str__(self) -> str:
        if not math.isfinite(self.gap):
            proved = "no relative gap is proved"
        else:
            proved = (
                f"relative gap {self.relative_gap:.1e}: the objective {self.primal:.10g} is proved "
                f"to lie at most {self.gap:.1e} above the optimum"
            )
        if self.violation > 0.0:
            return f"{proved}, but a constraint is violated by {self.violation:.1e}"
        return f"{proved}; no constraint is violated"

    def _repr_html_(self) -> str:
        rows = [
            ("objective", self.primal),
            ("proved lower bound", self.dual),
            ("relative gap", f"{self.relative_gap:.1e}"),
            ("violation", f"{self.violation:.1e}"),
        ]
        return html_table("Certificate", rows)

    def holds(self, tol: float, feasibility_tol: float = 1e-9) -> bool:
        """Whether the pair is optimal to ``tol`` (relative) at a feasible point.

        An optimum of zero has no relative gap below one. Where zero lies in the proved interval
        from `dual` to `primal`, a gap of at most ``2**-52`` times `scale`, the rounding level of
        the terms that cancel, is accepted as well.
        """
        if not self.relative_violation <= feasibility_tol:
            return False
        return self.relative_gap <= tol or (self._away == 0.0 and self._is_at_rounding_level)

    @property
    def is_rounding(self) -> bool:
        """Whether objective and gap are what rounding of the targets, or underflow, costs."""
        is_underflow = self.primal == 0.0 and self.gap <= _UNDERFLOW
        return is_underflow or self._is_at_rounding_level

    @property
    def _is_at_rounding_level(self) -> bool:
        return max(self.gap, self._away) <= ZERO_LEVEL * self.scale

    @property
    def _away(self) -> float:
        return distance_from_zero(self.dual, self.primal + self.rounding)

    def limited_by_rounding(self, tol: float) -> bool:
        """Whether rounding keeps the pair from being certified to ``tol``.

        No further iterations help then. What does: centre or scale the columns of X, so that
        fewer digits cancel, or loosen `tol`.

        Examples
        --------
        >>> from rectiline.problems import Certificate
        >>> proof = Certificate(primal=1.0, gap=1e-12, violation=0.0, rounding=9e-13)
        >>> proof.limited_by_rounding(1e-9), proof.limited_by_rounding(1e-13)
        (False, True)
        """
        if self.holds(tol, math.inf) or not math.isfinite(self.gap):
            return False
        allowed = tol * max(abs(self.primal), abs(self.dual))
        is_near = self.gap - self.rounding <= 10.0 * max(self.rounding, allowed)
        return is_near and self.rounding > 0.5 * allowed


@dataclass(frozen=True, slots=True, eq=False)
class InfeasibilityCertificate:
    """Multipliers that prove that no coefficients satisfy the constraints (Farkas).

    For every ``b`` within the bounds, ``inequality @ (A @ b + c) + equality @ (E @ b + f)`` equals
    ``value + residual @ b`` plus terms that the bounds keep below zero. With ``inequality >= 0``,
    ``residual`` at rounding level and ``value < 0`` that cannot be non-negative, as feasibility
    would require.

    Attributes
    ----------
    inequality, equality : ndarray
        Multipliers of the rows.
    value : float
        The negative constant.
    residual : float
        Largest entry of the combined row on columns without a bound, relative to its terms.
    constraints : tuple of str
        The constraints and bounds that contradict each other, in words.
    """

    inequality: Vector
    equality: Vector
    value: float
    residual: float
    constraints: tuple[str, ...] = ()

    def __str__(self) -> str:
        left = len(self.constraints) - _MOST_LISTED
        listed = [*self.constraints[:_MOST_LISTED], *([f"{left} more"] if left > 0 else [])]
        named = f": {'; '.join(listed)} cannot hold together" if listed else ""
        return f"No coefficients satisfy the constraints{named}."

    @property
    def proves(self) -> bool:
        """Whether the multipliers are a proof up to rounding."""
        return bool(self.value < 0.0 and self.residual <= 1e-9 and (self.inequality >= 0).all())
