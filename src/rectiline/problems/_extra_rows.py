"""Append rows that are no samples to X, for `Problem`: a linear term, differences."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse as sp

from rectiline._numbers import real_array
from rectiline._typing import Vector
from rectiline.backends import Design, array_if_small, as_design
from rectiline.losses import LinearTerm, Loss, PiecewiseLQ
from rectiline.penalties import Fused
from rectiline.problems._samples import Samples

__all__ = ["checked_linear", "with_difference_rows", "with_linear_row", "with_rows"]

_SPARSE = 4  # times as many differences as samples from which on dense X is stored as sparse


def with_rows(
    design: Design | None, samples: Samples | None, rows: Any, loss: Loss, weight: Vector
) -> tuple[Design, Samples]:
    """Return design and samples with rows that pay `loss` of their value; X is copied.

    The loss is of the same kind as those of the samples; there is no intercept.
    """
    count = rows.shape[0]
    if design is None or samples is None:
        zero, one = np.zeros(count), np.full(count, -1.0 if loss.of == "residual" else 1.0)
        return as_design(rows), Samples((loss,), None, one, zero, weight, False)
    given = array_if_small(design.X)
    if sp.issparse(given) or (sp.issparse(rows) and count > _SPARSE * design.n_samples):
        form = design.X.format if design.is_sparse else "csr"
        X: Any = sp.vstack([sp.csr_array(design.X), sp.csr_array(rows)], format=form)
    else:
        dense = rows.toarray() if sp.issparse(rows) else rows
        X = np.vstack([given, dense.astype(np.float64)])
    n = design.n_samples
    index: NDArray[np.uint8] = np.zeros(n, np.uint8) if samples.index is None else samples.index
    sign = -1.0 if samples.losses[0].of == "residual" else 1.0
    return as_design(X), Samples(
        (*samples.losses, loss),
        np.append(index, np.full(count, len(samples.losses), dtype=np.uint8)),
        np.append(samples.direction, np.full(count, sign)),
        np.append(samples.offset, np.zeros(count)),
        np.append(samples.weight, weight),
        False,
        samples.labels,
    )


def with_difference_rows(
    design: Design, samples: Samples, penalty: Fused
) -> tuple[Design, Samples]:
    """Return design and samples with a row for every difference that the penalty charges."""
    rows = penalty.matrix(design.n_features)
    of = samples.losses[0].of
    if penalty.squared:
        paid = PiecewiseLQ([], [[0.5, 0.0, 0.0]], of=of)
    else:
        paid = PiecewiseLQ([0.0], [[0.0, -1.0, 0.0], [0.0, 1.0, 0.0]], of=of)
    return with_rows(design, samples, rows, paid, np.full(rows.shape[0], penalty.strength))


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
    design: Design | None, samples: Samples | None, linear: Vector
) -> tuple[Design, Samples]:
    """Return design and samples with a linear term as one more row; X is copied."""
    loss = LinearTerm() if samples is None else LinearTerm(samples.losses[0].of)
    return with_rows(design, samples, linear[None, :], loss, np.ones(1))
