"""Solves problems on a sample of their rows, where the solver `passes` starts; for `_rounds`.

About 5,000 rows of a sample are solved first. Around that answer most rows of the sample are far
from every knot and are frozen, so that the answer on the sample is a small problem as well.
"""

from __future__ import annotations

import math
import time
import warnings
from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from rectiline.exceptions import ConvergenceWarning
from rectiline.problems import Problem
from rectiline.problems.blocks import LengthBound, NextSplit, RowFacts
from rectiline.rows import ArrayRows
from rectiline.solvers._base import Callback
from rectiline.solvers.newton import Newton
from rectiline.solvers.passes._draw import Sample
from rectiline.solvers.passes._frozen import Frozen
from rectiline.solvers.passes._member import Member
from rectiline.solvers.passes._narrow import Narrowed, sampling_variance
from rectiline.solvers.passes._reach import first_split, rows_for_reach
from rectiline.solvers.passes._reduced import solve_reduced

Vector = NDArray[np.float64]

__all__ = ["SAMPLE_TOL", "Answer", "Declined", "start_members"]

SAMPLE_TOL = 1e-5
_SCALE_ROWS = 30  # rows of the sample per column that are kept for their scales
_REACH = 4.0  # rows of the sample are frozen beyond so many standard deviations
_MOST_GAP = 10.0  # times the tolerance: of an answer with rows that were frozen
# Rows in memory from which on a first answer is judged before anything is split around it, which
# would take a third of the pass. Fewer rows are refused more often: two tables of 16 with 50,000.
_MANY_ROWS = 200_000
_ROWS_PER_COLUMN = 10_000  # and at least so many for each column, for the same reason
_MOST_NEAR, _LEAST_NEAR = 0.5, 10  # share of the sample, and rows per column, that are left


class Declined(Exception):
    """Too many rows are near a knot for passes to be of use."""


class Answer(NamedTuple):
    """An answer on some rows: its objective, and the number of rows where it is not obvious."""

    coef: Vector
    intercept: float
    objective: float
    n_rows: int = 0


def start_members(
    problems: Sequence[Problem],
    callbacks: Sequence[Callback | None],
    sample: Sample,
    answers: Sequence[Answer] | None,
    tol: float,
    deadline: float,
    declines: bool,
) -> list[Member]:
    """Solve every problem on a sample, unless there are `answers` on a larger one."""
    first = problems[0]
    few = sample.thin(first, rows_for_reach(first.n_features))
    members: list[Member] = []
    for place, (problem, callback) in enumerate(zip(problems, callbacks, strict=True)):
        own = sample if problem is first else sample.of(problem)
        some = own if few is sample else few if problem is first else few.of(problem)
        if answers is None:
            start = _solve(some, deadline)
        else:
            start = answers[place]
            own = some = replace(own, thinned=max(1.0, start.n_rows / own.stands_for.size))
        split, is_crowded, is_wide = first_split(
            some, start.coef, start.intercept, start.objective, tol
        )
        if is_crowded and declines:
            raise Declined
        if answers is None and some is not own:
            start = _on_sample(problem, own, some, start, split, deadline)
        member = Member(
            problem=problem,
            coef=start.coef,
            intercept=start.intercept,
            split=replace(split, always=_scale_rows(own, problem)),
            objective=start.objective,
            variance=partial(sampling_variance, own, start.coef, start.intercept),
            roughness=problem.n_features / (own.thinned * own.stands_for.size),
            callback=callback,
            argument_scale=own.problem.argument_scale,
        )
        if problem.is_in_memory:
            member.facts = RowFacts.in_memory(problem)
            member.out = np.empty(problem.n_samples)
            many = max(_MANY_ROWS, _ROWS_PER_COLUMN * problem.n_features)
            member.splits_ahead = not is_wide or problem.n_samples < many
        members.append(member)
    shared = LengthBound.with_one_sum([member.split.bound for member in members])
    for member, bound in zip(members, shared, strict=True):
        member.split = replace(member.split, bound=bound)
    return members


def _scale_rows(sample: Sample, problem: Problem) -> NDArray[np.int64]:
    count = _SCALE_ROWS * (problem.n_features + 1)
    rows = sample.rows.rows
    return np.sort(rows[:: max(1, rows.size // count)])


def _solve(sample: Sample, deadline: float) -> Answer:
    from rectiline.solvers import solve

    left = deadline - time.perf_counter()
    solver = "newton" if Newton.refuses(sample.problem) is None else "auto"
    with warnings.catch_warnings():  # what is proved on all rows decides
        warnings.simplefilter("ignore", ConvergenceWarning)
        found = solve(
            sample.problem,
            solver=solver,
            tol=SAMPLE_TOL,
            time_limit=max(left, 1e-3) if math.isfinite(left) else None,
        )
    return Answer(found.coef, found.intercept, found.objective)


def _on_sample(
    problem: Problem,
    sample: Sample,
    few: Sample,
    start: Answer,
    split: NextSplit,
    deadline: float,
) -> Answer:
    """Return the answer on a sample by way of the answer on few of its rows.

    `split` has the standard deviations of the sample's answer; that on few rows has larger ones.
    """
    if Newton.refuses(sample.problem) is not None:
        return _solve(sample, deadline)
    coef, intercept, objective, _ = start
    near = Narrowed.of(
        problem,
        sample.rows.rows,
        ArrayRows(sample.rows.X, None),
        replace(sample.rows.samples, weight=sample.problem.weight),
        Frozen(coef, intercept, np.zeros(coef.size), 0.0, None, objective),
        (coef, intercept),
        replace(split, reach=_REACH * math.sqrt(few.thinned - 1.0)),
    )
    count = near.places.size
    if not _LEAST_NEAR * coef.size <= count <= _MOST_NEAR * sample.stands_for.size:
        return _solve(sample, deadline)
    found = solve_reduced(problem, near.near, near.frozen, None, objective, SAMPLE_TOL, deadline)
    gap = found.relative_gap * abs(objective) + float(
        near.judged(found.coef, found.intercept)[0]["gap"]
    )
    if gap > _MOST_GAP * SAMPLE_TOL * abs(objective):
        return _solve(sample, deadline)
    return Answer(found.coef, found.intercept, objective)
