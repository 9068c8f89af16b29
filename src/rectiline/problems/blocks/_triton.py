# mypy: disable-error-code="untyped-decorator,attr-defined"
"""A pass over a block of tensors on a GPU as Triton kernels, for losses with straight pieces.

The kernel of rows looks at every row: predictions, pieces, the sums that a certificate needs, and a
list of the rows that need a closer look (near a knot, crossed or listed). It leaves the multipliers
of frozen rows behind, from which another one adds up their gradient. Everything else is done in
torch on the few rows of the list. Sums are float64; every program has sums of its own, added in
their order, so that equal inputs give equal bits.

Every row has one thread: with tiles of rows and columns the arithmetic of a row would be repeated
by all threads that share it. Few columns are read one by one by that thread. Many columns are read
in tiles, whose loads are wide, by a kernel of their own that leaves the predictions behind.
Measured on an H200, milliseconds for 20,000,000 x 100 float64: 55 in one kernel, about 12 in two.
One kernel for everything, which reads X once, splits as fast but takes 1.3 to 2 times as long to
evaluate: its sums spill.
"""

from __future__ import annotations

from typing import Any

import torch
import triton
import triton.language as tl

_FEW_COLUMNS = 32  # up to so many are read one by one
_ROWS_PER_TILE = 32  # one for each thread
_REGISTERS_PER_THREAD = 80  # few enough that many threads run at once
_TILE = (64, 32)  # rows and columns, where there are many columns
_PROGRAMS = 132 * 48  # twice as many as run at once with so many registers
_SUMS = 11


@triton.jit
def _place(t, KNOTS, AT, VALUE, SLOPE, K: tl.constexpr):  # type: ignore[no-untyped-def]
    # Where the piece of t starts, its value and slope there, and the distance to the next knot.
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
    return at, value, slope, slack


@triton.jit
def _fenchel_young(t, s, KNOTS, SLOPE, K: tl.constexpr):  # type: ignore[no-untyped-def]
    # Between two knots a slope s differs by a constant from the piece's.
    found = t * 0.0
    for k in tl.static_range(K + 1):
        m = tl.load(SLOPE + k)
        if k == 0:
            found += tl.maximum(tl.load(KNOTS) - t, 0.0) * tl.maximum(s - m, 0.0)
        elif k == K:
            found += tl.maximum(t - tl.load(KNOTS + K - 1), 0.0) * tl.maximum(m - s, 0.0)
        else:
            low = tl.load(KNOTS + k - 1)
            high = tl.load(KNOTS + k)
            inside = tl.minimum(tl.maximum(t, low), high)
            found += (inside - low) * tl.maximum(m - s, 0.0)
            found += (high - inside) * tl.maximum(s - m, 0.0)
    return found


@triton.jit
def _product_kernel(  # type: ignore[no-untyped-def]
    X,
    COEF,
    SPLIT,
    Z,
    n,
    d,
    stride,
    EVALUATES: tl.constexpr,
    ROWS: tl.constexpr,
    CHUNK: tl.constexpr,
):
    # X coef and, if there is a split, X split and |X| |coef|.
    rows = tl.program_id(0).to(tl.int64) * ROWS + tl.arange(0, ROWS)
    live = rows < n
    z = tl.zeros((ROWS, CHUNK), dtype=tl.float64)
    frozen_z = tl.zeros((ROWS, CHUNK), dtype=tl.float64)
    terms = tl.zeros((ROWS, CHUNK), dtype=tl.float64)
    for first in range(0, d, CHUNK):
        columns = first + tl.arange(0, CHUNK)
        inside = columns < d
        x = tl.load(
            X + rows[:, None] * stride + columns[None, :],
            mask=live[:, None] & inside[None, :],
            other=0.0,
        ).to(tl.float64)
        part = x * tl.load(COEF + columns, mask=inside, other=0.0)[None, :]
        z += part
        if EVALUATES:
            frozen_z += x * tl.load(SPLIT + columns, mask=inside, other=0.0)[None, :]
            terms += tl.abs(part)
    tl.store(Z + rows, tl.sum(z, 1), mask=live)
    if EVALUATES:
        tl.store(Z + n + rows, tl.sum(frozen_z, 1), mask=live)
        tl.store(Z + 2 * n + rows, tl.sum(terms, 1), mask=live)


