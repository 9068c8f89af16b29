"""Find coefficients that satisfy the constraints or prove that none do, for `Region`.

The question involves the constraints and bounds alone, so it is a small linear program: the largest
slack t with ``A b + c >= t`` (rows scaled to norm one). If its optimum is negative, its multipliers
are a Farkas certificate. Given coefficients move into the constraints by the shortest step onto the
rows that were ever violated.
"""

from __future__ import annotations

import itertools
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import linalg
from scipy import sparse as sp
from scipy.linalg import lapack
from scipy.optimize import linprog
from scipy.sparse.linalg import lsqr

from rectiline._typing import AnyMatrix, Mask, Vector
from rectiline.backends import Design
from rectiline.constraints import ConstraintRows
from rectiline.problems._certificate import InfeasibilityCertificate

_ROUNDS, _HALVINGS = 20, 6
_SLACK_PER_NORM = 1e-3  # slack that a violated row is given, relative to its norm
_RIDGE_SHARE = 1e-10  # relative to the mean curvature
_EQUALITY_WEIGHT = 1e6  # relative to inequalities
_SLACK_CAP = 1.0  # the slack is bounded so that the program always has an optimum
# Of the largest multiplier: what the program may leave of those that are zero, tried in turn.
_NO_MULTIPLIER = (1e-9, 1e-12, 0.0)
_FARTHEST_ROW = 1e8  # rows farther from zero are left out where the program fails
_PRIMAL_ROUNDS = 60
# Share of the violation that a round on the same rows and columns may leave.
_MOST_VIOLATION_LEFT = 0.5
_ROUNDING = 4e-16  # of the terms of a row
_SMALL_PER_VIOLATION = 10.0  # coefficients up to so many times the violation left may become zero
_MOST_DENSE_ENTRIES = 20_000_000  # of the active constraint rows


class StackedRows(NamedTuple):
    """Inequality rows, then equality rows, as one matrix; a one marks each equality."""

    design: Design
    offset: Vector
    is_equality: NDArray[np.uint8]

    def values(self, coef: Vector) -> Vector:
        """Return ``A b + c``, then ``E b + f``."""
        return self.design.dot(coef) + self.offset

    def missing(self, coef: Vector) -> Vector:
        """Return by how much each row is violated."""
        value = self.values(coef)
        return np.where(self.is_equality, np.abs(value), np.maximum(-value, 0.0))


class Feasibility(NamedTuple):
    """Outcome of the check: a feasible point well inside, or a proof that there is none."""

    point: Vector | None
    proof: InfeasibilityCertificate | None


def check_feasibility(rows: ConstraintRows, stacked: StackedRows) -> Feasibility:
    """Find a point with the largest slack, or multipliers that prove that none exists."""
    m, equal = rows.c.size, stacked.is_equality > 0
    start = np.clip(np.zeros(rows.lower.size), rows.lower, rows.upper)
    value = stacked.design.dot(start) + stacked.offset
    if (value[~equal] >= 0).all() and not value[equal].any():
        return Feasibility(start, None)
    norms = np.sqrt(stacked.design.row_squares())
    constant = stacked.offset
    # A row of zeros with an unsatisfiable constant proves infeasibility on its own.
    hopeless = np.flatnonzero((norms == 0) & np.where(equal, constant != 0, constant < 0))
    if hopeless.size:
        row = hopeless[0]
        dual = np.zeros(constant.size)
        dual[row] = -np.sign(constant[row])
        proof = InfeasibilityCertificate(dual[:m], dual[m:], -abs(float(constant[row])), 0.0)
        return Feasibility(None, proof)
    scale = 1.0 / np.where(norms > 0, norms, 1.0)
    level = constant * scale
    if not np.isfinite(level).all():  # nothing that a float64 holds satisfies such a row
        return Feasibility(None, None)
    matrix = sp.csr_array(sp.diags_array(scale) @ sp.csr_array(stacked.design.X))
    for used in (np.arange(m), np.flatnonzero(level[:m] <= _FARTHEST_ROW)):
        found = _slack_program(matrix[used], level[used], matrix[m:], level[m:], rows)
        if found is not None:
            break
    else:  # numerical trouble in the linear program: let the solver try
        return Feasibility(None, None)
    point, own, nu = found
    xi = np.zeros(m)
    xi[used] = own
    for sign, least in itertools.product((1.0, -1.0), _NO_MULTIPLIER):
        dual = np.concatenate([xi, sign * nu])
        dual = scale * np.where(np.abs(dual) > least * np.abs(dual).max(initial=0.0), dual, 0.0)
        certificate = _farkas(rows, stacked, dual)
        if certificate is not None:
            return Feasibility(None, certificate)
    return Feasibility(point, None)


