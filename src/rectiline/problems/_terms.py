"""Penalty and constraints of a problem. `Problem` holds them beside its `Data`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from rectiline import _core
from rectiline._lazy import FieldsAlone, cached_property
from rectiline._typing import Indices, Mask, Vector
from rectiline.constraints import Constraint
from rectiline.penalties import L1, GroupedPenalty, Penalty, Slope, SparseGroupLinf
from rectiline.penalties import get as get_penalty
from rectiline.problems._region import Region
from rectiline.problems.proof._measure import UNDERFLOW, gamma


@dataclass(frozen=True, eq=False)
class Terms(FieldsAlone):
    """The penalty and the constraints.

    Bounds on single coefficients join the column functions of a separable penalty. They cannot
    join a penalty that couples columns, and are stated as inequality rows there.

    Attributes
    ----------
    penalty : Penalty or None
    given : Region
        The constraints, bounds as bounds.
    constraints : tuple of Constraint
        As the user passed them; empty where the coefficients are not the user's.
    row_counts : tuple of pairs of int
        How many of the inequality and of the equality rows are those of each constraint.
    has_joint_penalty : bool
        Whether a penalty that is charged elsewhere, on several tasks, couples columns besides.
    """

    penalty: Penalty | None
    given: Region
    constraints: tuple[Constraint, ...] = ()
    row_counts: tuple[tuple[int, int], ...] = ()
    has_joint_penalty: bool = False

    def __post_init__(self) -> None:
        if self.penalty is not None:
            self.penalty.check(self.given.rows.n_features)

    @cached_property
    def is_separable(self) -> bool:
        """Whether the penalty is a sum over columns."""
        return self._separable is not None

    @cached_property
    def region(self) -> Region:
        """The constraints, bounds as rows where a penalty couples columns."""
        is_alone = self.is_separable and not self.has_joint_penalty
        return self.given if is_alone else self.given.bounds_as_rows

    @cached_property
    def columns(self) -> Columns:
        """The penalty on each coefficient, with its bounds; no cost where it couples columns."""
        rows = self.region.rows
        rho, l1 = self._separable or np.zeros((2, rows.n_features))
        return Columns(rho, l1, rows.lower, rows.upper)

    @cached_property
    def _separable(self) -> tuple[Vector, Vector] | None:
        d = self.given.rows.n_features
        return (np.zeros(d), np.zeros(d)) if self.penalty is None else self.penalty.separable(d)

    def with_penalty(self, penalty: str | Penalty | None) -> Terms:
        """Return the constraints with another penalty."""
        penalty = get_penalty(penalty, self.given.rows.n_features)
        return Terms(penalty, self.given, self.constraints, self.row_counts)

    def on_columns(self, columns: Indices) -> Terms:
        """Return what is left where only `columns` may differ from zero."""
        # Bounds that have become rows stay rows, so that multipliers keep their places.
        given = self.given if self.is_separable else self.region
        return Terms(self.penalty_on(columns), given.on_columns(columns))

    def penalty_on(self, columns: Indices) -> Penalty | None:
        """Return the penalty of coefficients that are zero outside `columns`."""
        penalty = self.penalty
        if isinstance(penalty, Slope):
            return Slope(penalty.strengths[: columns.size])
        if isinstance(penalty, GroupedPenalty):
            place = np.full(self.columns.rho.size, -1, dtype=np.intp)
            place[columns] = np.arange(columns.size)
            inside = [place[group][place[group] >= 0] for group in penalty.groups]
            kept: Any = [group for group in inside if group.size]
            l1, linf = penalty.l1, penalty.linf
            return SparseGroupLinf(l1, linf, kept) if kept else L1(l1)
        if isinstance(penalty, L1) and penalty.weights is not None:
            return L1(penalty.strength, penalty.weights[columns])
        return penalty

    @property
    def is_constrained(self) -> bool:
        """Whether there are bounds or constraint rows."""
        return self.region.has_rows or self.columns.has_bounds

    # ---- the penalty's part of the objective and of certificates --------------------------------

    def penalty_value(self, coef: Vector) -> float:
        """Return Omega(coef)."""
        if self.penalty is None:
            return 0.0
        return self.columns.value(coef) if self.is_separable else self.penalty.value(coef)

    def penalty_terms(self, coef: Vector, q: Vector, error: Vector) -> PenaltyTerms:
        """Return Omega(coef) and ``h(b) + h*(q) - q'b`` for the penalty with its bounds.

        `q` and all points within `error` of it lie in the dual range.
        """
        if self.is_separable:
            return PenaltyTerms(*_core.column_bounds(self.columns.core, coef, q, error))
        assert self.penalty is not None
        value = self.penalty.value(coef)
        gap, size = self.penalty.fenchel_young(coef, q), np.abs(coef)
        loose = gamma(2 * coef.size)  # of sums over the columns
        upper = gap + float(error @ size) + 4 * loose * (value + float(np.abs(q) @ size))
        lost = UNDERFLOW * coef.size if coef.any() or q.any() else 0.0  # by products
        return PenaltyTerms(value, loose * value + lost, gap, upper * (1.0 + loose) + lost)

    @cached_property
    def free_columns(self) -> Indices:
        """Columns that cost nothing and have no bound: q must be zero there."""
        if self.is_separable:
            if self.columns.strongly_convex:
                return np.zeros(0, dtype=np.intp)
            return np.flatnonzero(self.columns.free)
        assert self.penalty is not None
        return np.flatnonzero(self.penalty.free_columns(self.columns.rho.size))

    def wrong_signs(self, q: Vector, error: Vector | float = 0.0) -> Indices:
        """Return columns bounded on one side only where q may have the sign that costs infinity."""
        if not self.is_separable or not self.columns.has_bounds:
            return np.zeros(0, dtype=np.intp)
        low, high = self.columns.dual_range
        return np.flatnonzero(((high == 0) & (q + error > 0)) | ((low == 0) & (q - error < 0)))

    def shrink_factor(self, q: Vector) -> float:
        """Return the largest share of q that lies in the penalty's dual range."""
        if not self.is_separable:
            assert self.penalty is not None
            return self.penalty.shrink_factor(q)
        return self.safe_share(q, np.zeros(q.size))

    def safe_share(self, q: Vector, error: Vector) -> float:
        """Return a share of q that lies in the penalty's dual range, nearly the largest one.

        So does that share of every point within `error` of q.
        """
        if not self.is_separable:
            assert self.penalty is not None
            # Group and sorted norms depend on the sizes of q alone; their sums are rounded.
            size = (np.abs(q) + error) * (1.0 + 2 * gamma(q.size))
            return self.penalty.shrink_factor(size) if np.isfinite(size).all() else 0.0
        if self.columns.strongly_convex:
            return 1.0
        return _core.dual_share(self.columns.core, q, error)


