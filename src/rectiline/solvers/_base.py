"""The types that solvers and the drivers share: budgets, steps, stages, reports."""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, ClassVar, NamedTuple, Protocol

from rectiline._polling import Clock
from rectiline._typing import Vector
from rectiline.problems import Certificate, DualPoint

Pair = tuple[Vector, float, DualPoint]

__all__ = [
    "Budget",
    "Callback",
    "Declined",
    "Pair",
    "Progress",
    "Solver",
    "Stage",
    "Step",
]


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
        Most seconds from the moment the budget was made.
    relative_gap : float
        Target of the solver's own estimate.
    objective : float or None
        Certified so far; None before the first certificate.
    gap : float
        Certified distance of the best point from the best bound.
    clock : Clock or None
        The clock of the whole call, which may end before `seconds` have passed.
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
    began: float = field(default_factory=time.perf_counter)

    @property
    def absolute_gap(self) -> float:
        """The target in units of the objective, once that is known; 0 before."""
        return 0.0 if self.objective is None else self.relative_gap * abs(self.objective)

    def left(self) -> float:
        """Return the seconds left."""
        left = math.inf
        if self.seconds < math.inf:
            left = self.began + self.seconds - time.perf_counter()
        if self.clock is not None:
            left = min(left, self.clock.left() - self.reserve)
        return max(left, 0.0)

    def is_over(self) -> bool:
        """Return whether to stop now; loops that take longer than a millisecond ask each time."""
        if self.clock is not None and self.clock.poll():
            return True
        return self.left() <= 0.0


class Step(NamedTuple):
    """What one burst did. ``reached``: the solver's own estimate met the target."""

    iterations: int
    reached: bool
    exhausted: bool = False  # the solver cannot get any further on its own
    impatient: bool = False  # it could, but its patience has run out


class Solver(Protocol):
    """A solver moves a primal-dual pair of a form; whether the pair is good is not its business.

    Concrete solvers are frozen dataclasses whose fields are their options. A solver that gains from
    what has been proved about its pair has a method ``learn(state, certificate)`` besides.
    """

    name: ClassVar[str]
    form: ClassVar[type[Any]]  # a Form
    default_max_iter: ClassVar[int]
    first_burst: ClassVar[int]  # iterations until the first certificate; bursts double from there

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
