"""The entrances of the solver `passes`: one problem for `solve`, and families of problems."""

from __future__ import annotations

import math
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from typing import Any

import numpy as np

from rectiline._thread_count import using_threads
from rectiline.exceptions import UnsupportedProblemError
from rectiline.problems import Certificate, DualPoint, InfeasibilityCertificate, Problem
from rectiline.solvers._arguments import checked_limits
from rectiline.solvers._base import Callback
from rectiline.solvers._run import RunLimits
from rectiline.solvers._solution import Solution
from rectiline.solvers._status import Status
from rectiline.solvers.passes._rounds import solve_in_passes, warn_unsolved
from rectiline.solvers.passes._start import Declined

__all__ = ["check_takes_rows", "solve_family", "solve_rows", "try_passes"]

_TRIED_PASSES = 8


def solve_rows(
    problem: Any,
    solver: str,
    limits: RunLimits,
    callback: Callback | None,
    options: dict[str, Any],
    warns: bool = True,
) -> Solution:
    """Return the solution of one problem, in memory or on rows in blocks; for `solve`."""
    if not isinstance(problem, Problem):
        raise TypeError(f"problem must be a rectiline.Problem; got {type(problem).__name__}.")
    check_takes_rows(solver, options)
    return _solve_feasible([problem], limits, [callback], warns)[0]


def try_passes(
    problem: Problem, limits: RunLimits, callback: Callback | None
) -> tuple[Solution | None, RunLimits]:
    """Return the answer of a few passes over a problem in memory, and the limits that are left.

    The answer is None if passes do not suit the problem: most rows are near a knot, or the gap does
    not close. Another solver goes on then.
    """
    began = time.perf_counter()
    few = replace(limits, max_iter=_TRIED_PASSES)
    found: Solution | None = None
    with suppress(Declined):
        found = solve_in_passes([problem], few, [callback], warns=False, declines=True)[0]
    if found is not None:
        ended = found.status in (Status.SOLVED, Status.STOPPED, Status.TIME_LIMIT)
        if not ended or not math.isfinite(found.certificate.gap):
            found = None
        else:
            warn_unsolved(found, limits.tol, stacklevel=4)
    if limits.time_limit is not None:
        left = limits.time_limit - (time.perf_counter() - began)
        limits = replace(limits, time_limit=max(left, 1e-3))
    return found, limits


def check_takes_rows(solver: str, options: Mapping[str, Any]) -> None:
    """Raise if the named solver, or an option, is not for rows in blocks."""
    if solver not in ("auto", "passes"):
        raise UnsupportedProblemError(
            f"Solver {solver!r} cannot take this problem: its rows are in blocks. Solvers that "
            "can: passes."
        )
    if options:
        raise TypeError(f"Solver 'passes' has no option {next(iter(options))!r}; it takes none.")


def _solve_feasible(
    family: list[Problem],
    limits: RunLimits,
    callbacks: Sequence[Callback | None],
    warns: bool = True,
) -> list[Solution]:
    """Return the solutions, proofs for those whose constraints contradict each other."""
    regions = [one.terms.region for one in family]
    proofs = [one.contradiction for one in regions]
    able = [place for place, proof in enumerate(proofs) if proof is None]
    solved = []
    if able:
        told = [callbacks[place] for place in able]
        solved = solve_in_passes([family[k] for k in able], limits, told, warns)
    left = iter(solved)
    return [
        next(left) if proof is None else _infeasible(problem, proof)
        for problem, proof in zip(family, proofs, strict=True)
    ]


def _infeasible(problem: Problem, proof: InfeasibilityCertificate) -> Solution:
    n = problem.n_samples if problem.is_in_memory else 0
    return Solution(
        coef=np.full(problem.n_features, math.nan),
        intercept=math.nan,
        status=Status.INFEASIBLE,
        solver="none",
        n_iter=0,
        seconds=0.0,
        dual=DualPoint(np.zeros(n), proof.inequality, proof.equality),
        certificate=Certificate(math.inf, math.inf, math.inf, math.inf),
        reason="the constraints contradict each other",
        infeasibility=proof,
    )


def solve_family(
    problems: Sequence[Problem],
    tol: float = 1e-6,
    max_iter: int | None = None,
    time_limit: float | None = None,
    callback: Callback | Sequence[Callback | None] | None = None,
    random_state: int = 0,
    n_threads: int | None = None,
) -> list[Solution]:
    """Solve several problems on the same rows together, each block read once for all of them.

    Parameters
    ----------
    problems : sequence of Problem
        They share X (the same array), or their rows in blocks, and agree about the intercept.
        Losses, weights, penalties and constraints may differ.
    tol : float, default=1e-6
        Largest certified relative gap that counts as solved.
    max_iter : int, optional
        Most passes over the rows; 30 by default.
    time_limit : float, optional
        Most seconds.
    callback : callable or sequence of callables, optional
        Called with a `Progress` for every problem after each pass; a true return value stops. A
        sequence holds one for each problem, or None.
    random_state : int, default=0
        Seed of the sample.
    n_threads : int, optional
        Threads of passes over X, see `rectiline.set_threads`.

    Returns
    -------
    list of Solution

    Examples
    --------
    >>> import numpy as np
    >>> import rectiline as rl
    >>> rng = np.random.default_rng(0)
    >>> X = rng.standard_normal((20_000, 3))
    >>> y = X.sum(axis=1) + rng.standard_normal(20_000)
    >>> rows = rl.rows.from_arrays(X, y)
    >>> levels = [rl.Problem(rows, loss=rl.losses.Pinball(q)) for q in (0.1, 0.5, 0.9)]
    >>> solutions = rl.solve_family(levels)
    >>> [solution.certificate.relative_gap <= 1e-6 for solution in solutions]
    [True, True, True]
    """
    family = _checked_family(problems)
    callbacks = list(callback) if isinstance(callback, Sequence) else [callback] * len(family)
    if len(callbacks) != len(family):
        raise ValueError(
            f"callback must hold one callable or None for each of the {len(family)} problems; got "
            f"{len(callbacks)}."
        )
    for one in callbacks:
        limits = checked_limits(tol, max_iter, time_limit, random_state, one)
    # What overflows is not finite, and never certified.
    with np.errstate(all="ignore"), using_threads(n_threads):
        return _solve_feasible(family, limits, callbacks)


def _checked_family(problems: Sequence[Problem]) -> list[Problem]:
    """Return the problems, or say why they do not share their rows."""
    family = list(problems)
    if not family:
        raise ValueError("problems must hold at least one problem.")
    for one in family:
        if not isinstance(one, Problem):
            raise TypeError(f"problems must hold Problem objects; got {type(one).__name__}.")
    if len({one.fit_intercept for one in family}) > 1:
        raise ValueError("problems of a family must agree about fit_intercept.")
    for place, one in enumerate(family):
        if not one.source.shares_rows(family[0].source):
            rule = "has another X than problems[0]; a family shares one array."
            if not one.is_in_memory:
                rule = "is on other rows than problems[0]."
            raise ValueError(f"problems[{place}] {rule}")
    return family
