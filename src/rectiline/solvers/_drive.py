"""One loop for all solvers: bursts, certificates, limits, callbacks."""

from __future__ import annotations

import math
import time
import warnings
import weakref
from dataclasses import fields, replace
from typing import Any

import numpy as np

from rectiline.exceptions import ConvergenceWarning, UnsupportedProblemError
from rectiline.problems import Certificate, DualPoint, Problem
from rectiline.problems.forms import Form
from rectiline.solvers._base import (
    Budget,
    Callback,
    Pair,
    Progress,
    Solution,
    Solver,
    Stage,
    Status,
    Vector,
    infeasible_solution,
)
from rectiline.solvers._choose import SOLVERS, check_name, choose, zero_may_do
from rectiline.solvers._session import Session
from rectiline.solvers._threads import limited_threads

__all__ = ["solve"]

_LONGEST_BURST = 320
_USELESS = 0.9  # relative gap of a pair that an earlier solver left and no other starts from
_TIGHTEN = 0.3  # a target that was reached but not certified is tightened by this factor
_MOST_REFUSED = 8  # uncertified answers of a solver before the next one takes over
_MOST_IDLE = 3  # bursts without an iteration that end a stage
_FEASIBLE = 1e-9  # relative violation that counts as rounding
_REPAIR_BELOW = 1e-2  # relative violations below this are worth repairing


