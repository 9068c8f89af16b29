"""One problem on its way through the passes: where rows are frozen, and what comes next."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np

from rectiline._typing import Vector
from rectiline.problems import Certificate, DualPoint, Problem
from rectiline.problems.blocks import (
    NearRows,
    NextSplit,
    Query,
    RowFacts,
    SplitDual,
    Totals,
    evaluate,
)
from rectiline.solvers._base import Pair
from rectiline.solvers._row_plan import RowPlan
from rectiline.solvers.rows._draw import Sample
from rectiline.solvers.rows._reduced import Frozen, SecondSplit, solve_reduced, split_again

_REACH_REDUCTION, _REACH_GROWTH = 0.3, 3.0  # of the next split, after a good step and after another
_WIDE_REACH_IN_DEVIATIONS = 3.0  # standard deviations of the sample's answer
_GOOD_STEP_GAP_SHARE = 0.1  # share of the gap that a good step leaves at most
# To which reduced problems are solved, and its change if that is not enough.
TOLERANCE_SHARE, _TIGHTER_FACTOR = 0.2, 0.03
_LEAST_AIM_OF_FROZEN_ROWS = 1e-3  # where that does not do, multipliers of all rows have to move
# Some near rows are solved to this share of what is left of the sample's gap.
_SAMPLE_GAP_SHARE = 0.02
# If rows across a knot have less of the gap, the reduced problem was solved too roughly.
_CROSSING_GAP_SHARE = 0.3


class Evaluated(NamedTuple):
    """A pair, multipliers of all rows or by exception, and what a pass has proved about it."""

    coef: Vector
    intercept: float
    dual: Any
    certificate: Certificate


@dataclass(slots=True, eq=False)
class RowRun:
    """The moving state of one problem.

    Attributes
    ----------
    coef, intercept
        The centre of the next split, and the candidate that is evaluated with it.
    split : NextSplit
        How far rows count as near.
    answer : Pair or None
        The answer of the reduced problem; at first, of all rows if all were drawn.
    near, frozen
        What the last pass has split the rows into; None before the first pass.
    second : SecondSplit or None
        How many near rows were split again before the first reduced problem.
    is_done : bool
        Whether the last answer is good enough, or no better one can be found.
    """

    problem: Problem
    plan: RowPlan
    coef: Vector
    intercept: float
    split: NextSplit
    objective: float
    sample: Sample
    roughness: float = 0.0  # relative gap of the sample's answer, by its number of rows
    facts: RowFacts | None = None  # about all rows; the first pass measures them
    is_done: bool = False
    near: NearRows | None = None
    second: SecondSplit | None = None
    frozen: Frozen | None = None
    answer: Pair | None = None
    evaluated: Evaluated | None = None  # the last candidate that a pass has evaluated,
    totals: Totals | None = None  # the sums of this pass,
    crossing_gap: float = 0.0  # and what rows that have crossed a knot add to the gap
    rows_kept: int = 0
    out: Vector | None = None  # multipliers of frozen rows at the candidate, in memory
    last_gap: float = math.inf
    was_good: bool = True
    is_rough: bool = False  # whether the reduced problem was not solved well enough
    is_precise: bool = False  # whether sums over frozen rows are nearly exact
    is_unbalanced: bool = False  # whether the last multipliers left free columns unbalanced
    aim: float = TOLERANCE_SHARE

    # ---- the first split ------------------------------------------------------------------------

    def first_query(self) -> Query:
        """Return what to ask of the first pass, which only splits."""
        return Query(
            self.problem.samples,
            self.coef,
            self.intercept,
            next_split=self.split,
            measure=self.facts is None,
        )

    def take_first(self, totals: Totals) -> None:
        """Take the answers of the first pass."""
        if self.facts is None:
            self.facts = RowFacts.measured(self.problem, totals)
        self.rows_kept = totals.near_rows.size
        nothing = Frozen.nothing(self.coef, self.intercept, self.objective)
        self.frozen = nothing.changed(totals)
        every = 1 if self._holds_all_rows else self.plan.rows_per_second_sample(self.rows_kept)
        if every > 1:
            variance = self.sample.variance(self.coef, self.intercept)
            self.second = split_again(
                self.problem, totals, every, self.frozen, self.split, variance, self._centre
            )
        if self.second is None:
            self.near = totals.near()
        else:
            self.near, self.frozen = self.second.near, self.second.frozen

    @property
    def _holds_all_rows(self) -> bool:
        """Whether all rows were drawn, so that none is ever frozen."""
        return self.split.always.size == self.plan.n

    @property
    def _split_frozen(self) -> Frozen:
        """What the rows that the last pass has frozen add."""
        assert self.frozen is not None
        return self.frozen if self.second is None else self.second.before

    def _centre(self, some: NearRows, error: float) -> tuple[Vector, float]:
        """Return the answer on some near rows, whose error is this much of the sample's."""
        target = max(self.aim * self.plan.tol, _SAMPLE_GAP_SHARE * error**2 * self.roughness)
        found = self._solve(some, target)
        return found.coef, found.intercept

    # ---- rounds ---------------------------------------------------------------------------------

    def resolve(self) -> None:
        """Move to the answer of the reduced problem."""
        assert self.near is not None and self.facts is not None
        if self.answer is None or self.evaluated is not None:
            self.answer = self._solve(self.near, self.aim * self.plan.tol)
        coef, terms = self.answer.coef, self.problem.terms
        if terms.is_constrained:
            coef = terms.region.move_into(terms.region.clip(coef))
        self.coef, self.intercept = coef, self.answer.intercept

    def _solve(self, near: NearRows, target: float) -> Pair:
        assert self.frozen is not None
        as_rows = self.is_unbalanced or self._holds_all_rows
        return solve_reduced(self.problem, near, self.frozen, self.objective, target, as_rows)

    def query(self) -> Query:
        """Return what to ask of a pass: evaluate the candidate, and split around it."""
        assert self.near is not None
        split = self._split_frozen
        if self.problem.is_in_memory:
            self.out = np.empty(self.problem.n_samples)
        return Query(
            self.problem.samples,
            self.coef,
            self.intercept,
            split=(split.coef, split.intercept),
            listed=self.near.rows if self.second is None else self.second.rows,
            next_split=self.next_split(),
            out=self.out,
            is_precise=self.is_precise,
        )

    def next_split(self) -> NextSplit:
        """Return how far rows will count as near around the candidate.

        A step after which the gap is small leaves little to move. A step that did not help has
        gone too far for the rows that were near: they stay, beside more of them if they are not too
        many. If no rows have crossed a knot, the same rows are solved again, more accurately, and
        all rows if that does not help.
        """
        assert self.near is not None
        reach, keeps = self.split.reach, False
        if self.last_gap == math.inf:  # after the sample: fewer rows than its error asks for?
            reach *= _REACH_REDUCTION if reach >= _WIDE_REACH_IN_DEVIATIONS else 1.0
        elif self.is_rough:
            keeps = True
            n = self.plan.n
            if n is not None and self.aim < _LEAST_AIM_OF_FROZEN_ROWS and self.plan.can_keep_all:
                return replace(self.split, always=np.arange(n))
        elif self.was_good:
            reach *= _REACH_REDUCTION
        else:
            keeps = True
            reach *= _REACH_GROWTH if self.plan.may_widen(self.near.rows.size) else 1.0
        return replace(self.split, reach=max(reach, 1e-9), keeps_listed=keeps)

    def take(self, totals: Totals) -> None:
        """Take the answers of a pass; without `go_on` the candidate is the last one."""
        assert self.near is not None and self.answer is not None and self.facts is not None
        at, found = self._split_frozen, self.answer.dual
        rows, values = self.near.rows, found.sample
        dual = SplitDual(at.coef, at.intercept, rows, values, found.inequality, found.equality)
        sums, multipliers = totals, None
        if self.second is not None:
            frozen_too, multipliers = self.second.evaluated(self.coef, self.intercept)
            sums = totals.plus(frozen_too)
        candidate = (self.coef, self.intercept, dual)
        proof = evaluate(self.problem, self.facts, *candidate, sums, self.near, self.plan.tol)
        dual = proof.dual
        if multipliers is not None and self.second is not None:
            multipliers[self.second.places] = dual.values
            dual = replace(dual, rows=self.second.rows, values=multipliers)
        every: Any = dual if self.out is None else _on_all_rows(dual, self.out)
        self.evaluated = Evaluated(self.coef, self.intercept, every, proof.certificate)
        self.totals, self.crossing_gap = totals, float(sums["gap"])
        self.is_done = True

    def go_on(self, certificate: Certificate) -> None:
        """Prepare the next round after a candidate that was refused."""
        assert self.totals is not None
        totals, self.totals = self.totals, None
        if math.isfinite(certificate.primal):
            self.objective = certificate.primal
        self.split = self.next_split()
        gradient, total = np.asarray(totals["gradient"]), float(totals["total"])
        curvature, loss = self._split_frozen.curvature, float(totals["loss"])
        at_split = Frozen(self.coef, self.intercept, gradient, total, curvature, loss)
        frozen = at_split.changed(totals)
        if self._holds_all_rows:  # what is left are differences of sums, rounding alone
            frozen = Frozen.nothing(self.coef, self.intercept, self.objective)
        self.near, self.second, self.frozen = totals.near(), None, frozen
        self.rows_kept = max(self.rows_kept, self.near.rows.size)
        self.was_good = certificate.relative_gap <= _GOOD_STEP_GAP_SHARE * self.last_gap
        crossing = self.crossing_gap / max(abs(certificate.primal), 1e-300)
        self.is_rough = crossing < _CROSSING_GAP_SHARE * certificate.relative_gap
        if self.is_rough:
            self.aim *= _TIGHTER_FACTOR
        self.last_gap = min(self.last_gap, certificate.relative_gap)
        self.is_done = False
        if self.is_rough and certificate.limited_by_rounding(self.plan.tol):
            # In memory the driver proves it sharply.
            self.is_done = self.is_precise or self.problem.is_in_memory
            self.is_precise = True
            self.is_unbalanced = math.isfinite(certificate.radius)


def _on_all_rows(dual: SplitDual, frozen: Vector) -> DualPoint:
    """Return multipliers by exception as those of all rows; `frozen` is overwritten."""
    frozen[dual.rows] = dual.values
    if dual.share != 1.0:
        frozen *= dual.share
    return DualPoint(frozen, dual.share * dual.inequality, dual.share * dual.equality)
