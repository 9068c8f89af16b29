"""Certified answers at some of the strengths, and others between them."""

from __future__ import annotations

import time
from collections.abc import Sequence
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from rectiline.paths._answers import Answer, Kept, Multipliers, judged_answers, solutions_of
from rectiline.problems import JudgedPairs, Problem, certify_between
from rectiline.solvers import Solution, Status

Vector = NDArray[np.float64]
Matrix = NDArray[np.float64]

__all__ = ["Chain"]

_WAY = "interpolation: between two strengths"

Found = tuple[list[Answer], list[Solution], list[Vector]]  # the last: -X'g, where known


class Chain:
    """Answers in the order of their strengths.

    Parameters
    ----------
    problem : Problem
        At any strength, one that `can_judge` accepts.
    strengths : ndarray
        From large to small.
    tol : float
        Relative gap that answers are to be certified to.
    """

    def __init__(self, problem: Problem, strengths: Vector, tol: float) -> None:
        self._problem, self._strengths, self._tol = problem, strengths, tol
        self._places: list[int] = []
        self._links: list[tuple[Answer, JudgedPairs, int]] = []  # pair number k of some
        self._between: dict[tuple[int, int], Found] = {}

    def add(
        self, places: Sequence[int], answers: Sequence[Answer], samples: Multipliers | None
    ) -> list[Solution]:
        """Judge answers at some places among the strengths, with their multipliers."""
        began = time.perf_counter()
        judged = judged_answers(self._problem, answers, samples)
        share = (time.perf_counter() - began) / len(answers)
        for k, (place, answer) in enumerate(zip(places, answers, strict=False)):
            answer.seconds += share
            at = int(np.searchsorted(self._places, place))
            self._places.insert(at, place)
            self._links.insert(at, (answer, judged, k))
        return solutions_of(answers, judged.proofs, self._tol)

    def middles(self) -> list[int]:
        """Return places in the middle of those where answers between two others do not hold."""
        found = []
        for ends in pairwise(range(len(self._places))):
            first = self._places[ends[0]] + 1
            failed = [
                first + k
                for k, one in enumerate(self._inner(*ends)[1])
                if one.status != Status.SOLVED
            ]
            if failed:
                found.append(failed[len(failed) // 2])
        return found

    def solutions(self, kept: Kept | None = None) -> tuple[list[Answer], list[Solution]]:
        """Return answers and solutions from the first place to the last, and all in between."""
        answers: list[Answer] = []
        solutions: list[Solution] = []
        for end, (answer, judged, k) in enumerate(self._links):
            answers.append(answer)
            solutions += solutions_of([answer], [judged.proofs[k]], self._tol)
            pulls = [judged.terms.q[k]]
            if end + 1 < len(self._links):
                inner = self._inner(end, end + 1)
                answers += inner[0]
                solutions += inner[1]
                pulls += inner[2]
            if kept is not None:
                kept.pulls.append(np.array(pulls))
        return answers, solutions

    def _inner(self, first: int, last: int) -> Found:
        """Return what lies between one answer and the next."""
        key = self._places[first], self._places[last]
        if key not in self._between:
            self._between[key] = self._mixed(first, last)
        return self._between[key]

    def _mixed(self, first: int, last: int) -> Found:
        inner = self._strengths[self._places[first] + 1 : self._places[last]]
        if not inner.size:
            return [], [], []
        began = time.perf_counter()
        ends = [judged.some([k]) for _, judged, k in (self._links[first], self._links[last])]
        pairs = certify_between(JudgedPairs.joined(ends), 0, inner)
        share = (time.perf_counter() - began) / len(pairs)
        answers = [
            Answer(strength, pair.coef, pair.intercept, 0, share, _WAY)
            for strength, pair in zip(inner.tolist(), pairs, strict=True)
        ]
        proofs = [(pair.certificate, pair.dual) for pair in pairs]
        pulls = [pair.pull for pair in pairs if pair.pull is not None]
        return answers, solutions_of(answers, proofs, self._tol), pulls
