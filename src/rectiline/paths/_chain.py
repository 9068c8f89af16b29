"""Certified answers at some of the strengths, and others between them."""

from __future__ import annotations

import time
from collections.abc import Sequence
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from rectiline.paths._answers import Answer, Kept, Multipliers, judged_answers, solutions_of
from rectiline.problems import (
    Certificate,
    DualPoint,
    JudgedPairs,
    Problem,
    certify_between,
)
from rectiline.solvers import Solution, Status

Vector = NDArray[np.float64]

__all__ = ["ANCHORED", "Chain"]

ANCHORED = 0.7  # share of the tolerance for answers that others will lie between

_WAY = "interpolation: between two strengths"

Entry = tuple[Answer, tuple[Certificate, DualPoint], Vector | None]  # the last: -X'g, if known


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
        self._answers: list[Answer] = []
        self._judged: JudgedPairs | None = None
        self._everyone: tuple[list[Answer], list[Solution], Kept] | None = None

    def add(
        self, places: Sequence[int], answers: Sequence[Answer], samples: Multipliers | None
    ) -> list[Solution]:
        """Judge answers at some places among the strengths, with their multipliers."""
        began = time.perf_counter()
        judged = judged_answers(self._problem, answers, samples)
        share = (time.perf_counter() - began) / len(answers)
        for answer in answers:
            answer.seconds += share
        found = solutions_of(answers, judged.proofs, self._tol)
        parts = [judged] if self._judged is None else [self._judged, judged]
        everywhere = [*self._places, *places[: len(answers)]]
        all_answers = [*self._answers, *answers]
        order = np.argsort(everywhere).tolist()
        self._places = [everywhere[k] for k in order]
        self._answers = [all_answers[k] for k in order]
        self._judged = JudgedPairs.joined(parts).some(order)
        self._everyone = None
        return found

    def middles(self) -> list[int]:
        """Return places in the middle of those where answers between two others do not hold."""
        _, solutions, _ = self._all()
        first, found = self._places[0], []
        for one, other in pairwise(self._places):
            inner = range(one + 1, other)
            failed = [k for k in inner if solutions[k - first].status != Status.SOLVED]
            if failed:
                found.append(failed[len(failed) // 2])
        return found

    def solutions(self, kept: Kept | None = None) -> tuple[list[Answer], list[Solution]]:
        """Return answers and solutions from the first place to the last, and all in between."""
        answers, solutions, known = self._all()
        if kept is not None:
            kept.pulls.extend(known.pulls)
        return answers, solutions

    def _all(self) -> tuple[list[Answer], list[Solution], Kept]:
        """Return answers, solutions and their pulls, where they are known, in order."""
        if self._everyone is not None:
            return self._everyone
        judged = self._judged
        assert judged is not None
        places = set(self._places)
        inner = [k for k in range(self._places[0], self._places[-1]) if k not in places]
        entries: dict[int, Entry] = {
            place: (answer, proof, pull)
            for place, answer, proof, pull in zip(
                self._places, self._answers, judged.proofs, judged.terms.q, strict=True
            )
        }
        if inner:
            entries |= self._between(judged, inner)
        ordered = [entries[place] for place in sorted(entries)]
        answers = [answer for answer, _, _ in ordered]
        solutions = solutions_of(answers, [proof for _, proof, _ in ordered], self._tol)
        pulls = [pull[None] for _, _, pull in ordered if pull is not None]
        self._everyone = answers, solutions, Kept(None, pulls)
        return self._everyone

    def _between(self, judged: JudgedPairs, places: list[int]) -> dict[int, Entry]:
        began = time.perf_counter()
        strengths = self._strengths[places]
        pairs = certify_between(judged, strengths)
        share = (time.perf_counter() - began) / len(pairs)
        return {
            place: (
                Answer(strength, pair.coef, pair.intercept, 0, share, _WAY),
                (pair.certificate, pair.dual),
                pair.pull,
            )
            for place, strength, pair in zip(places, strengths.tolist(), pairs, strict=True)
        }
