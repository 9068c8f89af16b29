"""What every penalty promises, checked on every penalty."""

import math

import numpy as np
import pytest

from rectiline.penalties import Slope

from .cases import NORMS, PENALTIES, TRUE_NORMS

every_penalty = pytest.mark.parametrize("case", PENALTIES, ids=lambda case: case.name)
every_norm = pytest.mark.parametrize("case", NORMS, ids=lambda case: case.name)
every_true_norm = pytest.mark.parametrize("case", TRUE_NORMS, ids=lambda case: case.name)


@every_penalty
def test_value_is_zero_at_zero_and_never_negative(case):
    assert case.penalty.value(np.zeros(case.n_features)) == 0.0
    assert case.penalty.conjugate(np.zeros(case.n_features)) == 0.0
    assert case.penalty.dual_norm(np.zeros(case.n_features)) == 0.0
    for seed in range(5):
        value = case.penalty.value(case.point(seed))
        assert value >= 0.0
        assert (value == 0.0) == case.penalty.is_zero


@every_penalty
def test_prox_beats_perturbations(case):
    rng = np.random.default_rng(11)
    for step in (0.1, 1.0, 10.0):
        v = case.point(2, scale=3.0)
        best = case.penalty.prox(v, step)

        def cost(b, v=v, step=step):
            return case.penalty.value(b) + np.sum((b - v) ** 2) / (2.0 * step)

        for size in (1e-3, 1e-1, 1.0):
            for _ in range(20):
                other = best + size * rng.normal(size=best.size)
                assert cost(best) <= cost(other) + 1e-12


@every_penalty
def test_prox_and_conjugate_fit_together(case):
    # b = prox(v) is optimal exactly when q = (v - b)/step is a subgradient at b.
    for seed, step in ((0, 0.2), (1, 1.0), (2, 5.0)):
        v = case.point(seed, scale=3.0)
        b = case.penalty.prox(v, step)
        q = (v - b) / step
        q[np.abs(q) < 1e-13] = 0.0
        assert case.penalty.fenchel_young(b, q * case.penalty.shrink_factor(q)) == pytest.approx(
            0.0, abs=1e-12
        )


@every_penalty
def test_fenchel_young_is_the_three_terms_and_never_negative(case):
    for seed in range(8):
        b, q = case.point(seed), case.dual_point(seed + 100)
        q *= case.penalty.shrink_factor(q)
        direct = case.penalty.value(b) + case.penalty.conjugate(q) - q @ b
        found = case.penalty.fenchel_young(b, q)
        assert found >= 0.0
        assert found == pytest.approx(direct, abs=1e-12)


@every_norm
def test_fenchel_young_is_infinite_outside_the_dual_ball(case):
    assert case.penalty.fenchel_young(case.point(0), case.point(1, scale=50.0)) == math.inf


@every_true_norm
def test_shrink_factor_lands_on_the_boundary_and_never_outside(case):
    for seed in range(20):
        q = case.dual_point(seed, scale=10.0 ** (seed % 7))
        factor = case.penalty.shrink_factor(q)
        if case.penalty.dual_norm(q) <= 1.0:
            assert factor == 1.0
            continue
        assert 0.0 < factor < 1.0
        assert 1.0 - 1e-14 <= case.penalty.dual_norm(factor * q) <= 1.0
        assert case.penalty.conjugate(factor * q) == 0.0
        assert case.penalty.conjugate(factor * (1.0 + 1e-9) * q) == math.inf


@every_penalty
def test_shrink_factor_leaves_feasible_points_alone(case):
    if not case.is_norm:
        assert case.penalty.dual_norm(case.point(1, scale=1e6)) == 0.0
        assert case.penalty.shrink_factor(case.point(1, scale=1e6)) == 1.0
    assert case.penalty.shrink_factor(np.zeros(case.n_features)) == 1.0


@every_true_norm
def test_dual_norm_bounds_every_product(case):
    q = case.dual_point(1)
    norm = case.penalty.dual_norm(q)
    for seed in range(50):
        b = case.point(seed + 10)
        assert q @ b <= norm * case.penalty.value(b) * (1.0 + 1e-12)


@every_penalty
def test_separable_reproduces_the_value(case):
    parts = case.penalty.separable(case.n_features)
    if parts is None:
        return
    rho, l1 = parts
    assert rho.dtype == l1.dtype == np.float64
    assert rho.shape == l1.shape == (case.n_features,)
    b = case.point(4)
    assert case.penalty.value(b) == pytest.approx(np.sum(rho / 2 * b**2 + l1 * np.abs(b)))


def test_only_groups_and_slope_are_not_separable():
    joint = {c.name.split("-")[0] for c in PENALTIES if c.penalty.separable(c.n_features) is None}
    assert joint == {"group", "slope", "sparse"}


@every_penalty
def test_with_strength_scales_the_whole_penalty(case):
    b = case.point(9)
    if case.penalty.strength > 0.0:
        scaled = case.penalty.with_strength(3.0 * case.penalty.strength)
        assert type(scaled) is type(case.penalty)
        assert scaled.strength == pytest.approx(3.0 * case.penalty.strength)
        assert scaled.value(b) == pytest.approx(3.0 * case.penalty.value(b))
    assert case.penalty.with_strength(0.0).is_zero


@every_penalty
def test_results_are_new_float64_arrays(case):
    v = case.point(0).astype(np.float32)
    found = case.penalty.prox(v, 1.0)
    assert found.dtype == np.float64
    assert not np.shares_memory(found, v)
    exact = case.point(0)
    assert not np.shares_memory(case.penalty.prox(exact, 1.0), exact)
    assert isinstance(case.penalty.value(v), float)


@every_penalty
def test_lists_and_strided_arrays_are_points_too(case):
    wide = np.zeros(2 * case.n_features)
    wide[::2] = case.point(3)
    assert case.penalty.value(wide[::2]) == case.penalty.value(wide[::2].tolist())


@every_penalty
def test_columns_may_be_zero_or_equal(case):
    for point in (np.zeros(case.n_features), np.full(case.n_features, -2.0)):
        best = case.penalty.prox(point, 0.5)
        assert np.all(np.isfinite(best))
        assert not np.any(np.signbit(best) & (best == 0.0))  # no negative zeros


def test_fenchel_young_keeps_its_accuracy_where_the_difference_cancels():
    penalty = Slope.sqrt_log(2000, 0.5)
    b = np.random.default_rng(0).normal(size=2000) * 1e6
    q = np.empty(2000)
    q[np.argsort(-np.abs(b))] = penalty.strengths * (1.0 - 1e-11)
    q *= np.sign(b)
    assert penalty.fenchel_young(b, q) == pytest.approx(1e-11 * penalty.value(b), rel=1e-3)
