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
from rectiline.solvers import Solution

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
        self._found: dict[int, Entry] = {}  # what was looked for, by places,
        self._pairs: dict[int, tuple[JudgedPairs, int]] = {}  # and what proves it
        self._between: dict[tuple[int, int], dict[int, Entry]] = {}  # any two of the places

    def add(
        self, places: Sequence[int], answers: Sequence[Answer], samples: Multipliers | None
    ) -> list[Solution]:
        """Judge answers at some places among the strengths, with their multipliers."""
        began = time.perf_counter()
        judged = judged_answers(self._problem, answers, samples)
        share = (time.perf_counter() - began) / len(answers)
        for k, (place, answer) in enumerate(zip(places, answers, strict=False)):
            answer.seconds += share
            self._found[place] = answer, judged.proofs[k], judged.terms.q[k]
            self._pairs[place] = judged, k
        return solutions_of(answers, judged.proofs, self._tol)

    def middles(self) -> list[int]:
        """Return places in the middle of those where answers between two others do not hold."""
        found = []
        for entries in self._inner():
            failed = [k for k, (_, [proof, _], _) in entries.items() if not proof.holds(self._tol)]
            if failed:
                found.append(failed[len(failed) // 2])
        return found

    def solutions(self, kept: Kept | None = None) -> tuple[list[Answer], list[Solution]]:
        """Return answers and solutions from the first place to the last, and all in between."""
        entries = dict(self._found)
        for inner in self._inner():
            entries |= inner
        ordered = [entries[place] for place in sorted(entries)]
        answers = [answer for answer, _, _ in ordered]
        if kept is not None:
            kept.pulls.extend(pull[None] for _, _, pull in ordered if pull is not None)
        return answers, solutions_of(answers, [proof for _, proof, _ in ordered], self._tol)

    def _inner(self) -> list[dict[int, Entry]]:
        """Return the answers between neighbours, by places; those that are new are worked out."""
        places = sorted(self._found)
        neighbours = [(one, other) for one, other in pairwise(places) if other > one + 1]
        new = [here for here in neighbours if here not in self._between]
        if new:
            self._look_between(new)
        return [self._between[here] for here in neighbours]

    def _look_between(self, neighbours: list[tuple[int, int]]) -> None:
        began = time.perf_counter()
        ends = sorted({place for here in neighbours for place in here})
        known = JudgedPairs.picked([self._pairs[place] for place in ends])
        inner = [(here, place) for here in neighbours for place in range(here[0] + 1, here[1])]
        strengths = self._strengths[[place for _, place in inner]]
        pairs = certify_between(known, strengths)
        share = (time.perf_counter() - began) / len(pairs)
        self._between |= {here: {} for here in neighbours}
        for (here, place), strength, pair in zip(inner, strengths.tolist(), pairs, strict=True):
            answer = Answer(strength, pair.coef, pair.intercept, 0, share, _WAY)
            self._between[here][place] = answer, (pair.certificate, pair.dual), pair.pull
