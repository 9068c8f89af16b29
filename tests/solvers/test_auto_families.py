"""Families of small problems on which `auto` gave up although a solver that can be named did not.

Badly scaled columns, or duplicated rows, with weighted penalties under several constraints; the
optimum comes from cvxpy with Clarabel or HiGHS, in scaled coefficients.
"""

from __future__ import annotations

import warnings

import cvxpy as cp
import numpy as np
import pytest

import rectiline as rl
from rectiline.constraints import LinearEquality, LinearInequality, Monotone, Nonnegative
from rectiline.losses import Absolute, Huber, SquaredError
from rectiline.penalties import L1, ElasticNet, GroupLinf, Slope

FAMILIES = ["monotone", "elastic", "duplicates", "l1", "group", "slope"]


def make(family, seed):
    """Return a problem, and its objective and constraints for cvxpy in scaled coefficients."""
    rng = np.random.default_rng([seed, len(family)])
    n, d = (40, 80) if family == "monotone" else (60, 12)
    X = rng.normal(size=(n, d)) * 10.0 ** rng.uniform(-3, 3, d)
    if family == "duplicates":
        X = np.repeat(rng.normal(size=(n // 4, d)), 4, axis=0)
    spread = X.std(axis=0)
    y = (X / spread) @ (rng.normal(size=d) * (rng.random(d) < 0.5)) + rng.standard_t(3, size=n)
    weights = rng.uniform(0.1, 3.0, d)
    inside = np.abs(rng.normal(size=d)) / spread
    E, A = rng.normal(size=(4, d)) * spread, rng.normal(size=(3, d)) * spread
    equality, inequality = LinearEquality(E, -E @ inside), LinearInequality(A, -A @ inside + 0.1)
    scaled, intercept = cp.Variable(d), cp.Variable()
    b = cp.multiply(1.0 / spread, scaled)
    residual = y - (X / spread) @ scaled - intercept
    equal = (E / spread) @ scaled == E @ inside
    least = (A / spread) @ scaled >= A @ inside - 0.1
    if family == "monotone":
        loss, penalty, given = Absolute(), L1(0.5, weights=weights), [Monotone()]
        value, rows = cp.norm1(residual) + 0.5 * weights @ cp.abs(b), [cp.diff(b) >= 0]
    elif family == "elastic":
        loss, penalty, given = SquaredError(), ElasticNet(0.5, 0.01), [Nonnegative(), equality]
        value = 0.5 * cp.sum_squares(residual) + 0.5 * cp.norm1(b) + 0.005 * cp.sum_squares(b)
        rows = [scaled >= 0, equal]
    elif family == "duplicates":
        loss, penalty, given = Absolute(), L1(0.5, weights=weights), [equality]
        value, rows = cp.norm1(residual) + 0.5 * weights @ cp.abs(b), [equal]
    else:
        loss, given, rows = Huber(), [equality, inequality], [equal, least]
        penalty, charge = PENALTIES[family](b, weights)
        value = 0.5 * cp.sum(cp.huber(residual)) + charge
    problem = rl.Problem(X, y, loss=loss, penalty=penalty, constraints=given)
    return problem, value, rows


def weighted_l1(b, weights):
    return L1(0.5, weights=weights), 0.5 * weights @ cp.abs(b)


def groups(b, weights):
    label = np.arange(b.size) % 4
    parts = [cp.norm_inf(b[np.flatnonzero(label == g)]) for g in range(4)]
    return GroupLinf(0.5, label), 0.5 * sum(parts)


def sorted_l1(b, weights):
    strengths = 0.5 * np.linspace(1.0, 0.3, b.size)
    charge = float(strengths[-1]) * cp.norm1(b)
    for k, drop in enumerate(-np.diff(strengths)):
        charge = charge + float(drop) * cp.sum_largest(cp.abs(b), k + 1)
    return Slope(strengths), charge


PENALTIES = {"l1": weighted_l1, "group": groups, "slope": sorted_l1}


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("family", FAMILIES)
def test_auto_finds_and_proves_the_optimum(family, seed):
    problem, value, rows = make(family, seed)
    answer = rl.solve(problem)  # a warning would be an error
    assert answer.status == "solved"
    reference = cp.Problem(cp.Minimize(value), rows)
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="Solution may be inaccurate")
        # Clarabel is not exact enough for the order of coefficients of such different size.
        reference.solve(solver=cp.HIGHS if family in ("monotone", "duplicates") else cp.CLARABEL)
    assert answer.objective == pytest.approx(reference.value, rel=2e-5)
