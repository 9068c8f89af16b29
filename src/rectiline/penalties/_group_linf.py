"""`GroupLinf` and `SparseGroupLinf`: the largest absolute value of each group, and all of them.

Omega(b)       =  l1 |b|_1 + linf * sum_g max_{j in g} |b_j|;  GroupLinf has l1 = 0
feasible q     :  sum_{j in g} (|q_j| - l1)+ <= linf for each group, |q_j| <= l1 outside them
conjugate      :  an infimal convolution; q splits into clip(q, -l1, l1) for the first norm and the
                  rest for the second, which leaves nothing to search for
prox           =  after soft thresholding, v_g minus its projection on the L1 ball of radius
                  step * linf (Moreau); the caps keep all signs
atoms          :  some columns of a group with one sign each, k of them at the cost linf + k l1
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from rectiline import _core
from rectiline._numbers import nonnegative, positive_integer
from rectiline._typing import Indices, Vector
from rectiline.penalties._base import ROUNDING, Atom, Penalty
from rectiline.penalties._grouping import Grouping, read_groups

Groups = Sequence[int] | Sequence[str] | Sequence[Sequence[int]] | NDArray[Any]


class GroupedPenalty(Penalty):
    """``l1 |b|_1 + linf * sum_g max_{j in g} |b_j|`` over disjoint groups of columns."""

    l1: float
    linf: float
    grouping: Grouping
    _given: object

    def _make(self, l1: float, linf: float, grouping: Grouping, given: object) -> Self:
        self._set(l1=l1, linf=linf, strength=l1 + linf, grouping=grouping, _given=given)
        return self

    @property
    def groups(self) -> tuple[Indices, ...]:
        """The columns of each group, groups in the order of their first column."""
        columns, starts = self.grouping.columns, self.grouping.starts
        ends = [*starts[1:], columns.size]
        return tuple(columns[start:end] for start, end in zip(starts, ends))

    # ---- the function and its dual ball ------------------------------------------------------

    def value(self, coef: ArrayLike) -> float:
        """Return ``l1 |coef|_1 + linf * sum_g max_{j in g} |coef_j|``."""
        size = np.abs(self._point(coef, "coef"))
        largest = np.maximum.reduceat(size[self.grouping.columns], self.grouping.starts)
        each = self.l1 * float(size.sum()) if self.l1 > 0.0 else 0.0
        return each + self.linf * float(largest.sum())

    def dual_norm(self, q: ArrayLike) -> float:
        """Return the least t with ``sum_{j in g} (|q_j| - t l1)+ <= t linf`` in each group.

        It is infinite where a column without penalty has q_j != 0.
        """
        point = self._point(q, "q")
        size, grouping = np.abs(point), self.grouping
        if self._has_free(size.size) and np.any(size[self.free_columns(size.size)]):
            return math.inf
        if self.strength == 0.0:
            return 0.0
        with np.errstate(over="ignore"):
            if self.l1 == 0.0:
                return float(np.max(self._totals(point)) / self.linf)
            outside = np.ones(size.size, dtype=bool)
            outside[grouping.columns] = False
            alone = float(np.max(size[outside], initial=0.0)) / self.l1
            # t is the largest ratio of the k largest |q_j| to linf + k l1. With all columns of a
            # group it is too small; each round drops those that lie below t l1.
            part, owner = size[grouping.columns], grouping.owner
            kept, count = np.ones(part.size, dtype=bool), -1
            t = np.zeros(grouping.sizes.size)
            while count != (count := int(np.count_nonzero(kept))):
                chosen = owner[kept]
                total = np.bincount(chosen, part[kept], minlength=t.size)
                costs = self.linf + self.l1 * np.bincount(chosen, minlength=t.size)
                t = np.maximum(t, total / np.where(costs > 0.0, costs, 1.0))
                kept &= part > self.l1 * t[owner]
        return max(alone, float(t.max()))

    def fenchel_young(self, coef: ArrayLike, q: ArrayLike) -> float:
        """Return ``value(coef) + conjugate(q) - q @ coef`` as a sum of terms >= 0."""
        b, dual = self._point(coef, "coef"), self._point(q, "q")
        if self.conjugate(dual) > 0.0:
            return math.inf
        inner = np.clip(dual, -self.l1, self.l1)
        each = float(np.sum(self.l1 * np.abs(b) - inner * b)) if self.l1 > 0.0 else 0.0
        # In group g, with M = max |b_j| and r = q - inner:
        #     sum_j (|r_j| M - r_j b_j)  +  (linf - sum |r_j|) M.
        columns, starts = self.grouping.columns, self.grouping.starts
        b, rest = b[columns], (dual - inner)[columns]
        size, largest = np.abs(rest), np.maximum.reduceat(np.abs(b), starts)
        spread = size * np.repeat(largest, self.grouping.sizes) - rest * b
        slack = np.maximum(self.linf - np.add.reduceat(size, starts), 0.0) * largest
        return each + float(spread.sum() + slack.sum())

    def prox(self, v: ArrayLike, step: float) -> Vector:
        """Return the minimiser of ``value(b) + |b - v|^2 / (2 step)``: each group is capped."""
        point, step = self._point(v, "v"), self._step(step)
        point = point - np.clip(point, -step * self.l1, step * self.l1)
        if self.linf == 0.0:
            return point
        return _core.group_prox(*self.grouping.layout, step * self.linf, point)

    def price(self, q: ArrayLike, k: int = 1) -> list[Atom]:
        """Return up to k atoms with a positive excess, free columns with q_j != 0 first."""
        point, k = self._point(q, "q"), positive_integer("price", "k", k)
        beyond = point - np.clip(point, -self.l1, self.l1)
        beyond[np.abs(beyond) <= ROUNDING * self.l1] = 0.0
        alone = np.zeros(0, dtype=np.intp)
        if self.linf == 0.0 or self.grouping.columns.size < point.size:
            outside = np.ones(point.size, dtype=np.bool_)
            outside[self.grouping.columns] = self.linf == 0.0
            alone = np.flatnonzero(outside & (beyond != 0.0))
        alone = alone[np.argsort(-np.abs(beyond[alone]), kind="stable")[:k]]
        atoms = [self._atom(point, alone[[i]], cost=self.l1) for i in range(alone.size)]
        excess = self._totals(beyond) - self.linf
        worst = np.flatnonzero((excess > ROUNDING * self.linf) & (self.linf > 0.0))
        most = k - len(atoms)
        if worst.size > 4 * most > 0:  # no need to sort them all
            worst = np.sort(worst[np.argpartition(-excess[worst], most - 1)[:most]])
        for g in worst[np.argsort(-excess[worst], kind="stable")[:most]]:
            members = self.grouping.members(int(g))
            if self.l1 > 0.0:
                members = members[beyond[members] != 0.0]
            atoms.append(self._atom(point, members, self.linf + self.l1 * members.size))
        return atoms

    # ---- the shape ---------------------------------------------------------------------------

    def check(self, n_features: int) -> None:
        """Raise ValueError unless there is a label per column, or every index is a column."""
        width, last = self.grouping.width, self.grouping.last
        if width is not None and width != n_features:
            raise ValueError(
                f"{type(self).__name__} has {width} group labels but there are {n_features} "
                "columns: give one label per column."
            )
        if last >= n_features:
            raise ValueError(
                f"{type(self).__name__}: groups hold column {last} but there are {n_features} "
                f"columns, counted from 0 to {n_features - 1}."
            )

    def free_columns(self, n_features: int) -> NDArray[np.bool_]:
        """Mark the columns without penalty: those in no group, or all if there is no strength."""
        self.check(n_features)
        free = np.full(n_features, self.l1 == 0.0)
        free[self.grouping.columns] = self.strength == 0.0
        return free

    def _key(self) -> tuple[object, ...]:
        # Labels are only names: equal groups make equal penalties.
        g = self.grouping
        return self.l1, self.linf, g.width, g.columns.tobytes(), g.starts.tobytes()

    def _has_free(self, n_features: int) -> bool:
        return self.l1 == 0.0 and (self.linf == 0.0 or self.grouping.columns.size < n_features)

    def _totals(self, point: Vector) -> Vector:
        return np.add.reduceat(np.abs(point[self.grouping.columns]), self.grouping.starts)

    def _atom(self, point: Vector, columns: Indices, cost: float) -> Atom:
        signs = np.where(point[columns] < 0.0, -1.0, 1.0)
        return Atom(columns, signs, cost, float(signs @ point[columns]) - cost)


class GroupLinf(GroupedPenalty):
    """Group penalty, ``strength * sum_g max_{j in g} |b_j|`` over disjoint groups of columns.

    Whole groups become zero together, and the columns of one group tend to share one size.
    Columns in no group are not penalised, and their q_j must be exactly 0.

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

    def __init__(self, strength: float, groups: Groups) -> None:
        self._make(0.0, nonnegative("GroupLinf", "strength", strength), *read_groups(groups))

    def with_strength(self, strength: float) -> GroupLinf:
        """Return the penalty with the same groups and another strength."""
        amount = nonnegative("GroupLinf", "strength", strength)
        scaled = object.__new__(GroupLinf)  # the groups are already read
        return scaled._make(0.0, amount, self.grouping, self._given)

    def _arguments(self) -> Mapping[str, Any]:
        return {"strength": self.strength, "groups": self._given}


