"""Solves problems on a sample of their rows, where the solver `passes` starts.

About 5,000 rows of the sample are enough to estimate how far its answer may be from that on all.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import cast

import numpy as np
from numpy.typing import NDArray

from rectiline._typing import Vector
from rectiline.problems import Problem
from rectiline.problems.blocks import BlockData, BlockSamples, RowFacts
from rectiline.rows import TensorRows
from rectiline.solvers._base import Declined, RunLimits
from rectiline.solvers._row_plan import RowPlan
from rectiline.solvers._solution import Solution
from rectiline.solvers.newton import Newton
from rectiline.solvers.rows._draw import RowSample, Sample, draw
from rectiline.solvers.rows._reach import first_split
from rectiline.solvers.rows._row_run import RowRun

_SAMPLE_TOL = 1e-5
_LEAST_SAMPLE_TOL = 1e-9
_DEVICE_PASSES = 4
_ROUGH_ROWS_PER_COLUMN = 200  # size of the sample that is solved if there is no time for more
_SCALE_ROWS_PER_COLUMN = 30  # rows of the sample that are kept to measure scales


def plan_of(problem: Problem, tol: float) -> RowPlan:
    """Return the plan for the rows of a problem."""
    blocks = problem.blocks
    return RowPlan(blocks.known_n_rows, problem.n_features, isinstance(blocks, TensorRows), tol)


def start_runs(
    problems: Sequence[Problem],
    tol: float,
    seed: int,
    declines: bool,
    progress: Callable[[int], None] | None,
    drawn: RowSample | None = None,
) -> list[RowRun]:
    """Solve every problem on a sample of its rows.

    Parameters
    ----------
    declines : bool
        Whether to raise `Declined` where too many rows are near a knot.
    progress : callable or None
        Called with the number of rows done where all rows are read for the sample.
    drawn : RowSample, optional
        The sample, if there is one already.
    """
    first = problems[0]
    plan = plan_of(first, tol)
    answers, n_solved = None, 0
    if plan.device_sampled_rows:
        answers, n_solved = _answers_on_device(problems, plan.device_sampled_rows, seed)
    size = plan.sampled_rows if answers is None else plan.reach_rows
    if drawn is None:
        drawn = draw(first, size, seed, progress)
    plan = plan_of(first, tol)  # the number of rows may be known now
    sample = Sample.on(first, drawn)
    few = sample.thin(first, plan.reach_rows)
    runs: list[RowRun] = []
    for place, problem in enumerate(problems):
        own = sample.of(problem)
        some = own if few is sample else few.of(problem)
        if answers is None:
            start = _solve(own)
        else:
            start = answers[place]
            own = some = replace(own, thinned=max(1.0, n_solved / own.stands_for.size))
        split, is_crowded = first_split(some, start.coef, start.intercept, start.objective, plan)
        if is_crowded and declines:
            raise Declined
        runs.append(
            RowRun(
                problem=problem,
                plan=plan,
                coef=start.coef,
                intercept=start.intercept,
                split=replace(split, always=_scale_rows(own, problem)),
                objective=start.objective,
                sample=own,
                roughness=problem.n_features / (own.thinned * own.stands_for.size),
                facts=RowFacts.in_memory(problem) if problem.is_in_memory else None,
            )
        )
    return runs


def rough_answers(problems: Sequence[Problem], drawn: RowSample) -> list[tuple[Vector, float]]:
    """Return answers on a few of the rows that were drawn until time ran out."""
    few = drawn.cut(_ROUGH_ROWS_PER_COLUMN * (problems[0].n_features + 1))
    found = [_solve(Sample.on(problem, few)) for problem in problems]
    return [(one.coef, one.intercept) for one in found]


def _answers_on_device(
    problems: Sequence[Problem], size: int, seed: int
) -> tuple[list[Solution], int]:
    """Return answers on a large sample that stays on its device, and its number of rows.

    Passes over rows on a device cost next to nothing beside the reduced problems, which are solved
    on the host. So the sample is as large as can be: its error is small, and few rows are near.
    """
    from rectiline.solvers._family import solve_together

    blocks = problems[0].blocks
    assert isinstance(blocks, TensorRows)
    at, stands_for = blocks.spread(size, seed, problems[0].source.classes[0])
    rows = blocks.picked(at, stands_for)
    inner = [
        Problem.of(BlockData(rows, cast(BlockSamples, one.samples)), one.terms) for one in problems
    ]
    tol = float(np.clip(0.5 * rows.n_features / rows.n_rows, _LEAST_SAMPLE_TOL, _SAMPLE_TOL))
    limits = RunLimits(tol, _DEVICE_PASSES, None, seed)
    return solve_together(inner, limits, [None] * len(inner), warns=False), rows.n_rows


def _scale_rows(sample: Sample, problem: Problem) -> NDArray[np.int64]:
    count = _SCALE_ROWS_PER_COLUMN * (problem.n_features + 1)
    rows = sample.rows.rows
    return np.sort(rows[:: max(1, rows.size // count)])


def _solve(sample: Sample) -> Solution:
    from rectiline.solvers._drive import solve_quietly

    solver = "newton" if Newton.refuses(sample.problem) is None else "auto"
    return solve_quietly(sample.problem, _SAMPLE_TOL, solver)
