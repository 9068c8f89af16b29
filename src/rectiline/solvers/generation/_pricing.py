"""Which directions the restricted problem lacks: one pricing rule per kind of penalty.

A direction is worth adding when ``a'q`` exceeds its cost. Columns are ranked by how far the
dual point would have to shrink for them; groups are priced exactly, by their worst sign vector;
for a sorted penalty the test is the dual norm of all columns together, since columns one by one
prove nothing there.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from rectiline._typing import Indices, Vector
from rectiline.problems.forms import LinearProgramForm
from rectiline.solvers._screening import largest, screened_columns
from rectiline.solvers.generation._directions import Directions

_ROUNDING = 1e-12


class Pricing:
    """Keeps the directions of the restricted problem and finds better ones.

    ``seed(q, coef, limit)`` adds what every restricted problem needs, the support of `coef`, and
    the best for q; ``extend(q, limit)`` adds up to `limit` directions that q asks for and returns
    how many.
    """

    seed: Any
    extend: Any

    def __init__(self, form: LinearProgramForm) -> None:
        self.form = form
        self.directions = Directions(form.design.n_features)
        # Columns with a negative sign, then those with a positive one.
        self._inside = np.zeros((2, form.design.n_features), dtype=bool)

    def _add(self, columns: Indices, signs: Vector) -> None:
        """Add signed columns that are not there yet."""
        side = (signs > 0).astype(np.intp)
        new = ~self._inside[side, columns]
        self._inside[side[new], columns[new]] = True
        self.directions.add(columns[new], signs[new])


def pricing_for(form: LinearProgramForm) -> Pricing:
    """Return the pricing rule of the form's penalty."""
    if form.is_separable:
        return ColumnPricing(form)
    return SortedPricing(form) if form.levels is not None else AtomPricing(form)


class ColumnPricing(Pricing):
    """Columns of a separable penalty, with bounds; one sign stands for both."""

    def seed(self, q: Vector, coef: Vector, limit: int) -> None:
        """Add wanted columns, the support, and the columns with the largest ``|q_j| / l1_j``."""
        self._add_columns(np.union1d(self.form.needed_columns, np.flatnonzero(coef)))
        self._add_columns(screened_columns(self.form, q, limit))

    def extend(self, q: Vector, limit: int) -> int:
        """Add the columns with the largest ratio above one."""
        if self.directions.size == q.size:  # all are there
            return 0
        new = self.form.missing_columns(q, self._inside[1], limit)
        self._add_columns(new)
        return int(new.size)

    def _add_columns(self, columns: Indices) -> None:
        self._add(columns, np.ones(columns.size))


class SortedPricing(Pricing):
    """Signed columns of a sorted penalty with few levels."""

    def seed(self, q: Vector, coef: Vector, limit: int) -> None:
        """Add wanted columns with both signs, the support, and the columns with the largest q."""
        wanted, support = self.form.needed_columns, np.flatnonzero(coef)
        worst = largest(np.abs(q), limit, 0.0)
        ones = np.ones(wanted.size)
        parts = (wanted, ones), (wanted, -ones), (support, coef[support]), (worst, q[worst])
        for columns, signs in parts:
            self._add(columns, np.sign(signs))

    def extend(self, q: Vector, limit: int) -> int:
        """Add the columns with the largest ``|q_j|`` above the base, if q is not dual feasible."""
        if self.form.shrink_factor(q) >= 1.0:
            return 0
        assert self.form.levels is not None
        size = np.abs(q)
        size[self._inside[(q > 0).astype(np.intp), np.arange(q.size)]] = -np.inf
        new = largest(size, limit, self.form.levels.base * (1.0 + _ROUNDING))
        self._add(new, np.sign(q[new]))
        return int(new.size)


class AtomPricing(Pricing):
    """Sign vectors on groups."""

    def __init__(self, form: LinearProgramForm) -> None:
        super().__init__(form)
        self._known: set[bytes] = set()
        self._grouped = np.zeros(form.design.n_features, dtype=bool)
        self._grouped[np.concatenate(form.groups or [])] = True

    def seed(self, q: Vector, coef: Vector, limit: int) -> None:
        """Add free columns, the vertices around the support, and the groups with the largest q."""
        free = self.form.free_columns
        columns = [free[[i]] for i in range(free.size)]
        self._add_atoms(columns, [np.ones(1)] * free.size)
        feasible = self.form.problem.feasibility.point if self.form.n_constraints else None
        for point in (coef, feasible):
            if point is None or not point.any():
                continue
            for group in self.form.groups or []:
                if point[group].any():
                    self._add_vertices(group, point[group])
            alone = np.flatnonzero(point * ~self._grouped)
            self._add_atoms([alone[[i]] for i in range(alone.size)], [np.ones(1)] * alone.size)
        if self.form.penalty.strength > 0:
            # Any strength ranks the groups; with next to none all of them are worth a price.
            q = np.where(self.form.free_mask, 0.0, q)
            largest = float(np.abs(q).max(initial=0.0))
            atoms = self.form.penalty.with_strength(_ROUNDING * largest).price(q, limit)
            self._add_atoms([a.columns for a in atoms], [a.signs for a in atoms])

    def extend(self, q: Vector, limit: int) -> int:
        """Add the worst sign vector of each of the worst groups."""
        q = np.where(self.form.free_mask, 0.0, q)  # in the program; what is left is rounding
        atoms = self.form.penalty.price(q, limit)
        before = self.directions.size
        self._add_atoms([a.columns for a in atoms], [a.signs for a in atoms])
        return self.directions.size - before

    def _add_vertices(self, group: Indices, values: Vector) -> None:
        """Add atoms whose sum, with positive multipliers, is `values` at no higher a price.

        Corners of the cube that holds `values` (thresholds of its entries); where every column
        has a price of its own, the signs of the entries above each level.
        """
        if self.form.group_costs[1] > 0.0:
            size = np.abs(values)
            for level in np.unique(size[size > 0.0]):
                above = size >= level
                self._add_atoms([group[above]], [np.sign(values[above])])
            return
        for level in np.unique(np.append(values, values.min() - 1.0)):
            self._add_atoms([group], [np.where(values > level, 1.0, -1.0)])

    def _add_atoms(self, columns: list[Indices], signs: list[Vector]) -> None:
        largest, each = self.form.group_costs
        keep, costs = [], [largest * self._grouped[one[0]] + each * one.size for one in columns]
        for place, (where, sign) in enumerate(zip(columns, signs)):
            key = where.tobytes() + (sign * sign[0]).tobytes()  # an atom and its negative are one
            if key not in self._known:
                self._known.add(key)
                keep.append(place)
        if keep:
            kept = [columns[k] for k in keep]
            self.directions.add(
                np.concatenate(kept),
                np.concatenate([signs[k] for k in keep]),
                np.array([one.size for one in kept]),
                np.asarray(costs)[keep],
            )
