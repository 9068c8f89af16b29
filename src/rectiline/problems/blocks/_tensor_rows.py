"""What passes over tensors need of rows: signs and offsets, sums, errors that name a row."""

from __future__ import annotations

from typing import Any

import numpy as np

from rectiline.problems._samples import Samples
from rectiline.problems.blocks._pass import NearRows
from rectiline.rows import Block, copy_to_host

_RUN = 1024  # rows that are added up first; the order within is the library's


def encode(samples: Any, y: Any, weight: Any, start: int) -> tuple[Any, Any, Any]:
    """Return signs, offsets and weights of some rows, on their device."""
    import torch

    encoding = samples.encoding
    if encoding.levels > 1 or encoding.fold is not None:
        raise TypeError("Tensors need targets that come with the blocks.")
    ones = torch.ones(len(y), dtype=torch.float64, device=y.device)
    w = ones if weight is None else weight.double()
    _refuse(~(torch.isfinite(w) & (w >= 0)), w, start, "weight must hold finite numbers >= 0")
    if encoding.of == "prediction":
        return ones, torch.zeros_like(ones), w
    if encoding.labels is None:
        o = y.double()
        _refuse(~torch.isfinite(o), y, start, "y must hold finite numbers")
        return -ones, o, w
    known, factor = torch.zeros_like(ones, dtype=torch.bool), torch.zeros_like(ones)
    for place, label in enumerate(encoding.labels):
        here = y == label
        known |= here
        if encoding.is_used(place) and encoding.changes_weights:
            factor += here.double() * encoding.factor(place)
    strange = ~known if encoding.factors is None else ~known & (w > 0)
    _refuse(strange, y, start, f"y must be one of the labels {encoding.shown_labels}")
    sign = torch.where(y == encoding.labels[encoding.positive], 1.0, -1.0).double()
    w = w * factor if encoding.changes_weights else w
    if encoding.of == "residual":
        return -ones, sign, w
    return sign, torch.zeros_like(ones), w


def _refuse(bad: Any, values: Any, start: int, rule: str) -> None:
    if bool(bad.any()):
        row = int(bad.nonzero()[0])
        raise ValueError(f"{rule}; row {start + row} has {values[row].item()}.")


def copies(block: Block, samples: Any, at: Any) -> NearRows:
    """Return copies of some rows of a block on the host."""
    weight = None if block.weight is None else block.weight[at]
    encoded = encode(samples, block.y[at], weight, block.start)
    arrays = [np.ascontiguousarray(part.cpu().numpy()) for part in encoded]
    return _near(block, samples, at, copy_to_host(block.X[at]), arrays)


def places(block: Block, samples: Any, at: Any) -> NearRows:
    """Return the numbers of some rows of a block without copies of them."""
    nothing = np.zeros(0)
    return _near(block, samples, at, nothing, [nothing] * 3)


def _near(block: Block, samples: Any, at: Any, X: Any, arrays: list[Any]) -> NearRows:
    direction, offset, weight = arrays
    encoded = Samples(samples.losses, None, direction, offset, weight, samples.fit_intercept)
    return NearRows(at.cpu().numpy() + block.start, X, encoded)


def refuse(block: Block, samples: Any) -> None:
    """Raise an error that names a row with an entry that is not allowed, if there is one."""
    import torch

    bad = ~torch.isfinite(block.X)
    if bool(bad.any()):
        row, column = (int(k) for k in bad.nonzero()[0])
        raise ValueError(
            f"X contains NaN or infinity: row {block.start + row}, column {column} is "
            f"{float(block.X[row, column])}. Impute or drop such entries first."
        )
    encode(samples, block.y, block.weight, block.start)


def column_sums(X: Any, weights: Any) -> Any:
    """Return ``X.T @ weights``: runs of rows first, then the runs, which bounds its rounding."""
    import torch

    whole = len(weights) // _RUN * _RUN
    found = X[whole:].T @ weights[whole:]
    if whole:
        runs = X[:whole].reshape(-1, _RUN, X.shape[1])
        found = found + torch.bmm(weights[:whole].reshape(-1, 1, _RUN), runs).sum(dim=(0, 1))
    return found


def total(values: Any) -> float:
    """Return the sum of a vector: runs first, then the runs."""
    whole = len(values) // _RUN * _RUN
    return float(values[:whole].reshape(-1, _RUN).sum(1).sum() + values[whole:].sum())


def summed_depth(n: int) -> float:
    """Return how many terms `column_sums` and `total` may add one after the other, at most."""
    return float(2 * _RUN + n // _RUN + 1)
