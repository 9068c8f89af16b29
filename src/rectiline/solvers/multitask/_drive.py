"""The loop of the multi-task solvers: passes, certificates, limits, callbacks."""

from __future__ import annotations

import math
import time
import warnings
from collections.abc import Callable
from dataclasses import dataclass, field, fields
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rectiline.exceptions import ConvergenceWarning, InfeasibleError
from rectiline.problems import Certificate, DualPoint
from rectiline.problems._multitask import MultiTaskProblem
from rectiline.solvers._base import Progress, Status
from rectiline.solvers._drive import _check_limits, _checked_seed
from rectiline.solvers.multitask._blocks import Block, Space, TaskSteps, thread_count
from rectiline.solvers.multitask._least_squares import LeastSquaresSteps
from rectiline.solvers.multitask.apg import APG
from rectiline.solvers.multitask.apg_joint import JointAPG
from rectiline.solvers.multitask.bcd import BCD, PlainBCD

Vector = NDArray[np.float64]
Matrix = NDArray[np.float64]

__all__ = ["SOLVERS", "MultiTaskSolution", "solve_multitask"]

SOLVERS: dict[str, Any] = {one.name: one for one in (BCD, APG, PlainBCD, JointAPG)}
_LONGEST_BURST = 8
_REPAIR_BELOW = 1e-2


@dataclass(frozen=True, eq=False)
class MultiTaskSolution:
    """The answer, its proof and how it was found.

    Attributes
    ----------
    coef : ndarray of shape (n_features, n_tasks)
    intercept : ndarray of shape (n_tasks,)
    subspace : Subspace
        The soft projector that belongs to the coefficients.
    status : Status
        "solved", "iteration_limit", "time_limit" or "stopped".
    solver : str
    n_iter : int
        Passes over all tasks.
    seconds : float
    dual : list of DualPoint
        Multipliers of each task behind the certificate.
    certificate : Certificate
    reason : str
        Why this solver was used.
    history : tuple of Progress
        The certified points met on the way.
    """

    coef: Matrix
    intercept: Vector
    subspace: Space
    status: Status
    solver: str
    n_iter: int
    seconds: float
    dual: list[DualPoint]
    certificate: Certificate
    reason: str = ""
    history: tuple[Progress, ...] = ()

    @property
    def objective(self) -> float:
        """The primal objective at the answer."""
        return self.certificate.primal

    def __repr__(self) -> str:
        proof = self.certificate
        return (
            f"MultiTaskSolution({self.status.value}, objective={proof.primal:.10g}, "
            f"relative_gap={proof.relative_gap:.1e}, solver={self.solver!r}, n_iter={self.n_iter}, "
            f"seconds={self.seconds:.3g})"
        )


def solve_multitask(
    problem: MultiTaskProblem,
    solver: str = "auto",
    tol: float = 1e-6,
    max_iter: int | None = None,
    time_limit: float | None = None,
    warm_start: MultiTaskSolution | None = None,
    callback: Callable[[Progress], Any] | None = None,
    random_state: int = 0,
    n_threads: int | None = 1,
    **options: Any,
) -> MultiTaskSolution:
    """Solve a multi-task problem and prove how good the answer is.

    Parameters
    ----------
    problem : MultiTaskProblem
    solver : {"auto", "bcd", "apg", "bcd_plain", "apg_joint"}, default="auto"
        "bcd" is accelerated block coordinate descent, the choice of "auto"; "apg" accelerated
        proximal gradients on the coefficients alone. The last two are the methods of the paper,
        kept as references.
    tol : float, default=1e-6
        Largest certified relative gap that counts as solved.
    max_iter : int, optional
        Most passes over the tasks.
    time_limit : float, optional
        Most seconds.
    warm_start : MultiTaskSolution, optional
        Where to start, typically the solution under a similar penalty.
    callback : callable, optional
        Called with a `Progress` after every pass; a true return value stops.
    random_state : int, default=0
    n_threads : int or None, default=1
        Threads that share the tasks; None means one per processor.
    **options
        Options of the named solver.

    Returns
    -------
    MultiTaskSolution

    Warns
    -----
    ConvergenceWarning
        If a limit was reached before the gap closed.
    """
    began = time.perf_counter()
    method, reason = _method(problem, solver, options)
    _check_limits(tol, max_iter, time_limit)
    seed, threads = _checked_seed(random_state), thread_count(n_threads)
    _check_feasible(problem)
    limit = method.default_max_iter if max_iter is None else int(max_iter)
    allowed = math.inf if time_limit is None else float(time_limit)
    steps = (
        LeastSquaresSteps(problem, threads)
        if problem.is_quadratic
        else TaskSteps(problem, seed, threads)
    )
    best = _Best(problem)
    with warnings.catch_warnings():
        # Programs of single tasks may stop short of their tolerance; only the whole counts.
        warnings.simplefilter("ignore", ConvergenceWarning)
        near = best.begin(warm_start)
        space = problem.start_subspace(near.coef)
        state = method.start(problem, steps, near, space)
        done, burst = 0, 1
        while True:
            passes = min(burst, limit - done)
            best.offer(method.advance(state, passes, best.gap))
            done += passes
            record = Progress(method.name, done, time.perf_counter() - began, best.certificate)
            best.history.append(record)
            status = None
            if best.certificate.holds(tol):
                status = Status.SOLVED
            elif callback is not None and callback(record):
                status = Status.STOPPED
            elif record.seconds >= allowed:
                status = Status.TIME_LIMIT
            elif done >= limit:
                status = Status.ITERATION_LIMIT
            if status is not None:
                break
            if problem.is_quadratic and callback is None:
                burst = min(2 * burst, _LONGEST_BURST)
    return best.finish(status, method.name, done, began, tol, reason)


