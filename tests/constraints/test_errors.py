"""Wrong input is refused with a message that names the argument, the value and the rule."""

import math

import numpy as np
import pytest
from scipy import sparse

from rectiline.constraints import Box, LinearEquality, LinearInequality, Monotone


def spoilt(value, form="csr_matrix"):
    matrix = np.zeros((3, 4))
    matrix[0, 0], matrix[2, 1] = 1.0, value
    return getattr(sparse, form)(matrix)


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        ((math.nan,), ValueError, "Box: lower is NaN"),
        ((0.0, [1.0, math.nan]), ValueError, r"Box: upper\[1\] is NaN"),
        ((2.0, 1.0), ValueError, "lower bound 2 > upper bound 1 at every column"),
        (([0.0, 2.0], [1.0, 1.5]), ValueError, r"lower bound 2 > upper bound 1\.5 at column 1"),
        ((0.0, [1.0, -3.0]), ValueError, "lower bound 0 > upper bound -3 at column 1"),
        ((math.inf,), ValueError, "lower = inf leaves a coefficient no room"),
        ((0.0, [1.0, -math.inf]), ValueError, r"upper\[1\] = -inf leaves a coefficient no room"),
        (([0.0, 0.0], [1.0, 1.0, 1.0]), ValueError, "lower has 2 values but upper has 3"),
        (([[0.0]], 1.0), ValueError, r"lower must be a number or a vector, got shape \(1, 1\)"),
        (("low",), TypeError, "lower must hold numbers, got 'low'"),
    ],
)
def test_boxes_are_checked(arguments, error, message):
    with pytest.raises(error, match=message):
        Box(*arguments)


def test_a_box_must_fit_the_columns():
    with pytest.raises(ValueError, match="lower has 2 values but there are 3 columns"):
        Box([0.0, 0.0]).rows(3)
    with pytest.raises(ValueError, match="upper has 4 values but there are 3 columns"):
        Box(0.0, [1.0] * 4).rows(3)


def test_monotone_takes_a_truth_value():
    with pytest.raises(TypeError, match=r"Monotone\(increasing='up'\): must be True or False"):
        Monotone("up")
    assert Monotone(np.True_) == Monotone(True)


@pytest.mark.parametrize("n_features", [0, 1])
def test_too_few_coefficients_are_always_in_order(n_features):
    assert Monotone().rows(n_features).is_empty


@pytest.mark.parametrize(
    ("kind", "a", "c"), [(LinearInequality, "A", "c"), (LinearEquality, "E", "f")]
)
def test_linear_constraints_are_checked(kind, a, c):
    owner = kind.__name__
    for bad in (math.inf, -math.inf):
        with pytest.raises(ValueError, match=rf"{owner}: {a}\[1, 0\] = {bad}, but {a} must be fin"):
            kind([[0.0, 1.0], [bad, 0.0]], 0.0)
        with pytest.raises(ValueError, match=rf"{owner}: {c}\[1\] = {bad}, but {c} must be finite"):
            kind(np.eye(2), [0.0, bad])
    with pytest.raises(ValueError, match=rf"{owner}: {a}\[0\] is NaN"):
        kind([math.nan, 1.0], 0.0)
    with pytest.raises(ValueError, match=rf"{owner}: {c} is NaN"):
        kind([1.0, 1.0], math.nan)
    for bad in (math.nan, math.inf):
        with pytest.raises(ValueError, match=rf"{owner}: {a}\[2, 1\] = {bad}, but {a} must be fin"):
            kind(spoilt(bad), 0.0)
        with pytest.raises(ValueError, match=rf"{a}\[2, 1\]"):
            kind(spoilt(bad, "csc_array"), 0.0)
    with pytest.raises(ValueError, match=rf"{c} has shape \(3,\) but {a} has 2 rows"):
        kind(np.eye(2), np.ones(3))
    with pytest.raises(ValueError, match=rf"{c} has shape \(2, 1\) but {a} has 2 rows"):
        kind(np.eye(2), np.ones((2, 1)))
    with pytest.raises(ValueError, match=r"got shape \(1, 1, 2\)"):
        kind(np.ones((1, 1, 2)))
    with pytest.raises(ValueError, match=r"got shape \(\)"):
        kind(3.0)
    with pytest.raises(TypeError, match=f"{a} must hold numbers"):
        kind([["x", "y"]])
    with pytest.raises(ValueError, match=f"{owner}: {a} has 2 columns but there are 3 coeff"):
        kind(np.eye(2)).rows(3)


@pytest.mark.parametrize("kind", [LinearInequality, LinearEquality])
def test_a_scalar_serves_every_row_and_no_row_is_allowed(kind):
    shift = "c" if kind is LinearInequality else "f"
    assert getattr(kind(np.eye(2), 3), shift).tolist() == [3.0, 3.0]
    assert getattr(kind(np.eye(2)), shift).tolist() == [0.0, 0.0]
    assert kind(np.empty((0, 2))).rows(2).is_empty


def test_duplicate_sparse_entries_are_summed_and_zeros_dropped():
    entries = ([1.0, 2.0, 0.0], ([0, 0, 0], [1, 1, 0]))
    A = LinearInequality(sparse.coo_matrix(entries, shape=(1, 3))).A
    assert A.nnz == 1
    assert A.toarray().tolist() == [[0.0, 3.0, 0.0]]
