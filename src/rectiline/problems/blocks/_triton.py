# mypy: disable-error-code="untyped-decorator,attr-defined"
"""A pass over a block of tensors on a GPU as one Triton kernel, for losses with straight pieces.

The kernel reads X once. It adds up what a certificate needs to know about frozen rows, or their
gradient at a first split, and lists the rows that need a closer look: those near a knot, crossed
or listed. The rest is done in torch on those few rows. Sums are float64; every program has sums of
its own, added in their order, so that equal inputs give equal bits.
"""

from __future__ import annotations

from typing import Any

import torch
import triton
import triton.language as tl

__all__ = ["look_at_rows"]

_ROWS = 128  # of a tile
_PROGRAMS = 132 * 8


@triton.jit
def _pass_kernel(  # type: ignore[no-untyped-def]
    X,
    Y,
    W,
    LISTED,
    COEF,
    SPLIT,
    KNOTS,
    AT,
    VALUE,
    SLOPE,
    SUMS,
    GRADIENT,
    PLACES,
    COUNT,
    NUMBERS,
    n,
    d,
    stride,
    capacity,
    JUDGES: tl.constexpr,
    MARGIN: tl.constexpr,
    WEIGHTED: tl.constexpr,
    K: tl.constexpr,
    ROWS: tl.constexpr,
    D: tl.constexpr,
):
    # Numbers of a kernel's own arguments would be float32.
    intercept = tl.load(NUMBERS)
    split_intercept = tl.load(NUMBERS + 1)
    label = tl.load(NUMBERS + 2)
    cutoff = tl.load(NUMBERS + 3)
    lowest = tl.load(NUMBERS + 4)
    highest = tl.load(NUMBERS + 5)
    unit = tl.load(NUMBERS + 6)
    cols = tl.arange(0, D)
    inside = cols < d
    b = tl.load(COEF + cols, mask=inside, other=0.0)
    a = tl.load(SPLIT + cols, mask=inside, other=0.0)
    gradient = tl.zeros((ROWS, D), dtype=tl.float64)
    loss = tl.zeros((ROWS,), dtype=tl.float64)
    gap = tl.zeros((ROWS,), dtype=tl.float64)
    error = tl.zeros((ROWS,), dtype=tl.float64)
    total = tl.zeros((ROWS,), dtype=tl.float64)
    size = tl.zeros((ROWS,), dtype=tl.float64)
    weight = tl.zeros((ROWS,), dtype=tl.float64)
    crossed = tl.zeros((ROWS,), dtype=tl.float64)
    steepest = tl.zeros((ROWS,), dtype=tl.float64)
    tiles = (n + ROWS - 1) // ROWS
    for tile in range(tl.program_id(0), tiles, tl.num_programs(0)):
        rows = tile.to(tl.int64) * ROWS + tl.arange(0, ROWS)
        live = rows < n
        x = tl.load(
            X + rows[:, None] * stride + cols[None, :],
            mask=live[:, None] & inside[None, :],
            other=0.0,
        ).to(tl.float64)
        y = tl.load(Y + rows, mask=live, other=0.0).to(tl.float64)
        w = tl.where(live, 1.0, 0.0).to(tl.float64)
        if WEIGHTED:
            w = tl.load(W + rows, mask=live, other=0.0).to(tl.float64)
        is_listed = tl.load(LISTED + rows, mask=live, other=0) != 0
        if MARGIN:
            p = tl.where(y == label, 1.0, -1.0).to(tl.float64)
            o = y * 0.0
        else:
            p = y * 0.0 - 1.0
            o = y
        term = x * b[None, :]
        t = p * (tl.sum(term, 1) + intercept) + o
        # The piece of t: its point, value and slope.
        at = tl.load(AT) + 0.0 * t
        value = tl.load(VALUE) + 0.0 * t
        slope = tl.load(SLOPE) + 0.0 * t
        slack = t * 0.0 + float("inf")
        for k in tl.static_range(K):
            knot = tl.load(KNOTS + k)
            past = t > knot
            at = tl.where(past, tl.load(AT + k + 1), at)
            value = tl.where(past, tl.load(VALUE + k + 1), value)
            slope = tl.where(past, tl.load(SLOPE + k + 1), slope)
            slack = tl.minimum(slack, tl.abs(t - knot))
        close = live & (w > 0) & (slack <= cutoff)
        if JUDGES:
            t0 = p * (tl.sum(x * a[None, :], 1) + split_intercept) + o
            s = tl.load(SLOPE) + 0.0 * t
            for k in tl.static_range(K):
                s = tl.where(t0 > tl.load(KNOTS + k), tl.load(SLOPE + k + 1), s)
            s = tl.minimum(tl.maximum(s, lowest), highest)
            err = unit * (tl.sum(tl.abs(term), 1) + tl.abs(intercept) + tl.abs(o))
            below = t * 0.0
            above = t * 0.0
            for k in tl.static_range(K + 1):
                # Between two knots a slope s differs by a constant from the piece's.
                m = tl.load(SLOPE + k)
                if k == 0:
                    edge = tl.load(KNOTS)
                    below += tl.maximum(edge - (t - err), 0.0) * tl.maximum(s - m, 0.0)
                    above += tl.maximum(edge - (t + err), 0.0) * tl.maximum(s - m, 0.0)
                elif k == K:
                    edge = tl.load(KNOTS + K - 1)
                    below += tl.maximum((t - err) - edge, 0.0) * tl.maximum(m - s, 0.0)
                    above += tl.maximum((t + err) - edge, 0.0) * tl.maximum(m - s, 0.0)
                else:
                    lo = tl.load(KNOTS + k - 1)
                    hi = tl.load(KNOTS + k)
                    from_left = tl.maximum(m - s, 0.0)
                    from_right = tl.maximum(s - m, 0.0)
                    tb = tl.minimum(tl.maximum(t - err, lo), hi)
                    ta = tl.minimum(tl.maximum(t + err, lo), hi)
                    below += (tb - lo) * from_left + (hi - tb) * from_right
                    above += (ta - lo) * from_left + (hi - ta) * from_right
            counted = tl.where(is_listed, 0.0, w)
            g = p * counted * s
            has_crossed = (s != slope) & (counted > 0)
            loss += counted * (value + (t - at) * slope)
            gap += counted * tl.maximum(below, above)
            error += counted * err
            crossed += tl.where(has_crossed, 1.0, 0.0)
            steepest = tl.maximum(
                steepest, tl.where(counted > 0, tl.maximum(tl.abs(s), tl.abs(slope)), 0.0)
            )
            weight += counted
            listing = close | has_crossed | (is_listed & live)
        else:
            listing = close | (is_listed & live)
            g = tl.where(listing, 0.0, p * w * slope)
        total += g
        size += tl.abs(g)
        gradient += x * g[:, None]
        flag = listing.to(tl.int32)
        found = tl.sum(flag, 0)
        if found > 0:
            base = tl.atomic_add(COUNT, found.to(tl.int64))
            place = base + tl.cumsum(flag, 0) - 1
            tl.store(PLACES + place, rows, mask=listing & (place < capacity))
    pid = tl.program_id(0)
    tl.store(GRADIENT + pid * D + cols, tl.sum(gradient, 0))
    tl.store(SUMS + pid * 8 + 0, tl.sum(loss, 0))
    tl.store(SUMS + pid * 8 + 1, tl.sum(gap, 0))
    tl.store(SUMS + pid * 8 + 2, tl.sum(error, 0))
    tl.store(SUMS + pid * 8 + 3, tl.sum(total, 0))
    tl.store(SUMS + pid * 8 + 4, tl.sum(size, 0))
    tl.store(SUMS + pid * 8 + 5, tl.sum(weight, 0))
    tl.store(SUMS + pid * 8 + 6, tl.sum(crossed, 0))
    tl.store(SUMS + pid * 8 + 7, tl.max(steepest, 0))


