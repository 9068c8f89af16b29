"""One method on its way along the strengths: moves, the rows it looks at, and certificates."""

from __future__ import annotations

import time
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from rectiline.paths._answers import (
    Answer,
    Multipliers,
    certified,
    certified_in_span,
    not_solved,
)
from rectiline.paths._between_kinks import Anchor, answers_between
from rectiline.paths._clock import Clock
from rectiline.paths._guide import Guide
from rectiline.paths._null import two_class_start
from rectiline.paths._reach import Beside
from rectiline.problems import Problem, SlopeMultipliers
from rectiline.solvers import BasisFollower, Follower, Solution, SpanFollower

Vector = NDArray[np.float64]
Matrix = NDArray[np.float64]
Index = NDArray[np.int64]
Exceptions = tuple[Vector | None, Index, Vector]  # see `Follower.exceptions`

__all__ = ["NEAR", "Walk"]

NEAR = 0.1  # gap of an answer that is worth going on from


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
        self.latest: Answer | Solution | None = None  # answer at hand
        self.has_mended = False  # answers that it had handed out
        self._reach: Beside | None = None
        self._focused = 0  # strength up to which the rows chosen are meant
        self._is_focused = False  # these are few
        self.by_exceptions = False  # multipliers are, and not kept

    @property
    def looks_ahead(self) -> bool:
        """Whether it tells which rows to look at by the path of a guide."""
        return self._reach is not None

    def stay_beside(self, guide: Guide) -> None:
        """Look at rows that may meet a kink near the answers of the guide only."""
        columns = self.problem.columns
        self._reach = Beside(guide, self.problem)
        self.by_exceptions = bool(((columns.rho > 0) | (columns.l1 > 0)).all())

    def go_on_by_pivots(self) -> None:
        """Take another method, for linear programs."""
        self.follower = BasisFollower(self.problem, self._tol)
        self._reach, self.by_exceptions = None, False

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

    def follow(self, chosen: Sequence[int]) -> tuple[list[Answer], Multipliers | None]:
        """Return answers at these strengths, up to the first that is not found, and multipliers."""
        answers: list[Answer] = []
        follower, n = self.follower, self.problem.n_samples
        samples: Matrix | None = None
        exceptions: list[Exceptions] = []
        if not follower.slopes_follow and not self.by_exceptions:
            samples = np.empty((len(chosen), n))
        anchor: Anchor | None = None  # from which on strengths may be skipped
        while len(answers) < len(chosen):
            if answers and self._clock.is_late:
                break
            index = chosen[len(answers)]
            self._focus(index)
            skipped = 0 if anchor is None else self._skippable(index - 1)
            answer = self._moved(float(self._strengths[index + skipped]))
            if answer is None:
                break
            if samples is not None:
                follower.put_multipliers(samples[len(answers)])
            elif self.by_exceptions:
                assert isinstance(follower, Follower)
                few = follower.exceptions()
                goes_on = skipped or self._skippable(index + skipped)
                here = self._anchor(answer, few) if goes_on else None
                if anchor is not None and here is not None:
                    between = self._strengths[index : index + skipped]
                    for one in answers_between(self.problem, between, anchor, here, few[1]):
                        answers.append(one[0])
                        exceptions.append(one[1])
                anchor = here
                exceptions.append(few)
            answers.append(answer)
            self.latest = answer
        if exceptions:
            return answers, SlopeMultipliers.of(n, exceptions)
        return answers, samples if samples is None else samples[: len(answers)]

    def _skippable(self, first: int) -> int:
        """Return how many strengths after `first` can do with answers from both sides."""
        if self._reach is None or self._is_focused:  # moves on few rows cost less than that
            return 0
        last = min(self._focused, self._strengths.size) - 1
        return self._reach.guide.skippable(first, last, self._tol)

    def _anchor(self, answer: Answer, few: Exceptions) -> Anchor:
        """Return what answers in between need of one."""
        slopes = few[0]
        if slopes is None:
            problem = self.problem
            weight = np.where(problem.weight > 0, problem.weight, np.inf)
            slopes = problem.direction * self.follower.multipliers / weight
        return Anchor(answer, slopes)

    def _focus(self, index: int) -> None:
        """Choose the rows to go on with, where there is a way to tell."""
        if self._reach is None:
            return
        follower = self.follower
        assert isinstance(follower, Follower)
        if index < self._focused and not follower.has_strayed:
            return
        known = self._reach.look(index, self.latest)
        self._is_focused = follower.focus(known.low, known.high, known.here) > 0
        self._focused = known.until

    def _moved(self, strength: float) -> Answer | None:
        """Return the answer at a strength, starting from the one at hand."""
        began = time.perf_counter()
        left = self._clock.left
        moved = self.follower.move(strength, np.inf if left is None else left)
        return (
            None
            if moved is None
            else Answer(strength, *moved, time.perf_counter() - began, self.follower.way)
        )

    def certified(
        self,
        answers: list[Answer],
        samples: Multipliers | None,
        predictions: list[Matrix] | None = None,
    ) -> list[Solution]:
        """Return answers that it has found with their certificates; see `_answers.certified`."""
        follower = self.follower
        if not isinstance(follower, SpanFollower):
            return certified(self.problem, answers, samples, self._tol, predictions)
        assert not isinstance(samples, SlopeMultipliers)
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
                solutions[k : k + 1] = self.certified([again], samples)
        self.place(solutions[-1])
        self.latest = solutions[-1]
        return solutions

    def terms_of(self, guide: Guide, first: int) -> Matrix:
        """Return the answers of a guide from a strength on, as those of the follower are written.

        Intercepts last, one row for each.
        """
        coefs = guide.coefs[first:]
        if isinstance(self.follower, SpanFollower):
            coefs = self.follower.in_span(coefs)
        return np.column_stack([coefs, guide.intercepts[first:]])
