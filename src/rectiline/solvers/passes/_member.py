"""One problem on its way through the passes: where rows are frozen, and the best pair so far."""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from rectiline.problems import Certificate, DualPoint, Problem
from rectiline.problems.blocks import (
    LengthBound,
    NearRows,
    NextSplit,
    Query,
    RowFacts,
    SplitDual,
    Totals,
    judge,
)
from rectiline.solvers._base import Callback, Progress
from rectiline.solvers.passes._frozen import Frozen, Reduced
from rectiline.solvers.passes._narrow import KeptRows, Narrowed
from rectiline.solvers.passes._reduced import solve_reduced

Vector = NDArray[np.float64]

__all__ = ["Member"]

_NARROWER, _WIDER = 0.3, 3.0  # reach of the next split after a good step, and after another
_WIDE_ENOUGH = 3.0  # standard deviations of the sample's answer
_MOST_KEPT, _FEW_ROWS = 0.25, 5000  # share of the rows that a split may keep; or so many
_GOOD_STEP = 0.1  # share of the gap that a good step leaves at most
_AIM, _TIGHTER = 0.2, 0.03  # of the tolerance: what a reduced problem is solved to; if not enough
_ROUGH_AIM = 0.02  # of what is left of the sample's gap: what some kept rows are solved to
_CROSSING = 0.3  # share of the gap that rows across a knot must have to be what is wrong


