"""Dinkelbach's ascent to the smallest strength without coefficients, for `_multiplier_program`.

With the losses L(b), the best intercept included, that strength is the maximum of

    (L(0) - L(b)) / |b|    over all b,    |b| the L1 norm of the penalty at strength 1.

The b that is optimal at one strength gives the next strength. Every b proves a lower bound, so the
first steps are rough ones of `newton`; on linear programs, where b moves from vertex to vertex, the
exact steps after them come to an end.
"""

from __future__ import annotations

import warnings

import numpy as np

from rectiline._typing import Vector
from rectiline.exceptions import ConvergenceWarning
from rectiline.penalties import L1
from rectiline.problems import Problem
from rectiline.problems.forms import LinearProgramForm
from rectiline.solvers import Generation, Session, solve

__all__ = ["ascend", "can_ascend"]

_STEPS = 16  # rough ones, and exact ones
_FEW_COLUMNS = 1000  # up to which rough steps by `newton` pay
_LOWER, _LOOKS = 0.02, 3  # factor, and number, of first strengths to try until one has coefficients
_ROUGH_TOL, _TOL = 1e-2, 3e-11  # of rough and of exact steps
_FIRST_TOL = 1e-4  # of the first step where there are no rough ones
_SAME = 1e-13  # relative change of the strength that counts as none
_ROUNDING = 1e-15  # of the losses: what their difference may owe to rounding


def can_ascend(problem: Problem) -> bool:
    """Return whether the problem is a linear program that `generation` takes."""
    return (
        isinstance(problem.penalty, L1)
        and problem.is_separable
        and not problem.is_constrained
        and bool((problem.columns.l1 > 0).all())
        and LinearProgramForm.accepts(problem) is None
        and Generation.refuses(problem) is None
    )


def ascend(problem: Problem, start: float, intercept: float) -> tuple[float, Vector] | None:
    """Return a lower bound on the strength, and multipliers that prove little more.

    None if it does not get to the end.

    Parameters
    ----------
    problem : Problem
        With an `L1` penalty of any strength; one that `can_ascend` accepts.
    start : float
        The first strength to try.
    intercept : float
        The best one without coefficients.
    """
    norm = problem.penalty
    assert isinstance(norm, L1)
    one, losses = norm.with_strength(1.0), problem.with_penalty(None)
    at_zero = losses.objective(np.zeros(problem.n_features), intercept)

    def at(strength: float) -> Problem:
        return problem.with_penalty(norm.with_strength(strength))

    def proved(coef: Vector, b0: float) -> float:
        if not coef.any():
            return 0.0
        gained = at_zero - losses.objective(coef, b0) - _ROUNDING * at_zero
        return gained / one.value(coef)

    with warnings.catch_warnings():  # a fit that ends early is a start all the same
        warnings.simplefilter("ignore", ConvergenceWarning)
        is_rough = problem.n_features <= min(problem.n_samples, _FEW_COLUMNS)
        first = ("newton", _ROUGH_TOL) if is_rough else ("auto", _FIRST_TOL)
        for _ in range(_LOOKS):
            found = solve(at(start), *first)
            strength = proved(found.coef, found.intercept)
            if strength > 0:
                break
            start *= _LOWER
        else:
            return None
        for _ in range(_STEPS if is_rough else 0):
            again = solve(at(strength), *first, warm_start=found)
            higher = proved(again.coef, again.intercept)
            if higher <= strength * (1 + _ROUGH_TOL):
                break
            strength, found = higher, again
        session = Session()
        for _ in range(_STEPS):
            found = solve(at(strength), "generation", _TOL, warm_start=found, session=session)
            if not found.certificate.holds(_TOL):
                return None
            higher = proved(found.coef, found.intercept)
            if higher <= strength * (1 + _SAME):
                return strength, found.dual.sample
            strength = higher
    return None
