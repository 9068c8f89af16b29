"""The types that solvers and the drivers share: budgets, steps, stages, reports, sessions."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple, Protocol

from rectiline import _core
from rectiline._polling import Clock
from rectiline._typing import Vector
from rectiline.problems import Certificate, DualPoint, Problem


class Pair(NamedTuple):
    """Coefficients, intercept and multipliers, in the terms of the problem."""

    coef: Vector
    intercept: float
    dual: DualPoint


class Declined(Exception):
    """Raised by a solver that does not suit the problem after all; the next one takes over."""


@dataclass(frozen=True, slots=True)
class Progress:
    """One certified point on the way, as callbacks and `Solution.history` see it."""

    solver: str
    n_iter: int
    seconds: float
    certificate: Certificate

    @property
    def relative_gap(self) -> float:
        """The certified relative gap."""
        return self.certificate.relative_gap


Callback = Callable[[Progress], Any]


@dataclass(eq=False, slots=True)
class Budget:
    """What one burst of a solver may spend, and where it should stop by its own estimate.

    Attributes
    ----------
    iterations : int
        Most iterations.
    seconds : float
        Most seconds from the moment the budget was made, unless a clock is given.
    relative_gap : float
        Target of the solver's own estimate.
    objective : float or None
        Certified so far; None before the first certificate.
    gap : float
        Certified distance of the best point from the best bound.
    clock : Clock or None
        The clock of the whole call.
    reserve : float
        Seconds of the whole call that the solver must leave for its certificate.
    callback : callable or None
        Who is told about certificates, and perhaps wants to know more.
    """

    iterations: int
    seconds: float
    relative_gap: float
    objective: float | None = None
    gap: float = math.inf
    clock: Clock | None = None
    reserve: float = 0.0
    callback: Callback | None = None

    def __post_init__(self) -> None:
        self.clock = self.clock or Clock(self.seconds)

    def left(self) -> float:
        """Return the seconds left."""
        assert self.clock is not None
        return max(self.clock.left() - self.reserve, 0.0)

    def is_over(self) -> bool:
        """Return whether to stop now; loops that take longer than a millisecond ask each time."""
        assert self.clock is not None
        return self.clock.poll() or self.left() <= 0.0


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


class Step(NamedTuple):
    """What one burst did. ``reached``: the solver's own estimate met the target."""

    iterations: int
    reached: bool
    exhausted: bool = False  # the solver cannot, or will not, get any further on its own


class Solver(Protocol):
    """Base class of solvers, which move a primal-dual pair. Stopping is decided by `solve`.

    Concrete solvers are frozen dataclasses whose fields are their options. A solver that gains from
    what has been proved about its pair has a method ``learn(state, certificate)`` besides.
    """

    name: ClassVar[str]
    default_max_iter: ClassVar[int]
    first_burst: ClassVar[int]  # iterations until the first certificate; bursts double from there

    @property
    def form(self) -> Any:
        """A class of forms, or what else has a method `apply`."""

    def refuses(self, problem: Any) -> str | None:
        """Return why this solver cannot take the problem, or None if it can."""

    def start(self, form: Any, warm: Any | None, seed: int) -> Any:
        """Return the solver's state at a starting point (`warm` is a point of the form)."""

    def advance(self, state: Any, budget: Budget) -> Step:
        """Move the state within the budget."""

    def point(self, state: Any) -> Any:
        """Return the current primal-dual pair as a point of the form."""


class Stage(NamedTuple):
    """A configured solver, why it is its turn, and whether it starts without the best pair."""

    method: Solver
    reason: str
    is_cold: bool = False


@dataclass(slots=True, eq=False)
class Session:
    """Carries the state of a solver from one call of `solve` to the next.

    Pass one session to several calls on problems that share their data. A solver with a method
    ``restart(state, form)`` may go on from its last state where the problems differ by no more
    than it can follow; all others start as usual.
    """

    method: Solver | None = None
    state: Any = None

    @property
    def is_hot(self) -> bool:
        """Whether there is a state to go on from."""
        return self.state is not None and hasattr(self.method, "restart")

    def take(self, method: Solver, problem: Problem) -> Any | None:
        """Return the kept state moved to `problem`, or None; the session is empty afterwards."""
        is_hot, state, self.state = self.is_hot, self.state, None
        if not is_hot or method != self.method:
            return None
        return method.restart(state, method.form.apply(problem))  # type: ignore[attr-defined]

    def keep(self, method: Solver, state: Any) -> None:
        """Keep the state that a solve ended with."""
        self.method, self.state = method, state


@dataclass(frozen=True, slots=True, eq=False)
class Candidate:
    """A pair at one strength, before its certificate.

    Attributes
    ----------
    strength : float
        Of the penalty.
    coef, intercept
        In the terms of the problem.
    dual : DualPoint
        Multipliers; a certificate repairs them first.
    n_iter : int
        Steps that were taken from the candidate before.
    seconds : float
        Wall time of these steps.
    """

    strength: float
    coef: Vector
    intercept: float
    dual: DualPoint
    n_iter: int
    seconds: float


class PathFollower(Protocol):
    """A method that moves one pair from strength to strength and is never started anew.

    Attributes
    ----------
    name : str
        Of the solver that it belongs to.
    """

    name: str

    def place(self, coef: Vector, intercept: float, dual: DualPoint) -> None:
        """Start at a pair."""

    def move(self, strength: float, seconds: float) -> Candidate | None:
        """Return a candidate at a strength; None if the method did not get there."""
