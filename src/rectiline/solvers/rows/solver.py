"""`passes`: many rows, in memory or in blocks, in a few passes over them.

1. Draw a sample and solve on it; its sampling error says how far the answer may be (`_start`).
2. First pass: split. Rows farther than that from every knot of their loss are frozen on their
   piece: together they are one linear and one quadratic term. The others are kept.
3. Solve the reduced problem: kept rows, that term, penalty and constraints (`_reduced`).
4. Next pass: evaluate the answer on all rows, and split again around it within a smaller reach. If
   the certificate refuses the answer, go on with 3.

A burst is such a round: one pass, two at first. Several problems on the same rows (a family) share
their passes: each block is read once for all of them (`RowGroup`).

Each problem has a run of the driver of its own; the first of them that goes on makes the next round
of passes for all. A pass evaluates an answer and splits the rows around it at once, so the driver
is handed what the pass has proved (`RowMember.prove`) instead of proving it again.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, cast

import numpy as np

from rectiline._polling import OutOfTime, asked_at_checkpoints, checkpoint, time_left
from rectiline._typing import Vector
from rectiline.problems import Certificate, Problem
from rectiline.problems.blocks import PassState, Query, SplitDual, Totals, run_pass
from rectiline.rows import TensorRows
from rectiline.solvers._base import Budget, Declined, Pair, Step
from rectiline.solvers._best import NOTHING
from rectiline.solvers._show import ReportingCallback
from rectiline.solvers.rows._draw import SampleCutShort, sample_all
from rectiline.solvers.rows._large_entries import with_missed_rows
from rectiline.solvers.rows._resume import Checkpoint
from rectiline.solvers.rows._row_run import RowRun
from rectiline.solvers.rows._start import rough_answers, start_runs


class RowMember:
    """One problem of a group: the form that the driver applies, and the state that it moves.

    On blocks the driver sees this in place of the problem: only passes prove anything.

    Attributes
    ----------
    fallback : tuple
        Coefficients and intercept if time runs out before anything has been evaluated.
    group : RowGroup
        The problems that share their passes with it.
    place : int
        Its place among them.
    step : Step or None
        What the last round has done for it, until the driver hears of it.
    seed : int
        Of the sample.
    """

    is_constrained = False  # answers are moved into the constraints before they are evaluated
    group: RowGroup
    place: int

    def __init__(self, problem: Problem) -> None:
        self.problem = problem
        self.terms, self.n_features = problem.terms, problem.n_features
        self.fallback: tuple[Vector, float] = (np.zeros(problem.n_features), 0.0)
        self.step: Step | None = None
        self.seed = 0
        self._proved: list[tuple[Vector, Certificate]] = []

    @classmethod
    def apply(cls, problem: Problem) -> RowMember:
        """Return a problem that shares its rows with no other."""
        return RowGroup([cls(problem)]).members[0]

    @property
    def run(self) -> RowRun | None:
        """The moving state, once there is a sample."""
        return self.group.runs[self.place] if self.group.runs else None

    def counted(self) -> dict[str, int]:
        """Return the passes of the group, and the most rows that were kept."""
        kept = 0 if self.run is None else self.run.rows_kept
        return {"passes": self.group.passes, "rows_kept": kept}

    def point_of(self, *_: Any) -> None:
        """Return nothing: a sample is a better start than any pair."""

    def invert(self, run: RowRun | None) -> Pair:
        """Return the evaluated candidate, or what to fall back on before there is one."""
        if run is None or run.evaluated is None:
            return Pair(*self.zero_pair())
        self.note(run.evaluated.coef, run.evaluated.certificate)
        return Pair(*run.evaluated[:3])

    def zero_pair(self) -> tuple[Vector, float, Any]:
        """Return what to fall back on, about which nothing is known."""
        if self.problem.is_in_memory:
            return self.problem.zero_pair()
        return (*self.fallback, SplitDual(*self.fallback))

    def note(self, coef: Vector, certificate: Certificate) -> None:
        """Take what a pass has proved about coefficients."""
        self._proved.append((coef, certificate))

    def prove(
        self, coef: Vector, intercept: float, dual: Any, tol: float | None = None
    ) -> tuple[Certificate, Any]:
        """Return what passes have proved about coefficients; on blocks nothing else is known."""
        known = [proof for evaluated, proof in self._proved if evaluated is coef]
        if not known and self.problem.is_in_memory:
            return self.problem.prove(coef, intercept, dual, tol)
        return known[-1] if known else NOTHING, dual


class RowGroup:
    """Problems on the same rows.

    Parameters
    ----------
    members : sequence of RowMember
    passes : int
        Passes that were made before.
    checkpoint : Checkpoint or None
        Where to write what the first pass finds, and to go on from.

    Attributes
    ----------
    passes : int
        Full passes over the rows so far.
    runs : list of RowRun
        The moving state of each problem, once there is a sample.
    """

    def __init__(
        self,
        members: Sequence[RowMember],
        passes: int = 0,
        checkpoint: Checkpoint | None = None,
    ) -> None:
        self.members, self.passes, self._checkpoint = list(members), passes, checkpoint
        self.runs: list[RowRun] = []
        for place, one in enumerate(self.members):
            one.group, one.place = self, place
        self._problems = [one.problem for one in self.members]
        self._is_broken = False  # whether time ran out in the middle of a round

    def apply(self, problem: Any) -> RowMember:
        """Return the member of the group that the driver sees as `problem`."""
        return next(one for one in self.members if problem is one or problem is one.problem)

    def advance(self, member: RowMember, budget: Budget, declines: bool) -> Step:
        """Move one problem; the first that asks makes a round for all that go on."""
        if member.step is None and member.run is not None and member.run.is_done:
            return Step(0, False, exhausted=True)
        if member.step is None:
            if self._is_broken:
                raise OutOfTime
            self._is_broken = True
            self._round(budget, member.seed, declines)
            self._is_broken = False
        step, member.step = member.step, None
        assert step is not None
        return step

    def _round(self, budget: Budget, seed: int, declines: bool) -> None:
        """Solve reduced problems and evaluate their answers on all rows; at first, split rows."""
        before = self.passes
        known = None if self.runs or self._checkpoint is None else self._checkpoint.load()
        if not self.runs:
            if declines and budget.iterations < Rows.first_burst:
                raise Declined
            tell, drawn = self._listener(budget, 0), None if known is None else known[0]
            tol = budget.relative_gap
            try:
                self.runs = start_runs(self._problems, tol, seed, declines, tell, drawn)
            except SampleCutShort as stop:
                with asked_at_checkpoints(None):
                    self._fall_back_on(rough_answers(self._problems, stop.sample))
                raise
            self._fall_back_on([(run.coef, run.intercept) for run in self.runs])
        active = [run for run in self.runs if not run.is_done]
        if active[0].near is None:
            active = self._split(budget, seed, declines, None if known is None else known[1])
        if self.passes - before < budget.iterations:  # else no pass is left to evaluate with
            for run in active:
                run.resolve()
            queries = [run.query() for run in active]
            for run, totals in zip(active, self._pass(queries, budget), strict=True):
                run.take(totals)
        for member in self.members:
            if self.runs[member.place] in active:
                member.step = Step(self.passes - before, False)

    def _fall_back_on(self, answers: Sequence[tuple[Vector, float]]) -> None:
        """Note answers on a sample, in case that time runs out before others are evaluated."""
        for one, answer in zip(self.members, answers, strict=True):
            one.fallback = answer

    def _split(
        self, budget: Budget, seed: int, declines: bool, found: list[Totals] | None
    ) -> list[RowRun]:
        """Run the first pass, which only splits the rows, and measures them if need be.

        If it shows that the rows of the sample are not like the others, a better one is drawn.
        `found` is known if it ran in another process.
        """
        if found is None:
            problem, first = self._problems[0], self.runs[0]
            found = self._pass([run.first_query() for run in self.runs], budget)
            drawn = better = first.sample.drawn
            pairs = zip(self.runs, found, strict=True)
            if drawn.is_quick and not all(
                run.sample.is_like(totals, run.coef, run.intercept) for run, totals in pairs
            ):
                size, (labels, _) = first.plan.sampled_rows, problem.source.classes
                tell = self._listener(budget, 0)
                better = sample_all(problem.blocks, size, seed, labels, tell)
            if first.facts is None:
                better = with_missed_rows(problem, better, found[0])
            if better is not drawn:
                tol = budget.relative_gap
                self.runs = start_runs(self._problems, tol, seed, declines, None, better)
                found = self._pass([run.first_query() for run in self.runs], budget)
            if self._checkpoint is not None:
                self._checkpoint.save(better, found)
        for run, totals in zip(self.runs, found, strict=True):
            run.take_first(totals)
        return self.runs

    def _pass(self, queries: list[Query], budget: Budget) -> list[Totals]:
        """Run a pass, and tell who listens how far it is."""
        checkpoint()
        problem = self._problems[0]
        at_hand = isinstance(problem.blocks, TensorRows) or problem.is_in_memory
        state = PassState(tuple(queries), problem.fit_intercept, time_left(), copies=not at_hand)
        found = run_pass(problem.blocks, state, self._listener(budget, self.passes + 1))
        if found is None:
            raise OutOfTime
        self.passes += 1
        return found

    def _listener(self, budget: Budget, number: int) -> Callable[[int], None] | None:
        """Return what is called with the rows done during a pass; None if nobody wants to know."""
        if not hasattr(budget.callback, "during_pass"):
            return None
        told, blocks = cast(ReportingCallback, budget.callback), self._problems[0].blocks

        def tell(done: int) -> None:
            told.during_pass(number, done, blocks.known_n_rows)

        return tell


# ---- the solver ----------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Rows:
    """The solver; it has no options. `form` is the group of problems that share their rows."""

    form: Any = RowMember

    name: ClassVar[str] = "passes"
    default_max_iter: ClassVar[int] = 30
    first_burst: ClassVar[int] = 2
    declines: ClassVar[bool] = False

    @staticmethod
    def refuses(problem: Any) -> str | None:
        """Return None: rows of any problem can be skipped."""
        return None

    def start(self, form: RowMember, warm: None, seed: int) -> RowMember:
        """Return the state before anything is known; the sample is drawn by the first burst."""
        form.seed = seed
        return form

    def advance(self, state: RowMember, budget: Budget) -> Step:
        """Make one round."""
        return state.group.advance(state, budget, self.declines)

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
