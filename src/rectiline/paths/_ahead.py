"""Answers for the strengths to come, found in one go and certified many at a time."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rectiline.paths._guide import Guide
from rectiline.paths._reach import Reach
from rectiline.problems import Problem, certify_all
from rectiline.solvers import Follower, LeaveOut, Progress, Solution, Status, limited_threads

Vector = NDArray[np.float64]

__all__ = ["Ahead", "Clock"]

_AIM = 0.8  # of the tolerance: estimates are not certificates
_MOST_ENTRIES = 4_000_000  # of the multipliers that wait for their certificates
_FIRST = 4  # strengths to follow until the first certificates
_FOCUS_SIZE = 50_000  # entries of X from which on it pays to leave out rows
_FOCUS = ((8, 0.6), (4, 0.6))  # strengths on the same rows, share of the rows kept
_MORE_STEPS = 2  # Newton steps from an answer on more samples, after the first
_NEAR = 0.1  # gap of an answer that is worth going on from
_MOST_MISSED = 2  # answers that another solver had to find, and one in
_PER_MISS = 4  # so many, before it is left to that solver
_OPTIONS = {"solver", "tol", "max_iter", "random_state", "n_threads"}


@dataclass(frozen=True, slots=True)
class Clock:
    """How much time is left."""

    began: float
    limit: float | None

    @property
    def left(self) -> float | None:
        """Seconds left, a little at least; None without a limit."""
        if self.limit is None:
            return None
        return max(self.limit - (time.perf_counter() - self.began), 1e-6)

    @property
    def is_late(self) -> bool:
        """Whether the time is up."""
        return self.limit is not None and time.perf_counter() - self.began >= self.limit


@dataclass(slots=True, eq=False)
class _Found:
    strength: float
    coef: Vector
    intercept: float
    sample: Vector | None  # None: a function of the predictions
    steps: int
    seconds: float

    def predictions(self, problem: Problem) -> Vector:
        return problem.design.dot(self.coef) + self.intercept


class Ahead:
    """Follows the problem along its strengths and hands out certified solutions one by one."""

    def __init__(
        self,
        problem: Problem,
        strengths: Vector,
        start: Solution | None,
        tol: float,
        n_threads: int,
        clock: Clock,
        at_once: int,
        guide: Guide | None,
    ) -> None:
        assert problem.penalty is not None
        self._penalty = problem.penalty
        self._strengths = strengths
        self._tol, self._clock = tol, clock
        self._most_at_once = at_once
        self._problem = problem.with_penalty(self._penalty.with_strength(float(strengths[0])))
        self._follower = Follower(self._problem, _AIM * tol, n_threads)
        self._next = 0  # strength to follow to
        self._reach: Reach | None = None
        self._leave_out: LeaveOut | None = None
        self._focused = 0  # strength up to which the rows chosen are meant
        self._at_once = min(at_once, _FIRST)
        if guide is None:
            self._place(start)
        elif at_once == 1 or problem.design.n_stored < _FOCUS_SIZE:
            self._place(guide.start(problem))
        else:
            self._place(guide.start(problem), guide.predictions(0, 1)[0])
            self._reach = Reach(guide)
            self._at_once = at_once
            if at_once >= strengths.size:
                self._leave_out = guide.leave_out
        self._queue: deque[Solution | None] = deque()
        self._answers, self._missed = 0, 0

    @classmethod
    def of(
        cls,
        problem: Problem,
        strengths: Vector,
        start: Solution | None,
        options: Mapping[str, Any],
        clock: Clock,
        is_heard: bool,
        guide: Guide | None = None,
    ) -> Ahead | None:
        """Return None where the problem or the options are for `solve` alone.

        `is_heard`: somebody wants to hear of every answer as soon as it is there. `guide`: answers
        at these strengths that cannot be far from those looked for.
        """
        tol = options.get("tol", 1e-6)
        numbers = [options.get(name, 0) for name in ("random_state", "n_threads")]
        plain = options.get("solver", "auto") == "auto" and options.get("max_iter") is None
        known = set(options) <= _OPTIONS and isinstance(tol, float) and 0 < tol < 1
        counts = all(isinstance(one, int) and 0 <= one < 2**32 for one in numbers)
        if not (plain and known and counts and strengths.size > 1):  # `solve` will say why
            return None
        if clock.is_late or not Follower.accepts(problem, tol):
            return None
        at_once = 1 if is_heard else max(1, _MOST_ENTRIES // problem.n_samples)
        n_threads = options.get("n_threads", 0)
        return cls(problem, strengths, start, tol, n_threads, clock, at_once, guide)

    def next(self) -> tuple[Solution | None, Solution | None]:
        """Return the next solution; if there is none, where to start looking for it, if known."""
        if not self._queue:
            self._fill()
        found = self._queue.popleft() if self._queue else None
        self._answers += 1
        if found is None or found.status == Status.SOLVED:
            return found, None
        return None, found

    def missed(self, solution: Solution) -> None:
        """Go on from the solution that another solver had to find."""
        self._missed += 1
        if not self._queue:
            self._place(solution)

    @property
    def gives_up(self) -> bool:
        """Whether too many answers had to be found by others."""
        return self._missed > _MOST_MISSED + self._answers / _PER_MISS

    def _place(self, start: Solution | None, predictions: Vector | None = None) -> None:
        if start is None or not np.isfinite(start.coef).all():
            self._follower.place_at_zero()
        else:
            self._follower.place(start.coef, start.intercept, start.dual.sample, predictions)

    def _fill(self) -> None:
        """Follow some strengths further and certify what was found there."""
        if self._leave_out is not None:
            self._queue.extend(self._stepped(self._leave_out))
            self._next = self._strengths.size
            return
        found: list[_Found] = []
        is_lost = False
        with limited_threads(self._problem):
            while self._next < self._strengths.size and len(found) < self._at_once and not is_lost:
                if found and self._clock.is_late:
                    break
                self._focus(found)
                moved = self._moved()
                is_lost = moved is None
                if moved is not None:
                    found.append(moved)
            if found:
                solutions = self._certified(found)
                if self._reach is not None:
                    self._mend(found, solutions)
                self._queue.extend(solutions)
        if is_lost:
            self._queue.append(None)
        self._at_once = self._most_at_once

    def _stepped(self, leave_out: LeaveOut) -> list[Solution]:
        """Return the answers at all strengths, by steps from those of the guide."""
        began = time.perf_counter()
        with limited_threads(self._problem):
            pairs = leave_out.step(self._problem)
            seconds = (time.perf_counter() - began) / self._strengths.size
            found = [
                _Found(float(strength), coef, float(intercept), None, 1, seconds)
                for strength, coef, intercept in zip(self._strengths, *pairs, strict=True)
            ]
            solutions = self._certified(found)
            for _ in range(_MORE_STEPS):
                failed = [k for k, one in enumerate(solutions) if one.status != Status.SOLVED]
                if not failed:
                    break
                coefs = np.array([found[k].coef for k in failed])
                intercepts = np.array([found[k].intercept for k in failed])
                pairs = leave_out.step_again(self._problem, failed, coefs, intercepts)
                for k, coef, intercept in zip(failed, *pairs, strict=True):
                    found[k].coef, found[k].intercept = coef, float(intercept)
                    found[k].steps += 1
                again = self._certified([found[k] for k in failed])
                for k, solution in zip(failed, again, strict=True):
                    solutions[k] = solution
            self._mend(found, solutions)
        return solutions

    def _focus(self, found: list[_Found]) -> None:
        """Choose the rows to go on with, if there is a way to tell and the last ones have served."""
        if self._reach is None or (self._next < self._focused and not self._follower.has_strayed):
            return
        self._reach.here = None
        if self._next > 0:
            self._reach.here = found[-1].predictions(self._problem)
        for several, most in _FOCUS:
            self._focused = min(self._next + several, self._strengths.size)
            ranges = self._reach.ranges(self._next, self._focused)
            if self._follower.focus(*ranges, self._reach.here, most):
                return

    def _moved(self) -> _Found | None:
        """Return the answer at the next strength, not certified yet."""
        began = time.perf_counter()
        strength = float(self._strengths[self._next])
        self._next += 1
        left = self._clock.left
        moved = self._follower.move(strength, np.inf if left is None else left)
        return None if moved is None else _Found(strength, *moved, time.perf_counter() - began)

    def _mend(self, found: list[_Found], solutions: list[Solution]) -> None:
        """Look again, on all rows, for what could not be certified."""
        failed = [k for k, one in enumerate(solutions) if one.status != Status.SOLVED]
        if not failed:
            return
        self._follower.widen()
        for k in failed:
            near = solutions[k].certificate.relative_gap <= _NEAR
            self._place(solutions[k if near else max(k - 1, 0)])
            left = self._clock.left
            moved = self._follower.move(found[k].strength, np.inf if left is None else left)
            if moved is not None:
                steps = found[k].steps + moved[3]
                again = _Found(found[k].strength, *moved[:3], steps, found[k].seconds)
                solutions[k : k + 1] = self._certified([again])
        self._place(solutions[-1])

    def _certified(self, found: list[_Found]) -> list[Solution]:
        """Return the answers with their certificates."""
        began = time.perf_counter()
        multipliers = [answer.sample for answer in found if answer.sample is not None]
        proofs = certify_all(
            self._problem,
            [self._penalty.with_strength(answer.strength) for answer in found],
            np.array([answer.coef for answer in found]),
            np.array([answer.intercept for answer in found]),
            np.array(multipliers) if multipliers else None,
        )
        share = (time.perf_counter() - began) / len(found)
        solutions = []
        for answer, (certificate, dual) in zip(found, proofs, strict=True):
            seconds = answer.seconds + share
            holds = certificate.holds(self._tol)
            solutions.append(
                Solution(
                    coef=answer.coef,
                    intercept=answer.intercept,
                    status=Status.SOLVED if holds else Status.ITERATION_LIMIT,
                    solver="newton",
                    n_iter=answer.steps,
                    seconds=seconds,
                    dual=dual,
                    certificate=certificate,
                    reason="newton: on from the strength before",
                    history=(Progress("newton", answer.steps, seconds, certificate),),
                )
            )
        return solutions
