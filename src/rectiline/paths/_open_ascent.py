"""From below to the smallest strength that leaves no coefficients, for linear programs.

With the losses L(b), the best intercept included, that strength is the maximum of

    (L(0) - L(b)) / |b|    over all b.

The b that is best at one strength leads to the next strength (Dinkelbach's method). As b moves from
vertex to vertex, the steps come to an end, and every one of them proves a lower bound.
"""

from __future__ import annotations

import warnings

import numpy as np
from numpy.typing import NDArray

from rectiline.exceptions import ConvergenceWarning
from rectiline.penalties import L1
from rectiline.problems import Problem
from rectiline.solvers import BasisFollower, solve

Vector = NDArray[np.float64]

__all__ = ["ascend", "can_ascend"]

_STEPS = 16
_LOWER, _LOOKS = 0.02, 3  # where, and how often, to look for coefficients if there are none yet
_ROUGH_TOL, _TOL = 1e-4, 3e-11  # at first, and by pivots
_SAME = 1e-13  # change of the strength that is none
_ROUNDING = 1e-15  # of the losses: what their difference may owe to rounding


def can_ascend(problem: Problem) -> bool:
    """Whether the problem is a linear program that pivots can solve."""
    return BasisFollower.accepts(problem, _TOL)


def ascend(problem: Problem, start: float, intercept: float) -> tuple[float, Vector] | None:
    """Return the strength, a lower bound on it, and multipliers that prove little more.

    Parameters
    ----------
    problem : Problem
        With an `L1` penalty of any strength; one that `can_ascend` accepts.
    start : float
        Where to look first.
    intercept : float
        The best one without coefficients.
    """
    norm = problem.penalty
    assert isinstance(norm, L1)
    one, losses = norm.with_strength(1.0), problem.with_penalty(None)
    at_zero = losses.objective(np.zeros(problem.n_features), intercept)

    def proved(coef: Vector, b0: float) -> float:
        if not coef.any():
            return 0.0
        gained = at_zero - losses.objective(coef, b0) - _ROUNDING * at_zero
        return gained / one.value(coef)

    for _ in range(_LOOKS):
        with warnings.catch_warnings():  # whatever it is will do as a start
            warnings.simplefilter("ignore", ConvergenceWarning)
            first = solve(problem.with_penalty(norm.with_strength(start)), tol=_ROUGH_TOL)
        strength = proved(first.coef, first.intercept)
        if strength > 0:
            break
        start *= _LOWER
    else:
        return None
    follower = BasisFollower(problem, _TOL)
    follower.place(first.coef, first.intercept, first.dual.sample)
    for _ in range(_STEPS):
        found = follower.move(strength, seconds=np.inf)
        if found is None:
            return None
        higher = proved(*found[:2])
        if higher <= strength * (1 + _SAME):
            return strength, follower.multipliers
        strength = higher
    return None
