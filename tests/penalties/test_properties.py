"""Properties that hold for any numbers, searched for counterexamples."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from rectiline.penalties import GroupLinf, Slope

from .cases import NORMS, PENALTIES

quick = settings(max_examples=40, deadline=None, derandomize=True)


def vectors(size, top=1e6):
    return arrays(np.float64, size, elements=st.floats(-top, top, allow_subnormal=False))


@pytest.mark.parametrize("case", PENALTIES, ids=lambda case: case.name)
def test_prox_is_firmly_nonexpansive(case):
    @quick
    @given(vectors(case.n_features), vectors(case.n_features), st.floats(1e-3, 1e3))
    def check(v, w, step):
        move = case.penalty.prox(v, step) - case.penalty.prox(w, step)
        size = 1.0 + np.sum(v**2 + w**2)
        assert np.sum(move**2) <= move @ (v - w) + 1e-12 * size

    check()


@pytest.mark.parametrize("case", NORMS, ids=lambda case: case.name)
def test_norms_are_homogeneous_and_convex(case):
    @quick
    @given(vectors(case.n_features), vectors(case.n_features), st.floats(-1e3, 1e3))
    def check(b, other, t):
        value = case.penalty.value
        assert value(t * b) == pytest.approx(abs(t) * value(b), rel=1e-12, abs=1e-300)
        assert value(b + other) <= (value(b) + value(other)) * (1 + 1e-12)
        norm = case.penalty.dual_norm(b)
        if 0.0 < norm < np.inf and abs(t) > 1e-3:
            assert case.penalty.dual_norm(t * b) == pytest.approx(abs(t) * norm, rel=1e-12)

    check()


@quick
@given(vectors(8), st.floats(1e-6, 1e6), st.floats(1e-6, 1e6))
def test_group_prox_is_what_the_ball_leaves(v, strength, step):
    penalty = GroupLinf(strength, [0, 0, 0, 1, 1, 2, 2, 2])
    left = penalty.prox(v, step)
    radius = strength * step
    for columns in penalty.groups:
        taken = np.abs((v - left)[columns])
        size = np.abs(v[columns]).sum()
        assert taken.sum() == pytest.approx(min(radius, size), rel=1e-9, abs=1e-9 * size)


@quick
@given(vectors(6, top=1e3), st.lists(st.floats(0.0, 1e3), min_size=6, max_size=6))
def test_slope_prox_keeps_the_order_and_the_signs(v, strengths):
    penalty = Slope(sorted(strengths, reverse=True))
    best = penalty.prox(v, 0.5)
    assert np.all(best * v >= 0.0)
    order = np.argsort(-np.abs(v), kind="stable")
    assert np.all(np.diff(np.abs(best[order])) <= 0.0)
    assert np.all(np.abs(best) <= np.abs(v) + 1e-12 * (1 + np.abs(v)))
