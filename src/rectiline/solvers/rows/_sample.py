"""Problems on a sample of their rows, and whether the sample is like all rows."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from rectiline._typing import Vector
from rectiline.problems import Problem
from rectiline.problems.blocks import NearRows, Totals
from rectiline.rows import refuse_non_finite
from rectiline.solvers._row_plan import RowPlan
from rectiline.solvers.rows._draw import RowSample, sample_source

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
    def on(cls, problem: Problem, drawn: RowSample, thinned: float = 1) -> Sample:
        """Return the sample of a problem on drawn rows."""
        samples = problem.samples.of_block(drawn.block, drawn.rows)
        near = NearRows(drawn.rows, drawn.block.X, samples)
        part = near.problem(problem.terms, samples.weight * drawn.stands_for)
        return cls(drawn, near, part, thinned)

    @property
    def stands_for(self) -> Vector:
        """How many rows each row stands for."""
        return self.drawn.stands_for

    def of(self, problem: Problem) -> Sample:
        """Return the sample of another problem on the same rows, which shares X."""
        samples = problem.samples.of_block(self.drawn.block, self.drawn.rows)
        rows = self.rows.with_samples(samples)
        part = rows.problem(problem.terms, samples.weight * self.stands_for)
        return replace(self, rows=rows, problem=part)

    def thin(self, problem: Problem, size: int) -> Sample:
        """Return `size` rows, evenly spaced, that stand for all; self if it has not more."""
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

        Columns that the sample does not know are left out.
        """
        design, slopes = self.problem.design, self.slopes(coef, intercept)
        near = totals.near()
        part = near.problem(self.problem.terms)
        own = np.asarray(part.rows.slopes(part.design.dot(coef) + intercept))
        change = np.append(totals["change"] + part.design.tdot(own), totals["change_total"])
        change[-1] += own.sum()
        expected = np.append(design.tdot(slopes), slopes.sum())
        variance = np.append(design.column_squares(slopes**2), slopes @ slopes)
        if not self.problem.fit_intercept:
            variance[-1] = 0.0
        known = variance > 0
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
    return drawn
