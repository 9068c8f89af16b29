"""Splits rows again that a first split has kept, so that a reduced problem has few of them.

The frozen rows are known exactly, so an answer on one kept row in six has a much smaller sampling
error than the answer on the sample had. Around it most kept rows are far from every knot, and are
frozen as well. Kept rows on a device stay there: only those that an answer rests on are copied.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from rectiline._typing import Vector
from rectiline.problems import Problem
from rectiline.problems.blocks import (
    BlockSamples,
    NearRows,
    NextSplit,
    PassState,
    Query,
    Samples,
    Totals,
    run_pass,
)
from rectiline.rows import ArrayRows, RowBlocks, TensorRows
from rectiline.solvers.rows._reduced import Frozen

# Relative to the error of the sample; with a larger one a second split does not help.
_LARGEST_ERROR_SHARE = 0.5
_REACH_IN_ERRORS = 6.0


def split_again(
    problem: Problem,
    totals: Totals,
    every: int,
    frozen: Frozen,
    split: NextSplit,
    variance: float,
    solved: Callable[[NearRows, float], tuple[Vector, float]],
) -> SecondSplit | None:
    """Return the rows that a pass has kept, split around a closer centre.

    None: it would not be much closer.

    Parameters
    ----------
    every : int
        For how many of the rows one stands in the problem that the centre is found with.
    frozen, split
        What frozen rows add around the sample's answer, and how rows have been split there.
    variance : float
        Of the slopes' sum that the sample's error comes from.
    solved : callable
        Returns coefficients and intercept of the reduced problem on some rows, given them and
        their error in units of the sample's.
    """
    if variance <= 0:
        return None
    rows, blocks, samples = totals.near_rows, problem.blocks, problem.samples
    if isinstance(blocks, TensorRows):
        blocks = blocks.picked(rows)
    else:
        near = totals.near()
        blocks, samples = ArrayRows(near.X, None), near.samples
    at = np.arange(0, rows.size, every)
    block = blocks.take(at)
    paid = samples.of_block(block, at)
    some = NearRows(rows[at], block.X, replace(paid, weight=every * paid.weight))
    part = some.problem(problem.terms)
    slopes = np.asarray(part.rows.slopes(part.design.dot(frozen.coef) + frozen.intercept))
    error = math.sqrt((1.0 - 1.0 / every) * float(slopes @ slopes) / variance)
    if error > _LARGEST_ERROR_SHARE:
        return None
    centre = solved(some, error)
    closer = replace(split, reach=max(min(_REACH_IN_ERRORS * error, split.reach), 1e-9))
    return SecondSplit.of(problem, rows, blocks, samples, frozen, centre, closer)


@dataclass(frozen=True, eq=False)
class SecondSplit:
    """Some rows split around a centre: those near a knot, with all others frozen there.

    Attributes
    ----------
    rows : ndarray of int64
        The numbers of all of them in the source.
    places : ndarray of int64
        Of those that are left near, among these rows.
    near : NearRows
        Those that are left near.
    before, frozen : Frozen
        What rows frozen before add, and what all but the near rows add around the centre.
    """

    problem: Problem
    rows: NDArray[np.int64]
    blocks: RowBlocks
    query: Query
    places: NDArray[np.int64]
    near: NearRows
    before: Frozen
    frozen: Frozen

    @classmethod
    def of(
        cls,
        problem: Problem,
        rows: NDArray[np.int64],
        blocks: RowBlocks,
        samples: Samples | BlockSamples,
        frozen: Frozen,
        centre: tuple[Vector, float],
        split: NextSplit,
    ) -> SecondSplit:
        """Split rows, which `blocks` holds, around a centre; `frozen` was frozen before."""
        inside = replace(split, always=np.searchsorted(rows, split.always))
        query = Query(samples, *centre, next_split=inside)
        sums = _run(blocks, query, problem.fit_intercept)
        left = sums.near()
        near = NearRows(rows[left.rows], left.X, left.samples)
        rest = frozen.moved_to(*centre).changed(sums)
        return cls(problem, rows, blocks, query, left.rows, near, frozen, rest)

    def evaluated(self, coef: Vector, intercept: float) -> tuple[Totals, Vector]:
        """Return the sums over those of these rows that are frozen, and multipliers of all.

        The multipliers of rows that are left near are zeros.
        """
        sample = np.zeros(self.rows.size)
        query = replace(
            self.query,
            coef=coef,
            intercept=intercept,
            split=(self.query.coef, self.query.intercept),
            listed=self.places,
            next_split=None,
            collect=True,
            out=sample,
        )
        return _run(self.blocks, query, self.problem.fit_intercept), sample


def _run(blocks: RowBlocks, query: Query, fit_intercept: bool) -> Totals:
    found = run_pass(blocks, PassState((query,), fit_intercept))
    assert found is not None  # there was no limit
    return found[0]
