"""The parts of the interior point method, each on its own."""

import numpy as np
import pytest
from cases import LOSSES
from scipy import sparse as sp

import rectiline as rl
from rectiline import Problem, _core
from rectiline.backends import as_design
from rectiline.constraints import Box, LinearEquality, LinearInequality
from rectiline.losses import Absolute, Huber, Pinball, SquaredError
from rectiline.penalties import L1, ElasticNet, Fused, GroupLinf, Ridge
from rectiline.problems.forms import EpigraphForm, shapes_of
from rectiline.solvers.interior.method import Method, Verdict, sparse_equations
from rectiline.solvers.interior.program import build
from rectiline.solvers.interior.systems import DenseColumns, DenseRows, FactorError, cholesky

RNG = np.random.default_rng(0)

# ---- losses as boxed parts --------------------------------------------------------------------


def part_value(shape, t):
    u = t - shape.knot
    if shape.soft:
        best = np.clip(u / shape.soft, shape.low, shape.high)
    else:
        best = np.where(u > 0, shape.high, shape.low)
    return best * u - 0.5 * shape.soft * best**2


@pytest.mark.parametrize("case", LOSSES, ids=[case.name for case in LOSSES])
def test_parts_add_up_to_the_loss(case):
    units, curve = case.loss.units, case.loss.curve
    t = np.concatenate([RNG.normal(scale=3.0, size=200), curve.knots])
    shapes = shapes_of(curve)
    total = units.constant + sum(part_value(shape, t) for shape in shapes)
    np.testing.assert_allclose(total, units.value(t), rtol=1e-12, atol=1e-12)
    assert len(shapes) <= units.n_relu + units.n_rehu


@pytest.mark.parametrize("loss", [Absolute(), Pinball(0.2), Huber(0.7), SquaredError()], ids=repr)
def test_two_units_on_one_knot_are_one_part(loss):
    assert len(shapes_of(loss.curve)) == 1


# ---- the linear systems ------------------------------------------------------------------------


def program_of(n, d, penalty, storage=np.asarray, **more):
    X = RNG.normal(size=(n, d))
    X[np.abs(X) < 0.5] = 0.0
    problem = Problem(storage(X), RNG.normal(size=n), Pinball(0.3), penalty=penalty, **more)
    return build(EpigraphForm.apply(problem))


def matrix_of(rows):
    return np.column_stack([rows.dot(column) for column in np.eye(rows.width)])


ROWS = [
    LinearInequality(RNG.normal(size=(3, 30)), np.ones(3)),
    LinearEquality(sp.csr_array(RNG.normal(size=(2, 30))), np.ones(2)),
    Box(-1.0, np.inf),
]
GROUPS = GroupLinf(0.3, [np.arange(10), np.arange(10, 29)])


class SparseColumns:
    """The compiled sparse factor in the shape of the systems of Python."""

    def __init__(self, program, proximal):
        self.rows, self.diagonal = program.rows, program.rho + proximal
        self.equations = _core.NormalEquations(*self.rows.compressed(), self.rows.width, False)

    def factorise(self, weight):
        return self.equations.factorise(weight, self.diagonal, np.inf)

    def solve(self, v, r):
        return self.equations.solve(v + self.rows.tdot(r)), None


