"""Certificates by slopes and exceptions against certificates with all multipliers written out."""

import copy
import pickle

import numpy as np
import pytest
from scipy import sparse

import rectiline as rl
from rectiline.penalties import L1, ElasticNet, Ridge
from rectiline.problems import SlopeMultipliers, certify_all, certify_slopes, gather_slopes

N, D = 150, 7  # more than two blocks of rows
LOSSES = [
    rl.losses.Hinge(),
    rl.losses.SquaredHinge(),
    rl.losses.Pinball(0.7),
    rl.losses.EpsilonInsensitive(0.4),
    rl.losses.Huber(0.8),
    rl.losses.PiecewiseLQ(knots=[-1.0, 0.0, 0.5, 1.0, 3.0], pieces=[
        [0.0, -1.0, 0.0], [0.0, -1.0, 0.0], [0.0, 0.5, 0.0], [1.0, -0.5, 0.25], [0.0, 1.5, -0.75],
        [0.0, 3.0, -5.25]]),
]  # fmt: skip


def problem(loss, penalty, fit_intercept=True, layout=np.ascontiguousarray):
    rng = np.random.default_rng(7)
    X = rng.standard_normal((N, D)) * [1.0, 100.0, 0.01, 1.0, 1.0, 5.0, 1.0] + 0.3
    y = np.where(X[:, 0] > 0.2, 1.0, -1.0) if loss.of == "margin" else X[:, 0] + X[:, 3]
    weight = rng.uniform(0.5, 2.0, N) * (np.arange(N) % 5 > 0)
    weight[64:128] = 0.0  # a whole block
    return rl.Problem(
        layout(X), y, loss, penalty, sample_weight=weight, fit_intercept=fit_intercept
    )


def pairs(one, count=11):
    rng = np.random.default_rng(8)
    coefs = rng.standard_normal((count, D)) / [1.0, 100.0, 0.01, 1.0, 1.0, 5.0, 1.0] / 3
    coefs[rng.random((count, D)) < 0.2] = 0.0
    intercepts = rng.standard_normal(count) if one.fit_intercept else np.zeros(count)
    return np.geomspace(20.0, 0.1, count), coefs, intercepts


def multipliers(one, coefs, intercepts, rng):
    """Slopes at own predictions, at others, or some of both, with some exceptions."""
    curve = one.losses[0].curve
    other = np.asarray(curve.derivative(one.direction * rng.standard_normal(N) + one.offset)[0])
    some = np.where(rng.random(N) < 0.3, np.nan, other)
    parts = []
    for k in range(len(coefs)):
        rows = np.sort(rng.choice(N, rng.integers(1, 60), replace=False)).astype(np.int64)
        z = coefs[k] @ np.asarray(one.design.X.todense() if sparse.issparse(one.design.X)
                                  else one.design.X, dtype=float).T + intercepts[k]  # fmt: skip
        low, high = curve.derivative(one.direction * z + one.offset)
        share = rng.random(rows.size)
        values = one.direction[rows] * one.weight[rows]
        values = values * ((1 - share) * low[rows] + share * high[rows] + 0.1 * (share - 0.5))
        parts.append(((None, other, some)[k % 3] if k else None, rows, values))
    return SlopeMultipliers.of(parts)


@pytest.mark.parametrize("loss", LOSSES, ids=repr)
@pytest.mark.parametrize("penalty", [Ridge(2.0), ElasticNet(2.0, 0.4), L1(2.0)], ids=repr)
@pytest.mark.parametrize("fit_intercept", [True, False])
@pytest.mark.parametrize(
    "layout",
    [np.ascontiguousarray, np.asfortranarray, np.float32, sparse.csr_array, sparse.csc_array],
)
def test_gaps_are_those_of_the_multipliers_written_out(loss, penalty, fit_intercept, layout):
    one = problem(loss, penalty, fit_intercept, layout)
    strengths, coefs, intercepts = pairs(one)
    known = multipliers(one, coefs, intercepts, np.random.default_rng(9))
    found = certify_slopes(one, strengths, coefs, intercepts, known)
    assert len(found) == len(strengths)
    for k, (proof, dual) in enumerate(found):
        alone = one.with_penalty(penalty.with_strength(float(strengths[k])))
        assert np.isfinite(dual.sample).all()
        written = alone.certify(coefs[k], intercepts[k], np.array(dual.sample))
        assert proof.primal == pytest.approx(written.primal, rel=1e-12)
        if not np.isfinite(proof.gap):  # the exceptions have no room to balance the intercept
            assert fit_intercept
            continue
        # What is claimed is proved; with plain L1 terms it may be a little less than could be.
        assert written.gap <= proof.gap * (1 + 1e-9) + 1e-12 * abs(proof.primal)
        if not isinstance(penalty, L1):
            assert written.gap == pytest.approx(proof.gap, rel=1e-7, abs=1e-10 * abs(proof.primal))
    if not fit_intercept:
        assert all(np.isfinite(proof.gap) for proof, _ in found)


