"""Fairness: centring, constant columns, tolerances, and sensitive columns given later."""

import math

import numpy as np
import pytest

from rectiline.constraints import Fairness

from .cases import DESIGN, GROUP, PAIR, D, Design, X


def test_rows_are_covariances_with_both_signs():
    rows = Fairness(GROUP, 0.25).rows(D, DESIGN)
    a = np.cov(X.T, GROUP, bias=True)[-1, :-1]
    np.testing.assert_allclose(rows.A, [a, -a], atol=1e-14)
    assert rows.c.tolist() == [0.25, 0.25]


def test_shifting_a_column_changes_nothing():
    near, far = Fairness(GROUP, 0.1).rows(D, DESIGN), Fairness(GROUP + 1e6, 0.1).rows(D, DESIGN)
    np.testing.assert_allclose(near.A, far.A, atol=1e-9)


def test_columns_with_large_means_are_centred_exactly_enough():
    # Without a second centring the rounding of the mean is multiplied by the mean of X.
    s = np.random.default_rng(0).random(1000) + 1e6
    matrix = 1e8 + np.zeros((1000, 1))
    rows = Fairness(s, 1.0).rows(1, Design(matrix))
    assert abs(rows.A[0, 0]) < 1e-6


@pytest.mark.parametrize("value", [0.0, 0.1, -1e9 / 3.0, 1e-300])
def test_a_constant_column_puts_no_constraint(value):
    rows = Fairness(np.full(30, value), 0.1).rows(D, DESIGN)
    assert rows.is_empty
    mixed = np.column_stack([np.full(30, value), GROUP])
    assert Fairness(mixed, [0.1, 0.2]).rows(D, DESIGN).c.tolist() == [0.2, 0.2]


def test_a_small_column_is_not_a_constant_one():
    assert Fairness(1e-15 * GROUP, 0.1).rows(D, DESIGN).A.shape == (2, D)


def test_zero_tolerance_is_one_equality_and_infinite_tolerance_none():
    rows = Fairness(PAIR, [0.0, math.inf]).rows(D, DESIGN)
    assert rows.A.shape == (0, D)
    assert rows.E.shape == (1, D)
    assert rows.f.tolist() == [0.0]


def test_sensitive_columns_may_be_given_later():
    later = Fairness(tolerance=[0.1, 0.2])
    assert later.sensitive is None
    assert later == Fairness(None, [0.1, 0.2])
    bound = later.bind(PAIR)
    assert bound == Fairness(PAIR, [0.1, 0.2])
    assert later.sensitive is None
    with pytest.raises(ValueError, match=r"no sensitive columns yet.*bind\(sensitive\)"):
        later.rows(D, DESIGN)
    with pytest.raises(ValueError, match="tolerance has 2 values but sensitive has 1 columns"):
        later.bind(GROUP)


def test_booleans_and_integers_are_numbers():
    assert Fairness(GROUP.astype(bool), 0.1) == Fairness(GROUP.astype(int), 0.1)


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        (([0.0, math.nan], 0.1), ValueError, r"sensitive\[1\] is NaN"),
        (([0.0, math.inf], 0.1), ValueError, r"sensitive\[1\] = inf, but sensitive must be finite"),
        (([[0.0], [math.nan]], 0.1), ValueError, r"sensitive\[1, 0\] is NaN"),
        ((["a", "b"], 0.1), TypeError, r"sensitive must hold numbers, got \['a', 'b'\]"),
        (([], 0.1), ValueError, r"got shape \(0,\)"),
        ((np.zeros((2, 2, 2)), 0.1), ValueError, r"got shape \(2, 2, 2\)"),
        (([0.0, 1.0], -0.1), ValueError, r"tolerance = -0\.1, but tolerance must be >= 0"),
        (([0.0, 1.0], [-0.1]), ValueError, r"tolerance\[0\] = -0\.1, but tolerance must be >= 0"),
        (([0.0, 1.0], math.nan), ValueError, "tolerance is NaN"),
        (([0.0, 1.0], [[0.1]]), ValueError, r"number or a vector, got shape \(1, 1\)"),
        (([0.0, 1.0], [0.1, 0.2]), ValueError, "tolerance has 2 values but sensitive has 1"),
        (([0.0, 1.0], 0.1, "odds"), ValueError, r"form='odds'\): form must be 'covariance'"),
    ],
)
def test_arguments_are_checked(arguments, error, message):
    with pytest.raises(error, match=message):
        Fairness(*arguments)


def test_the_data_must_fit():
    with pytest.raises(ValueError, match="sensitive has 29 rows but X has 30"):
        Fairness(GROUP[:-1], 0.1).rows(D, DESIGN)
    with pytest.raises(ValueError, match="depends on the data"):
        Fairness(GROUP, 0.1).rows(D)
    with pytest.raises(ValueError, match=f"n_features=3 but X has {D} columns"):
        Fairness(GROUP, 0.1).rows(3, DESIGN)
