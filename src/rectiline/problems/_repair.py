"""Move nearly feasible points to feasible ones, for the proofs and for `Region`.

Dual. Columns without any cost (no penalty, an unpenalised intercept) demand that their entry of
``q = A'xi + E'nu - X'g`` is zero. Samples strictly inside their boxes sit on a kink of the loss,
where moving their multiplier is free, so corrections are least squares weighted by the squared
distance to the box, clipped, and repeated.

Primal. The coefficients move by the shortest step onto the rows that were ever violated.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray
from scipy import linalg
from scipy import sparse as sp
from scipy.sparse.linalg import lsqr

from rectiline import _core
from rectiline._typing import AnyMatrix, Indices, Mask, Vector
from rectiline.backends import Design

__all__ = ["balance_free_columns", "dense_part", "move_into_constraints"]

_DUAL_ROUNDS = 25
_PRIMAL_ROUNDS = 60
_GAIN = 0.5  # of the violation, that a round on the same rows and columns leaves at most
_DENSE_LIMIT = 20_000_000  # entries of the active constraint rows that may be made dense


def balance_free_columns(
    design: Design,
    columns: Indices,
    intercept: bool,
    sample: Vector,
    low: Vector,
    high: Vector,
    target: Vector,
    target_size: Vector | None = None,
) -> tuple[Vector, float]:
    """Move `sample` inside ``[low, high]`` until ``X[:, columns]' sample == target``.

    With `intercept` a column of ones is appended (and `target` has one entry more); `target_size`
    is the size of the terms that make up `target` (its own size if not given). Returns the moved
    point and the largest leftover relative to the terms of its sum.
    """
    if target_size is None:
        target_size = np.abs(target)
    if target.size <= _core.MOST_FREE:
        X, places = dense_part(design, columns)
        norms = design.norm_bounds.columns
        norms = norms[columns] if X is not design else norms
        return _core.balance_columns(
            X.view, places, intercept, sample, low, high, norms, target, target_size
        )
    k = columns.size

    def transposed(values: Vector) -> Vector:
        image = np.empty(target.size)
        if k:  # often the intercept alone is free
            image[:k] = design.tdot(values)[columns]
        if intercept:
            image[k] = values.sum()
        return image

    def forward(values: Vector) -> Vector:
        if not k:
            return np.full(design.n_samples, values[0])
        full = np.zeros(design.n_features)
        full[columns] = values[:k]
        z = design.dot(full)
        return z + values[k] if intercept else z

    level = np.full(target.size, math.sqrt(design.n_samples))
    if k:
        level[:k] = design.norm_bounds.columns[columns]
    level *= math.sqrt(sample.dot(sample))
    level += target_size + 1e-300
    width: Vector | None = None
    best, best_left = sample, np.inf
    with np.errstate(over="ignore", invalid="ignore"):  # columns next to nothing
        for _ in range(_DUAL_ROUNDS):
            residual = transposed(sample) - target
            left = float((np.abs(residual) / level).max()) if level.size else 0.0
            if left < best_left:
                best, best_left = sample, left
            if left <= 1e-16:
                break
            if width is None:
                width = _finite_width(low, high, sample)
            room = np.minimum(sample - low, high - sample)
            if not _core.all_finite(room):
                room = np.where(np.isfinite(room), room, np.maximum(np.abs(sample), width))
            weight = np.minimum(room, 10 * width) ** 2 + (1e-7 * width) ** 2
            if k > design.n_samples:
                # B (B'B)^+ = (BB')^+ B with B = sqrt(weight) X, and BB' is the smaller matrix.
                root = np.sqrt(weight)
                kernel = _row_kernel(design, columns, intercept) * root[:, None] * root
                change = root * _scaled_solution(kernel, root * forward(residual))
            else:
                gram = design.weighted_gram(weight, columns, intercept)
                change = weight * forward(_scaled_solution(gram, residual))
            sample = np.minimum(np.maximum(sample - change, low), high)
            if not _core.all_finite(sample):
                break
    return best, best_left


def dense_part(design: Design, columns: Indices) -> tuple[Design, Indices]:
    """Return a dense design that holds these columns, and where they are in it."""
    if design.is_sparse:
        return Design(design.dense_columns(columns)), np.arange(columns.size)
    return design, columns


def _row_kernel(design: Design, columns: Indices, intercept: bool) -> NDArray[np.float64]:
    """Return ``X X'`` over some columns, a column of ones added if asked."""
    if columns.size == design.n_features:
        kernel = design.row_gram
    else:
        marked = np.zeros(design.n_features)
        marked[columns] = 1.0
        kernel = design.weighted_kernel(marked)
    return kernel + 1.0 if intercept else kernel


