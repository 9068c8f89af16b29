"""One pass over rows in blocks: what it is asked, what a block answers, how answers are added.

`run_block` is a pure function of a block and a small state, so that engines can run it where the
block is. Answers are added in the order of the blocks with compensated sums: the result has the
same bits whoever ran them.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rectiline import _core
from rectiline._lazy import cached_property
from rectiline._typing import Vector
from rectiline.backends import Design
from rectiline.problems._block_samples import BlockSamples
from rectiline.problems._data import Data
from rectiline.problems._problem import Problem
from rectiline.problems._samples import Samples
from rectiline.problems._terms import Terms
from rectiline.rows import Block, RowBlocks, in_block, refuse_non_finite, stacked

_SUM_ROUNDING = 2.0**-52  # relative error of a sum that is rounded to a double once


@dataclass(frozen=True, slots=True, eq=False)
class LengthBound:
    """A bound that is quick to compute.

    ``|D x|^2 <= least + sum_j (scale_j (x_j - mean_j))^2``
    """

    scale: Vector
    mean: Vector
    least: float

    @classmethod
    def of(cls, directions: NDArray[np.float64], mean: Vector) -> LengthBound:
        """Return the bound for directions D; rows lie around `mean`, zeros if X is sparse.

        Let V = D'D in the coordinates ``x - mean``, the intercept last. Then
        ``v'Vv <= r sum_j V_jj v_j^2``, r the largest eigenvalue of V scaled to a unit diagonal.
        """
        d = mean.size
        moved = np.zeros((directions.shape[0], d + 1))
        moved[:, :d] = directions[:, :d]
        moved[:, d] = directions[:, :d] @ mean
        if directions.shape[1] > d:
            moved[:, d] += directions[:, d]
        size = np.sqrt(np.einsum("ij,ij->j", moved, moved))
        unit = moved / np.where(size > 0, size, 1.0)
        ratio = float(np.linalg.eigvalsh(unit.T @ unit)[-1]) * (1.0 + 1e-9)
        return cls(size[:d] * np.sqrt(ratio), mean, float(size[d] ** 2 * ratio))


@dataclass(frozen=True, slots=True, eq=False)
class NextSplit:
    """Which rows count as near: those within ``reach * |directions x|`` of a knot.

    Attributes
    ----------
    reach : float
    longest : float
        On a device, rows are looked at closely if they are within ``reach * longest`` of a knot.
    directions : ndarray of shape (k, n_features + fit_intercept)
    bound : LengthBound
        Elsewhere, rows are looked at closely if they are within reach by this bound.
    keeps_listed : bool
        Whether rows that are listed stay near.
    always : ndarray of int64
        Rows that are near in any case, growing.
    """

    reach: float
    longest: float
    directions: NDArray[np.float64]
    bound: LengthBound
    keeps_listed: bool = False
    always: NDArray[np.int64] = field(default_factory=lambda: np.zeros(0, dtype=np.int64))

    @property
    def parts(self) -> tuple[Any, ...]:
        """What `_core.PassMember` takes."""
        bound = (self.bound.scale, self.bound.mean, self.bound.least)
        return self.reach, self.directions, *bound, self.always


@dataclass(frozen=True, slots=True, eq=False)
class Query:
    """What one problem asks of a pass: evaluate a candidate, split around it, or both.

    Attributes
    ----------
    samples : Samples or BlockSamples
        The losses of the rows.
    coef, intercept
        The candidate.
    split : tuple of (ndarray, float) or None
        Where rows are frozen, if the candidate is to be evaluated.
    listed : ndarray of int64
        Rows that are not frozen.
    next_split : NextSplit or None
    collect : bool
        Whether to return the listed rows, for a evaluation without a next split.
    measure : bool
        Whether to add up the sizes of columns and the loss at zero.
    out : ndarray or None
        For rows in memory: where to write the multipliers of frozen rows.
    is_precise : bool
        Whether to add up the gradient of frozen rows in twofold arithmetic.
    """

    samples: Samples | BlockSamples
    coef: Vector
    intercept: float
    split: tuple[Vector, float] | None = None
    listed: NDArray[np.int64] = field(default_factory=lambda: np.zeros(0, dtype=np.int64))
    next_split: NextSplit | None = None
    collect: bool = False
    measure: bool = False
    out: Vector | None = None
    is_precise: bool = False


@dataclass(frozen=True, slots=True, eq=False)
class PassState:
    """What is sent to every block."""

    queries: tuple[Query, ...]
    fit_intercept: bool
    seconds: float = math.inf
    copies: bool = True  # whether blocks copy their near rows; else `Totals.near` does at the end


@dataclass(frozen=True, eq=False)
class NearRows:
    """Copies of some rows: their numbers, X and losses."""

    rows: NDArray[np.int64]
    X: Any
    samples: Samples

    @cached_property
    def design(self) -> Design:
        """X with what has been worked out about it, for all problems on these rows."""
        return Design(self.X)

    def with_samples(self, samples: Samples) -> NearRows:
        """Return these rows with other targets or weights; they share `design`."""
        made = NearRows(self.rows, self.X, samples)
        made.__dict__["design"] = self.design
        return made

    def problem(self, terms: Terms, weight: Vector | None = None) -> Problem:
        """Return the problem in memory on these rows, under other weights if given."""
        samples = self.samples if weight is None else replace(self.samples, weight=weight)
        return Problem.of(Data(self.design, samples), terms)


@dataclass(frozen=True, slots=True, eq=False)
class Answer:
    """What one block answers to one query."""

    sums: dict[str, Any]
    near: NearRows
    n_rows: int = 0  # of the block; 0 where nobody counts


def run_block(block: Block, state: PassState) -> list[Answer] | None:
    """Return the answers of one block to all queries; None if the time was up."""
    if block.is_tensor:
        from rectiline.problems.blocks._tensor import run_tensor_block

        return run_tensor_block(block, state)
    encoded: dict[Any, Samples] = {}  # equal targets are encoded once
    members, asked = [], []
    for query in state.queries:
        encoding = query.samples.encoding
        if encoding not in encoded:
            encoded[encoding] = query.samples.of_block(block)
        samples = replace(encoded[encoding], losses=query.samples.losses)
        here, point = in_block(query.listed, block), (query.coef, query.intercept)
        out = np.empty(block.n_rows) if query.is_precise else None
        if query.out is not None:
            out = query.out[block.start : block.start + block.n_rows]
        split = None
        if query.next_split is not None:
            always = in_block(query.next_split.always, block)
            if query.next_split.keeps_listed:
                always = np.union1d(always, here)
            split = replace(query.next_split, always=always).parts
        given = (here, query.split, out, split)
        members.append(_core.PassMember(samples.rows, point, state.fit_intercept, *given))
        asked.append((query, samples, here, out))
    view = Design(block.X).view
    found = _core.run_pass(view, members, state.seconds)
    if found is None:
        return None
    answers = []
    sizes: dict[Any, Vector] = {}  # of columns, under equal weights
    for (query, samples, here, out), sums in zip(asked, found, strict=True):
        encoding = query.samples.encoding
        if query.measure and encoding not in sizes:
            sizes[encoding] = view.column_sizes(samples.weight)
        sums["sizes"] = sizes[encoding] if query.measure else np.zeros(0)
        _refuse_non_finite(block, sums)
        if query.is_precise:
            sums |= _precise_sums(view, out)
        near = sums.pop("near")
        at = here if query.collect else near
        copied = at if state.copies else at[:0]
        rows = NearRows(at + block.start, block.take(copied).X, samples.take(copied))
        if query.measure and state.copies:
            sums |= {"at_zero": samples.loss_at_zero, "measured_weight": samples.total_weight}
        answers.append(Answer(sums, rows, block.n_rows))
    return answers


def _precise_sums(view: Any, multipliers: Any) -> dict[str, Any]:
    """Return the gradient of frozen rows and the sum of their multipliers, nearly exact."""
    gradient, rest, error, _ = _core.twofold_tdot(view, multipliers)
    total, _, total_error, _ = _core.twofold_sum(multipliers)
    return {
        "gradient": gradient,
        "gradient_rest": rest,
        "gradient_error": error,
        "total": total,
        "total_error": total_error + _SUM_ROUNDING * abs(total),
    }


def _refuse_non_finite(block: Block, sums: dict[str, Any]) -> None:
    """Raise if X holds NaN or infinity; sums show it without a look at X."""
    numbers = (sums["loss"], sums["total"], sums["change_total"])
    vectors = (sums["gradient"], sums["change"], sums["sizes"])
    if not all(map(math.isfinite, numbers)) or not all(np.isfinite(v).all() for v in vectors):
        refuse_non_finite(block)


class Totals:
    """Sums of the answers to one query over all blocks."""

    _LARGEST = ("steepest", "depth")  # of all blocks, instead of their sum

    def __init__(
        self, n_features: int, taken_from: tuple[RowBlocks, Samples | BlockSamples] | None = None
    ) -> None:
        zero = np.zeros(n_features)
        # `depth`: most terms added one after the other; blocks in the core say nothing of it
        self._sums: dict[str, Any] = {"gradient": zero, "change": zero, "depth": 0.0}
        self._lost: dict[str, Any] = {}
        self._near: list[NearRows] = []
        self._taken_from = taken_from  # near rows, if blocks have not made copies of them

    def add(self, answer: Answer) -> None:
        """Add the answer of the next block."""
        for name, value in answer.sums.items():
            if type(value) is not float and np.size(value) == 0:
                continue
            old = self._sums.get(name, 0.0)
            if name in self._LARGEST:
                self._sums[name] = max(old, value)
                continue
            new = old + value
            part = new - old
            lost = (old - (new - part)) + (value - part)
            self._sums[name] = new
            self._lost[name] = self._lost.get(name, 0.0) + lost
        self._near.append(answer.near)

    def plus(self, other: Totals) -> Totals:
        """Return the sums over the rows of both, without the rows that were collected."""
        both = Totals(self._sums["gradient"].size)
        for one in (self, other):
            sums = {name: one[name] for name in one._sums}
            both.add(Answer(sums, one._near[0]))
        return both

    def __getitem__(self, name: str) -> Any:
        return self._sums.get(name, 0.0) + self._lost.get(name, 0.0)

    def parts(self, name: str) -> tuple[Any, Any]:
        """Return a sum as two numbers: the rounded one, and what rounding has taken from it."""
        sums = self._sums.get(name, 0.0)
        return sums, self._lost.get(name, 0.0 * sums)

    def has(self, name: str) -> bool:
        """Whether any block had such a sum."""
        return name in self._sums

    @property
    def near_rows(self) -> NDArray[np.int64]:
        """The numbers of the rows that were collected."""
        return np.concatenate([part.rows for part in self._near])

    def near(self) -> NearRows:
        """Return the rows that were collected, put together."""
        if self._taken_from is None:
            return _joined(self._near)
        blocks, samples = self._taken_from
        rows = self.near_rows
        block = blocks.take(rows)
        return NearRows(rows, block.X, samples.of_block(block, rows))


def _joined(parts: Sequence[NearRows]) -> NearRows:
    """Return rows collected from several blocks as one set."""
    some = [part for part in parts if part.rows.size] or list(parts[:1])
    if len(some) == 1:
        return some[0]
    rows, X = (stacked(one) for one in zip(*((part.rows, part.X) for part in some), strict=True))
    return NearRows(rows, X, Samples.joined([part.samples for part in some]))


def run_pass(
    rows: RowBlocks,
    state: PassState,
    progress: Callable[[int], None] | None = None,
) -> list[Totals] | None:
    """Run one pass over all rows; None if the time was up.

    `progress` is called with the number of rows done after each block.
    """
    done = 0
    totals = [
        Totals(rows.n_features, None if state.copies else (rows, query.samples))
        for query in state.queries
    ]
    for answers in rows.map_blocks(run_block, state):
        if answers is None:
            return None
        for total, answer in zip(totals, answers, strict=True):
            total.add(answer)
        done += answers[0].n_rows
        if progress is not None:
            progress(done)
    return totals
