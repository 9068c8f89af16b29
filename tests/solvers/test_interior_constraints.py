"""The interior point method under constraints and with penalties that couple columns."""

import cvxpy as cp
import numpy as np
import pytest
from solvers.interior_problems import data, make, solved, three

from rectiline.constraints import (
    Box,
    Fairness,
    LinearEquality,
    LinearInequality,
    Monotone,
    Nonnegative,
)
from rectiline.penalties import L1, GroupLinf, Ridge, Slope

# ---- constraints ------------------------------------------------------------------------------

RNG = np.random.default_rng(4)
CONSTRAINTS = {
    "signs": [Nonnegative()],
    "box": [Box(-0.1, 0.2)],
    "fixed column": [Box([0.3] + [-np.inf] * 9, [0.3] + [np.inf] * 9)],
    "all fixed": [Box(0.1, 0.1)],
    "simplex": [LinearEquality(np.ones((1, 10)), [-1.0]), Nonnegative()],
    "many rows": [LinearInequality(RNG.normal(size=(500, 10)), np.full(500, 0.1))],
    "rows that are an equality": [
        LinearInequality(np.vstack([np.ones(10), -np.ones(10)]), [-1.0, 1.0])
    ],
    "an equality twice": [LinearEquality(np.vstack([np.ones(10), 2 * np.ones(10)]), [-1.0, -2.0])],
    "rows of any size": [
        LinearInequality([[1e6, 1e6] + [0.0] * 8, [1e-6, -1e-6] + [0.0] * 8], [-1e6, 1e-7])
    ],
}


@pytest.mark.parametrize("kind", CONSTRAINTS)
@three
@pytest.mark.parametrize("penalty", [Ridge(1.0), Ridge(1e-6), L1(1.0), None], ids=repr)
def test_constraints(name, kind, penalty):
    X, y = data(name, 300, 10)
    solved(make(name, X, y, penalty, constraints=CONSTRAINTS[kind]))


@three
@pytest.mark.parametrize("penalty", [Ridge(1.0), L1(1.0)], ids=repr)
def test_a_chain_of_200(name, penalty):
    X, y = data(name, 500, 200)
    solution = solved(make(name, X, y, penalty, constraints=[Monotone()]))
    assert np.diff(solution.coef).min() >= -1e-15  # two coefficients may differ in the last digit


@pytest.mark.parametrize("penalty", [Ridge(1.0), L1(1.0), None], ids=repr)
def test_a_column_that_only_constraints_touch(penalty):
    X, y = data("pinball", 60, 5)
    X[:, -1] = 0.0
    solved(make("pinball", X, y, penalty, constraints=[Monotone()]))


@three
def test_fairness_at_any_tolerance(name):
    X, y = data(name, 300, 6)
    for tolerance in (1e-1, 1e-6, 0.0):
        solved(make(name, X, y, L1(0.5), constraints=[Fairness(X[:, 0] > 0, tolerance)]))


@pytest.mark.parametrize("angle", [1e-2, 1e-4, 1e-6])
@three
def test_nearly_parallel_rows(name, angle):
    # Only a thin wedge between the two rows is feasible; from outside it is met too late, so that
    # the iteration starts again inside.
    X, y = data(name, 400, 10)
    row = np.ones(10)
    wedge = LinearInequality([row, -row - angle * np.arange(10)], [-1.0, 1.0 + 0.1 * angle])
    solved(make(name, X, y, Ridge(0.01), constraints=[wedge]))


@three
@pytest.mark.parametrize("penalty", [Ridge(1e-3), L1(0.3), None], ids=repr)
def test_constraints_with_more_columns_than_rows(name, penalty):
    X, y = data(name, 20, 60)
    rows = LinearInequality(np.random.default_rng(5).normal(size=(8, 60)), np.full(8, 0.1))
    kinds = ([Nonnegative()], [rows, LinearEquality(np.ones((1, 60)), [-1.0])], [Box(-0.1, 0.1)])
    for constraints in kinds:
        solved(make(name, X, y, penalty, constraints=constraints))


# ---- penalties that couple columns ------------------------------------------------------------


def reference(X, y, loss, penalty):
    b, b0 = cp.Variable(X.shape[1]), cp.Variable()
    z = X @ b + b0
    fit = {
        "hinge": lambda: cp.sum(cp.pos(1 - cp.multiply(y, z))),
        "pinball": lambda: cp.sum(cp.maximum(0.9 * (y - z), -0.1 * (y - z))),
        "squared error": lambda: 0.5 * cp.sum_squares(y - z),
    }[loss]()
    if isinstance(penalty, GroupLinf):
        cost = penalty.strength * sum(cp.norm_inf(b[group]) for group in penalty.groups)
    else:
        drops = -np.diff(penalty.strengths, append=0.0)
        cost = sum(
            drop * cp.sum_largest(cp.abs(b), k) for k, drop in enumerate(drops, 1) if drop > 0
        )
    problem = cp.Problem(cp.Minimize(fit + cost))
    return problem.solve(solver=cp.CLARABEL, tol_gap_rel=1e-10, tol_gap_abs=1e-10)


COUPLED = {
    "groups": GroupLinf(3.0, np.arange(12) // 3),
    "some groups": GroupLinf(2.0, [[0, 5, 7], [1, 2]]),
    "bh": Slope.bh(12, q=0.1, strength=2.0),
    "oscar": Slope.oscar(12, l1=0.5, slope=0.2),
    "two levels": Slope.two_level(12, k=3, high=4.0, low=1.0),
    "equal": Slope(np.full(12, 2.0)),
}


@pytest.mark.parametrize("kind", COUPLED)
@pytest.mark.parametrize("name", ["hinge", "pinball", "squared error"])
def test_coupled_penalties(name, kind):
    for n in (60, 10):
        if n == 10 and kind == "some groups":
            continue  # as many free columns as rows: any fit is perfect
        X, y = data(name, n, 12)
        solution = solved(make(name, X, y, COUPLED[kind]))
        want = reference(X, y, name, COUPLED[kind])
        assert solution.objective == pytest.approx(want, rel=1e-7, abs=1e-8)


def test_coupled_penalties_under_constraints():
    X, y = data("pinball", 100, 12)
    for kind in ("groups", "bh"):
        solved(make("pinball", X, y, COUPLED[kind], constraints=[Nonnegative()]))
        solved(make("pinball", X, y, COUPLED[kind], constraints=[Monotone(), Box(-0.2, 0.3)]))


def test_slope_with_distinct_strengths_of_moderate_size():
    X, y = data("huber", 80, 120)
    solved(make("huber", X, y, Slope.bh(120, q=0.1, strength=2.0)))
