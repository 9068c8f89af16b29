"""The compiled simplex method against HiGHS, on ordinary, degenerate and infeasible programs."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse as sp
from scipy.optimize import linprog

import rectiline as rl
from rectiline import _core
from rectiline.problems.forms import LinearProgramForm
from rectiline.solvers.generation._programs import is_boxed, is_mostly_zeros


def random_program(seed):
    rng = np.random.default_rng(seed)
    m, k = int(rng.integers(1, 12)), int(rng.integers(1, 40))
    A = rng.standard_normal((m, k))
    if seed % 3 == 0:
        A = np.round(A)
    if seed % 5 == 0 and k > 4:
        A[:, k // 2 :] = A[:, : k - k // 2]  # duplicate columns
    if seed % 7 == 0 and m > 2:
        A[-1] = A[0]  # duplicate rows
    cost, width = rng.standard_normal(k), rng.uniform(0.1, 1.0, k)
    if seed % 4 == 0:
        cost, width = np.round(cost), np.ones(k)
    low, high = -rng.uniform(0.0, 2.0, m), rng.uniform(0.0, 2.0, m)
    if seed % 2 == 0:
        low[0] = high[0] = 0.0
    if m > 3 and seed % 3 == 1:
        low[1], high[2] = -np.inf, np.inf
    if seed % 11 == 0:  # zero need not be feasible
        shift = rng.standard_normal(m)
        low, high = low + shift, high + shift
    return cost, width, low, high, A


def model_of(cost, width, low, high, A):
    model = _core.BoxedSimplex()
    model.add_columns(cost, width, np.zeros(0, dtype=np.int32), np.zeros((0, cost.size)))
    model.add_rows(low, high, np.arange(cost.size, dtype=np.int32), A)
    return model


def reference(cost, width, low, high, A):
    rows, right = np.vstack([A, -A]), np.concatenate([high, -low])
    finite = np.isfinite(right)
    bounds = [(0.0, w) for w in width]
    return linprog(-cost, A_ub=rows[finite], b_ub=right[finite], bounds=bounds, method="highs")


def check_optimal(model, program, best):
    cost, width, low, high, A = program
    v, y = model.values(), model.multipliers()
    assert cost @ v == pytest.approx(best, rel=1e-8, abs=1e-8)
    assert (v >= -1e-8).all() and (v <= width + 1e-8).all()
    assert (A @ v <= high + 1e-8).all() and (A @ v >= low - 1e-8).all()
    # Strong duality: the sum of kinks at the multipliers is the same number.
    ends = np.where(y > 1e-12, high, np.where(y < -1e-12, low, 0.0))
    kinks = width @ np.maximum(cost - A.T @ y, 0.0) + float(ends @ np.where(ends == 0, 0.0, y))
    assert kinks == pytest.approx(best, rel=1e-7, abs=1e-7)


@pytest.mark.parametrize("block", range(10))
def test_agrees_with_highs(block):
    for seed in range(30 * block, 30 * block + 30):
        program = random_program(seed)
        found = reference(*program)
        model = model_of(*program)
        status = model.solve(100_000, 1e9)
        if found.status == 2:
            assert status == "infeasible", seed
            continue
        assert found.status == 0 and status == "optimal", seed
        check_optimal(model, program, -found.fun)


def test_rows_and_columns_may_come_later():
    rng = np.random.default_rng(0)
    cost, width, low, high, A = random_program(1)
    cost, width = rng.standard_normal(60), np.ones(60)
    A = rng.standard_normal((20, 60))
    low, high = -np.full(20, 0.7), np.full(20, 0.7)
    model = model_of(cost[:30], width[:30], low[:8], high[:8], np.ascontiguousarray(A[:8, :30]))
    assert model.solve(10_000, 1e9) == "optimal"
    model.add_columns(
        cost[30:], width[30:], np.arange(8, dtype=np.int32), np.ascontiguousarray(A[:8, 30:])
    )
    assert model.solve(10_000, 1e9) == "optimal"
    model.add_rows(low[8:], high[8:], np.arange(60, dtype=np.int32), np.ascontiguousarray(A[8:]))
    assert model.solve(10_000, 1e9) == "optimal"
    program = (cost, width, low, high, A)
    check_optimal(model, program, -reference(*program).fun)
    model.set_row_bounds(np.arange(20, dtype=np.int32), 0.3 * low, 0.3 * high)
    model.set_widths(np.arange(10, dtype=np.int32), np.full(10, 0.5))
    width = width.copy()
    width[:10] = 0.5
    assert model.solve(10_000, 1e9) == "optimal"
    program = (cost, width, 0.3 * low, 0.3 * high, A)
    check_optimal(model, program, -reference(*program).fun)


def test_a_basis_can_be_taken_elsewhere():
    program = random_program(2)
    first = model_of(*program)
    first.solve(10_000, 1e9)
    m, k = program[4].shape
    columns, rows = np.zeros(k, dtype=np.uint8), np.zeros(m, dtype=np.uint8)
    first.basis(columns, rows)
    assert (columns == 1).sum() == (rows != 1).sum()  # the kernel is square
    second = model_of(*program)
    second.set_basis(columns, rows)
    assert second.solve(10_000, 1e9) == "optimal" and second.n_steps == 0
    np.testing.assert_allclose(second.values(), first.values(), atol=1e-9)
    second.forget_basis()
    assert second.solve(10_000, 1e9) == "optimal" and second.n_steps == first.n_steps


def test_a_singular_basis_is_repaired():
    A = np.array([[1.0, 1.0, 2.0], [1.0, 1.0, -1.0]])
    program = (np.array([1.0, 2.0, 0.5]), np.ones(3), -np.ones(2), np.ones(2), A)
    model = model_of(*program)
    model.set_basis(np.array([1, 1, 0], dtype=np.uint8), np.array([0, 0], dtype=np.uint8))
    assert model.solve(1000, 1e9) == "optimal"
    check_optimal(model, program, -reference(*program).fun)


def test_a_program_without_a_feasible_point_is_told():
    A = np.array([[1.0, 1.0]])
    model = model_of(np.ones(2), np.ones(2), np.array([3.0]), np.array([4.0]), A)
    assert model.solve(1000, 1e9) == "infeasible"


def test_sizes_are_checked():
    model = _core.BoxedSimplex()
    with pytest.raises(ValueError, match="must have"):
        model.add_columns(np.ones(2), np.ones(3), np.zeros(0, dtype=np.int32), np.zeros((0, 2)))
    with pytest.raises(ValueError, match="out of range"):
        model.add_rows(-np.ones(1), np.ones(1), np.array([4], dtype=np.int32), np.ones((1, 1)))


@pytest.mark.parametrize("share, is_zeros", [(0.05, True), (0.3, False), (1.0, False)])
def test_sparse_tables_with_few_zeros_are_taken_as_dense(share, is_zeros):
    rng = np.random.default_rng(4)
    X = rng.standard_normal((400, 12)) * (rng.random((400, 12)) < share)
    y = np.where(X.sum(axis=1) + 0.3 * rng.standard_normal(400) > 0, 1, -1)
    one = rl.Problem(sp.csr_array(X), y, rl.losses.Hinge(), rl.penalties.L1(2.0))
    form = LinearProgramForm(one)
    assert is_mostly_zeros(form.design) == is_zeros and is_boxed(form) != is_zeros
    found = rl.solve(one, solver="generation", tol=1e-9)
    same = rl.solve(rl.Problem(X, y, rl.losses.Hinge(), rl.penalties.L1(2.0)), tol=1e-9)
    np.testing.assert_allclose(found.certificate.primal, same.certificate.primal, rtol=1e-8)
