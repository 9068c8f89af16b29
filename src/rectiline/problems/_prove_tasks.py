"""Proofs for `MultiTaskProblem.certify` and for its solvers; they end in `close` as well."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from rectiline.problems._certificate import Certificate, DualPoint
from rectiline.problems._close import Products, close
from rectiline.problems._common_part import feasible_dual

if TYPE_CHECKING:
    from rectiline.problems._multitask import MultiTaskProblem

__all__ = ["TaskProof", "prove_tasks"]

_FREE_TOLERANCE = 1e-13  # what may be left of a sum that must be zero, relative to its terms


class TaskProof(NamedTuple):
    """A certificate and the repaired multipliers of every task behind it."""

    certificate: Certificate
    dual: list[DualPoint]


def prove_tasks(
    problem: MultiTaskProblem,
    coef: ArrayLike,
    intercept: ArrayLike | None = None,
    dual: Sequence[DualPoint | ArrayLike] | None = None,
) -> TaskProof:
    """Return the certificate of a pair together with the repaired multipliers behind it.

    Parameters are those of `MultiTaskProblem.certify`.
    """
    U, b = problem.checked_point(coef, intercept)
    tasks, columns = problem.tasks, np.ascontiguousarray(U.T)
    z = [task.design.dot(u) + b0 for task, u, b0 in zip(tasks, columns, b)]
    if dual is None:
        dual = [DualPoint(task.base.rows.slopes(zt)) for task, zt in zip(tasks, z)]
    points, left = feasible_dual(tasks, dual, problem.fit_intercept, problem.center)
    sums = [task.base.rows.sums(zt, p.sample) for task, zt, p in zip(tasks, z, points)]
    loss = sum(loss for loss, _ in sums)
    q = np.array([task.q(point) for task, point in zip(tasks, points)]).T
    terms = [sum(gap for _, gap in sums), problem.constraint_gap(U, points)]
    if problem.fit_intercept:
        terms.append(sum(abs(b0 * float(p.sample.sum())) for b0, p in zip(b, points)))
    if left > _FREE_TOLERANCE:
        terms.append(math.inf)
    least, scale = problem.least_loss, problem.loss_at_zero
    products = Products.unbounded(loss, q, terms, least, scale)
    certificate, by_zero_dual = close(problem, U, products)
    if by_zero_dual:
        points = [task.region.zero_dual(task.design.n_samples) for task in tasks]
    return TaskProof(certificate, points)
