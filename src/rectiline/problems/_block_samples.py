"""Losses of rows in blocks: a rule that turns the targets and weights of a block into `Samples`."""

from __future__ import annotations

import importlib
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rectiline.losses import Loss
from rectiline.problems._samples import Samples, checked_losses, checked_other_loss
from rectiline.rows import Block, RowBlocks

_LABELS_SHOWN = 5

Numbers = NDArray[np.int64]


@dataclass(frozen=True)
class Encoding:
    """How rows get their signs, offsets and weights; equal encodings give equal ones.

    Attributes
    ----------
    of : str
        What the loss is of: "margin", "residual" or "prediction".
    labels : tuple, optional
        The labels of a classification, sorted. A loss of the residual has targets -1 and +1 then.
    positive : int
        Place of the positive label.
    negative : int, optional
        Place of the negative label; rows with other labels have no weight. None: all others.
    factors : tuple of float, optional
        Factors on the weights of the labels. Rows without weight may hold any label then.
    levels : int
        Row i has the loss ``i % levels``, see `rectiline.rows.StackedRows`.
    fold : tuple of two int, optional
        The fold whose rows have no weight, and the number of folds, see `fold_of_rows`.
    """

    of: str
    labels: tuple[Any, ...] | None = None
    positive: int = 1
    negative: int | None = None
    factors: tuple[float, ...] | None = None
    levels: int = 1
    fold: tuple[int, int] | None = None

    @property
    def is_plain(self) -> bool:
        """Whether targets and weights are those of the rows, and labels are two."""
        return not self.changes_weights and self.levels == 1 and self.fold is None

    @classmethod
    def find(cls, rows: RowBlocks, loss: Loss) -> Encoding:
        """Return the encoding for a loss; that of the margin reads blocks until it has labels."""
        if loss.of != "margin":
            return cls(loss.of)
        found: set[Any] = set()
        for some in rows.map_targets(_labels, None):
            found.update(some)
            if len(found) >= 2:  # more of them are refused when blocks are encoded
                break
        if len(found) != 2:
            shown = ", ".join(map(repr, sorted(found)[:_LABELS_SHOWN]))
            raise ValueError(
                f"{loss!r}: a margin loss needs exactly two distinct labels in y; got "
                f"{len(found)} ({shown})."
            )
        return cls(loss.of, tuple(sorted(found)))

    def encode(self, block: Block, rows: Numbers | None = None) -> tuple[Any, Any, Any, Any]:
        """Return direction, offset, weight and index of the rows of a block, on its device."""
        library: Any = importlib.import_module("torch") if block.is_tensor else np
        n = block.n_rows
        ones = block.X.new_ones(n, dtype=library.float64) if block.is_tensor else np.ones(n)
        weight, direction, offset, index = ones, ones, 0.0 * ones, None
        if block.weight is not None:
            weight = _doubles(block.weight)
            bad = ~(library.isfinite(weight) & (weight >= 0))
            _refuse(block, bad, "weight", "must hold finite numbers >= 0")
        if self.labels is not None:
            direction, factor = self._signs_and_factors(library, block, weight)
            weight = weight * factor if self.changes_weights else weight
            if self.of == "residual":
                direction, offset = -ones, direction
        elif self.of != "prediction":
            direction, offset = -ones, _doubles(block.y)
            _refuse(block, ~library.isfinite(offset), "y", "must hold finite numbers")
        if self.levels > 1 or self.fold is not None:
            if block.is_tensor:
                raise TypeError("Tensors need targets that come with the blocks.")
            numbers = block.start + np.arange(n, dtype=np.int64) if rows is None else rows
            index = (numbers % self.levels).astype(np.uint8) if self.levels > 1 else None
            if self.fold is not None:
                fold, n_folds = self.fold
                weight = np.where(fold_of_rows(numbers, n_folds) != fold, weight, 0.0)
        return direction, offset, weight, index

    def _signs_and_factors(self, library: Any, block: Block, weight: Any) -> tuple[Any, Any]:
        """Return the sign and the factor of each row's label, or say which one is not allowed."""
        assert self.labels is not None
        y, sign, factor = library.asarray(block.y), -library.ones_like(weight), 0.0 * weight
        known = sign > 0
        for place, label in enumerate(self.labels):
            here = y == label
            known |= here
            if self.changes_weights and self.is_used(place):
                factor = library.where(here, self.factor(place), factor)
            if place == self.positive:
                sign = library.where(here, 1.0, sign)
        strange = ~known if self.factors is None else ~known & (weight > 0)
        shown = " and ".join(map(repr, self.labels))
        _refuse(block, strange, "y", f"must be one of the labels {shown}")
        return sign, factor

    @property
    def changes_weights(self) -> bool:
        """Whether rows with some labels have other weights than those of the block, or none."""
        return self.factors is not None or self.negative is not None

    def is_used(self, place: int) -> bool:
        """Whether rows with this label have a weight."""
        return self.negative is None or place in (self.positive, self.negative)

    def factor(self, place: int) -> float:
        """Return the factor on the weights of rows with this label."""
        return 1.0 if self.factors is None else self.factors[place]


