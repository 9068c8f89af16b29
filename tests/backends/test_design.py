"""A design matrix multiplies the same way however it is stored, and copies nothing."""

from fractions import Fraction

import numpy as np
import pytest
from scipy import sparse

from rectiline.backends import Design, as_design, take_rows


def with_wide_indices(X):
    """Return a sparse matrix with 64-bit indices."""
    X = X.copy()
    X.indices, X.indptr = X.indices.astype(np.int64), X.indptr.astype(np.int64)
    return X


LAYOUTS = {
    "C": np.ascontiguousarray,
    "Fortran": np.asfortranarray,
    "strided rows": lambda X: np.repeat(X, 3, axis=0)[1::3],
    "strided columns": lambda X: np.repeat(X, 2, axis=1)[:, ::2],
    "strided Fortran": lambda X: np.asfortranarray(np.repeat(X, 2, axis=0))[::2],
    "strided both": lambda X: np.repeat(np.repeat(X, 2, axis=0), 3, axis=1)[::2, 1::3],
    "reversed": lambda X: np.ascontiguousarray(X[::-1, ::-1])[::-1, ::-1],
    "transposed": lambda X: np.ascontiguousarray(X.T).T,
    "CSR": sparse.csr_array,
    "CSC": sparse.csc_array,
    "CSR matrix": sparse.csr_matrix,
    "CSR 64": lambda X: with_wide_indices(sparse.csr_array(X)),
    "CSC 64": lambda X: with_wide_indices(sparse.csc_array(X)),
}
IN_PLACE = pytest.mark.parametrize("layout", LAYOUTS)
SIZES = [(1, 1), (3, 1), (1, 7), (5, 3), (37, 11), (300, 70)]


