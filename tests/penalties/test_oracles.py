"""Each penalty against convex programs solved by independent solvers."""

import itertools

import cvxpy as cp
import numpy as np
import pytest
from scipy.optimize import linprog

from rectiline.penalties import GroupLinf, Slope, SparseGroupLinf

from .cases import NORMS, PENALTIES, TRUE_NORMS, Case

TIGHT = {"tol_gap_abs": 1e-11, "tol_gap_rel": 1e-11, "tol_feas": 1e-11}


def maximise(case: Case, q: np.ndarray, size: float | None) -> float:
    """sup_b q'b - Omega(b), over all b or over |b_j| <= size."""
    b = cp.Variable(case.n_features)
    box = [] if size is None else [cp.norm_inf(b) <= size]
    program = cp.Problem(cp.Maximize(q @ b - case.express(b)), box)
    program.solve(solver=cp.CLARABEL, **TIGHT)
    return float(program.value)


@pytest.mark.parametrize("case", PENALTIES, ids=lambda case: case.name)
def test_value_is_the_modelled_one(case):
    for seed in range(3):
        point = case.point(seed, scale=2.0)
        b = cp.Variable(case.n_features)
        expression = case.express(b)
        b.value = point
        assert case.penalty.value(point) == pytest.approx(float(expression.value), abs=1e-12)


@pytest.mark.parametrize("case", PENALTIES, ids=lambda case: case.name)
@pytest.mark.parametrize("step", [0.3, 2.0])
def test_prox_is_the_minimiser(case, step):
    v = case.point(7, scale=2.0)
    b = cp.Variable(case.n_features)
    objective = case.express(b) + cp.sum_squares(b - v) / (2.0 * step)
    cp.Problem(cp.Minimize(objective)).solve(solver=cp.CLARABEL, **TIGHT)
    np.testing.assert_allclose(case.penalty.prox(v, step), b.value, atol=2e-6)


@pytest.mark.parametrize("case", [c for c in PENALTIES if not c.is_norm], ids=lambda c: c.name)
def test_conjugate_is_the_supremum(case):
    for seed in range(2):
        q = case.point(seed, scale=1.5)
        assert case.penalty.conjugate(q) == pytest.approx(maximise(case, q, None), rel=1e-6)


@pytest.mark.parametrize("case", NORMS, ids=lambda case: case.name)
def test_conjugate_of_a_norm_says_whether_the_supremum_is_zero(case):
    direction = case.dual_point(3)
    norm = case.penalty.dual_norm(direction)
    inside = direction * (0.9 / norm) if 0.0 < norm < np.inf else 0.0 * direction
    assert case.penalty.conjugate(inside) == 0.0
    assert maximise(case, inside, 1.0) == pytest.approx(0.0, abs=1e-8)
    # A generic point, large enough to lie outside every one of these balls.
    outside = case.point(3, scale=20.0)
    assert case.penalty.conjugate(outside) == np.inf
    assert maximise(case, outside, 1.0) > 1e-3


def largest_product(penalty: GroupLinf | SparseGroupLinf | Slope, q: np.ndarray) -> float:
    """max q'b subject to Omega(b) <= 1, as a linear program."""
    d = q.size
    if isinstance(penalty, SparseGroupLinf):
        # l1 sum of s_j + linf sum of t_g <= 1 with s_j >= |b_j| and t_g >= |b_j|.
        count = d + len(penalty.groups)
        cost = [np.zeros(d), np.full(d, penalty.l1), np.full(count - d, penalty.linf)]
        rows, owner = [np.concatenate(cost)], {}
        for g, columns in enumerate(penalty.groups):
            owner |= dict.fromkeys(columns.tolist(), g)
        for j, sign in itertools.product(range(d), (-1.0, 1.0)):
            for above in [d + j] + ([2 * d + owner[j]] if j in owner else []):
                row = np.zeros(d + count)
                row[j], row[above] = sign, -1.0
                rows.append(row)
    elif isinstance(penalty, GroupLinf):
        count = len(penalty.groups)
        rows = [np.concatenate([np.zeros(d), np.full(count, penalty.strength)])]
        for g, columns in enumerate(penalty.groups):
            for j, sign in itertools.product(columns, (-1.0, 1.0)):
                row = np.zeros(d + count)
                row[j], row[d + g] = sign, -1.0
                rows.append(row)
    else:
        count = 0
        rows = [
            np.array(signs) * penalty.strengths[list(order)]
            for order in itertools.permutations(range(d))
            for signs in itertools.product((-1.0, 1.0), repeat=d)
        ]
    limit = np.zeros(len(rows))
    limit[0] = 1.0
    if count == 0:
        limit[:] = 1.0
    found = linprog(
        -np.concatenate([q, np.zeros(count)]), A_ub=np.array(rows), b_ub=limit, bounds=(None, None)
    )
    assert found.status == 0
    return -float(found.fun)


@pytest.mark.parametrize(
    "case",
    [
        c
        for c in TRUE_NORMS
        if isinstance(c.penalty, GroupLinf | SparseGroupLinf | Slope) and c.n_features <= 5
    ],
    ids=lambda case: case.name,
)
def test_dual_norm_is_the_largest_product_over_the_unit_ball(case):
    q = case.dual_point(5, scale=3.0)
    assert case.penalty.dual_norm(q) == pytest.approx(largest_product(case.penalty, q), rel=1e-8)
