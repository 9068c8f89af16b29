"""The full linear program of a problem on scipy's HiGHS: the reference for generation."""

from __future__ import annotations

import numpy as np
from scipy import sparse as sp
from scipy.optimize import linprog

import rectiline as rl

INF = np.inf


def full_program(problem: rl.Problem) -> float:
    """Return the optimal value: epigraph rows for each piece of each loss and for the penalty."""
    n, d = problem.n_samples, problem.n_features
    X = problem.design.X
    X = X.toarray() if sp.issparse(X) else np.asarray(X, dtype=float)
    rows, right = [], []
    # variables: b (d), b0, xi (n), then those of the penalty
    penalty_cost, penalty_rows, penalty_right = _penalty(problem.penalty, d)
    extra = penalty_cost.size
    curve = problem.loss.curve
    slopes = np.append(curve.left, curve.right[-1])
    anchors = np.append(0, np.arange(curve.knots.size))
    for slope, k in zip(slopes, anchors):
        # slope (t - knot) + value <= xi,  t = p z + o
        for i in range(n):
            p, o = problem.direction[i], problem.offset[i]
            row = np.zeros(d + 1 + n + extra)
            row[:d], row[d], row[d + 1 + i] = slope * p * X[i], slope * p, -1.0
            rows.append(row)
            right.append(slope * (curve.knots[k] - o) - curve.values[k])
    for body, value in zip(penalty_rows, penalty_right):
        row = np.zeros(d + 1 + n + extra)
        row[:d], row[d + 1 + n :] = body[:d], body[d:]
        rows.append(row)
        right.append(value)
    user = problem.terms.given.rows
    A = user.A.toarray() if sp.issparse(user.A) else user.A
    E = user.E.toarray() if sp.issparse(user.E) else user.E
    for body, constant in zip(A, user.c):
        rows.append(np.concatenate([-body, np.zeros(1 + n + extra)]))
        right.append(constant)
    equal = np.hstack([E, np.zeros((E.shape[0], 1 + n + extra))]) if E.shape[0] else None
    free = (None, None) if problem.fit_intercept else (0.0, 0.0)
    bounds = [*zip(user.lower, user.upper), free, *[(None, None)] * (n + extra)]
    cost = np.concatenate([np.zeros(d + 1), problem.weight, penalty_cost])
    answer = linprog(
        cost,
        A_ub=np.array(rows),
        b_ub=np.array(right),
        A_eq=equal,
        b_eq=-user.f if E.shape[0] else None,
        bounds=bounds,
        method="highs",
    )
    assert answer.status == 0, answer.message
    return float(answer.fun)


def _penalty(penalty, d):
    """Return (cost, rows, right) with rows over (b, extra variables)."""
    eye = np.eye(d)
    if penalty is None:
        return np.zeros(0), np.zeros((0, d)), np.zeros(0)
    if isinstance(penalty, rl.penalties.L1):
        _, l1 = penalty.separable(d)
        rows = np.vstack([np.hstack([s * eye, -eye]) for s in (1, -1)])
        return l1, rows, np.zeros(2 * d)
    if isinstance(penalty, rl.penalties.GroupLinf):
        owner = np.zeros((d, len(penalty.groups)))
        for g, members in enumerate(penalty.groups):
            owner[members, g] = 1.0
        used = owner.any(axis=1)
        rows = np.vstack([np.hstack([s * eye, -owner])[used] for s in (1, -1)])
        cost = np.full(len(penalty.groups), penalty.strength)
        return cost, rows, np.zeros(rows.shape[0])
    # sum_k drop_k (k theta_k + sum_j s_jk),  s_jk >= |b_j| - theta_k,  s >= 0,  theta >= 0
    drop = np.append(-np.diff(penalty.strengths), penalty.strengths[-1])
    levels = np.flatnonzero(drop > 0)
    width = 1 + d
    cost = np.zeros(width * levels.size)
    rows = []
    for place, k in enumerate(levels):
        cost[place * width] = drop[k] * (k + 1)
        cost[place * width + 1 : (place + 1) * width] = drop[k]
        for j in range(d):
            for s in (1.0, -1.0):
                row = np.zeros(d + cost.size)
                row[j], row[d + place * width], row[d + place * width + 1 + j] = s, -1.0, -1.0
                rows.append(row)
    for v in range(cost.size):
        row = np.zeros(d + cost.size)
        row[d + v] = -1.0
        rows.append(row)
    return cost, np.array(rows).reshape(-1, d + cost.size), np.zeros(len(rows))
