"""A path on all the data that others, on parts of them, are expected to be near."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from rectiline.paths._answers import Kept
from rectiline.paths._between_kinks import anchors
from rectiline.problems import Problem, predict_all
from rectiline.solvers import Generation, LeaveOut, Solution

Vector = NDArray[np.float64]
Matrix = NDArray[np.float64]

__all__ = ["MOST_KEPT", "Guide"]

MOST_KEPT = 4_000_000  # predictions that are kept for the next one who asks
_MANY_PIVOTS = 0.25  # of the answers
_STRETCH = 0.5  # movement that counts as hardly any, in units of the arguments
_SHORTEST, _LONGEST = 4, 16  # strengths
_LEAST_SHARED = 0.6  # of the samples: to fewer, a step is a long way
_SKIPPED = 0.2  # share of the tolerance that answers in between may lose


class Guide:
    """The answers to a problem, for problems that leave out some of its samples.

    Parameters
    ----------
    problem : Problem
        With all samples.
    strengths : ndarray of shape (k,)
        From large to small.
    solutions : sequence of Solution
        One for each strength.
    kept : Kept, optional
        What else is known about the solutions.
    """

    may_lend: bool | None = None  # its answers; None: nobody has tried

    def __init__(
        self,
        problem: Problem,
        strengths: Vector,
        solutions: tuple[Solution, ...],
        kept: Kept | None = None,
    ) -> None:
        self.problem, self.strengths = problem, strengths
        self._kept = Kept() if kept is None else kept
        self._solutions = solutions
        self._first = solutions[0]
        # Steps were tried, and got lost: those who come next need not try.
        pivots = sum(one.solver == Generation.name for one in solutions)
        self.took_to_pivots = _MANY_PIVOTS * len(solutions) < pivots < len(solutions)
        self.coefs = np.array([one.coef for one in solutions])
        self.intercepts = np.array([one.intercept for one in solutions])
        self._objectives = np.array([one.certificate.primal for one in solutions])
        self.was_tried = False  # whether steps lead anywhere
        self._predictions: dict[int, Vector] = {}
        self._known_slopes: dict[int, Vector] = {}
        self._ends: dict[tuple[int, ...], tuple[Vector, Vector]] = {}
        self._anchors: dict[float, list[int]] = {}

    def start(self, part: Problem) -> Solution | None:
        """Return the first solution as a start for a part of the samples, if it is one."""
        weight = self.problem.weight
        share = part.weight / np.where(weight > 0, weight, 1.0)
        dual, sample = self._first.dual, share * self._first.dual.sample
        if part.fit_intercept:
            part.rows.balance(sample)
        return replace(self._first, dual=replace(dual, sample=sample))

    def lent(self, part: Problem, index: int) -> tuple[Vector, float, Vector]:
        """Return coefficients, intercept and slopes of losses that may do for a part.

        A part of the samples at one strength is like all of them at one that is larger as they are
        more.
        """
        share = float(part.weight.sum() / self.problem.weight.sum())
        wanted = self.strengths[index] / share
        if wanted >= self.strengths[0]:
            return self.coefs[0] * self.strengths[0] / wanted, self.intercepts[0], self._slopes(0)
        j = int(np.searchsorted(-self.strengths, -wanted, side="right")) - 1
        before, after = 1 / self.strengths[j], 1 / self.strengths[j + 1]
        t = (1 / wanted - before) / (after - before)
        slopes = (1 - t) * self._slopes(j)
        slopes += t * self._slopes(j + 1)
        coef = (1 - t) * self.coefs[j] + t * self.coefs[j + 1]
        return coef, float((1 - t) * self.intercepts[j] + t * self.intercepts[j + 1]), slopes

    def _slopes(self, index: int) -> Vector:
        """Return the slopes of the losses in their arguments, per unit of weight."""
        if index not in self._known_slopes:  # all parts will ask
            weight = np.where(self.problem.weight > 0, self.problem.weight, np.inf)
            sample = self._solutions[index].dual.sample
            self._known_slopes[index] = self.problem.direction * sample / weight
        return self._known_slopes[index]

    def predictions(self, places: Sequence[int]) -> list[Vector]:
        """Return the predictions at some of the strengths."""
        if self._kept.predictions:
            rows = [row for piece in self._kept.predictions for row in piece]
            return [rows[k] for k in places]
        missing = [k for k in places if k not in self._predictions]
        made: dict[int, Vector] = {}
        if missing:
            some = predict_all(self.problem.design, self.coefs[missing], self.intercepts[missing])
            made = dict(zip(missing, some, strict=True))
        found = [made[k] if k in made else self._predictions[k] for k in places]
        if (len(self._predictions) + len(made)) * self.problem.n_samples <= MOST_KEPT:
            self._predictions.update(made)
        return found

    def ends(self, places: Sequence[int]) -> tuple[Vector, Vector]:
        """Return the least and the largest of the same, for every sample."""
        key = tuple(places)
        if key not in self._ends:  # all parts will ask
            rows = self.predictions(places)
            least, most = rows[0].copy(), rows[0].copy()
            for row in rows[1:]:
                np.minimum(least, row, out=least)
                np.maximum(most, row, out=most)
            self._ends[key] = least, most
        return self._ends[key]

    def stretch(self, first: int) -> int:
        """Return for how many strengths from `first` on predictions hardly move."""
        begin = self._travel[max(first - 1, 0)]
        near = int(np.searchsorted(self._travel, begin + _STRETCH, side="right"))
        at_once = max(MOST_KEPT // self.problem.n_samples - 1, 1)  # predictions are made for all
        return min(max(near - first, _SHORTEST), _LONGEST, at_once, self.strengths.size - first)

    def anchors(self, tol: float) -> list[int]:
        """Return the strengths to look at: answers between these will do at the others.

        If those on a part of the samples are as regular as these.
        """
        penalty, columns = self.problem.penalty, self.problem.columns
        assert penalty is not None
        if tol not in self._anchors:  # all parts will ask
            most = _SKIPPED * tol * np.abs(self._objectives)
            rho, l1 = columns.rho / penalty.strength, columns.l1 / penalty.strength
            pulls = None if columns.has_l1 else self._pulls
            self._anchors[tol] = anchors(self.strengths, rho, l1, self.coefs, pulls, most)
        return self._anchors[tol]

    @cached_property
    def _pulls(self) -> Matrix:
        """-X'g of the multipliers, one row for each strength."""
        if self._kept.pulls:
            return np.concatenate(self._kept.pulls)
        design = self.problem.design
        return np.array([-design.tdot(one.dual.sample) for one in self._solutions])

    @cached_property
    def _travel(self) -> Vector:
        """How far the predictions have moved up to each strength, in units of their arguments."""
        moves = np.diff(self.coefs, axis=0) ** 2 @ self.problem.column_mean_squares
        return np.append(0.0, np.cumsum(np.sqrt(moves))) / self.problem.argument_scale

    @cached_property
    def leave_out(self) -> LeaveOut | None:
        """How to get from these answers to those on a part in a step; None if there is no way.

        Who finds that there is none for this problem says so.
        """
        return self.leave_out_at(slice(None)) if self._may_step else None

    def is_a_step_from(self, part: Problem) -> bool:
        """Whether a step is defined, and the part has most of the samples."""
        here, there = np.count_nonzero(part.weight), np.count_nonzero(self.problem.weight)
        return self._may_step and bool(here >= _LEAST_SHARED * there)

    @cached_property
    def _may_step(self) -> bool:
        kept = 1 + (self.strengths.size - 1) // LeaveOut.every  # predictions of each sample
        few = kept * self.problem.n_samples <= MOST_KEPT
        return few and LeaveOut.accepts(self.problem, self.strengths.size)

    def leave_out_at(self, some: slice) -> LeaveOut:
        """Return the same for some of the strengths only."""
        problem, strengths = self.problem, self.strengths[some]
        assert problem.penalty is not None
        rho = np.outer(strengths / problem.penalty.strength, problem.columns.rho)
        places = np.arange(self.strengths.size)[some][:: LeaveOut.every]
        predictions = np.array(self.predictions(places.tolist()))
        return LeaveOut(problem, rho, self.coefs[some], self.intercepts[some], predictions)
