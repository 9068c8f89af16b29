"""The reduced problem of the solver `passes`: near rows, and what the frozen rows add.

Near rows that are many are split again (`split_again`). The frozen rows are known exactly, so an
answer on one kept row in six has a much smaller sampling error than the answer on the sample had.
Around it most kept rows are far from every knot, and are frozen as well. Kept rows on a device stay
there: only those that an answer rests on are copied.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from rectiline import _core
from rectiline._polling import time_left
from rectiline._typing import Matrix, Vector
from rectiline.problems import Problem
from rectiline.problems.blocks import (
    BlockSamples,
    NearRows,
    NextSplit,
    PassState,
    Query,
    Samples,
    Totals,
    run_pass,
    with_frozen_rows,
)
from rectiline.problems.forms import FormPoint, RectifiedForm
from rectiline.rows import ArrayRows, RowBlocks, TensorRows
from rectiline.solvers._base import Pair
from rectiline.solvers._polish import optimality_step
from rectiline.solvers.newton import Newton
from rectiline.solvers.newton._model import Model, Schedule

_SCHEDULE = Schedule(50.0, 5.0, 40)
_MOST_STEPS = 300
_CURVED_TARGET = 1e-13
_POLISHED_TARGET = 1e-8  # relative gap from which on answers are exact enough as they are
_MOST_POLISH_STEPS = 8
_SAME_COEFFICIENTS = 1e-13  # relative to the largest one: smaller changes are rounding
_SAME_MULTIPLIERS = 1e-9  # likewise, in a proof that bears them
_FAILED_GAP = 1e-4  # relative gap from which on another solver has a try


@dataclass(frozen=True, slots=True, eq=False)
class Frozen:
    """What frozen rows add around a point: gradient, its intercept entry, curvature or None."""

    coef: Vector
    intercept: float
    gradient: Vector
    total: float
    curvature: Matrix | None
    loss: float

    @classmethod
    def nothing(cls, coef: Vector, intercept: float, loss: float) -> Frozen:
        """Return the term of no rows."""
        return cls(coef, intercept, np.zeros(coef.size), 0.0, None, loss)

    def moved_to(self, coef: Vector, intercept: float) -> Frozen:
        """Return this term written around another point."""
        gradient, total = self.gradient, self.total
        if self.curvature is not None:
            d = coef.size
            step = np.append(coef - self.coef, intercept - self.intercept)
            change = self.curvature @ step[: self.curvature.shape[0]]
            gradient = gradient + change[:d]
            total += float(change[d:].sum())
        return replace(self, coef=coef, intercept=intercept, gradient=gradient, total=total)

    def changed(self, totals: Totals) -> Frozen:
        """Return the term after a split around the same point, which freezes other rows."""
        matrix = self.curvature
        if totals.has("curvature"):
            change = np.asarray(totals["curvature"])
            order = math.isqrt(change.size)
            matrix = change.reshape(order, order) + (0.0 if matrix is None else matrix)
        gradient = self.gradient + np.asarray(totals["change"])
        total = self.total + float(totals["change_total"])
        return replace(self, gradient=gradient, total=total, curvature=matrix)


def solve_reduced(
    problem: Problem,
    near: NearRows,
    frozen: Frozen,
    objective: float,
    target: float,
    is_proved: bool = False,
) -> Pair:
    """Return the answer to the reduced problem; `target` is relative to `objective`, of all rows.

    It ends early when whoever is asked at checkpoints has no time left. `is_proved` asks for an
    answer whose own certificate reaches the target: multipliers of Newton's method may have a
    small gap, and leave free columns that no exact ones balance.
    """
    part = near.problem(problem.terms)
    if is_proved or Newton.refuses(part) is not None:
        return _solve_as_rows(part, frozen, objective, target)[0]
    form = RectifiedForm.apply(part)
    model = Model(form)
    centre = model.from_user(frozen.coef, frozen.intercept)
    linear = model.joined(frozen.gradient, frozen.total)
    terms = _core.NewtonFrozen(model.terms, linear, frozen.curvature, centre)
    rows = _core.NewtonRows(form.design.by_rows.view, form.rows, form.fit_intercept)
    rows.place(model.terms.expand(centre))
    run = _core.NewtonRun(
        model.terms, rows, terms, centre, *model.no_multipliers(), _SCHEDULE, abs(objective)
    )
    # With curvature the estimate only bounds what is left.
    aim = target if frozen.curvature is None else min(target, _CURVED_TARGET)
    run.solve(aim, _MOST_STEPS, time_left())
    run.move_to_polished()
    constraint = run.constraint_multipliers() / model.row_norm
    coef, intercept = model.to_user(run.b)
    best = Pair(*form.invert(FormPoint(coef, intercept, rows.dual(), constraint)))
    if run.relative_gap > _FAILED_GAP and time_left() > 0.0:
        with suppress(ArithmeticError, np.linalg.LinAlgError):  # numbers too large or too small
            other, gap = _solve_as_rows(part, frozen, objective, aim)
            best = other if gap < run.relative_gap else best
    return best if target > _POLISHED_TARGET else _polished(part, frozen, best)


def _polished(near: Problem, frozen: Frozen, found: Pair) -> Pair:
    """Return the answer exact up to rounding, if Newton's method on its pieces converges.

    The slope at a coefficient that a penalty or bound holds costs as much in a proof as it is
    wrong, and multipliers of frozen rows cannot be moved to mend it: coefficients that are right
    to half the digits would prove an objective to half of them. Tight rows beside bounds leave
    multipliers undetermined, and the step may choose worse ones.
    """
    if not near.is_separable or near.has_constraint_rows:
        return found
    if not (near.columns.has_l1 or near.columns.has_bounds):
        return found
    pair = found
    for _ in range(_MOST_POLISH_STEPS):
        moved = optimality_step(near, pair, frozen)
        if moved is None:
            return found
        ended = not (
            _differs(pair.coef, moved.coef, _SAME_COEFFICIENTS)
            or _differs(pair.dual.sample, moved.dual.sample, _SAME_MULTIPLIERS)
        )
        pair = moved
        if ended:
            before, after = (_gap(near, frozen, one) for one in (found, pair))
            return pair if after <= before else found
    return found


def _differs(one: Vector, other: Vector, share: float) -> bool:
    size = np.abs(other).max(initial=0.0)
    return bool(np.abs(one - other).max(initial=0.0) > share * size)


def _gap(near: Problem, frozen: Frozen, found: Pair) -> float:
    """Return about the duality gap of an answer, with the share of its multipliers in range."""
    sample = found.dual.sample.copy()
    if sample.size:
        near.rows.clip(sample)
    if _differs(sample, found.dual.sample, _SAME_MULTIPLIERS):
        return math.inf  # they are outside their boxes
    here = frozen.moved_to(found.coef, found.intercept)
    q = near.terms.region.combined(found.dual) - near.design.tdot(sample) - here.gradient
    nothing = np.zeros(q.size)
    share = near.terms.safe_share(q, nothing)
    gap = (1.0 - share) * abs(frozen.loss)
    gap += near.terms.penalty_terms(found.coef, share * q, nothing).gap
    if near.fit_intercept:
        imbalance = abs(float(sample.sum()) + here.total)
        gap += imbalance * (abs(found.intercept) + near.argument_scale)
    z = near.design.dot(found.coef) + found.intercept
    return gap + float(near.rows.sums(z, share * sample)[1])


def _solve_as_rows(
    near: Problem, frozen: Frozen, objective: float, target: float
) -> tuple[Pair, float]:
    """Return the answer with frozen rows stated as rows of a problem, which any solver takes.

    The second value is its gap, relative to `objective`.
    """
    from rectiline.solvers._drive import solve_quietly

    centre = (frozen.coef, frozen.intercept)
    whole = with_frozen_rows(
        near, centre, frozen.gradient, frozen.total, frozen.curvature, frozen.loss
    )
    size = abs(whole.objective(*centre))
    tol = float(np.clip(target * abs(objective) / max(size, 1e-300), 1e-13, 1e-2))
    found = solve_quietly(whole, tol)
    dual = replace(found.dual, sample=found.dual.sample[: near.n_samples])
    gap = found.certificate.relative_gap * size / max(abs(objective), 1e-300)
    return Pair(found.coef, found.intercept, dual), gap


# ---- rows split again ----------------------------------------------------------------------------


# Relative to the error of the sample; with a larger one a second split does not help.
_LARGEST_ERROR_SHARE = 0.5
_REACH_IN_ERRORS = 6.0


def split_again(
    problem: Problem,
    totals: Totals,
    every: int,
    frozen: Frozen,
    split: NextSplit,
    variance: float,
    solved: Callable[[NearRows, float], tuple[Vector, float]],
) -> SecondSplit | None:
    """Return the rows that a pass has kept, split around a closer centre.

    None: it would not be much closer.

    Parameters
    ----------
    every : int
        For how many of the rows one stands in the problem that the centre is found with.
    frozen, split
        What frozen rows add around the sample's answer, and how rows have been split there.
    variance : float
        Of the slopes' sum that the sample's error comes from.
    solved : callable
        Returns coefficients and intercept of the reduced problem on some rows, given them and
        their error in units of the sample's.
    """
    if variance <= 0:
        return None
    rows, blocks, samples = totals.near_rows, problem.blocks, problem.samples
    if isinstance(blocks, TensorRows):
        blocks = blocks.picked(rows)
    else:
        near = totals.near()
        blocks, samples = ArrayRows(near.X, None), near.samples
    at = np.arange(0, rows.size, every)
    block = blocks.take(at)
    paid = samples.of_block(block, at)
    some = NearRows(rows[at], block.X, replace(paid, weight=every * paid.weight))
    part = some.problem(problem.terms)
    slopes = np.asarray(part.rows.slopes(part.design.dot(frozen.coef) + frozen.intercept))
    error = math.sqrt((1.0 - 1.0 / every) * float(slopes @ slopes) / variance)
    if error > _LARGEST_ERROR_SHARE:
        return None
    centre = solved(some, error)
    closer = replace(split, reach=max(min(_REACH_IN_ERRORS * error, split.reach), 1e-9))
    return SecondSplit.of(problem, rows, blocks, samples, frozen, centre, closer)


@dataclass(frozen=True, eq=False)
class SecondSplit:
    """Some rows split around a centre: those near a knot, with all others frozen there.

    Attributes
    ----------
    rows : ndarray of int64
        The numbers of all of them in the source.
    places : ndarray of int64
        Of those that are left near, among these rows.
    near : NearRows
        Those that are left near.
    before, frozen : Frozen
        What rows frozen before add, and what all but the near rows add around the centre.
    """

    problem: Problem
    rows: NDArray[np.int64]
    blocks: RowBlocks
    query: Query
    places: NDArray[np.int64]
    near: NearRows
    before: Frozen
    frozen: Frozen

    @classmethod
    def of(
        cls,
        problem: Problem,
        rows: NDArray[np.int64],
        blocks: RowBlocks,
        samples: Samples | BlockSamples,
        frozen: Frozen,
        centre: tuple[Vector, float],
        split: NextSplit,
    ) -> SecondSplit:
        """Split rows, which `blocks` holds, around a centre; `frozen` was frozen before."""
        inside = replace(split, always=np.searchsorted(rows, split.always))
        query = Query(samples, *centre, next_split=inside)
        sums = _run(blocks, query, problem.fit_intercept)
        left = sums.near()
        near = NearRows(rows[left.rows], left.X, left.samples)
        rest = frozen.moved_to(*centre).changed(sums)
        return cls(problem, rows, blocks, query, left.rows, near, frozen, rest)

    def evaluated(self, coef: Vector, intercept: float) -> tuple[Totals, Vector]:
        """Return the sums over those of these rows that are frozen, and multipliers of all.

        The multipliers of rows that are left near are zeros.
        """
        sample = np.zeros(self.rows.size)
        query = replace(
            self.query,
            coef=coef,
            intercept=intercept,
            split=(self.query.coef, self.query.intercept),
            listed=self.places,
            next_split=None,
            collect=True,
            out=sample,
        )
        return _run(self.blocks, query, self.problem.fit_intercept), sample


def _run(blocks: RowBlocks, query: Query, fit_intercept: bool) -> Totals:
    found = run_pass(blocks, PassState((query,), fit_intercept))
    assert found is not None  # there was no limit
    return found[0]