def point_by_least_squares(rows: ConstraintRows, stacked: StackedRows, start: Vector) -> Vector:
    """Return a point that satisfies the constraints, or one of which nothing is known.

    Newton's method on the sum of the squared violations, which ends at zero after a few steps where
    the constraints leave room. Equality rows are as good as met by their weight, and bounds by
    clipping.
    """
    design, constant, is_equality = stacked
    equal = is_equality > 0
    norms = np.sqrt(design.row_squares())
    norms = np.where(norms > 0, norms, 1.0)
    margin = np.where(equal, 0.0, _SLACK_PER_NORM * norms)
    most = np.where(equal, _EQUALITY_WEIGHT, 1.0)

    def missing(point: Vector) -> tuple[Vector, Vector, float]:
        """Return what the rows lack, their weights, and the sum of the squares."""
        lack = margin - design.dot(point) - constant
        weight = most * (equal | (lack > 0.0)) / norms**2
        return lack, weight, float(weight @ lack**2)

    b, everything = start, np.arange(start.size)
    lack, weight, total = missing(b)
    for _ in range(_ROUNDS):
        if not rows.f.size and (lack <= margin).all():
            break
        used = np.flatnonzero(weight)
        gram = Design(design.X[used]).weighted_gram(weight[used], everything, False)
        gram.flat[:: b.size + 1] += _RIDGE_SHARE * max(float(gram.diagonal().mean()), 1e-300)
        factor, info = lapack.dpotrf(gram, lower=1)
        if info != 0:
            break
        step = lapack.dpotrs(factor, design.tdot(weight * lack), lower=1)[0]
        for share in 0.5 ** np.arange(_HALVINGS):
            moved = np.clip(b + share * step, rows.lower, rows.upper)
            found = missing(moved)
            if found[2] < total:
                break
        if not found[2] < total:
            break
        b, (lack, weight, total) = moved, found
    return b


def _slack_program(
    A: sp.csr_array, c: Vector, E: sp.csr_array, f: Vector, rows: ConstraintRows
) -> tuple[Vector, Vector, Vector] | None:
    """Return the point with the largest slack in rows of norm one, and their multipliers."""
    d = rows.lower.size
    # variables (b, t, s+, s-): maximise t - sum(s) with A b + c >= t, E b + f = s+ - s-, t <= cap
    ones = np.ones((c.size, 1))
    eye = sp.eye_array(f.size)
    inequality = sp.hstack([-A, ones, sp.csr_array((c.size, 2 * f.size))], format="csr")
    equality = sp.hstack([E, sp.csr_array((f.size, 1)), -eye, eye], format="csr")
    cost = np.concatenate([np.zeros(d), [-1.0], np.full(2 * f.size, 10.0 * (1 + c.size))])
    bounds = [
        *zip(rows.lower.tolist(), rows.upper.tolist(), strict=True),
        (None, _SLACK_CAP),
        *[(0.0, None)] * (2 * f.size),
    ]
    result = linprog(
        cost,
        A_ub=inequality,
        b_ub=c,
        A_eq=equality,
        b_eq=-f,
        bounds=bounds,
        method="highs",
    )
    if result.x is None:
        return None
    xi, nu = np.maximum(-result.ineqlin.marginals, 0.0), np.asarray(result.eqlin.marginals)
    return np.clip(result.x[:d], rows.lower, rows.upper), xi, nu