def test_a_smooth_optimum_has_no_exceptions():
    one = problem(rl.losses.Huber(0.8), Ridge(1.0), fit_intercept=False)
    best = rl.solve(one, tol=1e-12)
    nobody = np.zeros(0, dtype=np.int64), np.zeros(0)
    known = SlopeMultipliers.of([(None, *nobody)])
    [(proof, dual)] = certify_slopes(one, np.ones(1), best.coef[None], np.zeros(1), known)
    assert proof.relative_gap <= 1e-11
    np.testing.assert_allclose(dual.sample, one.rows.slopes(one.design.dot(best.coef)), atol=1e-12)


def test_an_optimum_is_certified_from_its_kinks_alone():
    one = problem(rl.losses.Hinge(), Ridge(1.0))
    best = rl.solve(one, tol=1e-10)
    z = one.design.dot(best.coef) + best.intercept
    slopes = one.rows.slopes(z)
    kinks = np.flatnonzero(np.abs(best.dual.sample - slopes) > 1e-12).astype(np.int64)
    assert 0 < kinks.size < 30
    known = SlopeMultipliers.of([(None, kinks, best.dual.sample[kinks])])
    pair = best.coef[None], np.array([best.intercept])
    [(proof, dual)] = certify_slopes(one, np.ones(1), *pair, known)
    assert proof.relative_gap <= 2e-10
    again = pickle.loads(pickle.dumps(dual))
    np.testing.assert_array_equal(again.sample, dual.sample)
    np.testing.assert_array_equal(copy.deepcopy(dual).sample, dual.sample)
    assert dual.any_inside(one.rows, 1e-3) and best.dual.any_inside(one.rows, 1e-3)


@pytest.mark.parametrize("layout", [np.ascontiguousarray, sparse.csr_array])
def test_slopes_out_of_range_prove_nothing_more_than_their_ends(layout):
    one = problem(rl.losses.Hinge(), Ridge(1.0), fit_intercept=False, layout=layout)
    # So strong that multipliers at their ends prove more than none.
    strengths, coefs, intercepts = np.array([1e8, 1e7]), np.zeros((2, D)), np.zeros(2)
    nobody = np.zeros(0, dtype=np.int64), np.zeros(0)
    far, ends = np.full(N, -3.0), np.full(N, -1.0)
    found = certify_slopes(
        one, strengths, coefs, intercepts, SlopeMultipliers.of([(far, *nobody)] * 2)
    )
    known = SlopeMultipliers.of([(ends, *nobody)] * 2)
    wanted = certify_slopes(one, strengths, coefs, intercepts, known)
    for k, ((proof, dual), (other, _)) in enumerate(zip(found, wanted, strict=True)):
        assert dual.sample.any() and proof.gap == pytest.approx(other.gap, rel=1e-14)
        alone = one.with_penalty(Ridge(float(strengths[k])))
        written = alone.certify(coefs[k], 0.0, np.array(dual.sample))
        assert written.gap == pytest.approx(proof.gap, rel=1e-9)


LAYOUTS = [np.ascontiguousarray, np.asfortranarray, np.float32, sparse.csr_array]


