"""The last step of a fit: small problems get their exact answer, and always the same one.

Solvers stop at the tolerance asked for. On small problems an exact answer costs next to nothing
more, and it makes fits reproducible: a sample of weight two and the same sample twice give equal
models.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from rectiline.paths import middle_intercept
from rectiline.problems import Problem
from rectiline.solvers import Solution, Status, solve
from rectiline.solvers._polish import polish

Vector = NDArray[np.float64]

__all__ = ["central_intercept", "central_intercepts", "finish"]

_MOST_SAMPLES = 100_000  # for the search of the intercept, which sorts
_MOST_STORED = 50_000  # entries of X up to which solving further is a matter of milliseconds
_MOST_COLUMNS = 100  # the same
_MOST_STEPS = 100
_EXACT = 1e-12
_INSIDE = 1e-9  # a multiplier this far from its ends, relative, pins the intercept


def finish(problem: Problem, solution: Solution) -> Solution:
    """Return the solution polished, with the middle one of several best intercepts."""
    if solution.status != Status.SOLVED:
        return solution
    solution = _exact(problem, solution)
    intercept = central_intercept(problem, solution)
    if intercept == solution.intercept:
        return solution
    certificate, dual = problem.certify_repaired(solution.coef, intercept, solution.dual)
    if certificate.relative_gap > max(solution.certificate.relative_gap, 1e-14):
        return solution
    return replace(solution, intercept=intercept, certificate=certificate, dual=dual)


def central_intercept(problem: Problem, solution: Solution) -> float:
    """Return the middle one of several best intercepts, where there are several."""
    return float(central_intercepts(problem, [solution])[0])


def central_intercepts(problem: Problem, solutions: Sequence[Solution]) -> Vector:
    """Return the middle ones of several best intercepts, where there are several."""
    found = np.array([one.intercept for one in solutions])
    if not problem.fit_intercept or problem.n_samples > _MOST_SAMPLES:
        return found
    for k, one in enumerate(solutions):
        # A multiplier inside its box leaves one best intercept only.
        if not one.dual.any_inside(problem.rows, _INSIDE):
            found[k] = middle_intercept(problem, one.coef, one.intercept)
    return found


def _exact(problem: Problem, solution: Solution) -> Solution:
    """Polish; where that fails because pieces are still undecided, solve further and try again."""
    polished = polish(problem, solution)
    large = problem.design.n_stored > _MOST_STORED or problem.n_features > _MOST_COLUMNS
    if polished.certificate.relative_gap <= _EXACT or large or not problem.is_separable:
        return polished
    # A callback that stops gives no warning, as a limit would: the answer is good already.
    further = solve(
        problem,
        tol=_EXACT,
        warm_start=polished,
        callback=lambda progress: progress.n_iter >= _MOST_STEPS,
        time_limit=None,
    )
    further = polish(problem, further)
    if further.certificate.relative_gap >= polished.certificate.relative_gap:
        return polished
    return replace(
        polished,
        coef=further.coef,
        intercept=further.intercept,
        dual=further.dual,
        certificate=further.certificate,
    )
