"""Answers at many strengths at once, for losses and penalties without kinks.

There the answers are smooth functions of the strength and of the weights of the samples, and their
multipliers follow from their predictions. So few of them have to be looked for.
"""

from __future__ import annotations

import time

import numpy as np
from numpy.typing import NDArray
from scipy.interpolate import CubicSpline

from rectiline.paths._answers import (
    Answer,
    certified,
    judged_answers,
    not_solved,
    solutions_of,
)
from rectiline.problems import Problem, SlopeMultipliers
from rectiline.solvers import LeaveOut, Solution

Vector = NDArray[np.float64]
Matrix = NDArray[np.float64]

__all__ = ["between", "left_out"]

_MOST_AGAIN = 0.5  # of the answers: with more that are not good enough, steps lead astray
_MORE_STEPS = 2  # Newton steps from an answer on more samples, after the first


def left_out(
    problem: Problem, strengths: Vector, leave_out: LeaveOut, tol: float
) -> tuple[list[Answer], list[Solution]]:
    """Return answers by steps from those on more samples, at all strengths, with certificates."""
    began = time.perf_counter()
    steps = leave_out.to(problem)
    pairs = steps.step()
    seconds = (time.perf_counter() - began) / strengths.size
    answers = [
        Answer(float(strength), coef, float(intercept), 1, seconds, "newton: from more samples")
        for strength, coef, intercept in zip(strengths, *pairs, strict=True)
    ]
    # Few samples balance the intercept; where that is not enough, the next step has all do it.
    own = SlopeMultipliers.own(problem, len(answers))
    solutions = solutions_of(answers, judged_answers(problem, answers, own).proofs, tol)
    for _ in range(_MORE_STEPS):
        failed = not_solved(solutions)
        if not failed or len(failed) > _MOST_AGAIN * len(solutions):
            break
        coefs = np.array([answers[k].coef for k in failed])
        intercepts = np.array([answers[k].intercept for k in failed])
        pairs = steps.step_again(failed, coefs, intercepts)
        for k, coef, intercept in zip(failed, *pairs, strict=True):
            answers[k].coef, answers[k].intercept = coef, float(intercept)
            answers[k].steps += 1
        again = certified(problem, [answers[k] for k in failed], None, tol)
        for k, solution in zip(failed, again, strict=True):
            solutions[k] = solution
    return answers, solutions


def between(strengths: Vector, known: list[Answer], beside: Matrix | None = None) -> list[Answer]:
    """Return answers at all strengths, where not known by a cubic in their logarithm.

    `beside`: answers at all strengths to a similar problem, intercepts last; then the distance to
    them is what the cubic is of.
    """
    there = {answer.strength: answer for answer in known}
    pairs = np.array([np.append(answer.coef, answer.intercept) for answer in known])
    if beside is not None:
        pairs -= beside[[strength in there for strength in strengths.tolist()]]
    curve = CubicSpline(-np.log([answer.strength for answer in known]), pairs)
    all_pairs = curve(-np.log(strengths))
    if beside is not None:
        all_pairs += beside
    found = []
    for strength, b in zip(strengths.tolist(), all_pairs, strict=True):
        new = Answer(strength, b[:-1], float(b[-1]), 0, 0.0, "newton: between two strengths")
        found.append(there.get(strength, new))
    return found