class PenaltyTerms(NamedTuple):
    """What a penalty adds to a certificate.

    Attributes
    ----------
    value, error : float
        Omega(coef), and its rounding error.
    gap, upper : float
        The Fenchel-Young term, and an upper bound on the exact one.
    """

    value: float
    error: float
    gap: float
    upper: float


class Columns:
    """The penalty on each coefficient, with its bounds: four arrays of length d.

    ``h_j(b) = rho_j/2 b**2 + l1_j |b|`` on ``[lower_j, upper_j]``, infinite outside. With bounds
    inside the column function, ridge, elastic net, L1 and boxes need no dual variables of their
    own.

    Attributes
    ----------
    rho, l1, lower, upper : ndarray of shape (d,)
    core : _core.ColumnFunctions
        The four arrays for the compiled loops.
    strongly_convex : bool
        Whether the square of every column is penalised.
    has_l1 : bool
        Whether the size of any column is penalised.
    has_bounds : bool
        Whether any column has a bound.
    """

    def __init__(self, rho: Vector, l1: Vector, lower: Vector, upper: Vector) -> None:
        self.rho, self.l1, self.lower, self.upper = (
            np.ascontiguousarray(v, dtype=np.float64) for v in (rho, l1, lower, upper)
        )
        self.core = _core.ColumnFunctions(self.rho, self.l1, self.lower, self.upper)
        self.strongly_convex, self.has_l1, self.has_bounds = self.core.kinds()

    def __reduce__(self) -> tuple[Any, ...]:
        return Columns, (self.rho, self.l1, self.lower, self.upper)

    @cached_property
    def is_plain_l1(self) -> bool:
        """Whether the penalty is on sizes of columns alone."""
        return not self.rho.any() and not self.has_bounds

    @cached_property
    def dual_range(self) -> tuple[Vector, Vector]:
        """Where each ``h_j*`` is finite."""
        return self.core.dual_range()

    @cached_property
    def free(self) -> Mask:
        """Columns whose ``q_j`` must be zero."""
        low, high = self.dual_range
        return np.asarray((low == 0) & (high == 0))

    def slopes(self, coef: Vector) -> tuple[Vector, Vector]:
        """Return the least and the largest slope of each ``h_j``, infinite beyond bounds."""
        ridge = self.rho * coef
        low = ridge + np.where(coef > 0, self.l1, -self.l1)
        high = ridge + np.where(coef < 0, -self.l1, self.l1)
        at_bounds = coef <= self.lower, coef >= self.upper
        return np.where(at_bounds[0], -np.inf, low), np.where(at_bounds[1], np.inf, high)

    def value(self, coef: Vector) -> float:
        """Return the sum of ``h_j``, ignoring the bounds (violations are reported apart)."""
        total = 0.5 * float(np.dot(self.rho * coef, coef))
        return total + float(np.dot(self.l1, np.abs(coef))) if self.has_l1 else total
