"""A pass over a block of torch tensors, in plain torch; the reference of the Triton kernels.

Everything of the size of the rows stays on the device of X. Sums are float64.
"""

from __future__ import annotations

import math
import operator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from rectiline.losses import PLQCurve
from rectiline.problems._block_samples import BlockSamples
from rectiline.problems.blocks._pass import Answer, NearRows, PassState, Query
from rectiline.rows import Block, copy_to_host, in_block, refuse_non_finite

_ENTRIES_AT_ONCE = 1 << 26  # entries of X that are converted to float64 at a time
_ROWS_PER_RUN = 1024  # rows that are added up first, in the order of the library


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
    is_straight: bool  # whether no piece is curved

    @classmethod
    def of(cls, curve: PLQCurve, device: Any) -> TensorCurve:
        """Return a copy of the curve on a device."""
        import torch

        real = (curve.left != curve.right) | (np.diff(curve.curvature) != 0)
        places = (curve.anchors.knot, curve.anchors.value, curve.anchors.slope)
        parts = (curve.knots, curve.knots[real], *places, curve.curvature)
        sent: list[Any] = [torch.tensor(one, dtype=torch.float64, device=device) for one in parts]
        knots, bends, at, value, slope, curvature = sent
        is_straight = not curve.curvature.any()
        return cls(knots, bends, at, value, slope, curvature, *curve.domain(), is_straight)

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
        ends = [-math.inf, *self.knots.tolist(), math.inf]
        pieces = (self.at, self.slope, self.curvature)
        for low, high, *piece in zip(ends, ends[1:], *(one.tolist() for one in pieces)):
            at, first, curvature = piece
            last, touch = first, at + 1e300 * torch.sign(s - first)
            if curvature > 0.0:
                touch = at + (s - first) / curvature
                first, last = (first + curvature * (end - at) for end in (low, high))
            length = (t.clamp(low, high) - touch.clamp(low, high)).abs()
            excess = torch.maximum(first - s, s - last)
            total += length * (excess.clamp_min(0) + 0.5 * curvature * length)
        return total


