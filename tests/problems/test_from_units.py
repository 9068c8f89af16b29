"""Problems given by units of each sample, against their formula and Clarabel."""

import cvxpy as cp
import numpy as np
import pytest
from scipy import sparse as sp

import rectiline as rl

N, D = 40, 3


def rehu(a, tau):
    """Return the ReHU function of the paper, entry by entry."""
    a = np.maximum(a, 0)
    with np.errstate(invalid="ignore"):
        line = tau * (a - tau / 2)
    return np.where(a <= tau, a**2 / 2, line)


def units(seed):
    """Return X and units of every kind: flat ones, zero ones, with and without an end."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((N, D))
    U, V = rng.standard_normal((2, 2, N))
    S, T = rng.standard_normal((2, 3, N))
    tau = rng.choice([0.0, 0.3, 2.0, np.inf], size=(3, N))
    U[0, :5] = 0.0
    V[0, :3] = 1.5
    S[1, 4:9] = 0.0
    return X, U, V, S, T, tau


def value(b, X, U, V, S, T, tau):
    z = X @ b
    return np.maximum(U * z + V, 0).sum() + rehu(S * z + T, tau).sum() + b @ b / 2


@pytest.mark.parametrize("make", [np.asarray, sp.csr_array, sp.csc_array])
def test_the_objective_is_the_formula(make):
    X, *given = units(0)
    problem = rl.Problem.from_units(make(X), *given)
    for seed in range(5):
        b = np.random.default_rng(seed).standard_normal(D)
        assert problem.objective(b, 0.0) == pytest.approx(value(b, X, *given), rel=1e-13)


@pytest.mark.parametrize("seed", range(3))
def test_the_answer_is_clarabels(seed):
    X, *given = units(seed)
    U, V, S, T, tau = given
    A, b = np.eye(D)[:2], np.array([0.1, -0.2])
    solution = rl.solve(rl.Problem.from_units(X, *given, A=A, b=b), tol=1e-9)
    assert solution.status == "solved"
    assert (A @ solution.coef + b >= -1e-12).all()
    beta = cp.Variable(D)
    terms = [cp.sum_squares(beta) / 2]
    terms += [cp.sum(cp.pos(cp.multiply(u, X @ beta) + v)) for u, v in zip(U, V, strict=True)]
    for s, t, end in zip(S, T, tau, strict=True):
        a = cp.pos(cp.multiply(s, X @ beta) + t)
        for i in range(N):
            if np.isinf(end[i]):
                terms.append(cp.square(a[i]) / 2)
            elif end[i] > 0:
                terms.append(cp.huber(a[i], end[i]) / 2)
    reference = cp.Problem(cp.Minimize(cp.sum(cp.hstack(terms))), [A @ beta + b >= 0])
    reference.solve(solver=cp.CLARABEL)
    assert solution.objective == pytest.approx(reference.value, rel=1e-7)


def test_one_unit_per_sample_copies_nothing():
    X, U, V, *_ = units(1)
    problem = rl.Problem.from_units(X, U=U[1:], V=V[1:])
    assert np.shares_memory(problem.design.X, X)


def test_wrong_units_are_named():
    X, U, V, S, T, _ = units(0)
    with pytest.raises(ValueError, match="U is given without V"):
        rl.Problem.from_units(X, U=U)
    with pytest.raises(ValueError, match=r"V must hold finite numbers of shape"):
        rl.Problem.from_units(X, U=U, V=V[:, 1:])
    with pytest.raises(ValueError, match="must have one shape"):
        rl.Problem.from_units(X, U=U, V=V[:1])
    with pytest.raises(ValueError, match="tau must be a number or have the shape of S"):
        rl.Problem.from_units(X, S=S, T=T, tau=np.ones(7))
    with pytest.raises(ValueError, match="tau must hold numbers >= 0"):
        rl.Problem.from_units(X, S=S, T=T, tau=-1.0)
    with pytest.raises(ValueError, match="all units are zero"):
        rl.Problem.from_units(X, U=np.zeros((1, N)), V=np.zeros((1, N)))
    with pytest.raises(ValueError, match="A and b must be given together"):
        rl.Problem.from_units(X, U=U, V=V, A=np.eye(D))
