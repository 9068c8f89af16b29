"""The numbers of a certificate, by hand."""

import dataclasses

import numpy as np
import pytest

from rectiline import Certificate, DualPoint, InfeasibilityCertificate, Problem
from rectiline.losses import Absolute, Hinge, Huber, Pinball, SquaredError
from rectiline.penalties import L1, Ridge
from rectiline.problems.proofs import prove


def test_dual_is_primal_minus_gap():
    proof = Certificate(primal=10.0, gap=1.0, violation=0.0)
    assert proof.dual == 9.0
    assert proof.relative_gap == 0.1


@pytest.mark.parametrize("unit", [1e-6, 1.0, 1e6])
def test_relative_gap_has_no_floor(unit):
    proof = Certificate(primal=2.0 * unit, gap=1e-3 * unit, violation=0.0, scale=5 * unit)
    assert proof.relative_gap == pytest.approx(5e-4)


def test_relative_gap_divides_by_the_larger_of_both_bounds():
    assert Certificate(primal=1.0, gap=5.0, violation=0.0).relative_gap == pytest.approx(5 / 4)
    assert Certificate(primal=-4.0, gap=1.0, violation=0.0).relative_gap == pytest.approx(1 / 5)


def test_an_optimum_of_zero_is_proved_to_the_rounding_of_the_data():
    tiny = Certificate(primal=1e-17, gap=1e-17, violation=0.0, scale=100.0)
    assert tiny.relative_gap == 1.0  # nothing is hidden here
    assert tiny.holds(1e-12)
    real = Certificate(primal=1e-9, gap=1e-9, violation=0.0, scale=100.0)
    assert not real.holds(1e-3)


def test_special_gaps():
    assert Certificate(1.0, np.inf, 0.0).relative_gap == np.inf
    assert Certificate(1.0, np.nan, 0.0).relative_gap == np.inf
    assert Certificate(0.0, 0.0, 0.0).relative_gap == 0.0
    assert Certificate(0.0, 0.0, 0.0).holds(1e-15)


def test_a_violated_constraint_is_no_proof():
    proof = Certificate(primal=1.0, gap=0.0, violation=0.1, relative_violation=0.05)
    assert not proof.holds(1e-6)
    assert proof.holds(1e-6, feasibility_tol=0.1)


def test_certificates_are_frozen():
    with pytest.raises(dataclasses.FrozenInstanceError):
        Certificate(1.0, 0.0, 0.0).gap = 2.0


def test_dual_points_shrink():
    point = DualPoint(np.array([1.0, -2.0]), np.array([4.0]), np.array([-6.0]))
    half = point.scaled(0.5)
    assert (half.sample.tolist(), half.inequality.tolist()) == ([0.5, -1.0], [2.0])
    assert half.equality.tolist() == [-3.0]
    assert point.scaled(1.0) is point
    empty = DualPoint(np.zeros(3))
    assert empty.inequality.size == empty.equality.size == 0


def test_infeasibility_certificate_needs_all_three():
    good = InfeasibilityCertificate(np.array([1.0]), np.zeros(0), -1.0, 0.0)
    assert good.proves
    for change in ({"value": 0.0}, {"residual": 1e-3}, {"inequality": np.array([-1.0])}):
        assert not dataclasses.replace(good, **change).proves


def test_a_small_support_vector_machine_by_hand():
    """Two points at 0 and 2: the widest margin has b = 1, b0 = -1, both multipliers 1/2."""
    problem = Problem(np.array([[0.0], [2.0]]), [-1, 1], loss=Hinge(), penalty=Ridge(1.0))
    proof = problem.certify([1.0], -1.0, [0.5, -0.5])
    assert (proof.primal, proof.violation) == (0.5, 0.0)
    assert proof.gap == proof.rounding < 4e-15
    # other multipliers: q = 2 a, D = 2 a - 2 a^2
    for a in (0.1, 0.25, 0.9):
        bound = problem.certify([1.0], -1.0, [a, -a]).dual
        assert bound == pytest.approx(2 * a - 2 * a * a)


def test_a_median_by_hand():
    """Without columns that matter, the intercept is a median and the bound is exact."""
    y = np.array([1.0, 2.0, 4.0, 8.0, 100.0])
    problem = Problem(np.zeros((5, 1)), y, loss=Absolute())
    proof = problem.certify([0.0], 4.0, [1.0, 1.0, 0.0, -1.0, -1.0])
    assert proof.primal == 105.0
    assert proof.gap == proof.rounding < 1e-14 * proof.primal


