"""Wrong input is refused with a message that names the argument, the value and the rule."""

import math

import numpy as np
import pytest

from rectiline.penalties import L1, ElasticNet, GroupLinf, Ridge, Slope

from .cases import PENALTIES

BAD_NUMBERS = [-1.0, math.nan, math.inf, -math.inf]


@pytest.mark.parametrize("bad", BAD_NUMBERS)
@pytest.mark.parametrize(
    ("owner", "name", "make"),
    [
        ("Ridge", "strength", Ridge),
        ("L1", "strength", L1),
        ("ElasticNet", "l1", lambda v: ElasticNet(v, 1.0)),
        ("ElasticNet", "l2", lambda v: ElasticNet(1.0, v)),
        ("ElasticNet", "strength", lambda v: ElasticNet(1.0, 1.0).with_strength(v)),
        ("GroupLinf", "strength", lambda v: GroupLinf(v, [0])),
        ("GroupLinf", "strength", lambda v: GroupLinf(1.0, [0]).with_strength(v)),
        ("Slope", "strength", lambda v: Slope([1.0]).with_strength(v)),
        ("Slope.bh", "strength", lambda v: Slope.bh(2, 0.1, v)),
        ("Slope.oscar", "l1", lambda v: Slope.oscar(2, v, 1.0)),
        ("Slope.oscar", "slope", lambda v: Slope.oscar(2, 1.0, v)),
        ("Slope.two_level", "high", lambda v: Slope.two_level(2, 1, v, 0.0)),
        ("Slope.two_level", "low", lambda v: Slope.two_level(2, 1, 1.0, v)),
        ("Slope.sqrt_log", "strength", lambda v: Slope.sqrt_log(2, v)),
    ],
)
def test_numbers_must_be_finite_and_not_negative(owner, name, make, bad):
    with pytest.raises(ValueError) as caught:
        make(bad)
    assert str(caught.value) == f"{owner}({name}={bad!r}): {name} must be a finite number >= 0."


@pytest.mark.parametrize("bad", ["1", None, [1.0], True, 1j])
def test_numbers_must_be_numbers(bad):
    with pytest.raises(TypeError, match="strength must be a number"):
        Ridge(bad)


@pytest.mark.parametrize("good", [1, np.float32(1.0), np.int64(1), np.array(1.0)])
def test_numpy_numbers_are_numbers(good):
    assert Ridge(good) == Ridge(1.0)
    assert repr(Ridge(good)) == "Ridge(strength=1.0)"


@pytest.mark.parametrize("bad", BAD_NUMBERS)
def test_vectors_name_the_first_bad_value(bad):
    said = "is NaN" if math.isnan(bad) else rf"= {bad!r}, but \w+ must be finite and >= 0"
    with pytest.raises(ValueError, match=rf"L1: weights\[1\] {said}"):
        L1(1.0, [1.0, bad])
    with pytest.raises(ValueError, match=rf"Slope: strengths\[2\] {said}"):
        Slope([1.0, 1.0, bad])


@pytest.mark.parametrize("bad", [[], [[1.0, 2.0]], 3.0])
def test_vectors_must_be_vectors(bad):
    with pytest.raises(
        ValueError, match=r"strengths must (be one-dimensional|hold at least one number)"
    ):
        Slope(bad)
    with pytest.raises(TypeError, match="weights must hold numbers, got 'abc'"):
        L1(1.0, "abc")


def test_overflowing_weights():
    with pytest.raises(ValueError, match="strength times the largest weight"):
        L1(1e200, [1e200])


def test_slope_strengths_must_not_increase():
    with pytest.raises(ValueError, match=r"strengths\[1\] = 2.0 < strengths\[2\] = 2.5"):
        Slope([3.0, 2.0, 2.5, 1.0])


def test_named_slopes_check_their_arguments():
    for q in (0.0, 1.0, -0.5, math.nan):
        with pytest.raises(ValueError, match=rf"Slope.bh\(q={q!r}\): q must lie strictly"):
            Slope.bh(3, q)
    with pytest.raises(ValueError, match=r"n_features=0\): n_features must be at least 1"):
        Slope.oscar(0, 1.0, 1.0)
    with pytest.raises(TypeError, match="n_features must be an integer, got float"):
        Slope.sqrt_log(3.0)
    with pytest.raises(ValueError, match=r"Slope.two_level\(k=4\): k must not exceed n_features=3"):
        Slope.two_level(3, 4, 2.0, 1.0)
    with pytest.raises(ValueError, match=r"low=2.0 must not exceed high=1.0"):
        Slope.two_level(3, 1, 1.0, 2.0)


