"""Defines the block of rows that every source yields and every pass over the rows receives."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["Block"]


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
