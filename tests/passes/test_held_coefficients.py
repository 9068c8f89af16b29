"""Rows in blocks where a penalty or bounds hold coefficients: right answers are also proved."""

import numpy as np
import pytest

import rectiline as rl
from rectiline import constraints as C
from rectiline import penalties as P
from rectiline.problems.blocks import SplitDual
from rectiline.problems.blocks._prove import prove_answers

LOSSES = (
    "squared_error",
    "absolute",
    "huber",
    "hinge",
    "squared_hinge",
    "epsilon_insensitive",
    "expectile",
    "modified_huber",
)
TERMS = {
    "nonnegative": lambda strength: (None, C.Nonnegative()),
    "nonnegative ridge": lambda strength: (P.Ridge(strength), C.Nonnegative()),
    "box": lambda strength: (None, C.Box(-0.3, 0.4)),
    "box away from zero": lambda strength: (None, C.Box(0.05, 0.4)),
    "l1": lambda strength: (P.L1(strength), None),
    "l1 in a box": lambda strength: (P.L1(strength), C.Box(-0.3, 0.4)),
}
TOL = 1e-8


def problem_of(loss, terms, seed):
    """Return a random problem on 60 to 1,500 rows in small blocks: dense, or of zeros and ones."""
    rng = np.random.default_rng([seed, LOSSES.index(loss), list(TERMS).index(terms)])
    penalty, constraints = TERMS[terms](10 ** rng.uniform(-2, 2))
    n, d = int(rng.integers(60, 1500)), int(rng.integers(1, 12))
    X = rng.normal(size=(n, d))
    if rng.random() < 0.3:
        X = (rng.random((n, d)) < 0.1).astype(float)
    if rng.random() < 0.3:
        X += 3 * rng.normal(size=d)
    z = X @ (rng.normal(size=d) * (rng.random(d) < 0.6))
    z += 10 ** rng.uniform(-2, 0.5) * rng.normal(size=n)
    y = np.sign(z - np.median(z) + 1e-9) if rl.losses.get(loss).of == "margin" else z
    rows = rl.rows.from_arrays(X, y, block_rows=int(rng.choice([37, 64, 500])))
    return rl.Problem(
        rows, None, loss, penalty, constraints=constraints, fit_intercept=bool(rng.integers(2))
    )


@pytest.mark.parametrize("terms", TERMS)
@pytest.mark.parametrize("loss", LOSSES)
def test_right_answers_are_proved(loss, terms):
    for seed in range(4):
        solution = rl.solve(problem_of(loss, terms, seed), tol=TOL)
        assert solution.certificate.holds(TOL), (seed, solution.certificate)


@pytest.mark.parametrize(
    ("loss", "seed"), [("hinge", 115), ("absolute", 250), ("epsilon_insensitive", 297)]
)
def test_coefficients_beyond_a_bound_are_no_answer_yet(loss, seed):
    """Newton's own estimate of the gap was zero there; clipped, they ended at 1e-3 to 2e-2."""
    solution = rl.solve(problem_of(loss, "l1 in a box", seed), tol=TOL)
    assert solution.certificate.holds(TOL)


def test_least_squares_in_a_box():
    rng = np.random.default_rng(3)
    X = rng.normal(size=(400, 5))
    y = X @ [0.1, -1.0, 1.0, 0.2, 0.0] + rng.normal(size=400)
    rows = rl.rows.from_arrays(X, y, block_rows=100)
    problem = rl.Problem(rows, None, "squared_error", constraints=C.Box(-0.3, 0.4))
    solution = rl.solve(problem, tol=1e-10)
    assert solution.certificate.holds(1e-10)