@pytest.mark.parametrize("penalty", [ElasticNet(0.0, 0.0), Slope([0.0, 0.0])])
def test_a_shapeless_penalty_cannot_be_scaled_up(penalty):
    with pytest.raises(ValueError, match=r"cannot be scaled to strength 2\.0"):
        penalty.with_strength(2.0)
    assert penalty.with_strength(0.0) == penalty


@pytest.mark.parametrize(
    ("groups", "error", "message"),
    [
        ([[0, 1], [2, 1]], ValueError, r"column 1 is in groups\[0\] and in groups\[1\]"),
        ([[0], [3, 3]], ValueError, r"column 3 is listed twice in groups\[1\]"),
        ([[0], []], ValueError, r"groups\[1\] is empty"),
        ([], ValueError, "at least one group"),
        (np.empty(0, dtype=int), ValueError, "at least one group"),
        ([[0], [-1]], ValueError, r"groups\[1\] holds column -1"),
        ([[0], [0.5]], TypeError, r"groups\[1\] = \[0.5\]"),
        ([[0], ["a"]], TypeError, "a group is a list of integers"),
        ([[True, False]], TypeError, "a group is a list of integers"),
        ([[0], 1], TypeError, r"groups\[1\] = 1, but other groups are lists"),
        ([0, None, 1], TypeError, r"groups\[1\] = None, but labels must be"),
        ([0.0, 1.0], TypeError, r"groups\[0\] = 0.0, but labels must be"),
        ([1, "1"], TypeError, "all integers or all strings"),
        ("aab", TypeError, "one label per column or a list of index lists"),
        (3, TypeError, "one label per column or a list of index lists"),
    ],
)
def test_groups_are_checked(groups, error, message):
    with pytest.raises(error, match=message):
        GroupLinf(1.0, groups)


@pytest.mark.parametrize(
    ("penalty", "n_features", "message"),
    [
        (L1(1.0, [1.0, 1.0]), 3, "L1 has 2 weights but there are 3 columns"),
        (Slope([2.0, 1.0]), 3, "Slope has 2 strengths but there are 3 columns"),
        (GroupLinf(1.0, [0, 1]), 3, "GroupLinf has 2 group labels but there are 3 columns"),
        (GroupLinf(1.0, [[0, 5]]), 5, "hold column 5 but there are 5 columns, counted from 0 to 4"),
    ],
)
def test_a_penalty_must_fit_the_columns(penalty, n_features, message):
    with pytest.raises(ValueError, match=message):
        penalty.check(n_features)
    with pytest.raises(ValueError, match=message):
        penalty.separable(n_features)
    with pytest.raises(ValueError, match=message):
        penalty.value(np.zeros(n_features))


def test_index_lists_leave_other_columns_free():
    penalty = GroupLinf(1.0, [[0, 5]])
    penalty.check(100)
    assert penalty.dual_norm(np.eye(100)[5]) == 1.0
    assert penalty.dual_norm(np.eye(100)[6]) == math.inf


@pytest.mark.parametrize("case", PENALTIES, ids=lambda case: case.name)
def test_methods_check_their_arguments(case):
    for step in (0.0, -1.0, math.nan, math.inf):
        with pytest.raises(ValueError, match="step must be a finite number > 0"):
            case.penalty.prox(case.point(0), step)
    for method in (case.penalty.value, case.penalty.conjugate, case.penalty.dual_norm):
        with pytest.raises(ValueError, match=r"must be a vector, got shape \(1, "):
            method([case.point(0)])


def test_extreme_numbers_give_no_warning():
    q = np.array([1e200, -1e200])
    assert L1(1e-200).dual_norm(q) == math.inf
    assert GroupLinf(1e-200, [0, 0]).dual_norm(q) == math.inf
    assert Slope([1e-200, 1e-200]).dual_norm(q) == math.inf
    assert Ridge(1.0).conjugate(q) == math.inf
    for penalty in (L1(1e-200), GroupLinf(1e-200, [0, 0]), Slope([1e-200, 1e-200])):
        assert penalty.shrink_factor(q) == 0.0
        assert not penalty.shrink_factor([math.nan, 1.0]) > 0.0
        assert penalty.conjugate([math.nan, 1.0]) == math.inf
