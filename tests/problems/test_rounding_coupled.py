"""Certificates cannot lie under penalties that couple columns, constraints and free columns.

As in `test_rounding`, entries are between 1e-8 and 1e8; here problems have two coefficients, and
the bound of a certificate is compared with exactly feasible points.
"""

import numpy as np
import pytest
from exact import rational
from exact_plane import ExactPlane
from problems.test_rounding import LOSSES, sizes, solved
from random_problems import random_problem

import rectiline as rl
from rectiline.constraints import Box, LinearEquality, LinearInequality, Monotone, Nonnegative
from rectiline.penalties import L1, ElasticNet, GroupLinf, Slope


def one_size(rng):
    return float(sizes(rng, 1)[0])


def penalties(rng, kind):
    """Return a penalty of a kind."""
    if kind == "groups":
        return GroupLinf(one_size(rng), [0, int(rng.integers(2))])
    if kind == "slope":
        return Slope(np.sort(sizes(rng, 2))[::-1] * [1.0, rng.integers(2)])
    if kind == "free column":
        return L1(one_size(rng), weights=[0.0, 1.0])
    if kind == "free elastic net":
        return ElasticNet(one_size(rng), 0.0)
    return [L1(one_size(rng)), ElasticNet(one_size(rng), one_size(rng)), None][rng.integers(3)]


def constraints(rng, kind):
    """Return constraints that (1, 2) in some units satisfies, with entries of all sizes."""
    inside = np.array([1.0, 2.0]) * one_size(rng)
    row = rng.normal(size=2) * sizes(rng, 2)
    every = [
        LinearInequality(row[None], -float(row @ inside) + one_size(rng)),
        LinearInequality(-row[None], float(row @ inside) * (1 + 1e-3)),
        LinearEquality(row[None], -float(row @ inside)),
        Nonnegative(),
        Monotone(),
        Box(inside - sizes(rng, 2), inside + sizes(rng, 2)),
    ]
    if kind == "equality":
        return [every[2]]
    if kind in ("free column", "free elastic net") or rng.random() < 0.3:
        return []
    return [every[k] for k in rng.choice([0, 3, 4, 5], size=rng.integers(1, 3), replace=False)]


def problem_in_the_plane(kind, seed):
    rng = np.random.default_rng([seed, sum(map(ord, kind))])
    loss = LOSSES[rng.integers(len(LOSSES))]
    n = int(rng.integers(2, 6))
    X = rng.normal(size=(n, 2)) * sizes(rng, [(n, 2), 2, (n, 1)][rng.integers(3)])
    y = rng.normal(size=n) * sizes(rng, n)
    if loss.of == "margin":
        y = np.where(np.arange(n) % 2 == 0, 1.0, -1.0)
    weight = None if rng.random() < 0.5 else 10.0 ** rng.uniform(-4, 4, n)
    return rl.Problem(
        X,
        y,
        loss=loss,
        penalty=penalties(rng, kind),
        constraints=constraints(rng, kind),
        sample_weight=weight,
        fit_intercept=False,
    )


KINDS = ["groups", "slope", "rows", "equality", "free column", "free elastic net"]


@pytest.mark.parametrize("kind", KINDS)
def test_bounds_are_below_exactly_feasible_points(kind):
    compared = 0
    for seed in range(30):
        problem = problem_in_the_plane(kind, seed)
        answer = solved(problem)
        if answer.status == "infeasible":
            continue
        least = ExactPlane(problem).least(answer.coef)
        if least is not None:  # knots and slopes of a curve are rounded: it may dip below its least
            least = max(least, rational(problem.least_loss))
        rng = np.random.default_rng(seed)
        wild = rl.DualPoint(
            rng.normal(size=problem.n_samples) * sizes(rng, problem.n_samples),
            np.abs(rng.normal(size=problem.constraint_rows.c.size)),
            rng.normal(size=problem.constraint_rows.f.size),
        )
        for dual in (answer.dual, wild):
            for tol in (None, 0.0):
                proof = problem.prove(answer.coef, 0.0, dual, tol).certificate
                assert not np.isnan(proof.gap) and proof.gap >= proof.rounding >= 0.0
                if least is None or not np.isfinite(proof.gap) or np.isfinite(proof.radius):
                    continue
                compared += 1
                assert rational(proof.primal) - rational(proof.gap) <= least
    assert compared >= 30  # of 120: some bounds are infinite, some answers are not exactly feasible


def test_multipliers_that_rounding_shrinks_are_measured_again():
    """Errors of q shrink it by 1.4e-6 in plain doubles, and the penalty pays for that share.

    Constraint rows with multipliers of 800 set these errors, beside a group strength of 0.003.
    """
    answer = rl.solve(random_problem(301182, 751).problem())
    assert answer.status == "solved" and answer.n_iter <= 60
