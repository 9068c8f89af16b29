"""One method on its way along the strengths: moves, the rows it looks at, and certificates."""

from __future__ import annotations

import time
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from rectiline.paths._answers import (
    Answer,
    Kept,
    Multipliers,
    certified,
    certified_in_span,
    not_solved,
)
from rectiline.paths._chain import ANCHORED, Chain
from rectiline.paths._clock import Clock
from rectiline.paths._guide import Guide
from rectiline.paths._lent import LENT, Lent, lent_answers
from rectiline.paths._null import two_class_start
from rectiline.paths._reach import Beside
from rectiline.problems import Problem, SlopeMultipliers, can_judge
from rectiline.solvers import BasisFollower, Follower, Solution, SpanFollower

Vector = NDArray[np.float64]
Matrix = NDArray[np.float64]
Index = NDArray[np.int64]
Exceptions = tuple[Vector | None, Index, Vector]  # see `Follower.exceptions`

__all__ = ["NEAR", "Walk"]

NEAR = 0.1  # gap of an answer that is worth going on from
_ROUNDS = 6  # of looking for answers in the middle of others that do not hold


class Walk:
    """A follower of the problem, where it has got to, and which rows it needs to look at.

    Parameters
    ----------
    follower : type
        `Follower`, `SpanFollower` or `BasisFollower`.
    problem : Problem
        At the first strength.
    strengths : ndarray of shape (k,)
        From large to small.
    tol : float
        Relative gap that answers are to be certified to.
    n_threads : int
    clock : Clock
    """

    def __init__(
        self,
        follower: type[Follower] | type[BasisFollower],
        problem: Problem,
        strengths: Vector,
        tol: float,
        n_threads: int,
        clock: Clock,
    ) -> None:
        self.problem, self._strengths = problem, strengths
        self._tol, self._clock = tol, clock
        self.follower = follower(problem, tol, n_threads)
        self._latest: Answer | Solution | None = None  # answer at hand,
        self._at = 0  # at this strength
        self.has_mended = False  # answers that it had handed out
        self._planner: Guide | None = None  # tells which strengths to look at,
        self._reach: Beside | None = None  # and which rows,
        self._focused = 0  # up to this strength
        self.by_exceptions = False  # multipliers are, and not kept
        self._lent: Lent = {}  # by a guide

    @property
    def is_guided(self) -> bool:
        """Whether it looks at some strengths or rows only."""
        return self._planner is not None or self._reach is not None

    def plan_by(self, guide: Guide) -> None:
        """Look at strengths that others may lie between only, where the guide says so."""
        if can_judge(self.problem) and not isinstance(self.follower, SpanFollower):
            self._planner = guide

    def stay_beside(self, guide: Guide) -> None:
        """Look at rows that may meet a kink near the answers of the guide only.

        The first of these may do as they are: see `lent_answers`.
        """
        everywhere = range(self._strengths.size)
        known = everywhere if self._planner is None else guide.anchors(self._tol)
        self._reach = Beside(guide, self.problem, known)
        self.by_exceptions = can_judge(self.problem)
        if self.by_exceptions:
            self._lent = lent_answers(self.problem, guide, self._tol)

    @property
    def has_start(self) -> bool:
        """Whether a guide has lent the first answers."""
        return bool(self._lent)

    def go_on_by_pivots(self) -> None:
        """Take another method, for linear programs."""
        self.follower = BasisFollower(self.problem, self._tol)
        self._reach, self.by_exceptions, self._lent = None, False, {}

    def place(self, start: Solution | None, predictions: Vector | None = None) -> None:
        """Start at a solution, or without any; its `predictions` save a product if known."""
        if start is not None and np.isfinite(start.coef).all():
            self.follower.place(start.coef, start.intercept, start.dual.sample, predictions)
            return
        null = two_class_start(self.problem) if isinstance(self.follower, Follower) else None
        if null is None:
            self.follower.place_at_zero()
        else:
            self.follower.place(np.zeros(self.problem.n_features), *null)

    def go_on_from(self, solution: Solution, at: int) -> None:
        """Start at the solution for one of the strengths."""
        self.place(solution)
        self._latest, self._at = solution, at

    def follow(
        self, chosen: Sequence[int], all_anchors: bool = False
    ) -> tuple[list[Answer], Multipliers | None]:
        """Return answers at these strengths, up to the first that is not found, and multipliers.

        `all_anchors`: others will lie between any of them and those found before.
        """
        answers: list[Answer] = []
        follower, n = self.follower, self.problem.n_samples
        samples: Matrix | None = None
        exceptions: list[Exceptions] = []
        if not follower.slopes_follow and not self.by_exceptions:
            samples = np.empty((len(chosen), n))
        for place, index in enumerate(chosen):
            if answers and self._clock.is_late:
                break
            if index in self._lent:
                answer, few = self._lent.pop(index)
                exceptions.append(few)
                answers.append(answer)
                self._stand_at(answer, few, index)
                continue
            self._focus(index)
            is_end = all_anchors or self._is_anchor(chosen, place)
            found = self._moved(float(self._strengths[index]), ANCHORED if is_end else 1.0)
            if found is None:
                break
            if samples is not None:
                follower.put_multipliers(samples[len(answers)])
            elif self.by_exceptions:
                assert isinstance(follower, Follower)
                exceptions.append(follower.exceptions())
            answers.append(found)
            self._latest, self._at = found, index
        if exceptions:
            return answers, SlopeMultipliers.of(exceptions)
        return answers, samples if samples is None else samples[: len(answers)]

    def _stand_at(self, answer: Answer, few: Exceptions, index: int) -> None:
        """Start at an answer whose multipliers are given by slopes of the losses."""
        self._latest, self._at = answer, index
        if self._lent:  # the next one is known, too
            return
        slopes = few[0]
        assert slopes is not None
        sample = self.problem.direction * self.problem.weight * slopes
        self.follower.place(answer.coef, answer.intercept, sample)

    def _is_anchor(self, chosen: Sequence[int], place: int) -> bool:
        """Whether others will lie between this answer and one beside it."""
        near = chosen[max(place - 1, 0) : place + 2]
        return self._planner is not None and near[-1] - near[0] >= len(near)

    def planned(self, first: int, most: int) -> Sequence[int]:
        """Return the strengths to look at from one on, up to so many."""
        if self._planner is None:
            return range(first, min(first + most, self._strengths.size))
        places = [first]
        for one in self._planner.anchors(self._tol):
            while one > places[-1]:
                places.append(self._farthest(places[-1], one))
        return places[:most]

    def _farthest(self, one: int, other: int) -> int:
        """Return the farthest strength from one on, up to the other, that a move can get to."""
        least = self._strengths[one] / self.follower.longest_move
        while other > one + 1 and self._strengths[other] < least:
            other -= 1
        return other

    def _focus(self, index: int) -> None:
        """Choose the rows to go on with, where there is a way to tell."""
        if self._reach is None:
            return
        follower = self.follower
        assert isinstance(follower, Follower)
        if index < self._focused and not follower.has_strayed:
            return
        known = self._reach.look(index, self._latest, self._at)
        follower.focus(known.low, known.high, known.here)
        self._focused = known.until

    def _moved(self, strength: float, share: float = 1.0) -> Answer | None:
        """Return the answer at a strength to a share of the tolerance, from the one at hand on."""
        began = time.perf_counter()
        left = self._clock.left
        moved = self.follower.move(strength, np.inf if left is None else left, share)
        return (
            None
            if moved is None
            else Answer(strength, *moved, time.perf_counter() - began, self.follower.way)
        )

    def certified(
        self,
        answers: list[Answer],
        samples: Multipliers | None,
        chosen: Sequence[int],
        kept: Kept | None = None,
    ) -> tuple[list[Answer], list[Solution]]:
        """Return answers at the strengths chosen with certificates, and those between them."""
        if self._planner is None and not self.by_exceptions:
            assert not isinstance(samples, SlopeMultipliers)
            return answers, self._each_certified(answers, samples, kept)
        chain = Chain(self.problem, self._strengths, self._tol)
        solutions = chain.add(chosen, answers, samples)
        lent = [k for k, answer in enumerate(answers) if answer.way == LENT]
        if self._planner is not None and any(k in lent for k in not_solved(solutions)):
            self._planner.may_lend = False  # the next one need not try
        self._add_middles(chain)
        return chain.solutions(kept)

    def _add_middles(self, chain: Chain) -> None:
        """Look for answers in the middle of others that do not hold, on all rows."""
        for _ in range(_ROUNDS):
            missing = chain.middles()
            if not missing or self._clock.is_late:
                break
            if self._reach is not None:
                assert isinstance(self.follower, Follower)
                self.follower.widen()
                self._focused = self._strengths.size
            # Forth and back, so that no way is gone twice.
            order = missing if self._at < missing[0] else missing[::-1]
            found, multipliers = self.follow(order, all_anchors=True)
            if found:
                chain.add(order, found, multipliers)
            if len(found) < len(order):
                break
        self._focused = min(self._focused, self._at)  # it has come back

    def _each_certified(
        self, answers: list[Answer], samples: Matrix | None, kept: Kept | None = None
    ) -> list[Solution]:
        follower = self.follower
        if not isinstance(follower, SpanFollower):
            return certified(self.problem, answers, samples, self._tol, kept)
        found = np.array([answer.coef for answer in answers])
        if samples is None:
            samples = follower.slopes_at(found, np.array([answer.intercept for answer in answers]))
        solutions = certified_in_span(self.problem, answers, samples, self._tol)
        failed = not_solved(solutions)
        if failed:  # the coefficients found may be better than those that multipliers lead to
            some = [answers[k] for k in failed]
            for answer, coef in zip(some, follower.coefs_of(found[failed]), strict=True):
                answer.coef = coef
            again = certified(self.problem, some, samples[failed], self._tol)
            for k, solution in zip(failed, again, strict=True):
                solutions[k] = solution
        return solutions

    def mended(self, answers: list[Answer], solutions: list[Solution]) -> list[Solution]:
        """Look again, on all rows, for what could not be certified."""
        failed = not_solved(solutions)
        if not failed:
            return solutions
        self.has_mended = True
        if isinstance(self.follower, Follower):
            self.follower.widen()
        for k in failed:
            near = solutions[k].certificate.relative_gap <= NEAR
            self.place(solutions[k if near else max(k - 1, 0)])
            again = self._moved(answers[k].strength)
            if again is not None:
                follows = self.follower.slopes_follow
                samples = None if follows else self.follower.multipliers[None]
                again.steps += answers[k].steps
                again.seconds += answers[k].seconds
                solutions[k : k + 1] = self._each_certified([again], samples)
        self.go_on_from(solutions[-1], self._at)
        return solutions

    def terms_of(self, guide: Guide, first: int) -> Matrix:
        """Return the answers of a guide from a strength on, as those of the follower are written.

        Intercepts last, one row for each.
        """
        coefs = guide.coefs[first:]
        if isinstance(self.follower, SpanFollower):
            coefs = self.follower.in_span(coefs)
        return np.column_stack([coefs, guide.intercepts[first:]])
