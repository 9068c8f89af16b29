"""Linear inequalities and equalities with a matrix that the user gives."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse

from rectiline._column_names import column_index
from rectiline._numbers import frozen
from rectiline._typing import Indices, Matrix, Vector
from rectiline.backends import array_if_small
from rectiline.constraints._base import Constraint, DesignLike
from rectiline.constraints._rows import ConstraintRows


class NamedRows(tuple[tuple[tuple[Any, float], ...], ...]):
    """Rows of (column, coefficient) pairs, whose columns are not looked up yet."""

    def matrix(self, names: NDArray[Any] | None, d: int, owner: str) -> sparse.csr_array:
        """Return the rows as a matrix with d columns."""
        made = sparse.lil_array((len(self), d))
        for k, row in enumerate(self):
            for column, coefficient in row:
                made[k, column_index(column, names, d, owner)] += coefficient
        return sparse.csr_array(made)

    def __repr__(self) -> str:
        return repr([dict(row) for row in self])


class LinearRows(Constraint):
    """Constraints with one matrix, the first argument of their constructor."""

    def with_names(self, names: NDArray[Any] | None, n_features: int) -> Constraint:
        """Return the constraint with columns that are given by name put at their positions."""
        name, rows = next(iter(self._arguments().items()))
        if not isinstance(rows, NamedRows):
            return self
        matrix = rows.matrix(names, n_features, type(self).__name__)
        return type(self)(**{**self._arguments(), name: matrix})

    def rows(self, n_features: int, design: DesignLike | None = None) -> ConstraintRows:
        """Return the matrix and the constants."""
        self._check_width(n_features)
        return ConstraintRows.make(n_features, **self._arguments())

    def _read(self, name: str, rows: Any, infinite: bool = False, **constants: Any) -> None:
        """Set the matrix, and constants with one number for each of its rows."""
        owner = type(self).__name__
        matrix, count = _matrix(owner, name, rows)
        self._set(**{name: matrix})
        for constant, given in constants.items():
            values = frozen(owner, constant, given, infinite=infinite)
            if values.ndim == 0:
                values = np.full(count, values)
                values.flags.writeable = False
            if values.shape != (count,):
                raise ValueError(
                    f"{owner}: {constant} has shape {values.shape} but {name} has {count} rows: "
                    "give one number per row, or one for all."
                )
            self._set(**{constant: values})

    def _check_width(self, n_features: int) -> None:
        owner, (name, matrix) = type(self).__name__, next(iter(self._arguments().items()))
        if isinstance(matrix, NamedRows):
            raise ValueError(f"{owner}: {name} names columns; call with_names(names, n_features).")
        if matrix.shape[1] != n_features:
            raise ValueError(
                f"{owner}: {name} has {matrix.shape[1]} columns but there are {n_features} "
                "coefficients."
            )


class LinearInequality(LinearRows):
    """Keep ``A @ b + c >= 0``.

    Parameters
    ----------
    A : array-like or sparse matrix of shape (m, n_features)
        One row per inequality; a vector is one row. Finite. Sparse stays sparse. A mapping from
        column to coefficient is one row, a list of mappings several.
    c : float or array-like of shape (m,), default 0.0
        One number for all rows or one for each. Finite.

    Examples
    --------
    The coefficients sum to at most 1:

    >>> from rectiline.constraints import LinearInequality
    >>> rows = LinearInequality([-1.0, -1.0, -1.0], 1.0).rows(3)
    >>> rows.A, rows.c
    (array([[-1., -1., -1.]]), array([1.]))
    """

    A: Matrix
    c: Vector

    def __init__(self, A: Any, c: ArrayLike = 0.0) -> None:
        self._read("A", A, c=c)


class LinearEquality(LinearRows):
    """Keep ``E @ b + f == 0``; note the sign of f. `LinearConstraint` takes the value instead.

    Parameters
    ----------
    E : array-like or sparse matrix of shape (k, n_features)
        One row per equality; a vector is one row. Finite. Sparse stays sparse. A mapping from
        column to coefficient is one row, a list of mappings several.
    f : float or array-like of shape (k,), default 0.0
        One number for all rows or one for each. Finite.

    Examples
    --------
    The coefficients sum to 1:

    >>> from rectiline.constraints import LinearEquality
    >>> rows = LinearEquality([1.0, 1.0, 1.0], -1.0).rows(3)
    >>> rows.E, rows.f
    (array([[1., 1., 1.]]), array([-1.]))
    """

    E: Matrix
    f: Vector

    def __init__(self, E: Any, f: ArrayLike = 0.0) -> None:
        self._read("E", E, f=f)


class LinearConstraint(LinearRows):
    """Keep ``lower <= A @ b <= upper``, as `scipy.optimize.LinearConstraint` does.

    Parameters
    ----------
    A : array-like or sparse matrix of shape (m, n_features)
        One row per constraint; a vector is one row. Finite. Sparse stays sparse. A mapping from
        column to coefficient is one row, a list of mappings several.
    lower, upper : float or array-like of shape (m,), default no bound
        One number for all rows or one for each. ``-inf`` below and ``inf`` above mean no bound;
        where both are equal the row is an equality.

    Examples
    --------
    The coefficients sum to 1:

    >>> from rectiline.constraints import LinearConstraint
    >>> rows = LinearConstraint([1.0, 1.0, 1.0], 1.0, 1.0).rows(3)
    >>> rows.E, rows.f
    (array([[1., 1., 1.]]), array([-1.]))
    """

    A: Matrix
    lower: Vector
    upper: Vector

    def __init__(self, A: Any, lower: ArrayLike = -np.inf, upper: ArrayLike = np.inf) -> None:
        self._read("A", A, infinite=True, lower=lower, upper=upper)
        low, high = self.lower, self.upper
        wrong = (low > high) | (low == np.inf) | (high == -np.inf)
        if wrong.any():
            row = int(np.argmax(wrong))
            relation = ">" if low[row] > high[row] else "and"
            raise ValueError(
                f"LinearConstraint: row {row} has lower bound {low[row]:g} {relation} upper bound "
                f"{high[row]:g}, which nothing satisfies."
            )

    @property
    def sides(self) -> tuple[Indices, Indices, Indices]:
        """Rows that are equations, other rows with a lower bound, and those with an upper one."""
        is_equal = self.lower == self.upper
        low, high = ~is_equal & (self.lower > -np.inf), ~is_equal & (self.upper < np.inf)
        return np.flatnonzero(is_equal), np.flatnonzero(low), np.flatnonzero(high)

    def rows(self, n_features: int, design: DesignLike | None = None) -> ConstraintRows:
        """Return equalities where both bounds are equal, otherwise one inequality per bound."""
        self._check_width(n_features)
        equal, low, high = self.sides
        A = array_if_small(self.A)
        above, below = A[low], -A[high]
        stack = sparse.vstack([above, below], format="csr") if sparse.issparse(A) else None
        return ConstraintRows.make(
            n_features,
            A=np.vstack([above, below]) if stack is None else sparse.csr_array(stack),
            c=np.concatenate([-self.lower[low], self.upper[high]]),
            E=A[equal],
            f=-self.lower[equal],
        )


def _matrix(owner: str, name: str, given: Any) -> tuple[Any, int]:
    """Return the rows, and how many there are."""
    is_mapping = isinstance(given, Mapping) and not sparse.issparse(given)
    listed = [given] if is_mapping else given
    if not isinstance(listed, NamedRows):
        named = isinstance(listed, list) and all(isinstance(row, Mapping) for row in listed)
        if not named or not listed:
            rows = _finite_rows(owner, name, given)
            return rows, int(rows.shape[0])
        listed = NamedRows(
            tuple((column, float(frozen(owner, name, value))) for column, value in row.items())
            for row in listed
        )
    return listed, len(listed)


def _finite_rows(owner: str, name: str, values: Any) -> Any:
    """Return a read-only float64 copy of ``values`` with two dimensions, sparse if it was."""
    if not sparse.issparse(values):
        rows = frozen(owner, name, values)
        if rows.ndim == 1:
            rows = rows[np.newaxis, :]
        if rows.ndim != 2 or rows.shape[1] == 0:
            raise ValueError(
                f"{owner}: {name} must be a matrix with one column per coefficient, or one row "
                f"as a vector, got shape {rows.shape}."
            )
        return rows
    if values.ndim == 1:
        values = values.reshape(1, -1)
    matrix = sparse.csr_array(values, dtype=np.float64, copy=True)
    matrix.sum_duplicates()
    bad = np.flatnonzero(~np.isfinite(matrix.data))
    if bad.size:
        entry = int(bad[0])
        row = int(np.searchsorted(matrix.indptr, entry, side="right")) - 1
        raise ValueError(
            f"{owner}: {name}[{row}, {int(matrix.indices[entry])}] = "
            f"{float(matrix.data[entry])!r}, but {name} must be finite."
        )
    matrix.eliminate_zeros()
    for part in (matrix.data, matrix.indices, matrix.indptr):
        part.flags.writeable = False
    return matrix
