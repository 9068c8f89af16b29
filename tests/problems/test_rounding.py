"""Certificates cannot lie: what they say, against exact rational arithmetic.

Entries are between 1e-8 and 1e8, so that terms cancel and rounding errors are larger than what is
asked for. Whatever the solver made of a problem, its certificate has to be true.
"""

import warnings
from fractions import Fraction

import fuzz_solve
import numpy as np
import pytest
from exact import ExactProblem, rational
from random_problems import random_problem
from scipy import sparse as sp

import rectiline as rl
from rectiline.exceptions import ConvergenceWarning
from rectiline.losses import (
    Absolute,
    EpsilonInsensitive,
    Expectile,
    Hinge,
    Huber,
    Pinball,
    SmoothedHinge,
    SquaredEpsilonInsensitive,
    SquaredError,
    SquaredHinge,
)
from rectiline.penalties import L1, ElasticNet, Ridge
from rectiline.problems.proof import _balance

LOSSES = [
    Hinge(),
    SquaredHinge(),
    SmoothedHinge(0.3),
    Absolute(),
    Pinball(0.9),
    Huber(0.7),
    SquaredError(),
    Expectile(0.3),
    EpsilonInsensitive(0.1),
    SquaredEpsilonInsensitive(0.1),
]


def sizes(rng, shape):
    return 10.0 ** rng.uniform(-8, 8, shape)


def tiny_problem(seed):
    """A problem with a handful of rows and one or two columns, of very different scales."""
    rng = np.random.default_rng(seed)
    loss = LOSSES[rng.integers(len(LOSSES))]
    n, d = int(rng.integers(1, 6)), int(rng.integers(1, 3))
    mode = rng.integers(4)
    X = rng.normal(size=(n, d))
    if mode == 0:
        X *= sizes(rng, (n, d))
    elif mode == 1:
        X *= sizes(rng, d)
    elif mode == 2:
        X = X + sizes(rng, d)  # means far larger than the spread
    else:
        X = X * sizes(rng, (n, 1))
    if loss.of == "margin":
        y = rng.choice([-1.0, 1.0], n)
        if len(set(y)) == 1:
            y[0] = -y[0]
        if n == 1:
            X, y = np.vstack([X, X * 2]), np.array([-1.0, 1.0])
            n = 2
    else:
        y = rng.normal(size=n) * sizes(rng, 1 if rng.random() < 0.5 else n)
    penalties = [
        Ridge(float(sizes(rng, 1)[0])),
        L1(float(sizes(rng, 1)[0])),
        ElasticNet(float(sizes(rng, 1)[0]), float(sizes(rng, 1)[0])),
        None,
    ]
    penalty = penalties[rng.integers(4)]
    weight = None if rng.random() < 0.5 else 10.0 ** rng.uniform(-4, 4, n)
    if rng.random() < 0.3:
        X = X.astype(np.float32)
    intercept = bool(rng.random() < 0.5)
    return rl.Problem(
        X, y, loss=loss, penalty=penalty, sample_weight=weight, fit_intercept=intercept
    )


def solved(problem, tol=1e-6):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        return rl.solve(problem, tol=tol, time_limit=1.0)


def exact_point(problem, solution):
    return [*rational(solution.coef), *([rational(solution.intercept)] * problem.fit_intercept)]


def check(problem, solution):
    """The certificate's bounds hold for the exact objective and the exact optimum."""
    proof = solution.certificate
    assert not np.isnan(proof.gap) and proof.gap >= proof.rounding >= 0.0
    exact = ExactProblem(problem)
    low = exact.below(solution.coef, solution.intercept)
    if not np.isfinite(proof.gap):
        assert solution.status != "solved"
        return
    if np.isfinite(proof.radius) and solution.status != "solved":
        return  # a statement about coefficients of limited size; see Certificate.radius
    reached = exact.at(exact_point(problem, solution))
    assert rational(proof.primal) - rational(proof.gap) <= low
    assert reached - low <= rational(proof.gap)
    if solution.status == "solved" and low > 0 and proof.dual > 0:
        assert reached - low <= Fraction(1, 10**6) * reached


@pytest.mark.parametrize("first", range(0, 300, 25))
def test_certificates_are_true(first):
    for seed in range(first, first + 25):
        problem = tiny_problem(seed)
        check(problem, solved(problem))


# Solved problems whose relative gap was off by 1e-4 to 1e2 where rounding was not counted.
@pytest.mark.parametrize("seed", [61, 142, 157, 246, 306, 547, 622, 713, 759, 871, 953, 977])
def test_what_used_to_be_a_lie(seed):
    problem = tiny_problem(seed)
    check(problem, solved(problem))


