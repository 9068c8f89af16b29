"""Answers between two others, for losses with kinks under a ridge penalty.

Let (b, g) and (b', g') be pairs without a gap at two strengths, and take a share t of the way from
one to the other, in coefficients and multipliers alike. As losses and their conjugates are convex,
the rows of the pair in between lose at most

    t (1 - t) (z' - z)'(g' - g)  =  t (1 - t) (b' - b)'(q - q'),    q = -X'g = s rho b

and its columns what separates its b from its q / (s rho). Strong penalties leave b close to q / s
with a q that hardly changes: then t grows as 1/s does, next to nothing is lost, and most strengths
need not be looked at.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from rectiline.paths._answers import Answer
from rectiline.problems import Problem

Vector = NDArray[np.float64]
Matrix = NDArray[np.float64]
Index = NDArray[np.int64]

__all__ = ["Anchor", "answers_between", "shares", "skippable"]

_WAY = "newton: between two strengths"


@dataclass(frozen=True, slots=True, eq=False)
class Anchor:
    """An answer with the slopes of the losses of all rows."""

    answer: Answer
    slopes: Vector


def shares(strengths: Vector) -> Vector:
    """Return how far each strength is on the way from the first to the last."""
    inverse = 1.0 / strengths
    return np.asarray((inverse - inverse[0]) / (inverse[-1] - inverse[0]))


def skippable(strengths: Vector, rho: Vector, coefs: Matrix, most: Vector) -> int:
    """Return how many strengths after the first could do with answers from both sides.

    Parameters
    ----------
    strengths : ndarray of shape (k,)
    rho : ndarray of shape (d,)
        Ridge terms at strength 1.
    coefs : ndarray of shape (k, d)
        Answers to a similar problem.
    most : ndarray of shape (k,)
        Largest loss by this.
    """
    count = 0
    q = strengths[:, None] * rho * coefs
    for last in range(2, strengths.size):
        some = slice(0, last + 1)
        t = shares(strengths[some])[1:-1, None]
        b = (1 - t) * coefs[0] + t * coefs[last]
        stiff = strengths[1:last, None] * rho
        off = b - ((1 - t) * q[0] + t * q[last]) / stiff
        rows = (t * (1 - t))[:, 0] * abs((coefs[last] - coefs[0]) @ (q[last] - q[0]))
        if (rows + 0.5 * (stiff * off**2).sum(axis=1) > most[1:last]).any():
            break
        count = last - 1
    return count


def answers_between(
    problem: Problem, strengths: Vector, first: Anchor, last: Anchor, kept: Index
) -> list[tuple[Answer, tuple[Vector, Index, Vector]]]:
    """Return answers at the strengths between two, and their multipliers by exceptions.

    `kept` are rows whose multipliers may be moved to balance the others.
    """
    ends = np.array([first.answer.strength, *strengths, last.answer.strength])
    found = []
    for strength, t in zip(strengths.tolist(), shares(ends)[1:-1].tolist(), strict=True):
        coef = (1 - t) * first.answer.coef + t * last.answer.coef
        intercept = (1 - t) * first.answer.intercept + t * last.answer.intercept
        slopes = (1 - t) * first.slopes
        slopes += t * last.slopes
        values = problem.direction[kept] * problem.weight[kept] * slopes[kept]
        answer = Answer(strength, coef, intercept, 0, 0.0, _WAY)
        found.append((answer, (slopes, kept, values)))
    return found
