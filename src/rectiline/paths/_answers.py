"""Answers of a method that nobody has certified yet, and their certificates."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from rectiline.problems import (
    Certificate,
    DualPoint,
    JudgedPairs,
    Problem,
    SlopeMultipliers,
    can_judge,
    certify_all,
    certify_span,
    judge_all,
    judge_slopes,
)
from rectiline.solvers import Progress, Solution, Status

Vector = NDArray[np.float64]
Matrix = NDArray[np.float64]

Multipliers = Matrix | SlopeMultipliers

__all__ = [
    "Answer",
    "Kept",
    "Multipliers",
    "certified",
    "certified_in_span",
    "judged_answers",
    "not_solved",
    "solutions_of",
    "stacked",
]

_AT_ONCE = 300_000  # predictions: more would only ask for fresh memory
_LANES = 8  # pairs that products take together; fewer cost as much


@dataclass(slots=True, eq=False)
class Answer:
    """Coefficients at a strength, and how they were found."""

    strength: float
    coef: Vector
    intercept: float
    steps: int
    seconds: float
    way: str  # name of the solver, and why it was used


@dataclass(slots=True, eq=False)
class Kept:
    """What was worked out for certificates of answers, in pieces, for the next one who asks.

    Pieces are not laid one upon the other: that takes fresh memory.
    """

    predictions: list[Matrix] | None = None  # one row for each answer
    pulls: list[Matrix] = field(default_factory=list)  # -X'g of their multipliers

    def complete(self, count: int) -> Kept:
        """Return what is there for all answers."""
        return Kept(
            self.predictions if self.predictions and _length(self.predictions) == count else None,
            self.pulls if _length(self.pulls) == count else [],
        )


def _length(pieces: list[Matrix]) -> int:
    return sum(len(piece) for piece in pieces)


def certified(
    problem: Problem,
    answers: Sequence[Answer],
    samples: Matrix | None,
    tol: float,
    kept: Kept | None = None,
) -> list[Solution]:
    """Return the answers with their certificates: solved, or at their limit.

    Without `samples` the multipliers are those that belong to the predictions. What was worked out
    goes into `kept`.
    """
    began = time.perf_counter()
    if kept is not None and can_judge(problem):
        judged = judged_answers(problem, answers, samples, kept.predictions)
        kept.pulls.append(judged.terms.q)
        proofs = judged.proofs
    else:
        strengths, coefs, intercepts = _arrays(answers)
        proofs = []
        for some in _pieces(problem, len(answers)):
            mine = None if samples is None else samples[some]
            proofs += certify_all(problem, strengths[some], coefs[some], intercepts[some], mine)
    return solutions_of(answers, proofs, tol, (time.perf_counter() - began) / len(answers))


def judged_answers(
    problem: Problem,
    answers: Sequence[Answer],
    samples: Multipliers | None,
    predictions: list[Matrix] | None = None,
) -> JudgedPairs:
    """Return the same with what proves it, for problems that `can_judge` accepts.

    See `certify_all` for what `predictions` receives, unless multipliers are given by exceptions.
    """
    strengths, coefs, intercepts = _arrays(answers)
    if isinstance(samples, SlopeMultipliers):
        return judge_slopes(problem, strengths, coefs, intercepts, samples)
    parts = []
    for some in _pieces(problem, len(answers)):
        pairs = strengths[some], coefs[some], intercepts[some]
        mine = None if samples is None else samples[some]
        parts.append(judge_all(problem, *pairs, mine, predictions))
    return JudgedPairs.picked([(part, k) for part in parts for k in range(len(part.duals))])


def _arrays(answers: Sequence[Answer]) -> tuple[Vector, Matrix, Vector]:
    """Return strengths, coefficients and intercepts."""
    return (
        np.array([answer.strength for answer in answers]),
        stacked([answer.coef for answer in answers]),
        np.array([answer.intercept for answer in answers]),
    )


def _pieces(problem: Problem, count: int) -> list[slice]:
    at_once = _LANES * max(round(_AT_ONCE / (_LANES * problem.n_samples)), 1)
    return [slice(first, first + at_once) for first in range(0, count, at_once)]


def certified_in_span(
    problem: Problem, answers: Sequence[Answer], samples: Matrix, tol: float
) -> list[Solution]:
    """Return the same for answers given by their multipliers; sets their coefficients."""
    began = time.perf_counter()
    strengths = np.array([answer.strength for answer in answers])
    intercepts = np.array([answer.intercept for answer in answers])
    coefs, proofs = certify_span(problem, strengths, intercepts, samples)
    for answer, coef in zip(answers, coefs, strict=True):
        answer.coef = coef
    return solutions_of(answers, proofs, tol, (time.perf_counter() - began) / len(answers))


def solutions_of(
    answers: Sequence[Answer],
    proofs: Sequence[tuple[Certificate, DualPoint]],
    tol: float,
    share: float = 0.0,
) -> list[Solution]:
    """Return the answers with their certificates, each of which has taken `share` seconds."""
    solutions = []
    for answer, (certificate, dual) in zip(answers, proofs, strict=True):
        seconds = answer.seconds + share
        solver = answer.way.partition(":")[0]
        holds = certificate.holds(tol)
        solutions.append(
            Solution(
                coef=answer.coef,
                intercept=answer.intercept,
                status=Status.SOLVED if holds else Status.ITERATION_LIMIT,
                solver=solver,
                n_iter=answer.steps,
                seconds=seconds,
                dual=dual,
                certificate=certificate,
                reason=answer.way,
                history=(Progress(solver, answer.steps, seconds, certificate),),
            )
        )
    return solutions


def stacked(rows: Sequence[Vector]) -> Matrix:
    """Return the vectors as a matrix: the one that they are the rows of, if there is one."""
    whole = rows[0].base
    if (
        isinstance(whole, np.ndarray)
        and whole.shape == (len(rows), rows[0].size)
        and whole.flags.c_contiguous
        and whole.dtype == np.float64
        and all(
            row.base is whole and np.may_share_memory(row, own)
            for row, own in zip(rows, whole, strict=True)
        )
    ):
        return whole
    return np.array(rows)


def not_solved(solutions: Sequence[Solution]) -> list[int]:
    """Return the places of answers that are not good enough."""
    return [k for k, one in enumerate(solutions) if one.status != Status.SOLVED]