def _run_query(block: Block, query: Query, state: PassState) -> Answer:
    import torch

    device = block.X.device
    samples: Any = query.samples
    curve = TensorCurve.of(samples.losses[0].curve, device)
    listed = torch.as_tensor(in_block(query.listed, block), device=device)
    marks = torch.zeros(block.n_rows, dtype=torch.uint8, device=device)
    marks[listed] = 1  # not frozen
    if query.next_split is not None:  # near in any case
        marks[torch.as_tensor(in_block(query.next_split.always, block), device=device)] += 2
    if _fits_kernel(block, query, curve):
        return _run_kernel(block, query, curve, listed, marks, state)
    step = max(1, _ENTRIES_AT_ONCE // block.X.shape[1])
    sums: dict[str, Any] = {}
    near = []
    for begin in range(0, block.n_rows, step):
        some = slice(begin, begin + step)
        part = _TensorPart(block, query, curve, some, marks[some], state.fit_intercept)
        for name, value in part.sums().items():
            larger = max if name in ("steepest", "depth") else operator.add
            sums[name] = larger(sums[name], value) if name in sums else value
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
        _refuse(block, samples)
    return Answer(numbers, _near_rows(block, samples, at, state.copies))


def _fits_kernel(block: Block, query: Query, curve: TensorCurve) -> bool:
    """Whether the Triton kernel takes a query: straight pieces, rows in one piece, on a GPU."""
    if not block.X.is_cuda or block.X.stride(1) != 1:
        return False
    encoding: Any = query.samples.encoding
    if not encoding.is_plain or encoding.of == "prediction":
        return False
    if not curve.is_straight or not 1 <= curve.bends.numel() == curve.knots.numel() <= 4:
        return False
    try:
        import triton  # noqa: F401
    except ImportError:
        return False
    return bool(block.X.shape[1] <= 256)


def _run_kernel(
    block: Block, query: Query, curve: TensorCurve, listed: Any, marks: Any, state: PassState
) -> Answer:
    """Return the answer by one kernel over all rows on a GPU, and torch on the few near a knot."""
    import torch

    from rectiline.problems.blocks._triton import look_at_rows

    device = block.X.device
    samples: Any = query.samples
    labels: Any = samples.encoding.labels
    if labels is not None:
        labels = tuple(map(float, labels))
    next_split = query.next_split
    coef = torch.tensor(query.coef, device=device)
    split = None
    if query.split is not None:
        split = (torch.tensor(query.split[0], device=device), query.split[1])
    cutoff = -1.0 if next_split is None else next_split.reach * next_split.longest
    point = (coef, query.intercept)
    sums, gradient, sizes, at, multiplier = look_at_rows(
        block, marks, curve, labels, point, split, cutoff, query.measure
    )
    at_zero, strange, weight = (sums.pop(name) for name in ("at_zero", "strange", "all_weight"))
    is_finite = np.isfinite(list(sums.values())).all() and bool(torch.isfinite(gradient).all())
    if strange or not is_finite:
        _refuse(block, samples)
    if query.out is not None:
        query.out[block.start :][: block.n_rows] = multiplier.cpu().numpy()
    if query.collect:
        at = listed
    answer: dict[str, Any] = {"depth": sums["depth"]}
    if query.measure:
        answer["sizes"] = sizes.cpu().numpy()
        answer |= {"measured_weight": weight, "at_zero": at_zero}
    if split is not None:
        answer.update(sums)
        answer["gradient"] = gradient.cpu().numpy()
    near = at if query.collect else at[:0]
    if next_split is not None:
        close = _TensorPart(block, query, curve, at, marks[at], state.fit_intercept)
        change, total = close.split().values()
        near = at[close.near]
        if split is None:
            change, total = change + gradient, total + sums["total"]
        answer["change"], answer["change_total"] = change.cpu().numpy(), float(total)
    return Answer(answer, _near_rows(block, samples, near, state.copies))


class _TensorPart:
    """Some rows of a block: predictions, slopes and sums at the candidate of a query.

    Parameters
    ----------
    some : slice or tensor
        Which rows of the block.
    marks : tensor of uint8
        1 for those that are not frozen, 2 for those that are near in any case, 3 for both.
    """

    def __init__(
        self,
        block: Block,
        query: Query,
        curve: TensorCurve,
        some: Any,
        marks: Any,
        has_intercept: bool,
    ) -> None:
        import torch

        self.query, self.curve, self.has_intercept = query, curve, has_intercept
        self.listed, self.kept = (marks & 1) != 0, marks > 1
        part = block.take(some)
        self.X = part.X.double()
        start = block.start + (int(some.start) if isinstance(some, slice) else 0)
        samples: Any = query.samples
        encoded = samples.encoding.encode(replace(part, start=start))
        self.direction, self.offset, self.weight, _ = encoded
        self.t = self._arguments(query.coef, query.intercept)
        self.piece = curve.piece(self.t)
        self.own = curve.continued_slope(self.piece, self.t)
        self.near = torch.zeros(0, dtype=torch.int64, device=self.X.device)
        self.s, self.g, self.curved = self.own, torch.zeros_like(self.t), torch.zeros_like(self.t)
        self.crossed = torch.zeros_like(self.listed)
        if query.split is not None:
            piece = curve.piece(self._arguments(*query.split))
            self.s = curve.continued_slope(piece, self.t).clamp(curve.lowest, curve.highest)
            self.frozen_weight = torch.where(self.listed, 0.0, self.weight)
            self.g = self.direction * self.frozen_weight * self.s
            self.curved = self.frozen_weight * curve.curvature[piece]
            self.crossed = (self.s != self.own) & (self.frozen_weight > 0)

    def _arguments(self, coef: Any, intercept: float) -> Any:
        import torch

        coef = torch.tensor(coef, device=self.X.device)
        return self.direction * (self.X @ coef + intercept) + self.offset

    def sums(self) -> dict[str, Any]:
        """Return all sums over these rows."""
        found: dict[str, Any] = {"depth": _summed_depth(len(self.t))}
        if self.query.split is not None:
            found.update(self._evaluate())
        if self.query.next_split is not None:
            found.update(self.split())
        if self.query.measure:
            found["sizes"] = _column_sums(self.X.abs(), self.weight)
            found["measured_weight"] = _total(self.weight)
            loss = self.curve.loss(self.curve.piece(self.offset), self.offset)
            found["at_zero"] = _total(self.weight * loss)
        return found

    def _evaluate(self) -> dict[str, Any]:
        import torch

        curve, t, s, w = self.curve, self.t, self.s, self.frozen_weight
        coef = torch.tensor(self.query.coef, device=self.X.device)
        size = self.X.abs() @ coef.abs() + abs(self.query.intercept) + self.offset.abs()
        error = (self.X.shape[1] + 8) * 2.0**-53 * size
        worst = torch.maximum(curve.fenchel_young(s, t - error), curve.fenchel_young(s, t + error))
        steepest = torch.where(w > 0, torch.maximum(s.abs(), self.own.abs()), 0.0)
        return {
            "loss": _total(w * curve.loss(self.piece, t)),
            "gap": _total(w * worst),
            "error": _total(w * error),
            "total": _total(self.g),
            "total_size": _total(self.g.abs()),
            "weight": _total(w),
            "steepest": float(steepest.max()) if len(t) else 0.0,
            "gradient": _column_sums(self.X, self.g),
        }

    def split(self) -> dict[str, Any]:
        """Find the near rows; return by how much the sums over frozen rows change."""
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
        change = self.direction * w * self.own - self.g
        self.near = near.nonzero()[:, 0]
        found = {"change": self.X.T @ change, "change_total": float(change.sum())}
        if self.curve.is_straight:
            return found
        bent = w * self.curve.curvature[self.piece] - self.curved
        if bool((bent != 0).any()):
            X = self.X
            if self.has_intercept:
                X = torch.cat([X, torch.ones_like(X[:, :1])], dim=1)
            found["curvature"] = (X * bent[:, None]).T @ X
        return found


def _near_rows(block: Block, samples: BlockSamples, at: Any, copies: bool) -> NearRows:
    """Return the numbers of some rows of a block and, with `copies`, copies of them on the host."""
    picked = block.take(at if copies else at[:0])
    rows = at.cpu().numpy() + block.start
    return NearRows(rows, copy_to_host(picked.X), samples.of_block(picked, rows))


def _refuse(block: Block, samples: BlockSamples) -> None:
    """Raise an error that names a row with an entry that is not allowed, if there is one."""
    import torch

    at = (~torch.isfinite(block.X)).any(1).nonzero()[:1, 0]
    rows = block.start + at.cpu().numpy()
    refuse_non_finite(Block(block.X[at].cpu().numpy(), None, None, 0), rows=rows)
    samples.encoding.encode(block)


def _column_sums(X: Any, weights: Any) -> Any:
    """Return ``X.T @ weights``: runs of rows first, then the runs, which bounds its rounding."""
    import torch

    whole = len(weights) // _ROWS_PER_RUN * _ROWS_PER_RUN
    found = X[whole:].T @ weights[whole:]
    if whole:
        runs = X[:whole].reshape(-1, _ROWS_PER_RUN, X.shape[1])
        by_runs = torch.bmm(weights[:whole].reshape(-1, 1, _ROWS_PER_RUN), runs)
        found = found + by_runs.sum(dim=(0, 1))
    return found


def _total(values: Any) -> float:
    """Return the sum of a vector: runs first, then the runs."""
    whole = len(values) // _ROWS_PER_RUN * _ROWS_PER_RUN
    return float(values[:whole].reshape(-1, _ROWS_PER_RUN).sum(1).sum() + values[whole:].sum())


def _summed_depth(n: int) -> float:
    """Return how many terms `_column_sums` and `_total` may add one after the other, at most."""
    return float(2 * _ROWS_PER_RUN + n // _ROWS_PER_RUN + 1)
