"""Proofs for `MultiTaskProblem.certify` and for its solvers; they end in `close` as well."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike

from rectiline._typing import Matrix
from rectiline.problems._certificate import DualPoint
from rectiline.problems._common_part import balance_common_part
from rectiline.problems.proof._balance import RADIUS, exact_balance
from rectiline.problems.proof._close import CertificateTerms, Closed, Term, close
from rectiline.problems.proof._measure import Pair
from rectiline.problems.proof._numbers import gamma
from rectiline.problems.proof._prove import Proof, in_enough_digits, inside_boxes
from rectiline.problems.proof._rows import RowTerms, row_terms, size_of_terms

if TYPE_CHECKING:
    from rectiline.problems._multitask import MultiTaskProblem

_FREE_TOLERANCE = 1e-13  # what may be left of a sum that must be zero, relative to its terms
_NO_COLUMNS = np.zeros(0, dtype=np.intp)


@np.errstate(all="ignore")  # what overflows is not finite, and proves nothing
def prove_tasks(
    problem: MultiTaskProblem,
    coef: ArrayLike,
    intercept: ArrayLike | None = None,
    dual: Sequence[DualPoint | ArrayLike] | None = None,
    tol: float | None = None,
) -> Proof[list[DualPoint]]:
    """Return the certificate of a pair together with the repaired multipliers behind it.

    Parameters are those of `MultiTaskProblem.certify` and, for `tol`, of `prove`.
    """
    U, b = problem.checked_point(coef, intercept)
    tasks, columns = problem.tasks, np.ascontiguousarray(U.T)
    z = [task.design.dot(u) for task, u in zip(tasks, columns)]
    if dual is None:
        dual = [DualPoint(task.rows.slopes(zt + b0)) for task, zt, b0 in zip(tasks, z, b)]
    if len(dual) != len(tasks):
        raise ValueError(f"dual must hold one entry per task, {len(tasks)}; got {len(dual)}.")
    points = list(map(inside_boxes, tasks, dual))
    for task, point in zip(tasks, points):
        if task.fit_intercept:
            task.rows.balance(point.sample)
    left = 0.0
    if problem.center:
        target = np.zeros(problem.n_features)
        for task, point in zip(tasks, points):
            target += task.terms.region.combined(point)
        moved, left = balance_common_part(tasks, [p.sample for p in points], target)
        points = [replace(p, sample=g) for p, g in zip(points, moved)]
    pairs = [Pair(*one[:4], _NO_COLUMNS, one[4]) for one in zip(tasks, columns, b, points, z)]

    def closed(twofold: bool) -> Closed:
        used = [pair.in_twofold_arithmetic() for pair in pairs] if twofold else pairs
        return _closed(problem, U, used, left)

    found = in_enough_digits(closed, tol)
    if found.by_zero_dual:
        points = [task.zero_dual() for task in tasks]
    return Proof(found.certificate, points)


def _closed(problem: MultiTaskProblem, U: Matrix, pairs: list[Pair], left: float) -> Closed:
    """Return the certificate of a pair; `left` is what the common part lacks of a balance."""
    rows: list[RowTerms] = []
    q, error = np.empty((2, len(pairs), problem.n_features))
    radius = math.inf
    for k, pair in enumerate(pairs):
        balance = exact_balance(pair)
        rows.append(row_terms(pair, balance))
        q[k], error[k] = pair.measured.q
        if balance.moves is not None:
            error[k] += balance.moves.q_error
        radius = min(radius, balance.radius)
    terms = [term for one in rows for term in one.terms]
    if problem.center:
        # The common part is free: it may be as large as coefficients without any cost are.
        largest = np.zeros(problem.n_features)
        for one in pairs:
            largest = np.maximum(largest, np.maximum(np.abs(one.b), one.problem.coef_unit))
        summed = np.abs(q.sum(axis=0)) + gamma(len(rows)) * np.abs(q).sum(axis=0)
        terms.append(Term(0.0, RADIUS * float((summed + error.sum(axis=0)) @ largest)))
        radius = RADIUS
    if left > _FREE_TOLERANCE:
        terms.append(Term(math.inf, math.inf))
    loss = sum(one.loss for one in rows)

    def at_zero() -> Term:
        found = [one.at_zero() for one in rows]
        return Term(sum(one.value for one in found), sum(one.upper for one in found))

    certified = CertificateTerms(
        loss=loss,
        loss_error=sum(one.loss_error for one in rows) + gamma(len(rows)) * abs(loss),
        q=q.T,
        q_error=error.T,
        terms=terms,
        at_zero=at_zero,
        excess=max(loss - problem.least_loss, 0.0),
        violation=problem.violation(U),
        scale=lambda *level: sum(size_of_terms(p.problem, p.b, p.b0, *level) for p in pairs),
        radius=radius,
    )
    return close(problem.penalty_terms, U, certified)