@pytest.mark.parametrize("storage", [np.asarray, np.asfortranarray, sp.csr_array, sp.csc_array])
@pytest.mark.parametrize("kind", [DenseColumns, DenseRows, SparseColumns])
@pytest.mark.parametrize("penalty", [L1(0.3), GROUPS], ids=["l1", "groups"])
@pytest.mark.parametrize("tiny", [1.0, 1e-8])
def test_all_systems_solve_the_same_equations(storage, kind, penalty, tiny):
    weight = np.where(np.arange(20) == 3, 0.0, 1.0)
    program = program_of(20, 30, penalty, storage, constraints=ROWS, sample_weight=weight)
    rows = program.rows
    R = matrix_of(rows)
    W, r = RNG.uniform(0.5, 2.0, size=rows.size), RNG.normal(size=rows.size)
    W[rows.ends[1] :: 3] *= tiny  # active columns, which systems by rows must keep explicit
    program.rho[:] = tiny
    v = RNG.normal(size=program.width) * tiny
    system = kind(program, 0.0)
    assert system.factorise(W)
    x, s = system.solve(v, r)
    matrix = tiny * np.eye(program.width) + R.T @ (W[:, None] * R)
    np.testing.assert_allclose(x, np.linalg.solve(matrix, v + R.T @ r), rtol=1e-6, atol=1e-9)
    if s is not None:
        known = np.isfinite(s)
        assert known[: rows.ends[0]].all()
        np.testing.assert_allclose(s[known], (W * (R @ x) - r)[known], atol=1e-6)
    a = RNG.normal(size=rows.size)
    np.testing.assert_allclose(rows.tdot(a), R.T @ a, atol=1e-12)
    begin, columns, values = rows.compressed()
    stored = sp.csr_array((values, columns, begin), shape=R.shape).toarray()
    np.testing.assert_allclose(stored, R, atol=1e-14)


def test_an_indefinite_matrix_is_noticed():
    with pytest.raises(FactorError):
        cholesky(np.array([[1.0, 2.0], [2.0, 1.0]]))


# ---- products of the design -------------------------------------------------------------------


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("density", [0.02, 1.0])
@pytest.mark.parametrize("storage", [np.asarray, np.asfortranarray, sp.csr_array, sp.csc_array])
def test_weighted_squares(storage, density, dtype):
    X = RNG.normal(size=(700, 40)).astype(dtype)
    X[RNG.random(size=X.shape) > density] = 0.0
    design, dense = as_design(storage(X)), X.astype(np.float64)
    rows, columns = RNG.random(700), RNG.random(40)
    ones = np.column_stack([dense, np.ones(700)])
    every = np.arange(40)
    found = design.weighted_gram(rows, every, True)
    np.testing.assert_allclose(found, ones.T @ (rows[:, None] * ones), rtol=1e-10, atol=1e-12)
    some = np.array([3, 17])
    found = design.weighted_gram(rows, some, False)
    np.testing.assert_allclose(
        found, dense[:, some].T @ (rows[:, None] * dense[:, some]), rtol=1e-10, atol=1e-12
    )
    kernel = design.weighted_kernel(columns)
    np.testing.assert_allclose(kernel, dense @ (columns[:, None] * dense.T), rtol=1e-10, atol=1e-12)
    np.testing.assert_array_equal(design.dense_columns(some), dense[:, some])
    if not design.is_sparse:
        centre = RNG.normal(size=40)
        moved = dense - centre
        found = design.weighted_gram(rows, every, False, centre)
        np.testing.assert_allclose(found, moved.T @ (rows[:, None] * moved), rtol=1e-10)
        found = design.weighted_kernel(columns, centre)
        np.testing.assert_allclose(found, moved @ (columns[:, None] * moved.T), rtol=1e-10)


# ---- units and steps --------------------------------------------------------------------------


def test_scales():
    X = RNG.normal(size=(200, 4)) * [1e-3, 1.0, 1e4, 1.0] + [5.0, 0.0, 1e6, 0.0]
    X[:, 3] = 2.0
    y = 50.0 * RNG.normal(size=200) + 1e5
    rows = LinearInequality([[1e3, 0.0, 0.0, 1.0]], 1.0)
    problem = Problem(X, y, Absolute(), penalty=Ridge(1.0), constraints=[rows])
    program = build(EpigraphForm.apply(problem))
    scales = program.scales
    spread = np.std(X[:, :3], axis=0)
    assert (np.abs(np.log2(scales.column[:3] * spread)) <= 0.5001).all()  # powers of two
    assert scales.column[3] == pytest.approx(0.5)  # a constant column keeps its size
    assert scales.shift == pytest.approx(np.median(y))
    low, high = program.units[1:3, :200]
    assert np.sum(high - low) == pytest.approx(1.0)
    assert 0.7 < np.linalg.norm(matrix_of(program.rows)[200]) < 1.5


