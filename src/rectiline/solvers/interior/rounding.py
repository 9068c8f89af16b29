"""Coefficients that are exactly zero, or exactly at a cap, where the pair is as good with them.

An interior point method approaches zeros and bounds without ever reaching them. Which coefficients
are on their way to zero shows in the duals: their pull is clearly below the strength of the
penalty.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from rectiline._typing import Vector
from rectiline.solvers.interior.groups import Arrows
from rectiline.solvers.interior.method import Verdict
from rectiline.solvers.interior.program import UnitProgram

__all__ = ["is_nothing", "rounded"]

_NEGLIGIBLE_OBJECTIVE = 1e-9  # an objective so small that zero may be optimal
_CLARITY_SHARES = (1.0, 1e-2, 1e-4)  # how clear the duals have to be, tried in turn
_VISIBLE_COEFFICIENT = 1e-2  # in units of the program; if all are smaller, zeros are tried
_NEGLIGIBLE_SHARES = (1e-4, 1e-5, 1e-7, 1e-9)  # relative to the largest coefficient, tried in turn


def is_nothing(program: UnitProgram, core: Any) -> Vector | None:
    """Return zero coefficients if they cost nothing: then no relative gap is small but theirs."""
    if Verdict.of(core).size > _NEGLIGIBLE_OBJECTIVE:
        return None
    x = _without(core.point()[0], slice(0, program.form.n_columns))
    return x if Verdict(*core.evaluate(x)).meets(0.0) else None


def rounded(program: UnitProgram, core: Any, allowed: float) -> tuple[Vector | None, bool]:
    """Return coefficients with exact zeros whose gap estimate is at most `allowed`, if any.

    The second value is False if there should be zeros but none of the attempts was good enough.
    """
    x = is_nothing(program, core)
    if x is not None:
        return x, True
    tried = False
    for candidate in _candidates(program, core):
        tried = True
        if Verdict(*core.evaluate(candidate)).meets(allowed):
            return candidate, True
    return None, not tried


def _candidates(program: UnitProgram, core: Any) -> Iterator[Vector]:
    """Yield coefficients with exact zeros, bold ones first."""
    x = core.point()[0]
    priced = np.flatnonzero(program.price >= 0)
    if priced.size:
        sides, units = core.sides(), program.price[priced]
        size = np.abs(x[priced])
        size = size / max(float(size.max()), np.finfo(float).tiny)
        room = np.minimum(sides[0][units], sides[2][units]) / program.units[2][units]
        for share in _CLARITY_SHARES:
            zero = priced[size < share * room]
            if zero.size:
                yield _without(x, zero)
        return
    d, width = program.form.design.n_features, program.form.epigraph.n_columns
    if width == d:
        return
    arrows = Arrows.of(program)
    if arrows is not None:
        x = arrows.snapped(x, core.sides(), Verdict.of(core).mean_product)
    for share in _NEGLIGIBLE_SHARES:
        zero = np.zeros(x.size, dtype=bool)
        for part in (slice(0, d), slice(d, width)):
            size = np.abs(x[part])
            zero[part] = size <= share * max(float(np.max(size)), _VISIBLE_COEFFICIENT)
        if zero.any():
            yield _without(x, zero)


def _without(x: Vector, zero: Any) -> Vector:
    found = x.copy()
    found[zero] = 0.0
    return found
