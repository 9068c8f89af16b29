"""Linear inequalities and equalities, as the user writes them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from rectiline.constraints._base import Constraint, DesignLike
from rectiline.constraints._checks import Vector, finite, finite_rows
from rectiline.constraints._rows import ConstraintRows, Matrix


class LinearInequality(Constraint):
    """Keep ``A @ b + c >= 0``.

    Parameters
    ----------
    A : array-like or sparse matrix of shape (m, n_features)
        One row per inequality; a vector is one row. Finite. Sparse stays sparse.
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
        matrix, shift = _read("LinearInequality", ("A", A), ("c", c))
        self._set(A=matrix, c=shift)

    def rows(self, n_features: int, design: DesignLike | None = None) -> ConstraintRows:
        """Return A and c."""
        _fit("LinearInequality", "A", self.A, n_features)
        return ConstraintRows.make(n_features, A=self.A, c=self.c)

    def _arguments(self) -> Mapping[str, Any]:
        return {"A": self.A, "c": self.c}


class LinearEquality(Constraint):
    """Keep ``E @ b + f == 0``.

    Parameters
    ----------
    E : array-like or sparse matrix of shape (k, n_features)
        One row per equality; a vector is one row. Finite. Sparse stays sparse.
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
        matrix, shift = _read("LinearEquality", ("E", E), ("f", f))
        self._set(E=matrix, f=shift)

    def rows(self, n_features: int, design: DesignLike | None = None) -> ConstraintRows:
        """Return E and f."""
        _fit("LinearEquality", "E", self.E, n_features)
        return ConstraintRows.make(n_features, E=self.E, f=self.f)

    def _arguments(self) -> Mapping[str, Any]:
        return {"E": self.E, "f": self.f}


def _read(owner: str, rows: tuple[str, Any], shifts: tuple[str, Any]) -> tuple[Matrix, Vector]:
    matrix, shift = finite_rows(owner, *rows), finite(owner, *shifts)
    if shift.ndim == 0:
        shift = np.full(matrix.shape[0], shift)
        shift.flags.writeable = False
    if shift.shape != (matrix.shape[0],):
        raise ValueError(
            f"{owner}: {shifts[0]} has shape {shift.shape} but {rows[0]} has {matrix.shape[0]} "
            f"rows: give one number per row, or one for all."
        )
    return matrix, shift


def _fit(owner: str, name: str, matrix: Matrix, n_features: int) -> None:
    if matrix.shape[1] != n_features:
        raise ValueError(
            f"{owner}: {name} has {matrix.shape[1]} columns but there are {n_features} "
            "coefficients."
        )
