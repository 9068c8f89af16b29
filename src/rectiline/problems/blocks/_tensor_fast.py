"""A pass over tensors on a GPU: one kernel over all rows, and torch on the few near a knot."""

from __future__ import annotations

from typing import Any

import numpy as np

from rectiline.problems.blocks._pass import Answer, PassState, Query
from rectiline.problems.blocks._tensor_rows import copies, encode, places, refuse
from rectiline.rows import Block

__all__ = ["run_fast"]


def run_fast(block: Block, query: Query, curve: Any, state: PassState) -> Answer:
    """Return the answer of a block of tensors to one query."""
    import torch

    from rectiline.problems.blocks._triton import look_at_rows

    device = block.X.device
    samples: Any = query.samples
    labels: Any = samples.encoding.labels
    if labels is not None:
        labels = tuple(map(float, labels))
    next_split = query.next_split
    listed = _here(query.listed, block, device)
    always = listed if next_split is None else _here(next_split.always, block, device)
    is_listed = torch.zeros(block.n_rows, dtype=torch.uint8, device=device)
    is_listed[listed if query.split is not None else always] = 1
    coef = torch.tensor(query.coef, device=device)
    split = None
    if query.split is not None:
        split = (torch.tensor(query.split[0], device=device), query.split[1])
    cutoff = -1.0 if next_split is None else next_split.reach * next_split.longest
    point = (coef, query.intercept)
    sums, gradient, sizes, at, multiplier = look_at_rows(
        block, is_listed, curve, labels, point, split, cutoff, query.measure
    )
    at_zero, strange, weight = (sums.pop(name) for name in ("at_zero", "strange", "all_weight"))
    is_finite = np.isfinite(list(sums.values())).all() and bool(torch.isfinite(gradient).all())
    if strange or not is_finite:
        refuse(block, samples)
    if query.out is not None:
        query.out[block.start :][: block.n_rows] = multiplier.cpu().numpy()
    if next_split is not None:  # rows that are always kept need not be near a knot
        at = torch.unique(torch.cat([at, always]))
    elif query.collect:
        at = listed
    close = _Close(block, query, curve, at, is_listed[at] != 0, coef, state.fit_intercept)
    answer: dict[str, Any] = {"depth": sums["depth"]}
    if query.measure:
        answer["sizes"] = sizes.cpu().numpy()
        answer["measured_weight"] = weight
    if split is not None:
        answer.update(sums)
        answer["crossed"] = int(sums["crossed"])
        answer["gradient"] = gradient.cpu().numpy()
    near = torch.arange(at.numel(), device=device) if query.collect else at[:0]
    if next_split is not None:
        near, change, total = close.split(split, always)
        if split is None:
            change, total = change + gradient, total + sums["total"]
        answer["change"], answer["change_total"] = change.cpu().numpy(), float(total)
    gather = copies if state.copies else places
    return Answer(answer, gather(block, samples, at[near]), at_zero)


def _here(rows: Any, block: Block, device: Any) -> Any:
    import torch

    first, last = np.searchsorted(rows, (block.start, block.start + block.n_rows))
    return torch.as_tensor(rows[first:last] - block.start, device=device)


class _Close:
    """Rows that need a closer look: near a knot, crossed, or listed."""

    def __init__(
        self,
        block: Block,
        query: Query,
        curve: Any,
        at: Any,
        is_listed: Any,
        coef: Any,
        has_intercept: bool,
    ) -> None:
        self.block, self.query, self.curve, self.at = block, query, curve, at
        self.is_listed, self.has_intercept = is_listed, has_intercept
        self.X = block.X[at].double()
        weight = None if block.weight is None else block.weight[at]
        encoded = encode(query.samples, block.y[at], weight, block.start)
        self.direction, self.offset, self.weight = encoded
        self.t = self.direction * (self.X @ coef + query.intercept) + self.offset

    def split(self, frozen: Any, always: Any) -> tuple[Any, Any, Any]:
        """Return the places of near rows, and the change of the sums of these rows."""
        import torch

        query, curve, t = self.query, self.curve, self.t
        split = query.next_split
        assert split is not None
        slope = curve.slope[curve.piece(t)]
        before = torch.zeros_like(t)
        near = torch.zeros_like(self.is_listed)
        if frozen is not None:
            t0 = self.direction * (self.X @ frozen[0] + frozen[1]) + self.offset
            s = curve.slope[curve.piece(t0)].clamp(curve.lowest, curve.highest)
            before = torch.where(self.is_listed, 0.0, self.direction * self.weight * s)
            near |= (s != slope) & ~self.is_listed & (self.weight > 0)
        if split.keeps_listed or frozen is None:
            near |= self.is_listed
        near |= torch.isin(self.at, always)
        directions = torch.tensor(split.directions, device=t.device)
        d = self.X.shape[1]
        moved = self.X @ directions[:, :d].T
        if self.has_intercept:
            moved = moved + directions[:, d]
        slack = torch.where(self.weight > 0, curve.slack(t), torch.inf)
        near |= slack <= split.reach * moved.norm(dim=1)
        after = torch.where(near, 0.0, self.direction * self.weight * slope)
        change = after - before
        return near.nonzero()[:, 0], self.X.T @ change, change.sum()
