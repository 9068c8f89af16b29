"""The decisions of an interior point step: direction, step lengths and how far to centre.

One iteration is a step of Mehrotra's predictor-corrector method. It needs from the rows the
weighted sum of their squares, three weighted sums of rows, and a few scalars.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from rectiline.solvers.interior.normal import Factor, FactorError, factorise
from rectiline.solvers.interior.per_row import Totals
from rectiline.solvers.interior.refine import refine
from rectiline.solvers.interior.verdict import Iterate

Vector = NDArray[np.float64]

__all__ = ["iterate"]

_STAY_INSIDE = 0.995  # share of the way to the nearest bound
_EXPONENT = 3  # of the predicted fall of the products: how much of it the corrector aims at
_SHORT = 0.5  # a corrector's step below this is compared with one of less second-order correction
_CORRECTORS = 2  # most attempts to lengthen a step by centring
_LONG_ENOUGH = 0.9
_HOPE = 0.3  # by how much they aim to lengthen it
_GAIN = 0.03  # and what is worth another attempt
_HARMFUL = 0.1  # share of the gap that the error of an approximate factor may add
_LARGEST_PROXIMAL = 1e-2  # beyond this a system that cannot be factorised is given up


def iterate(state: Iterate) -> bool:
    """Take one predictor-corrector step; return False if no step could be made."""
    blocks = state.program.blocks
    weights = [block.weights() for block in blocks]
    state.products, state.count = _products(state)
    mean = state.coupling.mean = state.products / state.count
    factor = _factor(state, weights)
    if factor is None:
        return False
    _solve(state, factor, [block.aim_at_boundary() for block in blocks])
    dual, primal = _longest(state, 1.0)
    after = sum(block.products_after(dual, primal) for block in blocks) / state.count
    centre = float(np.clip((after / mean) ** _EXPONENT, 1e-8, 1.0)) * mean if mean > 0 else 0.0
    direction = _correct(state, factor, centre, min(dual, primal))
    direction = _centralise(state, factor, centre, direction)
    direction, pull, harm = refine(state, factor, direction)
    if factor.is_poor or (harm > _HARMFUL and not factor.is_exact):
        state.coupling.retreat()
        return iterate(state)
    if not (np.isfinite(direction).all() and np.isfinite(pull).all()):
        return False
    dual, primal = _longest(state, _STAY_INSIDE)
    state.b = state.b + primal * direction
    # A full step removes the rounding of all earlier ones.
    state.pull = (1.0 - dual) * state.pull + dual * pull
    for block in blocks:
        block.move(dual, primal)
        if factor.finds_duals:
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
        block.save_error()
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
    return totals.products, max(totals.count, 1)


def _factor(state: Iterate, weights: list[Vector]) -> Factor | None:
    """Factorise, with a larger proximal term where that is needed to succeed."""
    proximal = state.proximal
    while proximal <= _LARGEST_PROXIMAL:
        try:
            return factorise(
                state.program.blocks,
                weights,
                state.program.rho + proximal,
                state.by_rows,
                state.coupling,
            )
        except FactorError:
            proximal *= 100.0
            state.proximal = proximal
    return None


def _longest(state: Iterate, share: float) -> tuple[float, float]:
    """Return the step lengths of the duals and of the rest."""
    steps = [block.longest() for block in state.program.blocks]
    dual = min(1.0, share * min(step[0] for step in steps))
    primal = min(1.0, share * min(step[1] for step in steps))
    if not state.program.is_linear:
        # Curvature ties the two sides together.
        dual = primal = min(dual, primal)
    return dual, primal
