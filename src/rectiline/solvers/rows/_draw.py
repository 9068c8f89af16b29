"""Draws the rows that the solver `passes` starts on: a sample with inclusion weights.

Each class is drawn on its own, so that a rare one is not missed. Rows with entries
in rare columns need no draw: the first split keeps all of them, see `_reach`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rectiline.backends import take_rows
from rectiline.problems import Problem
from rectiline.problems.blocks import NearRows
from rectiline.rows import Block, TensorRows, join, on_host, spread_rows
from rectiline.solvers._row_plan import RowPlan

Vector = NDArray[np.float64]

__all__ = ["Sample", "draw"]

_MORE_THAN_SHARE = 1.5  # times its share of the sample: what a block gives at most, or
_LEAST_OF_BLOCK = 2_000  # rows of a class


@dataclass(frozen=True, slots=True, eq=False)
class Sample:
    """Drawn rows, how many rows each of them stands for, and the problem on them.

    `thinned`: one in so many of the drawn rows is here.
    """

    rows: NearRows
    stands_for: Vector
    problem: Problem
    block: Block  # the drawn rows as the source holds them
    thinned: float = 1

    def of(self, problem: Problem) -> Sample:
        """Return the sample of another problem on the same rows, which shares X."""
        rows = self.rows.with_samples(problem.samples.of_block(self.block, self.rows.rows))
        part = rows.problem(problem.terms, rows.samples.weight * self.stands_for)
        return replace(self, rows=rows, problem=part)

    def thin(self, problem: Problem, size: int) -> Sample:
        """Return evenly spaced rows, at least `size`, that stand for all; self if it has few."""
        every = self.stands_for.size // size
        if every < 2:
            return self
        at = np.arange(0, self.stands_for.size, every)
        y, weight = (None if one is None else one[at] for one in (self.block.y, self.block.weight))
        block = Block(take_rows(self.block.X, at), y, weight, 0)
        made = _sample(problem, block, self.rows.rows[at], every * self.stands_for[at])
        return replace(made, thinned=every)


def draw(
    problem: Problem,
    size: int,
    seed: int,
    progress: Callable[[int], None] | None = None,
) -> Sample:
    """Return a sample of about so many rows.

    `progress` is called with the number of rows done where all rows are read for the sample.
    """
    blocks = problem.blocks
    if blocks.has_random_access:
        labels, y = problem.source.classes
        if isinstance(blocks, TensorRows):
            at, each = blocks.spread(size, seed, labels)
            rows, stands_for = at.cpu().numpy(), each.cpu().numpy()
        else:
            known = () if y is None else labels
            rows, stands_for = spread_rows(problem.n_samples, size, on_host(seed), y, known)
        block = blocks.take(rows)
    else:
        block, rows, stands_for = _draw_while_reading(problem, size, seed, progress)
    _refuse_non_finite(block.X.data if block.is_sparse else block.X, rows)
    return _sample(problem, block, rows, stands_for)


def _refuse_non_finite(values: NDArray[Any], rows: NDArray[np.int64]) -> None:
    """Raise if drawn rows hold NaN or infinity; passes name those in the other rows."""
    if np.isfinite(values.sum(dtype=np.float64)) or np.isfinite(values).all():
        return
    where = ""
    if values.ndim == 2:
        row, column = (int(k) for k in np.argwhere(~np.isfinite(values))[0])
        where = f": row {rows[row]}, column {column} is {values[row, column]}"
    raise ValueError(f"X contains NaN or infinity{where}. Impute or drop such entries first.")


def _sample(problem: Problem, block: Block, rows: NDArray[np.int64], stands_for: Vector) -> Sample:
    near = NearRows(rows, block.X, problem.samples.of_block(block, rows))
    part = near.problem(problem.terms, near.samples.weight * stands_for)
    return Sample(near, stands_for, part, block)


@dataclass(frozen=True, slots=True)
class _DrawState:
    """What is sent to every block of a source that is read once for the sample."""

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
        share = int(_MORE_THAN_SHARE * self.size * block.n_rows / self.n_rows)
        return min(self.size, max(share, _LEAST_OF_BLOCK))


@dataclass(frozen=True, slots=True, eq=False)
class _Drawn:
    """Rows of a class with the smallest random keys."""

    keys: Vector
    block: Block
    rows: NDArray[np.int64]
    stands_for: Vector  # how many rows of its block each stands for


def _draw_block(block: Block, state: _DrawState) -> list[tuple[_Drawn, int]]:
    """Return, for each class, the rows of a block with the smallest keys, and how many it has."""
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
        weight = None if block.weight is None else block.weight[at]
        part = Block(block.X[at], None if block.y is None else block.y[at], weight, block.start)
        each = np.full(at.size, count / max(at.size, 1))
        found.append((_Drawn(keys[at], part, at + block.start, each), count))
    return found


def _draw_while_reading(
    problem: Problem, size: int, seed: int, progress: Callable[[int], None] | None
) -> tuple[Block, NDArray[np.int64], Vector]:
    """Return a sample of a source without random access, in one pass over it."""
    known = problem.blocks.knows_n_rows
    d = problem.n_features
    labels, _ = problem.source.classes
    each = max(size // max(len(labels), 1), 1)
    state = _DrawState(seed, each, labels, problem.n_samples if known else None)
    classes: list[list[_Drawn]] = [[] for _ in labels or (None,)]
    counts = [0] * len(classes)
    for answer in problem.blocks.map_blocks(_draw_block, state):
        for place, (drawn, count) in enumerate(answer):
            counts[place] += count
            classes[place].append(drawn)
            if sum(one.keys.size for one in classes[place]) > 4 * state.size:
                classes[place] = [_smallest(classes[place], state.size, d)]
        if progress is not None:
            progress(sum(counts))
    chosen: list[_Drawn] = []
    stands_for = []
    for parts, count in zip(classes, counts, strict=True):
        if not count:
            continue
        least = state.size if known else RowPlan(sum(counts), d).sampled_rows
        most = min(state.size, least)
        one = _smallest(parts, most, d)
        share = 1.0 if one.keys.size < most else float(one.keys.max())  # by the keys alone
        each_for = np.maximum(one.stands_for, 1.0 / share)
        chosen.append(one)
        stands_for.append(each_for * (count / each_for.sum()))
    rows = np.concatenate([one.rows for one in chosen])
    return join([one.block for one in chosen], d), rows, np.concatenate(stands_for)


def _smallest(parts: list[_Drawn], size: int, d: int) -> _Drawn:
    """Return the rows with the smallest keys of several draws."""
    keys = np.concatenate([one.keys for one in parts])
    block = join([one.block for one in parts], d)
    rows = np.concatenate([one.rows for one in parts])
    stands_for = np.concatenate([one.stands_for for one in parts])
    if keys.size <= size:
        return _Drawn(keys, block, rows, stands_for)
    at = np.sort(np.argpartition(keys, size)[:size])
    weight = None if block.weight is None else block.weight[at]
    y = None if block.y is None else block.y[at]
    return _Drawn(keys[at], Block(block.X[at], y, weight, 0), rows[at], stands_for[at])
