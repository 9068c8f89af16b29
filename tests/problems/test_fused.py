"""Differences of coefficients as a penalty, against cvxpy, on chains and graphs."""

from __future__ import annotations

import cvxpy as cp
import numpy as np
import pytest
from scipy import sparse as sp

import rectiline as rl
from rectiline.estimators import PLQClassifier, PLQRegressor, PLQRegressorCV
from rectiline.penalties import Fused

RING = [[j, (j + 1) % 8] for j in range(8)]


def data(seed=0, n=60, d=8):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d))
    return X, X @ np.repeat([1.0, -1.0], d // 2) + 0.5 * rng.normal(size=n)


def differences(d, order):
    return np.diff(np.eye(d), n=order, axis=0)


def expressed(penalty, b, d):
    """What the penalty charges, with matrices made without its code."""
    if penalty.graph is not None:
        D = np.array([np.eye(d)[k] - np.eye(d)[j] for j, k in penalty.graph])
        incidence = D
        for k in range(1, penalty.order):
            D = (incidence.T if k % 2 else incidence) @ D
    else:
        D = differences(d, penalty.order)
        if penalty.columns is not None:
            D = differences(len(penalty.columns), penalty.order)
            b_chain = b[np.asarray(penalty.columns)]
            return penalty.strength * cp.norm1(D @ b_chain)
    if penalty.positions is not None:  # jumps of the slopes between the points
        slopes = differences(d, 1) / np.diff(penalty.positions)[:, None]
        D = np.diff(slopes, axis=0)
    if penalty.squared:
        return penalty.strength / 2 * cp.sum_squares(D @ b)
    charge = penalty.strength * cp.norm1(D @ b) + penalty.l1 * cp.norm1(b)
    return charge + penalty.l2 / 2 * cp.sum_squares(b)


PENALTIES = [
    Fused(5.0),
    Fused(3.0, order=2),
    Fused(2.0, order=3),
    Fused(4.0, l1=2.0),
    Fused(4.0, l1=1.0, l2=0.5),
    Fused(3.0, graph=RING),
    Fused(1.0, order=2, graph=RING),
    Fused(3.0, columns=[6, 4, 2, 0]),
    Fused(0.5, order=3, graph=RING),
    Fused(2.0, order=2, squared=True),
    Fused(1.5, order=2, positions=[0.0, 1.0, 1.5, 3.0, 3.2, 4.0, 7.0, 8.0]),
]
LOSSES = {
    "squared_error": lambda y, z: 0.5 * cp.sum_squares(y - z),
    "absolute": lambda y, z: cp.norm1(y - z),
    "hinge": lambda y, z: cp.sum(cp.pos(1 - cp.multiply(np.sign(y), z))),
}


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("penalty", PENALTIES, ids=lambda p: f"{p.order}-{p.l1}-{p.graph is None}")
def test_optimum(loss, penalty):
    X, y = data()
    target = np.sign(y) if loss == "hinge" else y
    problem = rl.Problem(X, target, loss, penalty, fit_intercept=False)
    solution = rl.solve(problem, tol=1e-8)
    assert solution.status == "solved"
    b = cp.Variable(8)
    best = cp.Problem(cp.Minimize(LOSSES[loss](y, X @ b) + expressed(penalty, b, 8))).solve(
        solver=cp.CLARABEL
    )
    assert solution.objective == pytest.approx(best, rel=1e-6)
    assert problem.certify(solution).dual <= best * (1 + 1e-7)
    plain = rl.Problem(X, target, loss, None, fit_intercept=False)
    assert solution.objective == pytest.approx(
        plain.objective(solution.coef) + penalty.value(solution.coef)
    )


@pytest.mark.parametrize("solver", ["auto", "newton", "interior"])
def test_solvers_on_a_sparse_signal(solver):
    rng = np.random.default_rng(1)
    y = np.repeat([0.0, 2.0, -1.0], 20) + 0.2 * rng.normal(size=60)
    X = sp.eye_array(60, format="csr")
    solution = rl.solve(
        rl.Problem(X, y, "squared_error", Fused(1.5), fit_intercept=False), solver, tol=1e-8
    )
    assert solution.status == "solved"
    b = cp.Variable(60)
    charge = 1.5 * cp.norm1(cp.diff(b))
    best = cp.Problem(cp.Minimize(0.5 * cp.sum_squares(y - b) + charge)).solve(solver=cp.CLARABEL)
    assert solution.objective == pytest.approx(best, rel=1e-6)
    steps = np.abs(np.diff(solution.coef)) > 1e-4
    assert {19, 39} <= set(np.flatnonzero(steps)) and steps.sum() < 8


def test_constraints_and_a_linear_term():
    X, y = data()
    linear = np.linspace(-1.0, 1.0, 8)
    problem = rl.Problem(
        X,
        y,
        "squared_error",
        Fused(2.0),
        constraints=rl.constraints.Box(-0.8, 0.8),
        fit_intercept=False,
        linear=linear,
    )
    b = cp.Variable(8)
    cost = 0.5 * cp.sum_squares(y - X @ b) + 2.0 * cp.norm1(cp.diff(b)) + linear @ b
    best = cp.Problem(cp.Minimize(cost), [cp.abs(b) <= 0.8]).solve(solver=cp.CLARABEL)
    assert rl.solve(problem, tol=1e-8).objective == pytest.approx(best, rel=1e-6)


def test_estimators_weigh_the_losses_and_not_the_differences():
    X, y = data()
    model = PLQRegressor("absolute", penalty=Fused(3.0), C=2.0, fit_intercept=False).fit(X, y)
    problem = rl.Problem(
        X, y, "absolute", Fused(3.0), sample_weight=np.full(60, 2.0), fit_intercept=False
    )
    assert model.certificate_.primal == pytest.approx(rl.solve(problem, tol=1e-9).objective)
    labelled = PLQClassifier(penalty=Fused(1.0), fit_intercept=False).fit(X, np.sign(y))
    assert labelled.status_ == "solved" and labelled.score(X, np.sign(y)) > 0.8


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Fused(-1.0), "finite number >= 0"),
        (lambda: Fused(1.0, order=0), "at least 1"),
        (lambda: Fused(1.0, graph=[[0, 0]]), "joins column 0 with itself"),
        (lambda: Fused(1.0, graph=[0, 1]), r"shape \(n_edges, 2\)"),
        (lambda: Fused(1.0, graph=RING, positions=[0.0, 1.0]), "go with a chain"),
        (lambda: Fused(1.0, positions=[0.0, 0.0]), "increase strictly"),
        (lambda: Fused(1.0, columns=[0, 0]), "twice"),
        (lambda: Fused(1.0, columns=[0.5, 1]), "positions"),
        (lambda: Fused(1.0, columns=[0, 1], graph=RING), "not both"),
        (lambda: Fused(1.0, graph=[[0, 9]]).matrix(8), "column 9 but there are 8"),
        (lambda: Fused(1.0, order=2).matrix(2), "more than 2 columns"),
        (lambda: rl.Problem(*data(), "absolute", Fused(1.0)), "fit_intercept=False"),
        (lambda: PLQRegressorCV(penalty=Fused(1.0), fit_intercept=False).fit(*data()), "no path"),
    ],
)
def test_errors(make, message):
    with pytest.raises(ValueError, match=message):
        make()
