"""`solve_multitask`: check the arguments, run the stages on the common driver, give the answer."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from rectiline._costs import SECONDS_PER_ENTRY_CERTIFIED
from rectiline._thread_count import checked_threads
from rectiline._typing import Matrix, Vector
from rectiline.exceptions import InfeasibleError
from rectiline.problems import DualPoint, MultiTaskProblem
from rectiline.solvers._arguments import check_name, checked_limits, solver_kind
from rectiline.solvers._base import Callback, Pair, Stage
from rectiline.solvers._drive import polish_quietly
from rectiline.solvers._run import Run
from rectiline.solvers._solution import Answer, fields_of
from rectiline.solvers._status import Status, warn_about
from rectiline.solvers.multitask._blocks import Space
from rectiline.solvers.multitask.bcd import BCD

Start = tuple[Matrix, Vector, list[DualPoint] | None]

_EXACT_GAP = 1e-12  # relative gap that the sum over exactly solved tasks may have
SOLVERS: dict[str, Any] = {"bcd": BCD}


@dataclass(frozen=True, eq=False, repr=False)
class MultiTaskSolution(Answer[Matrix, Vector, list[DualPoint]]):
    """The answer, its proof and how it was found.

    Attributes
    ----------
    coef : ndarray of shape (n_features, n_tasks)
    intercept : ndarray of shape (n_tasks,)
    subspace : Subspace
        The soft projector that belongs to the coefficients.
    status : Status
        How the solve ended; ``status.advice`` says what to do about it.
    solver : str
    n_iter : int
        Passes over all tasks.
    seconds : float
    dual : list of DualPoint
        Multipliers of each task behind the certificate.
    certificate : Certificate
    reason : str
        Which solvers ran, in this order, and why.
    history : tuple of Progress
        The certified points met on the way.
    """

    subspace: Space = None


def solve_multitask(
    problem: MultiTaskProblem,
    solver: str = "auto",
    tol: float = 1e-6,
    max_iter: int | None = None,
    time_limit: float | None = None,
    warm_start: MultiTaskSolution | None = None,
    callback: Callback | None = None,
    random_state: int | None = 0,
    polish: bool = False,
    n_threads: int | None = 1,
    **options: Any,
) -> MultiTaskSolution:
    """Solve a multi-task problem and prove how good the answer is.

    Parameters
    ----------
    problem : MultiTaskProblem
    solver : {"auto", "bcd"}, default="auto"
        "bcd" is accelerated block coordinate descent, the choice of "auto".
    tol : float, default=1e-6
        Largest certified relative gap that counts as solved.
    max_iter : int, optional
        Most passes over the tasks, of all solvers together.
    time_limit : float, optional
        Most seconds.
    warm_start : MultiTaskSolution, optional
        Where to start, typically the solution under a similar penalty.
    callback : callable, optional
        Called with a `Progress` at every certificate and at least about every 0.2 seconds of work;
        a true return value stops.
    random_state : int or None, default=0
        Seed of every random choice; None means 0.
    polish : bool, default=False
        Whether tasks that turn out to be independent (``problem.is_decoupled``) are made exact up
        to rounding after `tol` is met, as in `rectiline.solve`.
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
        If the gap did not close; it says how far the answer is and what to do.

    Examples
    --------
    >>> import numpy as np
    >>> from rectiline.losses import SquaredError
    >>> from rectiline.problems import MultiTaskProblem
    >>> from rectiline.solvers import solve_multitask
    >>> X = [np.eye(3), np.eye(3)]
    >>> y = [np.array([1.0, 2.0, 3.0]), np.array([2.0, 4.0, 6.0])]
    >>> found = solve_multitask(MultiTaskProblem(X, y, SquaredError()))
    >>> str(found.status), found.certificate.relative_gap <= 1e-6
    ('solved', True)
    """
    threads = checked_threads(-1 if n_threads is None else n_threads)
    stages = _stages(problem, solver, options, threads)
    limits = checked_limits(tol, max_iter, time_limit, random_state, callback)
    stored = sum(task.design.n_stored for task in problem.tasks)
    _check_feasible(problem)
    run = Run(problem, limits, callback, certificate_seconds=SECONDS_PER_ENTRY_CERTIFIED * stored)
    start, author = [_start(problem, warm_start)], stages[0].method.name

    def work() -> Status:
        # The certificate of the start tells how exact the first pass has to be.
        run.best.keep(*start.pop(), author)  # it is as large as an answer: not kept here
        status = run.verdict(limits.tol)
        if status is Status.SOLVED:
            run.reasons.append("the start is already certified")
        else:
            status = run.run_stages(stages, limits.tol)
        if polish and status is Status.SOLVED and problem.is_decoupled:
            _polish_tasks(run)
        return status

    status = run.within_limits(work)
    warn_about(run, status, stacklevel=2)
    found = fields_of(run, status)
    return MultiTaskSolution(**found, subspace=problem.subspace(found["coef"]))


def _stages(
    problem: MultiTaskProblem, solver: str, options: dict[str, Any], n_threads: int
) -> list[Stage]:
    """Return the solver to run: the named one, or block descent."""
    if not isinstance(problem, MultiTaskProblem):
        raise TypeError(f"problem must be a MultiTaskProblem; got {type(problem).__name__}.")
    if solver == "auto":
        if options:
            raise TypeError(
                f"solver='auto' takes no solver options; got {', '.join(map(repr, options))}."
            )
        return [Stage(BCD(n_threads=n_threads), "bcd: accelerated block descent")]
    check_name(solver, ("auto", *SOLVERS))
    kind = solver_kind(solver, SOLVERS, options)  # it refuses no problem
    return [Stage(kind(**{"n_threads": n_threads, **options}), "asked for by name")]


def _start(problem: MultiTaskProblem, warm: MultiTaskSolution | None) -> Start:
    """Return the pair to start from: zeros, or the coefficients of a similar problem."""
    d, m = problem.n_features, problem.n_tasks
    if warm is None:
        return problem.zero_pair()
    if not isinstance(warm, MultiTaskSolution):
        raise TypeError(
            f"warm_start must be a MultiTaskSolution or None; got {type(warm).__name__}."
        )
    if warm.coef.shape != (d, m):
        raise ValueError(
            f"warm_start has coefficients of shape {warm.coef.shape}; this problem needs "
            f"({d}, {m})."
        )
    fits = all(
        dual.sample.size == task.design.n_samples for dual, task in zip(warm.dual, problem.tasks)
    )
    intercept = warm.intercept if problem.fit_intercept else np.zeros(m)
    return warm.coef, intercept, list(warm.dual) if fits else None


def _check_feasible(problem: MultiTaskProblem) -> None:
    for t, task in enumerate(problem.tasks):
        if not task.is_constrained:
            continue
        proof = task.feasibility.proof
        if proof is not None:
            raise InfeasibleError(f"The constraints of task {t} contradict each other.", proof)


def _polish_tasks(run: Run) -> None:
    """Make every task of the best pair exact up to rounding, under the limits of the run."""
    problem: MultiTaskProblem = run.problem
    assert run.best.pair is not None
    coef, intercept, dual = run.best.pair
    space = problem.start_subspace(coef)
    columns, levels, duals = [], [], []
    for t, task in enumerate(problem.tasks):
        step = task.step(space, problem.penalty.eta, 2.0 * problem.penalty.scale)
        rough = Pair(step.variable(coef[:, t]), float(intercept[t]), dual[t])
        seed, author = run.limits.seed, run.best.author
        found = polish_quietly(step.problem, rough, author, seed, run.clock)
        run.n_iter += found.n_iter
        columns.append(step.coef(found.coef))
        levels.append(found.intercept)
        duals.append(found.dual)
    allowed = max(run.best.certificate.relative_gap, _EXACT_GAP)
    run.best.replace(np.column_stack(columns), np.array(levels), duals, allowed)
    run.reasons.append("polish: every task by itself")
    run.report("polish")
