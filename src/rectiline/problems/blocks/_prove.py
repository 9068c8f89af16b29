"""Proofs for problems on blocks: frozen rows are summed in a pass, listed rows are in memory.

The dual point is repaired on the listed rows alone: they sit near kinks, where moving a multiplier
costs little. Frozen rows only set the target of the repair.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from rectiline._typing import Vector
from rectiline.problems._certificate import Certificate, DualPoint
from rectiline.problems._problem import Problem
from rectiline.problems.blocks._dual import SplitDual
from rectiline.problems.blocks._pass import NearRows, PassState, Query, Totals, run_pass
from rectiline.problems.proof._measure import UNIT, FrozenRows, Pair
from rectiline.problems.proof._prove import Proof, closed_near, inside_boxes

_UNITS_LOST_BY_A_SUM = 192  # units of roundoff that a sum over rows may lose, see pass.cpp


@dataclass(frozen=True, slots=True, eq=False)
class RowFacts:
    """Sums over all rows that do not depend on an answer.

    Attributes
    ----------
    sizes : ndarray of shape (n_features,)
        Sum of ``weight_i |x_ij|`` for each column, or a bound on it.
    loss_at_zero : float
        Sum of the losses at zero coefficients and intercept.
    least_loss : float
        Sum of the smallest values of the losses.
    """

    sizes: Vector
    loss_at_zero: float
    least_loss: float

    @classmethod
    def in_memory(cls, problem: Problem) -> RowFacts:
        """Return the facts about a problem in memory, which take no pass."""
        columns = problem.design.norm_bounds.columns  # bounds the sizes, by Cauchy and Schwarz
        sizes = columns * float(np.linalg.norm(problem.weight))
        return cls(sizes, problem.loss_at_zero, problem.least_loss)

    @classmethod
    def measured(cls, problem: Problem, totals: Totals) -> RowFacts:
        """Return what a pass has measured."""
        sizes, weight = np.asarray(totals["sizes"]), float(totals["measured_weight"])
        least = weight * min(float(one.curve.minimum()[1]) for one in problem.losses)
        return cls(sizes, float(totals["at_zero"]), least)


def prove_blocks(problem: Problem, coef: ArrayLike, intercept: float, dual: Any) -> Certificate:
    """Return the certificate of a pair with one pass over the rows of a problem."""
    b, b0 = problem.checked_point(coef, intercept)
    if dual is None:
        dual = SplitDual(b, b0)
    if not isinstance(dual, SplitDual):
        raise TypeError(
            "dual must be the SplitDual of a solution on rows in blocks; got "
            f"{type(dual).__name__}."
        )
    _checked_dual(problem, dual)
    return prove_answers([(problem, b, b0, dual)])[0].certificate


def prove_answers(
    answers: Sequence[tuple[Problem, Vector, float, SplitDual]], tol: float = 0.0
) -> list[Proof[SplitDual]]:
    """Return proofs of pairs of problems on the same rows, with one pass over the rows.

    `tol` is as for `evaluate`. There is no proof if a pair lists rows that there are not.
    """
    queries = tuple(
        Query(
            problem.samples,
            coef,
            intercept,
            split=(dual.split_coef, dual.split_intercept),
            listed=dual.rows,
            collect=True,
            measure=True,
        )
        for problem, coef, intercept, dual in answers
    )
    first = answers[0][0]
    found = run_pass(first.blocks, PassState(queries, first.fit_intercept))
    assert found is not None  # there was no limit
    proofs = []
    for (problem, coef, intercept, dual), totals in zip(answers, found, strict=True):
        if totals.near_rows.size != dual.rows.size:
            return []
        facts = RowFacts.measured(problem, totals)
        proofs.append(evaluate(problem, facts, coef, intercept, dual, totals, totals.near(), tol))
    return proofs


def _checked_dual(problem: Problem, dual: SplitDual) -> None:
    rows = dual.rows
    if rows.size and (rows[0] < 0 or rows[-1] >= problem.n_samples or (np.diff(rows) <= 0).any()):
        raise ValueError(f"dual: listed rows must grow and lie in [0, {problem.n_samples}).")
    if dual.values.shape != rows.shape or not np.isfinite(dual.values).all():
        raise ValueError(f"dual: there must be {rows.size} finite multipliers of listed rows.")


def evaluate(
    problem: Problem,
    facts: RowFacts,
    coef: Vector,
    intercept: float,
    dual: SplitDual,
    totals: Totals,
    listed: NearRows,
    tol: float = 0.0,
) -> Proof[SplitDual]:
    """Return the certificate of a pair from the sums of a pass and the listed rows.

    `tol` is as for `prove`: by default the best bound there is.
    """
    near, frozen = listed.problem(problem.terms), None
    if near.n_samples < problem.n_samples:
        frozen = _frozen_rows(totals, facts, facts.least_loss - near.least_loss)
    values = np.nan_to_num(dual.values)  # numbers that overflowed prove little
    point = inside_boxes(near, DualPoint(values, dual.inequality, dual.equality))
    pair = Pair(near, coef, intercept, point, near.terms.free_columns, frozen)
    closed = closed_near(pair, tol)
    made = replace(
        dual,
        values=closed.point.sample if closed.share else np.zeros_like(point.sample),
        inequality=closed.point.inequality,
        equality=closed.point.equality,
        share=closed.share,
    )
    return Proof(closed.certificate, made)


def _frozen_rows(totals: Totals, facts: RowFacts, least_loss: float) -> FrozenRows:
    """Return what the rows that are not listed add, from the sums of a pass."""
    rounding = (_UNITS_LOST_BY_A_SUM + totals["depth"]) * UNIT
    loss = float(totals["loss"])
    steepest, total_size = float(totals["steepest"]), float(totals["total_size"])
    gradient_size = steepest * facts.sizes
    gradient_error, total_error = rounding * gradient_size, rounding * total_size
    gradient, rest = totals.parts("gradient")
    if totals.has("gradient_error"):
        rest = rest + totals["gradient_rest"]
        gradient_error = np.asarray(totals["gradient_error"])
        total_error = float(totals["total_error"])
    return FrozenRows(
        gradient=np.asarray(gradient),
        gradient_rest=np.asarray(rest),
        gradient_size=gradient_size,
        gradient_error=gradient_error,
        total=float(totals["total"]),
        total_size=total_size,
        total_error=total_error,
        rounding=rounding,
        loss=loss,
        loss_error=steepest * float(totals["error"]) + rounding * abs(loss),
        gap=float(totals["gap"]),
        least_loss=least_loss,
        loss_at_zero=facts.loss_at_zero,
    )
