"""The parts of the interior point method, each on its own."""

import numpy as np
import pytest
from cases import LOSSES
from scipy import sparse as sp

from rectiline import Problem
from rectiline.backends import as_design
from rectiline.constraints import Box, LinearEquality, LinearInequality
from rectiline.losses import Absolute, Huber, Pinball, SquaredError
from rectiline.penalties import L1, ElasticNet, Ridge
from rectiline.problems.forms import EpigraphForm
from rectiline.solvers.interior.build import build
from rectiline.solvers.interior.central import iterate
from rectiline.solvers.interior.normal import FactorError, cholesky, factorise
from rectiline.solvers.interior.parts import shapes_of
from rectiline.solvers.interior.per_row import Part, Totals
from rectiline.solvers.interior.rows import UnitRows
from rectiline.solvers.interior.verdict import Iterate, judge

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
    units = case.loss.units
    t = np.concatenate([RNG.normal(scale=3.0, size=200), case.loss.curve.knots])
    shapes = shapes_of(units)
    total = units.constant + sum(part_value(shape, t) for shape in shapes)
    np.testing.assert_allclose(total, units.value(t), rtol=1e-12, atol=1e-12)
    assert len(shapes) <= units.n_relu + units.n_rehu


@pytest.mark.parametrize("loss", [Absolute(), Pinball(0.2), Huber(0.7), SquaredError()], ids=repr)
def test_two_units_on_one_knot_are_one_part(loss):
    assert len(shapes_of(loss.units)) == 1


def test_cost_and_gap_of_a_part():
    t = RNG.normal(size=50)
    low, high = np.full(50, -0.5), np.full(50, 1.5)
    for soft in (0.0, np.full(50, 0.3)):
        part = Part(0.2, low, high, soft, t, 1.0)
        totals = Totals()
        part.judge(t, totals)
        u, slope = t - 0.2, np.linspace(-0.5, 1.5, 4001)[:, None]
        bends = soft[0] if isinstance(soft, np.ndarray) else 0.0
        want = np.max(slope * u - 0.5 * bends * slope**2, axis=0)
        assert totals.value == pytest.approx(want.sum(), rel=1e-6)
        conjugate = 0.2 * part.a + 0.5 * bends * part.a**2
        assert totals.gap == pytest.approx((want + conjugate - part.a * t).sum(), rel=1e-5)
        assert totals.violation == 0.0


def test_a_row_that_must_not_be_negative():
    t = np.array([0.5, -0.25])
    part = Part(0.0, None, np.zeros(2), 0.0, t, 0.1)
    totals = Totals()
    part.judge(t, totals)
    assert totals.value == 0.0 and totals.violation == 0.25
    assert totals.gap == pytest.approx(0.1 * 0.75)  # its dual is 0.1 at the start


# ---- the normal equations ---------------------------------------------------------------------


def program_of(n, d, penalty, storage=np.asarray, **more):
    X = RNG.normal(size=(n, d))
    X[np.abs(X) < 0.5] = 0.0
    problem = Problem(storage(X), RNG.normal(size=n), Pinball(0.3), penalty=penalty, **more)
    return build(EpigraphForm.apply(problem))


ROWS = [
    LinearInequality(RNG.normal(size=(3, 30)), np.ones(3)),
    LinearEquality(sp.csr_array(RNG.normal(size=(2, 30))), np.ones(2)),
    Box(-1.0, np.inf),
]


@pytest.mark.parametrize("storage", [np.asarray, np.asfortranarray, sp.csr_array, sp.csc_array])
@pytest.mark.parametrize("by_rows", [True, False])
@pytest.mark.parametrize("tiny", [1.0, 1e-8])
def test_both_factorisations_solve_the_same_equations(storage, by_rows, tiny):
    weight = np.where(np.arange(20) == 3, 0.0, 1.0)
    program = program_of(20, 30, L1(0.3), storage, constraints=ROWS, sample_weight=weight)
    blocks, width = program.blocks, program.width
    rows = [block.rows for block in blocks]
    dense = [np.column_stack([one.dot(column) for column in np.eye(width)]) for one in rows]
    R = np.vstack(dense)
    weights = [RNG.uniform(0.5, 2.0, size=one.size) for one in rows]
    for one, own in zip(rows, weights, strict=True):
        if isinstance(one, UnitRows):
            own[::3] *= tiny  # active columns, which the factor of the rows must keep explicit
    diagonal = np.full(width, tiny)
    right = [RNG.normal(size=one.size) for one in rows]
    v = RNG.normal(size=width) * tiny
    x, s = factorise(blocks, weights, diagonal, by_rows).solve(v, right)
    W, r = np.concatenate(weights), np.concatenate(right)
    matrix = np.diag(diagonal) + R.T @ (W[:, None] * R)
    np.testing.assert_allclose(x, np.linalg.solve(matrix, v + R.T @ r), rtol=1e-6, atol=1e-9)
    for part, block, own, want in zip(s, blocks, weights, right, strict=True):
        if part is not None:
            np.testing.assert_allclose(part, own * block.rows.dot(x) - want, atol=1e-6)
    for one, matrix in zip(rows, dense, strict=True):
        a = RNG.normal(size=one.size)
        np.testing.assert_allclose(one.tdot(a), matrix.T @ a, atol=1e-12)


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
    np.testing.assert_allclose(scales.column[:3] * spread, 1.0, rtol=1e-6)
    assert scales.column[3] == pytest.approx(0.5)  # a constant column keeps its size
    assert scales.shift == pytest.approx(np.median(y))
    width = sum(float((part.high - part.low).sum()) for part in program.data.parts)
    assert width == pytest.approx(1.0)
    block = program.inequalities
    norms = np.linalg.norm([block.rows.dot(column) for column in np.eye(program.width)])
    assert norms == pytest.approx(1.0)


def test_there_and_back():
    program = program_of(50, 4, ElasticNet(0.2, 0.1), constraints=[Box(-1.0, 1.0)])
    b = RNG.normal(size=program.width)
    coef, intercept = program.coefficients(b)
    problem = program.form.problem
    z = problem.design.dot(coef) + intercept
    program.data.place(b)
    scales = program.scales
    np.testing.assert_allclose(
        scales.prediction * program.data.argument,
        problem.direction * z + problem.offset,
        atol=1e-12,
    )
    far, inside = np.full(program.width, 5.0), np.full(program.width, 0.05)
    assert not program.begin(program.point(far)).any()  # outside the box: zeros are a better start
    np.testing.assert_allclose(program.begin(program.point(inside)), inside)


@pytest.mark.parametrize("shape", [(60, 5), (10, 30)], ids=str)
def test_steps_keep_everything_inside_and_close_the_gap(shape):
    program = program_of(*shape, ElasticNet(0.2, 0.1), constraints=[Box(-1.0, 1.0)])
    b = np.zeros(program.width)
    state = Iterate(program, b, program.pull(), shape[0] < shape[1], 1e-12)
    gaps = []
    for _ in range(25):
        assert iterate(state)
        gaps.append(judge(state).relative_gap)
        for block in program.blocks:
            for part in block.parts:
                for value in (part.below, part.above, part.p, part.q):
                    assert (value > 0).all()
        np.testing.assert_allclose(state.pull, program.pull(), atol=1e-12)
        if gaps[-1] < 1e-10:
            break
    assert gaps[-1] < 1e-10
    certificate = program.form.problem.certify(*program.form.invert(program.point(state.b)))
    assert certificate.relative_gap < 1e-9
