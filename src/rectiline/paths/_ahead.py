"""Answers for the strengths to come, found in one go and certified many at a time."""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rectiline.paths._answers import Kept, not_solved
from rectiline.paths._clock import Clock
from rectiline.paths._guide import MOST_KEPT, Guide
from rectiline.paths._walk import NEAR, Walk
from rectiline.paths._without_kinks import between, left_out
from rectiline.problems import Problem
from rectiline.solvers import (
    BasisFollower,
    Follower,
    Solution,
    SpanFollower,
    Status,
    limited_threads,
)

Vector = NDArray[np.float64]
Matrix = NDArray[np.float64]

__all__ = ["Ahead", "Clock"]

_MOST_ENTRIES = 4_000_000  # of the multipliers that wait for their certificates
_FIRST = 4  # strengths to follow until the first certificates
_FOCUS_SIZE = 50_000  # entries of X from which on it pays to leave out rows, or strengths
_LEAST_THINNED, _THINNED_TOL = 8, 1e-4  # strengths and tolerance for a cubic between answers,
_CLOSE = 2.1  # at strengths that differ by no more than this factor
_MOST_MENDED = 0.2  # share of the answers by steps that may have to be found otherwise
_SURE_ROWS = 100  # per column, from which on these are tried at all strengths at once
_MOST_MISSED = 2  # answers that another solver had to find, and one in
_PER_MISS = 4  # so many, before it is left to that solver
_MISSED = 2  # answers of a large one, before linear programs go on by pivots
_FEW_COLUMNS, _ROWS_PER_COLUMN = 64, 40  # if they are so few
_OPTIONS = {"solver", "tol", "max_iter", "random_state", "n_threads"}
_WAYS = (Follower, SpanFollower, BasisFollower)


