"""The linear-program form: piecewise-linear losses and penalties that are norms.

A loss without curvature has K knots ``t_k`` with slope jumps ``J_k``. Its conjugate is linear
between them, so one boxed variable per knot, ``0 <= v_ik <= w_i J_k``, writes the dual as a
linear program:

    g_i = p_i (w_i s_0 + sum_k v_ik),      -f_i*(g_i) = const + sum_k (o_i - t_k) v_ik

with ``s_0`` the smallest slope of the loss and ``t = p z + o`` its argument. The variable ``(i,
k)`` is called a *unit*. Its reduced cost is ``t_i - t_k``: a unit far on one side of its knot
sits at an end of its box.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from rectiline._lazy import cached_property
from rectiline._typing import Indices, Vector
from rectiline.penalties import GroupedPenalty, Slope
from rectiline.problems._problem import Problem
from rectiline.problems.forms._composite import CompositeForm
from rectiline.problems.forms._epigraph import Levels

_MOST_LEVELS = 6  # a sorted penalty with more distinct strengths needs too many epigraph columns


class Units(NamedTuple):
    """Sample, knot and slope jump of every unit."""

    sample: Indices
    knot: Vector
    jump: Vector


@dataclass(frozen=True, eq=False)
class LinearProgramForm(CompositeForm):
    """A problem whose dual is a linear program, in units."""

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
    def units(self) -> Units:
        """All units, knot by knot."""
        n = self.problem.n_samples
        parts = []
        for curve, rows in self.losses:
            samples = np.arange(n)[rows]
            jump = curve.right - curve.left
            parts += [
                (samples, np.full(samples.size, t), np.full(samples.size, height))
                for t, height in zip(curve.knots, jump)
                if height > 0
            ]
        if not parts:  # a linear term and no data
            return Units(np.zeros(0, dtype=np.intp), np.zeros(0), np.zeros(0))
        sample, knot, jump = (np.concatenate(part) for part in zip(*parts))
        return Units(sample, knot, jump)

    @cached_property
    def least_slope(self) -> Vector:
        """The slope of each sample's loss on its far left, for weight 1."""
        slope = np.zeros(self.problem.n_samples)
        for curve, rows in self.losses:
            slope[rows] = curve.left[0]
        return slope

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
