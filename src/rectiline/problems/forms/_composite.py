"""The composite form: rows with a cost each plus a penalty that is known by its prox and dual ball.

    min over b, b0   sum_i f_i(x_i'b + b0) + Omega(b)   subject to   R b + k >= 0 (or = 0)

Omega need not be separable: GroupLinf and Slope live here, and so does everything separable.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self

import numpy as np

from rectiline._lazy import Part, cached_property
from rectiline._typing import Indices, Vector
from rectiline.losses import PLQCurve
from rectiline.problems._certificate import DualPoint
from rectiline.problems.forms._dual_units import DualUnits, dual_units
from rectiline.problems.forms._on_problem import FormPoint, ProblemForm
from rectiline.problems.forms._penalty_parts import PenaltyParts
from rectiline.problems.intercepts import best_shift

__all__ = ["CompositeForm"]


@dataclass(frozen=True, eq=False)
class CompositeForm(PenaltyParts, ProblemForm):
    """What a solver that works with proximal steps or pricing needs."""

    #: Sample weights.
    weight = Part[Vector]("problem.weight")

    # ---- the loss ----------------------------------------------------------------------------

    @cached_property
    def losses(self) -> list[tuple[PLQCurve, Indices | slice]]:
        """The curves of the losses, each with the rows that it charges."""
        problem = self.problem
        if problem.loss_index is None:
            return [(problem.losses[0].curve, slice(None))]
        index = np.asarray(problem.loss_index)
        return [(one.curve, np.flatnonzero(index == k)) for k, one in enumerate(problem.losses)]

    @cached_property
    def dual_units(self) -> DualUnits:
        """The loss as a sum of units, each with one dual variable in a box."""
        return dual_units(self.problem, [rows for _, rows in self.losses])

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
        q[wrong[np.abs(q[wrong]) <= 1e-9 * np.abs(q).max(initial=0.0)]] = 0.0
        share = terms.shrink_factor(q)
        loss, gap = self.rows.sums(z, share * point.sample)
        primal = loss + terms.penalty_value(point.coef)
        gap += terms.penalty_gap(point.coef, share * q)
        if self.n_constraints:
            gap += terms.region.gap(point.coef, self.invert(point)[2].scaled(share))
            return primal, gap
        return primal, min(gap, primal - self.problem.least_loss)

    def rows_part(self, constraint: Vector) -> Vector | float:
        """Return ``A'xi + E'nu``."""
        m = self.n_inequalities
        dual = DualPoint(np.zeros(0), constraint[:m], constraint[m:])
        return self.problem.terms.region.combined(dual)
