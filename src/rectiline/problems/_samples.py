"""The loss of each sample as a function of its prediction, for samples in memory.

Sample i has the loss ``f_i(z) = weight_i * loss(direction_i * z + offset_i)`` for the prediction
z. Nothing here depends on X, so that a problem on other columns shares everything that was worked
out.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from rectiline import _core
from rectiline._lazy import FieldsAlone, cached_property
from rectiline._numbers import real_array
from rectiline._typing import Indices, Mask, Vector
from rectiline.losses import LinearTerm, Loss, PLQCurve
from rectiline.losses import get as get_loss
from rectiline.rows import Block

_SHARP_BEND = 0.05  # widest bend, in units of the arguments' scale, that is treated as a kink
_FARTHEST_ARGUMENT = 100.0  # relative to how much the arguments vary


@dataclass(frozen=True, eq=False)
class Samples(FieldsAlone):
    """Losses, encoded targets and weights of the samples.

    Attributes
    ----------
    losses : tuple of Loss
    index : ndarray of uint8 of shape (n_samples,) or None
        Which of the losses each sample has; None where there is only one.
    direction, offset : ndarray of shape (n_samples,)
        The argument of the loss is ``direction * prediction + offset``.
    weight : ndarray of shape (n_samples,)
    fit_intercept : bool
        Whether all predictions share a free intercept.
    labels : tuple of two labels, or None
        What direction -1 and +1 mean in the targets of a loss of the margin.
    """

    losses: tuple[Loss, ...]
    index: NDArray[np.uint8] | None
    direction: Vector
    offset: Vector
    weight: Vector
    fit_intercept: bool
    labels: tuple[Any, Any] | None = None

    @classmethod
    def of(
        cls,
        losses: tuple[Loss, ...],
        y: ArrayLike,
        sample_weight: ArrayLike | None,
        fit_intercept: bool,
        loss_index: ArrayLike | None,
        n_samples: int,
    ) -> Samples:
        """Check what a user passed and encode the targets."""
        index = checked_index(loss_index, len(losses), n_samples)
        direction, offset = losses[0].encode(y)
        if direction.size != n_samples:
            raise ValueError(f"y has {direction.size} entries but X has {n_samples} rows.")
        weight = checked_weight(sample_weight, n_samples)
        labels = None
        if losses[0].of == "margin":
            labels = tuple(np.asarray(y)[[direction.argmin(), direction.argmax()]].tolist())
        return cls(losses, index, direction, offset, weight, bool(fit_intercept), labels)

    def with_weight(self, sample_weight: ArrayLike) -> Samples:
        """Return the samples under other weights."""
        return replace(self, weight=checked_weight(sample_weight, self.weight.size))

    def with_loss(self, loss: str | Loss) -> Samples:
        """Return the samples under another loss of the same kind."""
        if self.index is not None:
            raise ValueError("with_loss: the rows of this problem have different losses.")
        return replace(self, losses=checked_other_loss(self.losses[0], loss))

    def take(self, rows: Indices | Mask | slice) -> Samples:
        """Return some of the samples, which may all have no weight."""
        return replace(
            self,
            index=None if self.index is None else self.index[rows],
            direction=self.direction[rows],
            offset=self.offset[rows],
            weight=self.weight[rows],
        )

    def of_block(self, block: Block | None, rows: Indices | None = None) -> Samples:
        """Return the samples of a block, or those of `rows`; see `BlockSamples`."""
        if rows is not None:
            return self.take(rows)
        assert block is not None
        return self.take(slice(block.start, block.start + block.n_rows))

    @property
    def encoding(self) -> Samples:
        """What tells whether samples of several problems have equal targets and weights."""
        return self

    @classmethod
    def joined(cls, parts: Sequence[Samples]) -> Samples:
        """Return the samples of several parts as one; the first says all but losses and rows."""
        first, losses, index = parts[0], parts[0].losses, []
        for one in parts:
            start = 0 if one.losses == first.losses else len(losses)
            losses = losses if start == 0 else (*losses, *one.losses)
            own = np.zeros(one.weight.size, np.uint8) if one.index is None else one.index
            index.append((own + start).astype(np.uint8))
        together: dict[str, Any] = {
            name: np.concatenate([getattr(one, name) for one in parts])
            for name in ("direction", "offset", "weight")
        }
        together["index"] = np.concatenate(index) if len(losses) > 1 else None
        return replace(first, losses=losses, **together)

    @cached_property
    def rows(self) -> _core.RowFunctions:
        """The functions f_i for the compiled core."""
        curves = [curve_arrays(one) for one in self.losses]
        return _core.RowFunctions(curves, self.direction, self.offset, self.weight, self.index)

    @cached_property
    def by_loss(self) -> list[tuple[PLQCurve, Indices | slice]]:
        """The curves of the losses, each with the samples that have it."""
        if self.index is None:
            return [(self.losses[0].curve, slice(None))]
        return [(one.curve, np.flatnonzero(self.index == k)) for k, one in enumerate(self.losses)]

    def each(self, values: Sequence[Any]) -> Any:
        """Return what belongs to the loss of every sample, given what belongs to every loss."""
        return np.array(values)[0 if self.index is None else self.index]

    @cached_property
    def total_weight(self) -> float:
        """Sum of the weights."""
        return float(self.weight.sum())

    @cached_property
    def linear_rows(self) -> Indices:
        """Rows that are no samples but a linear term of the objective."""
        which = [k for k, one in enumerate(self.losses) if isinstance(one, LinearTerm)]
        if self.index is None:
            return np.arange(self.weight.size if which else 0)
        return np.flatnonzero(np.isin(self.index, which)) if which else np.zeros(0, dtype=np.intp)

    # ---- levels -----------------------------------------------------------------------------

    @cached_property
    def loss_at_zero(self) -> float:
        """Sum of the losses at zero coefficients and intercept."""
        return self.rows.loss(np.zeros(self.weight.size))

    @cached_property
    def least_loss(self) -> float:
        """Sum of the smallest values of the losses; a linear term has none."""
        if self.linear_rows.size:
            return -math.inf
        values = [float(one.curve.minimum()[1]) for one in self.losses]
        if not any(values):
            return 0.0
        return float(np.sum(self.weight * self.each(values)))

    @cached_property
    def dual_boxes(self) -> tuple[Vector, Vector]:
        """Range of slopes of each sample's weighted loss in its prediction."""
        return self.rows.dual_boxes()

    # ---- scales -----------------------------------------------------------------------------

    @cached_property
    def argument_scale(self) -> float:
        """How much the arguments of the losses vary at zero coefficients."""
        if self.losses[0].of != "residual":
            return 1.0
        values = self.offset[self.weight > 0]
        if not values.size:
            return 1.0
        away = np.abs(values - (_upper_median(values) if self.fit_intercept else 0.0))
        return _upper_median(away) or float(away.mean()) or 1.0

    @cached_property
    @np.errstate(over="ignore", invalid="ignore")  # what overflows is no limit
    def slope_width(self) -> tuple[float, bool]:
        """How far the slopes of the losses range, and whether any loss has kinks.

        An unbounded range counts as what an argument of typical size can reach, and slopes of
        arguments far beyond that size (Huber with a huge delta) do not count. A bend much narrower
        than the arguments vary (Huber with a tiny delta) counts as a kink.
        """
        widths, kinks, far = [], False, _FARTHEST_ARGUMENT * self.argument_scale
        for loss in self.losses:
            if isinstance(loss, LinearTerm):
                continue
            curve = loss.curve
            low, high = curve.domain()
            if not math.isfinite(high - low):
                reach = self.argument_scale
                low = max(low, -float(curve.curvature[0]) * reach + float(curve.left[0]))
                high = min(high, float(curve.curvature[-1]) * reach + float(curve.right[-1]))
            if np.abs(curve.knots).max(initial=0.0) > far:
                left, right = curve.derivative([-far, far])
                inner = max(low, float(left[0])), min(high, float(right[1]))
                if inner[0] < inner[1]:  # else only such arguments are at a knot or on a bend
                    low, high = inner
            widths.append(max(float(high - low), 1e-300))
            bend = widths[-1] / max(curve.largest_curvature, 1e-300)
            sharp = bend < _SHARP_BEND * self.argument_scale
            kinks = kinks or sharp or curve.has_kinks
        return max(widths, default=1.0), kinks


def _upper_median(values: Vector) -> float:
    """Return the median, or the larger of the two in the middle."""
    return float(np.partition(values, values.size // 2)[values.size // 2])


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
