"""A path on few of the samples, to tell where the one on all of them will go.

Most of the rows stay on one piece of their loss from strength to strength. Few of the samples
tell well enough which ones do not, and the path on all of them looks at those only.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from rectiline.paths._guide import Guide
from rectiline.problems import Problem
from rectiline.solvers import Follower, Solution

Vector = NDArray[np.float64]

__all__ = ["Scout", "scouting_part"]

_SHARE = 16  # one sample in so many goes ahead
_SIZE = 200_000  # entries of X from which on that pays
_LEAST_ROWS = 50  # per column, of those who go ahead; and of either class
_LEAST_STRENGTHS = 8
_LEAST_TOL = 5e-4  # smaller ones look at all rows in the end


class Scout(Guide):
    """A guide with the problem on all samples, and solutions on few of them; `kept` has pulls."""

    may_lend = False  # it knows nothing about most of the samples

    def start(self, part: Problem) -> Solution | None:
        """Return None: multipliers of few samples say nothing about the others."""
        return None


def scouting_part(problem: Problem, strengths: Vector, tol: float) -> Problem | None:
    """Return the problem on few of its samples, if it pays to go ahead with them."""
    n, d = problem.n_samples, problem.n_features
    if (
        problem.design.n_stored < _SIZE
        or n < _SHARE * _LEAST_ROWS * d
        or strengths.size < _LEAST_STRENGTHS
        or tol < _LEAST_TOL
        or not problem.slope_width[1]
        or problem.columns.has_l1
        or not Follower.accepts(problem, tol)
    ):
        return None
    # One of every few neighbours: tables may be sorted, or have a rhythm.
    jump = np.random.default_rng(0).integers(0, _SHARE, n // _SHARE)
    rows = np.arange(jump.size) * _SHARE + jump
    rows = rows[problem.weight[rows] > 0]
    sides = problem.direction[rows] > 0
    if problem.losses[0].of == "margin":
        rarest = min(np.count_nonzero(sides), np.count_nonzero(~sides))
    else:
        rarest = rows.size
    if rarest < _LEAST_ROWS * d // 2:
        return None
    weight = problem.weight[rows]
    return problem.on_rows(rows, weight * (problem.weight.sum() / weight.sum()))
