"""The state of a solver, carried from one `solve` to the next along a path; `paths` makes one.

`solve` takes a `Session` as an argument and stores in it what its last solver ended with.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from rectiline.problems import Problem
from rectiline.solvers._base import Solver

__all__ = ["Session"]


@dataclass(slots=True, eq=False)
class Session:
    """Carries the state of a solver from one call of `solve` to the next.

    Pass one session to several calls on problems that share their data. A solver with a method
    ``restart(state, form)`` may go on from its last state where the problems differ by no more
    than it can follow; all others start as usual.
    """

    method: Solver | None = None
    state: Any = None

    def take(self, method: Solver, problem: Problem) -> Any | None:
        """Return the kept state moved to `problem`, or None; the session is empty afterwards."""
        state, self.state = self.state, None
        restart = getattr(method, "restart", None)
        if state is None or restart is None or method != self.method:
            return None
        return restart(state, method.form.apply(problem))

    def keep(self, method: Solver, state: Any) -> None:
        """Keep the state that a solve ended with."""
        self.method, self.state = method, state
