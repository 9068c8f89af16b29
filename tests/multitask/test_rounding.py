"""Certificates of several tasks cannot lie, against exact rational arithmetic.

For rational M with ``0 <= M <= I`` and ``tr M <= h`` the penalty is at most ``c tr(U'(eta I +
M)^-1 U)``, a rational number: no lower bound may exceed the objective with that in its place. Two
tasks have two columns, whose projectors have rational entries.
"""

from __future__ import annotations

import math
import warnings
from decimal import Decimal, localcontext
from fractions import Fraction

import numpy as np
import pytest
from exact import ExactProblem, rational

from rectiline.exceptions import ConvergenceWarning
from rectiline.losses import Absolute, Hinge, Huber, SquaredError
from rectiline.penalties import SharedSubspace
from rectiline.problems import MultiTaskProblem
from rectiline.problems.proof._subspace import squared_sizes
from rectiline.solvers import solve_multitask


def exact_upper_value(problem, U, intercept):
    """Return the objective with a rational projector near the best one."""
    total = Fraction(0)
    for task, u, b in zip(problem.tasks, U.T, intercept, strict=True):
        exact = ExactProblem(task)
        exact.rho = exact.l1 = [Fraction(0)] * 2
        total += exact.value(rational(u), rational(float(b)))
    penalty = problem.penalty
    alpha, beta = rational(penalty.alpha), rational(penalty.beta)
    eta = beta / alpha
    space = penalty.subspace(problem.charged(U))
    weights = sorted([*map(float, space.weights), 0.0, 0.0], reverse=True)[:2]
    first = min(Fraction(weights[0]), Fraction(1))
    second = min(Fraction(weights[1]), penalty.shared_dim - first)
    x, y = space.basis[:, 0] if space.weights.size else (1.0, 0.0)
    t = rational(math.tan(0.5 * math.atan2(y, x)))
    p = ((1 - t * t) / (1 + t * t), 2 * t / (1 + t * t))
    V = [rational(row) for row in U]
    if problem.center:
        V = [[v - sum(row) / 2 for v in row] for row in V]
    along = [p[0] * V[0][k] + p[1] * V[1][k] for k in range(2)]
    across = [-p[1] * V[0][k] + p[0] * V[1][k] for k in range(2)]
    parts = ((along, first), (across, second))
    charge = sum(sum(v * v for v in part) / (eta + g) for part, g in parts)
    return total + alpha * eta * (1 + eta) * charge


@pytest.mark.parametrize("center", [False, True])
@pytest.mark.parametrize("loss", [Absolute(), Hinge(), Huber(0.7), SquaredError()], ids=repr)
def test_bounds_are_below_rational_upper_values(loss, center):
    compared = 0
    for seed in range(8):
        rng = np.random.default_rng(seed)
        X = [rng.normal(size=(4, 2)) * 10.0 ** rng.uniform(-8, 8, 2) for _ in range(2)]
        y = [rng.permutation([-1.0, 1.0, 1.0, -1.0]) for _ in range(2)]
        if loss.of != "margin":
            y = [one * 10.0 ** rng.uniform(-8, 8, 4) for one in y]
        penalty = SharedSubspace(1, *(10.0 ** rng.uniform(-3, 3, 2)))
        problem = MultiTaskProblem(X, y, loss, penalty, fit_intercept=seed % 2 == 0, center=center)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            answer = solve_multitask(problem, tol=1e-6, max_iter=50)
        for tol in (None, 0.0):
            proof = problem.prove(answer.coef, answer.intercept, answer.dual, tol).certificate
            assert proof.gap >= proof.rounding >= 0.0
            if np.isfinite(proof.gap):
                compared += 1
                upper = exact_upper_value(problem, answer.coef, answer.intercept)
                assert rational(proof.primal) - rational(proof.gap) <= upper
    assert compared >= 8


# ---- singular values ------------------------------------------------------------------------


def exact_gram(A):
    """Return ``A A'`` in fractions."""
    rows = rational(A)
    return [[sum(x * y for x, y in zip(a, b, strict=True)) for b in rows] for a in rows]


def moments(G):
    """Return the sum of the eigenvalues of a rational matrix, and that of their squares."""
    trace = sum(G[i][i] for i in range(len(G)))
    return trace, sum(x * x for row in G for x in row)


def awkward_matrix(seed, shape):
    rng = np.random.default_rng(seed)
    A = rng.normal(size=shape)
    kind = seed % 4
    if kind == 0:
        A *= 10.0 ** rng.uniform(-8, 8, shape[0])[:, None]
    elif kind == 1:  # nearly of rank one
        A = np.outer(A[:, 0], A[0]) + 1e-9 * A
    elif kind == 2:  # equal singular values
        A = np.linalg.qr(A.T)[0].T
    return A


@pytest.mark.parametrize("wrong", [0.0, 1e-9, 1e-3], ids=lambda one: f"wrong by {one}")
@pytest.mark.parametrize("seed", range(8))
def test_squared_singular_values_are_verified_whatever_lapack_says(seed, wrong, monkeypatch):
    """Two rows: eigenvalues of a rational 2 x 2 matrix, in decimals of 80 digits."""
    A = awkward_matrix(seed, (2, 7))
    G = exact_gram(A)
    trace, determinant = G[0][0] + G[1][1], G[0][0] * G[1][1] - G[0][1] ** 2

    def digits(x):
        return Decimal(x.numerator) / Decimal(x.denominator)

    with localcontext(prec=80):
        root = (digits(trace**2 - 4 * determinant)).sqrt()
        exact = [(digits(trace) + sign * root) / 2 for sign in (1, -1)]
    find = np.linalg.eigh

    def eigh(matrix):
        values, vectors = find(matrix)
        return values * (1.0 + wrong), vectors + wrong * np.abs(vectors).max()

    monkeypatch.setattr(np.linalg, "eigh", eigh)
    found, error = squared_sizes(A)
    with localcontext(prec=80):
        off = sum(abs(Decimal(float(x)) - y) for x, y in zip(found, exact, strict=True))
        assert off <= Decimal(error)
    assert error <= (1e-13 + 20.0 * wrong) * float(trace)


@pytest.mark.parametrize("shape", [(5, 9), (12, 4), (1, 30)])
@pytest.mark.parametrize("seed", range(4))
def test_sums_of_squared_singular_values_are_within_their_error(shape, seed):
    A = awkward_matrix(seed, shape)
    found, error = squared_sizes(A)
    first, second = moments(exact_gram(A if shape[0] <= shape[1] else A.T))
    squares = [Fraction(float(one)) for one in found]
    bound, top = Fraction(error), Fraction(float(found[0])) + Fraction(error)
    assert abs(sum(squares) - first) <= bound
    assert abs(sum(one * one for one in squares) - second) <= 2 * top * bound
    assert error <= 1e-12 * float(first)


def test_squares_that_overflow_have_no_bound():
    assert squared_sizes(np.full((2, 3), 1e200))[1] == math.inf
    assert squared_sizes(np.zeros((2, 3))) == (pytest.approx([0.0, 0.0]), 0.0)
