"""`solve`: check the arguments, plan the stages, run them, and put the answer together."""

from __future__ import annotations

import math
from contextlib import nullcontext
from dataclasses import replace
from typing import Any

import numpy as np

from rectiline._costs import (
    SECONDS_PER_ENTRY,
    SECONDS_PER_ENTRY_CERTIFIED,
    SECONDS_PER_PRODUCT,
    SECONDS_PER_ROW_CERTIFIED,
    SECONDS_PER_SPARSE_ENTRY_COPIED,
)
from rectiline._polling import Clock, OutOfTime, asked_at_checkpoints, time_left
from rectiline._thread_count import using_threads
from rectiline._typing import Vector
from rectiline.exceptions import UnsupportedProblemError
from rectiline.problems import DualPoint, InfeasibilityCertificate, Problem
from rectiline.problems.forms import CompositeForm
from rectiline.problems.proofs import balancing_products
from rectiline.solvers._arguments import SOLVERS, check_name, checked_limits, solver_kind
from rectiline.solvers._base import Callback, Pair, RunLimits, Session, Stage
from rectiline.solvers._choose import choose, followers, remaining, zero_may_be_optimal
from rectiline.solvers._family import check_takes_rows, solve_together
from rectiline.solvers._polish import POLISH_STAGE, polish_answer
from rectiline.solvers._run import Run
from rectiline.solvers._screening import evaluated
from rectiline.solvers._show import showing
from rectiline.solvers._solution import Solution, answer_of, note_answers
from rectiline.solvers._status import Status, warn_about
from rectiline.solvers._threads import limited_threads

_BALANCING_PASSES = 6  # over the free columns in one certificate
_LOOSEST_TOLERANCE = 0.5  # every solved pair meets it
_BALANCED_SHARE = 0.5  # of the range of a multiplier: what free columns may be off balance
_GAP_WORTH_A_PROOF = 2.0  # times the tolerance: estimated gap of a warm start


def solve(
    problem: Problem,
    solver: str = "auto",
    tol: float = 1e-6,
    max_iter: int | None = None,
    time_limit: float | None = None,
    warm_start: Solution | None = None,
    callback: Callback | None = None,
    random_state: int | None = 0,
    polish: bool = False,
    session: Session | None = None,
    verbose: bool = False,
    progress_bar: bool = False,
    n_threads: int | None = None,
    **options: Any,
) -> Solution:
    """Solve a problem and prove how good the answer is.

    Parameters
    ----------
    problem : Problem
    solver : str, default="auto"
        Name of a solver, or "auto" to let the library choose; the reason is in the solution.
    tol : float, default=1e-6
        Largest certified relative gap that counts as solved.
    max_iter : int, optional
        Most iterations of all solvers together, each in its own unit; by default every solver that
        runs has a limit of its own.
    time_limit : float, optional
        Most seconds of the whole call.
    warm_start : Solution, optional
        Where to start, typically the solution of a similar problem.
    callback : callable, optional
        Called with a `Progress` at every certificate and at least about every 0.2 seconds of work;
        a true return value stops.
    random_state : int or None, default=0
        Seed of every random choice; None means 0.
    polish : bool, default=False
        Whether to go on after `tol` is met, under the same limits, to an answer that is exact up
        to rounding, where that is cheap (small problems with a separable penalty).
    session : Session, optional
        Carries the state of the solver from one call to the next, for problems in a row.
    verbose : bool, default=False
        Whether to print a line at every certificate, and how the solve ended.
    progress_bar : bool, default=False
        Whether to draw a bar, with rich or else tqdm: how far the certified gap has come on the
        way to `tol`, on a logarithmic scale.
    n_threads : int, optional
        Threads of passes over X and of Newton matrices, -1 for one per core; see
        `rectiline.set_threads`. Results have the same bits for any number.
    **options
        Options of the named solver, see its class.

    Returns
    -------
    Solution

    Raises
    ------
    NoAnswerError
        If a time limit or the callback ended the solve before any answer was known.

    Warns
    -----
    ConvergenceWarning
        If the gap did not close; it says how far the answer is and what to do.

    Examples
    --------
    >>> import numpy as np
    >>> import rectiline as rl
    >>> rng = np.random.default_rng(0)
    >>> X = rng.standard_normal((200, 5))
    >>> y = X @ np.arange(5.0) + rng.standard_normal(200)
    >>> problem = rl.Problem(X, y, loss=rl.losses.Pinball(0.9), penalty=rl.penalties.Ridge(0.1))
    >>> solution = rl.solve(problem)
    >>> solution.status == "solved" and solution.certificate.relative_gap <= 1e-6
    True
    >>> exact = rl.solve(problem, polish=True)
    >>> exact.certificate.relative_gap <= 1e-12
    True
    """
    limits = checked_limits(tol, max_iter, time_limit, random_state, callback)
    if not isinstance(problem, Problem):
        raise TypeError(f"problem must be a rectiline.Problem; got {type(problem).__name__}.")
    # What overflows is not finite, and only finite pairs are ever certified.
    quiet, threads = np.errstate(all="ignore"), using_threads(n_threads)
    shows = verbose or progress_bar
    shown = showing(callback, verbose, progress_bar, tol) if shows else nullcontext(callback)
    with quiet, threads, shown as told:
        if solver == "passes" or not problem.is_in_memory:
            check_takes_rows(solver, options)
            return solve_together([problem], limits, [told], warm=[warm_start], **options)[0]
        warm = _warm_pair(problem, warm_start)
        author = "" if warm_start is None else warm_start.solver
        run, status, proof = _run(
            problem, solver, options, limits, warm, told, session, polish, author=author
        )
    warn_about(run, status, stacklevel=2)
    solution = answer_of(run, status, proof)
    if verbose:
        print(solution)
    return solution


