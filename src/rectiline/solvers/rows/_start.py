"""Solves problems on a sample of their rows, where the solver `passes` starts.

About 5,000 rows of the sample are enough to estimate how far its answer may be from that on all.

The covariance of the sample's answer is the sandwich ``H^-1 S H^-1``: S is the covariance of the
gradient's sampling error, H the curvature of the expected objective, in which a kink counts with
the density of rows around it. A row x is near a knot if its argument lies within `reach` standard
deviations of its prediction, ``reach * sqrt(x'Vx)``.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import cast

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtr

from rectiline import _core
from rectiline._typing import Matrix, Vector
from rectiline.problems import Problem
from rectiline.problems.blocks import BlockData, BlockSamples, LengthBound, NextSplit, RowFacts
from rectiline.rows import TensorRows
from rectiline.solvers._base import Declined, Pair, RunLimits
from rectiline.solvers._row_plan import RowPlan
from rectiline.solvers._solution import Solution
from rectiline.solvers.newton import Newton
from rectiline.solvers.rows._draw import RowSample, Sample, draw
from rectiline.solvers.rows._row_run import TOLERANCE_SHARE, RowRun

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
    if answers is None and drawn.rows.size == plan.n:
        return [_run_on_all_rows(one, sample.of(one), plan) for one in problems]
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


def _run_on_all_rows(problem: Problem, sample: Sample, plan: RowPlan) -> RowRun:
    """Return the run of a problem all of whose rows were drawn: the first pass freezes none.

    The sample is the problem, so that its answer is exact and has no sampling error.
    """
    from rectiline.solvers._drive import solve_quietly

    found = solve_quietly(sample.problem, TOLERANCE_SHARE * plan.tol)
    order = np.argsort(sample.drawn.rows)  # classes are drawn one after another
    dual = replace(found.dual, sample=found.dual.sample[order])
    zeros = np.zeros(found.coef.size)
    no_lengths = np.zeros((1, zeros.size + problem.fit_intercept))
    bound = LengthBound(zeros, zeros, 0.0)
    every = NextSplit(1.0, 0.0, no_lengths, bound, always=sample.drawn.rows[order])
    return RowRun(
        problem=problem,
        plan=plan,
        coef=found.coef,
        intercept=found.intercept,
        split=every,
        objective=found.objective,
        sample=sample,
        facts=RowFacts.in_memory(problem) if problem.is_in_memory else None,
        answer=Pair(found.coef, found.intercept, dual),
    )


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


# ---- how far the answer on a sample may be -------------------------------------------------------


# Expected gap of frozen rows that cross a knot, relative to the tolerance.
_CROSSING_TOLERANCE_SHARE = 0.001
_MOST_DEVIATIONS = 6.0
_LEAST_ROWS_PER_COLUMN_AT_KINK = 20  # from which the density at a kink is estimated
_LEAST_ROWS_WITH_ENTRY = 30  # a column with fewer in the sample is hardly known
# Relative to the scale of the arguments: least error of an answer on a sample.
_ARGUMENT_ERROR_SHARE = 1e-6
_LEAST_VARIANCE_SHARE = 1e-3  # share of the sampling variance that is left where all rows are drawn
_SKETCHED_DIRECTIONS = 32  # combinations that stand for all directions: lengths within about 12 %


def first_split(
    sample: Sample, coef: Vector, intercept: float, objective: float, plan: RowPlan
) -> tuple[NextSplit, bool]:
    """Return which rows count as near around the answer on a sample, and whether they are too many.

    The reach is the shortest one with which rows beyond it add little to the gap by crossing a
    knot, unless too many rows are within it. If it is less than a standard deviation for that
    reason, the answer is probably elsewhere: many rows meet on a knot. They are all near then if
    there is room for them.
    """
    problem = sample.problem
    every = _directions(sample, coef, intercept)
    if problem.fit_intercept:  # the answer on the sample is rough, also where all rows meet a knot
        rough = np.zeros((1, every.shape[1]))
        rough[0, -1] = _ARGUMENT_ERROR_SHARE * problem.argument_scale
        every = np.vstack([every, rough])
    directions = _sketched(every)
    length = _lengths(problem, directions)
    slack = _slack(problem, coef, intercept)
    longest = float(length.max(initial=0.0)) or 1.0
    ratio = slack / np.maximum(length, 1e-300)
    largest = plan.largest_near_share
    order = np.argsort(ratio)
    wanted = _crossing_reach(
        problem, ratio, order, length, _CROSSING_TOLERANCE_SHARE * plan.tol * abs(objective)
    )
    covered = np.cumsum(sample.stands_for[order])

    def share_reach(share: float) -> float:
        """Return the reach within which a share of all rows lies."""
        place = int(np.searchsorted(covered, share * covered[-1]))
        return float(ratio[order[min(place, ratio.size - 1)]])

    reach = min(wanted, share_reach(largest))
    is_crowded = reach < min(wanted, 1.0)
    if is_crowded and plan.can_keep_all:
        reach = wanted
    least = 4 * every.shape[1] / max(sample.thinned * sample.stands_for.size, 1.0)
    least = max(least, plan.least_near_share)
    reach = max(reach, share_reach(min(least, largest)))
    if not np.isfinite(reach):  # no row is ever near: a loss without knots
        reach = _MOST_DEVIATIONS
    design = problem.design
    mean = np.zeros(problem.n_features) if design.is_sparse else design.column_means()
    split = NextSplit(max(reach, 1e-9), longest, directions, LengthBound.of(every, mean))
    return split, is_crowded


def _crossing_reach(
    problem: Problem, ratio: Vector, order: NDArray[np.intp], length: Vector, allowed: float
) -> float:
    """Return the reach beyond which rows add no more than allowed to the gap by crossing a knot.

    `order` sorts the rows by `ratio`, their distance to a knot in standard deviations.

    A row whose argument moves by a normal deviate of size l crosses a knot at the distance u l by
    ``l (phi(u) - u Phi(-u))`` on average, which costs the jump of its slope times that.
    """
    u = np.minimum(ratio, 40.0)
    beyond = length * (np.exp(-0.5 * u * u) / np.sqrt(2.0 * np.pi) - u * ndtr(-u))
    jumps = [
        (sum(abs(jump) for _, jump, _ in knots), sum(abs(bend) for _, _, bend in knots))
        for knots in _bends(problem)
    ]
    index = np.zeros(u.size, np.intp) if problem.loss_index is None else problem.loss_index
    jump, bend = np.array(jumps).T
    pays = problem.weight * np.maximum(beyond, 0.0) * (jump[index] + bend[index] * length)
    frozen = int(np.searchsorted(np.cumsum(pays[order[::-1]]), allowed))
    return float(min(ratio[order[-frozen]] if frozen else np.inf, _MOST_DEVIATIONS))


def _bends(problem: Problem) -> list[list[tuple[float, float, float]]]:
    """Return the knots of each loss: place, jump of the slope, change of the curvature."""
    found = []
    for loss in problem.losses:
        curve = loss.curve
        jump, bend = curve.right - curve.left, np.diff(curve.curvature)
        knots = zip(curve.knots, jump, bend, strict=True)
        found.append([(float(k), float(j), float(c)) for k, j, c in knots if j != 0 or c != 0])
    return found


def _slack(problem: Problem, coef: Vector, intercept: float) -> Vector:
    """Return the distance of each row's argument to the nearest knot; rows may weigh nothing."""
    rows = _core.NewtonRows(problem.design.view, problem.rows, problem.fit_intercept)
    rows.place_at(problem.design.dot(coef) + intercept)
    return rows.slack()