@pytest.mark.parametrize("first", range(0, 60, 20))
def test_weak_columns_next_to_free_ones(first):
    """An exact balance of the free column moves q of the weak one, by more than its penalty."""
    for seed in range(first, first + 20):
        rng = np.random.default_rng([seed, 5])
        loss = LOSSES[seed % len(LOSSES)]
        X = (rng.normal(size=(6, 2)) + sizes(rng, 2)) * 10.0 ** rng.uniform(-3, 3, 2)
        y = np.resize([-1.0, 1.0], 6) if loss.of == "margin" else np.round(rng.normal(size=6))
        penalty = L1(10.0 ** rng.uniform(-6, 0), weights=[0.0, 10.0 ** rng.uniform(-3, 0)])
        problem = rl.Problem(X, y, loss=loss, penalty=penalty, fit_intercept=seed % 2 == 0)
        check(problem, solved(problem))


# Optimal coefficients whose multipliers shrank by up to a hundredth, and the proof with them.
@pytest.mark.parametrize(
    ("seed", "case"),
    [(80101, 2000), (80101, 2254), (80102, 1538), (80103, 2267), (80104, 3638)],
)
def test_weak_columns_of_random_problems_are_proved(seed, case):
    fuzz_solve.check(random_problem(seed, case))


def test_a_large_objective_at_zero_hides_nothing():
    """At zero the objective is 1e16 times the optimum, beyond the relative precision of doubles."""
    problem = tiny_problem(246)
    solution = solved(problem)
    assert problem.loss_at_zero > 1e14 * solution.objective
    check(problem, solution)
    intercept = solution.intercept * (1 + 1e-7)
    worse = problem.certify(solution.coef, intercept, solution.dual)
    exact = ExactProblem(problem)
    point = exact_point(problem, solution)
    moved = [*rational(solution.coef), rational(intercept)]
    assert exact.at(moved) > 2 * exact.at(point)
    assert exact.at(moved) - exact.at(point) <= rational(worse.gap)
    assert not worse.holds(1e-3)


@pytest.mark.parametrize("storage", [np.asfortranarray, sp.csr_array, sp.csc_array])
def test_every_storage_is_bounded(storage):
    for seed in range(300, 330):
        dense = tiny_problem(seed)
        X = storage(np.asarray(dense.design.X))
        y = dense.direction if dense.losses[0].of == "margin" else dense.offset
        problem = rl.Problem(
            X,
            y,
            loss=dense.losses[0],
            penalty=dense.penalty,
            sample_weight=dense.weight,
            fit_intercept=dense.fit_intercept,
        )
        check(problem, solved(problem))


@pytest.mark.parametrize("seed", range(12))
def test_any_multipliers_give_a_true_bound(seed):
    """Of one variable, where the exact optimum is known: pairs that no solver made."""
    rng = np.random.default_rng(seed)
    for loss in LOSSES:
        n = 5
        y = rng.permutation([-1.0, 1.0, 1.0, -1.0, 1.0]) if loss.of == "margin" else None
        y = rng.normal(size=n) * sizes(rng, n) if y is None else y
        X = rng.normal(size=(n, 1)) * sizes(rng, (n, 1))
        penalty = [Ridge(0.3), L1(0.7), ElasticNet(0.1, 0.2)][seed % 3]
        problem = rl.Problem(X, y, loss=loss, penalty=penalty, fit_intercept=False)
        optimum = ExactProblem(problem).optimum()
        for _ in range(5):
            coef, dual = rng.normal(size=1) * sizes(rng, 1), rng.normal(size=n) * sizes(rng, n)
            for proof in (
                problem.certify(coef, 0.0, dual),
                problem.prove(coef, 0.0, dual).certificate,
            ):
                assert rational(proof.primal) - rational(proof.gap) <= optimum


def test_products_in_twofold_arithmetic_are_taken_where_they_decide():
    """A target that plain doubles cannot prove is reached, with a rounding bound to match."""
    rng = np.random.default_rng(2)
    X = 1e6 + rng.normal(size=(40, 3))
    y = X @ [1.0, -2.0, 1.0] + rng.normal(size=40)
    problem = rl.Problem(X, y, loss=Absolute(), penalty=Ridge(1e-3))
    solution = rl.solve(problem, tol=1e-8)
    plain = problem.prove(solution.coef, solution.intercept, solution.dual)
    sharp = problem.certify(solution)
    assert sharp.holds(1e-8)
    assert sharp.rounding < 1e-3 * plain.certificate.rounding