class Ahead:
    """Follows the problem along its strengths and hands out certified solutions one by one."""

    def __init__(
        self,
        follower: type[Follower] | type[BasisFollower],
        problem: Problem,
        strengths: Vector,
        start: Solution | None,
        tol: float,
        n_threads: int,
        clock: Clock,
        at_once: int,
        guide: Guide | None,
        keeps: bool,
    ) -> None:
        assert problem.penalty is not None
        self._strengths = strengths
        self._tol, self._clock = tol, clock
        penalty = problem.penalty.with_strength(float(strengths[0]))
        self._problem = problem.with_penalty(penalty)
        self._walk = Walk(follower, self._problem, strengths, tol, n_threads, clock)
        self._next = 0  # strength to follow to
        self._guide: Guide | None = None  # whose answers are a step away
        self._base = guide  # beside whose answers those between others are
        self._at_once, self._most_at_once = min(at_once, _FIRST), at_once
        is_large = at_once > 1 and problem.design.n_stored >= _FOCUS_SIZE
        self._is_thinned = (
            is_large
            and self._walk.follower.slopes_follow
            and tol >= _THINNED_TOL
            and strengths.size >= _LEAST_THINNED
            and bool((strengths[:-1] <= _CLOSE * strengths[1:]).all())
        )
        if guide is None:
            self._walk.place(start)
        elif not (is_large and self._walk.follower.can_focus):
            self._walk.place(guide.start(problem))
            self._at_once = at_once
            if is_large and not self._walk.follower.slopes_follow:
                self._walk.plan_by(guide)
        else:
            if not self._walk.follower.slopes_follow:  # others do with half of the strengths
                self._walk.plan_by(guide)
                self._walk.stay_beside(guide)
            if not self._walk.has_start:
                first = guide.start(problem)
                self._walk.place(first, None if first is None else guide.predictions([0])[0])
            self._at_once = strengths.size if self._walk.by_exceptions else at_once
            if guide.is_a_step_from(problem):
                self._guide = guide
        self._queue: deque[Solution | None] = deque()
        self._is_lost = False  # the last answer asked for: there is none
        self._answers, self._missed = 0, 0
        few = strengths.size * problem.n_samples <= MOST_KEPT
        self._kept = Kept([] if few else None) if keeps else None

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
        keeps: bool = False,
    ) -> Ahead | None:
        """Return None where the problem or the options are for `solve` alone.

        `is_heard`: somebody wants to hear of every answer as soon as it is there. `guide`: answers
        at these strengths that cannot be far from those looked for.
        """
        tol = options.get("tol", 1e-6)
        if not cls.takes(options) or strengths.size < 2:
            return None
        ways = [one for one in _WAYS if one.accepts(problem, tol)]
        if guide is not None and guide.took_to_pivots:
            ways.reverse()
        if clock.is_late or not ways:
            return None
        at_once = 1 if is_heard else max(1, _MOST_ENTRIES // problem.n_samples)
        n_threads = options.get("n_threads", 0)
        return cls(
            ways[0],
            problem,
            strengths,
            start,
            tol,
            n_threads,
            clock,
            at_once,
            guide,
            keeps,
        )

    @staticmethod
    def takes(options: Mapping[str, Any]) -> bool:
        """Whether the options leave it free; what is wrong with others `solve` will say."""
        tol = options.get("tol", 1e-6)
        numbers = [options.get(name, 0) for name in ("random_state", "n_threads")]
        plain = options.get("solver", "auto") == "auto" and options.get("max_iter") is None
        known = set(options) <= _OPTIONS and isinstance(tol, float) and 0 < tol < 1
        counts = all(isinstance(one, int) and 0 <= one < 2**32 for one in numbers)
        return plain and known and counts

    def next(self) -> tuple[Solution | None, Solution | None]:
        """Return the next solution; if there is none, where to start looking for it, if known."""
        if not self._queue:
            with limited_threads(self._problem):
                self._fill()
        found = self._queue.popleft() if self._queue else None
        self._is_lost = found is None
        self._answers += 1
        if found is None or found.status == Status.SOLVED:
            return found, None
        return None, found

    def missed(self, solution: Solution) -> None:
        """Go on from the solution that another solver had to find."""
        self._missed += 1
        if self._kept is not None:
            self._kept.predictions = None
            if self._is_lost:
                self._kept.pulls.append(-self._problem.design.tdot(solution.dual.sample)[None])
        if self._queue:
            return
        if self._pivots_pay:
            self._walk.go_on_by_pivots()
            self._at_once = min(self._at_once, _FIRST)
            self._answers, self._missed = 0, 0
        self._walk.go_on_from(solution, self._next - 1)

    @property
    def _pivots_pay(self) -> bool:
        """Whether a linear program whose answers are missed had better go on by pivots."""
        problem = self._problem
        n, d = problem.n_samples, problem.n_features
        few = d <= _FEW_COLUMNS or n >= _ROWS_PER_COLUMN * d  # pivots cost about d^2
        costly = problem.design.n_stored >= _FOCUS_SIZE and self._missed >= _MISSED
        return (
            few
            and (costly or self.gives_up)
            and not isinstance(self._walk.follower, BasisFollower)
            and BasisFollower.accepts(problem, self._tol)
        )

    @property
    def gives_up(self) -> bool:
        """Whether too many answers had to be found by others."""
        return self._missed > _MOST_MISSED + self._answers / _PER_MISS

    @property
    def kept(self) -> Kept | None:
        """What was worked out about all answers handed out, if it was to be kept."""
        if self._kept is None:
            return None
        if self._walk.has_mended:  # pulls need not be those of the very answers
            self._kept.predictions = None
        return self._kept.complete(self._strengths.size)

    def _fill(self) -> None:
        """Find some answers further on, and certify them."""
        if self._guide is not None and self._fill_beside(self._guide):
            return
        first, end = self._next, self._strengths.size
        chosen = self._walk.planned(first, self._at_once)
        self._is_thinned = self._is_thinned and end - first >= _LEAST_THINNED
        if self._is_thinned:
            chosen = [*range(first, end - 1, 2), end - 1]
        answers, samples = self._walk.follow(chosen)
        # Who asked for the first one will look for it elsewhere: it must not be offered again.
        is_lost = len(answers) < len(chosen) and not (answers and self._clock.is_late)
        self._at_once = self._most_at_once
        if self._is_thinned and not is_lost and len(answers) == len(chosen):
            beside = None if self._base is None else self._walk.terms_of(self._base, first)
            answers = between(self._strengths[first:], answers, beside)
            chosen = range(first, end)
        elif self._is_thinned:  # those in between will be looked for, too
            answers, samples = answers[:1], None
            is_lost = not answers
        if answers:
            answers, solutions = self._walk.certified(answers, samples, chosen, self._kept)
            if self._walk.is_guided or self._is_thinned:
                solutions = self._walk.mended(answers, solutions)
            self._queue.extend(solutions)
        self._next += len(answers) + is_lost
        if is_lost:
            self._queue.append(None)
        self._is_thinned = False

    def _fill_beside(self, guide: Guide) -> bool:
        """Step from the answers of the guide to all that are looked for; False if that fails."""
        self._guide = None
        self._try_a_step(guide)
        if guide.leave_out is None:
            return False
        answers, solutions = left_out(self._problem, self._strengths, guide.leave_out, self._tol)
        failed = not_solved(solutions)
        if len(failed) <= _MOST_MENDED * len(solutions):
            self._next = self._strengths.size
            self._queue.extend(self._walk.mended(answers, solutions))
            return True
        guide.leave_out = None  # the next one need not try
        self._next = failed[0]
        self._queue.extend(solutions[: failed[0]])
        if self._queue:
            self._walk.go_on_from(solutions[failed[0] - 1], failed[0] - 1)
        return bool(self._queue)

    def _try_a_step(self, guide: Guide) -> None:
        """Find out at the weakest strength whether steps lead anywhere, if they may well not."""
        problem = self._problem
        if guide.was_tried or problem.n_samples >= _SURE_ROWS * problem.n_features:
            return
        guide.was_tried = True
        last = slice(-1, None)
        step = guide.leave_out_at(last)
        _, [found] = left_out(problem, self._strengths[last], step, self._tol)
        if found.certificate.relative_gap > NEAR:
            guide.leave_out = None
