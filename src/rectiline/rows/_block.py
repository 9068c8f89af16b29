"""Defines the block of rows that every source yields and every pass over the rows receives."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["Block", "join", "pick"]


@dataclass(frozen=True, slots=True, eq=False)
class Block:
    """Consecutive rows of a source.

    Attributes
    ----------
    X : ndarray, scipy CSR matrix or torch tensor of shape (n_rows, n_features)
        float32 or float64.
    y : ndarray or torch tensor of shape (n_rows,), or None
        Targets as the source holds them; labels are not encoded.
    weight : ndarray or torch tensor of shape (n_rows,), or None
        Sample weights; None stands for ones.
    start : int
        Number of the first row within the source.
    """

    X: Any
    y: Any
    weight: Any
    start: int

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return int(self.X.shape[0])

    @property
    def is_sparse(self) -> bool:
        """Whether X is a compressed sparse matrix."""
        return hasattr(self.X, "indptr")

    @property
    def is_tensor(self) -> bool:
        """Whether X is a torch tensor, on whatever device."""
        return not isinstance(self.X, np.ndarray) and not self.is_sparse

    def take(self, at: Any) -> Block:
        """Return copies of some rows, or views for a slice, with the start of this block."""
        y, weight = (None if part is None else part[at] for part in (self.y, self.weight))
        return Block(self.X[at], y, weight, self.start)

    def fingerprint(self) -> tuple[Any, ...]:
        """Return the size of the block with some of its values.

        Equal data give equal fingerprints, so that a source that changes between two passes is
        noticed. Only the first, the middle and the last row are looked at.
        """
        n = self.n_rows
        if n == 0 or self.is_tensor:
            return (n,)
        at = sorted({0, n // 2, n - 1})
        parts: list[bytes] = []
        for row in at:
            line = self.X[[row]].toarray() if self.is_sparse else self.X[row]
            parts.append(np.ascontiguousarray(line).tobytes())
        for part in (self.y, self.weight):
            if part is not None:
                picked: NDArray[Any] = np.asarray(part)[at]
                parts.append(repr(picked.tolist()).encode())
        return (n, *parts)


def pick(block: Block, rows: NDArray[np.int64]) -> Block:
    """Return the rows of a block whose numbers in the source are among the sorted `rows`."""
    first, last = np.searchsorted(rows, (block.start, block.start + block.n_rows))
    at: Any = np.asarray(rows[first:last]) - block.start
    if block.is_tensor:
        import torch

        at = torch.as_tensor(at, device=block.X.device)
    return block.take(at)


def join(parts: list[Block], n_features: int) -> Block:
    """Return blocks of picked rows as one; row numbers are those of the parts put together."""
    if not parts:
        return Block(np.empty((0, n_features)), np.empty(0), None, 0)
    if len(parts) == 1:
        return Block(parts[0].X, parts[0].y, parts[0].weight, 0)
    first = parts[0]
    stack: Callable[[list[Any]], Any] = np.concatenate
    stack_X: Callable[[list[Any]], Any] = np.concatenate
    if first.is_tensor:
        import torch

        stack = stack_X = torch.cat
    elif first.is_sparse:
        import scipy.sparse as sp

        stack_X = partial(sp.vstack, format="csr")
    y = None if first.y is None else stack([part.y for part in parts])
    weight = None if first.weight is None else stack([part.weight for part in parts])
    return Block(stack_X([part.X for part in parts]), y, weight, 0)