@triton.jit
def _row_kernel(  # type: ignore[no-untyped-def]
    X,
    Y,
    W,
    MARKS,
    COEF,
    SPLIT,
    Z,
    KNOTS,
    AT,
    VALUE,
    SLOPE,
    SUMS,
    MULTIPLIER,
    PLACES,
    COUNT,
    NUMBERS,
    n,
    stride,
    capacity,
    EVALUATES: tl.constexpr,
    MEASURES: tl.constexpr,
    MARGIN: tl.constexpr,
    WEIGHTED: tl.constexpr,
    K: tl.constexpr,
    ROWS: tl.constexpr,
    COLUMNS: tl.constexpr,
):
    # With COLUMNS = 0, predictions are given.
    # Numbers of a kernel's own arguments would be float32.
    intercept = tl.load(NUMBERS)
    split_intercept = tl.load(NUMBERS + 1)
    positive = tl.load(NUMBERS + 2)
    negative = tl.load(NUMBERS + 3)
    cutoff = tl.load(NUMBERS + 4)
    lowest = tl.load(NUMBERS + 5)
    highest = tl.load(NUMBERS + 6)
    unit = tl.load(NUMBERS + 7)
    none = tl.zeros((ROWS,), dtype=tl.float64)
    loss, gap, error, total, size = none, none, none, none, none
    weight, crossed, steepest = none, none, none
    at_zero, strange, all_weight = none, none, none
    tiles = (n + ROWS - 1) // ROWS
    for tile in range(tl.program_id(0), tiles, tl.num_programs(0)):
        rows = tile.to(tl.int64) * ROWS + tl.arange(0, ROWS)
        live = rows < n
        y = tl.load(Y + rows, mask=live, other=0.0).to(tl.float64)
        w = tl.where(live, 1.0, 0.0).to(tl.float64)
        if WEIGHTED:
            w = tl.load(W + rows, mask=live, other=0.0).to(tl.float64)
        mark = tl.load(MARKS + rows, mask=live, other=0)
        is_listed = (mark & 1) != 0
        z = y * 0.0
        frozen_z = y * 0.0
        terms = y * 0.0
        for j in tl.static_range(COLUMNS):
            x = tl.load(X + rows * stride + j, mask=live, other=0.0).to(tl.float64)
            term = x * tl.load(COEF + j)
            z += term
            if EVALUATES:
                frozen_z += x * tl.load(SPLIT + j)
                terms += tl.abs(term)
        if COLUMNS == 0:
            z = tl.load(Z + rows, mask=live, other=0.0)
            if EVALUATES:
                frozen_z = tl.load(Z + n + rows, mask=live, other=0.0)
                terms = tl.load(Z + 2 * n + rows, mask=live, other=0.0)
        if MARGIN:
            p = tl.where(y == positive, 1.0, -1.0).to(tl.float64)
            o = y * 0.0
            strange += tl.where(live & (y != positive) & (y != negative), 1.0, 0.0)
        else:
            p = y * 0.0 - 1.0
            o = y
        if WEIGHTED:
            strange += tl.where(live & ~((w >= 0) & (w < float("inf"))), 1.0, 0.0)
        t = p * (z + intercept) + o
        at, value, slope, slack = _place(t, KNOTS, AT, VALUE, SLOPE, K)
        close = live & (w > 0) & (slack <= cutoff)
        if MEASURES:
            zero_at, zero_value, zero_slope, _ = _place(o, KNOTS, AT, VALUE, SLOPE, K)
            all_weight += w
            at_zero += w * (zero_value + (o - zero_at) * zero_slope)
        if EVALUATES:
            t0 = p * (frozen_z + split_intercept) + o
            _, _, s, _ = _place(t0, KNOTS, AT, VALUE, SLOPE, K)
            s = tl.minimum(tl.maximum(s, lowest), highest)
            err = unit * (terms + tl.abs(intercept) + tl.abs(o))
            counted = tl.where(is_listed, 0.0, w)
            g = p * counted * s
            has_crossed = (s != slope) & (counted > 0)
            loss += counted * (value + (t - at) * slope)
            if tl.sum((has_crossed | (slack <= err)).to(tl.int32), 0) > 0:  # else there is no gap
                below = _fenchel_young(t - err, s, KNOTS, SLOPE, K)
                above = _fenchel_young(t + err, s, KNOTS, SLOPE, K)
                gap += counted * tl.maximum(below, above)
            error += counted * err
            crossed += tl.where(has_crossed, 1.0, 0.0)
            steepest = tl.maximum(
                steepest, tl.where(counted > 0, tl.maximum(tl.abs(s), tl.abs(slope)), 0.0)
            )
            weight += counted
            listing = close | has_crossed | (mark != 0)
        else:
            listing = close | (mark != 0)
            g = tl.where(listing, 0.0, p * w * slope)
        total += g
        size += tl.abs(g)
        tl.store(MULTIPLIER + rows, g, mask=live)
        flag = listing.to(tl.int32)
        found = tl.sum(flag, 0)
        if found > 0:
            base = tl.atomic_add(COUNT, found.to(tl.int64))
            place = base + tl.cumsum(flag, 0) - 1
            tl.store(PLACES + place, rows, mask=listing & (place < capacity))
    out = SUMS + tl.program_id(0) * 11
    tl.store(out, tl.sum(loss, 0))
    tl.store(out + 1, tl.sum(gap, 0))
    tl.store(out + 2, tl.sum(error, 0))
    tl.store(out + 3, tl.sum(total, 0))
    tl.store(out + 4, tl.sum(size, 0))
    tl.store(out + 5, tl.sum(weight, 0))
    tl.store(out + 6, tl.sum(crossed, 0))
    tl.store(out + 7, tl.sum(at_zero, 0))
    tl.store(out + 8, tl.sum(strange, 0))
    tl.store(out + 9, tl.sum(all_weight, 0))
    tl.store(out + 10, tl.max(steepest, 0))