def solve_quietly(
    problem: Problem,
    tol: float,
    solver: str = "auto",
    warm: Pair | None = None,
    seed: int = 0,
    clock: Clock | None = None,
) -> Solution:
    """Solve a part of a larger problem: no warnings, and under the clock of the whole."""
    limits = RunLimits(tol, None, None, seed)
    if warm is not None:
        warm = warm._replace(dual=_fitting_dual(problem, warm.dual))
    return answer_of(*_run(problem, solver, {}, limits, warm, outer=clock))


def polish_quietly(problem: Problem, rough: Pair, author: str, seed: int, clock: Clock) -> Solution:
    """Make the answer of a part of a larger problem exact, without warnings."""
    run = Run(problem, RunLimits(_LOOSEST_TOLERANCE, None, None, seed), outer=clock)
    run.best.keep(*rough, author)
    polish_answer(run, lambda: choose(problem, warm=True))
    return answer_of(run, Status.SOLVED, None)


def _run(
    problem: Problem,
    solver: str,
    options: dict[str, Any],
    limits: RunLimits,
    warm: Pair | None = None,
    callback: Callback | None = None,
    session: Session | None = None,
    wants_polish: bool = False,
    outer: Clock | None = None,
    author: str = "warm start",
) -> tuple[Run, Status, InfeasibilityCertificate | None]:
    """Run the stages; return the run, how it ended, and the proof if there is no feasible point."""
    named: list[Stage] = []
    is_timed = limits.time_limit is not None or time_left() < math.inf
    run = Run(problem, limits, callback, outer, _certificate_seconds(problem) if is_timed else 0.0)
    try:
        with asked_at_checkpoints(run):  # looking at the squares of sparse columns takes time
            named = _named_plan(problem, solver, options)
    except OutOfTime:
        run.check_answered(Status.TIME_LIMIT)
    if session is not None and not isinstance(session, Session):
        raise TypeError(f"session must be a rectiline.solvers.Session or None; got {session!r}.")
    proof = problem.terms.region.contradiction
    if proof is not None:
        return run, Status.INFEASIBLE, proof

    def work() -> Status:
        if warm is not None and _start_holds(run, warm, author, session):
            return Status.SOLVED
        plan = named or choose(problem, warm is not None, limits.tol)
        hot = None if session is None else session.take(plan[0].method, problem)
        if warm is None and hot is None and not named and _zero_holds(run, plan[0].method.name):
            return Status.SOLVED
        status = run.run_stages(plan, limits.tol, state=hot)
        if status is not Status.SOLVED:
            run.best.keep_start()
        if not named and status in (Status.STALLED, Status.ITERATION_LIMIT):
            others = [POLISH_STAGE, *remaining(plan), POLISH_STAGE]
            again = run.run_stages(others, limits.tol)
            status = again if again is not Status.STALLED else status
        status = run.limited(status)
        if session is not None and run.moving is not None and not run.ran_out:
            session.keep(*run.moving[1:])
        return status

    def polished() -> Status:
        status = work()
        if wants_polish and status is Status.SOLVED:
            polish_answer(run, lambda: named or choose(problem, warm=True))
        return status

    try:
        with limited_threads(problem):
            return run, run.within_limits(polished), None
    except KeyboardInterrupt as stop:
        run.best.keep_start()
        note_answers(stop, [run])
        raise


def _certificate_seconds(problem: Problem) -> float:
    """Return a guess at what a certificate takes: products with X, and balancing free columns."""
    design, n_free = problem.design, problem.terms.free_columns.size
    passes = SECONDS_PER_ENTRY_CERTIFIED + (_BALANCING_PASSES * SECONDS_PER_ENTRY if n_free else 0)
    if design.is_sparse and n_free:  # into the system that balances them
        passes += SECONDS_PER_SPARSE_ENTRY_COPIED
    seconds = passes * design.n_stored + SECONDS_PER_ROW_CERTIFIED * problem.n_samples
    return seconds + SECONDS_PER_PRODUCT * balancing_products(design, n_free)


