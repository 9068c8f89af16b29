"""The iterate of `interior` and the method's own estimate of its certificate."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from rectiline.solvers.interior.per_row import Totals
from rectiline.solvers.interior.program import Program
from rectiline.solvers.interior.rows import UnitRows
from rectiline.solvers.interior.split import Coupling

Vector = NDArray[np.float64]

__all__ = ["Iterate", "Verdict", "charge", "judge"]

_VIOLATION = 1e-8  # in units where rows have norm one; the certificate repairs this much
_ROUNDING_LEVEL = 1e-14  # as in certificates: smaller gaps, relative to the reference, are rounding


@dataclass(slots=True, eq=False)
class Iterate:
    """The moving parts: coefficients, the duals' pull on the columns, and the proximal term."""

    program: Program
    b: Vector
    pull: Vector
    by_rows: bool
    proximal: float
    products: float = np.inf  # sum of the complementarity products
    count: int = 1  # and their number
    size: float = 1.0  # of the objective
    step: float = 1.0
    coupling: Coupling = field(default_factory=Coupling)

    def restart(self) -> bool:
        """Start again inside the constraints; return whether that was possible."""
        b = self.program.begin_inside(self.b)
        if b is None:
            return False
        self.b, self.pull = b, self.program.pull()
        return True

    @property
    def residual(self) -> Vector:
        """What is left of stationarity on every column."""
        program = self.program
        return program.rho * self.b + program.linear + self.pull


@dataclass(frozen=True, slots=True)
class Verdict:
    """The iteration's own opinion of the pair."""

    relative_gap: float
    violation: float
    products: float

    def meets(self, target: float) -> bool:
        """Whether the pair looks good enough; small violations are repaired by the certificate."""
        return self.relative_gap <= target and self.violation <= _VIOLATION


def judge(state: Iterate) -> Verdict:
    """Return an estimate of what the problem's certificate will say."""
    program, b = state.program, state.b
    totals = Totals()
    for block in program.blocks:
        block.judge(totals)
    gap, excess = charge(state, state.residual)
    gap += totals.gap
    paid = totals.value + float(b @ (0.5 * program.rho * b + program.linear))
    if not program.form.linear_rows.size:
        gap = min(gap, max(paid, 0.0))  # zero multipliers prove that nothing pays less than nothing
    value = paid + program.constant
    size = max(abs(value), abs(value - gap), np.finfo(float).tiny)
    if gap <= _ROUNDING_LEVEL * program.reference:
        size = max(size, program.reference)
    state.size = size
    mean = totals.products / max(totals.count, 1)
    return Verdict(gap / size + excess, totals.violation, mean)


def charge(state: Iterate, left: Vector) -> tuple[float, float]:
    """Return what a residual of stationarity adds to the gap, and to the relative gap.

    Columns with curvature pay its square. On columns that only an l1 part holds, the certificate
    shrinks the whole dual point until their pull is within the strength.
    """
    program = state.program
    rho, curved = program.rho, program.rho > 0
    gap = float(np.sum(left[curved] ** 2 / (2.0 * rho[curved])))
    gap += float(np.abs(left[~curved]) @ np.abs(state.b[~curved]))
    excess = 0.0
    block = program.absolute
    if block is not None:
        rows, part = block.rows, block.parts[0]
        assert isinstance(rows, UnitRows) and part.high is not None
        over = np.abs(part.a - left[rows.index]) / part.high - 1.0
        excess = float(np.max(over[~curved[rows.index]], initial=0.0))
    return gap, excess
