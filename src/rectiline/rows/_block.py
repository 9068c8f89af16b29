"""Defines the block of rows that every source yields and every pass over the rows receives."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from rectiline._column_names import column_label
from rectiline.backends import take_rows, unfinished_entry

_BLOCK_BYTES = 1 << 25  # size of X in one block: long enough to read, short enough to show progress


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
    def shape(self) -> tuple[int, ...]:
        """Shape of X."""
        return tuple(self.X.shape)

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return int(self.shape[0])

    @property
    def is_sparse(self) -> bool:
        """Whether X is a compressed sparse matrix."""
        return hasattr(self.X, "indptr")

    @property
    def is_tensor(self) -> bool:
        """Whether X is a torch tensor, on whatever device."""
        return not isinstance(self.X, np.ndarray) and not self.is_sparse

    def blocks(self) -> Iterator[Block]:
        """Yield itself: a block in memory is an item of its source."""
        yield self

    def take(self, at: Any) -> Block:
        """Return copies of some rows with the start of this block, or views for a slice."""
        y, weight = (None if part is None else part[at] for part in (self.y, self.weight))
        start = self.start + at.start if isinstance(at, slice) else self.start
        return Block(_taken(self.X, at), y, weight, start)

    def cast(self, dtype: np.dtype[Any] | None = None) -> Block:
        """Return the block with X of a type, and weights in double precision; tensors stay.

        By default the type is that of X if this is float32, else float64.
        """
        if self.is_tensor:
            return self
        X, weight, dtype = self.X, self.weight, dtype or float_type(self.X)
        if X.dtype != dtype:  # integers, other byte orders, files of several types
            X = X.astype(dtype)
        weight = None if weight is None else np.asarray(weight, np.float64)
        return Block(X, self.y, weight, self.start)

    def fingerprint(self, of_all: bool = True) -> tuple[Any, ...]:
        """Return the size of the block with sums of all its bits, or with three of its rows.

        Equal data give equal fingerprints, so that a source that changes between two passes is
        noticed. The first, the middle and the last row show rows that were exchanged.
        """
        n = self.n_rows
        if n == 0 or self.is_tensor:
            return (n,)
        few = self.take(np.array(sorted({0, n // 2, n - 1})))
        rows = (few.X.indices, few.X.data) if self.is_sparse else (few.X,)
        parts: list[Any] = [repr(np.asarray(part).tolist()) for part in (*rows, few.y, few.weight)]
        if of_all:
            whole = (self.X.data if self.is_sparse else self.X, self.y, self.weight)
            parts += [_sum_of_bits(part) for part in whole if part is not None]
        return (n, *parts)

    def aligned(self) -> Block:
        """Return a block whose arrays start where numbers of their type may start.

        Arrays that came from another process may lie anywhere in the message that brought them,
        and BLAS is not used for those: sums would depend on where a block has been.
        """
        X, y, weight = self.X, self.y, self.weight
        if self.is_sparse:
            parts = (X.data, X.indices, X.indptr)
            X = X if all(part.flags.aligned for part in parts) else X.copy()
        else:
            X = _aligned(X)
        return Block(X, _aligned(y), _aligned(weight), self.start)


def float_type(X: Any) -> np.dtype[Any]:
    """Return the type in which X is read: float32 if that is its own, else float64."""
    return np.dtype(np.float32 if str(X.dtype).endswith("float32") else np.float64)


def _taken(X: Any, at: Any) -> Any:
    """Return rows of X; those of a slice are views, also of a CSR matrix, which SciPy copies."""
    if isinstance(X, np.ndarray) and isinstance(at, np.ndarray) and at.dtype.kind == "i":
        return take_rows(X, at)
    if not (sp.issparse(X) and isinstance(at, slice)):
        return X[at]
    part = X.__class__((at.stop - at.start, X.shape[1]), dtype=X.dtype)
    first, last = X.indptr[at.start], X.indptr[at.stop]
    part.data, part.indices = X.data[first:last], X.indices[first:last]
    part.indptr = X.indptr[at.start : at.stop + 1] - first
    part.has_canonical_format = True  # `checked_matrix` has seen to it
    return part


def _aligned(part: Any) -> Any:
    return part if part is None or part.flags.aligned else part.copy(order="K")


def block_length(
    block_rows: int | None, bytes_per_row: float, block_bytes: int = _BLOCK_BYTES
) -> int:
    """Return how many rows a block has: those asked for, or as many as fill `block_bytes`."""
    if block_rows is None:
        return max(1, int(block_bytes / max(bytes_per_row, 1.0)))
    whole = isinstance(block_rows, (int, np.integer)) and not isinstance(block_rows, bool)
    if not whole or block_rows < 1:
        raise ValueError(f"block_rows={block_rows!r}: must be a positive integer or None.")
    return int(block_rows)


def refuse_other_length(name: str, shape: Sequence[int], n: int) -> None:
    """Raise unless the shape is that of one entry for each of n rows."""
    if tuple(shape) != (n,):
        raise ValueError(
            f"{name} must have one entry for each of the {n} rows of X; got shape {tuple(shape)}."
        )


def _sum_of_bits(values: Any) -> int:
    """Return the sum of the whole words of 64 bits in the memory of numbers; 0 for labels."""
    array = np.asarray(values)
    if array.dtype.kind not in "fiu":
        return 0
    memory = np.ravel(array, order="K").view(np.uint8)
    return int(memory[: memory.size // 8 * 8].view(np.uint64).sum())


def _is_finite(values: Any) -> bool:
    """Whether all numbers are finite; a sum shows it in half the time, unless it overflows."""
    array = np.asarray(values)
    if array.dtype.kind != "f":
        return True
    with np.errstate(all="ignore"):
        return bool(np.isfinite(array.sum())) or bool(np.isfinite(array).all())


def in_block(rows: NDArray[np.int64], block: Block) -> NDArray[np.int64]:
    """Return the places in a block of those of the sorted rows that it holds."""
    first, last = np.searchsorted(rows, (block.start, block.start + block.n_rows))
    return rows[first:last] - block.start


def pick(block: Block, rows: NDArray[np.int64]) -> Block:
    """Return the rows of a block whose numbers in the source are among the sorted `rows`."""
    at: Any = in_block(rows, block)
    if block.is_tensor:
        import torch

        at = torch.as_tensor(at, device=block.X.device)
    return block.take(at)


def join(parts: Sequence[Block], n_features: int) -> Block:
    """Return blocks of picked rows as one; row numbers are those of the parts put together."""
    if not parts:
        return Block(np.empty((0, n_features)), np.empty(0), None, 0)
    X, y, weight = zip(*((part.X, part.y, part.weight) for part in parts), strict=True)
    return Block(stacked(X), stacked(y), stacked(weight), 0)


def stacked(parts: Sequence[Any]) -> Any:
    """Return arrays, sparse matrices or tensors one below the other; None where they are None."""
    if len(parts) == 1 or parts[0] is None:
        return parts[0]
    if isinstance(parts[0], np.ndarray):
        return np.concatenate(parts)
    if sp.issparse(parts[0]):
        return sp.vstack(parts, format="csr")
    import torch

    return torch.cat(parts)


def refuse_non_finite(
    block: Block, names: Sequence[str] | None = None, rows: NDArray[np.int64] | None = None
) -> None:
    """Raise if a block in memory holds NaN or infinity; the message says where.

    `rows` are the numbers of its rows if they were picked.
    """
    for name, part in (("X", block.X), ("y", block.y), ("weight", block.weight)):
        if part is None or _is_finite(part.data if sp.issparse(part) else part):
            continue
        entry = unfinished_entry(part if name == "X" else part[:, None])
        assert entry is not None
        row, column, value = entry
        where = f"row {block.start + row if rows is None else rows[row]}"
        where += f", {column_label(column, names)}" if name == "X" else ""
        raise ValueError(
            f"{name} contains NaN or infinity: {where} is {value}. Impute or drop such entries "
            "first."
        )
