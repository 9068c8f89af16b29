"""Find coefficients that satisfy the constraints or prove that none do, for `Region`.

The question involves the constraints and bounds alone, so it is a small linear program: the largest
slack t with ``A b + c >= t`` (rows scaled to norm one). If its optimum is negative, its multipliers
are a Farkas certificate.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy import sparse as sp
from scipy.linalg import lapack
from scipy.optimize import linprog

from rectiline._typing import AnyMatrix, Vector
from rectiline.backends import Design
from rectiline.problems._certificate import InfeasibilityCertificate

__all__ = ["Feasibility", "check_feasibility", "point_by_least_squares"]

_ROUNDS, _HALVINGS = 20, 6
_MARGIN = 1e-3  # of the norm of a row: violated ones are to have this slack
_RIDGE = 1e-10  # of the mean curvature
_EQUALITY = 1e6  # how much more than inequalities they weigh
_SLACK_CAP = 1.0  # the slack is bounded so that the program always has an optimum
_FAR_OFF = 1e8  # distance of a row from zero beyond which it is left out where the program fails


@dataclass(frozen=True, eq=False)
class Feasibility:
    """Outcome of the check: a feasible point well inside, or a proof that there is none."""

    point: Vector | None
    proof: InfeasibilityCertificate | None


def check_feasibility(
    A: AnyMatrix,
    c: Vector,
    E: AnyMatrix,
    f: Vector,
    lower: Vector,
    upper: Vector,
) -> Feasibility:
    """Find a point with the largest slack, or multipliers that prove that none exists."""
    start = np.clip(np.zeros(lower.size), lower, upper)
    if (A @ start + c >= 0).all() and not f.size:
        return Feasibility(start, None)
    if (A @ start + c >= 0).all() and (E @ start + f == 0).all():
        return Feasibility(start, None)
    norms_a, norms_e = _row_norms(A), _row_norms(E)
    for constant, norms, kind in ((c, norms_a, "A"), (f, norms_e, "E")):
        proof = _empty_row_proof(constant, norms, kind, c.size, f.size)
        if proof is not None:
            return Feasibility(None, proof)
    return _largest_slack(A, c, E, f, lower, upper, norms_a, norms_e)


def point_by_least_squares(
    A: AnyMatrix, c: Vector, E: AnyMatrix, f: Vector, lower: Vector, upper: Vector, start: Vector
) -> Vector:
    """Return a point that satisfies the constraints, or one of which nothing is known.

    Newton's method on the sum of the squared violations, which ends at zero after a few steps where
    the constraints leave room. Equality rows are as good as met by their weight, and bounds by
    clipping.
    """
    if sp.issparse(A) or sp.issparse(E):
        stacked = Design(sp.vstack([sp.csr_array(A), sp.csr_array(E)], format="csr"))
    else:
        stacked = Design(np.vstack([A, E]))
    constant = np.concatenate([c, f])
    norms = np.concatenate([_row_norms(A), _row_norms(E)])
    norms = np.where(norms > 0, norms, 1.0)
    is_equality = np.arange(norms.size) >= c.size
    margin, most = (
        np.where(is_equality, 0.0, _MARGIN * norms),
        np.where(is_equality, _EQUALITY, 1.0),
    )

    def missing(point: Vector) -> tuple[Vector, Vector, float]:
        """Return what the rows lack, their weights, and the sum of the squares."""
        lack = margin - stacked.dot(point) - constant
        weight = most * (is_equality | (lack > 0.0)) / norms**2
        return lack, weight, float(weight @ lack**2)

    b, everything = start, np.arange(start.size)
    lack, weight, total = missing(b)
    for _ in range(_ROUNDS):
        if not f.size and (lack <= margin).all():
            break
        used = np.flatnonzero(weight)
        gram = Design(stacked.X[used]).weighted_gram(weight[used], everything, False)
        gram.flat[:: b.size + 1] += _RIDGE * max(float(gram.diagonal().mean()), 1e-300)
        factor, info = lapack.dpotrf(gram, lower=1)
        if info != 0:
            break
        step = lapack.dpotrs(factor, stacked.tdot(weight * lack), lower=1)[0]
        for share in 0.5 ** np.arange(_HALVINGS):
            moved = np.clip(b + share * step, lower, upper)
            found = missing(moved)
            if found[2] < total:
                break
        if not found[2] < total:
            break
        b, (lack, weight, total) = moved, found
    return b


def _row_norms(rows: AnyMatrix) -> Vector:
    squares = rows.multiply(rows) if sp.issparse(rows) else rows * rows
    return np.sqrt(np.asarray(squares.sum(axis=1), dtype=np.float64)).ravel()


def _empty_row_proof(
    constant: Vector, norms: Vector, kind: str, m: int, k: int
) -> InfeasibilityCertificate | None:
    """A row of zeros with an unsatisfiable constant proves infeasibility on its own."""
    bad = (norms == 0) & ((constant < 0) if kind == "A" else (constant != 0))
    if not bad.any():
        return None
    row = int(np.argmax(bad))
    inequality, equality = np.zeros(m), np.zeros(k)
    if kind == "A":
        inequality[row] = 1.0
    else:
        equality[row] = -np.sign(constant[row])
    return InfeasibilityCertificate(inequality, equality, -abs(float(constant[row])), 0.0)


def _largest_slack(
    A: AnyMatrix,
    c: Vector,
    E: AnyMatrix,
    f: Vector,
    lower: Vector,
    upper: Vector,
    norms_a: Vector,
    norms_e: Vector,
) -> Feasibility:
    scale_a, scale_e = (
        1.0 / np.where(norms_a > 0, norms_a, 1.0),
        1.0 / np.where(norms_e > 0, norms_e, 1.0),
    )
    levels = np.concatenate([c * scale_a, f * scale_e])
    if not np.isfinite(levels).all():  # nothing that a float64 holds satisfies such a row
        return Feasibility(None, None)
    rows_a = sp.csr_array(sp.diags_array(scale_a) @ sp.csr_array(A))
    rows_e = sp.csr_array(sp.diags_array(scale_e) @ sp.csr_array(E))
    for used in (np.arange(c.size), np.flatnonzero(c * scale_a <= _FAR_OFF)):
        found = _slack_program(rows_a[used], (c * scale_a)[used], rows_e, f * scale_e, lower, upper)
        if found is not None:
            break
    else:  # numerical trouble in the linear program: let the solver try
        return Feasibility(None, None)
    point, own, nu = found
    xi = np.zeros(c.size)
    xi[used] = own
    for sign in (1.0, -1.0):
        proof = farkas(A, c, E, f, lower, upper, xi * scale_a, sign * nu * scale_e)
        if proof is not None:
            return Feasibility(None, proof)
    return Feasibility(point, None)


def _slack_program(
    A: sp.csr_array, c: Vector, E: sp.csr_array, f: Vector, lower: Vector, upper: Vector
) -> tuple[Vector, Vector, Vector] | None:
    """Return the point with the largest slack in rows of norm one, and their multipliers."""
    d = lower.size
    # variables (b, t, s+, s-): maximise t - sum(s) with A b + c >= t, E b + f = s+ - s-, t <= cap
    ones = np.ones((c.size, 1))
    eye = sp.eye_array(f.size)
    inequality = sp.hstack([-A, ones, sp.csr_array((c.size, 2 * f.size))], format="csr")
    equality = sp.hstack([E, sp.csr_array((f.size, 1)), -eye, eye], format="csr")
    cost = np.concatenate([np.zeros(d), [-1.0], np.full(2 * f.size, 10.0 * (1 + c.size))])
    bounds = [
        *zip(lower.tolist(), upper.tolist(), strict=True),
        (None, _SLACK_CAP),
        *[(0.0, None)] * (2 * f.size),
    ]
    result = linprog(
        cost,
        A_ub=inequality if c.size else None,
        b_ub=c if c.size else None,
        A_eq=equality if f.size else None,
        b_eq=-f if f.size else None,
        bounds=bounds,
        method="highs",
    )
    if result.x is None:
        return None
    xi = np.maximum(-np.asarray(result.ineqlin.marginals), 0.0) if c.size else np.zeros(0)
    nu = np.asarray(result.eqlin.marginals) if f.size else np.zeros(0)
    return np.clip(result.x[:d], lower, upper), xi, nu


def farkas(
    A: AnyMatrix,
    c: Vector,
    E: AnyMatrix,
    f: Vector,
    lower: Vector,
    upper: Vector,
    xi: Vector,
    nu: Vector,
) -> InfeasibilityCertificate | None:
    """Return the certificate that the multipliers make, if they prove infeasibility.

    ``sup over lower <= b <= upper of xi'(A b + c) + nu'(E b + f)`` must be negative.
    """
    row = A.T @ xi + E.T @ nu
    size = abs(A).T @ np.abs(xi) + abs(E).T @ np.abs(nu)
    rounding = 1e-11 * size
    small = np.abs(row) <= rounding
    bound = np.where(row > 0, upper, lower)
    unbounded = ~np.isfinite(bound) & ~small
    if unbounded.any():
        return None
    value = float(xi @ c + nu @ f + np.sum(row[~small] * bound[~small]))
    magnitude = float(np.abs(xi) @ np.abs(c) + np.abs(nu) @ np.abs(f))
    if not value < -1e-9 * max(magnitude, float(np.max(size, initial=0.0)) * 1e-3, 1e-300):
        return None
    open_small = small & ~np.isfinite(bound)
    relative = np.abs(row[open_small]) / np.maximum(size[open_small], 1e-300)
    residual = float(np.max(relative, initial=0.0))
    return InfeasibilityCertificate(xi, nu, value, residual)
