"""Multipliers that balance free columns exactly: bounds on their distance, against rationals."""

import time
from fractions import Fraction

import numpy as np
import pytest
from random_problems import random_problem
from scipy import sparse

import rectiline as rl
from rectiline._thread_count import using_threads
from rectiline.backends import Design
from rectiline.constraints import LinearEquality, LinearInequality
from rectiline.losses import Absolute, Pinball, SquaredError
from rectiline.problems import DualPoint
from rectiline.problems.proof import _balance
from rectiline.problems.proof._balance import (
    Movable,
    balance_free_columns,
    balanced_on,
    exact_moves,
)


@pytest.fixture(params=["dense", "sparse"])
def kind(request, monkeypatch):
    """Which normal equations: those of dense columns, or those of many sparse ones."""
    if request.param == "sparse":
        monkeypatch.setattr(_balance, "_COLUMNS_TO_STAY_SPARSE", 0)
        monkeypatch.setattr(_balance, "_ENTRIES_TO_STAY_SPARSE", 0)
    return request.param


STORES = {
    "dense": [np.asarray, np.asfortranarray, np.float32, sparse.csr_array],
    "sparse": [sparse.csr_array, sparse.csc_array],
}


def exact(values):
    return np.array([Fraction(float(v)) for v in np.ravel(values)]).reshape(np.shape(values))


def solved(A, right):
    """Return the solution of a system of rationals, by elimination."""
    A, right = A.copy(), right.copy()
    for k in range(len(right)):
        pivot = k + next(i for i, one in enumerate(A[k:, k]) if one != 0)
        A[[k, pivot]], right[[k, pivot]] = A[[pivot, k]], right[[pivot, k]]
        for i in range(len(right)):
            if i != k:
                factor = A[i, k] / A[k, k]
                A[i], right[i] = A[i] - factor * A[k], right[i] - factor * right[k]
    return right / A.diagonal()


@pytest.mark.parametrize("loss", [Pinball(0.3), SquaredError()])
def test_exact_multipliers_exist_within_the_bound(kind, loss):
    rng = np.random.default_rng(5)
    X = (rng.normal(size=(90, 3)) * [1.0, 1e3, 1e-2]).astype(np.float32)
    weight = rng.uniform(0.1, 2.0, 90)
    for store in STORES[kind]:
        given = X if store is np.float32 else store(X.astype(np.float64))
        problem = rl.Problem(given, X[:, 0] + rng.normal(size=90), loss, None, sample_weight=weight)
        low, high = problem.dual_boxes
        free, start = np.arange(3), np.clip(rng.normal(size=90), 0.9 * low, 0.9 * high)
        g, left = balance_free_columns(problem.design, free, True, start, low, high, np.zeros(4))
        assert left <= 1e-15
        Z = exact(np.column_stack([X.astype(np.float64), np.ones(90)]))
        miss = Z.T @ exact(g)
        moves = exact_moves(problem, DualPoint(g), free, np.abs(miss.astype(float)) * (1 + 1e-15))
        rows = moves.rows
        assert rows.size >= 64 and moves.by.max() <= 1e-10
        # The move that the bound is about: least squares in the room that the boxes leave.
        room = np.minimum(np.minimum(g - low, high - g), 1.0)[rows]
        weighted = exact(room**2)[:, None] * Z[rows]
        change = -weighted @ solved(Z[rows].T @ weighted, miss)
        moved = exact(g)
        moved[rows] += change
        assert (Z.T @ moved == 0).all()
        assert (np.abs(change) <= exact(moves.by)).all()
        assert (np.abs(Z[rows, :3].T @ change) <= exact(moves.q_error)).all()
        inside = np.isfinite(low)
        assert (moved[inside] >= exact(low[inside])).all()
        assert (moved[inside] <= exact(high[inside])).all()


def test_exact_multipliers_of_constraints_exist_within_the_bound():
    """Multipliers of rows move with those of samples, in units of their own."""
    rng = np.random.default_rng(8)
    X, A, E = rng.normal(size=(70, 3)), rng.normal(size=(2, 3)), rng.normal(size=(1, 3))
    rules = [LinearInequality(A, np.ones(2)), LinearEquality(E, np.zeros(1))]
    for store in STORES["dense"]:
        given = store(X)
        problem = rl.Problem(given, rng.normal(size=70), Absolute(), None, rules)
        columns, xi, nu = np.arange(3), np.array([3.0, 0.0]), np.array([-0.01])
        pull = np.append(A.T @ xi + E.T @ nu, 0.0)
        g = np.linalg.lstsq(np.column_stack([X, np.ones(70)]).T, pull)[0]  # the shortest
        start = DualPoint(g + 1e-6 * rng.normal(size=70), xi, nu)
        point = balanced_on(problem, start, columns)
        assert point.inequality[0] != start.inequality[0] and point.inequality[1] == 0.0
        dense = np.asarray(given.toarray() if sparse.issparse(given) else given, dtype=np.float64)
        Z = exact(np.vstack([dense, -A[:1], -E]))
        Z = np.column_stack([Z, exact(np.append(np.ones(70), np.zeros(2)))])
        u = np.concatenate([point.sample, point.inequality[:1], point.equality])
        miss = Z.T @ exact(u)
        moves = exact_moves(problem, point, columns, np.abs(miss.astype(float)) * (1 + 1e-15))
        both = Movable.of(problem, point, columns)
        rows, by = np.append(moves.rows, [70, 71]), np.append(moves.by, moves.constraints[[0, 2]])
        scale = np.append(np.ones(70), both.scale)
        room = np.minimum(both.multipliers - both.low, both.high - both.multipliers) * scale
        weighted = exact(room[rows] ** 2)[:, None] * Z[rows]
        change = -weighted @ solved(Z[rows].T @ weighted, miss)
        moved = exact(u)
        moved[rows] += change
        assert (Z.T @ moved == 0).all() and moved[70] > 0
        assert (np.abs(change) <= exact(by)).all()
        assert (np.abs(Z[rows, :3].T @ change) <= exact(moves.q_error)).all()