def _start_holds(run: Run, warm: Pair, author: str, session: Session | None) -> bool:
    """Whether a warm start is certified as it is; otherwise solvers may start from it.

    A proof is only asked for where an estimate says that it may succeed, or where a limit or a
    callback could leave nothing better; a solver that goes on from its own state looks by itself.
    """
    limits, run.best.start = run.limits, (*warm, author)
    if session is not None and session.is_hot:
        return False
    is_limited = limits.max_iter is not None or limits.time_limit is not None
    may_stop = (is_limited or run.callback is not None) and session is None
    if not may_stop and not _may_hold(run.problem, warm, limits.tol):
        return False
    run.best.keep_start()
    if run.verdict(limits.tol) is not Status.SOLVED:
        return False
    run.reasons.append("the warm start is already certified")
    return True


@np.errstate(all="ignore")  # what overflows is not finite, and never good enough
def _may_hold(problem: Problem, pair: Pair, tol: float) -> bool:
    """Whether a pair is good enough by an estimate, which takes one pass over X."""
    form = CompositeForm.apply(problem)
    point, z, q = evaluated(form, form.point_of(*pair))
    free = form.free_columns
    if free.size:  # samples on knots are to balance these columns; each may have little room left
        low, high = problem.dual_boxes
        off = np.abs(q[free]) * math.sqrt(z.size) / form.design.norm_bounds.columns[free]
        most_off = max(float(off.max()), problem.fit_intercept * abs(float(point.sample.sum())))
        if most_off > _BALANCED_SHARE * float(np.mean(high - low)):
            return False
    primal, gap = form.gap(point, z, q)
    return gap <= _GAP_WORTH_A_PROOF * tol * abs(primal)


def _zero_holds(run: Run, author: str) -> bool:
    """Whether zero coefficients, where they may be optimal, are certified."""
    problem, tol = run.problem, run.limits.tol
    if not zero_may_be_optimal(problem):
        return False
    coef, intercept, slopes = problem.zero_pair()
    proof = problem.prove(coef, intercept, slopes, tol)
    if not proof.certificate.holds(tol):  # they are no point to start from
        return False
    run.best.keep(coef, intercept, slopes, author, lambda *_: proof)
    run.reasons.append("zero coefficients are already certified")
    return True


def _named_plan(problem: Problem, solver: str, options: dict[str, Any]) -> list[Stage]:
    """Return the solver of that name and what follows it; nothing for "auto"."""
    if solver == "auto":
        if options:
            raise TypeError(
                f"solver='auto' takes no options; got {', '.join(map(repr, options))}. "
                "Name a solver to set its options."
            )
        return []
    check_name(solver)
    kind = solver_kind(solver, SOLVERS, options)
    method = kind(**options)
    refusal = method.refuses(problem)
    if refusal is not None:
        able = [other for other, one in SOLVERS.items() if one().refuses(problem) is None]
        hint = f" Solvers that can: {', '.join(able)}." if able else ""
        raise UnsupportedProblemError(
            f"Solver {solver!r} cannot take this problem: {refusal}.{hint}"
        )
    return [Stage(method, "asked for by name"), *followers(method, problem)]


def _warm_pair(problem: Problem, warm: Solution | None) -> Pair | None:
    if warm is None:
        return None
    if not isinstance(warm, Solution):
        raise TypeError(f"warm_start must be a Solution or None; got {type(warm).__name__}.")
    if warm.coef.shape != (problem.n_features,) or warm.dual.sample.shape != (problem.n_samples,):
        raise ValueError(
            f"warm_start solves a problem with {warm.dual.sample.size} samples and "
            f"{warm.coef.size} features; this one has {problem.n_samples} and "
            f"{problem.n_features}."
        )
    if not np.isfinite(warm.coef).all():
        return None
    intercept = warm.intercept if problem.fit_intercept else 0.0
    dual = _fitting_dual(problem, warm.dual)
    earlier = warm.problem
    if earlier is not None and earlier.is_in_memory and earlier.data is not problem.data:
        dual = replace(dual, sample=_in_ranges_of(problem, earlier, dual.sample))
    return Pair(warm.coef, intercept, dual)


def _in_ranges_of(problem: Problem, earlier: Problem, sample: Vector) -> Vector:
    """Return multipliers of an earlier problem at the same places of their ranges in this one.

    Samples on a slope at an end of its range keep to it, and samples on a knot between two slopes
    stay between these.
    """
    (low, high), (first, last) = problem.dual_boxes, earlier.dual_boxes
    moved = low + (sample - first) * ((high - low) / (last - first))
    return np.where(np.isfinite(moved), moved, sample)  # ranges without an end or a width


def _fitting_dual(problem: Problem, dual: DualPoint) -> DualPoint:
    """Return multipliers with zeros for constraint rows that they do not know."""
    rows = problem.constraint_rows
    if dual.inequality.size == rows.c.size and dual.equality.size == rows.f.size:
        return dual
    return DualPoint(dual.sample, np.zeros(rows.c.size), np.zeros(rows.f.size))
