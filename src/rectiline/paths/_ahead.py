"""Answers for the strengths to come, found in one go and certified many at a time."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rectiline.problems import Problem, certify_all
from rectiline.solvers import Follower, Progress, Solution, Status, limited_threads

Vector = NDArray[np.float64]

__all__ = ["Ahead", "Clock"]

_AIM = 0.8  # of the tolerance: estimates are not certificates
_MOST_ENTRIES = 4_000_000  # of the multipliers that wait for their certificates
_FIRST = 4  # strengths to follow until the first certificates
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
    sample: Vector
    steps: int
    seconds: float


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
    ) -> None:
        assert problem.penalty is not None
        self._penalty = problem.penalty
        self._strengths = strengths
        self._tol, self._clock = tol, clock
        self._at_once, self._most_at_once = min(at_once, _FIRST), at_once
        self._problem = problem.with_penalty(self._penalty.with_strength(float(strengths[0])))
        self._follower = Follower(self._problem, _AIM * tol, n_threads)
        self._place(start)
        self._next = 0  # strength to follow to
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
    ) -> Ahead | None:
        """Return None where the problem or the options are for `solve` alone.

        `is_heard`: somebody wants to hear of every answer as soon as it is there.
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
        return cls(problem, strengths, start, tol, n_threads, clock, at_once)

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

    def _place(self, start: Solution | None) -> None:
        if start is None or not np.isfinite(start.coef).all():
            self._follower.place_at_zero()
        else:
            self._follower.place(start.coef, start.intercept, start.dual.sample)

    def _fill(self) -> None:
        """Follow some strengths further and certify what was found there."""
        found: list[_Found] = []
        is_lost = False
        with limited_threads(self._problem):
            while self._next < self._strengths.size and len(found) < self._at_once and not is_lost:
                if found and self._clock.is_late:
                    break
                began = time.perf_counter()
                strength = float(self._strengths[self._next])
                self._next += 1
                left = self._clock.left
                moved = self._follower.move(strength, np.inf if left is None else left)
                is_lost = moved is None
                if moved is not None:
                    found.append(_Found(strength, *moved, time.perf_counter() - began))
            if found:
                self._queue.extend(self._certified(found))
        if is_lost:
            self._queue.append(None)
        self._at_once = self._most_at_once

    def _certified(self, found: list[_Found]) -> list[Solution]:
        began = time.perf_counter()
        proofs = certify_all(
            self._problem,
            [self._penalty.with_strength(answer.strength) for answer in found],
            np.array([answer.coef for answer in found]),
            np.array([answer.intercept for answer in found]),
            np.array([answer.sample for answer in found]),
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
