"""`GroupLinf`: the sum over groups of the largest absolute value.

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

from rectiline import _core
from rectiline._typing import Indices, Vector
from rectiline.penalties._atom import Atom
from rectiline.penalties._base import ROUNDING, Penalty
from rectiline.penalties._checks import nonnegative, positive_integer
from rectiline.penalties._grouping import Grouping, read_groups


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
    grouping : Grouping
        The groups one after the other, as loops over them need it.

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

    grouping: Grouping
    _given: object

    def __init__(
        self,
        strength: float,
        groups: Sequence[int] | Sequence[str] | Sequence[Sequence[int]] | NDArray[Any],
    ) -> None:
        amount = nonnegative("GroupLinf", "strength", strength)
        grouping, given = read_groups(groups)
        self._set(strength=amount, grouping=grouping, _given=given)

    @property
    def groups(self) -> tuple[Indices, ...]:
        """The columns of each group, groups in the order of their first column."""
        return tuple(np.split(self.grouping.columns, self.grouping.starts[1:]))

    # ---- the function and its dual ball ------------------------------------------------------

    def value(self, coef: ArrayLike) -> float:
        """Return ``strength * sum_g max_{j in g} |coef_j|``."""
        return float(self.strength * np.sum(self._largest(self._point(coef, "coef"))))

    def dual_norm(self, q: ArrayLike) -> float:
        """Return the largest ``sum_{j in g} |q_j| / strength``; infinity if a free q_j != 0."""
        point = self._point(q, "q")
        if self._has_free(point.size) and np.any(point[self.free_columns(point.size)]):
            return math.inf
        if self.strength == 0.0:
            return 0.0
        with np.errstate(over="ignore"):
            return float(np.max(self._totals(point)) / self.strength)

    def fenchel_young(self, coef: ArrayLike, q: ArrayLike) -> float:
        """Return ``value(coef) + conjugate(q) - q @ coef`` as a sum of terms >= 0."""
        # In group g, with M = max |b_j|:  sum_j (|q_j| M - q_j b_j)  +  (strength - sum |q_j|) M.
        b, dual = self._point(coef, "coef"), self._point(q, "q")
        return math.inf if self.conjugate(dual) > 0.0 else self.bounded_fenchel_young(b, dual)

    def bounded_fenchel_young(self, coef: Vector, q: Vector) -> float:
        """Return `fenchel_young` of a dual point that is known to be feasible."""
        columns, starts = self.grouping.columns, self.grouping.starts
        b, dual, size = coef[columns], q[columns], np.abs(q[columns])
        largest = np.maximum.reduceat(np.abs(b), starts)
        spread = size * np.repeat(largest, np.diff(starts, append=columns.size)) - dual * b
        slack = np.maximum(self.strength - np.add.reduceat(size, starts), 0.0) * largest
        return float(spread.sum() + slack.sum())

    def prox(self, v: ArrayLike, step: float) -> Vector:
        """Return the minimiser of ``value(b) + |b - v|^2 / (2 step)``: each group is capped."""
        point, radius = self._point(v, "v"), self._step(step) * self.strength
        if radius == 0.0:
            return point.copy()
        return _core.group_prox(*self.grouping.layout, radius, point)

    def price(self, q: ArrayLike, k: int = 1) -> list[Atom]:
        """Return up to k groups with ``sum |q_j| > strength``, free columns with q_j != 0 first."""
        point, k = self._point(q, "q"), positive_integer("price", "k", k)
        free = np.zeros(0, dtype=np.intp)
        if self._has_free(point.size):
            free = np.flatnonzero(self.free_columns(point.size) & (point != 0.0))
        free = free[np.argsort(-np.abs(point[free]), kind="stable")[:k]]
        atoms = [self._atom(point, free[[i]], cost=0.0) for i in range(free.size)]
        excess = self._totals(point) - self.strength
        worst = np.flatnonzero((excess > ROUNDING * self.strength) & (self.strength > 0.0))
        most = k - len(atoms)
        if worst.size > 4 * most > 0:  # no need to sort them all
            worst = np.sort(worst[np.argpartition(-excess[worst], most - 1)[:most]])
        worst = worst[np.argsort(-excess[worst], kind="stable")[:most]]
        return atoms + [
            self._atom(point, self.grouping.members(int(g)), cost=self.strength) for g in worst
        ]

    # ---- the shape ---------------------------------------------------------------------------

    def check(self, n_features: int) -> None:
        """Raise ValueError unless there is a label per column, or every index is a column."""
        width = self.grouping.width
        if width is not None and width != n_features:
            raise ValueError(
                f"GroupLinf has {width} group labels but there are {n_features} columns: give "
                "one label per column."
            )
        last = self.grouping.last
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
        scaled._set(strength=amount, grouping=self.grouping, _given=self._given)
        return scaled

    def _arguments(self) -> Mapping[str, Any]:
        return {"strength": self.strength, "groups": self._given}

    def _key(self) -> tuple[object, ...]:
        # Labels are only names: equal groups make equal penalties.
        g = self.grouping
        return self.strength, g.width, g.columns.tobytes(), g.starts.tobytes()

    # ---- parts -------------------------------------------------------------------------------

    def _largest(self, point: Vector) -> Vector:
        return np.maximum.reduceat(np.abs(point[self.grouping.columns]), self.grouping.starts)

    def _totals(self, point: Vector) -> Vector:
        return np.add.reduceat(np.abs(point[self.grouping.columns]), self.grouping.starts)

    def _has_free(self, n_features: int) -> bool:
        return self.strength == 0.0 or self.grouping.columns.size < n_features

    def free_columns(self, n_features: int) -> NDArray[np.bool_]:
        """Mark the columns that pay nothing: those in no group, or all at strength 0."""
        free = np.ones(n_features, dtype=np.bool_)
        free[self.grouping.columns] = self.strength == 0.0
        return free

    def _atom(self, point: Vector, columns: Indices, cost: float) -> Atom:
        signs = np.where(point[columns] < 0.0, -1.0, 1.0)
        return Atom(columns, signs, cost, float(signs @ point[columns]) - cost)
