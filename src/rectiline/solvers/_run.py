"""The loop that all solvers share: bursts, certificates, limits, callbacks and hand-overs.

`solve` and `solve_multitask` make a `Run` and give it stages. Whether a pair is good enough is
decided in `Run.verdict` alone.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable, Generator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from rectiline import _core
from rectiline._polling import (
    Clock,
    OutOfTime,
    asked_at_checkpoints,
    checkpoint,
    grace_of,
    time_left,
)
from rectiline.exceptions import ConvergenceWarning
from rectiline.problems import Certificate, DualPoint, Problem
from rectiline.solvers._base import Budget, Callback, Declined, Progress, Stage
from rectiline.solvers._best import Best
from rectiline.solvers._status import Status

__all__ = ["Run", "RunLimits", "polled"]

_LONGEST_BURST = 320
_USELESS = 0.9  # relative gap of a pair that an earlier solver left and no other starts from
_TIGHTEN = 0.3  # a target that was reached but not certified is tightened by this factor
_MOST_REFUSED = 8  # uncertified answers of a solver before the next one takes over
_MOST_RESERVED = 0.5  # of the time limit, for a first certificate
_MOST_IDLE = 3  # bursts without an iteration that end a stage
_FINAL = (Status.SOLVED, Status.STOPPED, Status.TIME_LIMIT, Status.PRECISION_LIMIT)


def _learn_nothing(state: Any, certificate: Certificate) -> None:
    """Stand in for the method that solvers may leave out."""


class polled:
    """While entered, compiled loops of this thread poll the clock, if it makes reports."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock if clock.is_polled else None

    def __enter__(self) -> None:
        if self._clock is not None:
            self._before = _core.set_poll(self._clock.poll)

    def __exit__(self, *_: object) -> None:
        if self._clock is not None:
            _core.set_poll(self._before)


@dataclass(frozen=True, slots=True)
class RunLimits:
    """What a run may spend and where it may stop; checked by `checked_limits`."""

    tol: float
    max_iter: int | None
    time_limit: float | None
    seed: int


