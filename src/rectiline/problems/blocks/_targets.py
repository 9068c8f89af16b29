"""Turns the targets and weights of a block into what its rows pay; a pass asks for it per block."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from rectiline._typing import Vector
from rectiline.problems._samples import Samples
from rectiline.rows import Block

__all__ = ["Encoded", "EncodedTargets", "StoredTargets", "Targets"]


@dataclass(frozen=True, slots=True, eq=False)
class Encoded:
    """Signs, offsets and weights of the rows of a block, and which loss each pays."""

    direction: Vector
    offset: Vector
    weight: Vector
    index: NDArray[np.uint8] | None = None

    def take(self, at: NDArray[np.int64]) -> Encoded:
        """Return those of some rows."""
        index = None if self.index is None else self.index[at]
        return Encoded(self.direction[at], self.offset[at], self.weight[at], index)


class Targets(Protocol):
    """How rows get their signs, offsets and weights."""

    def encode(self, block: Block) -> Encoded:
        """Return what the rows of a block need."""

    def pick(self, block: Block, rows: NDArray[np.int64]) -> Encoded:
        """Return what picked rows need: `block` holds copies of them, `rows` their numbers."""


@dataclass(frozen=True)
class EncodedTargets:
    """Targets that come with the blocks.

    Attributes
    ----------
    of : str
        What the loss is of: "margin", "residual" or "prediction".
    labels : tuple or None
        The negative and the positive label of a margin loss.
    """

    of: str
    labels: tuple[Any, Any] | None = None

    def encode(self, block: Block) -> Encoded:
        """Return what the rows of a block need, or say which target is not allowed."""
        n = block.n_rows
        weight = np.ones(n) if block.weight is None else self._checked_weight(block)
        if self.of == "prediction":
            return Encoded(np.ones(n), np.zeros(n), weight)
        y = np.asarray(block.y)
        if self.of == "residual":
            offset = np.ascontiguousarray(y, dtype=np.float64)
            self._refuse(block, ~np.isfinite(offset), "y", "must hold finite numbers")
            return Encoded(np.full(n, -1.0), offset, weight)
        assert self.labels is not None
        up, down = y == self.labels[1], y == self.labels[0]
        known = f"must be one of the labels {self.labels[0]!r} and {self.labels[1]!r}"
        self._refuse(block, ~(up | down), "y", known)
        return Encoded(np.where(up, 1.0, -1.0), np.zeros(n), weight)

    def pick(self, block: Block, rows: NDArray[np.int64]) -> Encoded:
        """Return what picked rows need."""
        return self.encode(block)

    def _checked_weight(self, block: Block) -> Vector:
        weight = np.ascontiguousarray(block.weight, dtype=np.float64)
        bad = ~(np.isfinite(weight) & (weight >= 0))
        self._refuse(block, bad, "weight", "must hold finite numbers >= 0")
        return weight

    @staticmethod
    def _refuse(block: Block, bad: NDArray[np.bool_], name: str, rule: str) -> None:
        if bad.any():
            row = int(np.argmax(bad))
            value = np.asarray(getattr(block, name))[row]
            raise ValueError(f"{name} {rule}; row {block.start + row} has {value}.")


@dataclass(frozen=True, eq=False)
class StoredTargets:
    """Targets of a problem in memory, which has encoded them already."""

    samples: Samples

    def encode(self, block: Block) -> Encoded:
        """Return views of what the rows of a block need."""
        some = slice(block.start, block.start + block.n_rows)
        samples = self.samples
        index = None if samples.index is None else samples.index[some]
        return Encoded(samples.direction[some], samples.offset[some], samples.weight[some], index)

    def pick(self, block: Block, rows: NDArray[np.int64]) -> Encoded:
        """Return copies of what picked rows need."""
        samples = self.samples
        index = None if samples.index is None else samples.index[rows]
        return Encoded(samples.direction[rows], samples.offset[rows], samples.weight[rows], index)