def solve(
    problem: Problem,
    solver: str = "auto",
    tol: float = 1e-6,
    max_iter: int | None = None,
    time_limit: float | None = None,
    warm_start: Solution | None = None,
    callback: Callback | None = None,
    random_state: int = 0,
    session: Session | None = None,
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
        Most iterations, in the solver's own unit; the default depends on the solver.
    time_limit : float, optional
        Most seconds.
    warm_start : Solution, optional
        Where to start, typically the solution of a similar problem.
    callback : callable, optional
        Called with a `Progress` at every certificate; a true return value stops.
    random_state : int, default=0
        Seed of every random choice.
    session : Session, optional
        Carries the state of the solver from one call to the next, for problems in a row.
    **options
        Options of the named solver, see its class; ``n_threads`` also with "auto".

    Returns
    -------
    Solution

    Warns
    -----
    ConvergenceWarning
        If a limit was reached before the gap closed; it says how far the answer is and what to do.

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
    """
    began = time.perf_counter()
    plan = _plan(problem, solver, options, warm_start is not None)
    _check_limits(tol, max_iter, time_limit)
    seed = _checked_seed(random_state)
    if callback is not None and not callable(callback):
        raise TypeError(f"callback must be callable or None; got {callback!r}.")
    if session is not None and not isinstance(session, Session):
        raise TypeError(f"session must be a rectiline.solvers.Session or None; got {session!r}.")
    allowed = math.inf if time_limit is None else float(time_limit)
    proof = problem.feasibility.proof if problem.has_constraint_rows else None
    if proof is not None:
        return infeasible_solution(problem, proof, time.perf_counter() - began)

    best = _Best(problem, warm_start)
    session = Session() if session is None else session
    hot = session.take(plan[0].method, problem)
    if hot is None and best.pair is not None and best.keep(*best.pair).holds(tol):
        reasons = ["the warm start is already certified"]
        return _finish(best, Status.SOLVED, plan[0].method, reasons, 0, began, tol)
    if solver == "auto" and warm_start is None and zero_may_do(problem) and best.try_zero(tol):
        reasons = ["zero coefficients are already certified"]
        return _finish(best, Status.SOLVED, plan[0].method, reasons, 0, began, tol)
    reasons = []
    done = 0
    with limited_threads(problem):
        for stage in plan:
            if stage is not plan[0] and stage.method.refuses(problem) is not None:
                continue
            method = stage.method
            reasons.append(stage.reason)
            limit = method.default_max_iter if max_iter is None else int(max_iter)
            form = method.form.apply(problem)
            if hot is None:
                useless = stage is not plan[0] and best.certificate.relative_gap > _USELESS
                state = method.start(form, None if useless else best.point_for(form), seed)
            else:
                state, hot = hot, None
            done, burst, target, refused, idle = 0, method.first_burst, 0.9 * tol, 0, 0
            while True:
                left = max(allowed - (time.perf_counter() - began), 0.0)
                known = best.certificate.primal if math.isfinite(best.certificate.primal) else None
                step = method.advance(state, Budget(min(burst, limit - done), left, target, known))
                done += step.iterations
                certificate = best.offer(form, method.point(state))
                record = Progress(method.name, done, time.perf_counter() - began, best.certificate)
                best.history.append(record)
                status = None
                stop = callback is not None and callback(record)
                if best.certificate.holds(tol):
                    status = Status.SOLVED
                elif stop:
                    status = Status.STOPPED
                elif record.seconds >= allowed:
                    status = Status.TIME_LIMIT
                elif done >= limit:
                    status = Status.ITERATION_LIMIT
                idle = idle + 1 if step.iterations == 0 else 0
                if status is not None or step.exhausted or idle >= _MOST_IDLE:
                    break
                if step.reached:
                    target *= _TIGHTEN
                    refused += 1
                if refused >= _MOST_REFUSED and stage is not plan[-1]:
                    break  # this solver believes in answers that cannot be certified
                method.learn(state, certificate)
                burst = min(2 * burst, _LONGEST_BURST)
            session.keep(method, state)
            if status not in (None, Status.ITERATION_LIMIT):
                break
    return _finish(best, status or Status.ITERATION_LIMIT, method, reasons, done, began, tol)


class _Best:
    """The best certified pair so far, and how it got there."""

    def __init__(self, problem: Problem, warm: Solution | None) -> None:
        self.problem = problem
        self.certificate = Certificate(math.inf, math.inf, math.inf, math.inf)
        self.pair = _warm_pair(problem, warm)
        self.history: list[Progress] = []

    def point_for(self, form: Form) -> Any:
        """Return the best pair in the terms of `form`, or None when there is nothing yet."""
        return None if self.pair is None else form.point_of(*self.pair)

    def offer(self, form: Form, point: Any) -> Certificate:
        """Certify a pair, moved into the constraints where nearly there, and keep the best."""
        coef, intercept, dual = form.invert(point)
        if self.problem.is_constrained:
            coef = self.problem.clip_to_bounds(coef)
            if 0.0 < self.problem.violation(coef)[1] < _REPAIR_BELOW:
                coef = self.problem.move_into_constraints(coef)
        return self.keep(coef, intercept, dual)

    def try_zero(self, tol: float) -> bool:
        """Return whether zero coefficients are good enough; they are no point to start from."""
        zero = np.zeros(self.problem.n_features)
        slopes = DualPoint(self.problem.rows.slopes(np.zeros(self.problem.n_samples)))
        if self.keep(zero, 0.0, slopes).holds(tol):
            return True
        self.pair = None
        self.certificate = Certificate(math.inf, math.inf, math.inf, math.inf)
        return False

    def keep(self, coef: Vector, intercept: float, dual: DualPoint) -> Certificate:
        """Certify a pair and keep it if it is the best so far."""
        certificate, repaired = self.problem.certify_repaired(coef, intercept, dual)
        if _rank(certificate) < _rank(self.certificate):
            self.certificate = certificate
            self.pair = (coef, intercept, repaired)
        return certificate


def _rank(certificate: Certificate) -> tuple[bool, float]:
    """Feasible points first, then whichever of gap and violation is worse."""
    if certificate.relative_violation <= _FEASIBLE:
        return False, certificate.relative_gap
    return True, max(certificate.relative_gap, certificate.relative_violation)


def _finish(
    best: _Best,
    status: Status,
    method: Solver,
    reasons: list[str],
    done: int,
    began: float,
    tol: float,
) -> Solution:
    proof = best.certificate
    if status in (Status.ITERATION_LIMIT, Status.TIME_LIMIT):
        limit = "max_iter" if status is Status.ITERATION_LIMIT else "time_limit"
        warnings.warn(
            f"Solver {method.name!r} stopped after {done} iterations at a certified relative gap "
            f"of {proof.relative_gap:.1e} (tol={tol:.1e}) and a constraint violation of "
            f"{proof.violation:.1e}. Raise {limit}, loosen tol, or scale the columns of X to "
            "similar size.",
            ConvergenceWarning,
            stacklevel=3,
        )
    assert best.pair is not None
    coef, intercept, dual = best.pair
    return Solution(
        coef=coef,
        intercept=intercept,
        status=status,
        solver=method.name,
        n_iter=done,
        seconds=time.perf_counter() - began,
        dual=dual,
        certificate=proof,
        reason="; then ".join(reasons),
        history=tuple(best.history),
        problem=weakref.ref(best.problem),
    )


def _plan(
    problem: Problem, solver: str, options: dict[str, Any], warm: bool = False
) -> list[Stage]:
    """Return the solvers to run in turn: one if named, those of `choose` otherwise."""
    if not isinstance(problem, Problem):
        raise TypeError(f"problem must be a rectiline.Problem; got {type(problem).__name__}.")
    if solver == "auto":
        unknown = [option for option in options if option != "n_threads"]
        if unknown:
            raise TypeError(
                "solver='auto' takes no option but n_threads; got "
                f"{', '.join(map(repr, unknown))}. Name a solver to set its options."
            )
        return [_with_threads(stage, options) for stage in choose(problem, warm)]
    check_name(solver)
    kind = SOLVERS[solver]
    known = [field.name for field in fields(kind)]  # type: ignore[arg-type]
    for option in options:
        if option not in known:
            raise TypeError(
                f"Solver {solver!r} has no option {option!r}; its options are "
                f"{', '.join(map(repr, known))}."
            )
    refusal = kind.refuses(problem)
    if refusal is not None:
        able = [other for other, one in SOLVERS.items() if one.refuses(problem) is None]
        hint = f" Solvers that can: {', '.join(able)}." if able else ""
        raise UnsupportedProblemError(
            f"Solver {solver!r} cannot take this problem: {refusal}.{hint}"
        )
    return [Stage(kind(**options), "asked for by name")]


def _with_threads(stage: Stage, options: dict[str, Any]) -> Stage:
    """Return the stage with the asked number of threads, if its solver uses threads."""
    names = [field.name for field in fields(stage.method)]  # type: ignore[arg-type]
    if not options or "n_threads" not in names:
        return stage
    return replace(stage, method=replace(stage.method, **options))  # type: ignore[type-var]


def _check_limits(tol: float, max_iter: int | None, time_limit: float | None) -> None:
    if not (isinstance(tol, (int, float, np.floating)) and 0 < tol < 1):
        raise ValueError(f"tol={tol!r}: must be a number strictly between 0 and 1.")
    if max_iter is not None and not (
        isinstance(max_iter, (int, np.integer)) and not isinstance(max_iter, bool) and max_iter > 0
    ):
        raise ValueError(f"max_iter={max_iter!r}: must be a positive integer or None.")
    if time_limit is not None and not (
        isinstance(time_limit, (int, float, np.number)) and time_limit > 0
    ):
        raise ValueError(f"time_limit={time_limit!r}: must be a positive number of seconds.")


def _checked_seed(random_state: int) -> int:
    if isinstance(random_state, bool) or not isinstance(random_state, (int, np.integer)):
        raise ValueError(f"random_state={random_state!r}: must be an integer.")
    if not 0 <= random_state < 2**32:
        raise ValueError(f"random_state={random_state!r}: must lie in [0, 2**32).")
    return int(random_state)


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
    rows = problem.constraint_rows
    dual = warm.dual
    if dual.inequality.size != rows.c.size or dual.equality.size != rows.f.size:
        dual = DualPoint(dual.sample, np.zeros(rows.c.size), np.zeros(rows.f.size))
    return warm.coef, warm.intercept if problem.fit_intercept else 0.0, dual