@triton.jit
def _gradient_kernel(  # type: ignore[no-untyped-def]
    X,
    MULTIPLIER,
    W,
    SUMS,
    n,
    d,
    stride,
    MEASURES: tl.constexpr,
    WEIGHTED: tl.constexpr,
    ROWS: tl.constexpr,
    COLUMNS: tl.constexpr,
):
    columns = tl.program_id(1) * COLUMNS + tl.arange(0, COLUMNS)
    inside = columns < d
    gradient = tl.zeros((ROWS, COLUMNS), dtype=tl.float64)
    sizes = tl.zeros((ROWS, COLUMNS), dtype=tl.float64)
    tiles = (n + ROWS - 1) // ROWS
    for tile in range(tl.program_id(0), tiles, tl.num_programs(0)):
        rows = tile.to(tl.int64) * ROWS + tl.arange(0, ROWS)
        live = rows < n
        g = tl.load(MULTIPLIER + rows, mask=live, other=0.0)
        x = tl.load(
            X + rows[:, None] * stride + columns[None, :],
            mask=live[:, None] & inside[None, :],
            other=0.0,
        ).to(tl.float64)
        gradient += x * g[:, None]
        if MEASURES:
            if WEIGHTED:
                w = tl.load(W + rows, mask=live, other=0.0).to(tl.float64)
                sizes += tl.abs(x) * w[:, None]
            else:
                sizes += tl.abs(x)
    out = SUMS + tl.program_id(0) * 2 * d + columns
    tl.store(out, tl.sum(gradient, 0), mask=inside)
    tl.store(out + d, tl.sum(sizes, 0), mask=inside)


