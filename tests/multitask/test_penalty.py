"""Omega(U): value, gradient, conjugate, prox and what they owe each other."""

import pickle

import cvxpy as cp
import numpy as np
import pytest

from rectiline.penalties import Ridge, SharedSubspace

CASES = [
    (SharedSubspace(h, alpha, beta), d, m)
    for h, alpha, beta, d, m in [
        (1, 1.0, 0.1, 4, 3),
        (2, 10.0, 1.0, 5, 7),
        (3, 0.5, 2.0, 6, 2),
        (4, 1.0, 0.01, 4, 6),
        (2, 3.0, 0.3, 5, 1),
    ]
]
every_case = pytest.mark.parametrize(("penalty", "d", "m"), CASES)


def draw(d, m, seed):
    return np.random.default_rng(seed).normal(size=(d, m))


@every_case
def test_value_is_the_semidefinite_program(penalty, d, m):
    U = draw(d, m, 0)
    M = cp.Variable((d, d), symmetric=True)
    T = cp.Variable((m, m), symmetric=True)
    S = penalty.eta * np.eye(d) + M
    block = cp.bmat([[S, U], [U.T, T]])
    eye = np.eye(d)
    program = cp.Problem(
        cp.Minimize(penalty.scale * cp.trace(T)),
        [block >> 0, M >> 0, eye - M >> 0, cp.trace(M) == penalty.shared_dim],
    )
    program.solve(solver=cp.CLARABEL)
    assert penalty.value(U) == pytest.approx(program.value, rel=1e-6)


@every_case
def test_gradient_is_the_derivative(penalty, d, m):
    U, E = draw(d, m, 1), draw(d, m, 2)
    eps = 1e-6
    slope = (penalty.value(U + eps * E) - penalty.value(U - eps * E)) / (2 * eps)
    assert np.sum(penalty.gradient(U) * E) == pytest.approx(slope, rel=1e-6)


@every_case
def test_gradient_is_lipschitz(penalty, d, m):
    for seed in range(30):
        U, V = draw(d, m, seed), draw(d, m, seed + 50)
        change = np.linalg.norm(penalty.gradient(U) - penalty.gradient(V))
        assert change <= penalty.lipschitz * np.linalg.norm(U - V) * (1 + 1e-10)


@every_case
def test_fenchel_young(penalty, d, m):
    for seed in range(10):
        U, Q = draw(d, m, seed), 3.0 * draw(d, m, seed + 90)
        direct = penalty.value(U) + penalty.conjugate(Q) - np.sum(Q * U)
        assert penalty.fenchel_young(U, Q) == pytest.approx(direct, rel=1e-10)
        # Equality at the gradient, up to rounding of the three terms.
        G = penalty.gradient(U)
        assert 0 <= penalty.fenchel_young(U, G) <= 1e-13 * penalty.value(U)
        assert penalty.value(U) + penalty.conjugate(G) == pytest.approx(np.sum(G * U))


def test_fenchel_young_when_the_rank_is_below_the_dimension():
    penalty = SharedSubspace(3, 1.0, 0.2)
    U = np.outer(np.arange(5.0), [1.0, -1.0, 2.0, 0.5])
    for Q in (
        draw(5, 4, 0),
        penalty.gradient(U),
        np.zeros((5, 4)),
        np.outer(np.ones(5), np.ones(4)),
    ):
        direct = penalty.value(U) + penalty.conjugate(Q) - np.sum(Q * U)
        assert penalty.fenchel_young(U, Q) == pytest.approx(direct, abs=1e-11)
    assert penalty.fenchel_young(0 * U, 0 * U) == 0.0


@every_case
def test_prox_solves_its_equation(penalty, d, m):
    for step in (0.01, 1.0, 100.0):
        V = draw(d, m, 5)
        U = penalty.prox(V, step)
        np.testing.assert_allclose(U + step * penalty.gradient(U), V, atol=1e-10)


def test_one_task_is_ridge():
    penalty, u = SharedSubspace(2, 3.0, 0.7), np.array([1.0, -2.0, 0.5])
    assert penalty.value(u) == pytest.approx(Ridge(1.4).value(u))
    rho, l1 = penalty.separable(3)
    np.testing.assert_allclose(rho, 1.4)
    np.testing.assert_array_equal(l1, 0.0)
    np.testing.assert_allclose(penalty.prox(u, 0.5), Ridge(1.4).prox(u, 0.5))


def test_full_dimension_and_none():
    U = draw(4, 6, 3)
    assert SharedSubspace(4, 5.0, 0.3).value(U) == pytest.approx(0.3 * np.sum(U**2))
    bounds = 0.3 * np.sum(U**2), 5.3 * np.sum(U**2)
    assert bounds[0] < SharedSubspace(1, 5.0, 0.3).value(U) < bounds[1]


def test_a_value_among_values():
    penalty = SharedSubspace(2, 3.0, 0.5)
    assert penalty == SharedSubspace(shared_dim=2, alpha=3.0, beta=0.5)
    assert penalty != SharedSubspace(1, 3.0, 0.5)
    assert hash(penalty) == hash(SharedSubspace(2, 3.0, 0.5))
    assert pickle.loads(pickle.dumps(penalty)) == penalty
    assert eval(repr(penalty)) == penalty
    U = draw(4, 3, 0)
    assert penalty.with_strength(6.0).value(U) == pytest.approx(2 * penalty.value(U))
    assert penalty.with_strength(0.0).is_zero
    with pytest.raises(AttributeError, match="immutable"):
        penalty.alpha = 2.0


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"shared_dim": 0}, "shared_dim"),
        ({"alpha": -1.0}, "alpha"),
        ({"beta": 0.0}, "beta"),
        ({"alpha": 0.0}, "alpha"),
        ({"alpha": np.inf}, "alpha"),
    ],
)
def test_errors_name_the_argument(arguments, message):
    with pytest.raises(ValueError, match=message):
        SharedSubspace(**arguments)


def test_too_few_columns():
    with pytest.raises(ValueError, match="at most the number of features, 2"):
        SharedSubspace(3).value(np.ones((2, 4)))
