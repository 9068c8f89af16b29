"""Follow one problem along its strengths; used by `path` and by the folds of a search.

A follower proposes candidates for several strengths in a row, these are certified together, and
`solve` takes over where a candidate is refused or the follower gets stuck. Everything that happens
here depends on the problem, the strengths and the options alone.
"""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from rectiline._costs import SECONDS_PER_ENTRY_CERTIFIED, SECONDS_PER_ROW_CERTIFIED
from rectiline._polling import Clock, OutOfTime, asked_at_checkpoints
from rectiline._thread_count import using_threads
from rectiline._typing import Vector
from rectiline.paths._largest import null_start
from rectiline.problems import DualPoint, Problem
from rectiline.problems.proofs import prove_many
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

_BATCH_ENTRIES = 800_000  # multipliers certified together; more leave the cache
_FIRST_BATCH = 4  # strengths until the first certificates show whether following works
_MOST_MISSED = 2  # strengths that the follower may leave to `solve`,
_STRENGTHS_PER_MISS = 4  # plus one for so many strengths
_FOLLOWERS: tuple[type[KinkedFollower] | type[NewtonFollower], ...]
_FOLLOWERS = KinkedFollower, NewtonFollower  # the first that accepts a problem follows it
_OPTIONS = {"solver", "tol", "max_iter", "random_state", "n_threads"}


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
        self._proposed: Solution | None = None  # the last solution that the follower found
        self._is_over = False
        self._n_missed = 0
        stored = SECONDS_PER_ENTRY_CERTIFIED * problem.design.n_stored
        # A guess at first.
        self._proof_seconds = stored + SECONDS_PER_ROW_CERTIFIED * problem.n_samples
        # A callback gets every solution before the next one is looked for.
        most = max(_FIRST_BATCH, _BATCH_ENTRIES // max(problem.n_samples, 1))
        self._most = most if self._callback is None else 1
        self._batch = min(self._most, _FIRST_BATCH)
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
        options, first = self._options, self._at(self._grid[len(self._solutions)])
        if not _leaves_the_choice(options):
            return
        kinds = [one for one in _FOLLOWERS if one.accepts(first, self._tol)]
        if not kinds:
            return
        try:
            self._follower = kinds[0](first, self._tol)
            self._place(self._latest)
        except ArithmeticError:  # numbers too large for this method; `solve` has others
            self._follower = None

    @property
    def _has_ended(self) -> bool:
        """Whether there is nothing left to do, or no time for it."""
        done = self._is_over or len(self._solutions) == self._grid.size
        return done or (bool(self._solutions) and self._deadline.is_late)

    def _advance(self) -> None:
        """Find the solutions at the next strengths."""
        first = len(self._solutions)
        wanted = self._grid[first : first + self._batch] if self._follower else self._grid[:0]
        candidates = self._candidates(wanted)
        for solution in self._certified(candidates):
            if solution.status == Status.SOLVED:
                self._proposed = solution
                self._accept(solution)
            else:
                self._solve_next(near=solution)
            if self._is_over:
                return
        self._batch = self._most
        if len(candidates) < max(wanted.size, 1) and not self._has_ended:
            self._solve_next(near=self._latest)
        self._go_on_following()

    def _candidates(self, strengths: Vector) -> list[Candidate]:
        """Return what the follower finds at these strengths, up to the first that it does not."""
        found: list[Candidate] = []
        for strength in strengths.tolist():
            left = np.inf if self._deadline.remaining is None else self._deadline.remaining
            left -= self._proof_seconds * (len(found) + 1)  # they are certified together
            if found and left <= 0.0:
                break
            assert self._follower is not None
            moved = self._follower.move(strength, max(left, 1e-6))
            if moved is None:
                break
            found.append(moved)
        return found

    def _certified(self, candidates: list[Candidate]) -> list[Solution]:
        """Return candidates with their certificates: solved, or at a limit."""
        if not candidates:
            return []
        assert self._follower is not None
        name = self._follower.name
        problems = [self._at(one.strength) for one in candidates]
        reason = f"{name}: continued from the strength before"
        found, self._proof_seconds = certified(problems, candidates, self._tol, name, reason)
        return found

    def _solve_next(self, near: Solution | None = None) -> None:
        """Let `solve` find the solution at the next strength."""
        found = solve(
            self._at(self._grid[len(self._solutions)]),
            warm_start=near,
            time_limit=self._deadline.remaining,
            session=self._session,
            # `solve` refuses what is not callable.
            callback=self._report if callable(self._callback) else self._callback,
            **self._options,
        )
        self._accept(found)
        self._n_missed += 1

    def _go_on_following(self) -> None:
        """Bring the follower to the latest solution, or give it up if it misses too many."""
        if self._n_missed > _MOST_MISSED + len(self._solutions) / _STRENGTHS_PER_MISS:
            self._follower = None
        if self._follower is not None and self._latest is not self._proposed:
            self._place(self._latest)

    def _accept(self, solution: Solution) -> None:
        """Keep a solution, and report it unless `solve` has done so."""
        self._solutions.append(solution)
        self._latest, proof = solution, solution.certificate
        self._is_over |= solution.status in (Status.INFEASIBLE, Status.STOPPED)
        is_new = solution.infeasibility is None and proof is not self._reported
        if callable(self._callback) and is_new:
            self._report(Progress(solution.solver, solution.n_iter, solution.seconds, proof))

    def _report(self, progress: Any) -> bool:
        """Give the callback a point; return whether it has asked to stop."""
        self._reported = progress.certificate
        self._is_over = bool(self._callback(progress)) or self._is_over
        return self._is_over

    def _place(self, start: Solution | None) -> None:
        """Put the follower at a solution; at a model without coefficients if there is none."""
        assert self._follower is not None
        if start is not None and np.isfinite(start.coef).all():
            self._follower.place(start.coef, start.intercept, start.dual)
        else:
            intercept, sample = null_start(self._problem)
            self._follower.place(np.zeros(self._problem.n_features), intercept, DualPoint(sample))

    def _at(self, strength: float) -> Problem:
        assert self._problem.penalty is not None
        return self._problem.with_penalty(self._problem.penalty.with_strength(float(strength)))


def certified(
    problems: Sequence[Problem], candidates: Sequence[Candidate], tol: float, name: str, reason: str
) -> tuple[list[Solution], float]:
    """Return candidates as solutions, solved or at a limit, and the seconds of each proof."""
    began = time.perf_counter()
    proofs = prove_many(problems, candidates, tol)
    seconds = (time.perf_counter() - began) / len(candidates)
    found = []
    for one, (certificate, dual) in zip(candidates, proofs, strict=True):
        spent = one.seconds + seconds
        found.append(
            Solution(
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
        )
    return found, seconds


def _leaves_the_choice(options: Mapping[str, Any]) -> bool:
    """Return whether the options leave the method open; wrong ones are reported by `solve`."""
    tol = options.get("tol", 1e-6)
    seed = options.get("random_state", 0)
    plain = options.get("solver", "auto") == "auto" and options.get("max_iter") is None
    known = set(options) <= _OPTIONS and isinstance(tol, float) and 0 < tol < 1
    return plain and known and isinstance(seed, int) and 0 <= seed < 2**32