@pytest.mark.parametrize(
    ("seed", "loss"),
    [(20, "huber"), (28, "huber"), (30, "hinge"), (59, "huber"), (92, "smoothed_hinge")],
)
def test_a_polish_that_leads_away_is_not_taken(seed, loss):
    rng = np.random.default_rng(seed)
    n, d = int(rng.integers(80, 600)), int(rng.integers(2, 14))
    X = rng.normal(size=(n, d)) @ rng.normal(size=(d, d)) + 3 * rng.normal(size=d)
    z = X @ rng.normal(size=d) + rng.normal(size=n) * rng.uniform(0.1, 3) * np.std(X)
    y = np.where(z > np.median(X @ np.ones(d)), 1.0, -1.0)
    rows = rl.rows.from_arrays(X, y, block_rows=100)
    for place in range(5):
        bound = 10 ** rng.uniform(-2, 0)
        if ("modified_huber", "smoothed_hinge", "squared_hinge", "huber", "hinge")[place] == loss:
            problem = rl.Problem(rows, None, loss, None, constraints=C.Box(-bound, bound))
            assert rl.solve(problem, tol=TOL).certificate.holds(TOL)


@pytest.mark.parametrize("seed", [4, 9, 14, 38])
def test_repeated_rows_on_a_knot_are_proved(seed):
    rng = np.random.default_rng(seed)
    n, d = int(rng.integers(300, 1600)), int(rng.integers(3, 12))
    X = rng.normal(size=(n, d)) @ rng.normal(size=(d, d)) + 3 * rng.normal(size=d)
    X = np.repeat(np.round(X, int(rng.integers(0, 2)))[: n // 2], 2, axis=0)
    y = np.round(X[:, :3].sum(axis=1) / 4 + rng.normal(size=len(X)))
    rows = rl.rows.from_arrays(X, y, block_rows=200)
    for loss in (rl.losses.Pinball(0.9), rl.losses.EpsilonInsensitive(0.1), rl.losses.Absolute()):
        bound = 10 ** rng.uniform(-2, -0.3)
        problem = rl.Problem(rows, loss=loss, penalty=None, constraints=C.Box(-bound, bound))
        assert rl.solve(problem, tol=TOL).certificate.holds(TOL)


@pytest.mark.parametrize("seed", [1, 3, 8])
@pytest.mark.parametrize("loss", ["squared_error", "squared_epsilon_insensitive", "expectile"])
def test_weak_norms_of_groups_are_proved(loss, seed):
    """Frozen rows have slopes at the answer, right to half the digits: beside a weak norm, few."""
    rng = np.random.default_rng(seed)
    d = int(rng.integers(4, 15))
    X = rng.normal(size=(4000, d)) * 10.0 ** rng.uniform(-2, 2, d)
    y = X @ rng.normal(size=d) / X.std() + rng.normal(size=4000)
    strength = 10 ** rng.uniform(-3, 1)
    penalty = P.Slope(strength * np.linspace(1, 0.2, d))
    if seed % 2:
        penalty = P.GroupLinf(strength, rng.integers(3, size=d))
    rows = rl.rows.from_arrays(X, y, block_rows=900)
    solution = rl.solve(rl.Problem(rows, None, loss, penalty), tol=TOL)
    assert solution.certificate.holds(TOL) and solution.passes <= 6


def test_a_few_crossed_rows_do_not_spoil_the_proof_under_a_weak_ridge():
    """The near rows move until q is the slope of the penalty; its square stands over 2 rho."""
    rng = np.random.default_rng(3)
    X = rng.standard_normal((20_000, 3))
    y = X @ [1.0, 2.0, -1.0] + rng.standard_t(2, 20_000)
    terms = rl.losses.Huber(1.0), rl.penalties.Ridge(1e-5)
    found = rl.solve(rl.Problem(X, y, *terms), tol=1e-12)
    problem = rl.Problem(rl.rows.from_arrays(X, y, block_rows=5000), *terms)
    split = found.coef + 1e-3
    at_split, at_answer = (np.abs(y - X @ b - found.intercept) for b in (split, found.coef))
    crossed = np.flatnonzero((at_split < 1) != (at_answer < 1))
    near = np.setdiff1d(np.flatnonzero(np.abs(at_split - 1) < 5e-3), crossed[::2])
    assert crossed.size > 10 and near.size > 50
    dual = SplitDual(split, found.intercept, near, found.dual.sample[near])
    (proof,) = prove_answers([(problem, found.coef, found.intercept, dual)], tol=1e-6)
    assert proof.certificate.relative_gap < 1e-9
