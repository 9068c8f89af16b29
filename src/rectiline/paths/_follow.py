"""Follow one problem along its strengths; used by `path` and by the folds of a search.

A follower proposes a candidate at each strength, and `solve` takes over where its certificate is
refused or the follower gets stuck. Everything that happens
here depends on the problem, the strengths and the options alone.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import Any

import numpy as np

from rectiline._costs import SECONDS_PER_ENTRY_CERTIFIED, SECONDS_PER_ROW_CERTIFIED
from rectiline._polling import Clock, OutOfTime, asked_at_checkpoints
from rectiline._thread_count import using_threads
from rectiline._typing import Vector
from rectiline.paths._largest import null_model
from rectiline.problems import DualPoint, Problem
from rectiline.solvers import (
    Candidate,
    KinkedFollower,
    NewtonFollower,
    PathFollower,
    Progress,
    Session,
    Solution,
    Status,
    limited_threads,
    solve,
)

_MOST_MISSED = 2  # strengths that the follower may leave to `solve`,
_STRENGTHS_PER_MISS = 4  # plus one for so many strengths
_FOLLOWERS: tuple[type[KinkedFollower] | type[NewtonFollower], ...]
_FOLLOWERS = KinkedFollower, NewtonFollower  # the first that accepts a problem follows it
_OPTIONS = {"solver", "tol", "max_iter", "random_state", "n_threads"}  # a follower heeds them


class PathRun:
    """The solutions so far, and the methods that find the next ones.

    Parameters
    ----------
    problem : Problem
        At any strength.
    grid : ndarray of shape (k,)
        Strengths from large to small.
    deadline : Clock
        Strengths that it leaves no time for are left out; `NoAnswerError` is raised without any.
    known : sequence of Solution
        Solutions at the first strengths.
    start : Solution or None
        Where to start if none is known.
    options : dict
        As for `rectiline.solve`.
    """

    def __init__(
        self,
        problem: Problem,
        grid: Vector,
        deadline: Clock,
        known: Sequence[Solution],
        start: Solution | None,
        options: dict[str, Any],
    ) -> None:
        self._callback = options.pop("callback", None)
        self._reported: Any = None  # the last certificate that the callback got
        self._problem, self._grid, self._deadline = problem, grid, deadline
        self._options, self._tol = options, options.get("tol", 1e-6)
        self._session = Session()
        self._solutions = list(known)
        self._latest = self._solutions[-1] if self._solutions else start
        self._is_over = False
        self._n_missed = 0
        stored = SECONDS_PER_ENTRY_CERTIFIED * problem.design.n_stored
        # A guess at first.
        self._proof_seconds = stored + SECONDS_PER_ROW_CERTIFIED * problem.n_samples
        self._follower: PathFollower | None = None

    def run(self) -> list[Solution]:
        """Return the solutions at all strengths, as many as there is time for."""
        with limited_threads(self._problem), using_threads(self._options.get("n_threads")):
            try:
                with asked_at_checkpoints(self._deadline):
                    self._start_following()
                    while not self._has_ended:
                        self._advance()
            except OutOfTime:
                if not self._solutions:
                    self._solve_next()
        return self._solutions

    def _start_following(self) -> None:
        """Make a follower, if the options leave the choice and it can be expected to save time."""
        if self._grid.size - len(self._solutions) <= 1 or self._deadline.is_late:
            return
        is_open = self._options.get("solver", "auto") == "auto" and set(self._options) <= _OPTIONS
        if not is_open or self._options.get("max_iter") is not None:
            return
        first = self._at(self._grid[len(self._solutions)])
        kind = next((one for one in _FOLLOWERS if one.accepts(first, self._tol)), None)
        try:
            self._follower = None if kind is None else kind(first, self._tol)
            self._place(self._latest)
        except ArithmeticError:  # numbers too large for this method; `solve` has others
            self._follower = None

    @property
    def _has_ended(self) -> bool:
        """Whether there is nothing left to do, or no time for it."""
        done = self._is_over or len(self._solutions) == self._grid.size
        return done or (bool(self._solutions) and self._deadline.is_late)

    def _advance(self) -> None:
        """Find the solution at the next strength."""
        found = self._followed()
        if found is not None and found.status == Status.SOLVED:
            self._accept(found)
        elif not self._has_ended:
            self._solve_next(near=self._latest if found is None else found)
            if self._n_missed > _MOST_MISSED + len(self._solutions) / _STRENGTHS_PER_MISS:
                self._follower = None
            self._place(self._latest)

    def _followed(self) -> Solution | None:
        """Return what the follower finds at the next strength, with its certificate."""
        if self._follower is None:
            return None
        strength = float(self._grid[len(self._solutions)])
        left = np.inf if self._deadline.remaining is None else self._deadline.remaining
        moved = self._follower.move(strength, max(left - self._proof_seconds, 1e-6))
        if moved is None:
            return None
        reason = f"{self._follower.name}: continued from the strength before"
        found = certified(self._at(strength), moved, self._tol, self._follower.name, reason)
        self._proof_seconds = found.seconds - moved.seconds
        return found

    def _solve_next(self, near: Solution | None = None) -> None:
        """Let `solve` find the solution at the next strength."""
        found = solve(
            self._at(self._grid[len(self._solutions)]),
            warm_start=near,
            time_limit=self._deadline.remaining,
            session=self._session,
            callback=None if self._callback is None else self._report,
            **self._options,
        )
        self._accept(found)
        self._n_missed += 1

    def _accept(self, solution: Solution) -> None:
        """Keep a solution, and report it unless `solve` has done so."""
        self._solutions.append(solution)
        self._latest, proof = solution, solution.certificate
        self._is_over |= solution.status in (Status.INFEASIBLE, Status.STOPPED)
        is_new = solution.infeasibility is None and proof is not self._reported
        if self._callback is not None and is_new:
            self._report(Progress(solution.solver, solution.n_iter, solution.seconds, proof))

    def _report(self, progress: Any) -> bool:
        """Give the callback a point; return whether it has asked to stop."""
        self._reported = progress.certificate
        self._is_over = bool(self._callback(progress)) or self._is_over
        return self._is_over

    def _place(self, start: Solution | None) -> None:
        """Put the follower, if any, at a solution; without one, at no coefficients."""
        if self._follower is None:
            return
        if start is not None and np.isfinite(start.coef).all():
            self._follower.place(start.coef, start.intercept, start.dual)
        else:
            null, zeros = null_model(self._problem), np.zeros(self._problem.n_features)
            self._follower.place(zeros, null.intercept, DualPoint(null.dual))

    def _at(self, strength: float) -> Problem:
        assert self._problem.penalty is not None
        return self._problem.with_penalty(self._problem.penalty.with_strength(float(strength)))


def certified(problem: Problem, one: Candidate, tol: float, name: str, reason: str) -> Solution:
    """Return a candidate as a solution: solved, or at a limit."""
    began = time.perf_counter()
    certificate, dual = problem.prove(one.coef, one.intercept, one.dual, tol)
    spent = one.seconds + time.perf_counter() - began
    return Solution(
        coef=one.coef,
        intercept=one.intercept,
        status=Status.SOLVED if certificate.holds(tol) else Status.ITERATION_LIMIT,
        solver=name,
        n_iter=one.n_iter,
        seconds=spent,
        dual=dual,
        certificate=certificate,
        reason=reason,
        history=(Progress(name, one.n_iter, spent, certificate),),
    )