@pytest.mark.parametrize("loss", LOSSES, ids=repr)
@pytest.mark.parametrize("fit_intercept", [True, False])
@pytest.mark.parametrize("layout", LAYOUTS)
def test_own_slopes_are_gathered_and_balanced_by_some_samples(loss, fit_intercept, layout):
    one = problem(loss, Ridge(2.0), fit_intercept, layout)
    strengths, coefs, intercepts = pairs(one, 19)
    strengths *= 1e4  # or no multipliers prove more, as far from an optimum as this
    X = one.design.X.todense() if sparse.issparse(one.design.X) else one.design.X
    z = coefs @ np.asarray(X, dtype=float).T + intercepts[:, None]
    slopes = np.array([one.rows.slopes(np.ascontiguousarray(row)) for row in z])
    pulls, totals = gather_slopes(one, coefs, intercepts)
    np.testing.assert_allclose(pulls, slopes @ np.asarray(X, dtype=float), rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(totals, slopes.sum(axis=1), rtol=1e-9, atol=1e-9)
    own = SlopeMultipliers.own(one, len(coefs))
    proved = 0
    for k, (proof, dual) in enumerate(certify_slopes(one, strengths, coefs, intercepts, own)):
        if not np.isfinite(proof.gap) or not dual.sample.any():  # no room, or nothing gained
            continue
        proved += 1
        written = one.with_penalty(Ridge(float(strengths[k])))
        found = written.certify(coefs[k], intercepts[k], np.array(dual.sample))
        assert found.gap == pytest.approx(proof.gap, rel=1e-7, abs=1e-10 * abs(proof.primal))
        moved = np.abs(dual.sample - slopes[k]).sum()
        assert moved <= abs(totals[k]) * (1 + 1e-9) + 1e-9 * np.abs(slopes[k]).sum()
    assert proved


@pytest.mark.parametrize("layout", LAYOUTS)
def test_near_a_smooth_optimum_some_samples_balance_as_well_as_all(layout):
    one = problem(rl.losses.Huber(0.8), Ridge(2.0), layout=layout)
    best = rl.solve(one, tol=1e-10)
    pair = best.coef[None] * 1.0001, np.array([best.intercept + 1e-5])
    own = SlopeMultipliers.own(one, 1)
    assert 0 < own.row.size <= 2 * 250 and np.isnan(own.value).all()
    [(proof, _)] = certify_slopes(one, np.full(1, 2.0), *pair, own)
    [(all_move, _)] = certify_all(one, np.full(1, 2.0), *pair)
    assert 0 < proof.relative_gap <= 3 * all_move.relative_gap < 0.1
    assert proof.primal - proof.gap <= best.certificate.primal * (1 + 1e-9)


def test_what_is_not_separable_or_has_free_columns_is_refused():
    with pytest.raises(ValueError, match="cost on every column"):
        one = problem(rl.losses.Hinge(), L1(1.0, weights=[0.0, 1, 1, 1, 1, 1, 1]))
        known = SlopeMultipliers.of([(None, np.zeros(0, dtype=np.int64), np.zeros(0))])
        certify_slopes(one, np.ones(1), np.zeros((1, D)), np.zeros(1), known)


@pytest.mark.parametrize(
    ("first", "rows", "message"),
    [
        ([0, 2], [3, 3], "grow"),
        ([0, 2], [3, N], "range"),
        ([0, 1], [3, 4], "first must grow"),
        ([0, 1, 2], [3, 4], "an entry more"),
    ],
)
def test_lists_that_make_no_sense_are_refused_by_the_core(first, rows, message):
    one = problem(rl.losses.Hinge(), Ridge(1.0))
    known = SlopeMultipliers([], np.array([-1]), np.array(first), np.array(rows), np.zeros(2))
    with pytest.raises(ValueError, match=message):
        certify_slopes(one, np.ones(1), np.zeros((1, D)), np.zeros(1), known)


@pytest.mark.parametrize(
    ("slopes", "reference", "message"),
    [
        ([np.zeros(N - 1)], 0, "one entry per row"),
        ([np.zeros(N)], 1, "reference must be a place"),
        ([], 0, "reference must be a place"),
    ],
)
def test_slopes_that_belong_to_nobody_are_refused_by_the_core(slopes, reference, message):
    one = problem(rl.losses.Hinge(), Ridge(1.0))
    nothing = np.zeros(0, dtype=np.int64)
    known = SlopeMultipliers(slopes, np.array([reference]), np.zeros(2, int), nothing, np.zeros(0))
    with pytest.raises(ValueError, match=message):
        certify_slopes(one, np.ones(1), np.zeros((1, D)), np.zeros(1), known)
