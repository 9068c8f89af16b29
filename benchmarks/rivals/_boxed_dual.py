"""The form in which general QP and LP solvers are fastest here: the boxed dual.

Variables x = (g per piece, h, e, xi):

    min  sum at g + quad g^2/2 + |h|^2/(2 l2) + c'xi
    s.t. X' sum g + h + e - A'xi = 0,   1' sum g = 0 (with an intercept),
         lo <= g <= hi,   |e| <= l1,   xi >= 0

so ``h + e = q`` of the dual. The multipliers of the equations are ``-(b, b0)``. The solver sees
``g / weight`` instead of ``g``: boxes of size one save all four of them iterations.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse

from ..objective import Objective
from ._base import Answer, best_of

Vector = np.ndarray


@dataclass
class BoxedDual:
    """``min x'diag(P)x/2 + q'x`` with ``E x = 0`` and ``lower <= x <= upper``."""

    objective: Objective
    P: Vector
    q: Vector
    E: Any
    lower: Vector
    upper: Vector

    def answer(self, x: Vector, multipliers: Vector, word: dict[str, Any]) -> Answer:
        """Coefficients from the multipliers or from h, whichever is better, and the dual."""
        objective = self.objective
        n, d = objective.n, objective.d
        count = len(objective.pieces)
        dual = objective.uniform_weight * x[: n * count].reshape(count, n).sum(axis=0)
        intercept = -float(multipliers[d]) if objective.case.intercept else 0.0
        candidates = [(-multipliers[:d], intercept)]
        if objective.l2 > 0:
            candidates.append((x[n * count : n * count + d] / objective.l2, intercept))
        coef, intercept = best_of(objective, candidates)
        xi = None if objective.c is None else x[-len(objective.c) :]
        return Answer(coef, intercept, dual, xi, word)


def boxed_dual(objective: Objective) -> BoxedDual:
    """Build the matrices (not timed)."""
    d, unit = objective.d, objective.uniform_weight
    XT = sparse.csc_matrix(unit * objective.X.T)
    blocks, P, q, lower, upper = [], [], [], [], []
    for piece in objective.pieces:
        blocks.append(XT)
        P.append(unit**2 * piece.quad)
        q.append(unit * piece.at)
        lower.append(piece.lo / unit)
        upper.append(piece.hi / unit)
    ones = np.ones(d)
    if objective.l2 > 0:
        blocks.append(sparse.eye(d, format="csc"))
        P.append(ones / objective.l2)
        q.append(0.0 * ones)
        lower.append(-np.inf * ones)
        upper.append(np.inf * ones)
    if objective.l1 > 0:
        blocks.append(sparse.eye(d, format="csc"))
        P.append(0.0 * ones)
        q.append(0.0 * ones)
        lower.append(-objective.l1 * ones)
        upper.append(objective.l1 * ones)
    if objective.A is not None and objective.c is not None:
        rows = len(objective.c)
        blocks.append(sparse.csc_matrix(-objective.A.T))
        P.append(np.zeros(rows))
        q.append(objective.c)
        lower.append(np.zeros(rows))
        upper.append(np.full(rows, np.inf))
    E = sparse.hstack(blocks, format="csc")
    if objective.case.intercept:
        samples = objective.n * len(objective.pieces)
        row = np.concatenate([np.full(samples, unit), np.zeros(E.shape[1] - samples)])
        E = sparse.vstack([E, sparse.csr_matrix(row)], format="csc")
    P, q, lower, upper = (np.concatenate(part) for part in (P, q, lower, upper))
    return BoxedDual(objective, P, q, E, lower, upper)