def entries(n, d, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d))
    X[rng.random((n, d)) < 0.5] = 0.0
    X[n // 2] = 0.0
    return X


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@IN_PLACE
def test_products(layout, dtype):
    for n, d in SIZES:
        plain = entries(n, d).astype(dtype)
        design = as_design(LAYOUTS[layout](plain))
        X = plain.astype(np.float64)
        rng = np.random.default_rng(1)
        b, g = rng.normal(size=d), rng.normal(size=n)
        close = {"rtol": 1e-12, "atol": 1e-12}
        np.testing.assert_allclose(design.dot(b), X @ b, **close)
        np.testing.assert_allclose(design.tdot(g), X.T @ g, **close)
        z, q = design.both(b, g)
        np.testing.assert_allclose(z, X @ b, **close)
        np.testing.assert_allclose(q, X.T @ g, **close)
        np.testing.assert_allclose(design.column_squares(g**2), (X**2).T @ g**2, **close)
        np.testing.assert_allclose(design.column_squares(), (X**2).sum(axis=0), **close)
        np.testing.assert_allclose(design.row_squares(b**2), (X**2) @ b**2, **close)
        np.testing.assert_allclose(design.row_squares(), (X**2).sum(axis=1), **close)
        np.testing.assert_allclose(design.column_means(), X.mean(axis=0), **close)


@IN_PLACE
def test_norm_bounds_hold_exactly(layout):
    """They bound sums of sizes, in any units of the columns, by little more than they have to."""
    rng = np.random.default_rng(2)
    for n, d in SIZES:
        units = 10.0 ** rng.integers(-6, 7, size=d)
        X = entries(n, d) * units
        norms = as_design(LAYOUTS[layout](X)).norm_bounds
        exact = [[abs(Fraction(x)) for x in row] for row in X.tolist()]
        b = rng.normal(size=d) / units
        scaled = sum((Fraction(s) * Fraction(x)) ** 2 for s, x in zip(norms.scale, b, strict=True))
        for row, bound in zip(exact, norms.rows.tolist(), strict=True):
            size = sum(x * abs(Fraction(y)) for x, y in zip(row, b.tolist(), strict=True))
            assert size**2 <= Fraction(bound) ** 2 * scaled
        for column, bound in zip(zip(*exact, strict=True), norms.columns.tolist(), strict=True):
            assert sum(x * x for x in column) <= Fraction(bound) ** 2
        if n > 1:
            typical = np.median(norms.rows) * np.linalg.norm(norms.scale * b)
            assert typical <= 10.0 * np.sqrt(d) * np.linalg.norm(b * units)


@pytest.mark.parametrize("layout", [name for name in LAYOUTS if "CS" not in name])
def test_copies_of_rows(layout):
    plain = entries(40, 9)
    X = as_design(LAYOUTS[layout](plain)).X
    rows = np.array([31, 2, 7, 7])
    found = take_rows(X, rows)
    assert found.dtype == X.dtype and found.flags.c_contiguous
    np.testing.assert_array_equal(found, X[rows])
    with pytest.raises(ValueError, match="out of range"):
        take_rows(X, np.array([0, 40]))


@IN_PLACE
@pytest.mark.parametrize("intercept", [False, True])
def test_weighted_gram(layout, intercept):
    plain = entries(400, 6)
    design = as_design(LAYOUTS[layout](plain))
    weight = np.random.default_rng(2).random(400)
    for columns in (np.arange(6), np.array([4, 1]), np.array([], dtype=np.intp)):
        Z = plain[:, columns]
        if intercept:
            Z = np.column_stack([Z, np.ones(400)])
        gram = design.weighted_gram(weight, columns, intercept)
        np.testing.assert_allclose(gram, Z.T @ (weight[:, None] * Z), rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@IN_PLACE
def test_nothing_is_copied(layout, dtype):
    X = LAYOUTS[layout](entries(20, 5).astype(dtype))
    design = as_design(X)
    if sparse.issparse(X):
        assert np.shares_memory(design.X.data, X.data)
        assert np.shares_memory(design.X.indices, X.indices)
        assert np.shares_memory(design.X.indptr, X.indptr)
    else:
        assert np.shares_memory(design.X, X)
    assert design.X.dtype == dtype


@IN_PLACE
def test_nothing_is_changed(layout):
    X = LAYOUTS[layout](entries(20, 5))
    parts = (X.data, X.indices, X.indptr) if sparse.issparse(X) else (X,)
    before = [part.copy() for part in parts]
    design = as_design(X)
    design.both(np.ones(5), np.ones(20))
    design.column_squares()
    for part, old in zip(parts, before, strict=True):
        np.testing.assert_array_equal(part, old)


def test_rows_of_a_column_matrix():
    X = entries(30, 4)
    design = as_design(sparse.csc_array(X))
    assert design.by_rows.X.format == "csr"
    np.testing.assert_allclose(design.by_rows.dot(np.ones(4)), X @ np.ones(4))
    dense = as_design(np.asfortranarray(X))
    assert dense.by_rows is dense


@pytest.mark.parametrize("kind", [int, bool, np.uint8, np.float16, np.longdouble, ">f8"])
def test_other_numbers_are_converted(kind):
    X = np.array([[1, 0], [0, 1], [1, 1]]).astype(kind)
    design = as_design(X)
    assert design.X.dtype == np.float64
    np.testing.assert_array_equal(design.dot(np.array([2.0, 3.0])), [2.0, 3.0, 5.0])


@pytest.mark.parametrize("format", ["coo", "lil", "dok", "bsr", "dia"])
def test_other_sparse_formats_are_converted(format):
    X = entries(12, 4)
    design = as_design(sparse.csr_array(X).asformat(format))
    np.testing.assert_allclose(design.dot(np.ones(4)), X @ np.ones(4))
    integers = as_design(sparse.csr_array((X != 0).astype(int)))
    np.testing.assert_allclose(integers.dot(np.ones(4)), (X != 0) @ np.ones(4))


def test_repeated_and_unsorted_entries_are_summed_in_a_copy():
    row, column = [0, 0, 1, 1], [1, 1, 2, 0]
    pointers = np.array([0, 2, 4])
    X = sparse.csr_array((np.array([1.0, 2.0, 5.0, 4.0]), np.array(column), pointers), shape=(2, 3))
    design = as_design(X)
    dense = np.zeros((2, 3))
    np.add.at(dense, (row, column), [1.0, 2.0, 5.0, 4.0])
    np.testing.assert_array_equal(design.column_squares(), (dense**2).sum(axis=0))
    np.testing.assert_array_equal(X.indices, column)
    assert X.nnz == 4


def test_a_list_and_a_design_are_taken():
    design = as_design([[1, 2], [3, 4]])
    assert as_design(design) is design
    assert isinstance(design, Design)
    assert "2 x 2" in repr(design) and "dense" in repr(design)
    assert "csr" in repr(as_design(sparse.csr_array(np.eye(2))))
    assert design.n_stored == 4


BAD = [
    (np.ones(3), "X must be a 2-D array .* got 1-D"),
    (np.ones((2, 2, 2)), "X must be a 2-D array .* got 3-D"),
    (3.0, "X must be a 2-D array"),
    (np.ones((0, 3)), "X has no rows"),
    (np.ones((3, 0)), "X has no columns"),
    (sparse.csr_array((0, 3)), "X has no rows"),
    (sparse.csr_array((3, 0)), "X has no columns"),
    (np.array([["a", "b"], ["c", "d"]]), "X must hold real numbers"),
    (np.array([[1, "b"], [2, 3]], dtype=object), "X must hold real numbers; got dtype object"),
    (np.array([[1 + 2j, 0]]), "X must hold real numbers; got dtype complex"),
    (sparse.csr_array(np.array([[1 + 2j, 0]])), "X must hold real numbers"),
    (np.array([["2020-01-01"]], dtype="datetime64[D]"), "X must hold real numbers"),
    (np.array([[1.0, 2.0], [3.0, np.nan]]), r"X contains NaN or infinity: X\[1, 1\] is nan"),
    (np.array([[1.0, -np.inf], [3.0, 1.0]]), r"X\[0, 1\] is -inf"),
    (np.array([[1.0, np.inf], [3.0, -np.inf]]), r"X\[0, 1\] is inf"),
    (np.array([[1.0], [np.nan]], dtype=np.float32), r"X\[1, 0\] is nan"),
    (np.array([[None, 1.0]]), r"X"),
    (sparse.csr_array(np.array([[0.0, 1.0], [np.nan, 0.0]])), r"X\[1, 0\] is nan"),
    (sparse.csc_array(np.array([[0.0, 1.0], [0.0, np.inf]])), r"X\[1, 1\] is inf"),
    ([[1.0, 2.0], [3.0]], "X"),
]


@pytest.mark.parametrize(("X", "message"), BAD, ids=[message for _, message in BAD])
def test_bad_input_is_refused(X, message):
    with pytest.raises(ValueError, match=message):
        as_design(X)


def test_messages_use_the_name_given():
    with pytest.raises(ValueError, match=r"^A has no rows"):
        as_design(np.ones((0, 2)), name="A")


def test_large_finite_numbers_are_named():
    with pytest.raises(ValueError, match="X: the sum of column 1 overflows"):
        as_design(np.array([[1.0, 1e308], [1.0, 1e308]]))


def test_an_object_array_of_numbers_is_taken():
    design = as_design(np.array([[1, 2.5], [3, 4]], dtype=object))
    np.testing.assert_array_equal(design.dot(np.ones(2)), [3.5, 7.0])


@pytest.mark.parametrize("share", [0.0, 0.1, 0.4, 0.9, 1.0])
def test_rows_without_weight_are_left_out(share):
    rng = np.random.default_rng(0)
    for n, d in [(1, 80), (3, 80), (4, 64), (37, 100), (203, 30)]:
        X = rng.normal(size=(n, d))
        g = rng.normal(size=n) * (rng.random(n) < share)
        np.testing.assert_allclose(Design(X).tdot(g), X.T @ g, atol=1e-12)


@pytest.mark.parametrize("storage", [sparse.csr_array, sparse.csc_array])
def test_weighted_gram_of_sparse_rows(storage):
    """Few entries per row: these are multiplied one by one, also in an unsorted order."""
    rng = np.random.default_rng(5)
    plain = np.where(rng.random((3000, 120)) < 0.03, rng.normal(size=(3000, 120)), 0.0)
    weight = rng.random(3000)
    design = Design(storage(plain))
    Z = np.column_stack([plain, np.ones(3000)])
    gram = design.weighted_gram(weight, np.arange(120), True)
    np.testing.assert_allclose(gram, Z.T @ (weight[:, None] * Z), rtol=1e-12, atol=1e-12)
    columns = rng.permutation(120)[:90]
    gram = design.weighted_gram(weight, columns, False)
    wanted = plain[:, columns].T @ (weight[:, None] * plain[:, columns])
    np.testing.assert_allclose(gram, wanted, rtol=1e-12, atol=1e-12)
