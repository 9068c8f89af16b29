"""Draws the rows that the solver `passes` starts on: a sample with inclusion weights.

Each class of a margin loss is drawn on its own, so that a rare one is not missed. Rows with entries
in rare columns need no draw: the first split keeps all of them, see `_reach`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rectiline.problems import Problem
from rectiline.problems.blocks import BlockProblem, NearRows
from rectiline.rows import Block, TensorRows, join

Vector = NDArray[np.float64]

__all__ = ["Sample", "draw", "sample_size"]

_ROWS_PER_COLUMN = 200  # of the smallest sample
_LARGEST_SHARE = 0.05  # of the rows, in the largest
_RARE_SHARE = 0.25  # of the sample that a rare class may take
_WITHOUT_COUNT = 200_000  # rows drawn from a source that does not know how many it has


@dataclass(frozen=True, slots=True, eq=False)
class Sample:
    """Drawn rows, how many rows each of them stands for, and the problem on them.

    `thinned`: every so manieth row of the drawn ones is here.
    """

    rows: NearRows
    stands_for: Vector
    problem: Problem
    thinned: float = 1


def sample_size(n: int, d: int) -> int:
    """Return how many rows to start on.

    The larger the sample, the fewer rows are near a knot within its error: both cost about the
    same with ``(n sqrt(d))**(2/3)`` rows.
    """
    balanced = (n * np.sqrt(d)) ** (2.0 / 3.0)
    return int(min(n, max(_ROWS_PER_COLUMN * d, min(_LARGEST_SHARE * n, balanced))))


def draw(problem: BlockProblem, seed: int, size: int | None = None) -> Sample:
    """Return a sample of the rows: as many as `sample_size` says, or, on a device, `size`."""
    blocks = problem.blocks
    rows: NDArray[np.int64]
    stands_for: Vector
    if isinstance(blocks, TensorRows):
        size = size or sample_size(problem.n_samples, problem.n_features)
        at, each = blocks.spread(size, seed, getattr(problem.targets, "labels", None))
        rows, stands_for = at.cpu().numpy(), each.cpu().numpy()
        block = blocks.take(rows)
    elif problem.blocks.has_random_access:
        rows, stands_for = _choose_rows(problem, seed)
        block = problem.blocks.take(rows)
    else:
        block, rows, stands_for = _draw_while_reading(problem, seed)
    targets = problem.targets.pick(block, rows)
    near = NearRows(rows, block.X, targets)
    return Sample(near, stands_for, problem.on_near_rows(near, targets.weight * stands_for))


def _choose_rows(problem: BlockProblem, seed: int) -> tuple[NDArray[np.int64], Vector]:
    n = problem.n_samples
    size = sample_size(n, problem.n_features)
    rng = np.random.default_rng(seed)
    signs = problem.signs()
    rare = None if signs is None else _rare_class(signs, size)
    if rare is None or signs is None:
        rows = _spread(n, size, rng)
        return rows, np.full(rows.size, n / rows.size)
    others = np.flatnonzero(signs != signs[rare[0]])
    kept = rare[_spread(rare.size, min(rare.size, int(_RARE_SHARE * size)), rng)]
    rest = others[_spread(others.size, size - kept.size, rng)]
    rows = np.concatenate([kept, rest])
    stands_for = np.repeat([rare.size / kept.size, others.size / rest.size], [kept.size, rest.size])
    order = np.argsort(rows)
    return rows[order], stands_for[order]


def _rare_class(signs: Vector, size: int) -> NDArray[np.int64] | None:
    """Return the rows of a class that a plain sample would hold too few of."""
    ups = int(np.count_nonzero(signs > 0))
    least = min(ups, signs.size - ups)
    if least == 0 or least * size >= _RARE_SHARE * size * signs.size:
        return None
    return np.flatnonzero((signs > 0) == (ups == least))


def _spread(n: int, size: int, rng: np.random.Generator) -> NDArray[np.int64]:
    """Return one row out of each of `size` stretches: spread over data that may be sorted."""
    edges = np.linspace(0, n, size + 1)
    picked = np.minimum((edges[:-1] + rng.random(size) * np.diff(edges)).astype(np.int64), n - 1)
    return np.asarray(picked[np.append(True, np.diff(picked) > 0)])


@dataclass(frozen=True, slots=True)
class _DrawState:
    """What is sent to every block of a source that is read once for the sample."""

    seed: int
    size: int  # rows of each class
    labels: Any  # of a margin loss, or None


def _draw_block(
    block: Block, state: _DrawState
) -> list[tuple[Vector, Block, NDArray[np.int64], int]]:
    """Return, for each class, the rows of a block with the smallest random keys."""
    keys = np.random.default_rng((state.seed, block.start)).random(block.n_rows)
    found = []
    for label in state.labels or (None,):
        at = np.arange(block.n_rows)
        if label is not None:
            at = np.flatnonzero(np.asarray(block.y) == label)
        count = at.size
        if at.size > state.size:
            at = at[np.argpartition(keys[at], state.size)[: state.size]]
        at.sort()
        weight = None if block.weight is None else block.weight[at]
        part = Block(block.X[at], None if block.y is None else block.y[at], weight, block.start)
        found.append((keys[at], part, at + block.start, count))
    return found


def _draw_while_reading(
    problem: BlockProblem, seed: int
) -> tuple[Block, NDArray[np.int64], Vector]:
    """Return a sample of a source without random access, in one pass over it."""
    known = problem.blocks.knows_n_rows
    d = problem.n_features
    size = sample_size(problem.n_samples, d) if known else max(_ROWS_PER_COLUMN * d, _WITHOUT_COUNT)
    labels = getattr(problem.targets, "labels", None)
    state = _DrawState(seed, size if labels is None else max(size // 2, 1), labels)
    classes: list[list[Any]] = [[] for _ in state.labels or (None,)]
    counts = [0] * len(classes)
    for answer in problem.blocks.map_blocks(_draw_block, state):
        for place, (keys, part, rows, count) in enumerate(answer):
            counts[place] += count
            classes[place].append((keys, part, rows))
            if sum(one[0].size for one in classes[place]) > 4 * state.size:
                classes[place] = [_smallest(classes[place], state.size, d)]
    parts, numbers, stands_for = [], [], []
    for drawn, count in zip(classes, counts, strict=True):
        if not count:
            continue
        least = sample_size(sum(counts), d) if not known else state.size
        keys, block, rows = _smallest(drawn, min(state.size, least), d)
        parts.append(block)
        numbers.append(rows)
        stands_for.append(np.full(rows.size, count / rows.size))
    return join(parts, d), np.concatenate(numbers), np.concatenate(stands_for)


def _smallest(drawn: list[Any], size: int, d: int) -> tuple[Vector, Block, NDArray[np.int64]]:
    """Return the rows with the smallest keys of several draws."""
    keys = np.concatenate([one[0] for one in drawn])
    block = join([one[1] for one in drawn], d)
    rows = np.concatenate([one[2] for one in drawn])
    if keys.size <= size:
        return keys, block, rows
    at = np.sort(np.argpartition(keys, size)[:size])
    weight = None if block.weight is None else block.weight[at]
    y = None if block.y is None else block.y[at]
    return keys[at], Block(block.X[at], y, weight, 0), rows[at]
