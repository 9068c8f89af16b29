"""The composite form: rows with a cost each plus a penalty that is known by its dual ball.

    min over b, b0   sum_i f_i(x_i'b + b0) + Omega(b)   subject to   R b + k >= 0 (or = 0)

Omega need not be separable: GroupLinf and Slope live here, and so does everything separable.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self

import numpy as np

from rectiline._lazy import Part, cached_property
from rectiline._typing import Indices, Mask, Vector
from rectiline.penalties import L1, GroupedPenalty, Penalty, Slope
from rectiline.problems._problem import Problem
from rectiline.problems._terms import Columns
from rectiline.problems.forms._base import FormPoint, ProblemForm
from rectiline.problems.forms._epigraph import Levels
from rectiline.problems.forms._units import LossUnits
from rectiline.problems.intercepts import best_shift

_SMALL_SHARE = 1e-9  # of the largest entry of q
_ROUNDING_OF_SUMS = 1e-13  # relative to the terms of an entry of q
_MOST_LEVELS = 6  # a sorted penalty with more distinct strengths needs too many epigraph columns


@dataclass(frozen=True, eq=False)
class CompositeForm(ProblemForm):
    """What a solver that works with pricing needs."""

    # ---- the loss ----------------------------------------------------------------------------

    @cached_property
    def units(self) -> LossUnits:
        """The losses as sums of units, each with one dual variable in a box."""
        return LossUnits.of(self.problem.data.samples)

    def on_columns(self, columns: Indices) -> Self:
        """Return the form of the problem where only `columns` may differ from zero."""
        return type(self)(self.problem.on_columns(columns))

    def on_samples(self, samples: Indices) -> Self:
        """Return the form of the problem on some samples, weighted up to the weight of all."""
        weight = self.weight[samples]
        weight = weight * (self.weight.sum() / weight.sum())
        return type(self)(self.problem.on_rows(samples, weight))

    def best_intercept(self, z: Vector) -> float:
        """Return an intercept that minimises the loss of the predictions ``z + intercept``."""
        if not self.fit_intercept:
            return 0.0
        return best_shift(self.problem, z)

    # ---- values ------------------------------------------------------------------------------

    def gap(self, point: FormPoint, z: Vector, q: Vector) -> tuple[float, float]:
        """Return the objective and a bound on its distance to the optimum, from known products.

        ``z = X b + b0`` and ``q = R'y - X'g``. This is the solver's estimate and no proof: the
        dual point is shrunk into the dual ball, but sums that must be zero are taken to be so, and
        rounding is not bounded.
        """
        terms = self.problem.terms
        q = q.copy()
        q[self.free_columns] = 0.0
        # Rounding, too: signs that a one-sided bound on a column without cost forbids.
        wrong = terms.wrong_signs(q)
        if wrong.size:
            size = self.problem.terms_of_q(self.invert(point)[2])[wrong]
            rounding = np.maximum(_SMALL_SHARE * np.abs(q).max(), _ROUNDING_OF_SUMS * size)
            q[wrong[np.abs(q[wrong]) <= rounding]] = 0.0
        share = terms.shrink_factor(q)
        loss, gap = self.rows.sums(z, share * point.sample)
        penalty = terms.penalty_terms(point.coef, share * q, np.zeros(q.size))
        primal = loss + penalty.value
        gap += penalty.gap
        if self.n_constraints:
            gap += terms.region.gap(point.coef, self.invert(point)[2].scaled(share))
            return primal, gap
        return primal, min(gap, primal - self.problem.least_loss)

    def rows_part(self, constraint: Vector) -> Vector | float:
        """Return ``A'xi + E'nu``."""
        region = self.problem.terms.region
        return region.stacked.design.tdot(constraint) if region.has_rows else 0.0

    # ---- the penalty: pricing, restriction to some columns ---------------------------------------

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

    #: Columns that cost nothing: q must be zero there.
    free_columns = Part[Indices]("problem.terms.free_columns")

    @cached_property
    def free_mask(self) -> Mask:
        """Whether each column costs nothing."""
        mask = np.zeros(self.problem.n_features, dtype=bool)
        mask[self.free_columns] = True
        return mask

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
            if self.shrink_factor(q) >= 1.0:
                return np.zeros(0, dtype=np.intp)
            place = min(int(inside.sum()), q.size - 1)
            high = np.full(q.size, 0.98 * float(self.sorted_strengths[place]))
            low = -high
        else:
            low, high = self.entry_range
        found = np.flatnonzero(((q > high) | (q < low)) & ~inside)
        if found.size > limit:  # few of the columns are ranked
            pull = q[found]
            score = pull / np.where(pull > 0, high[found], low[found])
            found = found[np.argpartition(-score, limit - 1)[:limit]]
        return found

    def shrink_factor(self, q: Vector) -> float:
        """Return the largest share of q that lies in the penalty's dual ball."""
        return self.problem.terms.shrink_factor(q)


@dataclass(frozen=True, eq=False)
class LinearProgramForm(CompositeForm):
    """Piecewise-linear losses and penalties that are norms: the dual is a linear program, in units.

    A loss without curvature has K knots ``t_k`` with slope jumps ``J_k``. Its conjugate is linear
    between them, so one boxed variable per knot, ``0 <= v_ik <= w_i J_k``, writes the dual as a
    linear program::

        g_i = p_i (w_i s_0 + sum_k v_ik),      -f_i*(g_i) = const + sum_k (o_i - t_k) v_ik

    with ``s_0`` the smallest slope of the loss and ``t = p z + o`` its argument. The variable
    ``(i, k)`` is called a *unit*. Its reduced cost is ``t_i - t_k``: a unit far on one side of its
    knot sits at an end of its box.
    """

    @staticmethod
    def accepts(problem: Problem) -> str | None:
        """Return why the problem is no linear program, or None if it is one."""
        for loss in problem.losses:
            if loss.curve.curvature.any():
                return f"the loss {loss!r} has curvature"
        if problem.is_separable:
            return "the penalty has a ridge part" if problem.columns.rho.any() else None
        if isinstance(problem.penalty, Slope):
            if Levels.of(problem.penalty.strengths).drop.size >= _MOST_LEVELS:
                return f"the sorted penalty has more than {_MOST_LEVELS} distinct strengths"
            return None
        if isinstance(problem.penalty, GroupedPenalty):
            return None
        return f"the penalty {problem.penalty!r} is not polyhedral"

    # ---- units -------------------------------------------------------------------------------

    @cached_property
    def least_slope(self) -> Vector:
        """The slope of each sample's loss on its far left, for weight 1."""
        samples = self.problem.data.samples
        return np.asarray(samples.each([one.curve.left[0] for one in samples.losses]))

    def arguments(self, z: Vector) -> Vector:
        """Return ``t_i - t_k`` for every unit at the predictions z: the units' reduced costs."""
        t = self.direction * z + self.offset
        reduced: Vector = t[self.units.sample] - self.units.knot
        return reduced

    # ---- the penalty -------------------------------------------------------------------------

    @cached_property
    def levels(self) -> Levels | None:
        """The levels of a sorted penalty."""
        return None if self.sorted_strengths is None else Levels.of(self.sorted_strengths)
