"""Pricing finds the worst atoms: compared with trying all of them."""

import itertools
import math

import numpy as np
import pytest

from rectiline.penalties import L1, Atom, GroupLinf, Penalty, Slope

from .cases import NORMS, PENALTIES

every_penalty = pytest.mark.parametrize("case", PENALTIES, ids=lambda case: case.name)


def payment(atom: Atom, q: np.ndarray) -> float:
    return float(atom.signs @ q[atom.columns])


def largest_excess(penalty: Penalty, q: np.ndarray) -> float:
    """Try every sign vector on every set of columns, at its directional derivative at 0."""
    worst = 0.0
    for signs in itertools.product((-1.0, 0.0, 1.0), repeat=q.size):
        atom = np.array(signs)
        if atom.any():
            tiny = 1e-9
            worst = max(worst, atom @ q - penalty.value(tiny * atom) / tiny)
    return worst


@every_penalty
def test_atoms_report_what_they_cost(case):
    for seed in range(4):
        q = case.point(seed, scale=3.0)
        atoms = case.penalty.price(q, k=10)
        for atom in atoms:
            direction = np.zeros(case.n_features)
            direction[atom.columns] = atom.signs
            assert set(np.unique(np.abs(atom.signs))) == {1.0}
            assert case.penalty.value(1e-9 * direction) == pytest.approx(1e-9 * atom.cost, rel=1e-6)
            assert atom.excess == pytest.approx(payment(atom, q) - atom.cost, abs=1e-12)
            assert atom.excess > 0.0
        assert len({tuple(np.sort(atom.columns)) for atom in atoms}) == len(atoms)


@every_penalty
def test_no_atom_is_found_exactly_when_zero_is_optimal(case):
    for seed in range(6):
        q = case.dual_point(seed, scale=2.0)
        atoms = case.penalty.price(q)
        stays = not case.penalty.prox(q, 1.0).any()
        assert (not atoms) == stays
        if case.is_norm:
            assert (not atoms) == (case.penalty.conjugate(q) == 0.0)
    assert case.penalty.price(np.zeros(case.n_features), k=3) == []


@pytest.mark.parametrize("case", NORMS, ids=lambda case: case.name)
def test_shrunk_points_have_no_violated_atom(case):
    q = case.dual_point(8, scale=50.0)
    assert case.penalty.price(case.penalty.shrink_factor(q) * q, k=5) == []


@pytest.mark.parametrize(
    "penalty", [Slope([1.5, 1.0, 0.9, 0.2]), Slope([1.0, 0.0, 0.0, 0.0]), Slope(np.full(4, 0.5))]
)
def test_slope_returns_the_most_violated_cut(penalty):
    for seed in range(10):
        q = np.random.default_rng(seed).normal(size=4) * 5.0
        atoms = penalty.price(q, k=4)
        assert atoms[0].excess == pytest.approx(largest_excess(penalty, q))
        assert [a.excess for a in atoms] == sorted((a.excess for a in atoms), reverse=True)
        assert penalty.price(q, k=1)[0].excess == atoms[0].excess


def test_groups_come_worst_first_and_free_columns_before_them():
    penalty = GroupLinf(1.0, [[0, 1], [2, 3], [5]])
    q = np.array([1.0, -1.0, 2.0, 2.0, -0.1, 0.5])
    atoms = penalty.price(q, k=5)
    assert [a.columns.tolist() for a in atoms] == [[4], [2, 3], [0, 1]]
    assert [a.signs.tolist() for a in atoms] == [[-1.0], [1.0, 1.0], [1.0, -1.0]]
    assert [a.cost for a in atoms] == [0.0, 1.0, 1.0]
    assert [a.excess for a in atoms] == pytest.approx([0.1, 3.0, 1.0])
    assert len(penalty.price(q, k=2)) == 2
    bound = largest_excess(penalty, np.where(np.arange(6) == 4, 0.0, q))
    assert sum(a.excess for a in atoms[1:]) == pytest.approx(bound)


def test_l1_orders_by_ratio_and_puts_free_columns_first():
    penalty = L1(2.0, weights=[1.0, 0.1, 0.0, 0.0, 1.0])
    q = np.array([5.0, -1.0, 0.3, -0.4, 1.9])
    atoms = penalty.price(q, k=10)
    assert [int(a.columns[0]) for a in atoms] == [3, 2, 1, 0]
    assert [float(a.signs[0]) for a in atoms] == [-1.0, 1.0, -1.0, 1.0]
    assert [a.excess for a in atoms] == pytest.approx([0.4, 0.3, 0.8, 3.0])


def test_atoms_rebuild_the_norm():
    # The norm is the cheapest way to write b with atoms: for Slope, layers of |b|.
    penalty = Slope([2.0, 1.0, 0.5])
    b = np.array([1.0, -3.0, 2.0])
    layers = [([1], 1.0), ([1, 2], 1.0), ([1, 2, 0], 1.0)]
    cost = sum(length * penalty.strengths[: len(c)].sum() for c, length in layers)
    assert penalty.value(b) == pytest.approx(cost)


@pytest.mark.parametrize("k", [0, -1])
def test_k_must_be_positive(k):
    with pytest.raises(ValueError, match=rf"price\(k={k}\): k must be at least 1"):
        L1(1.0).price([2.0], k)
    with pytest.raises(TypeError, match="k must be an integer"):
        L1(1.0).price([2.0], 1.5)


def test_pricing_a_strength_of_zero_lists_single_columns():
    q = np.array([0.0, -2.0, 1.0])
    for penalty in (L1(0.0), GroupLinf(0.0, [0, 0, 1])):
        atoms = penalty.price(q, k=9)
        assert [a.columns.tolist() for a in atoms] == [[1], [2]]
        assert penalty.dual_norm(q) == math.inf
        assert penalty.shrink_factor(q) == 0.0
