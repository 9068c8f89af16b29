"""Pairs between two others: bounds against certificates from all samples, and exact optima."""

import copy
import pickle

import cvxpy as cp
import numpy as np
import pytest

import rectiline as rl
from rectiline.penalties import L1, ElasticNet, Ridge
from rectiline.problems import JudgedPairs, certify_between, judge_all, shares_between

RNG = np.random.default_rng(5)
N, D = 120, 5
UNITS = np.array([1.0, 100.0, 0.01, 1.0, 5.0])
X = RNG.standard_normal((N, D)) * UNITS + [0.3, 20.0, 0.0, 0.0, 1.0]
Y = X[:, 0] + 0.02 * X[:, 1] + RNG.standard_t(3, N)
WEIGHT = RNG.uniform(0.5, 2.0, N) * (np.arange(N) % 6 > 0)
LOSSES = [
    rl.losses.Hinge(),
    rl.losses.Pinball(0.3),
    rl.losses.EpsilonInsensitive(0.4),
    rl.losses.Huber(0.8),
    rl.losses.SquaredHinge(),
]
PENALTIES = [Ridge(2.0), ElasticNet(1.5, 0.4), L1(1.0)]
GRID = np.array([8.0, 7.0, 5.0, 3.0, 2.5])


def problem(loss, penalty, fit_intercept=True):
    y = np.where(np.quantile(Y, 0.4) < Y, 1, -1) if loss.of == "margin" else Y
    return rl.Problem(X, y, loss, penalty, sample_weight=WEIGHT, fit_intercept=fit_intercept)


def at(one, strength):
    return one.with_penalty(one.penalty.with_strength(float(strength)))


def judged(one, tol):
    ends = [rl.solve(at(one, strength), tol=tol) for strength in (GRID[0], GRID[-1])]
    coefs = np.array([end.coef for end in ends])
    intercepts = np.array([end.intercept for end in ends])
    samples = np.array([end.dual.sample for end in ends])
    return judge_all(one, GRID[[0, -1]], coefs, intercepts, samples)


@pytest.mark.parametrize("loss", LOSSES, ids=repr)
@pytest.mark.parametrize("penalty", PENALTIES, ids=repr)
@pytest.mark.parametrize("fit_intercept", [True, False])
@pytest.mark.parametrize("tol", [1e-9, 1e-2])
def test_bounds_hold(loss, penalty, fit_intercept, tol):
    one = problem(loss, penalty, fit_intercept)
    found = certify_between(judged(one, tol), GRID[1:-1])
    assert len(found) == 3
    for strength, pair in zip(GRID[1:-1], found, strict=True):
        here = at(one, strength)
        exact = here.certify(pair.coef, pair.intercept, pair.dual)
        slack = 1e-9 * exact.primal
        assert exact.primal <= pair.certificate.primal + slack
        assert exact.gap <= pair.certificate.gap + slack
        assert pair.certificate.violation == 0.0
        best = rl.solve(here, tol=1e-10).certificate
        assert pair.certificate.dual <= best.primal + slack
        assert (pair.pull is None) == (penalty == L1(1.0))
        if pair.pull is not None:
            np.testing.assert_allclose(pair.pull, -X.T @ pair.dual.sample, rtol=1e-8, atol=1e-8)


@pytest.mark.parametrize("penalty", PENALTIES, ids=repr)
def test_close_strengths_lose_little(penalty):
    one = problem(rl.losses.Hinge(), penalty)
    strengths = np.array([3.0, 2.97])
    ends = [rl.solve(at(one, strength), tol=1e-11) for strength in strengths]
    pairs = judge_all(
        one,
        strengths,
        np.array([end.coef for end in ends]),
        np.array([end.intercept for end in ends]),
        np.array([end.dual.sample for end in ends]),
    )
    [found] = certify_between(pairs, np.array([2.985]))
    assert found.certificate.relative_gap < 1e-4


def optimum(loss, penalty, strength):
    """Return the least objective by an independent solver."""
    X_, units = X / UNITS, cp.Variable(D)  # in units that it can do with
    b0 = cp.Variable()
    z, coef = X_ @ units + b0, units / UNITS
    y = np.where(np.quantile(Y, 0.4) < Y, 1, -1)
    rows = {
        "Hinge": lambda: cp.pos(1 - cp.multiply(y, z)),
        "Pinball": lambda: cp.maximum(0.3 * (Y - z), -0.7 * (Y - z)),
        "EpsilonInsensitive": lambda: cp.pos(cp.abs(Y - z) - 0.4),
    }[type(loss).__name__]()
    one = penalty.with_strength(strength)
    rho, l1 = one.separable(D)
    paid = 0.5 * rho @ cp.square(coef) + l1 @ cp.abs(coef)
    found = cp.Problem(cp.Minimize(WEIGHT @ rows + paid))
    return found.solve(solver="CLARABEL")