@dataclass(frozen=True, eq=False)
class BlockSamples:
    """Losses of rows in blocks, and how targets and weights of a block are encoded.

    Attributes
    ----------
    losses : tuple of Loss
    encoding : Encoding
    fit_intercept : bool
    """

    losses: tuple[Loss, ...]
    encoding: Encoding
    fit_intercept: bool
    index: None = None  # that of a block says which loss each row has

    @classmethod
    def of(
        cls, rows: RowBlocks, loss: Any, fit_intercept: bool, encoding: Encoding | None
    ) -> BlockSamples:
        """Check what a user passed; find out what the targets of rows mean."""
        losses = checked_losses(loss, None if encoding is None or encoding.levels == 1 else 0)
        if not rows.has_target and losses[0].of != "prediction":
            raise ValueError("These rows have no targets y; a problem needs them.")
        return cls(losses, encoding or Encoding.find(rows, losses[0]), fit_intercept)

    def of_block(self, block: Block, rows: Numbers | None = None) -> Samples:
        """Return what the rows of a block pay, in the memory of the host.

        `rows` are their numbers if the block holds copies of rows that were picked.
        """
        direction, offset, weight, index = self.encoding.encode(block, rows)
        if block.is_tensor:
            direction, offset, weight = (one.cpu().numpy() for one in (direction, offset, weight))
        return Samples(self.losses, index, direction, offset, weight, self.fit_intercept)

    def with_loss(self, loss: str | Loss) -> BlockSamples:
        """Return the samples under another loss of the same kind."""
        return replace(self, losses=checked_other_loss(self.losses[0], loss))

    def without_fold(self, fold: int, n_folds: int) -> BlockSamples:
        """Return the samples outside a fold; those inside have no weight."""
        return replace(self, encoding=replace(self.encoding, fold=(fold, n_folds)))


def fold_of_rows(rows: Numbers, n_folds: int) -> Numbers:
    """Return the fold of each row, a hash of its number: it does not depend on the order of rows.

    The mixing steps are those of splitmix64 (Steele, Lea and Flood, 2014).
    """
    x = rows.astype(np.uint64) + np.uint64(0x9E3779B97F4A7C15)
    x = (x ^ (x >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    x = (x ^ (x >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return ((x ^ (x >> np.uint64(31))) % np.uint64(n_folds)).astype(np.int64)


def _labels(block: Block, _: None) -> Sequence[Any]:
    """Return the labels in a block; of a tensor, the least and the largest one."""
    if block.is_tensor:
        return [block.y.min().item(), block.y.max().item()]
    labels: list[Any] = np.unique(np.asarray(block.y)).tolist()
    return labels


def _doubles(part: Any) -> Any:
    """Return an array or a tensor as float64."""
    is_tensor = hasattr(part, "double")
    return part.double() if is_tensor else np.ascontiguousarray(part, dtype=np.float64)


def _refuse(block: Block, bad: Any, name: str, rule: str) -> None:
    if bool(bad.any()):
        row = int(bad.nonzero()[0][0])  # of an array or a tensor
        raise ValueError(f"{name} {rule}; row {block.start + row} has {getattr(block, name)[row]}.")