def look_at_rows(
    X: Any,
    y: Any,
    weight: Any,
    is_listed: Any,
    curve: Any,
    label: float | None,
    point: tuple[Any, float],
    split: tuple[Any, float] | None,
    cutoff: float,
) -> tuple[dict[str, float], Any, Any]:
    """Return sums, the gradient, and the places of rows that need a closer look, growing.

    Parameters
    ----------
    X : tensor of shape (n, d)
        float32 or float64, rows in one piece.
    label : float or None
        The positive label of a margin loss; None for a loss of the residual.
    point, split : tuple of (tensor, float)
        The candidate, and where rows are frozen; without a split nothing is judged.
    cutoff : float
        Rows within it of a knot are looked at closely.
    """
    n, d = X.shape
    device = X.device
    width = max(16, triton.next_power_of_2(d))
    rows = max(16, min(_ROWS, 4096 // width))
    sums = torch.empty(_PROGRAMS, 8, dtype=torch.float64, device=device)
    gradient = torch.empty(_PROGRAMS, width, dtype=torch.float64, device=device)
    count = torch.zeros(1, dtype=torch.int64, device=device)
    frozen, shift = point if split is None else split
    capacity = max(1 << 16, n // 8)
    sign = 0.0 if label is None else float(label)
    given = [point[1], shift, sign, cutoff, curve.lowest, curve.highest, (d + 8) * 2.0**-53]
    numbers = torch.tensor(given, dtype=torch.float64, device=device)
    while True:
        places = torch.empty(capacity, dtype=torch.int64, device=device)
        _pass_kernel[(_PROGRAMS,)](
            X,
            y,
            y if weight is None else weight,
            is_listed,
            point[0],
            frozen,
            curve.knots,
            curve.at,
            curve.value,
            curve.slope,
            sums,
            gradient,
            places,
            count,
            numbers,
            n,
            d,
            X.stride(0),
            capacity,
            JUDGES=split is not None,
            MARGIN=label is not None,
            WEIGHTED=weight is not None,
            K=curve.knots.numel(),
            ROWS=rows,
            D=width,
            num_warps=4,
        )
        found = int(count.item())
        if found <= capacity:
            break
        capacity = found
        count.zero_()
    names = ("loss", "gap", "error", "total", "total_size", "weight", "crossed")
    totals = dict(zip(names, sums[:, :7].sum(0).tolist(), strict=True))
    totals["steepest"] = float(sums[:, 7].max())
    return totals, gradient.sum(0)[:d], places[:found].sort().values
