"""Iterative refinement: remove the proximal term and rounding from a direction."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from rectiline.solvers.interior.normal import Factor
from rectiline.solvers.interior.verdict import Iterate, charge

Vector = NDArray[np.float64]

__all__ = ["refine"]

_REFINEMENTS = 3
_ENOUGH = 1e-2  # share of the gap that an error of the linear systems may add


def refine(state: Iterate, factor: Factor, direction: Vector) -> tuple[Vector, Vector, float]:
    """Correct the direction until what is left of the equations does not matter for the gap.

    Returns the direction of the coefficients, the duals' pull at its end, and which share of the
    gap the error is.
    """
    program, blocks = state.program, state.program.blocks
    own = program.rho * state.b + program.linear
    enough = _ENOUGH * state.products / state.size
    correct = _improve if factor.finds_duals else _ConjugateGradients()
    pull = _pull_ahead(state)
    least, kept = np.inf, (direction, pull, [block.direction() for block in blocks])
    for k in range(_REFINEMENTS + 1):
        left = own + program.rho * direction + pull
        gap, excess = charge(state, left)
        harm = gap / state.size + excess
        if harm < least:
            least, kept = harm, (direction, pull, [block.direction() for block in blocks])
        if harm <= enough or k == _REFINEMENTS:
            break
        found = correct(state, factor, left, direction, pull)
        if found is None:
            break
        direction, pull = found
    if harm > least:  # too close to singular for corrections
        direction, pull, rows = kept
        for block, row in zip(blocks, rows, strict=True):
            block.restore(row)
    return direction, pull, least * _ENOUGH / max(enough, np.finfo(float).tiny)


def _improve(
    state: Iterate, factor: Factor, left: Vector, direction: Vector, pull: Vector
) -> tuple[Vector, Vector] | None:
    """Correct the direction and the duals on heavy rows together, by the factor alone."""
    blocks = state.program.blocks
    x, moves = factor.solve(left, [-block.unmatched() for block in blocks])
    for block, move in zip(blocks, moves, strict=True):
        block.correct(-x, None if move is None else -move)
    return direction - x, _pull_ahead(state)


class _ConjugateGradients:
    """One step of conjugate gradients a call, on the equations without the proximal term."""

    def __init__(self) -> None:
        self.search: Vector | None = None
        self.energy = 0.0

    def __call__(
        self, state: Iterate, factor: Factor, left: Vector, direction: Vector, pull: Vector
    ) -> tuple[Vector, Vector] | None:
        program, blocks = state.program, state.program.blocks
        x = factor.solve(left)[0]
        previous, self.energy = self.energy, float(x @ left)
        search = -x if self.search is None else -x + self.energy / previous * self.search
        self.search = search
        images = [block.rows.dot(search) for block in blocks]
        pulled = np.zeros(program.width)
        for block, image in zip(blocks, images, strict=True):
            pulled += block.rows.tdot(block.weight * image)
        bend = float(search @ (program.rho * search + pulled))
        if not (bend > 0.0 and self.energy > 0.0):
            return None
        step = self.energy / bend
        for block, image in zip(blocks, images, strict=True):
            block.shift(step * image)
        return direction + step * search, pull + step * pulled


def _pull_ahead(state: Iterate) -> Vector:
    """Return the duals' pull after a full step."""
    total = np.zeros(state.program.width)
    for block in state.program.blocks:
        total += block.pull_ahead()
    return total