@dataclass(slots=True, eq=False)
class Member:
    """The moving state of one problem.

    Attributes
    ----------
    coef, intercept
        The centre of the next split, and the candidate that is judged with it.
    split : NextSplit
        How far rows count as near.
    near, frozen
        What the last pass has split the rows into; None before the first pass.
    kept, narrowed
        What the first pass has kept, and how it was split again before the first reduced problem;
        None if it was not, and after the second pass.
    """

    problem: Problem
    coef: Vector
    intercept: float
    split: NextSplit
    objective: float
    variance: Callable[[], float]  # of the slopes' sum in the sample
    roughness: float = 0.0  # relative gap of the sample's answer, by its number of rows
    callback: Callback | None = None
    facts: RowFacts | None = None  # about all rows; the first pass measures them
    argument_scale: float = 1.0  # of the sample
    near: NearRows | None = None
    kept: KeptRows | None = None
    narrowed: Narrowed | None = None
    frozen: Frozen | None = None
    answer: Reduced | None = None
    certificate: Certificate = field(
        default_factory=lambda: Certificate(math.inf, math.inf, math.inf, math.inf)
    )
    best: tuple[Vector, float, SplitDual] | None = None
    rows_kept: int = 0
    steps: int = 0
    history: list[Progress] = field(default_factory=list)
    out: Vector | None = None  # multipliers of frozen rows at the last candidate, in memory
    last_gap: float = math.inf
    was_good: bool = True
    is_rough: bool = False  # whether the reduced problem was not solved well enough
    is_limited: bool = False  # whether rounding in the sums of passes is what is left of the gap
    aim: float = _AIM
    splits_ahead: bool = True  # whether a pass that judges prepares the next split as well
    needs_split: bool = False  # whether the next pass must split before anything is solved again
    n_splits: int = 0  # passes that have only split
    is_solved: bool = False
    full_dual: DualPoint | None = None  # of the best pair, in memory, if it has been made

    @classmethod
    def at_zero(cls, problem: Problem) -> Member:
        """Return a problem about whose rows nothing is known: zeros, and no certificate."""
        zero = np.zeros(problem.n_features)
        nothing = np.zeros((0, problem.n_features + problem.fit_intercept))
        split = NextSplit(0.0, 0.0, nothing, LengthBound(zero, zero, 0.0))
        return cls(problem, zero, 0.0, split, math.inf, variance=lambda: 0.0)

    def first_query(self) -> Query:
        """Return what to ask of a pass that only splits, as the first one does."""
        return Query(
            self.problem.samples,
            self.coef,
            self.intercept,
            next_split=self.split,
            measure=self.facts is None,
        )

    def take_first(self, totals: Totals) -> None:
        """Take the answers of a pass that only splits."""
        if self.facts is None:
            self.facts = RowFacts.measured(self.problem, totals, self.argument_scale)
        if self.answer is None:  # the first one: what it has kept is narrowed
            self.kept = KeptRows(self.problem, totals)
            self.rows_kept = self.kept.rows.size
        else:
            self._keep(totals.near())
        self.needs_split = False
        self.n_splits += 1
        self.frozen = Frozen(
            self.coef,
            self.intercept,
            np.asarray(totals["change"]),
            float(totals["change_total"]),
            self._matrix(totals),
            self.objective,
        )

    def _keep(self, near: NearRows) -> None:
        self.near, self.kept, self.narrowed = near, None, None
        self.rows_kept = max(self.rows_kept, near.rows.size)

    def _matrix(self, totals: Totals, before: Frozen | None = None) -> NDArray[np.float64] | None:
        order = self.problem.n_features + self.problem.fit_intercept
        matrix = None if before is None else before.curvature
        if totals.has("curvature"):
            change = np.reshape(totals["curvature"], (order, order))
            matrix = change if matrix is None else matrix + change
        return matrix

    def solve_reduced(self, tol: float, deadline: float) -> None:
        """Move to the answer of the reduced problem."""
        assert self.frozen is not None and self.facts is not None
        near, frozen = self.near, self.frozen
        if near is None:  # the first pass has kept rows
            assert self.kept is not None
            self.narrowed = self._narrowed(self.kept, tol, deadline)
            if self.narrowed is None:
                near = self.kept.all()
            else:
                near, frozen = self.narrowed.near, self.narrowed.frozen
            self.near = near
        self.answer = self._solve(near, frozen, self.aim * tol, deadline)
        coef = self.answer.coef
        region = self.problem.terms.region
        if self.problem.terms.is_constrained:
            coef = region.move_into(region.clip(coef), self.facts.coef_unit)
        self.coef, self.intercept = coef, self.answer.intercept

    def _solve(self, near: NearRows, frozen: Frozen, target: float, deadline: float) -> Reduced:
        objective = self.objective
        found = solve_reduced(self.problem, near, frozen, None, objective, target, deadline)
        self.steps += found.steps
        return found

    def _narrowed(self, kept: KeptRows, tol: float, deadline: float) -> Narrowed | None:
        """Return the kept rows split again around an answer on some of them; None to take all."""
        frozen = self.frozen
        assert frozen is not None

        def solved(some: NearRows, error: float) -> tuple[Vector, float]:
            target = max(self.aim * tol, _ROUGH_AIM * error**2 * self.roughness)
            found = self._solve(some, frozen, target, deadline)
            return found.coef, found.intercept

        return kept.narrowed(frozen, self.split, self.variance, solved)

    def tell(self) -> bool:
        """Report the last certificate to the callback; return whether it asks to stop."""
        return self.callback is not None and bool(self.callback(self.history[-1]))

    def query(self) -> Query:
        """Return what to ask of a pass: judge the candidate, and split around it if need be."""
        assert self.near is not None and self.frozen is not None
        return Query(
            self.problem.samples,
            self.coef,
            self.intercept,
            split=(self.frozen.coef, self.frozen.intercept),
            listed=self.near.rows if self.narrowed is None else self.narrowed.rows,
            next_split=self.next_split() if self.splits_ahead else None,
            out=self.out,
        )

    def next_split(self) -> NextSplit:
        """Return how far rows will count as near around the candidate.

        A step after which the gap is small leaves little to move. A step that did not help has
        gone too far for the rows that were near: more of them stay, if they are not too many. If
        no rows have crossed a knot, the same rows are solved again, more accurately.
        """
        assert self.near is not None
        reach, keeps = self.split.reach, False
        if self.last_gap == math.inf:  # after the sample: fewer rows than its error asks for?
            reach *= _NARROWER if reach >= _WIDE_ENOUGH else 1.0
        elif self.is_rough:
            keeps = True
        elif self.was_good:
            reach *= _NARROWER
        elif self.near.rows.size < max(_MOST_KEPT * self.problem.n_samples, _FEW_ROWS):
            reach, keeps = reach * _WIDER, True
        return replace(self.split, reach=max(reach, 1e-9), keeps_listed=keeps)

    def take(self, totals: Totals, tol: float, passes: int, began: float) -> None:
        """Take the answers of a pass: a certificate, and the next split."""
        assert self.near is not None and self.frozen is not None and self.answer is not None
        assert self.facts is not None
        dual = SplitDual(
            self.frozen.coef,
            self.frozen.intercept,
            self.near.rows,
            self.answer.dual.sample,
            self.answer.dual.inequality,
            self.answer.dual.equality,
        )
        judged, multipliers = totals, None
        if self.narrowed is not None:
            frozen_too, multipliers = self.narrowed.judged(self.coef, self.intercept)
            judged = totals.plus(frozen_too)
        proof = judge(self.problem, self.facts, self.coef, self.intercept, dual, judged, self.near)
        certificate, dual = proof.certificate, proof.dual
        if multipliers is not None and self.narrowed is not None:
            multipliers[self.narrowed.places] = dual.values
            dual = replace(dual, rows=self.narrowed.rows, values=multipliers)
        is_better = certificate.relative_gap < self.certificate.relative_gap
        if self.best is None or is_better:
            self.certificate, self.best = certificate, (self.coef, self.intercept, dual)
        record = Progress("passes", passes, time.perf_counter() - began, self.certificate)
        self.history.append(record)
        if math.isfinite(certificate.primal):
            self.objective = certificate.primal
        self.is_solved = self.certificate.holds(tol)
        if self.is_solved:
            return
        self.split = self.next_split()
        self.needs_split, self.splits_ahead = not self.splits_ahead, True
        if not self.needs_split:
            gradient = np.asarray(totals["gradient"]) + np.asarray(totals["change"])
            total = float(totals["total"]) + float(totals["change_total"])
            curvature = self._matrix(totals, self.frozen)
            self._keep(totals.near())
            self.frozen = Frozen(
                self.coef, self.intercept, gradient, total, curvature, float(totals["loss"])
            )
        self.was_good = certificate.relative_gap <= _GOOD_STEP * self.last_gap
        crossing = float(judged["gap"]) / max(abs(certificate.primal), 1e-300)
        self.is_rough = crossing < _CROSSING * certificate.relative_gap
        self.is_limited = self.is_rough and self.certificate.limited_by_rounding(tol)
        if self.is_rough:
            self.aim *= _TIGHTER
        self.last_gap = min(self.last_gap, certificate.relative_gap)
