"""Dual points and certificates: what `Problem.certify` takes and returns."""

from __future__ import annotations

import math
from dataclasses import dataclass, field, fields

import numpy as np

from rectiline._typing import Vector

__all__ = ["Certificate", "DualPoint", "InfeasibilityCertificate"]

# Until rounding is bounded term by term: gaps below this share of `scale` count as rounding.
_ROUNDING_LEVEL = 1e-14


@dataclass(frozen=True, slots=True, eq=False)
class DualPoint:
    """Multipliers of a problem.

    Bounds need no multiplier of their own: the best one is known in closed form.

    Attributes
    ----------
    sample : ndarray of shape (n_samples,)
        A slope of each sample's weighted loss in its prediction.
    inequality : ndarray
        ``xi >= 0``, one entry per row of ``A @ coef + c >= 0``.
    equality : ndarray
        One free entry per row of ``E @ coef + f == 0``.
    """

    sample: Vector
    inequality: Vector = field(default_factory=lambda: np.zeros(0))
    equality: Vector = field(default_factory=lambda: np.zeros(0))

    def scaled(self, factor: float) -> DualPoint:
        """Return this point moved towards zero, which lies in every box and dual ball."""
        if factor == 1.0:
            return self
        return DualPoint(factor * self.sample, factor * self.inequality, factor * self.equality)


@dataclass(frozen=True, slots=True)
class Certificate:
    """A primal value, a lower bound on the optimum, and how far constraints are violated.

    Attributes
    ----------
    primal : float
        Objective at the coefficients.
    gap : float
        Upper bound on ``primal - optimum``: the sum of non-negative Fenchel-Young terms, never the
        difference of two large sums, with `rounding`. It is a proof only if `violation` is zero.
    violation : float
        Worst violated constraint in its own units; 0.0 means that the coefficients are feasible.
    relative_violation : float
        Worst violation divided by the size of the terms of its row.
    rounding : float
        What rounding errors of the proof may add to the gap; contained in `gap`.
    scale : float
        Sum of the losses at zero coefficients: the size of the data's part of the objective.

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

    def holds(self, tol: float, feasibility_tol: float = 1e-9) -> bool:
        """Whether the pair is optimal to ``tol`` (relative) at a feasible point.

        A gap at the rounding level of the losses at zero coefficients counts as closed: no relative
        gap below one can be proved for an optimum of zero.
        """
        if not self.relative_violation <= feasibility_tol:
            return False
        return self.relative_gap <= tol or self.gap <= _ROUNDING_LEVEL * self.scale


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
    """

    inequality: Vector
    equality: Vector
    value: float
    residual: float

    @property
    def proves(self) -> bool:
        """Whether the multipliers are a proof up to rounding."""
        return bool(self.value < 0.0 and self.residual <= 1e-9 and (self.inequality >= 0).all())