def _farkas(
    rows: ConstraintRows, stacked: StackedRows, dual: Vector
) -> InfeasibilityCertificate | None:
    """Return the certificate that multipliers of the rows make, if they prove infeasibility.

    ``sup over lower <= b <= upper of dual'(R b + k)``, R and k the stacked rows, must be negative.
    """
    matrix, constant, m = stacked.design.X, stacked.offset, rows.c.size
    row, size = matrix.T @ dual, abs(matrix).T @ np.abs(dual)
    small = np.abs(row) <= 1e-11 * size
    bound = np.where(row > 0, rows.upper, rows.lower)
    if (~np.isfinite(bound) & ~small).any():
        return None
    value = float(dual @ constant + np.sum(row[~small] * bound[~small]))
    magnitude = float(np.abs(dual) @ np.abs(constant))
    if not value < -1e-9 * max(magnitude, float(np.max(size, initial=0.0)) * 1e-3, 1e-300):
        return None
    open_small = small & ~np.isfinite(bound)
    relative = np.abs(row[open_small]) / np.maximum(size[open_small], 1e-300)
    residual = float(np.max(relative, initial=0.0))
    return InfeasibilityCertificate(dual[:m], dual[m:], value, residual)


def move_into_constraints(coef: Vector, rows: ConstraintRows, stacked: StackedRows) -> Vector:
    """Return coefficients near `coef` that satisfy the constraints, as far as this method can.

    Clipping to the bounds comes first; it is all there is to do without rows.
    """
    coef = np.clip(coef, rows.lower, rows.upper)
    if not stacked.offset.size:
        return coef
    (design, offset, _), equal = stacked, stacked.is_equality > 0
    active = equal.copy()
    fixed = np.zeros(coef.size, dtype=bool)  # columns that stay at a bound they ran into
    best, best_violation = coef, np.inf
    idle = False  # whether the last round had the same rows and columns as the one before
    for _ in range(_PRIMAL_ROUNDS):
        value, missing = stacked.values(coef), stacked.missing(coef)
        rounding = _ROUNDING * (abs(design.X) @ np.abs(coef) + np.abs(offset))
        violation = float(missing.max())
        idle = idle and not violation < _MOST_VIOLATION_LEFT * best_violation
        if violation < best_violation:
            best, best_violation = coef, violation
        if not (missing > rounding).any():  # what is left is rounding
            return best
        if idle:
            break
        held = active.sum() + fixed.sum()
        active |= value < 0
        # Slightly more than needed: products rounded another way should find no violation again.
        wanted = np.where(equal, 0.0, rounding) - value
        step = _least_norm(design.X[active], wanted[active], ~fixed)
        moved = np.clip(coef + step, rows.lower, rows.upper)
        fixed |= moved != coef + step
        idle = held == active.sum() + fixed.sum()
        coef = moved
    # Rows that violate one another in turn, such as those of a long monotone chain, may be left. Of
    # coefficients that are hardly larger than the violation itself, zeros are as good.
    is_small = np.abs(best) <= _SMALL_PER_VIOLATION * best_violation
    zeros = np.where(is_small, np.clip(0.0, rows.lower, rows.upper), best)
    return zeros if float(stacked.missing(zeros).max()) < best_violation else best


def _least_norm(rows: AnyMatrix, wanted: Vector, movable: Mask) -> Vector:
    """Return the shortest step with ``rows @ step = wanted`` that moves only `movable` columns."""
    step = np.zeros(movable.size)
    if sp.issparse(rows) and rows.shape[0] * rows.shape[1] > _MOST_DENSE_ENTRIES:
        step[movable] = lsqr(rows[:, movable], wanted, atol=1e-15, btol=1e-15)[0]
        return step
    dense = np.asarray(rows.toarray() if sp.issparse(rows) else rows)[:, movable]
    # Rows may depend on one another: orthogonal factors show their rank.
    found = linalg.lstsq(dense, wanted, cond=1e-13, lapack_driver="gelsy", check_finite=False)
    step[movable] = found[0]
    return step
