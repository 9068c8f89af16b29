"""Proofs for `MultiTaskProblem.certify` and for its solvers; they end in `close` as well."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike
from scipy import sparse as sp

from rectiline._typing import Matrix, Vector
from rectiline.backends import Design, array_if_small
from rectiline.problems._certificate import DualPoint
from rectiline.problems.proof._balance import RADIUS, balance_free_columns, exact_balance
from rectiline.problems.proof._close import Closed, RowTerms, Term, close, row_terms
from rectiline.problems.proof._measure import Pair, gamma
from rectiline.problems.proof._prove import Proof, in_enough_digits, inside_boxes

if TYPE_CHECKING:
    from rectiline.problems._multitask import MultiTaskProblem
    from rectiline.problems._task import Task

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
    if dual is None:
        dual = [
            DualPoint(task.rows.slopes(task.design.dot(u) + b0))
            for task, u, b0 in zip(tasks, columns, b)
        ]
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
        moved, left = balance_common_part(problem, [p.sample for p in points], target)
        points = [replace(p, sample=g) for p, g in zip(points, moved)]
    pairs = [Pair(*one, _NO_COLUMNS) for one in zip(tasks, columns, b, points)]

    def closed(twofold: bool) -> Closed:
        used = [replace(pair, is_twofold=twofold) for pair in pairs]
        return _closed(problem, U, used, left)

    found = in_enough_digits(closed, tol)
    if found.by_zero_dual:
        points = [task.terms.region.zero_dual(task.n_samples) for task in tasks]
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
    lost = sum(one.loss_error for one in rows) + gamma(len(rows)) * abs(loss)
    parts = [part for one in rows for part in one.parts]
    together = RowTerms(loss, lost, terms, problem.least_loss, parts)
    return close(problem, U, q.T, error.T, together, radius)


def balance_common_part(
    problem: MultiTaskProblem, samples: list[Vector], target: Vector
) -> tuple[list[Vector], float]:
    """Move the multipliers inside their boxes until ``sum_t X_t'g_t == target``.

    With ``u_t = u_0 + v_t`` and u_0 free, weak duality asks for ``sum_t q_t = 0`` besides
    ``sum_i g_ti = 0`` for each task with an intercept: free columns of one design with the rows of
    all tasks, in which each intercept is a column of ones on its own rows.

    Returns the moved multipliers and the largest leftover relative to the terms of its sum.
    """
    if "all rows" not in problem.cache:
        problem.cache["all rows"] = _all_rows(problem.tasks)
    design = problem.cache["all rows"]
    boxes = [task.dual_boxes for task in problem.tasks]
    low, high = (np.concatenate(ends) for ends in zip(*boxes))
    columns, wanted = np.arange(design.n_features), np.zeros(design.n_features)
    wanted[: target.size] = target
    moved, left = balance_free_columns(
        design, columns, False, np.concatenate(samples), low, high, wanted
    )
    return np.split(moved, np.cumsum([one.size for one in samples])[:-1]), left


def _all_rows(tasks: Sequence[Task]) -> Design:
    """Return the rows of all tasks as one design, intercepts as further columns."""
    X = sp.vstack([sp.csr_array(task.design.X) for task in tasks], format="csr")
    if tasks[0].fit_intercept:
        ones = sp.block_diag([np.ones((task.n_samples, 1)) for task in tasks])
        X = sp.hstack([X, ones], format="csr")
    return Design(array_if_small(X))
