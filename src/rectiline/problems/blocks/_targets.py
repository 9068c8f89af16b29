"""Turns the targets and weights of a block into what its rows pay; a pass asks for it per block."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from rectiline._typing import Vector
from rectiline.problems._samples import Samples
from rectiline.rows import Block

__all__ = ["ClassTargets", "Encoded", "EncodedTargets", "LevelTargets", "StoredTargets", "Targets"]


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

    @property
    def labels(self) -> Sequence[Any] | None:
        """Labels whose rows a sample must hold enough of; None if there are no classes."""


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
        weight = _checked_weight(block)
        if self.of == "prediction":
            return Encoded(np.ones(n), np.zeros(n), weight)
        y = np.asarray(block.y)
        if self.of == "residual":
            offset = np.ascontiguousarray(y, dtype=np.float64)
            _refuse(block, ~np.isfinite(offset), "y", "must hold finite numbers")
            return Encoded(np.full(n, -1.0), offset, weight)
        assert self.labels is not None
        up, down = y == self.labels[1], y == self.labels[0]
        known = f"must be one of the labels {self.labels[0]!r} and {self.labels[1]!r}"
        _refuse(block, ~(up | down), "y", known)
        return Encoded(np.where(up, 1.0, -1.0), np.zeros(n), weight)

    def pick(self, block: Block, rows: NDArray[np.int64]) -> Encoded:
        """Return what picked rows need."""
        return self.encode(block)


@dataclass(frozen=True, eq=False)
class ClassTargets:
    """Labels of two or more classes as the targets of one two-class problem.

    Attributes
    ----------
    of : str
        What the loss is of: "margin", or "residual" with targets -1 and +1.
    classes : ndarray
        All labels with weight, sorted.
    positive : int
        Place of the positive class among the classes.
    negative : int or None
        Place of the negative class; rows of other classes then have no weight. None: all others.
    factors : ndarray
        Factors on the weights of the classes.
    """

    of: str
    classes: NDArray[Any]
    positive: int
    negative: int | None
    factors: Vector

    @property
    def labels(self) -> Sequence[Any]:
        """Labels whose rows a sample must hold enough of."""
        return tuple(self.classes.tolist())

    def encode(self, block: Block) -> Encoded:
        """Return what the rows of a block need, or say which label is not allowed."""
        y, weight = np.asarray(block.y), _checked_weight(block)
        places = np.searchsorted(self.classes, y).clip(0, self.classes.size - 1)
        known = self.classes[places] == y
        _refuse(block, ~known & (weight > 0), "y", f"must be one of {list(self.labels)}")
        up = known & (places == self.positive)
        used = known if self.negative is None else up | (known & (places == self.negative))
        weight = np.where(used, weight * self.factors[places], 0.0)
        sign = np.where(up, 1.0, -1.0)
        if self.of == "residual":
            return Encoded(np.full(y.size, -1.0), sign, weight)
        return Encoded(sign, np.zeros(y.size), weight)

    def pick(self, block: Block, rows: NDArray[np.int64]) -> Encoded:
        """Return what picked rows need."""
        return self.encode(block)

    def encode_tensor(self, y: Any, weight: Any) -> tuple[Any, Any, Any]:
        """Return signs, offsets and weights of tensors of labels and checked weights."""
        import torch

        factor = torch.zeros_like(weight)
        for place, label in enumerate(self.labels):
            if self.negative is None or place in (self.positive, self.negative):
                factor += (y == label).double() * float(self.factors[place])
        sign = torch.where(y == self.labels[self.positive], 1.0, -1.0).double()
        if self.of == "residual":
            return -torch.ones_like(sign), sign, weight * factor
        return sign, torch.zeros_like(sign), weight * factor


@dataclass(frozen=True)
class LevelTargets:
    """Targets of rows that pay several losses in turn, see `rectiline.rows.StackedRows`."""

    levels: int
    labels: None = None

    def encode(self, block: Block) -> Encoded:
        """Return what the rows of a block need."""
        return self.pick(block, block.start + np.arange(block.n_rows, dtype=np.int64))

    def pick(self, block: Block, rows: NDArray[np.int64]) -> Encoded:
        """Return what picked rows need."""
        index = (rows % self.levels).astype(np.uint8)
        return replace(EncodedTargets("residual").encode(block), index=index)


@dataclass(frozen=True, eq=False)
class StoredTargets:
    """Targets of rows in memory that have been encoded already: of a problem, or of kept rows."""

    samples: Samples | Encoded

    @property
    def labels(self) -> Sequence[Any] | None:
        """The signs of margin losses; None for kept rows, which no sample is drawn of."""
        samples = self.samples
        is_margin = isinstance(samples, Samples) and samples.losses[0].of == "margin"
        return (-1.0, 1.0) if is_margin else None

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


def _checked_weight(block: Block) -> Vector:
    if block.weight is None:
        return np.ones(block.n_rows)
    weight = np.ascontiguousarray(block.weight, dtype=np.float64)
    bad = ~(np.isfinite(weight) & (weight >= 0))
    _refuse(block, bad, "weight", "must hold finite numbers >= 0")
    return weight


def _refuse(block: Block, bad: NDArray[np.bool_], name: str, rule: str) -> None:
    if bad.any():
        row = int(np.argmax(bad))
        value = np.asarray(getattr(block, name))[row]
        raise ValueError(f"{name} {rule}; row {block.start + row} has {value}.")
