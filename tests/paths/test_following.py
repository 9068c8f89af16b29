"""Following a path: answers found in one go are certified like all others, and others step in."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp

import rectiline as rl
from rectiline.constraints import Box, LinearInequality
from rectiline.paths import default_strengths, path
from rectiline.paths._null import null_model, rough_null_model, two_class_start
from rectiline.penalties import L1, ElasticNet, Ridge
from rectiline.problems import certify_all
from rectiline.solvers import Follower

RNG = np.random.default_rng(5)
X = RNG.normal(size=(240, 7)) * [1, 3, 0.1, 1, 1, 2, 1] + [0, 5, 0, 0, 1, 0, 0]
SCORE = X[:, 0] - 2 * X[:, 2] + 0.2 * X[:, 1]
Y = SCORE + RNG.standard_t(3, 240)
LABELS = np.where(SCORE + RNG.normal(size=240) > 1.0, 1, -1)
FOLLOWED = "newton: on from the strength before"

LOSSES = [
    rl.losses.Hinge(),
    rl.losses.SquaredHinge(),
    rl.losses.Pinball(0.3),
    rl.losses.Huber(),
    rl.losses.SquaredError(),
    rl.losses.EpsilonInsensitive(0.5),
]
PENALTIES = [Ridge(1.0), L1(1.0), ElasticNet(0.3, 0.7)]


def problem(loss, penalty, data=X, **more):
    return rl.Problem(data, LABELS if loss.of == "margin" else Y, loss, penalty, **more)


@pytest.mark.parametrize("penalty", PENALTIES, ids=lambda p: type(p).__name__)
@pytest.mark.parametrize("loss", LOSSES, ids=repr)
@pytest.mark.parametrize("tol", [1e-3, 1e-6])
def test_answers_are_those_of_single_solves(loss, penalty, tol):
    weight = RNG.integers(0, 3, 240).astype(float)
    one = problem(loss, penalty, sample_weight=weight)
    found = path(one, n_strengths=7, tol=tol)
    assert len(found) == 7 and found.relative_gaps.max() <= tol
    assert tol < 1e-4 or sum(point.reason == FOLLOWED for point in found) >= 5
    for strength, point in zip(found.strengths, found, strict=True):
        cold = rl.solve(one.with_penalty(penalty.with_strength(float(strength))), tol=1e-9)
        assert point.objective <= cold.objective * (1 + tol) + 1e-12
        again = one.with_penalty(penalty.with_strength(float(strength)))
        proof = again.certify(point.coef, point.intercept, point.dual)
        assert proof.relative_gap <= tol


@pytest.mark.parametrize(
    "make",
    [
        np.asfortranarray,
        sp.csr_array,
        sp.csc_array,
        lambda data: data.astype(np.float32),
        lambda data: np.repeat(data, 2, axis=1)[:, ::2],
    ],
    ids=["fortran", "csr", "csc", "float32", "strided"],
)
def test_any_storage_of_x(make):
    found = path(problem(rl.losses.Hinge(), Ridge(1.0), make(X)), n_strengths=5, tol=1e-3)
    assert [point.reason for point in found] == [FOLLOWED] * 5
    assert found.relative_gaps.max() <= 1e-3


@pytest.mark.parametrize("loss", LOSSES, ids=repr)
def test_no_intercept(loss):
    found = path(problem(loss, Ridge(1.0), fit_intercept=False), n_strengths=6)
    assert found.relative_gaps.max() <= 1e-6
    assert any(point.reason == FOLLOWED for point in found)


def test_what_is_not_followed():
    for constraint in (LinearInequality(np.ones((1, 7)), [1.0]), Box(-0.5, 0.5)):
        bound = problem(rl.losses.Huber(), Ridge(1.0), constraints=constraint)
        assert not Follower.accepts(bound, 1e-3)
        assert path(bound, n_strengths=4).relative_gaps.max() <= 1e-6
    assert not Follower.accepts(problem(rl.losses.Pinball(0.5), L1(1.0)), 1e-9)
    for options in ({"solver": "rehline"}, {"max_iter": 1000}):
        found = path(problem(rl.losses.Hinge(), Ridge(1.0)), [3.0, 2.0], tol=1e-3, **options)
        assert all(point.reason != FOLLOWED for point in found)
    with pytest.raises(TypeError, match="n_threads"):
        path(problem(rl.losses.Hinge(), Ridge(1.0)), [3.0, 2.0], colour="blue")
    with pytest.raises(ValueError, match="tol"):
        path(problem(rl.losses.Hinge(), Ridge(1.0)), [3.0, 2.0], tol=2.0)


@pytest.mark.parametrize("kind", ["lost", "wrong"])
def test_others_step_in(monkeypatch, kind):
    move = Follower.move

    def poor(self, strength, *others):
        found = move(self, strength, *others)
        if strength > 100 or found is None:
            return found
        return None if kind == "lost" else (found[0] + 1.0, *found[1:])

    monkeypatch.setattr(Follower, "move", poor)
    one = problem(rl.losses.Hinge(), Ridge(1.0))
    found = path(one, np.geomspace(1e4, 1e-2, 12))
    assert found.relative_gaps.max() <= 1e-6
    assert {point.reason == FOLLOWED for point in found} == {True, False}


def test_a_callback_hears_of_every_answer_once():
    heard = []
    found = path(problem(rl.losses.Huber(), Ridge(1.0)), n_strengths=6, callback=heard.append)
    assert len(heard) >= 6
    for point in found:
        assert sum(one.certificate is point.certificate for one in heard) == 1


def test_time_limit():
    one = problem(rl.losses.Huber(), Ridge(1.0))
    assert len(path(one, n_strengths=20, time_limit=60.0)) == 20


@pytest.mark.parametrize("penalty", PENALTIES, ids=lambda p: type(p).__name__)
@pytest.mark.parametrize("storage", [np.asarray, sp.csr_array], ids=["dense", "sparse"])
def test_many_certificates_are_those_of_one_after_the_other(penalty, storage):
    one = problem(rl.losses.Pinball(0.3), penalty, storage(X))
    strengths = np.array([50.0, 5.0, 0.5])
    penalties = [penalty.with_strength(strength) for strength in strengths]
    coefs, intercepts = 0.1 * RNG.normal(size=(3, 7)), RNG.normal(size=3)
    samples = RNG.normal(size=(3, 240))
    expected = [
        one.with_penalty(penalties[k]).certify_repaired(coefs[k], intercepts[k], samples[k])
        for k in range(3)
    ]
    for (proof, dual), (known, point) in zip(
        certify_all(one, strengths, coefs, intercepts, samples), expected, strict=True
    ):
        assert proof.primal == pytest.approx(known.primal, rel=1e-12)
        assert proof.gap == pytest.approx(known.gap, rel=1e-9)
        np.testing.assert_allclose(dual.sample, point.sample, atol=1e-12)
    rows = LinearInequality(np.ones((1, 7)), [1.0])
    bound = problem(rl.losses.Pinball(0.3), penalty, constraints=rows)
    with pytest.raises(ValueError, match="constraints"):
        certify_all(bound, strengths, coefs, intercepts, samples)
    with pytest.raises(ValueError, match="penalty"):
        certify_all(problem(rl.losses.Pinball(0.3), None), strengths, coefs, intercepts, samples)


@pytest.mark.parametrize(
    "storage", [np.ascontiguousarray, np.asfortranarray, np.float32, sp.csr_array]
)
@pytest.mark.parametrize("n_used", [0, 3, 60])
def test_many_certificates_of_wide_tables_with_few_columns_in_use(storage, n_used):
    rng = np.random.default_rng(8)
    wide = storage(rng.normal(size=(30, 200)) * 10.0 ** rng.uniform(-1, 1, 200))
    one = rl.Problem(wide, rng.normal(size=30), rl.losses.Absolute(), L1(1.0))
    strengths, coefs = np.geomspace(5.0, 0.5, 9), np.zeros((9, 200))
    coefs[:, rng.choice(200, n_used, replace=False)] = 0.1 * rng.normal(size=(9, n_used))
    intercepts, samples = rng.normal(size=9), rng.normal(size=(9, 30))
    alone = [one.with_penalty(L1(float(strength))) for strength in strengths]
    expected = [
        alone[k].certify_repaired(coefs[k], intercepts[k], samples[k].copy()) for k in range(9)
    ]
    found = certify_all(one, strengths, coefs, intercepts, samples)
    for (proof, dual), (known, point) in zip(found, expected, strict=True):
        assert proof.primal == pytest.approx(known.primal, rel=1e-12)
        assert proof.gap == pytest.approx(known.gap, rel=1e-9)
        np.testing.assert_allclose(dual.sample, point.sample, atol=1e-12)


@pytest.mark.parametrize("loss", LOSSES, ids=repr)
@pytest.mark.parametrize("share", [0.3, 0.5])
def test_a_rough_null_model_is_near_the_exact_one(loss, share):
    labels = np.where(np.arange(240) < share * 240, 1, -1)
    one = rl.Problem(X, labels if loss.of == "margin" else 100 + Y, loss, Ridge(1.0))
    exact, rough = null_model(one), rough_null_model(one)
    assert rough.intercept == pytest.approx(exact.intercept, abs=1e-4)
    least = one.objective(np.zeros(7), exact.intercept)
    assert one.objective(np.zeros(7), rough.intercept) == pytest.approx(least, rel=1e-5)
    flat = rl.Problem(X, one.offset + labels, rl.losses.Huber(), fit_intercept=False)
    assert rough_null_model(flat).intercept == 0.0


@pytest.mark.parametrize(
    "loss",
    [
        rl.losses.Hinge(),
        rl.losses.SquaredHinge(),
        rl.losses.SmoothedHinge(),
        rl.losses.ModifiedHuber(),
        rl.losses.PiecewiseLQ(
            knots=[0.0, 1.0], pieces=[[0.0, -2.0, 1.0], [0.0, -1.0, 1.0], [0.0, 0.0, 0.0]],
            of="margin",
        ),
    ],
    ids=repr,
)  # fmt: skip
@pytest.mark.parametrize("share", [0.5, 0.3, 0.02, 0.0])  # 0: one class has no weight
def test_two_classes_have_a_start_that_is_best_without_coefficients(loss, share):
    rng = np.random.default_rng(6)
    y = np.where(np.arange(200) < max(200 * share, 4), 1, -1)
    weight = rng.integers(0, 3, 200).astype(float)
    weight[:4] = 0.0 if share == 0 else 1.0
    # So strong that coefficients do not matter: what is proved is about the intercept.
    one = rl.Problem(rng.normal(size=(200, 2)), y, loss, Ridge(1e12), sample_weight=weight)
    intercept, sample = two_class_start(one)
    assert abs(sample.sum()) <= 1e-12 * abs(sample).sum()
    proof = one.certify(np.zeros(2), intercept, sample)
    assert proof.relative_gap <= 1e-9 if share > 0 else proof.gap <= 1e-12  # of nothing at all
    assert two_class_start(rl.Problem(X, Y, rl.losses.Absolute())) is None
    assert two_class_start(rl.Problem(X, LABELS, loss, fit_intercept=False)) is None


def test_the_ridge_grid_of_many_samples_is_that_of_few():
    many = np.tile(X, (10, 1)), np.tile(Y, 10)
    few = default_strengths(problem(rl.losses.Pinball(0.3), Ridge(1.0)), 3)
    grid = default_strengths(rl.Problem(*many, rl.losses.Pinball(0.3), Ridge(1.0)), 3)
    np.testing.assert_allclose(grid, 10 * few, rtol=1e-2)


@pytest.mark.parametrize("fit_intercept", [True, False])
def test_multipliers_follow_the_strength_once_nothing_is_lost(fit_intercept):
    """Separable classes: all weak penalties have the coefficients of the widest margin."""
    data = np.random.default_rng(2).standard_normal((400, 6))
    z = data @ [2.0, -1.0, 0.0, 0.0, 1.0, 0.5]
    apart = np.abs(z) > 0.5
    one = rl.Problem(
        data[apart],
        np.sign(z[apart]),
        rl.losses.Hinge(),
        Ridge(1.0),
        fit_intercept=fit_intercept,
    )
    grid = np.geomspace(1e2, 1e-5, 40)
    found = path(one, grid, tol=1e-4)
    assert found.relative_gaps.max() <= 1e-4
    weak = [point for strength, point in zip(grid, found, strict=True) if strength < 1e-3]
    assert sum(point.n_iter == 0 for point in weak) >= len(weak) - 3
    for strength, point in zip(grid[-3:], found.solutions[-3:], strict=True):
        alone = one.with_penalty(Ridge(float(strength)))
        assert alone.certify(point.coef, point.intercept, point.dual).relative_gap <= 1e-4
        cold = rl.solve(alone, solver="interior", tol=1e-7)
        assert point.objective == pytest.approx(cold.objective, rel=2e-4)