def test_there_and_back():
    program = program_of(50, 4, ElasticNet(0.2, 0.1), constraints=[Box(-1.0, 1.0)])
    x, y = RNG.normal(size=program.width), RNG.normal(size=program.row.size)
    point = program.point(x, y)
    problem = program.form.problem
    z = problem.design.dot(point.coef) + point.intercept
    argument = program.rows.dot(x)[:50] + program.units[0, :50]
    np.testing.assert_allclose(
        program.scales.prediction * argument,
        problem.direction * (problem.direction * z + problem.offset),
        atol=1e-12,
    )


@pytest.mark.parametrize("shape", [(60, 5), (10, 30), (300, 150)], ids=str)
@pytest.mark.parametrize("digits", [16, 32])
def test_steps_keep_everything_inside_and_close_the_gap(shape, digits):
    form = program_of(*shape, ElasticNet(0.2, 0.1), constraints=[Box(-1.0, 1.0)]).form
    method = Method(form, digits, 1e-12)
    core, program = method.core, method.program
    for _ in range(30):
        assert method.step(np.inf)
        sides, boxed = core.sides(), np.isfinite(program.units[[1, 1, 2, 2]])
        assert (sides[boxed] > 0).all()
        verdict = Verdict.of(core)
        same = Verdict(*core.evaluate(core.point()[0]))
        assert verdict.relative_gap == pytest.approx(same.relative_gap, rel=1e-6, abs=1e-12)
        if verdict.relative_gap < 1e-10:
            break
    assert verdict.relative_gap < 1e-10
    pair = form.invert(program.point(*core.point()))
    assert form.problem.certify(*pair).relative_gap < 1e-9


def test_a_row_that_must_not_be_negative_and_one_that_is_free():
    rows = [LinearInequality([[1.0, 0.0]], -1.0), LinearEquality([[0.0, 1.0]], 2.0)]
    problem = Problem(np.eye(2), np.zeros(2), Absolute(), None, rows, fit_intercept=False)
    method = Method(EpigraphForm.apply(problem), 16, 1e-12)
    assert Verdict.of(method.core).violation > 0.5
    for _ in range(30):
        method.step(np.inf)
    x, y = method.core.point()
    np.testing.assert_allclose(method.program.point(x, y).coef, [1.0, -2.0])


# ---- sparse systems ----------------------------------------------------------------------------


def effects(n, groups):
    """Two columns and one of effects for each group."""
    group = RNG.integers(groups, size=n)
    own = sp.csr_array((np.ones(n), (np.arange(n), group)), shape=(n, groups))
    return sp.csr_array(sp.hstack([sp.csr_array(RNG.normal(size=(n, 2))), own]))


@pytest.mark.parametrize(
    ("X", "penalty", "is_sparse"),
    [
        (effects(1500, 300), None, True),
        (sp.csr_array(sp.eye_array(500)), Fused(2.0, order=2), True),
        (sp.random_array((600, 400), density=0.1, random_state=RNG, format="csr"), L1(0.1), False),
    ],
    ids=["effects", "trend", "random"],
)
def test_systems_with_few_entries_are_sparse(X, penalty, is_sparse):
    y = RNG.standard_t(3, X.shape[0])
    problem = Problem(X, y, Pinball(0.4), penalty, fit_intercept=False)
    rows = build(EpigraphForm.apply(problem)).rows
    assert (sparse_equations(rows) is not None) == is_sparse
    one = rl.solve(problem, solver="interior", tol=1e-8)
    dense = Problem(X.toarray(), y, Pinball(0.4), penalty, fit_intercept=False)
    other = rl.solve(dense, solver="interior", tol=1e-8)
    assert one.status == other.status == "solved"
    assert one.objective == pytest.approx(other.objective, rel=3e-8)
