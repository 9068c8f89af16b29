"""`passes`: problems on many rows, in a few passes over them.

1. Draw a sample and solve on it; its sampling error says how far the answer may be (`_reach`).
2. First pass: split. Rows farther than that from every knot of their loss are frozen on their
   piece: together they are one linear and one quadratic term. The others are kept.
3. Solve the reduced problem: kept rows, that term, penalty and constraints (`_reduced`).
4. Next pass: judge the answer on all rows, and split again around it within a smaller reach. If the
   certificate refuses the answer, go on with 3. A first answer on rows in memory, where a pass is
   cheap, is only judged if it is expected to be good: the split is another pass if it is refused.

Several problems on the same rows (a family) share their passes: each block is read once for all of
them.
"""

from __future__ import annotations

import math
import time
import warnings
import weakref
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from rectiline._polling import Deadline, OutOfTime, asked_at_checkpoints, checkpoint, time_left
from rectiline.exceptions import ConvergenceWarning
from rectiline.problems import DualPoint, Problem
from rectiline.problems.blocks import (
    BlockData,
    BlockSamples,
    PassState,
    Query,
    SplitDual,
    Totals,
    run_pass,
)
from rectiline.rows import TensorRows
from rectiline.solvers._base import Callback
from rectiline.solvers._run import RunLimits
from rectiline.solvers._show import PassProgress
from rectiline.solvers._solution import Solution
from rectiline.solvers._status import Status
from rectiline.solvers.passes._draw import draw, sample_size
from rectiline.solvers.passes._member import Member
from rectiline.solvers.passes._reach import rows_for_reach
from rectiline.solvers.passes._start import SAMPLE_TOL, Answer, start_members

Vector = NDArray[np.float64]

__all__ = ["MOST_PASSES", "solve_in_passes", "warn_unsolved"]

MOST_PASSES = 30
_SECONDS_PER_ENTRY = 3e-9  # of a pass over rows in memory, for one problem
_DIRECT = 50_000  # rows of a sample that is solved as it is
_NESTED = 16  # rows of a device for one of its sample
_NESTED_PASSES = 4


def solve_in_passes(
    problems: Sequence[Problem],
    limits: RunLimits,
    callbacks: Sequence[Callback | None],
    warns: bool = True,
    declines: bool = False,
) -> list[Solution]:
    """Return the solutions of problems that share their rows; each has a callback, or None.

    With `declines`, problems with too many rows near a knot raise `Declined`.
    """
    began = time.perf_counter()
    tol, seed = limits.tol, limits.seed
    reserve, first = 0.0, problems[0]
    if first.is_in_memory:  # multipliers on all rows take a pass for each problem after the last
        reserve = _SECONDS_PER_ENTRY * (1 + len(problems)) * first.design.n_stored
    limit = min(math.inf if limits.time_limit is None else limits.time_limit, time_left())
    deadline, keeper = began + max(limit - reserve, 0.0), Deadline(limit)
    max_passes = MOST_PASSES if limits.max_iter is None else limits.max_iter
    members: list[Member] = []
    passes, status = 0, Status.ITERATION_LIMIT
    try:
        with asked_at_checkpoints(None):  # on a sample, whose solver knows the deadline
            answers = _solve_nested(problems, seed, deadline)
            few = None if answers is None else rows_for_reach(problems[0].n_features)
            with asked_at_checkpoints(keeper):
                sample = draw(problems[0], seed, few, _listener(problems[0], callbacks, 0))
            members = start_members(problems, callbacks, sample, answers, tol, deadline, declines)
        status = Status.TIME_LIMIT
        with asked_at_checkpoints(keeper):
            if _split(members, 1, deadline):
                passes = 1
                status, passes = _rounds(members, tol, max_passes, deadline, began)
    except OutOfTime:
        status = Status.TIME_LIMIT
        members = members or [Member.at_zero(problem) for problem in problems]
        passes = max(len(member.history) + member.n_splits for member in members)
    except KeyboardInterrupt:
        if not members or any(member.best is None for member in members):
            raise
        status = Status.STOPPED
    told = tol if warns else None
    with asked_at_checkpoints(None):  # an answer has a certificate, whatever the time
        return [_finish(member, status, passes, began, told) for member in members]


