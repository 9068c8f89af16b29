"""Draws a sample of the rows of a source: the solver `passes` starts on it, defaults come from it.

A source with random access gives rows that are spread over all of them. Of others, blocks are read
and the rows with the smallest random keys are kept, each class on its own, so that a rare one is
not missed. A source that has rows which are quick to read gives these, unless a class is rare in
them; if the first pass shows that they are not like the others, a sample of all rows is drawn.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any
from weakref import WeakKeyDictionary, ref

import numpy as np
from numpy.typing import NDArray

from rectiline._polling import OutOfTime, asked_at_checkpoints
from rectiline._typing import Vector
from rectiline.problems import Problem
from rectiline.problems.blocks import NearRows, Totals
from rectiline.rows import (
    Block,
    RowBlocks,
    TensorRows,
    join,
    on_host,
    rare_labels,
    refuse_non_finite,
    spread_rows,
)
from rectiline.solvers._row_plan import RowPlan
from rectiline.solvers.rows._large_entries import refuse_giants

Numbers = NDArray[np.int64]

# Standard deviations by which a block may hold more than its share of the smallest keys.
_MOST_KEY_DEVIATIONS = 6.0
_ROWS_FOR_DEFAULTS = 100_000  # of a sample, if there are as many
# Limits on the rows of one class that a block contributes.
_MOST_BLOCK_SHARES, _LEAST_ROWS_OF_BLOCK = 1.5, 2_000


@dataclass(frozen=True, slots=True, weakref_slot=True, eq=False)
class RowSample:
    """Some rows of a source.

    Attributes
    ----------
    block : Block
        Copies of the rows.
    rows : ndarray of int64
        Their numbers in the source.
    stands_for : ndarray of shape (n_rows,)
        How many rows of the source each of them stands for.
    is_quick : bool
        Whether these rows were the quickest ones to read, and may not be like the others.
    """

    block: Block
    rows: Numbers
    stands_for: Vector
    is_quick: bool = False

    def cut(self, size: int) -> RowSample:
        """Return `size` rows, spread at random, that stand for all; self if there are not more.

        Rows at equal distances would all be of one level where those of several levels take turns.
        """
        if self.rows.size <= size:
            return self
        at, each = spread_rows(self.rows.size, size, on_host(0))
        few = self.take(at)
        return replace(few, stands_for=each * few.stands_for)

    def take(self, at: NDArray[np.intp]) -> RowSample:
        """Return some of the rows, which stand for what they stood for."""
        return replace(
            self, block=self.block.take(at), rows=self.rows[at], stands_for=self.stands_for[at]
        )


class SampleCutShort(OutOfTime):
    """Time ran out while a sample was drawn; `sample` is what there is of it."""

    def __init__(self, sample: RowSample) -> None:
        super().__init__()
        self.sample = sample


_HELD: WeakKeyDictionary[RowBlocks, tuple[Any, ref[RowSample]]] = WeakKeyDictionary()


def draw_rows(blocks: RowBlocks, seed: int) -> RowSample:
    """Return a sample of the rows of a source, on which default parameters are computed.

    Where rows cannot be taken anywhere, a solver starts on it as well while it is held.
    """
    size = _ROWS_FOR_DEFAULTS
    if not blocks.has_random_access:
        size = max(size, RowPlan(blocks.known_n_rows, blocks.n_features).sampled_rows)
    sample = sample_source(blocks, size, seed)
    refuse_giants(sample.block, sample.rows, blocks.feature_names)
    return sample


def sample_source(
    blocks: RowBlocks,
    size: int,
    seed: int,
    labels: Sequence[Any] = (),
    y: Any = None,
    progress: Callable[[int], None] | None = None,
) -> RowSample:
    """Return about `size` rows of a source.

    Parameters
    ----------
    labels : sequence
        Labels of classes that are drawn on their own.
    y : ndarray, optional
        The labels of all rows, where they are at hand.
    progress : callable, optional
        Called with the number of rows done where all rows are read for the sample.
    """
    if isinstance(blocks, TensorRows):
        at, each = blocks.spread(size, seed, labels)
        rows = at.cpu().numpy()
        return RowSample(blocks.take(rows), rows, each.cpu().numpy())
    if blocks.has_random_access:
        rows, each = spread_rows(blocks.n_rows, size, on_host(seed), y, () if y is None else labels)
        return RowSample(blocks.take(rows), rows, each)
    key, (known, held) = (seed, tuple(labels)), _HELD.get(blocks, (None, lambda: None))
    sample = held() if known == key else None
    if sample is None or not (sample.is_quick or sample.rows.size >= min(size, blocks.n_rows)):
        sample = _quick_sample(blocks, size, labels)
        if sample is None:
            return sample_all(blocks, size, seed, labels, progress)
        _HELD[blocks] = (key, ref(sample))
    return sample


def sample_all(
    blocks: RowBlocks,
    size: int,
    seed: int,
    labels: Sequence[Any],
    progress: Callable[[int], None] | None,
) -> RowSample:
    """Return about `size` rows of a source, all of which is read."""
    drawing = Drawing(blocks, size, seed, labels)
    try:
        for drawn in blocks.map_blocks(draw_block, drawing.state):
            drawing.add(drawn)
            if progress is not None:
                progress(drawing.n_read)
    except OutOfTime as stop:
        if not drawing.n_read:
            raise
        with asked_at_checkpoints(None):
            raise SampleCutShort(drawing.finish()) from stop
    sample = drawing.finish()
    _HELD[blocks] = ((seed, tuple(labels)), ref(sample))
    return sample


def _quick_sample(blocks: RowBlocks, size: int, labels: Sequence[Any]) -> RowSample | None:
    """Return rows that are quick to read, if there are any, and enough of every class."""
    found = blocks.quick_rows(size)
    if found is None or rare_labels(np.asarray(found[0].y), labels):
        return None
    block, rows = found
    each = np.full(rows.size, blocks.n_rows / rows.size)
    return RowSample(block, rows, each, is_quick=rows.size < blocks.n_rows)


@dataclass(frozen=True, slots=True)
class _DrawState:
    """What is sent to every block."""

    seed: int
    size: int  # rows of each class
    labels: tuple[Any, ...]  # of the classes, if any
    n_rows: int | None  # of the source

    def most_of(self, block: Block) -> int:
        """Return how many rows of a class a block gives at most.

        Blocks that all hold a class give it equal shares; a class that is in few blocks gets fewer
        rows, which then stand for more.
        """
        if self.n_rows is None:
            return self.size
        share = self.size * block.n_rows / self.n_rows
        most = share + _MOST_KEY_DEVIATIONS * math.sqrt(share)
        if self.labels:
            most = max(_MOST_BLOCK_SHARES * share, _LEAST_ROWS_OF_BLOCK)
        return min(self.size, math.ceil(most))


@dataclass(frozen=True, slots=True, eq=False)
class _Drawn:
    """Rows with the smallest random keys of a block, or of several, and out of how many."""

    keys: Vector
    sample: RowSample  # they stand for rows of their block
    count: int


def draw_block(block: Block, state: _DrawState) -> list[_Drawn]:
    """Return, for each class, the rows of a block with the smallest keys."""
    keys = np.random.default_rng((state.seed, block.start)).random(block.n_rows)
    found = []
    for label in state.labels or (None,):
        at = np.arange(block.n_rows)
        if label is not None:
            at = np.flatnonzero(np.asarray(block.y) == label)
        count, most = at.size, state.most_of(block)
        if count > most:
            at = at[np.argpartition(keys[at], most)[:most]]
        at.sort()
        each = np.full(at.size, count / max(at.size, 1))
        found.append(_Drawn(keys[at], RowSample(block.take(at), at + block.start, each), count))
    return found


class Drawing:
    """A sample that grows while the blocks of a source are read.

    Parameters
    ----------
    size : int
        Number of rows, for all classes together.
    labels : sequence
        Labels of the classes, if any.
    """

    def __init__(self, blocks: RowBlocks, size: int, seed: int, labels: Sequence[Any]) -> None:
        n = blocks.known_n_rows
        each = size if n is not None and size >= n else size // max(len(labels), 1)
        self.state = _DrawState(seed, max(each, 1), tuple(labels), n)
        self.n_read = 0
        self._d = blocks.n_features
        self._classes: list[list[_Drawn]] = [[] for _ in labels or (None,)]

    def add(self, drawn: list[_Drawn]) -> None:
        """Add what `draw_block` has found in the next block."""
        for place, one in enumerate(drawn):
            parts = self._classes[place]
            parts.append(one)
            self.n_read += one.count
            if sum(part.keys.size for part in parts) > 4 * self.state.size:
                self._classes[place] = [self._smallest(parts)]

    def finish(self) -> RowSample:
        """Return the sample of all rows that were read."""
        chosen: list[RowSample] = []
        for one in map(self._smallest, self._classes):
            if not one.count:
                continue
            is_all = one.keys.size < self.state.size
            share = 1.0 if is_all else float(one.keys.max())  # by the keys alone
            each = np.maximum(one.sample.stands_for, 1.0 / share)
            chosen.append(replace(one.sample, stands_for=each * (one.count / each.sum())))
        return self._joined(chosen)

    def _smallest(self, parts: list[_Drawn]) -> _Drawn:
        """Return the rows with the smallest keys of several draws."""
        size, count = self.state.size, sum(one.count for one in parts)
        keys = np.concatenate([one.keys for one in parts])
        sample = self._joined([one.sample for one in parts])
        if keys.size <= size:
            return _Drawn(keys, sample, count)
        at = np.sort(np.argpartition(keys, size)[:size])
        return _Drawn(keys[at], sample.take(at), count)

    def _joined(self, parts: list[RowSample]) -> RowSample:
        rows = np.concatenate([one.rows for one in parts])
        stands_for = np.concatenate([one.stands_for for one in parts])
        return RowSample(join([one.block for one in parts], self._d), rows, stands_for)


# ---- problems on drawn rows ----------------------------------------------------------------------


# Standard deviations between the gradient of all rows and of quickly read ones.
_MOST_DEVIATIONS = 5.0


@dataclass(frozen=True, slots=True, eq=False)
class Sample:
    """Drawn rows, and the problem on them.

    `thinned`: one in so many of the drawn rows is here.
    """

    drawn: RowSample
    rows: NearRows
    problem: Problem
    thinned: float = 1

    @classmethod
    def on(
        cls, problem: Problem, drawn: RowSample, thinned: float = 1, rows: NearRows | None = None
    ) -> Sample:
        """Return the sample of a problem on drawn rows; those of another problem share X."""
        samples = problem.samples.of_block(drawn.block, drawn.rows)
        near = NearRows(drawn.rows, drawn.block.X, samples)
        if rows is not None:
            near = rows.with_samples(samples)
        part = near.problem(problem.terms, samples.weight * drawn.stands_for)
        return cls(drawn, near, part, thinned)

    @property
    def stands_for(self) -> Vector:
        """How many rows each row stands for."""
        return self.drawn.stands_for

    def of(self, problem: Problem) -> Sample:
        """Return the sample of another problem on the same rows, which shares X."""
        return Sample.on(problem, self.drawn, self.thinned, self.rows)

    def thin(self, problem: Problem, size: int) -> Sample:
        """Return `size` rows, spread at random, that stand for all; self if it has not more."""
        few = self.drawn.cut(size)
        if few is self.drawn:
            return self
        return Sample.on(problem, few, self.stands_for.size / size)

    def slopes(self, coef: Vector, intercept: float) -> Vector:
        """Return the slopes of the losses, times their weights and how many each stands for."""
        part = self.problem
        return np.asarray(part.rows.slopes(part.design.dot(coef) + intercept))

    def variance(self, coef: Vector, intercept: float) -> float:
        """Return the variance of the slopes' sum that comes from drawing a sample."""
        slopes = self.slopes(coef, intercept)
        whole = np.maximum(self.stands_for / self.thinned, 1.0)
        return float((slopes**2 * (1.0 - 1.0 / whole)).sum()) / self.thinned

    def is_like(self, totals: Totals, coef: Vector, intercept: float) -> bool:
        """Whether the gradient over all rows, which a pass has split at a point, is expected.

        Columns that the sample does not know are left out. One more row, of the steepest slope, is
        counted among its errors: all rows of a sample may lie where the losses are flat.
        """
        design, slopes = self.problem.design, self.slopes(coef, intercept)
        near = totals.near()
        part = near.problem(self.problem.terms)
        own = np.asarray(part.rows.slopes(part.design.dot(coef) + intercept))
        change = np.append(totals["change"] + part.design.tdot(own), totals["change_total"])
        change[-1] += own.sum()
        expected = np.append(design.tdot(slopes), slopes.sum())
        counts = np.append(design.column_counts, slopes.size)
        typical = np.append(design.column_squares(), slopes.size) / np.maximum(counts, 1)
        steepest = float(self.problem.weight.max()) * self.problem.slope_width[0]
        variance = np.append(design.column_squares(slopes**2), slopes @ slopes)
        variance += steepest**2 * typical
        known = counts > 0
        known[-1] = self.problem.fit_intercept
        off = np.abs(change - expected)[known]
        return bool((off <= _MOST_DEVIATIONS * np.sqrt(variance[known])).all())


def draw(
    problem: Problem, size: int, seed: int, progress: Callable[[int], None] | None = None
) -> RowSample:
    """Return a sample of about so many rows of a problem.

    `progress` is called with the number of rows done where all rows are read for the sample.
    """
    drawn = sample_source(problem.blocks, size, seed, *problem.source.classes, progress)
    if not problem.blocks.has_random_access:  # a sample that defaults came from may be larger
        drawn = drawn.cut(RowPlan(problem.n_samples, problem.n_features).sampled_rows)
    refuse_non_finite(drawn.block, rows=drawn.rows)  # passes look at the other rows
    if not problem.is_in_memory:
        refuse_giants(drawn.block, drawn.rows, problem.blocks.feature_names)
    return drawn
