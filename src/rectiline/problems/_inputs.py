"""Check what a user passes to `Problem` and bring it into one shape."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from rectiline import _core
from rectiline._numbers import real_array
from rectiline._typing import Vector
from rectiline.losses import Loss
from rectiline.losses import get as get_loss


def checked_losses(loss: Any, loss_index: ArrayLike | None) -> tuple[Loss, ...]:
    """Return the losses as a tuple: one, or several of one kind with an index."""
    if loss_index is None:
        return (get_loss(loss),)
    listed = isinstance(loss, Sequence) and not isinstance(loss, str)
    several = tuple(get_loss(one) for one in (loss if listed else (loss,)))
    if not several:
        raise TypeError("loss must hold at least one Loss when loss_index is given; got none.")
    kinds = sorted({one.of for one in several})
    if len(kinds) > 1 or len(several) > 256:
        raise ValueError(
            f"loss must hold at most 256 losses of one kind; got {len(several)} of {kinds}."
        )
    return several


def checked_other_loss(before: Loss, loss: Any) -> tuple[Loss, ...]:
    """Return a loss of the same kind as the one before, which targets were encoded for."""
    losses = checked_losses(loss, None)
    if losses[0].of != before.of:
        raise ValueError(f"loss must be of the {before.of}, as {before!r} is; got {loss!r}.")
    return losses


def checked_index(loss_index: ArrayLike | None, n_losses: int, n: int) -> NDArray[np.uint8] | None:
    """Return which loss each row has, or None when there is only one."""
    if loss_index is None:
        return None
    index = np.asarray(loss_index)
    if index.shape != (n,) or index.dtype.kind not in "iu":
        raise ValueError(f"loss_index must hold {n} integers; got shape {index.shape}.")
    if index.min() < 0 or index.max() >= n_losses:
        raise ValueError(
            f"loss_index must lie between 0 and {n_losses - 1}; got {index.min()} to {index.max()}."
        )
    return np.ascontiguousarray(index, dtype=np.uint8)


def curve_arrays(loss: Loss) -> Any:
    """Return the arrays that describe a loss to the compiled core."""
    curve = loss.curve
    arrays = (curve.knots, curve.values, curve.left, curve.right, curve.curvature)
    return tuple(np.ascontiguousarray(part, dtype=np.float64) for part in arrays)


def row_functions(
    losses: Sequence[Loss],
    index: NDArray[np.uint8] | None,
    direction: Vector,
    offset: Vector,
    weight: Vector,
) -> _core.RowFunctions:
    """Return the loss of each row, ``weight * loss(direction * z + offset)``, for the core."""
    curves = [curve_arrays(one) for one in losses]
    return _core.RowFunctions(curves, direction, offset, weight, index)


def checked_weight(sample_weight: ArrayLike | None, n: int, name: str = "sample_weight") -> Vector:
    """Return one finite weight >= 0 per row, not all of them zero."""
    if sample_weight is None:
        return np.ones(n)
    weight = real_array(name, sample_weight, "numbers >= 0")
    if weight.ndim == 0:
        weight = np.full(n, float(weight))
    if weight.shape != (n,):
        raise ValueError(f"{name} must have shape ({n},), got {weight.shape}.")
    bad = ~(np.isfinite(weight) & (weight >= 0))
    if bad.any():
        row = int(np.argmax(bad))
        raise ValueError(f"{name} must hold finite numbers >= 0; {name}[{row}] is {weight[row]}.")
    if not (weight > 0).any():
        raise ValueError(f"{name} must have at least one positive entry; all are zero.")
    return weight
