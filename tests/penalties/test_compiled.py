"""The compiled and the shortened loops of GroupLinf and Slope against plain formulas."""

from __future__ import annotations

import numpy as np
import pytest

import rectiline
from rectiline import _core
from rectiline.penalties import GroupLinf, Slope


def strengths(rng, kind, d):
    if kind == "equal":
        return np.full(d, 1.5)
    if kind == "to_zero":
        return np.append(np.sort(rng.random(d - 1))[::-1], 0.0)
    return np.sort(rng.random(d) + (10.0 if kind == "flat" else 0.1))[::-1]


@pytest.mark.parametrize("kind", ["equal", "to_zero", "flat", "steep"])
def test_the_sorted_dual_norm_needs_no_full_sort(kind):
    rng = np.random.default_rng(0)
    for trial in range(50):
        d = int(rng.integers(2, 300))
        penalty = Slope(strengths(rng, kind, d))
        q = rng.standard_normal(d) * 10.0 ** rng.uniform(-3, 3)
        if trial % 3 == 0:
            q = np.round(q)
        if trial % 5 == 0:
            q[1:] = 0.0
        size = np.sort(np.abs(q))[::-1]
        expected = float(np.max(np.cumsum(size) / np.cumsum(penalty.strengths)))
        assert penalty.dual_norm(q) == pytest.approx(expected, rel=1e-14, abs=0.0)
    assert penalty.dual_norm(np.zeros(d)) == 0.0


def test_sorted_values_look_at_the_support_only():
    rng = np.random.default_rng(1)
    penalty = Slope(np.sort(rng.random(40))[::-1])
    for _ in range(30):
        b = rng.standard_normal(40) * (rng.random(40) < 0.3)
        q = rng.standard_normal(40)
        q *= penalty.shrink_factor(q)
        assert penalty.value(b) == pytest.approx(np.sort(np.abs(b))[::-1] @ penalty.strengths)
        expected = penalty.value(b) - q @ b
        assert penalty.fenchel_young(b, q) == pytest.approx(expected, abs=1e-12)


def test_groups_in_any_order():
    rng = np.random.default_rng(2)
    labels = rng.integers(0, 12, 60)
    penalty = GroupLinf(0.7, labels)
    parts = [np.flatnonzero(labels == g) for g in np.unique(labels)]
    for _ in range(30):
        b, q = rng.standard_normal((2, 60))
        assert penalty.value(b) == pytest.approx(0.7 * sum(np.abs(b[g]).max() for g in parts))
        norm = max(np.abs(q[g]).sum() for g in parts) / 0.7
        assert penalty.dual_norm(q) == pytest.approx(norm)
        q *= penalty.shrink_factor(q)
        assert penalty.fenchel_young(b, q) == pytest.approx(penalty.value(b) - q @ b)
        worst = penalty.price(3.0 * q / max(norm, 1.0), 3)
        excess = [atom.excess for atom in worst]
        assert excess == sorted(excess, reverse=True)


def test_the_worst_groups_of_many_are_found_without_sorting_all():
    q = np.random.default_rng(3).standard_normal(400)
    penalty = GroupLinf(0.1, np.arange(400) // 2)
    order = np.argsort(-np.abs(q).reshape(200, 2).sum(axis=1), kind="stable")
    found = [int(atom.columns[0]) // 2 for atom in penalty.price(q, 7)]
    assert found == order[:7].tolist()


@pytest.mark.parametrize(
    ("columns", "starts"),
    [([0, 5], [0, 2]), ([0, -1], [0, 2]), ([0, 1], [0, 1]), ([0, 1], [0, 2, 1, 2]), ([0], [])],
)
def test_groups_that_do_not_fit_are_refused(columns, starts):
    columns, starts = np.array(columns, dtype=np.int64), np.array(starts, dtype=np.int64)
    with pytest.raises(ValueError, match=r"starts|column"):
        _core.group_prox(columns, starts, 1.0, np.zeros(5))


def test_a_dual_norm_that_underflows_is_a_number():
    # The quotient is rounded up to the smallest double, so that no entry seems to reach it.
    norm = rectiline.penalties.Slope([1.334e149]).dual_norm([6e-175])
    assert 0.0 <= norm <= 1e-323
