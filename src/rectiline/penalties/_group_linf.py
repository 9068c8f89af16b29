"""The sum over groups of the largest absolute value.

Omega(b)       =  strength * sum_g max_{j in g} |b_j|
feasible q     :  sum_{j in g} |q_j| <= strength for each group, q_j = 0 for free columns
prox           =  v_g minus its projection on the L1 ball of radius step * strength (Moreau)
atoms          :  a group with one sign per column, all at the cost `strength`
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from rectiline.penalties._atom import Atom
from rectiline.penalties._base import ROUNDING, Penalty, Vector
from rectiline.penalties._checks import nonnegative, positive_integer
from rectiline.penalties._grouping import Grouping, Indices, read_groups


class GroupLinf(Penalty):
    """Charge ``strength * sum_g max_{j in g} |b_j|`` over disjoint groups of columns.

    Whole groups become zero together, and the columns of one group tend to share one size.
    Columns in no group are free: they pay nothing, and their q_j must be exactly 0.

    Parameters
    ----------
    strength : float
        Finite and >= 0.
    groups : array-like of labels, or list of index lists
        One label (an integer or a string) per column; or for each group the list of its columns,
        counted from 0. Groups must not overlap.

    Attributes
    ----------
    groups : tuple of ndarray
        The columns of each group, groups in the order of their first column.

    Examples
    --------
    >>> from rectiline.penalties import GroupLinf
    >>> penalty = GroupLinf(2.0, groups=["a", "a", "b"])
    >>> penalty.value([1.0, -3.0, 0.5])
    7.0
    >>> penalty.dual_norm([1.0, -3.0, 1.0])
    2.0
    >>> penalty.prox([5.0, 4.0, -1.0], step=1.0)
    array([3.5, 3.5, 0. ])
    >>> GroupLinf(1.0, groups=[[0, 2]]).value([1.0, 9.0, -2.0])
    2.0
    """

    _grouping: Grouping
    _given: object

    def __init__(
        self,
        strength: float,
        groups: Sequence[int] | Sequence[str] | Sequence[Sequence[int]] | NDArray[Any],
    ) -> None:
        amount = nonnegative("GroupLinf", "strength", strength)
        grouping, given = read_groups(groups)
        self._set(strength=amount, _grouping=grouping, _given=given)

    @property
    def groups(self) -> tuple[Indices, ...]:
        """The columns of each group, groups in the order of their first column."""
        return tuple(np.split(self._grouping.columns, self._grouping.starts[1:]))

    # ---- the function and its dual ball ------------------------------------------------------

    def value(self, coef: ArrayLike) -> float:
        """Return ``strength * sum_g max_{j in g} |coef_j|``."""
        return float(self.strength * np.sum(self._largest(self._point(coef, "coef"))))

    def dual_norm(self, q: ArrayLike) -> float:
        """Return the largest ``sum_{j in g} |q_j| / strength``; infinity if a free q_j != 0."""
        point = self._point(q, "q")
        if np.any(point[self.free_columns(point.size)]):
            return math.inf
        if self.strength == 0.0:
            return 0.0
        with np.errstate(over="ignore"):
            return float(np.max(self._totals(point)) / self.strength)

    def fenchel_young(self, coef: ArrayLike, q: ArrayLike) -> float:
        """Return ``value(coef) + conjugate(q) - q @ coef`` as a sum of terms >= 0."""
        # In group g, with M = max |b_j|:  sum_j (|q_j| M - q_j b_j)  +  (strength - sum |q_j|) M.
        b, dual = self._point(coef, "coef"), self._point(q, "q")
        if self.conjugate(dual) > 0.0:
            return math.inf
        largest, totals = self._largest(b), self._totals(dual)
        members = self._grouping.columns
        spread = np.repeat(largest, self._grouping.sizes)
        tight = np.abs(dual[members]) * spread - dual[members] * b[members]
        slack = np.maximum(self.strength - totals, 0.0) * largest
        return float(np.sum(tight) + np.sum(slack))

    def prox(self, v: ArrayLike, step: float) -> Vector:
        """Return the minimiser of ``value(b) + |b - v|^2 / (2 step)``: each group is capped."""
        moved, radius = self._point(v, "v").copy(), self._step(step) * self.strength
        if radius > 0.0:
            members = self._grouping.columns
            levels = self._levels(np.abs(moved[members]), radius)
            cap = np.repeat(levels, self._grouping.sizes)
            moved[members] = np.clip(moved[members], -cap, cap) + 0.0
        return moved

    def price(self, q: ArrayLike, k: int = 1) -> list[Atom]:
        """Return up to k groups with ``sum |q_j| > strength``, free columns with q_j != 0 first."""
        point, k = self._point(q, "q"), positive_integer("price", "k", k)
        free = np.flatnonzero(self.free_columns(point.size) & (point != 0.0))
        free = free[np.argsort(-np.abs(point[free]), kind="stable")[:k]]
        atoms = [self._atom(point, free[[i]], cost=0.0) for i in range(free.size)]
        excess = self._totals(point) - self.strength
        worst = np.flatnonzero((excess > ROUNDING * self.strength) & (self.strength > 0.0))
        worst = worst[np.argsort(-excess[worst], kind="stable")[: k - len(atoms)]]
        return atoms + [
            self._atom(point, self._grouping.members(int(g)), cost=self.strength) for g in worst
        ]

    # ---- the shape ---------------------------------------------------------------------------

    def check(self, n_features: int) -> None:
        """Raise ValueError unless there is a label per column, or every index is a column."""
        width = self._grouping.width
        if width is not None and width != n_features:
            raise ValueError(
                f"GroupLinf has {width} group labels but there are {n_features} columns: give "
                "one label per column."
            )
        last = int(self._grouping.columns.max())
        if last >= n_features:
            raise ValueError(
                f"GroupLinf: groups hold column {last} but there are {n_features} columns, "
                f"counted from 0 to {n_features - 1}."
            )

    @property
    def is_zero(self) -> bool:
        """Whether the strength is 0."""
        return self.strength == 0.0

    def with_strength(self, strength: float) -> GroupLinf:
        """Return the penalty with the same groups and another strength."""
        amount = nonnegative("GroupLinf", "strength", strength)
        scaled = object.__new__(GroupLinf)  # the groups are already read
        scaled._set(strength=amount, _grouping=self._grouping, _given=self._given)
        return scaled

    def _arguments(self) -> Mapping[str, Any]:
        return {"strength": self.strength, "groups": self._given}

    def _key(self) -> tuple[object, ...]:
        # Labels are only names: equal groups make equal penalties.
        g = self._grouping
        return self.strength, g.width, g.columns.tobytes(), g.starts.tobytes()

    # ---- parts -------------------------------------------------------------------------------

    def _largest(self, point: Vector) -> Vector:
        g = self._grouping
        return np.maximum.reduceat(np.abs(point[g.columns]), g.starts)

    def _totals(self, point: Vector) -> Vector:
        g = self._grouping
        return np.add.reduceat(np.abs(point[g.columns]), g.starts)

    def free_columns(self, n_features: int) -> NDArray[np.bool_]:
        """Mark the columns that pay nothing: those in no group, or all at strength 0."""
        free = np.ones(n_features, dtype=np.bool_)
        free[self._grouping.columns] = self.strength == 0.0
        return free

    def _levels(self, size: Vector, radius: float) -> Vector:
        """Return per group the level t >= 0 with ``sum (size - t)+ = radius``, or 0 if none.

        Projecting on the L1 ball soft-thresholds by this level, so the prox caps at it. Newton's
        method on the sum, a convex piecewise linear function of t, started from the left climbs
        to the root in finitely many steps (a handful in practice) without sorting, for all
        groups at once.
        """
        g = self._grouping
        levels = np.maximum((np.add.reduceat(size, g.starts) - radius) / g.sizes, 0.0)
        active = g.sizes
        while True:
            above = size > np.repeat(levels, g.sizes)
            count = np.add.reduceat(above.astype(np.intp), g.starts)
            # A level of 0 is final. An empty set means a radius below the rounding of the sizes.
            moving = (count < active) & (count > 0) & (levels > 0.0)
            if not moving.any():
                return levels
            total = np.add.reduceat(np.where(above, size, 0.0), g.starts)
            levels = np.where(moving, (total - radius) / np.maximum(count, 1), levels)
            active = np.where(moving, count, active)

    def _atom(self, point: Vector, columns: Indices, cost: float) -> Atom:
        signs = np.where(point[columns] < 0.0, -1.0, 1.0)
        return Atom(columns, signs, cost, float(signs @ point[columns]) - cost)