def _expected_curvature(problem: Problem, coef: Vector, intercept: float) -> Vector:
    """Return for each row its curvature, kinks smeared over the rows around them."""
    z = problem.design.dot(coef) + intercept
    t = np.asarray(problem.direction * z + problem.offset)
    curved = np.zeros(t.size)
    order = problem.n_features + problem.fit_intercept
    wanted = max(_LEAST_ROWS_PER_COLUMN_AT_KINK * order, t.size**0.75) / len(problem.losses)
    for index, (loss, knots) in enumerate(zip(problem.losses, _bends(problem), strict=True)):
        mine = np.ones(t.size, bool) if problem.loss_index is None else problem.loss_index == index
        count = int(min(np.count_nonzero(mine) // 2, wanted))
        piece = np.searchsorted(loss.curve.knots, t)
        curved += np.where(mine, np.asarray(loss.curve.curvature)[piece], 0.0)
        for knot, jump, _ in knots:
            if jump == 0:
                continue
            far = np.where(mine, np.abs(t - knot), np.inf)
            beyond = int(np.count_nonzero(mine & (t > knot)))
            sides = 4 * min(beyond, int(np.count_nonzero(mine)) - beyond)
            last = min(count, max(sides, _LEAST_ROWS_PER_COLUMN_AT_KINK))
            width = float(np.partition(far, last)[last])
            if np.isfinite(width) and width > 0:
                curved += np.where(far <= width, jump / (2.0 * width), 0.0)
            else:  # many rows sit on the knot
                curved += np.where(far == 0, jump, 0.0)
    return np.asarray(problem.weight * curved)


def _directions(sample: Sample, coef: Vector, intercept: float) -> Matrix:
    """Return a factor D of the covariance, ``V = D'D``; the intercept has the last column."""
    problem = sample.problem
    every = np.arange(problem.n_features)
    design, has_intercept = problem.design, problem.fit_intercept
    H = design.weighted_gram(_expected_curvature(problem, coef, intercept), every, has_intercept)
    rho = problem.columns.rho if problem.is_separable else np.zeros(problem.n_features)
    H[every, every] += rho
    slopes = problem.rows.slopes(design.dot(coef) + intercept)
    # A row that stands for itself has no sampling error; the answer on it is rough all the same.
    whole = sample.stands_for / sample.thinned
    errors = np.maximum(1.0 - 1.0 / np.maximum(whole, 1.0), _LEAST_VARIANCE_SHARE) / sample.thinned
    S = design.weighted_gram(slopes**2 * errors, every, has_intercept)
    scale = np.sqrt(np.maximum(H.diagonal(), 1e-300))
    unit = _rare_units(problem)
    scale = np.where(H.diagonal() > 0, scale, 1.0)
    values, vectors = np.linalg.eigh(H / scale[:, None] / scale)
    least = 1e-6 * max(float(values[-1]), 1e-100)
    inverse = (vectors / np.maximum(values, least)) @ vectors.T / scale[:, None] / scale
    V = inverse @ S @ inverse
    V[every, every] += unit**2
    size = np.sqrt(np.maximum(V.diagonal(), 1e-300))
    values, vectors = np.linalg.eigh(V / size[:, None] / size)
    factor = vectors * size[:, None] * np.sqrt(np.maximum(values, 0.0))
    return np.ascontiguousarray(factor[:, ::-1].T)


def _sketched(directions: Matrix) -> Matrix:
    """Return a few random combinations with which rows have about the lengths they have."""
    count = directions.shape[0]
    if count <= _SKETCHED_DIRECTIONS:
        return directions
    mix = np.random.default_rng(count).standard_normal((_SKETCHED_DIRECTIONS, count)) / np.sqrt(
        _SKETCHED_DIRECTIONS
    )
    return np.ascontiguousarray(mix @ directions)


def _rare_units(problem: Problem) -> Vector:
    """Return how far coefficients of rare columns may be off: by all that they can be."""
    counts, squares = problem.design.column_counts, problem.design.column_squares()
    size = np.sqrt(squares / np.maximum(counts, 1))
    unit = problem.argument_scale / np.where(size > 0, size, 1.0)
    return np.where(counts < _LEAST_ROWS_WITH_ENTRY, unit, 0.0)


def _lengths(problem: Problem, directions: Matrix) -> Vector:
    """Return ``|D x|`` for every row."""
    moved = np.asarray(problem.design.X @ directions[:, : problem.n_features].T, np.float64)
    if problem.fit_intercept:
        moved += directions[:, -1]
    return np.asarray(np.sqrt((moved * moved).sum(axis=1)))
