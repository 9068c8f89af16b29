"""Coefficients that are exactly zero, or exactly at a bound, where the pair is as good with them.

An interior point method approaches zeros and bounds without ever reaching them. Which coefficients
are on their way to zero shows in the duals: their pull is clearly below the strength of the
penalty.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from rectiline.solvers.interior.rows import UnitRows
from rectiline.solvers.interior.verdict import Iterate, judge

Vector = NDArray[np.float64]

__all__ = ["is_nothing", "rounded"]

_NOTHING = 1e-9  # an objective so small that it may be nothing
_SHARES = (1.0, 1e-2, 1e-4)  # how clear the duals have to be, tried in turn
_VISIBLE = 1e-2  # a coefficient in units of the program: all may be smaller, and zero then
_NEGLIGIBLE = (1e-4, 1e-5, 1e-7, 1e-9)  # sizes relative to the largest coefficient, tried in turn


def is_nothing(state: Iterate) -> bool:
    """Whether zero coefficients cost nothing, so that no relative gap is small but theirs."""
    if state.size > _NOTHING:
        return False
    zero = np.arange(state.b.size) < state.program.form.n_columns
    return bool((_first(state, [zero], 0.0)[zero] == 0.0).all())


def rounded(state: Iterate, allowed: float) -> tuple[Vector, bool]:
    """Return the coefficients with exact zeros, if their gap estimate is at most `allowed`.

    The second value is False if there should be zeros but none of the attempts was good enough.
    """
    if is_nothing(state):
        return np.where(np.arange(state.b.size) < state.program.form.n_columns, 0.0, state.b), True
    candidates = _by_duals(state) if state.program.absolute is not None else _by_size(state)
    found = _first(state, candidates, allowed)
    return found, found is not state.b or not any(zero.any() for zero in candidates[:1])


def _first(state: Iterate, candidates: list[NDArray[np.bool_]], allowed: float) -> Vector:
    """Return the coefficients with the first set of zeros that is good enough, or as they are."""
    b, size = state.b, state.size
    arguments = [block.argument for block in state.program.blocks]
    best = b
    for zero in candidates:
        if not zero.any():
            continue
        state.b = np.where(zero, 0.0, b)
        for block in state.program.blocks:
            block.place(state.b)
        if judge(state).meets(allowed):
            best = state.b
            break
    state.b, state.size = b, size
    for block, argument in zip(state.program.blocks, arguments, strict=True):
        block.argument = argument
    return best


def _by_duals(state: Iterate) -> list[NDArray[np.bool_]]:
    """Return candidates for the zeros of an l1 penalty, bold ones first."""
    block = state.program.absolute
    assert block is not None and isinstance(block.rows, UnitRows)
    part = block.parts[0]
    assert part.high is not None
    size = np.abs(block.argument)
    size = size / max(float(size.max()), np.finfo(float).tiny)
    room = np.minimum(part.below, part.above) / part.high
    candidates = []
    for share in _SHARES:
        zero = np.zeros(state.b.size, dtype=bool)
        zero[block.rows.index] = size < share * room
        candidates.append(zero)
    return candidates


def _by_size(state: Iterate) -> list[NDArray[np.bool_]]:
    """Return candidates where the penalty couples columns: tiny ones, also of the epigraph."""
    d, width = state.program.form.design.n_features, state.program.form.epigraph.n_columns
    if width == d:
        return []
    candidates = []
    for share in _NEGLIGIBLE:
        zero = np.zeros(state.b.size, dtype=bool)
        for part in (slice(0, d), slice(d, width)):
            size = np.abs(state.b[part])
            zero[part] = size <= share * max(float(np.max(size)), _VISIBLE)
        candidates.append(zero)
    return candidates
