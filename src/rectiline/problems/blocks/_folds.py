"""Folds of a cross-validation on rows in blocks: masks by row number, for the CV estimators."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rectiline.problems.blocks._targets import Encoded, Targets
from rectiline.rows import Block

__all__ = ["FoldTargets", "fold_of_rows"]


def fold_of_rows(rows: NDArray[np.int64], n_folds: int) -> NDArray[np.int64]:
    """Return the fold of each row, a hash of its number: it does not depend on the order of rows.

    The mixing steps are those of splitmix64 (Steele, Lea and Flood, 2014).
    """
    x = rows.astype(np.uint64) + np.uint64(0x9E3779B97F4A7C15)
    x = (x ^ (x >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    x = (x ^ (x >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return ((x ^ (x >> np.uint64(31))) % np.uint64(n_folds)).astype(np.int64)


@dataclass(frozen=True)
class FoldTargets:
    """Targets of the rows outside a fold; those inside have no weight.

    Attributes
    ----------
    targets : Targets
        Of all rows.
    fold, n_folds : int
        The fold that is left out, see `fold_of_rows`.
    """

    targets: Targets
    fold: int
    n_folds: int

    @property
    def labels(self) -> Sequence[Any] | None:
        """Labels whose rows a sample must hold enough of."""
        return self.targets.labels

    def encode(self, block: Block) -> Encoded:
        """Return what the rows of a block need."""
        return self._masked(
            self.targets.encode(block), block.start + np.arange(block.n_rows, dtype=np.int64)
        )

    def pick(self, block: Block, rows: NDArray[np.int64]) -> Encoded:
        """Return what picked rows need."""
        return self._masked(self.targets.pick(block, rows), rows)

    def _masked(self, encoded: Encoded, rows: NDArray[np.int64]) -> Encoded:
        outside = fold_of_rows(rows, self.n_folds) != self.fold
        return replace(encoded, weight=np.where(outside, encoded.weight, 0.0))