@dataclass(slots=True, eq=False)
class _Best:
    """The best point and the best bound so far; they need not come from the same pass."""

    problem: MultiTaskProblem
    point: Block | None = None
    dual: list[DualPoint] | None = None
    certificate: Certificate = field(
        default_factory=lambda: Certificate(math.inf, math.inf, math.inf, math.inf)
    )
    primal: float = math.inf
    bound: float = -math.inf
    gap: float = math.inf
    history: list[Progress] = field(default_factory=list)

    def begin(self, warm: MultiTaskSolution | None) -> Block:
        """Return the starting point; its certificate tells how exact the first pass has to be."""
        d, m = self.problem.n_features, self.problem.n_tasks
        block = Block.zeros(d, m)
        if warm is not None:
            if warm.coef.shape != (d, m):
                raise ValueError(
                    f"warm_start has coefficients of shape {warm.coef.shape}; this problem needs "
                    f"({d}, {m})."
                )
            fits = all(
                dual.sample.size == task.design.n_samples
                for dual, task in zip(warm.dual, self.problem.tasks)
            )
            intercept = warm.intercept if self.problem.fit_intercept else np.zeros(m)
            block = Block.of(warm.coef, intercept, list(warm.dual) if fits else None)
        proof = self.problem.certify(block.coef, block.intercept, block.dual)
        self.gap = min(proof.gap, abs(proof.primal))
        return block

    def offer(self, block: Block) -> None:
        """Certify a pair and keep what is better of it."""
        problem = self.problem
        if problem.is_constrained and 0.0 < problem.violation(block.coef)[1] < _REPAIR_BELOW:
            columns = [t.base.move_into_constraints(u) for t, u in zip(problem.tasks, block.coef.T)]
            block = Block.of(np.column_stack(columns), block.intercept, block.dual)
        proof, dual = problem.certify_repaired(block.coef, block.intercept, block.dual)
        feasible = proof.relative_violation <= 1e-9
        if (feasible and proof.primal < self.primal) or self.point is None:
            self.point, self.primal = block, proof.primal
        if proof.dual > self.bound or self.dual is None:
            self.dual, self.bound = dual, proof.dual
        if _rank(proof) < _rank(self.certificate):
            self.certificate = proof
        if self.primal - self.bound < 0.95 * self.certificate.gap:
            point = self.point
            mixed = problem.certify(point.coef, point.intercept, self.dual)
            if _rank(mixed) < _rank(self.certificate):
                self.certificate = mixed
        self.gap = min(self.gap, max(self.certificate.gap, 1e-14 * abs(proof.primal)))

    def finish(
        self, status: Status, name: str, done: int, began: float, tol: float, reason: str
    ) -> MultiTaskSolution:
        problem, point, dual = self.problem, self.point, self.dual
        assert point is not None and dual is not None
        proof = problem.certify(point.coef, point.intercept, dual)
        if status in (Status.ITERATION_LIMIT, Status.TIME_LIMIT):
            limit = "max_iter" if status is Status.ITERATION_LIMIT else "time_limit"
            warnings.warn(
                f"Solver {name!r} stopped after {done} passes over the tasks at a certified "
                f"relative gap of {proof.relative_gap:.1e} (tol={tol:.1e}). Raise {limit}, loosen "
                "tol, or scale the columns of X to similar size.",
                ConvergenceWarning,
                stacklevel=3,
            )
        return MultiTaskSolution(
            coef=point.coef,
            intercept=point.intercept,
            subspace=problem.subspace(point.coef),
            status=status,
            solver=name,
            n_iter=done,
            seconds=time.perf_counter() - began,
            dual=dual,
            certificate=proof,
            reason=reason,
            history=tuple(self.history),
        )


def _rank(certificate: Certificate) -> tuple[bool, float]:
    return certificate.relative_violation > 1e-9, certificate.relative_gap


def _method(problem: MultiTaskProblem, solver: str, options: dict[str, Any]) -> tuple[Any, str]:
    if not isinstance(problem, MultiTaskProblem):
        raise TypeError(f"problem must be a MultiTaskProblem; got {type(problem).__name__}.")
    if solver == "auto":
        if options:
            raise TypeError(
                f"solver='auto' takes no solver options; got {', '.join(map(repr, options))}."
            )
        return BCD(), "bcd: accelerated block descent is the quickest on all we measured"
    if solver not in SOLVERS:
        raise ValueError(
            f"solver={solver!r}: must be 'auto' or one of {', '.join(map(repr, SOLVERS))}."
        )
    kind = SOLVERS[solver]
    known = [one.name for one in fields(kind)]
    for option in options:
        if option not in known:
            raise TypeError(f"Solver {solver!r} has no option {option!r}; known: {known}.")
    return kind(**options), "asked for by name"


def _check_feasible(problem: MultiTaskProblem) -> None:
    for t, task in enumerate(problem.tasks):
        if not task.is_constrained:
            continue
        proof = task.base.feasibility.proof
        if proof is not None:
            raise InfeasibleError(f"The constraints of task {t} contradict each other.", proof)
