"""Penalties are values: immutable, comparable, printable, copyable."""

import copy
import math
import pickle

import numpy as np
import pytest

from rectiline.penalties import (
    L1,
    ElasticNet,
    GroupLinf,
    Penalty,
    Ridge,
    Slope,
    SparseGroupLinf,
)

from .cases import PENALTIES

KINDS = (Ridge, L1, ElasticNet, GroupLinf, Slope, SparseGroupLinf)

every_penalty = pytest.mark.parametrize("case", PENALTIES, ids=lambda case: case.name)


@every_penalty
def test_copies_and_pickles_are_equal(case):
    for twin in (
        pickle.loads(pickle.dumps(case.penalty)),
        copy.copy(case.penalty),
        copy.deepcopy(case.penalty),
    ):
        assert twin == case.penalty
        assert hash(twin) == hash(case.penalty)
        assert twin.value(case.point(0)) == case.penalty.value(case.point(0))
        with pytest.raises(AttributeError, match="immutable"):
            twin.strength = 2.0


@every_penalty
def test_short_representations_make_the_penalty_again(case):
    names = {kind.__name__: kind for kind in KINDS}
    assert eval(repr(case.penalty), names) == case.penalty


def test_all_are_penalties_and_differ():
    assert all(isinstance(case.penalty, Penalty) for case in PENALTIES)
    assert len({case.penalty for case in PENALTIES}) == len(PENALTIES)
    assert Ridge(1.0) != "Ridge(1.0)"


def test_long_arrays_are_abbreviated():
    assert repr(Slope(np.arange(1000, 0, -1))) == (
        "Slope(strengths=<1000 values: 1000.0, 999.0, ..., 1.0>)"
    )


def test_attributes_cannot_be_changed():
    weights = np.ones(2)
    penalty = L1(1.0, weights)
    weights[0] = 5.0
    assert penalty.weights.tolist() == [1.0, 1.0]
    with pytest.raises(ValueError, match="read-only"):
        penalty.weights[0] = 5.0
    with pytest.raises(AttributeError, match="immutable"):
        del penalty.strength


def test_group_labels_are_only_names():
    assert GroupLinf(1.0, [0, 0, 1]) == GroupLinf(1.0, ["b", "b", "a"])
    assert GroupLinf(1.0, [0, 0, 1]) == GroupLinf(1.0, np.array([True, True, False]))
    assert GroupLinf(1.0, [[2, 0], [1]]) == GroupLinf(1.0, [np.array([1]), range(0, 3, 2)])
    assert GroupLinf(1.0, np.array([[0, 1], [2, 3]])) == GroupLinf(1.0, [[0, 1], [2, 3]])
    assert GroupLinf(1.0, [0, 0, 1]) != GroupLinf(1.0, [0, 1, 1])
    assert GroupLinf(1.0, [0, 0, 1]) != GroupLinf(2.0, [0, 0, 1])
    assert [g.tolist() for g in GroupLinf(1.0, ["z", "a", "z"]).groups] == [[0, 2], [1]]


def test_named_slopes():
    assert Slope.oscar(3, 1.0, 2.0).strengths.tolist() == [5.0, 3.0, 1.0]
    assert Slope.two_level(3, 2, 4.0, 1.0).strengths.tolist() == [4.0, 4.0, 1.0]
    expected = [math.sqrt(math.log(2 * 3 / k)) for k in (1, 2, 3)]
    assert Slope.sqrt_log(3, 1.0).strengths == pytest.approx(expected)
    # 1.959964 is the 97.5 % point of the standard normal distribution.
    assert Slope.bh(1, 0.05).strengths == pytest.approx([1.959963984540054])
    b = np.array([1.0, -3.0, 2.0])
    pairs = max(1, 3) + max(1, 2) + max(3, 2)
    assert Slope.oscar(3, 0.5, 0.25).value(b) == pytest.approx(0.5 * 6 + 0.25 * pairs)


def test_slope_with_equal_strengths_is_l1():
    b, slope, lasso = np.array([1.0, -2.0, 0.5]), Slope([0.7] * 3), L1(0.7)
    assert slope.value(b) == pytest.approx(lasso.value(b))
    assert slope.prox(b, 1.1) == pytest.approx(lasso.prox(b, 1.1))
    assert slope.dual_norm(b) == pytest.approx(lasso.dual_norm(b))


@pytest.mark.parametrize(
    ("module", "penalty"),
    [("_l1", L1(2.0)), ("_ridge", Ridge(2.0)), ("_elastic_net", ElasticNet(1.0, 2.0))],
)
def test_pickles_of_0_2_0_find_classes_that_have_moved(module, penalty):
    old = pickle.dumps(penalty, protocol=0)
    old = old.replace(b"rectiline._immutable\nrebuild", b"rectiline.penalties._base\n_rebuild")
    old = old.replace(b"penalties._separable", b"penalties." + module.encode())
    assert b"penalties." + module.encode() in old
    assert b"penalties._base" in old
    assert pickle.loads(old) == penalty
