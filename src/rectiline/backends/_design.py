"""`Design`: products with a dense or sparse X of either precision and any order."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from scipy import linalg

from rectiline import _core
from rectiline._costs import SECONDS_PER_ENTRY, SECONDS_PER_ENTRY_COPIED
from rectiline._lazy import cached_property
from rectiline._polling import checkpoint, time_left
from rectiline._typing import Indices, Vector

_ENTRIES_OF_A_TIMED_PASS = 1_000_000  # a pass over at least so many asks whether there is time
_ENTRIES_PER_GRAM_BLOCK = 1 << 17  # entries of X handled at once: a block that stays in the cache
_COLUMNS_PER_GATHERED_COLUMN = 50  # if at most one column in so many is used, they are gathered
_EIGEN_PRODUCTS_PER_CUBE = 3.0  # products of an eigendecomposition, relative to n**3
_RANK_TOLERANCE = 1e-13  # relative to the largest eigenvalue of X X'
_ENTRIES_CHEAPER_THAN_CALLS = 100_000  # a sparse matrix of at most so many may become an array,
_FILLED_SHARE = 0.1  # if this share of its entries is stored,
_TINY_ENTRIES = 2_000  # or if it has at most so many
_ENTRIES_WORTH_COMPRESSING = (500_000, 50_000_000)  # fewer are cheap, of more a copy is too large
_MOST_NONZERO_SHARE = 0.3  # an array with a larger share of nonzero entries is not mostly zero
_ROWS_TO_COUNT_ZEROS = 64
# A factor of X'X counts as sparse up to so many entries a column, and this share of the columns.
_ENTRIES_PER_SPARSE_COLUMN, _SPARSE_COLUMN_SHARE = 300, 0.1
# It is not looked for if a row has more squared entries for each column of X, or if X has more
# products of two entries of a row for each entry.
_ROW_SQUARES_PER_COLUMN, _ROW_PRODUCTS_PER_ENTRY = 20, 20
_SPARSE_PRODUCT_COST = 30.0  # one product of two stored entries, in flops of a dense product


class NormBounds(NamedTuple):
    """Upper bounds on norms of a design.

    ``|x_i|'|b|`` is at most ``rows[i]`` times the norm of ``scale * b``.

    Attributes
    ----------
    columns : ndarray of shape (n_features,)
        On the norms of the columns.
    scale : ndarray of shape (n_features,)
        About the size of each column, so that units of columns do not matter.
    rows : ndarray of shape (n_samples,)
        On the norms of the rows of ``X / scale``.
    """

    columns: Vector
    scale: Vector
    rows: Vector


def array_if_small(matrix: Any) -> Any:
    """Return a small sparse matrix without many zeros as an array, anything else as it is.

    A call of SciPy's takes 20 to 200 microseconds whatever the size of the matrix.
    """
    entries = matrix.shape[0] * matrix.shape[1]
    if not sp.issparse(matrix) or entries > _ENTRIES_CHEAPER_THAN_CALLS:
        return matrix
    few_zeros = entries <= _TINY_ENTRIES or matrix.nnz >= _FILLED_SHARE * entries
    return matrix.toarray() if few_zeros else matrix


def _weighted_squares(
    lines: Any,
    weights: Vector,
    least_block: int,
    columns: Indices | None = None,
    shift: NDArray[np.float64] | None = None,
    ones: bool = False,
) -> NDArray[np.float64]:
    """Return ``Z' diag(weights) Z`` for some columns Z of `lines`, less a shift of their shape.

    Blocks of lines keep the scaled copy small whatever the size of the matrix; there is a
    checkpoint before each for all that are left. One scaled copy times itself is a symmetric
    product, half the work of the product of two matrices. With `ones` Z has a column of ones last.
    """
    n, k = lines.shape[0], lines.shape[1] if columns is None else columns.size
    # At least as many lines as columns, so that adding up costs little beside the products.
    block = min(max(least_block, k, _ENTRIES_PER_GRAM_BLOCK // max(1, k)), n)
    is_sparse, root, order = sp.issparse(lines), np.sqrt(weights), k + ones
    by_columns = not is_sparse and lines.flags.f_contiguous
    buffer = np.empty((block, order), order="F" if by_columns else "C")
    total = np.zeros((order, order))
    for first in range(0, n, max(block, 1)):
        checkpoint(products=0.5 * (n - first) * order * order)
        some = slice(first, min(first + block, n))
        part = lines[some] if columns is None else lines[some][:, columns]
        part = part.toarray() if is_sparse else part
        out = buffer[: part.shape[0]]
        if shift is not None:
            part = np.subtract(part, shift[some], out=out[:, :k])
        np.multiply(part, root[some, None], out=out[:, :k])
        if ones:
            out[:, k] = root[some]
        if block >= n:  # without a sum
            return out.T @ out
        total += out.T @ out
    return total


def take_rows(X: Any, rows: Indices) -> Any:
    """Return ``X[rows]``, row after row if X is dense."""
    if sp.issparse(X) or X.dtype not in (np.float32, np.float64) or not X.dtype.isnative:
        return X[rows]
    if rows.size * X.shape[1] >= _ENTRIES_OF_A_TIMED_PASS:
        checkpoint(seconds=SECONDS_PER_ENTRY_COPIED * rows.size * X.shape[1])
    if rows.size and not (rows.min() >= 0 and rows.max() < X.shape[0]):
        raise ValueError(f"rows: one is out of range, there are {X.shape[0]}")
    if X.flags.c_contiguous:  # twice as quick as an index
        return X.take(rows, axis=0)
    return np.ascontiguousarray(X[rows])


class Design:
    """A view of ``X`` with the few products that problems and solvers need.

    Nothing is copied: dense arrays keep their order and precision, sparse ones their format.
    All vectors are float64 and sums are accumulated in float64, also for float32 data.

    Parameters
    ----------
    X : ndarray of float32 or float64, or scipy CSR or CSC matrix of the same
        As returned by `as_design`, which checks and converts what users pass.
    """

    def __init__(self, X: Any) -> None:
        self.X = X
        self.n_samples, self.n_features = (int(k) for k in X.shape)
        self.is_sparse = bool(sp.issparse(X))
        if self.is_sparse:
            pointers = X.indptr.astype(X.indices.dtype, copy=False)
            self.view = _core.DesignView.sparse(
                X.data, X.indices, pointers, self.n_samples, self.n_features, X.format == "csr"
            )
        else:
            self.view = _core.DesignView.dense(X)

    def __reduce__(self) -> tuple[Any, ...]:
        return Design, (self.X,)

    @property
    def n_stored(self) -> int:
        """Number of stored entries: what one product costs."""
        return int(self.X.nnz) if self.is_sparse else self.n_samples * self.n_features

    def _begin_pass(self) -> None:
        """Ask whether there is time for a pass over X, where it takes any."""
        if self.n_stored >= _ENTRIES_OF_A_TIMED_PASS:
            checkpoint(seconds=SECONDS_PER_ENTRY * self.n_stored)

    def dot(self, coef: Vector) -> Vector:
        """Return ``X @ coef``."""
        self._begin_pass()
        return self.view.dot(coef)

    def tdot(self, weights: Vector) -> Vector:
        """Return ``X.T @ weights``."""
        self._begin_pass()
        return self.view.tdot(weights)

    def both(self, coef: Vector, weights: Vector) -> tuple[Vector, Vector]:
        """Return ``(X @ coef, X.T @ weights)``, in one pass over X where its storage allows.

        Few columns in use are gathered for the first product. Nothing is remembered: equal
        arguments give equal bits, in any order of calls and from any thread.
        """
        if self.n_stored >= _ENTRIES_OF_A_TIMED_PASS and not (coef.any() or weights.any()):
            return np.zeros(self.n_samples), np.zeros(self.n_features)
        if self.n_features >= _COLUMNS_PER_GATHERED_COLUMN and not self.is_sparse:
            support = np.flatnonzero(coef)
            if support.size * _COLUMNS_PER_GATHERED_COLUMN <= self.n_features:
                return self.dense_columns(support) @ coef[support], self.tdot(weights)
        self._begin_pass()
        z, q = self.view.both(coef, weights)
        return z, q

    @cached_property
    def _moments(self) -> tuple[Vector, Vector, Vector, Vector, Vector]:
        """Sums, squares, scales and norms of the columns, and norms of the rows of X / scale."""
        return self.view.moments()

    @property
    def column_sums(self) -> Vector:
        """Sum of each column; NaN or infinity in X shows up here."""
        return self._moments[0]

    def column_means(self) -> Vector:
        """Mean of each column."""
        return self.column_sums / self.n_samples

    @cached_property
    def column_counts(self) -> Indices:
        """Number of entries of each column that are not zero."""
        if self.is_sparse:
            return np.bincount(self.X.tocsr().indices, minlength=self.n_features)
        return np.asarray(np.count_nonzero(self.X, axis=0))

    def column_squares(self, weights: Vector | None = None) -> Vector:
        """Return ``sum_i weights_i X_ij**2`` for each column j."""
        if weights is None:
            return self._moments[1].copy()
        self._begin_pass()
        return self.view.column_squares(weights)

    def row_squares(self, scale: Vector | None = None) -> Vector:
        """Return ``sum_j X_ij**2 scale_j`` for each row i."""
        self._begin_pass()
        return self.view.row_squares(np.ones(self.n_features) if scale is None else scale)

    @property
    def norm_bounds(self) -> NormBounds:
        """Upper bounds on the norms of columns and rows; bound rounding errors of products."""
        _, _, scale, columns, rows = self._moments
        return NormBounds(columns, scale, rows)

    @cached_property
    def row_gram(self) -> NDArray[np.float64]:
        """``X X'`` as a dense matrix, computed in float64."""
        return self.weighted_kernel(np.ones(self.n_features))

    @cached_property
    def row_space(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Rows ``Z = V diag(s)`` with the inner products of those of X, and ``V diag(1/s)``.

        By one product ``X X' = V diag(s^2) V'`` and its decomposition; remembered, because problems
        at many strengths and on many folds look at one design.
        """
        # LAPACK cannot be interrupted: better not to begin what cannot be finished in time.
        checkpoint(products=_EIGEN_PRODUCTS_PER_CUBE * float(self.n_samples) ** 3)
        gram = self.row_gram
        if not np.isfinite(gram).all():
            raise FloatingPointError("Products of rows of X are too large for a float64.")
        driver = "evd" if self.n_samples > 1 else "ev"  # SciPy 1.13 has too little room for one
        squares, vectors = linalg.eigh(gram, driver=driver, check_finite=False)
        keep = squares > _RANK_TOLERANCE * max(float(squares[-1]), 1e-300)
        if not keep.any():
            keep[-1] = True
        size = np.sqrt(np.maximum(squares[keep], 1e-300))
        return np.ascontiguousarray(vectors[:, keep] * size), vectors[:, keep] / size

    def mean_row_square(self, scale: Vector) -> float:
        """Return the mean of ``sum_j X_ij**2 scale_j`` over the rows."""
        return float(self._moments[1].dot(scale)) / self.n_samples

    def weighted_gram(
        self, weights: Vector, columns: Indices, intercept: bool, centre: Vector | None = None
    ) -> NDArray[np.float64]:
        """Return ``Z' diag(weights) Z`` for ``Z = X[:, columns]``, a column of ones last if asked.

        Weights must not be negative. With `centre`, one number per column of Z, those are
        subtracted from the columns first (dense X only).
        """
        k = columns.size
        if self.is_sparse and centre is None and self._sparse_gram_pays:
            return self._sparse_gram(weights, columns, intercept)
        some = None if k == self.n_features else columns
        shift = None if centre is None else np.broadcast_to(centre, (self.n_samples, k))
        return _weighted_squares(self.X, weights, 256, some, shift, intercept)

    def weighted_kernel(self, weights: Vector, centre: Vector | None = None) -> NDArray[np.float64]:
        """Return the n x n matrix ``X diag(weights) X'``; weights must not be negative.

        With `centre` those numbers are subtracted from the columns first (dense X only).
        """
        if self.is_sparse and centre is None:
            scaled = sp.csr_array(self.X.multiply(np.sqrt(weights)))
            return np.asarray((scaled @ scaled.T).toarray())
        by_column = self.X.T
        shift = None if centre is None else np.broadcast_to(centre[:, None], by_column.shape)
        return _weighted_squares(by_column, weights, 64, shift=shift)

    def dense_columns(self, columns: Indices) -> NDArray[np.float64]:
        """Return a dense float64 copy of some columns."""
        part = self.X[:, columns]
        return np.asarray(part.toarray() if self.is_sparse else part, dtype=np.float64)

    @cached_property
    def _sparse_gram_pays(self) -> bool:
        """Whether multiplying entry by entry beats dense blocks for ``X' D X``."""
        stored = np.diff(self.X.indptr).astype(np.float64)
        if self.X.format == "csc":  # rows are not at hand: suppose that they are evenly filled
            products = float(stored.sum()) ** 2 / self.n_samples
        else:
            products = float(stored @ stored)
        return products * _SPARSE_PRODUCT_COST < float(self.n_samples) * self.n_features**2

    def _sparse_gram(
        self, weights: Vector, columns: Indices, intercept: bool
    ) -> NDArray[np.float64]:
        part: Any = self.by_rows.X
        if columns.size < self.n_features:
            part = part[:, columns]
        if not part.has_canonical_format:
            part = part.copy()
            part.sum_duplicates()
        return np.asarray(Design(part).view.gram(weights, intercept))

    @property
    def by_rows(self) -> Design:
        """This matrix with cheap access to its rows.

        Only a CSC matrix needs a copy for that (in CSR form); everything else returns itself.
        """
        return self._copy_by_rows if self.is_sparse and self.X.format == "csc" else self

    @cached_property
    def without_zeros(self) -> Design:
        """Rows of entries that are not zero where a large array has few of them, else `by_rows`.

        Images and counts are often stored as arrays that are mostly zero.
        """
        step = max(self.n_samples // _ROWS_TO_COUNT_ZEROS, 1)
        least, most = _ENTRIES_WORTH_COMPRESSING
        fits = not self.is_sparse and least <= self.n_samples * self.n_features <= most
        if not fits or np.mean(self.X[::step] != 0) >= _MOST_NONZERO_SHARE:
            return self.by_rows
        at = np.flatnonzero(self.X != 0)
        begin = self.n_features * np.arange(self.n_samples + 1)
        starts = np.searchsorted(at, begin)
        columns = (at - np.repeat(begin[:-1], np.diff(starts))).astype(np.int32)
        entries = np.ascontiguousarray(self.X).ravel()[at]
        return Design(sp.csr_array((entries, columns, starts.astype(np.int32)), shape=self.X.shape))

    @cached_property
    def _copy_by_rows(self) -> Design:
        return Design(self.X.tocsr())

    @property
    def has_sparse_squares(self) -> bool:
        """Whether a factor of X'X has few entries a column: fixed effects, trends, graphs."""
        return self.normal_equations is not None

    @cached_property
    def normal_equations(self) -> Any:
        """Normal equations with the structure of a sparse factor, or None if it is not sparse."""
        if not self.is_sparse:
            return None
        X = self.by_rows.X
        stored, most = np.diff(X.indptr).astype(float), _ROW_SQUARES_PER_COLUMN * self.n_features
        if stored.max(initial=0.0) ** 2 > most or stored @ stored > _ROW_PRODUCTS_PER_ENTRY * X.nnz:
            return None
        checkpoint(seconds=SECONDS_PER_ENTRY_COPIED * X.nnz)
        begin, columns = X.indptr.astype(np.int64), X.indices.astype(np.int64)
        values = X.data.astype(np.float64)
        equations = _core.NormalEquations(begin, columns, values, self.n_features, False)
        entries = min(_ENTRIES_PER_SPARSE_COLUMN, _SPARSE_COLUMN_SHARE * self.n_features)
        found = equations.analyse(entries * self.n_features, time_left())
        checkpoint()
        return equations if found else None

    def __repr__(self) -> str:
        kind = self.X.format if self.is_sparse else "dense"
        return f"Design({self.n_samples} x {self.n_features}, {kind}, {self.X.dtype})"