@pytest.mark.parametrize("loss", LOSSES[:3], ids=repr)
@pytest.mark.parametrize("penalty", PENALTIES, ids=repr)
def test_an_independent_optimum_lies_within_the_bounds(loss, penalty):
    found = certify_between(judged(problem(loss, penalty), 1e-3), GRID[1:-1])
    for strength, pair in zip(GRID[1:-1], found, strict=True):
        best = optimum(loss, penalty, float(strength))
        proof = pair.certificate
        assert proof.dual * (1 - 1e-7) <= best <= proof.primal * (1 + 1e-7)


@pytest.mark.parametrize("beyond", [GRID[:1], GRID[-1:], np.array([9.0]), np.array([5.0, 1.0])])
def test_nothing_is_proved_beyond_the_ends(beyond):
    pairs = judged(problem(rl.losses.Hinge(), Ridge(2.0)), 1e-6)
    with pytest.raises(ValueError, match=r"strengths must lie between 2\.5 and 8"):
        certify_between(pairs, beyond)


def test_pairs_must_be_in_order():
    pairs = judged(problem(rl.losses.Hinge(), Ridge(2.0)), 1e-6)
    for wrong in (pairs.some([1, 0]), pairs.some([0])):
        with pytest.raises(ValueError, match="from large to small"):
            certify_between(wrong, GRID[1:-1])


def test_what_cannot_be_judged_at_one_look_is_refused():
    bound = rl.constraints.Nonnegative()
    y = np.where(Y > 0, 1, -1)
    one = rl.Problem(X, y, rl.losses.Hinge(), Ridge(1.0), bound)
    with pytest.raises(ValueError, match="judge_all needs a cost on every column"):
        judge_all(one, np.ones(1), np.zeros((1, D)), np.zeros(1), np.zeros((1, N)))


def test_multipliers_that_do_not_balance_prove_nothing():
    one = problem(rl.losses.Hinge(), Ridge(2.0))
    pairs = judged(one, 1e-6)
    pairs.terms.rows.totals[1] = 0.1 * pairs.terms.rows.sizes[1]
    found = certify_between(pairs, GRID[1:-1])
    trivial = [at(one, s).certify(pair.coef, pair.intercept).gap for s, pair in
               zip(GRID[1:-1], found, strict=True)]  # fmt: skip
    for pair, gap in zip(found, trivial, strict=True):
        assert pair.certificate.gap >= gap * (1 - 1e-9)
        assert not pair.dual.sample.any()


@pytest.mark.parametrize("margin", [0.0, 1e-9, 0.2, 0.45])
def test_what_is_inside_at_an_end_is_inside(margin):
    one = problem(rl.losses.Hinge(), Ridge(2.0))
    for pair in certify_between(judged(one, 1e-8), GRID[1:-1]):
        told = pair.dual.any_inside(one.rows, margin)
        assert told == one.rows.any_inside(pair.dual.sample, margin)


def test_mixtures_survive_copies_and_leave_the_samples_behind():
    one = problem(rl.losses.Hinge(), Ridge(2.0))
    [pair] = certify_between(judged(one, 1e-8), GRID[2:3])
    text = pickle.dumps(pair.dual)
    np.testing.assert_array_equal(pickle.loads(text).sample, pair.dual.sample)
    np.testing.assert_array_equal(copy.deepcopy(pair.dual).sample, pair.dual.sample)
    assert len(text) < 2 * pair.dual.sample.nbytes


def test_shares_run_from_one_way_to_the_other():
    table = shares_between(np.array([4.0]), 8.0, 2.0, strongly_convex=True)
    np.testing.assert_allclose(table[0, [0, -1]], [1 / 3, 2 / 3])
    assert (np.diff(table[0]) > 0).all()
    np.testing.assert_allclose(shares_between(np.array([4.0]), 8.0, 2.0, False), [[2 / 3]])


@pytest.mark.parametrize("penalty", PENALTIES, ids=repr)
def test_pairs_may_be_kept_in_several_places(penalty):
    one = problem(rl.losses.Huber(0.8), penalty)
    ends = [rl.solve(at(one, strength), tol=1e-3) for strength in GRID]
    parts = (
        GRID,
        np.array([end.coef for end in ends]),
        np.array([end.intercept for end in ends]),
        np.array([end.dual.sample for end in ends]),
    )
    whole = judge_all(one, *(part.copy() for part in parts))
    odd, even = (judge_all(one, *(part[k::2].copy() for part in parts)) for k in (0, 1))
    picked = JudgedPairs.picked([((odd, even)[k % 2], k // 2) for k in range(len(GRID))])
    middle = (GRID[1:] + GRID[:-1]) / 2
    for one_way, other in zip(
        certify_between(whole, middle), certify_between(picked, middle), strict=True
    ):
        assert np.array_equal(one_way.coef, other.coef)
        assert one_way.certificate.gap == pytest.approx(other.certificate.gap, rel=1e-9)
        assert one_way.certificate.primal == pytest.approx(other.certificate.primal, rel=1e-12)
    assert JudgedPairs.picked([(whole, k) for k in range(len(GRID))]) is whole
    some = JudgedPairs.picked([(whole, 1), (whole, 3)])
    assert np.array_equal(some.strengths, GRID[[1, 3]]) and some.proofs[1] == whole.proofs[3]