def _solve_nested(problems: Sequence[Problem], seed: int, deadline: float) -> list[Answer] | None:
    """Return answers on a large sample that stays on its device, or None.

    None: the rows are elsewhere, or so few that a sample of the usual size does.

    Passes over rows on a device cost next to nothing beside the reduced problems, which are solved
    on the host. So the sample is as large as can be: its error is small, and few rows are near.
    """
    first = problems[0]
    blocks = first.blocks
    if not isinstance(blocks, TensorRows):
        return None
    n, d = first.n_samples, first.n_features
    if sample_size(n, d) <= max(_DIRECT, 1000 * d):
        return None
    at, stands_for = blocks.spread(n // _NESTED, seed, first.source.classes[0])
    rows = blocks.picked(at, stands_for)
    size = rows.n_rows
    left = deadline - time.perf_counter()
    limits = RunLimits(
        tol=float(np.clip(0.5 * d / size, 1e-9, SAMPLE_TOL)),
        max_iter=_NESTED_PASSES,
        time_limit=max(left, 1e-3) if math.isfinite(left) else None,
        seed=seed,
    )
    silent = [None] * len(problems)
    inner = [
        Problem.of(BlockData(rows, cast(BlockSamples, one.samples)), one.terms) for one in problems
    ]
    found = solve_in_passes(inner, limits, silent, warns=False)
    return [Answer(one.coef, one.intercept, one.objective, size) for one in found]


def _run(members: Sequence[Member], queries: list[Any], number: int, deadline: float) -> Any:
    """Run a pass, the `number`-th, and tell everybody who listens how far it is."""
    checkpoint()
    problem = members[0].problem
    seconds = deadline - time.perf_counter()
    at_hand = isinstance(problem.blocks, TensorRows) or problem.is_in_memory
    state = PassState(tuple(queries), problem.fit_intercept, max(seconds, 0.0), copies=not at_hand)
    told = [member.callback for member in members]
    return run_pass(problem.blocks, state, _listener(problem, told, number))


def _listener(
    problem: Problem, callbacks: Sequence[Callback | None], number: int
) -> Callable[[int], None] | None:
    """Return what is called with the rows done during a pass; None if nobody wants to know."""
    blocks = problem.blocks
    told = [cast(PassProgress, one) for one in callbacks if hasattr(one, "during_pass")]

    def tell(done: int) -> None:
        for one in told:
            one.during_pass(number, done, blocks.n_rows if blocks.knows_n_rows else None)

    return tell if told else None


def _split(members: list[Member], number: int, deadline: float) -> bool:
    """Run a pass that only splits, as the first one; return False if the time was up."""
    queries = [member.first_query() for member in members]
    found: list[Totals] | None = _run(members, queries, number, deadline)
    if found is None:
        return False
    for member, totals in zip(members, found, strict=True):
        member.take_first(totals)
    return True


def _rounds(
    members: list[Member],
    tol: float,
    max_passes: int,
    deadline: float,
    began: float,
) -> tuple[Status, int]:
    """Solve, judge and split again until every answer is certified; return why it ended."""
    passes = 1
    while passes < max_passes:
        active = [member for member in members if not member.is_solved]
        unsplit = [member for member in active if member.needs_split]
        if unsplit:
            if passes + 1 == max_passes:  # no pass would be left to judge with
                break
            if not _split(unsplit, passes + 1, deadline):
                return Status.TIME_LIMIT, passes
            passes += 1
        for member in active:
            member.solve_reduced(tol, deadline)
        queries = [member.query() for member in active]
        found = _run(active, queries, passes + 1, deadline)
        if found is None:
            return Status.TIME_LIMIT, passes
        passes += 1
        stop = False
        for member, totals in zip(active, found, strict=True):
            member.take(totals, tol, passes, began)
            if member.is_limited:
                _sharpen(member, tol)
            stop = member.tell() or stop
        left = [member for member in members if not member.is_solved]
        if not left:
            return Status.SOLVED, passes
        if stop:
            return Status.STOPPED, passes
        if all(member.is_limited for member in left):
            return Status.PRECISION_LIMIT, passes
        if time.perf_counter() >= deadline:
            return Status.TIME_LIMIT, passes
    return Status.ITERATION_LIMIT, passes


def _sharpen(member: Member, tol: float) -> None:
    """Certify the best pair again where only rounding in the sums of a pass seems to be wrong.

    The proof of problems in memory bounds rounding more sharply than sums over blocks can.
    """
    given = member.problem
    if not given.is_in_memory or member.best is None:
        return
    coef, intercept, dual = member.best
    full = _full_dual(member, given, dual)
    proof = given.certify(coef, intercept, full)
    if proof.relative_gap < member.certificate.relative_gap:
        member.certificate, member.full_dual, member.is_solved = proof, full, proof.holds(tol)
        member.history[-1] = replace(member.history[-1], certificate=proof)


def _finish(
    member: Member, status: Status, passes: int, began: float, tol: float | None
) -> Solution:
    """Return the answer; warn about one that is not what was asked for, unless `tol` is None."""
    if member.is_solved:
        status = Status.SOLVED
    proof = member.certificate
    given = member.problem if member.problem.is_in_memory else None
    everywhere = member.full_dual
    if member.best is None:
        nothing = SplitDual(member.coef, member.intercept, np.zeros(0, dtype=np.int64), np.zeros(0))
        member.best = (member.coef, member.intercept, nothing)
        if given is not None:  # nothing has been judged: zeros, which takes no pass
            zero = np.zeros(given.n_features)
            proof, everywhere = given.prove(zero, 0.0, given.zero_dual())
            member.best = (zero, 0.0, nothing)
    coef, intercept, dual = member.best
    if everywhere is None and given is not None:
        everywhere = _full_dual(member, given, dual)
    solution = Solution(
        coef=coef,
        intercept=intercept,
        status=status,
        solver="passes",
        n_iter=passes,
        seconds=time.perf_counter() - began,
        dual=dual if everywhere is None else everywhere,  # type: ignore[arg-type]
        certificate=proof,
        reason=f"passes: {member.problem.blocks.shown_rows} rows, few of them near a knot",
        history=tuple(member.history),
        problem=None if given is None else weakref.ref(given),
        feature_names=None if given is None else given.feature_names,
        passes=passes,
        rows_kept=member.rows_kept,
    )
    if tol is not None:
        warn_unsolved(solution, tol, stacklevel=6)
    return solution


def warn_unsolved(solution: Solution, tol: float, stacklevel: int) -> None:
    """Warn about an answer that is not what was asked for."""
    if not solution.status.deserves_warning:
        return
    proof = solution.certificate
    where = (
        f"at a certified relative gap of {proof.relative_gap:.1e} (tol={tol:.1e}) and a constraint "
        f"violation of {proof.violation:.1e}"
    )
    if math.isinf(proof.relative_gap):
        where = "before an answer was judged on all rows: nothing is certified"
    warnings.warn(
        f"'passes' ended ({solution.status.value}) after {solution.passes} passes {where}. "
        f"{solution.status.advice}",
        ConvergenceWarning,
        stacklevel=stacklevel,
    )


def _full_dual(member: Member, problem: Problem, dual: SplitDual) -> DualPoint:
    """Return multipliers of all rows of a problem in memory."""
    coef, intercept, _ = member.best or (member.coef, member.intercept, dual)
    is_last = member.out is not None and coef is member.coef
    sample = member.out if is_last else frozen_multipliers(problem, coef, intercept, dual)
    assert sample is not None
    sample[dual.rows] = dual.values
    if dual.share != 1.0:
        sample *= dual.share
    return DualPoint(sample, dual.share * dual.inequality, dual.share * dual.equality)


def frozen_multipliers(problem: Problem, coef: Vector, intercept: float, dual: SplitDual) -> Vector:
    """Return the multipliers of frozen rows, with one pass over a problem in memory."""
    out = np.empty(problem.n_samples)
    split = (dual.split_coef, dual.split_intercept)
    query = Query(problem.samples, coef, intercept, split=split, listed=dual.rows, out=out)
    run_pass(problem.blocks, PassState((query,), problem.fit_intercept))
    return out
