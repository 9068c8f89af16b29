"""What the multipliers of a solution say about bounds, single constraints and rows.

Behind the multiplier of a row is a slope of its loss; a file lists those that do not follow from
the place of the row.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse as sp

from rectiline._typing import Indices, Vector
from rectiline.constraints import Constraint, ConstraintRows, LinearConstraint
from rectiline.losses import LinearTerm
from rectiline.problems._certificate import DualPoint, InfeasibilityCertificate
from rectiline.problems._problem import Problem
from rectiline.problems._samples import Samples
from rectiline.rows import pick

_NEAR_KNOT = 1e-7  # relative distance from a knot below which a row's slope is written down
_SAME_SLOPE = 1e-10  # relative difference up to which a slope is that of the place on the loss


def with_constraints(problem: Problem, coef: Vector, dual: DualPoint) -> DualPoint:
    """Return the multipliers with those of bounds, and with the part of every constraint."""
    if not problem.is_constrained:
        return dual
    bounds = _bound_multipliers(problem, coef, dual)
    return replace(dual, bounds=bounds, parts=tuple(_parts(problem, dual, bounds)))


@np.errstate(over="ignore", invalid="ignore")  # of coefficients that overflow
def _bound_multipliers(problem: Problem, coef: Vector, dual: DualPoint) -> Vector:
    """Return reduced costs: the derivative of the optimum in the bound that a coefficient is at.

    They are what is left of ``X'g - A'xi - E'nu`` and a slope of the penalty.
    """
    terms, rows = problem.terms, problem.terms.given.rows
    at_lower, at_upper = coef <= rows.lower, coef >= rows.upper
    if not terms.is_separable:  # there bounds are the last inequality rows
        low, high = (np.flatnonzero(np.isfinite(end)) for end in (rows.lower, rows.upper))
        left = np.zeros(coef.size)
        own = dual.inequality[rows.c.size :]
        np.add.at(left, low, own[: low.size])
        np.add.at(left, high, -own[low.size :])
        return left
    columns, q = terms.columns, terms.region.combined(dual) - problem.design.tdot(dual.sample)
    q = q - columns.rho * coef
    slope = np.where(coef == 0, np.clip(q, -columns.l1, columns.l1), columns.l1 * np.sign(coef))
    lowest, highest = np.where(at_upper, -np.inf, 0.0), np.where(at_lower, np.inf, 0.0)
    return np.clip(slope - q, lowest, highest)


def _parts(
    problem: Problem, dual: DualPoint, bounds: Vector
) -> Iterator[tuple[Constraint, Vector]]:
    """Yield every constraint of the user with its multipliers, see `DualPoint.of`."""
    m = k = 0
    for one, (n_inequalities, n_equalities) in zip(
        problem.constraints, problem.terms.row_counts, strict=True
    ):
        xi = dual.inequality[m : m + n_inequalities]
        nu = dual.equality[k : k + n_equalities]
        m, k = m + n_inequalities, k + n_equalities
        if isinstance(one, LinearConstraint):
            equal, low, high = one.sides
            each = np.zeros(one.lower.size)
            each[equal] = nu
            each[low] += xi[: low.size]
            each[high] -= xi[low.size :]
            yield one, each
        elif n_inequalities or n_equalities:
            yield one, np.concatenate([xi, nu])
        else:
            yield one, bounds


def contradiction_in_words(
    proof: InfeasibilityCertificate, rows: ConstraintRows, names: NDArray[np.str_] | None
) -> InfeasibilityCertificate:
    """Return a proof that lists the constraints with a multiplier, then the bounds that it uses."""
    texts = [rows.text(int(i), names) for i in np.flatnonzero(proof.inequality)]
    texts += [rows.text(int(i), names, equality=True) for i in np.flatnonzero(proof.equality)]
    combined = sp.csr_array(rows.A).T @ proof.inequality + sp.csr_array(rows.E).T @ proof.equality
    size = np.abs(combined).max(initial=0.0)
    for j in np.flatnonzero(np.abs(combined) > 1e-9 * size):
        # What the rows add up to is pushed against one of the two bounds.
        bound, sign = (rows.upper[j], "<=") if combined[j] > 0 else (rows.lower[j], ">=")
        if np.isfinite(bound):
            texts.append(f"{f'b[{j}]' if names is None else names[j]} {sign} {bound:g}")
    return replace(proof, constraints=tuple(texts))


def slopes_in_blocks(problem: Problem, dual: Any) -> Vector:
    """Return the slopes of the losses behind the multipliers of listed rows, with one pass."""
    found = []
    for block in problem.blocks:
        mine = slice(*np.searchsorted(dual.rows, (block.start, block.start + block.n_rows)))
        if mine.start < mine.stop:
            samples = problem.samples.of_block(pick(block, dual.rows), dual.rows[mine])
            found.append(slopes_of(samples, dual.values[mine]))
    return np.concatenate([np.zeros(0), *found])


def slopes_of(samples: Samples, multipliers: Vector) -> Vector:
    """Return the slopes of the losses themselves behind multipliers of weighted losses."""
    used = samples.weight > 0
    slope = samples.direction * multipliers / np.where(used, samples.weight, 1.0)
    low, high = samples.each([one.curve.domain() for one in samples.losses]).T
    return np.clip(np.where(used, slope, 0.0), low, high)


def undecided_rows(problem: Problem, coef: Vector, slopes: Vector) -> Indices:
    """Return the rows whose slope does not follow from their place on the loss."""
    z = problem.design.dot(coef[: problem.n_features])
    t = problem.direction * (z + (coef[-1] if problem.fit_intercept else 0.0)) + problem.offset
    listed = np.zeros(t.size, dtype=bool)
    # A linear term cannot shrink with the other multipliers, so that they have to be exact.
    exact = any(isinstance(loss, LinearTerm) for loss in problem.losses)
    near = 0.0 if exact else _SAME_SLOPE
    for curve, mine in problem.data.samples.by_loss:
        at, slope = t[mine], slopes[mine]
        here = curve.derivative(at)[1]
        size = np.abs(at) + np.abs(problem.offset[mine])
        listed[mine] = np.abs(here - slope) > near * (np.abs(here) + np.abs(slope))
        for knot in curve.knots[curve.right > curve.left]:
            listed[mine] |= np.abs(at - knot) <= _NEAR_KNOT * (size + abs(knot))
    return np.flatnonzero(listed & (problem.weight > 0))
