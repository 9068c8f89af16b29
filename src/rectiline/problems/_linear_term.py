"""A linear term ``l'b`` of the objective as one more row of X, for `Problem`.

The row is l and its loss is the prediction itself. A loss must have a minimum, so that of the row
is flat below a floor which no answer can reach:

- where the constraints bound ``l'b``, below that bound (a linear program);
- where every column with ``l_j != 0`` pays a ridge, below what coefficients better than a feasible
  point can have: with ``k = sum_j l_j^2 / rho_j`` the ridge is at least ``(l'b)^2 / (2 k)``, and
  ``(l'b)^2 / (2 k) + l'b <= U - least loss`` bounds ``l'b``. With many rows this comes first;
- otherwise at a hundred million times the size of the term at typical coefficients. An answer that
  lies on the floor means that the objective has no minimum.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from scipy.optimize import linprog

from rectiline._numbers import real_array
from rectiline._typing import Vector
from rectiline.backends import Design
from rectiline.constraints import ConstraintRows
from rectiline.losses import FlooredLinear
from rectiline.penalties import Penalty
from rectiline.problems._extra_rows import with_rows
from rectiline.problems._region import Region
from rectiline.problems._samples import Samples

__all__ = ["checked_linear", "with_linear_row"]

_FAR = 1e8
_FEW_ROWS = 10  # of constraints, whose linear program costs next to nothing


def checked_linear(linear: Any, n_features: int | None) -> Vector:
    """Return the coefficients of the linear term, one finite number per column."""
    vector = real_array("linear", linear)
    if vector.ndim != 1 or n_features not in (None, vector.size) or not vector.size:
        wanted = "a vector" if n_features is None else f"{n_features} numbers, one per column"
        raise ValueError(f"linear must hold {wanted}; got shape {vector.shape}.")
    if not np.isfinite(vector).all():
        j = int(np.argmin(np.isfinite(vector)))
        raise ValueError(f"linear must hold finite numbers; linear[{j}] is {vector[j]}.")
    return vector


def with_linear_row(
    design: Design | None,
    samples: Samples | None,
    linear: Vector,
    penalty: Penalty | None,
    region: Region,
) -> tuple[Design, Samples]:
    """Return design and samples with the row of the linear term added; X is copied."""
    floor = _floor(design, samples, linear, penalty, region)
    loss = FlooredLinear(floor) if samples is None else FlooredLinear(floor, samples.losses[0].of)
    return with_rows(design, samples, linear[None, :], loss, np.ones(1))


def _floor(
    design: Design | None,
    samples: Samples | None,
    linear: Vector,
    penalty: Penalty | None,
    region: Region,
) -> float:
    size = float(np.abs(linear).max()) or 1.0
    used = linear != 0
    separable = None if penalty is None else penalty.separable(linear.size)
    curved = separable is not None and used.any() and bool((separable[0][used] > 0).all())
    many = region.rows.c.size + region.rows.f.size > _FEW_ROWS
    least = None if curved and many else _least_over(region.rows, linear)
    if least is not None:
        return 2.0 * abs(least) + size
    point = np.zeros(linear.size) if region.contradiction is not None else region.near_zero
    loss, lowest = 0.0, 0.0
    if design is not None and samples is not None:
        loss, lowest = samples.rows.loss(design.dot(point)), samples.least_loss
    if curved:
        assert separable is not None
        top = loss - lowest + float(linear @ point)
        top += 0.0 if penalty is None else penalty.value(point)
        square = float(np.sum(linear[used] ** 2 / separable[0][used]))
        return 2.0 * (square + math.sqrt(square**2 + 2.0 * square * max(top, 0.0))) + size
    typical = max(1.0, float(np.abs(point).max(initial=0.0)))
    return _FAR * (float(np.abs(linear).sum()) * typical + abs(loss - lowest) + size)


def _least_over(rows: ConstraintRows, linear: Vector) -> float | None:
    """Return the least value of the term under the constraints; None if there is none."""
    ends = np.where(linear > 0, rows.lower, rows.upper)
    if (np.isfinite(ends) | (linear == 0)).all():
        return float(np.dot(linear, np.where(linear == 0, 0.0, ends)))
    if not rows.c.size and not rows.f.size:
        return None
    found = linprog(
        linear,
        A_ub=-rows.A if rows.c.size else None,
        b_ub=rows.c if rows.c.size else None,
        A_eq=rows.E if rows.f.size else None,
        b_eq=-rows.f if rows.f.size else None,
        bounds=np.column_stack([rows.lower, rows.upper]),
        method="highs",
    )
    return float(found.fun) if found.status == 0 else None