def look_at_rows(
    block: Any,
    marks: Any,
    curve: Any,
    labels: tuple[float, float] | None,
    point: tuple[Any, float],
    split: tuple[Any, float] | None,
    cutoff: float,
    measures: bool,
) -> tuple[dict[str, float], Any, Any, Any, Any]:
    """Return sums, gradient, sizes of columns, rows that need a closer look, and multipliers.

    Parameters
    ----------
    block : Block
        X float32 or float64, rows in one piece.
    marks : tensor of uint8
        1 for rows that are not frozen, 2 for rows to be listed in any case, 3 for both.
    labels : tuple of float or None
        The negative and the positive label of a margin loss; None for a loss of the residual.
    point, split : tuple of (tensor, float)
        The candidate, and where rows are frozen; without a split nothing is evaluated.
    cutoff : float
        Rows within it of a knot are looked at closely.
    measures : bool
        Whether to add up the losses at zero coefficients and ``sum_i weight_i |x_ij|``, the size
        of a column; the sizes are zeros otherwise.
    """
    X, y, weight = block.X, block.y, block.weight
    n, d = X.shape
    device = X.device
    programs = max(1, min(_PROGRAMS, -(-n // _ROWS_PER_TILE)))
    sums = torch.empty(programs, _SUMS, dtype=torch.float64, device=device)
    multiplier = torch.empty(n, dtype=torch.float64, device=device)
    count = torch.zeros(1, dtype=torch.int64, device=device)
    frozen, shift = point if split is None else split
    capacity = min(n, max(1 << 16, n // 8))
    down, up = (0.0, 0.0) if labels is None else labels
    given = [point[1], shift, up, down, cutoff, curve.lowest, curve.highest, (d + 8) * 2.0**-53]
    numbers = torch.tensor(given, dtype=torch.float64, device=device)
    products = point[0]  # stands for nothing where the kernel makes them itself
    if d > _FEW_COLUMNS:
        products = torch.empty((1 if split is None else 3) * n, dtype=torch.float64, device=device)
        tile = {"ROWS": _TILE[0], "CHUNK": _TILE[1], "num_warps": 4}
        _product_kernel[(-(-n // _TILE[0]),)](
            X, point[0], frozen, products, n, d, X.stride(0), EVALUATES=split is not None, **tile
        )
    given_rows = (X, y, y if weight is None else weight, marks)
    pieces = (curve.knots, curve.at, curve.value, curve.slope)
    modes = {
        "EVALUATES": split is not None,
        "MEASURES": measures,
        "MARGIN": labels is not None,
        "WEIGHTED": weight is not None,
        "K": curve.knots.numel(),
        "ROWS": _ROWS_PER_TILE,
        "COLUMNS": d if d <= _FEW_COLUMNS else 0,
        "num_warps": _ROWS_PER_TILE // 32,
        "maxnreg": _REGISTERS_PER_THREAD,
    }
    while True:
        places = torch.empty(capacity, dtype=torch.int64, device=device)
        found_in = (sums, multiplier, places, count, numbers)
        lengths = (n, X.stride(0), capacity)
        _row_kernel[(programs,)](
            *given_rows, point[0], frozen, products, *pieces, *found_in, *lengths, **modes
        )
        found = int(count.item())
        if found <= capacity:
            break
        capacity = found
        count.zero_()
    gradient, sizes, depth = _column_sums(X, multiplier, weight, measures)
    names = ("loss", "gap", "error", "total", "total_size", "weight", "crossed", "at_zero")
    totals = dict(zip((*names, "strange", "all_weight"), sums[:, :10].sum(0).tolist(), strict=True))
    totals["steepest"] = float(sums[:, 10].max())
    # Terms that one sum may have added one after the other: tiles, rows of a tile, programs.
    totals["depth"] = float(
        max(depth, -(-n // (_ROWS_PER_TILE * programs)) + _ROWS_PER_TILE + programs)
    )
    return totals, gradient, sizes, places[:found].sort().values, multiplier


def _column_sums(X: Any, multiplier: Any, weight: Any, measures: bool) -> tuple[Any, Any, int]:
    """Return ``X.T @ multiplier``, sizes, and most terms that are added one after the other."""
    n, d = X.shape
    columns = min(64, max(16, triton.next_power_of_2(d)))
    rows = 4096 // columns
    programs = max(1, min(_PROGRAMS, -(-n // rows)))
    parts = torch.empty(programs, 2, d, dtype=torch.float64, device=X.device)
    _gradient_kernel[(programs, -(-d // columns))](
        X,
        multiplier,
        multiplier if weight is None else weight,
        parts,
        n,
        d,
        X.stride(0),
        MEASURES=measures,
        WEIGHTED=weight is not None,
        ROWS=rows,
        COLUMNS=columns,
        num_warps=4,
    )
    gradient, sizes = parts.sum(0)
    return gradient, sizes, -(-n // (rows * programs)) + rows + programs
