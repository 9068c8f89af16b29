"""What passes over tensors need of rows: signs and offsets, sums, errors that name a row."""

from __future__ import annotations

from typing import Any

import numpy as np

from rectiline.problems.blocks._pass import NearRows
from rectiline.problems.blocks._targets import ClassTargets, Encoded, EncodedTargets
from rectiline.rows import Block, copy_to_host

__all__ = ["column_sums", "copies", "encode", "places", "refuse", "summed_depth", "total"]

_RUN = 1024  # rows that are added up first; the order within is the library's


def encode(targets: Any, y: Any, weight: Any, start: int) -> tuple[Any, Any, Any]:
    """Return signs, offsets and weights of some rows, on their device."""
    import torch

    if not isinstance(targets, EncodedTargets | ClassTargets):
        raise TypeError("Tensors need targets that come with the blocks.")
    ones = torch.ones(len(y), dtype=torch.float64, device=y.device)
    w = ones if weight is None else weight.double()
    if not bool((torch.isfinite(w) & (w >= 0)).all()):
        row = int((~(torch.isfinite(w) & (w >= 0))).nonzero()[0])
        raise ValueError(f"weight must hold finite numbers >= 0; row {start + row} has {w[row]}.")
    if isinstance(targets, ClassTargets):
        return targets.encode_tensor(y, w)
    if targets.of == "prediction":
        return ones, torch.zeros_like(ones), w
    if targets.of == "residual":
        o = y.double()
        if not bool(torch.isfinite(o).all()):
            row = int((~torch.isfinite(o)).nonzero()[0])
            raise ValueError(f"y must hold finite numbers; row {start + row} has {y[row]}.")
        return -ones, o, w
    assert targets.labels is not None
    up, down = y == targets.labels[1], y == targets.labels[0]
    if not bool((up | down).all()):
        row = int((~(up | down)).nonzero()[0])
        raise ValueError(
            f"y must be one of the labels {targets.labels[0]!r} and {targets.labels[1]!r}; row "
            f"{start + row} has {y[row].item()}."
        )
    return torch.where(up, 1.0, -1.0).double(), torch.zeros_like(ones), w


def copies(block: Block, targets: Any, at: Any) -> NearRows:
    """Return copies of some rows of a block on the host."""
    weight = None if block.weight is None else block.weight[at]
    encoded = encode(targets, block.y[at], weight, block.start)
    arrays = [np.ascontiguousarray(part.cpu().numpy()) for part in encoded]
    return NearRows(at.cpu().numpy() + block.start, copy_to_host(block.X[at]), Encoded(*arrays))


def places(block: Block, at: Any) -> NearRows:
    """Return the numbers of some rows of a block without copies of them."""
    nothing = np.zeros(0)
    numbers = at.cpu().numpy() + block.start
    return NearRows(numbers, nothing, Encoded(nothing, nothing, nothing))


def refuse(block: Block, targets: Any) -> None:
    """Raise an error that names a row with an entry that is not allowed, if there is one."""
    import torch

    bad = ~torch.isfinite(block.X)
    if bool(bad.any()):
        row, column = (int(k) for k in bad.nonzero()[0])
        raise ValueError(
            f"X contains NaN or infinity: row {block.start + row}, column {column} is "
            f"{float(block.X[row, column])}. Impute or drop such entries first."
        )
    encode(targets, block.y, block.weight, block.start)


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
