"""A pass over a block of torch tensors, in plain torch; the reference of the Triton kernels.

Everything of the size of the rows stays on the device of X. Sums are float64.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from rectiline.problems._inputs import curve_arrays
from rectiline.problems.blocks._pass import Answer, PassState, Query
from rectiline.problems.blocks._tensor_rows import (
    column_sums,
    copies,
    encode,
    places,
    refuse,
    summed_depth,
    total,
)
from rectiline.rows import Block

__all__ = ["TensorCurve", "run_tensor_block"]

_ENTRIES = 1 << 26  # of X that are converted to float64 at a time


def run_tensor_block(block: Block, state: PassState) -> list[Answer]:
    """Return the answers of one block of tensors to all queries."""
    return [_run_query(block, query, state) for query in state.queries]


@dataclass(frozen=True, slots=True, eq=False)
class TensorCurve:
    """A piecewise linear-quadratic curve on a device; pieces are written from one of their ends."""

    knots: Any
    bends: Any  # knots at which something changes
    at: Any
    value: Any
    slope: Any
    curvature: Any
    lowest: float
    highest: float

    @classmethod
    def of(cls, arrays: Any, device: Any) -> TensorCurve:
        """Return the curve that `_core.RowFunctions` would take."""
        import torch

        knots, values, left, right, curvature = (np.asarray(part) for part in arrays)
        count = knots.size
        pieces = []
        for k in range(count + 1):
            from_right = k < count and (k == 0 or left[k] <= 0)
            j = k if from_right else k - 1
            pieces.append((knots[j], values[j], left[j] if from_right else right[j]))
        at, value, slope = (np.array(column) for column in zip(*pieces, strict=True))
        real = (left != right) | (np.diff(curvature) != 0)
        lowest = -np.inf if curvature[0] > 0 else float(left[0])
        highest = np.inf if curvature[-1] > 0 else float(right[-1])
        sent: list[Any] = [
            torch.tensor(np.array(part), dtype=torch.float64, device=device)
            for part in (knots, knots[real], at, value, slope, curvature)
        ]
        k, bends, at_, value_, slope_, curved = sent
        return cls(k, bends, at_, value_, slope_, curved, lowest, highest)

    def piece(self, t: Any) -> Any:
        """Return the number of knots strictly below t."""
        import torch

        return torch.searchsorted(self.knots, t.contiguous())

    def continued_slope(self, piece: Any, t: Any) -> Any:
        """Return the slope at t of a piece, continued."""
        return self.slope[piece] + self.curvature[piece] * (t - self.at[piece])

    def loss(self, piece: Any, t: Any) -> Any:
        """Return the value at t, which lies on `piece`."""
        e = t - self.at[piece]
        return self.value[piece] + e * (self.slope[piece] + 0.5 * self.curvature[piece] * e)

    def slack(self, t: Any) -> Any:
        """Return the distance of t to the nearest knot."""
        import torch

        if self.bends.numel() == 0:
            return torch.full_like(t, torch.inf)
        return (t[:, None] - self.bends).abs().amin(dim=1)

    def fenchel_young(self, s: Any, t: Any) -> Any:
        """Return ``phi(t) + phi*(s) - s t`` as a sum over pieces of non-negative terms."""
        import torch

        total = torch.zeros_like(t)
        count = self.knots.numel()
        for k in range(count + 1):
            low = self.knots[k - 1] if k > 0 else None
            high = self.knots[k] if k < count else None
            curvature = float(self.curvature[k])
            first = self.slope[k] + self.curvature[k] * ((low if k > 0 else high) - self.at[k])
            last = self.slope[k] + self.curvature[k] * ((high if k < count else low) - self.at[k])
            if k == 0 and curvature > 0:
                first = torch.full_like(first, -torch.inf)
            if k == count and curvature > 0:
                last = torch.full_like(last, torch.inf)
            if curvature > 0:
                touch = self.at[k] + (s - self.slope[k]) / curvature
            else:
                far = 1e300 * torch.sign(s - self.slope[k])
                touch = self.at[k] + far
            length = (_clamped(t, low, high) - _clamped(touch, low, high)).abs()
            if curvature == 0 and (k == 0 or k == count):
                inner = high if k == 0 else low
                length = (inner - t).clamp_min(0) if k == 0 else (t - inner).clamp_min(0)
                excess = (s - self.slope[k]) if k == 0 else (self.slope[k] - s)
            else:
                excess = torch.maximum(first - s, s - last)
            total += length * (excess.clamp_min(0) + 0.5 * curvature * length)
        return total


def _clamped(t: Any, low: Any, high: Any) -> Any:
    if low is not None:
        t = t.clamp_min(float(low))
    return t.clamp_max(float(high)) if high is not None else t


def _run_query(block: Block, query: Query, state: PassState) -> Answer:
    import torch

    has_intercept = state.fit_intercept
    device = block.X.device
    curve = TensorCurve.of(curve_arrays(query.samples.losses[0]), device)
    if _fits_kernel(block, query, curve):
        from rectiline.problems.blocks._tensor_fast import run_fast

        return run_fast(block, query, curve, state)
    d = block.X.shape[1]
    step = max(1, _ENTRIES // d)
    first, last = np.searchsorted(query.listed, (block.start, block.start + block.n_rows))
    listed = torch.as_tensor(query.listed[first:last] - block.start, device=device)
    is_listed = torch.zeros(block.n_rows, dtype=torch.bool, device=device)
    is_listed[listed] = True
    is_kept = torch.zeros_like(is_listed)
    if query.next_split is not None:
        always = query.next_split.always
        first, last = np.searchsorted(always, (block.start, block.start + block.n_rows))
        is_kept[torch.as_tensor(always[first:last] - block.start, device=device)] = True
    sums: dict[str, Any] = {}
    near, at_zero = [], 0.0
    for begin in range(0, block.n_rows, step):
        some = slice(begin, begin + step)
        part = _Part(block, query, curve, some, is_listed[some], has_intercept)
        part.kept = is_kept[some]
        for name, value in part.sums().items():
            sums[name] = (
                max(sums.get(name, 0.0), value)
                if name in ("steepest", "depth")
                else (sums[name] + value if name in sums else value)
            )
        at_zero += part.loss_at_zero() if query.measure else 0.0
        if query.out is not None:
            query.out[block.start + begin :][:step] = part.g.cpu().numpy()
        near.append(part.near + begin)
    sums["depth"] += len(near)
    at = listed if query.collect else torch.cat(near)
    numbers = {
        name: value.cpu().numpy()
        if isinstance(value, torch.Tensor) and value.ndim
        else float(value)
        for name, value in sums.items()
    }
    if "curvature" in numbers:
        numbers["curvature"] = np.ravel(numbers["curvature"])
    if not all(np.isfinite(value).all() for value in numbers.values()):
        refuse(block, query.samples)
    gather = copies if state.copies else places
    return Answer(numbers, gather(block, query.samples, at), float(at_zero))


def _fits_kernel(block: Block, query: Query, curve: TensorCurve) -> bool:
    """Whether the Triton kernel takes a query: straight pieces, rows in one piece, on a GPU."""
    if not block.X.is_cuda or block.X.stride(1) != 1:
        return False
    encoding: Any = query.samples.encoding
    if not encoding.is_plain or encoding.of == "prediction":
        return False
    if (
        bool((curve.curvature != 0).any())
        or not 1 <= curve.bends.numel() == curve.knots.numel() <= 4
    ):
        return False
    try:
        import triton  # noqa: F401
    except ImportError:
        return False
    return bool(block.X.shape[1] <= 256)


class _Part:
    """Some rows of a block: predictions, slopes and sums at the candidate of a query."""

    def __init__(
        self,
        block: Block,
        query: Query,
        curve: TensorCurve,
        some: slice,
        listed: Any,
        has_intercept: bool,
    ) -> None:
        import torch

        self.query, self.curve, self.listed = query, curve, listed
        self.has_intercept = has_intercept
        self.X = block.X[some].double()
        weight = None if block.weight is None else block.weight[some]
        start = block.start + int(some.start)
        encoded = encode(query.samples, block.y[some], weight, start)
        self.direction, self.offset, self.weight = encoded
        coef = torch.tensor(query.coef, device=self.X.device)
        self.t = self.direction * (self.X @ coef + query.intercept) + self.offset
        self.piece = curve.piece(self.t)
        self.g = torch.zeros_like(self.t)
        self.curved = torch.zeros_like(self.t)
        self.crossed = torch.zeros_like(self.listed)
        self.kept = self.crossed
        self._coef = coef
        self.near = torch.zeros(0, dtype=torch.int64, device=self.X.device)

    def sums(self) -> dict[str, Any]:
        """Return all sums over these rows."""
        found: dict[str, Any] = {"depth": summed_depth(len(self.t))}
        if self.query.split is not None:
            found.update(self._judge(*self.query.split))
        if self.query.next_split is not None:
            found.update(self._split())
        if self.query.measure:
            found["sizes"] = column_sums(self.X.abs(), self.weight)
            found["measured_weight"] = total(self.weight)
        return found

    def _judge(self, split: Any, split_intercept: float) -> dict[str, Any]:
        import torch

        curve, t = self.curve, self.t
        split = torch.tensor(split, device=self.X.device)
        w = torch.where(self.listed, 0.0, self.weight)
        frozen = curve.piece(self.direction * (self.X @ split + split_intercept) + self.offset)
        s = curve.continued_slope(frozen, t).clamp(curve.lowest, curve.highest)
        own = curve.continued_slope(self.piece, t)
        size = self.X.abs() @ self._coef.abs() + abs(self.query.intercept) + self.offset.abs()
        error = (self.X.shape[1] + 8) * 2.0**-53 * size
        worst = torch.maximum(curve.fenchel_young(s, t - error), curve.fenchel_young(s, t + error))
        self.g = self.direction * w * s
        self.curved = w * curve.curvature[frozen]
        self.crossed = (s != own) & ~self.listed & (self.weight > 0)
        live = self.weight > 0
        steepest = torch.where(live & ~self.listed, torch.maximum(s.abs(), own.abs()), 0.0)
        return {
            "loss": total(w * curve.loss(self.piece, t)),
            "gap": total(w * worst),
            "error": total(w * error),
            "total": total(self.g),
            "total_size": total(self.g.abs()),
            "weight": total(w),
            "crossed": int(self.crossed.sum()),
            "steepest": float(steepest.max()) if len(t) else 0.0,
            "gradient": column_sums(self.X, self.g),
        }

    def _split(self) -> dict[str, Any]:
        import torch

        split = self.query.next_split
        assert split is not None
        slack = torch.where(self.weight > 0, self.curve.slack(self.t), torch.inf)
        near = self.crossed | self.kept | (self.listed if split.keeps_listed else False)
        close = (slack <= split.reach * split.longest).nonzero()[:, 0]
        directions = torch.tensor(split.directions, device=self.X.device)
        d = self.X.shape[1]
        moved = self.X[close] @ directions[:, :d].T
        if self.has_intercept:
            moved = moved + directions[:, d]
        near[close] |= slack[close] <= split.reach * moved.norm(dim=1)
        w = torch.where(near, 0.0, self.weight)
        g = self.direction * w * self.curve.continued_slope(self.piece, self.t)
        self.near = near.nonzero()[:, 0]
        found: dict[str, Any] = {
            "change": self.X.T @ (g - self.g),
            "change_total": float((g - self.g).sum()),
        }
        change = w * self.curve.curvature[self.piece] - self.curved
        if bool((change != 0).any()):
            X = self.X
            if self.has_intercept:
                X = torch.cat([X, torch.ones_like(X[:, :1])], dim=1)
            found["curvature"] = (X * change[:, None]).T @ X
        return found

    def loss_at_zero(self) -> float:
        """Return the sum of the losses at zero coefficients."""
        loss = self.curve.loss(self.curve.piece(self.offset), self.offset)
        return total(self.weight * loss)
