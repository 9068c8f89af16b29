"""Factors that leave out light rows and stiff columns, alone and inside the solver."""

import numpy as np
import pytest
from scipy import sparse as sp
from scipy.optimize import linprog

import rectiline as rl
from rectiline.problems.forms import EpigraphForm
from rectiline.solvers._base import Budget
from rectiline.solvers.interior.build import build
from rectiline.solvers.interior.linear_algebra import Workspace, add_square, cholesky, solve_with
from rectiline.solvers.interior.normal import factorise
from rectiline.solvers.interior.split import Coupling
from rectiline.solvers.interior.split_factor import SplitFactor

RNG = np.random.default_rng(5)
SHAPES = [(240, 420), (300, 300), (420, 240)]


def program_of(n, d, storage=np.asarray, weight=None):
    X = RNG.normal(size=(n, d)) + 0.3 * RNG.normal(size=(n, 1))
    penalty = rl.penalties.L1(0.3)
    problem = rl.Problem(
        storage(X), RNG.normal(size=n), rl.losses.Pinball(0.3), penalty, sample_weight=weight
    )
    return build(EpigraphForm.apply(problem))


def near_a_vertex(n, d):
    """Weights of rows and of columns as they are late in the iteration."""
    rows = 10.0 ** np.where(np.arange(n) % 2, RNG.uniform(0, 1, n), RNG.uniform(-9, -6, n))
    columns = 10.0 ** np.where(np.arange(d) % 3, RNG.uniform(4, 6, d), RNG.uniform(-3, -1, d))
    return rows, columns


@pytest.mark.parametrize("storage", [np.asarray, np.asfortranarray])
@pytest.mark.parametrize("shape", SHAPES, ids=str)
@pytest.mark.parametrize("single", [True, False])
@pytest.mark.parametrize("gaps", [True, False], ids=["late", "early"])
def test_the_factor_solves_all_the_equations(storage, shape, single, gaps):
    n, d = shape
    weight = np.where(np.arange(n) == 3, 0.0, 1.0)
    program = program_of(n, d, storage, weight)
    rows, columns = near_a_vertex(n - 1, d)
    if not gaps:
        rows, columns = RNG.uniform(0.001, 0.003, n - 1), RNG.uniform(0.5, 1.0, d)
    weights = [rows, columns]
    diagonal, coupling = np.full(program.width, 1e-8), Coupling()
    coupling.mean, coupling.single = 1e-12, single
    factor = factorise(program.blocks, weights, diagonal, n < d, coupling)
    if gaps or n <= d:
        assert isinstance(factor, SplitFactor)
        assert (factor.split.light.size > 0) == gaps
    R = np.column_stack([program.data.rows.dot(column) for column in np.eye(program.width)])
    full = diagonal + np.append(columns, 0.0)
    v = full * RNG.normal(size=program.width)
    r = [RNG.normal(size=n - 1) * np.sqrt(rows), np.zeros(d)]
    x, s = factor.solve(v, r)
    want = np.linalg.solve(np.diag(full) + R.T @ (rows[:, None] * R), v + R.T @ r[0])
    assert not factor.is_poor
    np.testing.assert_allclose(x, want, rtol=1e-5, atol=1e-6 * np.abs(want).max())
    if factor.finds_duals:
        np.testing.assert_allclose(s[0], rows * (R @ want) - r[0], rtol=1e-4, atol=1e-4)


def test_nothing_is_left_out_where_everything_counts():
    program = program_of(300, 300)
    coupling = Coupling()
    coupling.mean = 1e-6
    weights = [np.full(300, 1.0), np.full(300, 0.1)]
    split = coupling.choose(
        program.data.rows, weights[0], np.full(program.width, 0.1), np.arange(1), False
    )
    assert split is None


def test_a_poor_factor_is_noticed_and_replaced():
    """A split that leaves out what counts costs time, not the answer."""
    problem = quantile_problem(260, 300, 0.02)
    form, method = EpigraphForm.apply(problem), rl.solvers.Interior()
    state = method.start(form, None, 0)
    coupling = state.iterate.coupling = Coupling(wanted=1e8, largest=1e12)
    assert method.advance(state, Budget(100, np.inf, 1e-8)).reached
    assert not coupling.single  # it had to retreat
    pair = form.invert(method.point(state))
    assert problem.certify(*pair).relative_gap <= 1e-8


