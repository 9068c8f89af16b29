"""`passes`: many rows, in memory or in blocks, in a few passes over them.

1. Draw a sample and solve on it; its sampling error says how far the answer may be (`_reach`).
2. First pass: split. Rows farther than that from every knot of their loss are frozen on their
   piece: together they are one linear and one quadratic term. The others are kept.
3. Solve the reduced problem: kept rows, that term, penalty and constraints (`_reduced`).
4. Next pass: evaluate the answer on all rows, and split again around it within a smaller reach. If
   the certificate refuses the answer, go on with 3.

A burst is such a round: one pass, two at first. Several problems on the same rows (a family) share
their passes: each block is read once for all of them (`_group`).
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, ClassVar

from rectiline.problems import Certificate
from rectiline.solvers._base import Budget, Step
from rectiline.solvers.rows._group import RowMember
from rectiline.solvers.rows._row_run import RowRun

__all__ = ["Rows", "RowsTrial"]


@dataclass(frozen=True, slots=True)
class Rows:
    """The solver; it has no options."""

    name: ClassVar[str] = "passes"
    form: ClassVar[type[Any]] = RowMember
    default_max_iter: ClassVar[int] = 30
    first_burst: ClassVar[int] = 2
    declines: ClassVar[bool] = False

    @staticmethod
    def refuses(problem: Any) -> str | None:
        """Return None: rows of any problem can be skipped."""
        return None

    def start(self, form: RowMember, warm: None, seed: int) -> RowMember:
        """Return the state before anything is known; the sample is drawn by the first burst."""
        return replace(form, seed=seed)

    def advance(self, state: RowMember, budget: Budget) -> Step:
        """Make one round."""
        return state.group.advance(state.place, budget, state.seed, self.declines)

    def point(self, state: RowMember) -> RowRun | None:
        """Return the evaluated candidate; None before there is a sample."""
        return state.run

    def learn(self, state: RowMember, certificate: Certificate) -> None:
        """Prepare the next round: the candidate was refused."""
        if state.run is not None and state.run.evaluated is not None:
            state.run.go_on(certificate)


@dataclass(frozen=True, slots=True)
class RowsTrial(Rows):
    """The first try of `auto`: it gives up early, and where too many rows are near a knot."""

    default_max_iter: ClassVar[int] = 8
    declines: ClassVar[bool] = True