def _finite_width(low: Vector, high: Vector, sample: Vector) -> Vector:
    """Return how wide the boxes are; those without end count as wide as the point is large."""
    width = high - low
    if not _core.all_finite(width):
        width[~np.isfinite(width)] = float(np.max(np.abs(sample), initial=0.0)) or 1.0
    return width


def _scaled_solution(gram: NDArray[np.float64], right: Vector) -> Vector:
    """Solve with a positive semidefinite matrix whose rows may be of very different size."""
    scale = np.sqrt(np.maximum(gram.diagonal(), 1e-300))
    gram = gram / scale[:, None] / scale
    gram.flat[:: gram.shape[0] + 1] += 1e-14
    factor, info = linalg.lapack.dpotrf(gram, lower=1)
    if info == 0:
        return np.asarray(linalg.lapack.dpotrs(factor, right / scale, lower=1)[0] / scale)
    return np.asarray(np.linalg.lstsq(gram, right / scale, rcond=None)[0] / scale)


def move_into_constraints(
    coef: Vector,
    A: AnyMatrix,
    c: Vector,
    E: AnyMatrix,
    f: Vector,
    lower: Vector,
    upper: Vector,
) -> Vector:
    """Return coefficients near `coef` that satisfy the constraints, as far as this method can.

    Clipping to the bounds comes first; it is all there is to do without rows.
    """
    coef = np.clip(coef, lower, upper)
    if c.size + f.size == 0:
        return coef
    active = np.zeros(c.size, dtype=bool)
    fixed = np.zeros(coef.size, dtype=bool)  # columns that stay at a bound they ran into
    best, best_violation = coef, np.inf
    idle = False  # whether the last round had the same rows and columns as the one before
    for _ in range(_PRIMAL_ROUNDS):
        slack, miss = A @ coef + c, E @ coef + f
        violation = max(
            float(np.max(-slack, initial=0.0)), float(np.max(np.abs(miss), initial=0.0))
        )
        idle = idle and not violation < _GAIN * best_violation
        if violation < best_violation:
            best, best_violation = coef, violation
        if idle:  # what is left is rounding
            break
        # Slightly more than needed: products rounded another way should find no violation again.
        margin = 4e-16 * (np.abs(c) + 1.0)
        if violation <= 1e-16 or (violation <= float(margin.max(initial=0.0)) and not f.size):
            break
        held = active.sum() + fixed.sum()
        active |= slack < 0
        rows = [A[active], E] if f.size else [A[active]]
        wanted = (margin - slack)[active]
        if f.size:
            wanted = np.concatenate([wanted, -miss])
        step = _least_norm(rows, wanted, ~fixed)
        moved = np.clip(coef + step, lower, upper)
        fixed |= moved != coef + step
        idle = held == active.sum() + fixed.sum()
        coef = moved
    return best


def _least_norm(rows: list[AnyMatrix], wanted: Vector, movable: Mask) -> Vector:
    """Return the shortest step with ``rows @ step = wanted`` that moves only `movable` columns."""
    is_sparse = any(sp.issparse(part) for part in rows)
    stacked: AnyMatrix = sp.vstack(rows, format="csr") if is_sparse else np.vstack(rows)
    step = np.zeros(movable.size)
    if is_sparse and stacked.shape[0] * stacked.shape[1] > _DENSE_LIMIT:
        step[movable] = lsqr(stacked[:, movable], wanted, atol=1e-15, btol=1e-15)[0]
        return step
    dense = np.asarray(stacked.toarray() if is_sparse else stacked)[:, movable]
    step[movable] = _by_row_products(dense, wanted)
    return step


def _by_row_products(rows: NDArray[np.float64], wanted: Vector) -> Vector:
    """Return the shortest solution of ``rows @ step = wanted``, by a factor of the rows' products.

    Rows that depend on one another have none: then by singular values, which cost much more.
    """
    factor, info = linalg.lapack.dpotrf(rows @ rows.T, lower=1)
    if info == 0:
        step = rows.T @ linalg.lapack.dpotrs(factor, wanted, lower=1)[0]
        # The products square the condition of the rows: one round on what is left makes up for it.
        step += rows.T @ linalg.lapack.dpotrs(factor, wanted - rows @ step, lower=1)[0]
        left = float(np.max(np.abs(wanted - rows @ step), initial=0.0))
        if left <= 1e-13 * float(np.max(np.abs(wanted), initial=0.0)):
            return np.asarray(step)
    return np.asarray(np.linalg.lstsq(rows, wanted, rcond=1e-13)[0])