def test_the_intercept_is_repaired():
    """Multipliers that do not sum to zero are moved, not refused."""
    y = np.array([1.0, 2.0, 4.0, 8.0, 100.0])
    problem = Problem(np.zeros((5, 1)), y, loss=Absolute())
    proof, point = prove(problem, [0.0], 4.0, [1.0, 1.0, 0.7, -1.0, -1.0])
    assert point.sample.sum() == pytest.approx(0.0, abs=1e-15)
    assert proof.gap == pytest.approx(0.0, abs=1e-12)


def test_a_median_plus_a_lasso_shrinks():
    problem = Problem(np.array([[1.0], [-1.0]]), [3.0, -3.0], loss=Absolute(), penalty=L1(1.0))
    _, point = prove(problem, [1.0], 0.0, [-1.0, 1.0])
    q = -(point.sample[0] - point.sample[1])
    assert abs(q) <= 1.0 + 1e-15
    assert point.sample[0] == pytest.approx(-0.5)


def test_zero_multipliers_are_tried_as_well():
    """Where every sample is at its least loss, nothing but zero multipliers proves it."""
    X, y = np.array([[1.0], [-1.0]]), [1, -1]
    problem = Problem(X, y, loss=Hinge(), penalty=None, fit_intercept=False)
    proof = problem.certify([5.0], 0.0, [-0.3, 0.1])
    assert (proof.primal, proof.gap) == (0.0, 0.0)
    assert proof.holds(1e-12)


@pytest.mark.parametrize("unit", [1e-3, 1.0, 1e3])
@pytest.mark.parametrize("power", [1, 2])
def test_relative_gap_does_not_depend_on_the_unit_of_y(unit, power):
    rng = np.random.default_rng(0)
    X, y, g = rng.normal(size=(20, 3)), rng.normal(size=20), rng.normal(size=20)
    coef = rng.normal(size=3)
    gaps = []
    for u in (1.0, unit):
        loss = Pinball(0.7) if power == 1 else Huber(delta=u)
        penalty = Ridge(1.0 / u) if power == 1 else Ridge(1.0)
        problem = Problem(X, u * y, loss=loss, penalty=penalty)
        slope = 0.3 * g if power == 1 else 0.3 * u * g
        gaps.append(problem.certify(u * coef, 0.1 * u, slope).relative_gap)
    assert gaps[1] == pytest.approx(gaps[0], rel=1e-10)


def test_the_gap_of_a_good_answer_is_not_lost_in_rounding():
    """P and D are near 1e8 and agree to 1e-10 relative; their difference would be noise."""
    rng = np.random.default_rng(1)
    X = rng.normal(size=(50, 3))
    y = 1e4 * rng.normal(size=50)
    coef = np.linalg.solve(X.T @ X + np.eye(3), X.T @ y)
    problem = Problem(X, y, loss=SquaredError(), penalty=Ridge(1.0), fit_intercept=False)
    move = np.array([1e-4, 0.0, 0.0])
    proof = problem.certify(coef + move, 0.0, X @ coef - y)
    exact = 0.5 * move @ (X.T @ X + np.eye(3)) @ move
    assert proof.gap - proof.rounding == pytest.approx(exact, rel=1e-6)
    assert proof.rounding <= 1e-14 * proof.primal


def test_words_begin_with_the_relative_gap():
    good = Certificate(primal=2.0, gap=1e-8, violation=0.0)
    assert str(good) == (
        "relative gap 5.0e-09: the objective 2 is proved to lie at most 1.0e-08 above the optimum; "
        "no constraint is violated"
    )
    assert "but a constraint is violated by 3.0e-04" in str(Certificate(2.0, 1e-8, 3e-4))
    assert str(Certificate(np.inf, np.inf, np.inf)).startswith("no relative gap is proved")


def test_numbers_by_name():
    proof = Certificate(primal=2.0, gap=0.5, violation=0.25, relative_violation=0.125)
    table = proof.to_dict()
    assert all(type(value) is float for value in table.values())
    assert {k: table[k] for k in ("primal", "dual", "gap", "relative_gap", "violation")} == {
        "primal": 2.0,
        "dual": 1.5,
        "gap": 0.5,
        "relative_gap": 0.25,
        "violation": 0.25,
    }
