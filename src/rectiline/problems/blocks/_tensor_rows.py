"""What passes over tensors need of rows: copies on the host, sums, errors that name a row."""

from __future__ import annotations

from typing import Any

from rectiline.problems._block_samples import BlockSamples
from rectiline.problems.blocks._pass import NearRows
from rectiline.rows import Block, copy_to_host

_ROWS_PER_RUN = 1024  # rows that are added up first, in the order of the library


def near_rows(block: Block, samples: BlockSamples, at: Any, copies: bool) -> NearRows:
    """Return the numbers of some rows of a block and, with `copies`, copies of them on the host."""
    picked = block.take(at if copies else at[:0])
    rows = at.cpu().numpy() + block.start
    return NearRows(rows, copy_to_host(picked.X), samples.of_block(picked, rows))


def refuse(block: Block, samples: BlockSamples) -> None:
    """Raise an error that names a row with an entry that is not allowed, if there is one."""
    import torch

    bad = ~torch.isfinite(block.X)
    if bool(bad.any()):
        row, column = (int(k) for k in bad.nonzero()[0])
        raise ValueError(
            f"X contains NaN or infinity: row {block.start + row}, column {column} is "
            f"{float(block.X[row, column])}. Impute or drop such entries first."
        )
    samples.encoding.encode(block)


def column_sums(X: Any, weights: Any) -> Any:
    """Return ``X.T @ weights``: runs of rows first, then the runs, which bounds its rounding."""
    import torch

    whole = len(weights) // _ROWS_PER_RUN * _ROWS_PER_RUN
    found = X[whole:].T @ weights[whole:]
    if whole:
        runs = X[:whole].reshape(-1, _ROWS_PER_RUN, X.shape[1])
        found = found + torch.bmm(weights[:whole].reshape(-1, 1, _ROWS_PER_RUN), runs).sum(
            dim=(0, 1)
        )
    return found


def total(values: Any) -> float:
    """Return the sum of a vector: runs first, then the runs."""
    whole = len(values) // _ROWS_PER_RUN * _ROWS_PER_RUN
    return float(values[:whole].reshape(-1, _ROWS_PER_RUN).sum(1).sum() + values[whole:].sum())


def summed_depth(n: int) -> float:
    """Return how many terms `column_sums` and `total` may add one after the other, at most."""
    return float(2 * _ROWS_PER_RUN + n // _ROWS_PER_RUN + 1)
