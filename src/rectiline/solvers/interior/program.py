"""The scaled program: blocks of rows with their duals, a diagonal, a linear cost, and the way back.

    min over b   sum over blocks of parts(sign * R b + offset)  +  linear'b + sum_j rho_j/2 b_j^2

Data rows carry the loss; constraint rows, bounds and the rows of an epigraph carry parts with
infinite boxes; ``l1_j |b_j|`` is a part on the row e_j.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from rectiline.problems.forms import EpigraphForm, FormPoint
from rectiline.solvers.interior.blocks import Block
from rectiline.solvers.interior.per_row import Totals
from rectiline.solvers.interior.rows import DataRows
from rectiline.solvers.interior.scaling import Scales

Vector = NDArray[np.float64]

__all__ = ["Program"]

_CLEARLY_ZERO = 1e-6  # a multiplier relative to its row's slack
_WARM_SLACK = 0.1  # of the multipliers at a given starting point


@dataclass(slots=True, eq=False)
class Program:
    """Everything a step needs, and how to read the answer."""

    form: EpigraphForm
    scales: Scales
    samples: DataRows
    data: Block  # the samples with their losses
    inequalities: Block | None
    equalities: Block | None
    absolute: Block | None  # the l1 parts
    others: list[Block]  # bounds and epigraph rows
    rho: Vector
    linear: Vector
    constant: float  # of the objective
    reference: float  # the loss at zero coefficients: the yardstick of rounding

    @property
    def width(self) -> int:
        """Number of columns, the intercept included."""
        return int(self.rho.size)

    @property
    def blocks(self) -> list[Block]:
        """All blocks of rows."""
        given = [self.data, self.inequalities, self.equalities, self.absolute, *self.others]
        return [block for block in given if block is not None]

    @property
    def is_linear(self) -> bool:
        """Whether nothing in the program is curved."""
        return not self.rho.any() and not any(part.curved for part in self.data.parts)

    def pull(self) -> Vector:
        """Return the duals' pull on every column."""
        total = np.zeros(self.width)
        for block in self.blocks:
            total += block.pull()
        return total

    def begin(self, warm: FormPoint | None, slack: float = 1.0) -> Vector:
        """Set everything to its start, near a given point if that is better than zero.

        `slack` is added to the multipliers at a start from zero.
        """
        b = np.zeros(self.width)
        if warm is None:
            if slack != 1.0:
                self._begin_at(b, slack)
            return b
        scales, d = self.scales, self.form.design.n_features
        b[:d] = warm.coef / (scales.prediction * scales.column[:d])
        if self.form.fit_intercept:
            shift = 0.0 if scales.centre is None else float(scales.centre @ warm.coef)
            b[-1] = (warm.intercept + shift - scales.shift) / scales.prediction
        self._begin_at(b, _WARM_SLACK)
        totals = Totals()
        self.data.judge(totals)
        if not totals.value + self.constant <= self.reference:
            b[:] = 0.0
            self._begin_at(b)
        elif len(self.data.parts) == 1:
            unit = scales.prediction * scales.objective
            sample = self.samples.gathered(warm.sample)
            self.data.parts[0].begin_near(self.data.sign * sample * unit)
        return b

    def _begin_at(self, b: Vector, slack: float = 1.0) -> None:
        for block in self.blocks:
            block.place(b)
            for part in block.parts:
                part.begin(part.own(block.argument), slack)

    def begin_inside(self, b: Vector) -> Vector | None:
        """Start again from a point near `b` with slack in all inequalities, if there is one.

        Approached from outside, thin constraints (nearly parallel rows, say) are met only after the
        duals have lost their own room, and steps become short.
        """
        inner, block = self.form.inner_point, self.inequalities
        if inner is None or block is None:
            return None
        d = inner.size
        far = b.copy()
        far[:d] = inner / (self.scales.prediction * self.scales.column[:d])
        slack = block.rows.dot(b) + block.offset
        most = block.rows.dot(far) + block.offset
        outside = slack < 0
        if not (most > 0).all() or not outside.any():
            return None
        share = float(np.max(-slack[outside] / (most - slack)[outside]))
        b = b + min(1.0, 2.0 * share) * (far - b)
        self._begin_at(b)
        if not (block.argument > 0).all():
            return None
        block.parts[0].begin_inside(block.argument)
        return b

    # ---- the way back -------------------------------------------------------------------------

    def coefficients(self, b: Vector) -> tuple[Vector, float]:
        """Return the user's coefficients and intercept."""
        scales, d = self.scales, self.form.design.n_features
        coef = scales.prediction * scales.column[:d] * b[:d]
        if not self.form.fit_intercept:
            return coef, 0.0
        intercept = scales.prediction * b[-1] + scales.shift
        if scales.centre is not None:
            intercept -= float(scales.centre @ coef)
        return coef, float(intercept)

    def multipliers(self) -> tuple[Vector, Vector]:
        """Return the user's duals of samples and of constraint rows."""
        unit = self.scales.prediction * self.scales.objective
        sample = self.samples.scattered(self.data.dual() / unit)
        parts = []
        if self.inequalities is not None:
            dual = -self.inequalities.dual()
            if (self.scales.untouched & self.form.columns.free).any():
                # Nothing balances such a column but multipliers that are zero.
                dual[dual < _CLEARLY_ZERO * self.inequalities.parts[0].q] = 0.0
            parts.append(dual / (self.scales.rows[0] * unit))
        if self.equalities is not None:
            parts.append(-self.equalities.dual() / (self.scales.rows[1] * unit))
        return sample, np.concatenate(parts) if parts else np.zeros(0)

    def point(self, b: Vector) -> FormPoint:
        """Return the pair in the form's terms."""
        coef, intercept = self.coefficients(b)
        sample, constraint = self.multipliers()
        return FormPoint(coef, intercept, sample, constraint)