def test_multipliers_shrink_where_that_is_good_enough(monkeypatch):
    # A penalty so weak that rounding of the multipliers is some 1e-10 of it: shrinking them proves
    # 1e-9, and exact multipliers nearby are only looked for where less is asked for.
    rng = np.random.default_rng(3)
    X = rng.standard_normal((400, 20))
    y = X[:, 0] + rng.standard_normal(400)
    problem = rl.Problem(X, y, Pinball(0.7), L1(0.03), fit_intercept=True)
    found = rl.solve(problem, solver="generation", tol=2e-13)
    searches = []
    search = _balance.exact_moves

    def counted(problem, point, columns, left):
        if columns.size:  # not for the intercept alone
            searches.append(columns)
        return search(problem, point, columns, left)

    monkeypatch.setattr(_balance, "exact_moves", counted)
    pair = found.coef, found.intercept, found.dual
    loose = problem.prove(*pair, 1e-9).certificate
    assert not searches
    sharp = problem.prove(*pair, 1e-12).certificate
    assert searches
    assert 1e-12 < loose.relative_gap <= 1e-9
    assert sharp.relative_gap <= 1e-12
    assert loose.dual <= sharp.dual


def test_a_target_beyond_rounding_is_a_precision_limit():
    rng = np.random.default_rng(0)
    X = 1e9 + rng.normal(size=(30, 2))
    y = rng.normal(size=30)
    problem = rl.Problem(X, y, loss=Absolute(), penalty=None)
    with pytest.warns(ConvergenceWarning, match="centre the columns"):
        solution = rl.solve(problem, tol=1e-13)
    assert solution.status == "precision_limit"
    plain = problem.prove(solution.coef, solution.intercept, solution.dual).certificate
    assert plain.limited_by_rounding(1e-13)
    assert solution.certificate.rounding < plain.rounding


def test_overflow_is_an_infinite_gap():
    problem = rl.Problem([[1.0], [2.0]], [1.0, -1.0], loss=SquaredError())
    proof = problem.certify([1e200], 0.0, [1.0, -1.0])
    assert proof.gap == np.inf and not proof.holds(0.5)


@pytest.mark.parametrize("size", [0.0, 0.25, 0.5, 0.875])
@pytest.mark.parametrize("strength", [0.9, 0.96875, 1.0 - 2.0**-10])
def test_multipliers_outside_the_dual_range_are_paid_for(strength, size):
    """q leaves the dual range by less than what rounding of such a column explains.

    A margin of 2^45 b costs nothing, but the length of its column makes q = 1 look like a rounded
    `strength` < 1. No multiplier has room to move, so that no exact ones nearby have q in range:
    the multipliers have to shrink, or the distance is charged. Between 2^-45 and 1 the objective is
    ``1 - b + strength b``, with its minimum at 1.
    """
    X, labels = np.array([[2.0**45], [-1.0]]), np.array([1.0, -1.0])
    problem = rl.Problem(X, labels, "hinge", L1(strength), fit_intercept=False)
    exact, zero = ExactProblem(problem), Fraction(0)
    gap = exact.value([Fraction(size)], zero) - exact.value([Fraction(1)], zero)
    for tol in (None, 0.0, 1e-6):
        proof = problem.prove(np.array([size]), 0.0, np.array([0.0, 1.0]), tol)
        assert Fraction(proof.certificate.gap) >= gap > 0


@pytest.mark.parametrize("on_rows", [False, True], ids=["arrays", "rows"])
@pytest.mark.parametrize("loss", ["absolute", Pinball(0.3), EpsilonInsensitive(1e-3)], ids=repr)
@pytest.mark.parametrize("seed", range(4))
def test_exact_fits_without_a_penalty_are_solved(seed, loss, on_rows):
    """The optimum is what rounding of y leaves, and its gap a share of that which nobody reaches.

    They ended as "precision_limit" with relative gaps of 1e-3 to 0.3.
    """
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(200, 5)) * 10.0 ** rng.uniform(-3, 3, size=5)
    truth = rng.normal(size=5)
    y = X @ truth + 1.0
    given = (rl.rows.from_arrays(X, y, block_rows=60),) if on_rows else (X, y)
    solution = rl.solve(rl.Problem(*given, loss=loss, penalty=None))
    assert solution.status == "solved"
    assert solution.certificate.gap <= 2.0**-48 * np.abs(y).sum()
    if loss == "absolute":
        np.testing.assert_allclose(solution.coef, truth, rtol=1e-8)


def test_a_knot_far_from_every_argument_does_not_make_zero_an_answer():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((50, 2))
    y = X @ [1.0, 2.0] + rng.standard_normal(50)
    problem = rl.Problem(X, y, rl.losses.Huber(1e60))
    proof = problem.certify(np.zeros(2), 0.0)
    assert proof.relative_gap > 0.1 and not proof.holds(1e-6)
