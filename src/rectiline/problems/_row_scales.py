"""Constraint rows of extreme size, scaled by powers of two; used where a problem is made.

Squares of entries beyond 1e154 overflow and those below 1e-154 vanish. Rows of ordinary size are
left as they are, so that their multipliers are in the user's units; powers of two round nothing.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from scipy import sparse as sp

from rectiline._typing import Vector
from rectiline.constraints import ConstraintRows

__all__ = ["with_ordinary_rows"]

_ORDINARY = 40  # rows whose largest entry is within 2**-40 .. 2**40 stay as they are
_LARGEST = 1000  # exponent that scaled constants may have


def with_ordinary_rows(rows: ConstraintRows) -> ConstraintRows:
    """Return constraints that hold for the same coefficients, without rows of extreme size.

    Examples
    --------
    >>> import numpy as np
    >>> from rectiline.constraints import ConstraintRows
    >>> rows = ConstraintRows.make(2, A=np.array([[2.0**-700, 0.0]]), c=np.array([-(2.0**-700)]))
    >>> scaled = with_ordinary_rows(rows)
    >>> scaled.A, scaled.c
    (array([[1., 0.]]), array([-1.]))
    """
    A, c = _scaled(rows.A, rows.c)
    E, f = _scaled(rows.E, rows.f)
    if A is rows.A and E is rows.E:
        return rows
    return replace(rows, A=A, c=c, E=E, f=f)


def _scaled(matrix: Any, constant: Vector) -> tuple[Any, Vector]:
    if not constant.size or not matrix.shape[1]:
        return matrix, constant
    largest = abs(matrix).max(axis=1)
    largest = np.asarray(largest.toarray() if sp.issparse(largest) else largest).ravel()
    exponent = np.where(largest > 0, np.frexp(largest)[1] - 1, 0)
    exponent = np.where(np.abs(exponent) > _ORDINARY, exponent, 0)
    # A constant must stay a finite number: such a row is scaled less.
    room = np.where(constant != 0, np.frexp(constant)[1], -_LARGEST) - _LARGEST
    exponent = np.maximum(exponent, room)
    if not exponent.any():
        return matrix, constant
    if sp.issparse(matrix):
        each = np.repeat(exponent, np.diff(matrix.indptr))
        data = np.ldexp(matrix.data, -each)
        matrix = sp.csr_array((data, matrix.indices, matrix.indptr), shape=matrix.shape)
    else:
        matrix = np.ldexp(matrix, -exponent[:, None])
    return matrix, np.ldexp(constant, -exponent)
