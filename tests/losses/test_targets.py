"""Targets a user may give, and those that are refused with a reason."""

from __future__ import annotations

import numpy as np
import pytest

from rectiline.losses import Absolute, Hinge, PiecewiseLQ

PREDICTION = PiecewiseLQ([0], [(0, -1, 0), (0, 1, 0)], of="prediction")


@pytest.mark.parametrize(
    ("y", "classes", "signs"),
    [
        ([-1, 1, 1], [-1, 1], [-1, 1, 1]),
        ([0, 1, 0], [0, 1], [-1, 1, -1]),
        ([7.5, 2.5], [2.5, 7.5], [1, -1]),
        ([True, False], [False, True], [1, -1]),
        (["b", "a", "b"], ["a", "b"], [1, -1, 1]),
        (np.array(["no", "yes"], dtype=object), ["no", "yes"], [-1, 1]),
        (np.array([1, 0], dtype=object), [0, 1], [1, -1]),
        (np.array([200, 3], dtype=np.uint8), [3, 200], [1, -1]),
        (np.array([0, 1], dtype=np.float32), [0, 1], [-1, 1]),
        (np.array([2**62, 2**62 + 1]), [2**62, 2**62 + 1], [-1, 1]),
    ],
)
def test_two_labels_of_any_kind(y, classes, signs):
    assert Hinge().classes(y).tolist() == classes
    p, o = Hinge().encode(y)
    assert p.tolist() == signs and o.tolist() == [0.0] * len(signs)
    np.testing.assert_array_equal(Hinge().value(y, 0.5), 1 - 0.5 * np.array(signs))


def test_pandas_columns():
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame({"label": ["b", "a"], "level": [1.5, 2.5]})
    assert Hinge().encode(frame["label"])[0].tolist() == [1, -1]
    assert Hinge().encode(frame["label"].astype("category"))[0].tolist() == [1, -1]
    assert Absolute().encode(frame["level"])[1].tolist() == [1.5, 2.5]
    with pytest.raises(ValueError, match="missing"):
        Hinge().encode(pandas.array(["a", None, "b"], dtype="string").astype(object))


@pytest.mark.parametrize(
    ("y", "message"),
    [
        ([0, 1, 2], r"Hinge\(\): y has 3 distinct labels \(0, 1, 2\).* exactly two"),
        (list("abcdefg"), r"7 distinct labels \('a', 'b', 'c', 'd', 'e', \.\.\.\)"),
        ([1, 1], "y has one class only, 1; a margin loss needs exactly two distinct labels"),
        (["a"], "one class only, 'a'"),
        ([0.0, np.nan], r"y\[1\] is nan; labels must be finite"),
        ([0.0, -np.inf], r"y\[1\] is -inf"),
        (np.array(["a", None], dtype=object), r"y\[1\] is None; labels must not be missing"),
        (np.array(["a", np.nan], dtype=object), r"y\[1\] is nan"),
        (np.array(["a", 1], dtype=object), "comparable, got the types int, str"),
        ([1j, 2j], "got dtype complex128"),
        ([], "y is empty"),
        ([[0], [1]], r"one-dimensional.* got shape \(2, 1\). Use y.ravel\(\)"),
        (np.zeros((3, 2)), r"got shape \(3, 2\)\.$"),
        (3.0, r"got shape \(\)"),
    ],
)
def test_wrong_labels(y, message):
    with pytest.raises(ValueError, match=message):
        Hinge().encode(y)


@pytest.mark.parametrize(
    ("y", "numbers"),
    [
        ([1, 2], [1.0, 2.0]),
        ([True, False], [1.0, 0.0]),
        (np.array([1.5, 2], dtype=object), [1.5, 2.0]),
        (np.array([1.5, 2], dtype=np.float32), [1.5, 2.0]),
        ([3.0], [3.0]),
    ],
)
def test_numbers_of_any_kind(y, numbers):
    p, o = Absolute().encode(y)
    assert p.tolist() == [-1.0] * len(numbers) and o.tolist() == numbers
    assert p.dtype == o.dtype == np.float64


@pytest.mark.parametrize(
    ("y", "message"),
    [
        ([1.0, np.nan], r"Absolute\(\): y must hold finite numbers, but y\[1\] is nan"),
        ([np.inf], r"y\[0\] is inf"),
        (["a", "b"], "finite numbers, got 'a'"),
        (["1", "2"], "finite numbers, got '1'"),
        (np.array(["1", 2], dtype=object), "finite numbers, got '1'"),
        (np.array([1.0, None], dtype=object), r"finite numbers"),
        (np.array([1.0, [2]], dtype=object), r"finite numbers, got \[2\]"),
        ([1j], "dtype complex128"),
        ([], "y is empty"),
        ([[1.0, 2.0]], r"got shape \(1, 2\). Use y.ravel"),
    ],
)
def test_wrong_numbers(y, message):
    with pytest.raises(ValueError, match=message):
        Absolute().encode(y)


def test_a_loss_of_the_prediction_reads_only_the_length():
    p, o = PREDICTION.encode(["any", "thing"])
    assert p.tolist() == [1.0, 1.0] and o.tolist() == [0.0, 0.0]
    with pytest.raises(ValueError, match="y is empty"):
        PREDICTION.encode([])


def test_only_margins_have_classes():
    with pytest.raises(ValueError, match="loss of the residual; it has no classes"):
        Absolute().classes([0, 1])


def test_signs_may_be_of_one_class_where_the_loss_is_only_evaluated():
    np.testing.assert_array_equal(Hinge().value([1, 1], [0.0, 2.0]), [1.0, 0.0])
    np.testing.assert_array_equal(Hinge().value(-1, [0.0, 2.0]), [1.0, 3.0])
    with pytest.raises(ValueError, match="one class only, 0"):
        Hinge().value([0, 0], [0.0, 2.0])
    with pytest.raises(ValueError, match=r"y must hold finite numbers, but y is nan"):
        Absolute().value(np.nan, 0.0)