class Run:
    """One call of a driver: its limits, the best pair, the history and the callback."""

    def __init__(
        self,
        problem: Any,
        limits: RunLimits,
        callback: Callback | None = None,
        outer: Clock | None = None,
        certificate_seconds: float = 0.0,
        repair: Callable[[Any, Any], Any] | None = None,
    ) -> None:
        self.problem, self.limits, self.callback = problem, limits, callback
        self.best = Best(problem, limits.tol)
        self._repair = repair  # of multipliers that prove too little
        self.history: list[Progress] = []
        self.reasons: list[str] = []
        self.n_iter = 0
        self.tried: list[str] = []
        self.direction: Any = None  # along which the objective falls without end
        self.falls: Callable[[Any], Any] | None = None  # looks for it when a solver has failed
        self._ran_out = False  # whether a solver could not be prepared in the time left
        self.last: tuple[Any, Any] | None = None  # the solver that ran last, and its state
        self.counted: Callable[[], dict[str, int]] = dict  # what that solver has counted, by name
        report = None if callback is None else self._report_again
        # Whoever is asked at checkpoints around this run may leave it less time.
        limit = math.inf if limits.time_limit is None else limits.time_limit
        ends = min(limit, time_left())
        self.clock = Clock(ends if ends < math.inf else None, report, outer)
        # A guess, until one has been made; it must not leave a solver without any time.
        self._certificate_seconds = min(certificate_seconds, _MOST_RESERVED * ends)
        self._grace = grace_of(limits.time_limit)

    # ---- time -------------------------------------------------------------------------------

    def is_over(self) -> bool:
        """Return whether work has to stop that is not a solver's, such as a certificate."""
        self.clock.poll()  # it may report
        return self.left() <= 0.0

    def left(self) -> float:
        """Return the seconds left for such work.

        It may exceed the limit by some grace, unless zero coefficients would be certified after it.
        """
        return self.clock.left(0.0 if self.best.pair is None else self._grace)

    def within_limits(self, work: Callable[[], Status], author: str) -> Status:
        """Return how the work of a run ends.

        When time runs out before anything has been certified, zero coefficients are, which is
        cheap; `author` is said to have found them.
        """
        try:
            with asked_at_checkpoints(self):
                return work()
        except OutOfTime:
            return self.out_of_time(author)

    def out_of_time(self, author: str) -> Status:
        """Return how a run ends that has no time left; `author` has found what there is."""
        if self.best.pair is None:
            with asked_at_checkpoints(None):
                coef, intercept, _ = self.problem.zero_pair()
                self.best.keep(coef, intercept, self.problem.zero_dual(), author)
            self.report(author)
        return self.verdict(self.limits.tol) or Status.TIME_LIMIT

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
        if self._repair is None:
            return None
        coef, intercept, dual = form.invert(method.point(state))
        moved = self._repair(self.problem, dual)
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
        after_others: bool = False,
    ) -> Status:
        """Run the stages in turn until one of them closes the gap or a limit of the run ends it.

        The first stage is known to take the problem unless these stages come `after_others`, and
        may go on from `state`; later ones are asked when their turn comes. `most` bounds the
        iterations of each stage.
        """
        ended = Status.STALLED
        self.best.tol = tol
        for place, stage in enumerate(stages):
            is_first = place == 0 and not after_others
            over = self.verdict(tol) if self.best.pair is not None else None
            if over is not None:
                return over
            if self.n_iter == self.limits.max_iter:
                return Status.ITERATION_LIMIT
            if not is_first and stage.method.refuses(self.problem) is not None:
                continue
            try:
                status = self._run_stage(stage, tol, is_first, stage is stages[-1], most, state)
            except Declined:
                continue
            except (ArithmeticError, np.linalg.LinAlgError):
                # Numbers too large or too small for this solver; another one may cope.
                self._have_some_pair(stage.method.name)
                status = Status.STALLED
            state = None
            if status in _FINAL:
                if status is Status.STOPPED:
                    self.best.combine()
                return status
            if self.falls is not None:  # once is enough
                self.direction, self.falls = self.falls(self.problem), None
                if self.direction is not None:
                    return Status.UNBOUNDED
            if status is Status.ITERATION_LIMIT:
                ended = status
        self.best.combine()
        return self.concluded(ended, tol)

    def concluded(self, ended: Status, tol: float | None = None) -> Status:
        """Return how the run ends whose last stage has ended like this."""
        over = self.verdict(self.limits.tol if tol is None else tol)
        return over or (Status.TIME_LIMIT if self._ran_out else ended)

    def _have_some_pair(self, author: str) -> None:
        """Certify zero coefficients if nothing has been certified yet."""
        if self.best.pair is None:
            if not isinstance(self.problem, Problem):
                raise
            nothing = DualPoint(np.zeros(self.problem.n_samples))
            self.best.offer(np.zeros(self.problem.n_features), 0.0, nothing, author)

    def _run_stage(
        self,
        stage: Stage,
        tol: float,
        is_first: bool,
        is_last: bool,
        most: int | None,
        state: Any,
    ) -> Status:
        """Run one solver until it is done, exhausted, or at a limit."""
        bursts = self.bursts(stage, tol, is_first, is_last, most, state)
        while True:
            try:
                next(bursts)
            except StopIteration as end:
                status: Status = end.value
                return status

    def bursts(
        self,
        stage: Stage,
        tol: float,
        is_first: bool = True,
        is_last: bool = True,
        most: int | None = None,
        state: Any = None,
        form: Any = None,
    ) -> Generator[None, None, Status]:
        """Yield between two bursts of a solver; return how it ended.

        `form` is that of the problem, if it has been made.
        """
        method, best = stage.method, self.best
        self.reasons.append(stage.reason)
        self.tried.append(method.name)
        limit = method.default_max_iter
        if self.limits.max_iter is not None:
            limit = self.limits.max_iter - self.n_iter
        limit = limit if most is None else min(limit, most)
        try:
            form, state = self._started(stage, is_first, state, form)
        except OutOfTime:
            return self._cut_short(lambda: self._keep_zero(method.name), method.name, tol)
        self.last, self.counted = (method, state), getattr(state, "counted", dict)
        done, burst, target, refused, idle = 0, method.first_burst, 0.9 * tol, 0, 0
        while True:
            budget = self._budget(min(burst, limit - done), target)
            try:
                with polled(self.clock), asked_at_checkpoints(budget):
                    step = method.advance(state, budget)
            except OutOfTime:
                self.last = None  # its state may be that of half a step
                return self._cut_short(lambda: self._certify(form, method, state), method.name, tol)
            done += step.iterations
            self.n_iter += step.iterations
            if step.exhausted and step.iterations == 0 and best.pair is not None:
                return Status.STALLED  # nothing has moved since the last certificate
            certificate = self._certify(form, method, state)
            self.report(method.name)
            status = self.verdict(tol)
            if status is None and (step.reached or step.exhausted) and not step.impatient:
                status = self._verdict_after_repair(form, method, state, tol)
            if status is not None:
                return status
            if done >= limit:
                return Status.ITERATION_LIMIT
            idle = idle + 1 if step.iterations == 0 else 0
            if step.exhausted or idle >= _MOST_IDLE:
                # Not exhausted, but idle under a limit: its next step takes longer than is left.
                self._ran_out |= not step.exhausted and self.clock.left() < math.inf
                return Status.STALLED
            if step.reached:
                target *= _TIGHTEN
                refused += 1
            if refused >= _MOST_REFUSED and not is_last:
                return Status.STALLED  # its own estimate met the target, the certificate did not
            getattr(method, "learn", _learn_nothing)(state, certificate)
            burst = min(2 * burst, _LONGEST_BURST)
            yield
            if self.clock.stopped:
                return Status.STOPPED

    def _started(self, stage: Stage, is_first: bool, state: Any, form: Any) -> tuple[Any, Any]:
        """Return the form of the problem and the state of the solver at its start."""
        method, best = stage.method, self.best
        with polled(self.clock), asked_at_checkpoints(self._budget(0, 0.0)):
            form = method.form.apply(self.problem) if form is None else form
            if state is None:
                useless = not is_first and best.certificate.relative_gap > _USELESS
                is_cold = stage.is_cold or useless or best.pair is None
                warm = None if is_cold or best.pair is None else form.point_of(*best.pair)
                state = method.start(form, warm, self.limits.seed)
        return form, state

    def _keep_zero(self, author: str) -> None:
        """Certify zero coefficients if nothing has been certified yet."""
        if self.best.pair is None:
            coef, intercept, dual = self.problem.zero_pair()
            self.best.keep(coef, intercept, dual, author)

    def _cut_short(self, certify: Callable[[], object], name: str, tol: float) -> Status:
        """End a stage whose next piece of work does not fit into the time left.

        Its pair is certified if there is time for that; the steps of another solver may fit.
        """
        self._ran_out = True
        checkpoint(seconds=self._certificate_seconds)
        certify()
        self.report(name)
        return self.verdict(tol) or Status.STALLED

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
        record = Progress(name, self.n_iter, self.clock.seconds, self.best.certificate)
        self.history.append(record)
        if self.callback is None or self.clock.stopped:  # nobody who has said stop is asked again
            return
        if self.callback(record):
            self.clock.stop()
        self.clock.reported()

    def _report_again(self) -> bool:
        """Tell the callback that work goes on, between two certificates."""
        assert self.callback is not None
        name = self.tried[-1] if self.tried else "none"
        return bool(
            self.callback(Progress(name, self.n_iter, self.clock.seconds, self.best.certificate))
        )

    def limited(self, status: Status) -> Status:
        """Return the status after a last look at the best pair with the sharpest bound on rounding.

        That may prove the target after all, or that rounding keeps it out of reach.
        """
        if status in (Status.STALLED, Status.ITERATION_LIMIT):
            self.best.tol = self.limits.tol
            limited = self.best.sharpen()
            if self.best.certificate.holds(self.limits.tol):
                return Status.SOLVED
            if limited:
                return Status.PRECISION_LIMIT
        return status

    def warn(self, status: Status, stacklevel: int) -> None:
        """Warn about an answer that is not what was asked for."""
        if not status.deserves_warning:
            return
        proof = self.best.certificate
        names = " and ".join(dict.fromkeys(map(repr, self.tried))) or "The solve"
        unit = "passes" if self.tried == ["passes"] else "iterations"
        where = (
            f"at a certified relative gap of {proof.relative_gap:.1e} (tol={self.limits.tol:.1e}) "
            f"and a constraint violation of {proof.violation:.1e}"
        )
        if math.isinf(proof.relative_gap):
            where = "before an answer was judged on all rows: nothing is certified"
        warnings.warn(
            f"{names} ended ({status.value}) after {self.n_iter} {unit} {where}. {status.advice}",
            ConvergenceWarning,
            stacklevel=stacklevel + 1,
        )
