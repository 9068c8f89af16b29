"""Proofs for `MultiTaskProblem.certify` and for its solvers; they end in `close` as well."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from rectiline._typing import Matrix, Vector
from rectiline.problems._certificate import Certificate, DualPoint
from rectiline.problems._common_part import feasible_dual
from rectiline.problems.proof._balance import RADIUS, exact_balance
from rectiline.problems.proof._close import CertificateTerms, Closed, Term, close
from rectiline.problems.proof._measure import PairProducts, measure
from rectiline.problems.proof._numbers import gamma
from rectiline.problems.proof._prove import is_undecided
from rectiline.problems.proof._rows import RowTerms, row_terms, size_of_terms

if TYPE_CHECKING:
    from rectiline.problems._multitask import MultiTaskProblem
    from rectiline.problems._task import Task

_FREE_TOLERANCE = 1e-13  # what may be left of a sum that must be zero, relative to its terms
_NO_COLUMNS = np.zeros(0, dtype=np.intp)


class TaskProof(NamedTuple):
    """A certificate and the repaired multipliers of every task behind it."""

    certificate: Certificate
    dual: list[DualPoint]


@np.errstate(all="ignore")  # what overflows is not finite, and proves nothing
def prove_tasks(
    problem: MultiTaskProblem,
    coef: ArrayLike,
    intercept: ArrayLike | None = None,
    dual: Sequence[DualPoint | ArrayLike] | None = None,
    tol: float | None = None,
) -> TaskProof:
    """Return the certificate of a pair together with the repaired multipliers behind it.

    Parameters are those of `MultiTaskProblem.certify` and, for `tol`, of `prove`.
    """
    U, b = problem.checked_point(coef, intercept)
    tasks, columns = problem.tasks, np.ascontiguousarray(U.T)
    z = [task.design.dot(u) for task, u in zip(tasks, columns)]
    if dual is None:
        dual = [DualPoint(task.rows.slopes(zt + b0)) for task, zt, b0 in zip(tasks, z, b)]
    points, left = feasible_dual(tasks, dual, problem.fit_intercept, problem.center)
    pairs = list(zip(tasks, columns, b, points))

    def plain(k: int) -> PairProducts:
        task, u, b0, p = pairs[k]
        return measure(task, u, b0, p, (z[k], task.design.tdot(p.sample)))

    def twofold(k: int) -> PairProducts:
        task, u, b0, p = pairs[k]
        return measure(task, u, b0, p)

    closed = _closed(problem, U, pairs, plain, left)
    if is_undecided(closed.certificate, tol):
        better = _closed(problem, U, pairs, twofold, left)
        closed = closed if better.certificate.gap > closed.certificate.gap else better
    if closed.by_zero_dual:
        points = [task.zero_dual() for task in tasks]
    return TaskProof(closed.certificate, points)


def _closed(
    problem: MultiTaskProblem,
    U: Matrix,
    pairs: list[tuple[Task, Vector, float, DualPoint]],
    measure_task: Callable[[int], PairProducts],
    left: float,
) -> Closed:
    """Return the certificate of a pair; `measure_task` computes what is needed of a task."""
    rows: list[RowTerms] = []
    q, error = np.empty((2, len(pairs), problem.n_features))
    radius = math.inf
    for k, (task, u, b0, point) in enumerate(pairs):
        measured = measure_task(k)
        balance = exact_balance(task, u, b0, point, _NO_COLUMNS, measured)
        rows.append(row_terms(task, point, measured, balance))
        q[k], error[k] = measured.q
        if balance.moves is not None:
            error[k] += balance.moves.q_error
        radius = min(radius, balance.radius)
    terms = [term for one in rows for term in one.terms]
    if problem.center:
        # The common part is free: it may be as large as coefficients without any cost are.
        largest = np.zeros(problem.n_features)
        for task, u, _, _ in pairs:
            largest = np.maximum(largest, np.maximum(np.abs(u), task.coef_unit))
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
        scale=lambda *level: sum(size_of_terms(one, u, b0, *level) for one, u, b0, _ in pairs),
        radius=radius,
    )
    return close(problem, U, certified)