def quantile_problem(n, d, alpha, X=None, loss=None):
    rng = np.random.default_rng(n + d)
    X = rng.normal(size=(n, d)) if X is None else X
    y = X @ rng.normal(size=X.shape[1]) / np.sqrt(d) + 0.5 * rng.standard_t(3, n)
    loss = loss or rl.losses.Pinball(0.4)
    if loss.of == "margin":
        y = np.where(y > 0, 1.0, -1.0)
    return rl.Problem(X, y, loss, rl.penalties.L1(alpha), sample_weight=np.full(n, 1.0 / n))


def duplicated(n, d):
    X = np.random.default_rng(1).normal(size=(n // 2, d // 2))
    return np.tile(X, (2, 2))


def ill_scaled(n, d):
    rng = np.random.default_rng(2)
    return rng.normal(size=(n, d)) * 10.0 ** rng.uniform(-3, 3, d)


def one_factor(n, d):
    rng = np.random.default_rng(3)
    return 3.0 * rng.normal(size=(n, 1)) + rng.normal(size=(n, d))


def with_zeros(n, d):
    X = np.random.default_rng(4).normal(size=(n, d))
    X[:, ::7] = 0.0
    X[::5] = 0.0
    return X


def quantile_optimum(problem, quantile):
    """The full program on HiGHS, sparse where it is."""
    X, y = problem.design.X, problem.offset * -problem.direction
    n = y.size
    ones, eye = np.ones((n, 1)), sp.eye_array(n)
    A = sp.hstack([X, -X, ones, -ones, eye, -eye], format="csr")
    w = problem.weight
    cost = np.concatenate(
        [problem.columns.l1, problem.columns.l1, [0.0, 0.0], quantile * w, (1.0 - quantile) * w]
    )
    answer = linprog(cost, A_eq=A, b_eq=y, method="highs-ds")
    assert answer.status == 0
    return answer.fun


@pytest.mark.parametrize("alpha", [0.02, 0.003])
@pytest.mark.parametrize("shape", [(220, 400), (260, 240)], ids=str)
@pytest.mark.parametrize("make", [None, duplicated, ill_scaled, one_factor, with_zeros])
def test_the_optimum_of_the_full_program(make, shape, alpha):
    X = None if make is None else make(*shape)
    problem = quantile_problem(*shape, alpha, X)
    solution = rl.solve(problem, solver="interior", tol=1e-8)
    best = quantile_optimum(problem, 0.4)
    assert solution.certificate.relative_gap <= 1e-8
    assert best - 1e-9 <= solution.objective <= best + 2e-8 * abs(best) + 1e-12


@pytest.mark.parametrize("loss", [rl.losses.Hinge(), rl.losses.EpsilonInsensitive(0.1)], ids=repr)
def test_other_losses_at_a_high_accuracy(loss):
    problem = quantile_problem(260, 320, 0.01, loss=loss)
    interior = rl.solve(problem, solver="interior", tol=1e-9)
    vertex = rl.solve(problem, solver="generation", tol=1e-9)
    assert interior.certificate.relative_gap <= 1e-9
    np.testing.assert_allclose(interior.objective, vertex.objective, rtol=2e-9)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("order", ["C", "F"])
def test_squares_and_factors_in_both_precisions(dtype, order):
    tall = np.asarray(RNG.normal(size=(40, 15)), dtype=dtype, order=order)
    matrix = Workspace().matrix("square", 15, 15, dtype)
    add_square(tall, matrix, first=True)
    add_square(tall, matrix, first=False)
    want = 2.0 * tall.T.astype(float) @ tall
    np.testing.assert_allclose(np.tril(matrix), np.tril(want), rtol=1e-5, atol=1e-5)
    v = RNG.normal(size=15)
    found = solve_with(cholesky(matrix), v)
    np.testing.assert_allclose(found, np.linalg.solve(want, v), rtol=1e-3, atol=1e-5)
    add_square(tall[:0], matrix, first=True)
    assert not np.any(np.tril(matrix))