@pytest.mark.parametrize("case", [(90601, 393), (5551, 174), (640002, 258)])
def test_multipliers_of_constraints_move_with_those_of_samples(case):
    """Their rounding alone is more than samples can balance on columns in small units."""
    proof = rl.solve(random_problem(*case).problem()).certificate
    assert proof.relative_gap <= 1e-7 and proof.radius == np.inf


def test_columns_that_depend_on_others_are_no_proof(kind):
    rng = np.random.default_rng(6)
    X = rng.normal(size=(50, 2))
    X = STORES[kind][0](np.column_stack([X, X.sum(axis=1)]))
    problem = rl.Problem(X, rng.normal(size=50), Absolute(), None)
    g = rng.uniform(-0.5, 0.5, 50)
    assert exact_moves(problem, DualPoint(g), np.arange(3), np.full(4, 1e-16)) is None
    assert exact_moves(problem, DualPoint(g), np.arange(2), np.full(3, np.inf)) is None
    # They are balanced all the same, as far as their sum allows.
    low, high = problem.dual_boxes
    _, left = balance_free_columns(problem.design, np.arange(3), True, g, low, high, np.zeros(4))
    assert left <= 1e-15


def test_both_systems_find_one_point(monkeypatch):
    rng = np.random.default_rng(7)
    X, g = rng.normal(size=(300, 5)), rng.uniform(-0.9, 0.9, 300)
    given = np.array([0, 2, 4]), True, g, -np.ones(300), np.ones(300), np.array([1.0, 2, 0, -1])
    dense, _ = balance_free_columns(Design(X), *given)
    monkeypatch.setattr(_balance, "_COLUMNS_TO_STAY_SPARSE", 0)
    monkeypatch.setattr(_balance, "_ENTRIES_TO_STAY_SPARSE", 0)
    found, _ = balance_free_columns(Design(sparse.csr_array(X)), *given)
    np.testing.assert_allclose(dense, found, atol=1e-13)


@pytest.mark.parametrize("penalty", [None, rl.penalties.L1(0.0)], ids=repr)
def test_many_sparse_free_columns_are_proved_without_a_dense_matrix(penalty):
    """Firm effects: two columns of numbers and one column for each of 2,000 firms."""
    rng = np.random.default_rng(9)
    n, k = 20_000, 2_000
    firm = rng.integers(0, k, n)
    one_hot = sparse.csr_array((np.ones(n), (np.arange(n), firm)), shape=(n, k))
    X = sparse.csr_array(sparse.hstack([sparse.csr_array(rng.normal(size=(n, 2))), one_hot]))
    effect, noise = rng.normal(size=k), rng.normal(size=n)
    problem = rl.Problem(X, effect[firm] + noise, Pinball(0.5), penalty, fit_intercept=False)
    coef = np.append(np.zeros(2), effect)
    kinks = rng.uniform(-0.4, 0.4, n)  # multipliers of an answer are not at hand
    before = time.perf_counter()
    proof = problem.certify(coef, 0.0, kinks)
    assert time.perf_counter() - before < 5.0
    assert proof.radius == np.inf and np.isfinite(proof.gap)


def test_equal_bits_for_any_number_of_threads():
    rng = np.random.default_rng(8)
    X, g = rng.normal(size=(100_000, 3)), rng.uniform(-0.9, 0.9, 100_000)
    one = np.ones(g.size)
    found = []
    for count in (1, 2, 5):
        with using_threads(count):
            target = np.array([1.0, 2.0, 3.0, 4.0])
            found.append(balance_free_columns(Design(X), np.arange(3), True, g, -one, one, target))
    assert found[0][1] <= 1e-15
    for moved, left in found[1:]:
        assert left == found[0][1]
        np.testing.assert_array_equal(moved, found[0][0])


def test_multipliers_at_the_ends_of_their_boxes_leave_room_for_a_proof():
    """Medians of groups of even size: no multiplier of a group has to be inside its box."""
    rng = np.random.default_rng(10)
    group, y = np.repeat(np.arange(3), 4), rng.normal(size=12)
    X = np.eye(3)[group]
    problem = rl.Problem(X, y, Absolute(), None, fit_intercept=False)
    parts = np.sort(y.reshape(3, 4))
    coef = parts[:, 1:3].mean(axis=1)
    g = np.sign(X @ coef - y)
    for tol in (None, 1e-6, 1e-9):
        proof = problem.prove(coef, 0.0, g, tol)
        assert proof.certificate.radius == np.inf
        assert proof.certificate.relative_gap <= (tol or 1e-10)
