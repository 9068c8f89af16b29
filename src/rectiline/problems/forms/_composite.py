"""The composite form: rows with a cost each plus a penalty that is known by its prox and dual ball.

    min over b, b0   sum_i f_i(x_i'b + b0) + Omega(b)   subject to   R b + k >= 0 (or = 0)

Omega need not be separable: GroupLinf and Slope live here, and so does everything separable.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple, Self, cast

import numpy as np
from numpy.typing import NDArray

from rectiline import _core
from rectiline.backends import Design
from rectiline.losses import PLQCurve
from rectiline.penalties import L1, GroupLinf, Penalty, Slope
from rectiline.problems._certificate import DualPoint
from rectiline.problems._columns import Columns
from rectiline.problems._problem import Problem
from rectiline.problems.forms._rectified import FormPoint
from rectiline.problems.forms._sampled import on_columns, on_samples

Vector = NDArray[np.float64]
Indices = NDArray[np.intp]

__all__ = ["CompositeForm", "DualUnits"]


class DualUnits(NamedTuple):
    """Units of the losses: the sample, the sign of z, the box, the linear and quadratic cost."""

    sample: Indices
    sign: Vector
    cap: Vector
    lift: Vector
    bend: Vector


@dataclass(frozen=True, eq=False)
class CompositeForm:
    """What a solver that works with proximal steps or pricing needs."""

    problem: Problem

    @staticmethod
    def accepts(problem: Problem) -> str | None:
        """Return why the problem has no such form, or None if it has."""
        return None

    @classmethod
    def apply(cls, problem: Problem) -> CompositeForm:
        """Return the form of `problem`; nothing of the data is copied."""
        reason = cls.accepts(problem)
        if reason is not None:
            raise ValueError(f"The problem has no such form: {reason}.")
        return cls(problem)

    # ---- the parts ----------------------------------------------------------------------------

    @property
    def design(self) -> Design:
        """The data rows."""
        return self.problem.design

    @property
    def rows(self) -> _core.RowFunctions:
        """The cost of each data row."""
        return self.problem.rows

    @property
    def columns(self) -> Columns:
        """The cost of each column, where the penalty is separable."""
        return self.problem.columns

    @property
    def weight(self) -> Vector:
        """Sample weights."""
        return self.problem.weight

    @property
    def fit_intercept(self) -> bool:
        """Whether there is a free intercept."""
        return self.problem.fit_intercept

    @property
    def is_separable(self) -> bool:
        """Whether the penalty charges each column on its own."""
        return self.problem.is_separable

    @property
    def n_inequalities(self) -> int:
        """Number of inequality rows; they come first."""
        return int(self.problem.constraint_rows.c.size)

    @property
    def n_constraints(self) -> int:
        """Number of constraint rows."""
        rows = self.problem.constraint_rows
        return int(rows.c.size + rows.f.size)

    @property
    def direction(self) -> Vector:
        """The sign p_i in ``t_i = p_i z_i + o_i``, the argument of the loss."""
        return self.problem.direction

    @property
    def offset(self) -> Vector:
        """The offset o_i in ``t_i = p_i z_i + o_i``."""
        return self.problem.offset

    # ---- the loss -----------------------------------------------------------------------------

    @cached_property
    def losses(self) -> list[tuple[PLQCurve, Indices | slice]]:
        """The curves of the losses, each with the rows that it charges."""
        problem = self.problem
        if problem.loss_index is None:
            return [(problem.losses[0].curve, slice(None))]
        index = np.asarray(problem.loss_index)
        return [(one.curve, np.flatnonzero(index == k)) for k, one in enumerate(problem.losses)]

    def row_prox(self, z: Vector, step: Vector | float) -> Vector:
        """Return ``argmin_x f_i(x) + (x - z_i)^2 / (2 step_i)`` for every row."""
        given = self.direction * z + self.offset
        moved = np.empty_like(given)
        steps = np.broadcast_to(step * self.weight, given.shape)
        for curve, rows in self.losses:
            moved[rows] = curve.prox(given[rows], steps[rows])
        return np.where(moved == given, z, self.direction * (moved - self.offset))

    @cached_property
    def dual_units(self) -> DualUnits:
        """The loss as a sum of units, each with one dual variable in a box.

        ``f_i(z) = const + sum_u max over 0 <= a <= cap of a (sign z + lift) - bend a^2 / 2``.
        """
        parts: list[tuple[Vector, ...]] = []
        everyone = np.arange(self.problem.n_samples)
        units = [one.units for one in self.problem.losses]
        for loss, (_, rows) in zip(units, self.losses):
            i = everyone[rows]
            c, p, o = self.weight[i], self.direction[i], self.offset[i]
            for u, v in zip(loss.relu_u, loss.relu_v):
                side = np.sign(u)
                parts.append((i, side * p, c * abs(u), side * o + v / abs(u), 0.0 * c))
            for u, v, tau in zip(loss.rehu_s, loss.rehu_t, loss.rehu_tau):
                side = np.sign(u)
                with np.errstate(divide="ignore", invalid="ignore"):
                    cap, bend = np.where(c > 0, c * abs(u) * tau, 0.0), 1.0 / (c * u * u)
                parts.append((i, side * p, cap, side * o + v / abs(u), bend))
        columns = [np.concatenate(part) for part in zip(*parts)]
        live = columns[2] > 0
        sample, sign, cap, lift, bend = (column[live] for column in columns)
        return DualUnits(sample.astype(np.intp), sign, cap, lift, bend)

    def on_columns(self, columns: Indices) -> Self:
        """Return the same form of the problem where only `columns` may differ from zero."""
        penalty = None if self.problem.penalty is None else self.penalty_on(columns)
        return type(self)(on_columns(self.problem, columns, penalty))

    def on_samples(self, samples: Indices) -> Self:
        """Return the same form of the problem on some samples, weighted up."""
        return type(self)(on_samples(self.problem, samples))

    def best_intercept(self, z: Vector) -> float:
        """Return an intercept that minimises the loss of the predictions ``z + intercept``."""
        if not self.fit_intercept:
            return 0.0
        knots = np.concatenate([curve.knots for curve, _ in self.losses])
        ends = self.direction * (np.array([[knots.min()], [knots.max()]]) - self.offset) - z
        low, high = float(ends.min()), float(ends.max())

        def slope(at: float) -> float:
            return float(self.rows.slopes(z + at).sum())

        for _ in range(200):  # knots beyond the ends cannot hold the minimiser of a falling line
            if slope(low) <= 0.0 <= slope(high):
                break
            width = max(high - low, 1.0)
            low, high = low - width, high + width
        for _ in range(60):
            middle = 0.5 * (low + high)
            if slope(middle) > 0.0:
                high = middle
            else:
                low = middle
        return 0.5 * (low + high)

    def is_curved(self) -> bool:
        """Whether the loss has a quadratic piece."""
        return any(bool(curve.curvature.any()) for curve, _ in self.losses)

    # ---- the penalty --------------------------------------------------------------------------

    @cached_property
    def penalty(self) -> Penalty:
        """The penalty; L1 of strength 0 where there is none."""
        return L1(0.0) if self.problem.penalty is None else self.problem.penalty

    @cached_property
    def groups(self) -> list[Indices] | None:
        """The columns of each group of a grouped penalty."""
        return list(self.penalty.groups) if isinstance(self.penalty, GroupLinf) else None

    @cached_property
    def sorted_strengths(self) -> Vector | None:
        """The strengths of a sorted penalty."""
        return self.penalty.strengths if isinstance(self.penalty, Slope) else None

    @cached_property
    def free_columns(self) -> Indices:
        """Columns that cost nothing: q must be zero there."""
        return cast(Indices, self.problem._free_columns)

    @cached_property
    def free_mask(self) -> NDArray[np.bool_]:
        """The same, one flag per column."""
        mask = np.zeros(self.problem.n_features, dtype=bool)
        mask[self.free_columns] = True
        return mask

    def penalty_on(self, columns: Indices) -> Penalty:
        """Return the penalty of coefficients that are zero outside `columns`."""
        penalty = self.penalty
        if isinstance(penalty, Slope):
            return Slope(penalty.strengths[: columns.size])
        if isinstance(penalty, GroupLinf):
            place = np.full(self.problem.n_features, -1, dtype=np.intp)
            place[columns] = np.arange(columns.size)
            inside = [place[group][place[group] >= 0] for group in penalty.groups]
            kept = [group for group in inside if group.size]
            return GroupLinf(penalty.strength, kept) if kept else L1(0.0)
        if isinstance(penalty, L1) and penalty.weights is not None:
            return L1(penalty.strength, penalty.weights[columns])
        return penalty

    def prox(self, v: Vector, step: float) -> Vector:
        """Return the minimiser of ``Omega(b) + |b - v|^2 / (2 step)``, bounds included."""
        if self.sorted_strengths is not None:
            return _core.sorted_l1_prox(np.ascontiguousarray(v), step * self.sorted_strengths)
        coef = self.penalty.prox(v, step)
        if self.is_separable and self.columns.has_bounds:
            coef = np.clip(coef, self.columns.lower, self.columns.upper)
        return coef

    def moving_together(self, coef: Vector) -> tuple[Indices, Indices]:
        """Return which coefficients the prox moves as one: (places by cluster, cluster starts).

        At a point of the prox the nonzero entries of a sorted penalty with equal absolute value
        form a cluster, and so do the entries of a group at its largest absolute value; all other
        nonzero entries move alone.
        """
        size = np.abs(coef)
        places = np.flatnonzero(size > 0)
        if self.sorted_strengths is not None:
            places = places[np.argsort(-size[places], kind="stable")]
            label = size[places]
        elif self.groups is not None:
            group = self._group_of
            largest = np.zeros(len(self.groups) + 1)
            np.maximum.at(largest, group, size)
            at_top = (size == largest[group]) & (group < len(self.groups))
            label = np.where(at_top, group, len(self.groups) + 1 + np.arange(coef.size))[places]
            order = np.argsort(label, kind="stable")
            places, label = places[order], label[order]
        else:
            return places, np.arange(places.size)
        starts = np.flatnonzero(np.append(True, label[1:] != label[:-1])[: label.size])
        return places, starts

    @cached_property
    def _group_of(self) -> Indices:
        """The group of each column; one more than the last for those in no group."""
        assert self.groups is not None
        owner = np.full(self.problem.n_features, len(self.groups), dtype=np.intp)
        for g, members in enumerate(self.groups):
            owner[members] = g
        return owner

    @cached_property
    def needed_columns(self) -> Indices:
        """Columns without which the restricted problem may have no solution.

        Those without cost, those whose bounds exclude zero, and the support of a feasible point.
        """
        needed = np.zeros(self.problem.n_features, dtype=bool)
        needed[self.free_columns] = True
        if self.is_separable:
            needed |= (self.columns.lower > 0) | (self.columns.upper < 0)
        if self.n_constraints and self.problem.feasibility.point is not None:
            needed |= self.problem.feasibility.point != 0
        return np.flatnonzero(needed)

    @cached_property
    def entry_range(self) -> tuple[Vector, Vector]:
        """Where q_j may lie without making ``b_j = 0`` worse than moving (separable penalties)."""
        columns = self.columns
        high = np.where(columns.upper > 0, columns.l1, np.inf)
        low = np.where(columns.lower < 0, -columns.l1, -np.inf)
        return low, high

    def missing_columns(self, q: Vector, inside: NDArray[np.bool_], limit: int) -> Indices:
        """Return up to about `limit` columns outside a working set that q asks for."""
        if self.groups is not None:
            strength = self.penalty.strength
            order = self.penalty.price(np.where(inside, 0.0, q), limit) if strength > 0 else []
            picked = [atom.columns for atom in order]
            sizes = np.cumsum([one.size for one in picked])
            kept = picked[: int(np.searchsorted(sizes, limit)) + 1]
            return np.concatenate(kept) if kept else np.zeros(0, dtype=np.intp)
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
        return self.problem._shrink_factor(q)

    # ---- values ---------------------------------------------------------------------------------

    def gap(self, point: FormPoint, z: Vector, q: Vector) -> tuple[float, float]:
        """Return the objective and a bound on its distance to the optimum, from known products.

        ``z = X b + b0`` and ``q = R'y - X'g``. The dual point is shrunk into the dual ball; what
        the intercept's balance leaves is not repaired here, so this is the solver's estimate.
        """
        problem = self.problem
        q = q.copy()
        q[self.free_columns] = 0.0
        share = problem._shrink_factor(q)
        loss, gap = self.rows.sums(z, share * point.sample)
        primal = loss + problem.penalty_value(point.coef)
        gap += problem._penalty_gap(point.coef, share * q)
        if self.n_constraints:
            gap += problem._constraint_gap(point.coef, self.invert(point)[2].scaled(share))
        trivial = primal - problem._least_loss
        return primal, min(gap, trivial) if not self.n_constraints else gap

    def rows_part(self, constraint: Vector) -> Vector | float:
        """Return ``A'xi + E'nu``."""
        m = self.n_inequalities
        return self.problem._rows_part(
            DualPoint(np.zeros(0), constraint[:m], constraint[m:])
        )

    # ---- the way back ---------------------------------------------------------------------------

    def invert(self, point: FormPoint) -> tuple[Vector, float, DualPoint]:
        """Return coefficients, intercept and dual point in the problem's own terms."""
        m = self.n_inequalities
        dual = DualPoint(point.sample, point.constraint[:m], point.constraint[m:])
        return point.coef, point.intercept, dual

    def point_of(self, coef: Vector, intercept: float, dual: DualPoint) -> FormPoint:
        """Return the problem's pair in the form's terms; the inverse of `invert`."""
        constraint = np.concatenate([dual.inequality, dual.equality])
        return FormPoint(coef, intercept, dual.sample, constraint)
