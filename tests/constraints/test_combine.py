"""Merging rows: order, bounds, and what stays sparse."""

import numpy as np
import pytest
from scipy import sparse

from rectiline.constraints import (
    Box,
    ConstraintRows,
    LinearConstraint,
    LinearEquality,
    LinearInequality,
    Monotone,
    Nonnegative,
    combine,
)


def test_nothing_to_combine():
    rows = combine([], 3)
    assert rows.is_empty
    assert rows.A.shape == rows.E.shape == (0, 3)


def test_rows_are_stacked_in_order_and_bounds_intersected():
    rows = combine(
        [
            LinearInequality([1.0, 2.0], 3.0).rows(2),
            Nonnegative().rows(2),
            LinearEquality([[1.0, 1.0]], -1.0).rows(2),
            LinearInequality([[4.0, 5.0], [6.0, 7.0]], [8.0, 9.0]).rows(2),
            Box(-1.0, [2.0, 5.0]).rows(2),
        ],
        2,
    )
    assert rows.A.tolist() == [[1.0, 2.0], [4.0, 5.0], [6.0, 7.0]]
    assert rows.c.tolist() == [3.0, 8.0, 9.0]
    assert rows.E.tolist() == [[1.0, 1.0]]
    assert rows.f.tolist() == [-1.0]
    assert rows.lower.tolist() == [0.0, 0.0]
    assert rows.upper.tolist() == [2.0, 5.0]
    assert not rows.is_empty


def test_sparse_stays_sparse_where_it_pays():
    chain, dense = Monotone().rows(200), LinearInequality(np.ones(200), 1.0).rows(200)
    rows = combine([dense, chain, Nonnegative().rows(200)], 200)
    assert isinstance(rows.A, sparse.csr_array)
    assert rows.A.shape == (200, 200)
    expected = np.vstack([dense.A, chain.A.toarray()])
    np.testing.assert_array_equal(rows.A.toarray(), expected)
    assert isinstance(rows.E, np.ndarray)


def test_a_full_or_tiny_sparse_matrix_becomes_an_ndarray():
    rows = combine([LinearInequality(sparse.csr_matrix(np.ones((400, 400)))).rows(400)], 400)
    assert isinstance(rows.A, np.ndarray)
    for size, stored in ((5, np.ndarray), (100, sparse.csr_array)):
        eye = sparse.eye(size, format="csr")
        rows = combine([LinearEquality(eye).rows(size)], size)
        assert isinstance(rows.E, stored)
        np.testing.assert_array_equal(rows.E @ np.eye(size), np.eye(size))
        both = LinearConstraint(eye, -1.0, np.full(size, 2.0)).rows(size)
        assert isinstance(both.A, stored)
        np.testing.assert_array_equal(
            both.A @ np.eye(size),
            np.vstack([np.eye(size)] * 2) * np.repeat([1.0, -1.0], size)[:, None],
        )


def test_bounds_that_exclude_each_other():
    parts = [Box([0.0, 2.0], np.inf).rows(2), Box(-np.inf, 1.0).rows(2)]
    with pytest.raises(ValueError, match="column 1: lower bound 2 > upper bound 1"):
        combine(parts, 2)
    with pytest.raises(ValueError, match="column 'age': lower bound 2 > upper bound 1"):
        combine(parts, 2, np.array(["sex", "age"]))
    assert combine([Box(1.0, 2.0).rows(1), Box(2.0, 3.0).rows(1)], 1).lower.tolist() == [2.0]


def test_other_numbers_of_columns():
    with pytest.raises(ValueError, match="a constraint has 3 columns, expected 2"):
        combine([Nonnegative().rows(3)], 2)


def test_rows_check_their_shapes():
    with pytest.raises(ValueError, match=r"A has shape \(1, 3\), expected \(1, 2\)"):
        ConstraintRows.make(2, A=np.ones((1, 3)), c=np.ones(1))
    with pytest.raises(ValueError, match=r"E has shape \(2, 2\), expected \(1, 2\)"):
        ConstraintRows.make(2, E=np.ones((2, 2)), f=np.ones(1))
    with pytest.raises(ValueError, match=r"upper has shape \(3,\), expected \(2,\)"):
        ConstraintRows.make(2, upper=np.ones(3))
