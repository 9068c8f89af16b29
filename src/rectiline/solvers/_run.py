"""The loop that all solvers share: bursts, certificates, limits, callbacks and hand-overs.

`solve` and `solve_multitask` make a `Run` and give it stages. Whether a pair is good enough is
decided in `Run.verdict` alone.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Generator, Sequence
from typing import Any

import numpy as np

from rectiline._polling import (
    Clock,
    OutOfTime,
    asked_at_checkpoints,
    checkpoint,
    grace_of,
    time_left,
)
from rectiline.exceptions import NoAnswerError
from rectiline.problems import Certificate, Problem
from rectiline.problems.proofs import moved_into_dual_range
from rectiline.problems.unbounded import falling_direction
from rectiline.solvers._base import Budget, Callback, Declined, Progress, RunLimits, Stage, polled
from rectiline.solvers._best import NOTHING, Best
from rectiline.solvers._status import Status

_LONGEST_BURST = 320
_USELESS_GAP = 0.9  # no solver starts from a pair with a larger relative gap
_TIGHTENING_FACTOR = 0.3  # on a target that was reached but not certified
_MOST_UNCERTIFIED_ANSWERS = 8  # of one solver, before the next one takes over
# Share of a time limit that is reserved for a first certificate at most.
_CERTIFICATE_TIME_SHARE = 0.5
_OVERRUN_SHARE, _OVERRUN_SECONDS = 0.1, 0.1  # by which a first proof may exceed a time limit
_MOST_IDLE_BURSTS = 3  # bursts without an iteration that end a stage
_FINAL = (Status.SOLVED, Status.STOPPED, Status.TIME_LIMIT, Status.PRECISION_LIMIT)


def _end_of(bursts: Generator[None, None, Status]) -> Status:
    """Let a solver run until it is done, exhausted or at a limit; return which."""
    while True:
        try:
            next(bursts)
        except StopIteration as end:
            status: Status = end.value
            return status


class Run:
    """One call of a driver: its limits, the best pair, the history and the callback."""

    def __init__(
        self,
        problem: Any,
        limits: RunLimits,
        callback: Callback | None = None,
        outer: Clock | None = None,
        certificate_seconds: float = 0.0,
    ) -> None:
        self.problem, self.limits, self.callback = problem, limits, callback
        self.best = Best(problem, limits.tol)
        self.history: list[Progress] = []
        self.reasons: list[str] = []
        self.n_iter = 0
        self.tried: list[str] = []
        self.direction: Any = None  # along which the objective falls without end
        self._looked_for_fall = False
        self.ran_out = False  # whether a solver was cut short, or could not be prepared, in time
        self.moving: tuple[Any, Any, Any] | None = None  # form, solver and state at work
        self.counted: Callable[[], dict[str, int]] = dict  # what that solver has counted, by name
        report = None if callback is None else self._report_again
        # Whoever is asked at checkpoints around this run may leave it less time.
        limit = math.inf if limits.time_limit is None else limits.time_limit
        ends = min(limit, time_left())
        self.clock = Clock(ends if ends < math.inf else None, report, outer)
        # A guess, until one has been made; it must not leave a solver without any time.
        self._first_certificate = certificate_seconds
        self._certificate_seconds = min(certificate_seconds, _CERTIFICATE_TIME_SHARE * ends)
        self._grace = grace_of(limits.time_limit)

    # ---- time -------------------------------------------------------------------------------

    def is_over(self) -> bool:
        """Return whether work has to stop that is not a solver's, such as a certificate."""
        self.clock.poll()  # it may report
        return self.left() <= 0.0

    def left(self) -> float:
        """Return the seconds left for such work.

        It may exceed the limit by some grace, unless a first pair has to be certified after it.
        """
        return self.clock.left(0.0 if self.best.pair is None else self._grace)

    def within_limits(self, work: Callable[[], Status]) -> Status:
        """Return how the work of a run ends; raise if there is no answer then."""
        try:
            with asked_at_checkpoints(self):
                status = work()
        except OutOfTime:
            status = self.out_of_time()
        self.check_answered(status)
        return status

    def out_of_time(self) -> Status:
        """Return how a run ends that has no time left.

        If nothing has been certified yet, the pair of the solver at work is.
        """
        if self.best.pair is None and self.moving is not None:
            form, method, state = self.moving
            with asked_at_checkpoints(None):
                coef, intercept, dual = form.invert(method.point(state))
                if np.any(coef):
                    self._keep_last(method.name, coef, intercept, dual)
        return self.verdict(self.limits.tol) or Status.TIME_LIMIT

    def _keep_last(self, author: str, coef: Any, intercept: Any, dual: Any) -> None:
        """Keep a first pair when time is up, certified if that is over soon."""
        latest = _OVERRUN_SHARE * (self.limits.time_limit or 0.0) + _OVERRUN_SECONDS
        left = self.clock.left(latest)
        try:
            with asked_at_checkpoints(Clock(left)):
                checkpoint(seconds=self._first_certificate)
                self.best.keep(coef, intercept, dual, author)
        except OutOfTime:
            self.best.keep(coef, intercept, dual, author, lambda *_: (NOTHING, dual))
        self.report(author)

    def _falls(self, author: str) -> bool:
        """Whether the objective falls without end; feasible coefficients are kept then.

        It is looked for once, after a solver has failed.
        """
        if self._looked_for_fall or not isinstance(self.problem, Problem):
            return False
        self._looked_for_fall, self.direction = True, falling_direction(self.problem)
        if self.direction is not None and self.best.pair is None:
            zeros, intercept, dual = self.problem.zero_pair()
            coef = self.problem.move_into_constraints(zeros)
            self.best.keep(coef, intercept, dual, author, lambda *_: (NOTHING, dual))
        return self.direction is not None

    def check_answered(self, status: Status) -> None:
        """Raise if a run was stopped and no answer is known: zeros with an open gap are none."""
        pair, gap = self.best.pair, self.best.certificate.relative_gap
        is_known = pair is not None and (gap <= _USELESS_GAP or bool(np.any(pair[0])))
        if is_known or status not in (Status.TIME_LIMIT, Status.STOPPED):
            return
        if time_left() < math.inf and not self.clock.stopped:
            raise OutOfTime  # of a larger call, which has answers to other parts
        why = f"time_limit={self.limits.time_limit!r}: the time was up"
        if self.clock.stopped:
            why = "The callback stopped the solve"
        raise NoAnswerError(f"{why} before a first answer was known.")

    # ---- whether to stop --------------------------------------------------------------------

    def verdict(self, tol: float) -> Status | None:
        """Return how the run ends here, or None if it goes on."""
        best = self.best
        is_solved = best.certificate.holds(tol)
        if not is_solved and best.can_meet(tol) and not self.is_over():
            best.combine()
            is_solved = best.certificate.holds(tol)
        if is_solved:
            return Status.SOLVED
        if self.clock.stopped:
            return Status.STOPPED
        if self.clock.left() <= self._certificate_seconds < math.inf:
            return Status.TIME_LIMIT  # what a solver finds from here on could not be certified
        return None

    def _verdict_after_repair(
        self, form: Any, method: Any, state: Any, tol: float
    ) -> Status | None:
        """Certify the current point with repaired multipliers and return the verdict."""
        if not isinstance(self.problem, Problem):
            return None
        coef, intercept, dual = form.invert(method.point(state))
        moved = moved_into_dual_range(self.problem, dual)
        if moved is None:
            return None
        self.best.offer(coef, intercept, moved, method.name)
        return self.verdict(tol)

    # ---- stages -----------------------------------------------------------------------------

    def run_stages(
        self,
        stages: Sequence[Stage],
        tol: float,
        most: int | None = None,
        state: Any = None,
    ) -> Status:
        """Run the stages in turn until one of them closes the gap or a limit of the run ends it.

        The first stage may go on from `state`. Those that do not take the problem are left out.
        `most` bounds the iterations of each stage.
        """
        ended = Status.STALLED
        self.best.tol = tol
        for stage in stages:
            over = self.verdict(tol) if self.best.pair is not None else None
            if over is not None:
                return over
            if self.n_iter == self.limits.max_iter:
                return Status.ITERATION_LIMIT
            if stage.method.refuses(self.problem) is not None:
                continue
            try:
                status = _end_of(self.bursts(stage, tol, most, state, stage is stages[-1]))
            except Declined:
                continue
            except (ArithmeticError, np.linalg.LinAlgError):
                # Numbers too large or too small for this solver; another one may cope.
                if self.best.pair is None:
                    if not isinstance(self.problem, Problem):
                        raise
                    coef, intercept, dual = self.problem.zero_pair()
                    self.best.offer(coef, intercept, dual, stage.method.name)
                status = Status.STALLED
            state = None
            if status in _FINAL:
                if status is Status.STOPPED:
                    self.best.combine()
                return status
            if self._falls(stage.method.name):
                return Status.UNBOUNDED
            if status is Status.ITERATION_LIMIT:
                ended = status
        self.best.combine()
        return self.concluded(ended, tol)

    def concluded(self, ended: Status, tol: float | None = None) -> Status:
        """Return how the run ends whose last stage has ended like this."""
        over = self.verdict(self.limits.tol if tol is None else tol)
        return over or (Status.TIME_LIMIT if self.ran_out else ended)

    def bursts(
        self,
        stage: Stage,
        tol: float,
        most: int | None = None,
        state: Any = None,
        is_last: bool = True,
    ) -> Generator[None, None, Status]:
        """Yield between two bursts of a solver; return how it ended."""
        method, best = stage.method, self.best
        self.reasons.append(stage.reason)
        self.tried.append(method.name)
        limit = method.default_max_iter
        if self.limits.max_iter is not None:
            limit = self.limits.max_iter - self.n_iter
        limit = limit if most is None else min(limit, most)
        try:
            form, state = self._started(stage, state)
        except OutOfTime:
            self.ran_out = True  # the steps of another solver may fit
            return Status.STALLED
        self.moving, self.counted = (form, method, state), getattr(state, "counted", dict)
        done, burst, target, refused, idle = 0, method.first_burst, 0.9 * tol, 0, 0
        while True:
            budget = self._budget(min(burst, limit - done), target)
            try:
                with polled(self.clock), asked_at_checkpoints(budget):
                    step = method.advance(state, budget)
            except OutOfTime:
                self.ran_out = True
                checkpoint(seconds=self._certificate_seconds)
                self._certify(form, method, state)
                self.report(method.name)
                return self.verdict(tol) or Status.STALLED  # the steps of another one may fit
            done += step.iterations
            self.n_iter += step.iterations
            if step.exhausted and step.iterations == 0 and best.pair is not None:
                return Status.STALLED  # nothing has moved since the last certificate
            try:
                certificate = self._certify(form, method, state)
            except OutOfTime:  # a first one takes longer than what is left
                if done == 0 and best.pair is None:
                    self.ran_out = True  # the steps of another solver may fit
                    return Status.STALLED
                is_over = step.iterations == 0 or step.exhausted or done >= limit
                if is_over or best.pair is not None or self.clock.is_late:
                    raise
                burst = min(2 * burst, _LONGEST_BURST)
                yield
                continue
            self.report(method.name)
            status = self.verdict(tol)
            if status is None and (step.reached or step.exhausted):
                status = self._verdict_after_repair(form, method, state, tol)
            if status is not None:
                return status
            if done >= limit:
                return Status.ITERATION_LIMIT
            idle = idle + 1 if step.iterations == 0 else 0
            if step.exhausted or idle >= _MOST_IDLE_BURSTS:
                # Not exhausted, but idle under a limit: its next step takes longer than is left.
                self.ran_out |= not step.exhausted and self.clock.left() < math.inf
                return Status.STALLED
            if step.reached:
                target *= _TIGHTENING_FACTOR
                refused += 1
            if refused >= _MOST_UNCERTIFIED_ANSWERS and not is_last:
                return Status.STALLED  # its own estimate met the target, the certificate did not
            if hasattr(method, "learn"):
                method.learn(state, certificate)
            burst = min(2 * burst, _LONGEST_BURST)
            yield
            if self.clock.stopped:
                return Status.STOPPED

    def _started(self, stage: Stage, state: Any) -> tuple[Any, Any]:
        """Return the form of the problem and the state of the solver at its start."""
        method, best = stage.method, self.best
        with polled(self.clock), asked_at_checkpoints(self._budget(0, 0.0)):
            form = method.form.apply(self.problem)
            if state is None:
                useless = len(self.tried) > 1 and best.certificate.relative_gap > _USELESS_GAP
                pair = None if stage.is_cold or useless else best.pair or best.start
                warm = None if pair is None else form.point_of(*pair[:3])
                state = method.start(form, warm, self.limits.seed)
        return form, state

    def _budget(self, iterations: int, target: float) -> Budget:
        primal = self.best.certificate.primal
        return Budget(
            iterations,
            math.inf,
            target,
            primal if math.isfinite(primal) else None,
            self.best.gap,
            self.clock,
            self._certificate_seconds,
            self.callback,
        )

    def _certify(self, form: Any, method: Any, state: Any) -> Certificate:
        """Certify the pair of the solver, unless it comes with a proof of its own."""
        before = self.clock.seconds
        coef, intercept, dual = form.invert(method.point(state))
        if hasattr(form, "prove"):
            certificate = self.best.keep(coef, intercept, dual, method.name, form.prove)
        else:
            certificate = self.best.offer(coef, intercept, dual, method.name)
        self._certificate_seconds = self.clock.seconds - before
        return certificate

    # ---- reports ----------------------------------------------------------------------------

    def report(self, name: str) -> None:
        """Add the best certificate to the history and tell the callback, which may stop us."""
        record = self._progress(name)
        self.history.append(record)
        if self.callback is None or self.clock.stopped:  # nobody who has said stop is asked again
            return
        if self.callback(record):
            self.clock.stop()
        self.clock.reported()

    def _report_again(self) -> bool:
        """Tell the callback that work goes on, between two certificates."""
        assert self.callback is not None
        return bool(self.callback(self._progress(self.tried[-1] if self.tried else "none")))

    def _progress(self, name: str) -> Progress:
        return Progress(name, self.n_iter, self.clock.seconds, self.best.certificate)

    def limited(self, status: Status) -> Status:
        """Return the status after a last look at the best pair with the sharpest bound on rounding.

        That may prove the target after all, or that rounding keeps it out of reach. The optimum of
        an exact fit is the rounding of its targets: no answer is better than one within it.
        """
        if status in (Status.STALLED, Status.ITERATION_LIMIT):
            self.best.tol = self.limits.tol
            limited = self.best.sharpen()
            best = self.best.certificate
            if best.holds(math.inf if best.is_rounding else self.limits.tol):
                return Status.SOLVED
            if limited:
                return Status.PRECISION_LIMIT
        return status
