"""What is decided centrally: directions, step lengths, how hard to aim at the centre, when to give up.

One iteration is a step of Mehrotra's predictor-corrector method. It needs from the rows the weighted sum
of their squares, three weighted sums of rows, and a few scalars.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from rectiline.solvers.interior.normal import Factor, FactorError, factorise
from rectiline.solvers.interior.per_row import Totals
from rectiline.solvers.interior.program import Program
from rectiline.solvers.interior.rows import UnitRows

Vector = NDArray[np.float64]

__all__ = ["Iterate", "Verdict", "iterate", "judge"]

_STAY_INSIDE = 0.995  # share of the way to the nearest bound
_REFINEMENTS = 3
_VIOLATION = 1e-8  # in units where rows have norm one
_LARGEST_PROXIMAL = 1e-2


@dataclass(slots=True, eq=False)
class Iterate:
    """The moving parts: coefficients, the duals' pull on the columns, and the proximal term."""

    program: Program
    b: Vector
    pull: Vector
    by_rows: bool
    proximal: float
    products: float = np.inf  # mean complementarity product
    step: float = 1.0
    trace: list[str] = field(default_factory=list)

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


def judge(iterate: Iterate) -> Verdict:
    """Return an estimate of what the problem's certificate will say."""
    program, b = iterate.program, iterate.b
    totals = Totals()
    for block in program.blocks:
        block.judge(totals)
    rest, rho = iterate.residual, program.rho
    curved = rho > 0
    gap = totals.gap + float(np.sum(rest[curved] ** 2 / (2.0 * rho[curved])))
    gap += float(np.abs(rest[~curved]) @ np.abs(b[~curved]))
    value = totals.value + program.constant + float(b @ (0.5 * rho * b + program.linear))
    size = max(abs(value), abs(value - gap), np.finfo(float).tiny)
    products = totals.products / max(totals.count, 1)
    return Verdict(gap / size + _excess(iterate), totals.violation, products)


def _excess(iterate: Iterate) -> float:
    """Return how far the pull exceeds the strength of an l1 part where nothing else can take it.

    The certificate shrinks the whole dual point by that much.
    """
    block = iterate.program.absolute
    if block is None:
        return 0.0
    rows, part = block.rows, block.parts[0]
    assert isinstance(rows, UnitRows) and part.high is not None
    only = (iterate.program.rho == 0)[rows.index]
    over = np.abs(part.a - iterate.residual[rows.index]) / part.high - 1.0
    return float(np.max(over[only], initial=0.0))


def iterate(state: Iterate) -> bool:
    """Take one predictor-corrector step; return False if no step could be made."""
    program, blocks = state.program, state.program.blocks
    weights = [block.weights() for block in blocks]
    factor = _factor(state, weights)
    if factor is None:
        return False
    products, count = _products(state)
    _direction(state, factor, None, refinements=0)
    dual, primal = _longest(state, 1.0)
    after = sum(block.products_after(dual, primal) for block in blocks) / max(count, 1)
    mean = products / max(count, 1)
    centre = float(np.clip((after / mean) ** 3, 1e-8, 1.0)) * mean if mean > 0 else 0.0
    change = _direction(state, factor, centre, refinements=_REFINEMENTS)
    dual, primal = _longest(state, _STAY_INSIDE)
    direction, pull_change = change
    if not (np.isfinite(direction).all() and np.isfinite(pull_change).all()):
        return False
    state.b = state.b + primal * direction
    state.pull = state.pull + dual * pull_change
    for block in blocks:
        block.move(dual, primal)
    state.step = min(dual, primal)
    return True


def _products(state: Iterate) -> tuple[float, int]:
    totals = Totals()
    for block in state.program.blocks:
        for part in block.parts:
            part.count(totals)
    return totals.products, totals.count


def _factor(state: Iterate, weights: list[Vector]) -> Factor | None:
    """Factorise, with a larger proximal term where that is needed to succeed."""
    proximal = state.proximal
    while proximal <= _LARGEST_PROXIMAL:
        try:
            return factorise(
                state.program.blocks, weights, state.program.rho + proximal, state.by_rows
            )
        except FactorError:
            proximal *= 100.0
            state.proximal = proximal
    return None


def _direction(
    state: Iterate, factor: Factor, centre: float | None, refinements: int
) -> tuple[Vector, Vector]:
    """Set the direction on all rows; return that of the coefficients and of the pull."""
    program, blocks = state.program, state.program.blocks
    own = program.rho * state.b + program.linear
    direction = -factor.solve(own, [block.aim(centre) for block in blocks])
    for block in blocks:
        block.turn(direction)
    if not refinements:
        return direction, direction
    rest = own + state.pull
    size = float(np.max(np.abs(rest)))
    for k in range(refinements + 1):
        pull_change = np.zeros(program.width)
        for block in blocks:
            pull_change += block.pull_change()
        left = rest + program.rho * direction + pull_change
        if k == refinements or float(np.max(np.abs(left))) <= 1e-9 * size:
            break
        more = -factor.solve(left)
        direction = direction + more
        for block in blocks:
            block.correct(more)
    return direction, pull_change


def _longest(state: Iterate, share: float) -> tuple[float, float]:
    """Return the step lengths of the duals and of the rest."""
    steps = [block.longest() for block in state.program.blocks]
    dual = min(1.0, share * min(step[0] for step in steps))
    primal = min(1.0, share * min(step[1] for step in steps))
    if not state.program.is_linear:
        # Curvature ties the two sides together.
        dual = primal = min(dual, primal)
    return dual, primal
