"""Writes a problem given by units of each sample as weighted rows; `Problem.from_units` calls it.

A unit looks at a sample through an argument of its own, ``u z + v``. Divided by the size of u (or,
for a ReHU with an end, by that end) all units of one kind have one curve, so that six losses do
for any number of different units: a unit becomes a row with a target and a weight.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse as sp

from rectiline._numbers import real_array
from rectiline._typing import Matrix, Vector
from rectiline.losses import Loss, PiecewiseLQ

# Of t = y - z, the residual: a unit that grows with z falls with t.
LOSSES: tuple[Loss, ...] = (
    PiecewiseLQ([0.0], [(0, -1, 0), (0, 0, 0)]),  # ReLU, growing with z
    PiecewiseLQ([0.0], [(0, 0, 0), (0, 1, 0)]),  # ReLU, falling with z
    PiecewiseLQ([0.0], [(0.5, 0, 0), (0, 0, 0)]),  # ReHU without an end, growing
    PiecewiseLQ([0.0], [(0, 0, 0), (0.5, 0, 0)]),  # ReHU without an end, falling
    PiecewiseLQ([-1.0, 0.0], [(0, -1, -0.5), (0.5, 0, 0), (0, 0, 0)]),  # with its end at 1, growing
    PiecewiseLQ([0.0, 1.0], [(0, 0, 0), (0.5, 0, 0), (0, 1, -0.5)]),  # with its end at 1, falling
)


def rows_of_units(
    X: Any,
    U: ArrayLike | None,
    V: ArrayLike | None,
    S: ArrayLike | None,
    T: ArrayLike | None,
    tau: ArrayLike | None,
) -> dict[str, Any]:
    """Return arguments of `Problem`: a row for each unit that is not zero.

    X is itself where each sample has just one unit.
    """
    n = int(X.shape[0])
    u, v = _pair("U", U, "V", V, n)
    s, t = _pair("S", S, "T", T, n)
    ends = _ends(tau, s.shape)
    parts = [
        _rows(u, v, True, 1, 0),
        _rows(s, t, np.isinf(ends), 2, 2),
        _rows(s, t, np.isfinite(ends) & (ends > 0), 2, 4, ends),
    ]
    rows, scale, y, weight, index = (np.concatenate(some) for some in zip(*parts, strict=True))
    if not rows.size:
        raise ValueError("U, V, S, T: all units are zero; at least one must not be.")
    if not all(np.isfinite(part).all() for part in (scale, y, weight)):
        raise ValueError(
            "U, V, S, T, tau: a unit is too flat or too steep for double precision once it is "
            "divided by its own slope; rescale the units."
        )
    order = np.lexsort((index, rows))
    rows, scale, y, weight, index = (one[order] for one in (rows, scale, y, weight, index))
    alone = rows.size == n and bool((rows == np.arange(n)).all() and (scale == 1.0).all())
    design = X if alone else _scaled_rows(X, rows, scale)
    return {"X": design, "y": y, "loss": LOSSES, "sample_weight": weight, "loss_index": index}


def _pair(
    first: str, a: ArrayLike | None, second: str, b: ArrayLike | None, n: int
) -> tuple[Matrix, Matrix]:
    """Return slopes and shifts of units, of shape (units, n)."""
    if (a is None) != (b is None):
        given, missing = (first, second) if b is None else (second, first)
        raise ValueError(f"{given} is given without {missing}; units need both.")
    if a is None or b is None:
        return np.zeros((0, n)), np.zeros((0, n))
    made = [np.atleast_2d(real_array(*one)) for one in ((first, a), (second, b))]
    for name, array in zip((first, second), made):
        if array.ndim != 2 or array.shape[1] != n or not np.isfinite(array).all():
            raise ValueError(
                f"{name} must hold finite numbers of shape (units, n_samples) with {n} samples; "
                f"got shape {array.shape}."
            )
    if made[0].shape != made[1].shape:
        raise ValueError(
            f"{first} and {second} must have one shape; got {made[0].shape} and {made[1].shape}."
        )
    return made[0], made[1]


def _ends(tau: ArrayLike | None, shape: tuple[int, ...]) -> Matrix:
    """Return where the ReHU units turn into lines."""
    if tau is None:
        return np.full(shape, np.inf)
    ends = real_array("tau", tau)
    try:
        ends = np.broadcast_to(ends, shape)
    except ValueError:
        raise ValueError(
            f"tau must be a number or have the shape of S, {shape}; got shape {np.shape(tau)}."
        ) from None
    if not (ends >= 0).all():
        raise ValueError("tau must hold numbers >= 0, infinity included.")
    return np.asarray(ends, dtype=np.float64)


Parts = tuple[NDArray[np.intp], Vector, Vector, Vector, NDArray[np.intp]]


def _rows(
    s: Matrix, t: Matrix, used: Any, power: int, growing: int, ends: Matrix | None = None
) -> Parts:
    """Return rows, their scales, targets, weights and losses of units with arguments ``s z + t``.

    Units are divided by the size of s, or by their end. `growing` is the loss of those that grow
    with z; the next one is that of those that fall.
    """
    unit, row = np.nonzero(((s != 0) | (t > 0)) & used)  # flat ones cost the same at any z
    slope, shift = s[unit, row], t[unit, row]
    size = np.where(slope == 0, 1.0, np.abs(slope)) if ends is None else ends[unit, row]
    with np.errstate(over="ignore"):
        scale, weight = np.abs(slope) / size, size**power
        y = np.where(slope > 0, -shift, shift) / size
    return row, scale, y, weight, np.where(slope > 0, growing, growing + 1)


def _scaled_rows(X: Any, rows: NDArray[np.intp], scale: Vector) -> Any:
    """Return rows of X, each times its scale."""
    if sp.issparse(X):
        picked = X.tocsr()[rows]
        return picked if (scale == 1.0).all() else (sp.diags_array(scale) @ picked).tocsr()
    return np.asarray(X)[rows] * scale[:, None]
