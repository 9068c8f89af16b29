"""What is decided centrally: directions, step lengths, how hard to aim at the centre.

One iteration is a step of Mehrotra's predictor-corrector method. It needs from the rows the
weighted sum of their squares, three weighted sums of rows, and a few scalars.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from rectiline.solvers.interior.normal import Factor, FactorError, factorise
from rectiline.solvers.interior.per_row import Totals
from rectiline.solvers.interior.program import Program
from rectiline.solvers.interior.rows import UnitRows

Vector = NDArray[np.float64]

__all__ = ["Iterate", "Verdict", "iterate", "judge"]

_STAY_INSIDE = 0.995  # share of the way to the nearest bound
_EXPONENT = 3  # of the predicted fall of the products: how much of it the corrector aims at
_SHORT = 0.5  # a corrector's step below this is compared with one of less second-order correction
_CORRECTORS = 2  # most attempts to lengthen a step by centring
_LONG_ENOUGH = 0.9
_HOPE = 0.3  # by how much they aim to lengthen it
_GAIN = 0.03  # and what is worth another attempt
_REFINEMENTS = 3
_ENOUGH = 1e-2  # share of the gap that an error of the linear systems may add
_VIOLATION = 1e-8  # in units where rows have norm one; the certificate repairs this much
_LARGEST_PROXIMAL = 1e-2
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
    size: float = 1.0  # of the objective
    step: float = 1.0

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
    gap, excess = _charge(state, state.residual)
    gap += totals.gap
    paid = totals.value + float(b @ (0.5 * program.rho * b + program.linear))
    gap = min(gap, max(paid, 0.0))  # zero multipliers prove that nothing pays less than nothing
    value = paid + program.constant
    size = max(abs(value), abs(value - gap), np.finfo(float).tiny)
    if gap <= _ROUNDING_LEVEL * program.reference:
        size = max(size, program.reference)
    state.size = size
    mean = totals.products / max(totals.count, 1)
    return Verdict(gap / size + excess, totals.violation, mean)


def _charge(state: Iterate, left: Vector) -> tuple[float, float]:
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


def iterate(state: Iterate) -> bool:
    """Take one predictor-corrector step; return False if no step could be made."""
    blocks = state.program.blocks
    weights = [block.weights() for block in blocks]
    factor = _factor(state, weights)
    if factor is None:
        return False
    state.products, count = _products(state)
    mean = state.products / max(count, 1)
    _solve(state, factor, [block.aim_at_boundary() for block in blocks])
    dual, primal = _longest(state, 1.0)
    after = sum(block.products_after(dual, primal) for block in blocks) / max(count, 1)
    centre = float(np.clip((after / mean) ** _EXPONENT, 1e-8, 1.0)) * mean if mean > 0 else 0.0
    direction = _correct(state, factor, centre, min(dual, primal))
    direction = _centralise(state, factor, centre, direction)
    direction, pull = _refine(state, factor, direction)
    if not (np.isfinite(direction).all() and np.isfinite(pull).all()):
        return False
    dual, primal = _longest(state, _STAY_INSIDE)
    state.b = state.b + primal * direction
    # A full step forgets the rounding of all earlier ones.
    state.pull = (1.0 - dual) * state.pull + dual * pull
    for block in blocks:
        block.move(dual, primal)
        if state.by_rows:
            block.place(state.b)
    state.step = min(dual, primal)
    return True


def _solve(state: Iterate, factor: Factor, aims: list[Vector]) -> Vector:
    """Set the direction on all rows for what they aim at; return that of the coefficients."""
    program = state.program
    x, targets = factor.solve(program.rho * state.b + program.linear, aims)
    for block, target in zip(program.blocks, targets, strict=True):
        block.turn(-x, None if target is None else -target)
    return -x


def _correct(state: Iterate, factor: Factor, centre: float, reach: float) -> Vector:
    """Set the corrector's direction; return that of the coefficients.

    To make up for the whole second-order error is right for a predictor of full length. Where
    that makes a short step, the share that the predictor could go is tried as well.
    """
    blocks = state.program.blocks
    for block in blocks:
        block.remember()
    direction = _solve(state, factor, [block.aim_at_centre(centre, 1.0) for block in blocks])
    steps = _longest(state, 1.0)
    if min(steps) >= _SHORT:
        return direction
    kept = [block.direction() for block in blocks]
    trial = _solve(state, factor, [block.aim_at_centre(centre, reach) for block in blocks])
    if min(_longest(state, 1.0)) > min(steps):
        return trial
    for block, own in zip(blocks, kept, strict=True):
        block.restore(own)
    return direction


def _centralise(state: Iterate, factor: Factor, centre: float, direction: Vector) -> Vector:
    """Try to lengthen a short step by taking care of outlying products first."""
    blocks = state.program.blocks
    steps = _longest(state, 1.0)
    for _ in range(_CORRECTORS):
        if min(steps) >= _LONG_ENOUGH:
            break
        kept = [block.direction() for block in blocks]
        hoped = [min(1.0, step + _HOPE) for step in steps]
        aims = [block.aim_at_outliers(centre, *hoped) for block in blocks]
        trial = _solve(state, factor, aims)
        longer = _longest(state, 1.0)
        if sum(longer) < sum(steps) + 2 * _GAIN:
            for block, own in zip(blocks, kept, strict=True):
                block.restore(own)
            break
        direction, steps = trial, longer
    return direction


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


def _refine(state: Iterate, factor: Factor, direction: Vector) -> tuple[Vector, Vector]:
    """Correct the direction until what is left of the equations does not matter for the gap.

    Returns the direction of the coefficients and the duals' pull at its end.
    """
    program, blocks = state.program, state.program.blocks
    own = program.rho * state.b + program.linear
    enough = _ENOUGH * state.products / state.size
    last, energy = np.inf, 0.0
    search: Vector | None = None
    pull = _pull_ahead(state)
    for k in range(_REFINEMENTS + 1):
        left = own + program.rho * direction + pull
        size = float(np.max(np.abs(left)))
        gap, excess = _charge(state, left)
        if k == _REFINEMENTS or gap / state.size + excess <= enough or size == 0.0:
            break
        if state.by_rows:
            if size > 0.5 * last:
                break
            last = size
            x, moves = factor.solve(left, [-block.unmatched() for block in blocks])
            direction = direction - x
            for block, move in zip(blocks, moves, strict=True):
                block.correct(-x, None if move is None else -move)
            pull = _pull_ahead(state)
            continue
        # Conjugate gradients on the equations without the proximal term.
        x = factor.solve(left)[0]
        previous, energy = energy, float(x @ left)
        search = -x if search is None else -x + energy / previous * search
        images = [block.rows.dot(search) for block in blocks]
        pulled = np.zeros(program.width)
        for block, image in zip(blocks, images, strict=True):
            pulled += block.rows.tdot(block.weight * image)
        bend = float(search @ (program.rho * search + pulled))
        if not (bend > 0.0 and energy > 0.0):
            break
        step = energy / bend
        direction = direction + step * search
        pull = pull + step * pulled
        for block, image in zip(blocks, images, strict=True):
            block.shift(step * image)
    return direction, pull


def _pull_ahead(state: Iterate) -> Vector:
    """Return the duals' pull after a full step."""
    total = np.zeros(state.program.width)
    for block in state.program.blocks:
        total += block.pull_ahead()
    return total


def _longest(state: Iterate, share: float) -> tuple[float, float]:
    """Return the step lengths of the duals and of the rest."""
    steps = [block.longest() for block in state.program.blocks]
    dual = min(1.0, share * min(step[0] for step in steps))
    primal = min(1.0, share * min(step[1] for step in steps))
    if not state.program.is_linear:
        # Curvature ties the two sides together.
        dual = primal = min(dual, primal)
    return dual, primal