class SparseGroupLinf(GroupedPenalty):
    """Sparse group penalty, ``l1 |b|_1 + linf * sum_g max_{j in g} |b_j|`` over disjoint groups.

    Whole groups become zero together, and single columns within the groups that stay. Columns in
    no group have ``l1`` alone. The main strength is ``l1 + linf``; `with_strength` keeps the ratio.

    Parameters
    ----------
    l1, linf : float
        Finite and >= 0.
    groups : array-like of labels, or list of index lists
        As in `GroupLinf`.

    Attributes
    ----------
    groups : tuple of ndarray
        The columns of each group, groups in the order of their first column.

    Examples
    --------
    >>> from rectiline.penalties import SparseGroupLinf
    >>> penalty = SparseGroupLinf(l1=1.0, linf=2.0, groups=["a", "a", "b"])
    >>> penalty.value([1.0, -3.0, 0.5])
    11.5
    >>> penalty.dual_norm([1.0, -6.0, 1.0])
    2.0
    >>> penalty.prox([5.0, 1.5, -1.0], step=1.0)
    array([2. , 0.5, 0. ])
    """

    def __init__(self, l1: float, linf: float, groups: Groups) -> None:
        each = nonnegative("SparseGroupLinf", "l1", l1)
        self._make(each, nonnegative("SparseGroupLinf", "linf", linf), *read_groups(groups))

    def with_strength(self, strength: float) -> SparseGroupLinf:
        """Return the penalty with ``l1 + linf = strength`` and the same ratio of the two."""
        l1, linf = self._scaled(strength, self.l1, self.linf)
        scaled = object.__new__(SparseGroupLinf)  # the groups are already read
        return scaled._make(l1, linf, self.grouping, self._given)

    def _arguments(self) -> Mapping[str, Any]:
        return {"l1": self.l1, "linf": self.linf, "groups": self._given}
