"""`SparseGroupLinf`: absolute values of all columns and the largest one of each group.

Omega(b)       =  l1 |b|_1 + linf * sum_g max_{j in g} |b_j|
feasible q     :  sum_{j in g} (|q_j| - l1)+ <= linf for each group, |q_j| <= l1 outside them
conjugate      :  an infimal convolution; q splits into clip(q, -l1, l1) for the first norm and the
                  rest for the second, which leaves nothing to search for
prox           =  the prox of GroupLinf after soft thresholding (the caps keep all signs)
atoms          :  some columns of a group with one sign each, k of them at the cost linf + k l1
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from rectiline._typing import Indices, Vector
from rectiline.penalties._atom import Atom
from rectiline.penalties._base import ROUNDING, Penalty
from rectiline.penalties._checks import nonnegative, positive_integer
from rectiline.penalties._group_linf import GroupLinf


class SparseGroupLinf(Penalty):
    """Charge ``l1 |b|_1 + linf * sum_g max_{j in g} |b_j|`` over disjoint groups of columns.

    Whole groups become zero together, and single columns within the groups that stay. Columns in
    no group pay ``l1`` alone. The main strength is ``l1 + linf``; `with_strength` keeps the ratio.

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

    l1: float
    linf: float
    _norm: GroupLinf

    def __init__(
        self,
        l1: float,
        linf: float,
        groups: Sequence[int] | Sequence[str] | Sequence[Sequence[int]] | NDArray[Any],
    ) -> None:
        lasso = nonnegative("SparseGroupLinf", "l1", l1)
        self._make(lasso, GroupLinf(nonnegative("SparseGroupLinf", "linf", linf), groups))

    def _make(self, l1: float, norm: GroupLinf) -> None:
        self._set(l1=l1, linf=norm.strength, strength=l1 + norm.strength, _norm=norm)

    @property
    def groups(self) -> tuple[Indices, ...]:
        """The columns of each group, groups in the order of their first column."""
        return self._norm.groups

    # ---- the function and its dual ball ------------------------------------------------------

    def value(self, coef: ArrayLike) -> float:
        """Return ``l1 |coef|_1 + linf * sum_g max_{j in g} |coef_j|``."""
        point = self._point(coef, "coef")
        return self.l1 * float(np.abs(point).sum()) + self._norm.value(point)

    def dual_norm(self, q: ArrayLike) -> float:
        """Return the least t with ``sum_{j in g} (|q_j| - t l1)+ <= t linf`` in each group."""
        point = self._point(q, "q")
        if self.l1 == 0.0:
            return self._norm.dual_norm(point)
        size, grouping = np.abs(point), self._norm.grouping
        outside = np.ones(size.size, dtype=bool)
        outside[grouping.columns] = False
        with np.errstate(over="ignore"):
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
        inner, outer = self._parts(dual)
        terms = float(np.sum(self.l1 * np.abs(b) - inner * b))
        outer[self._norm.free_columns(b.size)] = 0.0  # what is left there is rounding
        return terms + self._norm.bounded_fenchel_young(b, outer)

    def prox(self, v: ArrayLike, step: float) -> Vector:
        """Return the minimiser of ``value(b) + |b - v|^2 / (2 step)``."""
        point, step = self._point(v, "v"), self._step(step)
        reach = step * self.l1
        return self._norm.prox(point - np.clip(point, -reach, reach), step)

    def price(self, q: ArrayLike, k: int = 1) -> list[Atom]:
        """Return up to k atoms with a positive excess: those of `GroupLinf` beyond ``l1``."""
        point, k = self._point(q, "q"), positive_integer("price", "k", k)
        _, outer = self._parts(point)
        outer[np.abs(outer) <= ROUNDING * self.l1] = 0.0
        atoms = []
        for atom in self._norm.price(outer, k):
            used = outer[atom.columns] != 0.0
            columns, signs = atom.columns[used], atom.signs[used]
            atoms.append(replace(atom, columns=columns, signs=signs, cost=self.cost(columns)))
        return atoms

    # ---- the shape ---------------------------------------------------------------------------

    def check(self, n_features: int) -> None:
        """Raise ValueError unless there is a label per column, or every index is a column."""
        self._norm.check(n_features)

    @property
    def is_zero(self) -> bool:
        """Whether both strengths are 0."""
        return self.strength == 0.0

    def with_strength(self, strength: float) -> SparseGroupLinf:
        """Return the penalty with ``l1 + linf = strength`` and the same ratio of the two."""
        total = nonnegative("SparseGroupLinf", "strength", strength)
        if total > 0.0 and self.is_zero:
            raise ValueError(
                f"SparseGroupLinf(l1=0.0, linf=0.0) cannot be scaled to strength {total!r}: it has "
                "no ratio of l1 to linf. Make SparseGroupLinf(l1, linf, groups) directly."
            )
        before = self.strength or 1.0
        scaled = object.__new__(SparseGroupLinf)  # the groups are already read
        scaled._make(self.l1 / before * total, self._norm.with_strength(self.linf / before * total))
        return scaled

    def free_columns(self, n_features: int) -> NDArray[np.bool_]:
        """Mark the columns that pay nothing: those in no group, where ``l1`` is 0."""
        if self.l1 > 0.0:
            self.check(n_features)
            return np.zeros(n_features, dtype=np.bool_)
        return self._norm.free_columns(n_features)

    def cost(self, columns: Indices) -> float:
        """Return what coefficients of size 1 cost on some columns of one group, or on one alone."""
        grouped = bool(np.isin(columns[0], self._norm.grouping.columns))
        return self.l1 * columns.size + (self.linf if grouped else 0.0)

    def _arguments(self) -> Mapping[str, Any]:
        return {"l1": self.l1, "linf": self.linf, "groups": self._norm._arguments()["groups"]}

    def _key(self) -> tuple[object, ...]:
        return self.l1, *self._norm._key()

    def _parts(self, q: Vector) -> tuple[Vector, Vector]:
        """Return what the absolute values take of q, and what is left to the groups."""
        inner = np.clip(q, -self.l1, self.l1)
        return inner, q - inner
