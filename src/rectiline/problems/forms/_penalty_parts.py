"""What working-set solvers ask of a penalty: prox, pricing, restriction to some columns."""

from __future__ import annotations

import numpy as np

from rectiline import _core
from rectiline._lazy import Part, cached_property
from rectiline._typing import Indices, Mask, Vector
from rectiline.penalties import L1, GroupedPenalty, Penalty, Slope
from rectiline.problems._columns import Columns
from rectiline.problems._problem import Problem

__all__ = ["PenaltyParts"]


class PenaltyParts:
    """Accessors for a form that holds a `problem`."""

    problem: Problem

    #: The cost of each column, where the penalty is separable.
    columns = Part[Columns]("problem.columns")
    #: Whether the penalty charges each column on its own.
    is_separable = Part[bool]("problem.is_separable")

    @cached_property
    def penalty(self) -> Penalty:
        """The penalty; L1 of strength 0 where there is none."""
        return L1(0.0) if self.problem.penalty is None else self.problem.penalty

    @cached_property
    def groups(self) -> list[Indices] | None:
        """The columns of each group of a grouped penalty."""
        penalty = self.penalty
        return list(penalty.groups) if isinstance(penalty, GroupedPenalty) else None

    @cached_property
    def group_costs(self) -> tuple[float, float]:
        """What a grouped penalty charges: the largest of a group, and every absolute value."""
        assert isinstance(self.penalty, GroupedPenalty)
        return self.penalty.linf, self.penalty.l1

    def whole_groups(self, columns: Indices) -> Indices:
        """Return the columns with all others of their groups."""
        if self.groups is None:
            return columns
        touched = np.zeros(self.problem.n_features, dtype=bool)
        touched[columns] = True
        for group in self.groups:
            touched[group] |= touched[group].any()
        return np.flatnonzero(touched)

    @cached_property
    def sorted_strengths(self) -> Vector | None:
        """The strengths of a sorted penalty."""
        return self.penalty.strengths if isinstance(self.penalty, Slope) else None

    @cached_property
    def free_columns(self) -> Indices:
        """Columns that cost nothing: q must be zero there."""
        return self.problem.terms.free_columns

    @cached_property
    def free_mask(self) -> Mask:
        """Whether each column costs nothing."""
        mask = np.zeros(self.problem.n_features, dtype=bool)
        mask[self.free_columns] = True
        return mask

    def prox(self, v: Vector, step: float) -> Vector:
        """Return the minimiser of ``Omega(b) + |b - v|^2 / (2 step)``, bounds included."""
        if self.sorted_strengths is not None:
            return _core.sorted_l1_prox(np.ascontiguousarray(v), step * self.sorted_strengths)
        coef = self.penalty.prox(v, step)
        if self.is_separable and self.columns.has_bounds:
            coef = np.clip(coef, self.columns.lower, self.columns.upper)
        return coef

    @cached_property
    def needed_columns(self) -> Indices:
        """Columns without which the restricted problem may have no solution.

        Those without cost, those whose bounds exclude zero, and the support of a feasible point.
        """
        needed = np.zeros(self.problem.n_features, dtype=bool)
        needed[self.free_columns] = True
        if self.is_separable:
            needed |= (self.columns.lower > 0) | (self.columns.upper < 0)
        if self.problem.has_constraint_rows and self.problem.feasibility.point is not None:
            needed |= self.problem.feasibility.point != 0
        return np.flatnonzero(needed)

    @cached_property
    def entry_range(self) -> tuple[Vector, Vector]:
        """Where q_j may lie without making ``b_j = 0`` worse than moving (separable penalties)."""
        columns = self.columns
        high = np.where(columns.upper > 0, columns.l1, np.inf)
        low = np.where(columns.lower < 0, -columns.l1, -np.inf)
        return low, high

    def missing_columns(self, q: Vector, inside: Mask, limit: int) -> Indices:
        """Return up to about `limit` columns outside a working set that q asks for."""
        if self.groups is not None:
            strength = self.penalty.strength
            atoms = self.penalty.price(np.where(inside, 0.0, q), limit) if strength > 0 else []
            sizes = np.cumsum([atom.columns.size for atom in atoms])
            kept = [atom.columns for atom in atoms[: int(np.searchsorted(sizes, limit)) + 1]]
            return self.whole_groups(np.concatenate(kept)) if kept else np.zeros(0, dtype=np.intp)
        if self.sorted_strengths is not None:
            score, bar = np.abs(q), 0.0
            if self.shrink_factor(q) >= 1.0:
                bar = np.inf
            else:
                place = min(int(inside.sum()), score.size - 1)
                bar = 0.98 * float(self.sorted_strengths[place])
        else:
            low, high = self.entry_range
            with np.errstate(divide="ignore", invalid="ignore"):
                score = np.where(q == 0, 0.0, np.abs(q) / np.where(q > 0, high, -low))
            bar = 1.0
        score = np.where(inside, -np.inf, score)
        found = np.flatnonzero(score > bar)
        if found.size > limit:
            found = found[np.argpartition(-score[found], limit - 1)[:limit]]
        return found

    def shrink_factor(self, q: Vector) -> float:
        """Return the largest share of q that lies in the penalty's dual ball."""
        return self.problem.terms.shrink_factor(q)
