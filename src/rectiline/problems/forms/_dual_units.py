"""Losses as units with one boxed dual variable each, for `CompositeForm`."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from rectiline._typing import Indices, Mask, Vector
from rectiline.losses import LinearTerm
from rectiline.problems._problem import Problem

__all__ = ["DualUnits", "dual_units"]


class DualUnits(NamedTuple):
    """Units of the losses: the sample, the sign of z, the box, the linear and quadratic cost.

    The box is from 0 to `cap`; from `cap` to `cap` for a linear term, whose unit is `fixed`.
    """

    sample: Indices
    sign: Vector
    cap: Vector
    lift: Vector
    bend: Vector
    fixed: Mask


def dual_units(problem: Problem, rows_of: list[Any]) -> DualUnits:
    """Return the units of all losses; `rows_of` says which rows each loss charges.

    ``f_i(z) = const + sum_u max over 0 <= a <= cap of a (sign z + lift) - bend a^2 / 2``.
    """
    parts: list[tuple[Any, ...]] = []
    for one, rows in zip(problem.losses, rows_of):
        i = np.arange(problem.n_samples)[rows]
        c, p, o = problem.weight[i], problem.direction[i], problem.offset[i]
        if isinstance(one, LinearTerm):
            parts.append((i, np.ones(i.size), c, 0.0 * c, 0.0 * c, c > 0))
            continue
        loss, free = one.units, np.zeros(i.size, dtype=bool)
        for u, v in zip(loss.relu_u, loss.relu_v):
            side = np.sign(u)
            parts.append((i, side * p, c * abs(u), side * o + v / abs(u), 0.0 * c, free))
        for u, v, tau in zip(loss.rehu_s, loss.rehu_t, loss.rehu_tau):
            side = np.sign(u)
            with np.errstate(divide="ignore", invalid="ignore"):
                cap, bend = np.where(c > 0, c * abs(u) * tau, 0.0), 1.0 / (c * u * u)
            parts.append((i, side * p, cap, side * o + v / abs(u), bend, free))
    columns = [np.concatenate(part) for part in zip(*parts)]
    live = columns[2] > 0
    sample, sign, cap, lift, bend, fixed = (column[live] for column in columns)
    return DualUnits(sample.astype(np.intp), sign, cap, lift, bend, fixed)
