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
    Problem,
    SlopeMultipliers,
    can_judge,
    certify_all,
    certify_between,
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
    "certified_slopes",
    "not_solved",
    "stacked",
]

_AT_ONCE = 300_000  # predictions: more would only ask for fresh memory
_LANES = 8  # pairs that products take together; fewer cost as much
_BETWEEN = "newton: between two strengths"


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

    predictions: list[Matrix] = field(default_factory=list)  # one row for each answer
    pulls: list[Matrix] = field(default_factory=list)  # -X'g of their multipliers

    def complete(self, count: int) -> Kept:
        """Return what is there for all answers."""
        whole = [part if _length(part) == count else [] for part in (self.predictions, self.pulls)]
        return Kept(*whole)


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
    for them goes into `kept`.
    """
    began = time.perf_counter()
    strengths = np.array([answer.strength for answer in answers])
    coefs = stacked([answer.coef for answer in answers])
    intercepts = np.array([answer.intercept for answer in answers])
    proofs = []
    at_once = _LANES * max(round(_AT_ONCE / (_LANES * problem.n_samples)), 1)
    for first in range(0, len(answers), at_once):
        some = slice(first, first + at_once)
        pairs = strengths[some], coefs[some], intercepts[some]
        mine = None if samples is None else samples[some]
        if kept is not None and can_judge(problem):
            judged = judge_all(problem, *pairs, mine, kept.predictions)
            kept.pulls.append(judged.q)
            proofs += judged.proofs
        else:
            proofs += certify_all(problem, *pairs, mine)
    return _solutions(answers, proofs, tol, (time.perf_counter() - began) / len(answers))


def certified_slopes(
    problem: Problem,
    answers: Sequence[Answer],
    samples: SlopeMultipliers,
    tol: float,
    kept: Kept | None = None,
    between: Sequence[Vector] = (),
) -> tuple[list[Answer], list[Solution]]:
    """Return the same for multipliers that are slopes, but for some.

    With answers at the strengths `between` each one and the next.
    """
    began = time.perf_counter()
    strengths = np.array([answer.strength for answer in answers])
    coefs = stacked([answer.coef for answer in answers])
    intercepts = np.array([answer.intercept for answer in answers])
    judged = judge_slopes(problem, strengths, coefs, intercepts, samples)
    everyone, proofs = [], []
    for k, answer in enumerate(answers):
        everyone.append(answer)
        proofs.append(judged.proofs[k])
        if kept is not None:
            kept.pulls.append(judged.q[k : k + 1])
        if k < len(between) and between[k].size:
            found = certify_between(judged, k, between[k])
            for strength, one in zip(between[k].tolist(), found, strict=True):
                everyone.append(Answer(strength, one.coef, one.intercept, 0, 0.0, _BETWEEN))
                proofs.append((one.certificate, one.dual))
            if kept is not None:
                kept.pulls.append(np.array([one.pull for one in found]))
    share = (time.perf_counter() - began) / len(everyone)
    return everyone, _solutions(everyone, proofs, tol, share)


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
    return _solutions(answers, proofs, tol, (time.perf_counter() - began) / len(answers))


def _solutions(
    answers: Sequence[Answer],
    proofs: list[tuple[Certificate, DualPoint]],
    tol: float,
    share: float,
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
