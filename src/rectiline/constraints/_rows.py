"""The rows A b + c >= 0, E b + f = 0 and bounds that every constraint turns into."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from rectiline._column_names import column_label
from rectiline._typing import AnyMatrix, Vector
from rectiline.backends import array_if_small
from rectiline.exceptions import InfeasibleError

# An entry of a CSR matrix takes 12 bytes against 8 and is read indirectly, so a matrix that is
# fuller than this is smaller or faster as an ndarray.
SPARSE_PAYS_BELOW = 0.25
_TERMS_WRITTEN = 4  # columns of a row that are written out


@dataclass(frozen=True, eq=False)
class ConstraintRows:
    """Hold the rows and bounds that one or several constraints put on the coefficients.

    Attributes
    ----------
    A : ndarray or scipy.sparse.csr_array of shape (m, d)
        Inequality rows: ``A @ coef + c >= 0``.
    c : ndarray of shape (m,)
    E : ndarray or scipy.sparse.csr_array of shape (k, d)
        Equality rows: ``E @ coef + f == 0``.
    f : ndarray of shape (k,)
    lower, upper : ndarray of shape (d,)
        ``lower <= coef <= upper``; infinite where there is no bound.

    Examples
    --------
    >>> rows = ConstraintRows.empty(2)
    >>> rows.A.shape, rows.E.shape, rows.lower
    ((0, 2), (0, 2), array([-inf, -inf]))
    """

    A: AnyMatrix
    c: Vector
    E: AnyMatrix
    f: Vector
    lower: Vector
    upper: Vector

    def __post_init__(self) -> None:
        d = self.lower.shape[0]
        expected = {
            "A": (self.c.shape[0], d),
            "c": (self.c.shape[0],),
            "E": (self.f.shape[0], d),
            "f": (self.f.shape[0],),
            "lower": (d,),
            "upper": (d,),
        }
        for name, shape in expected.items():
            if getattr(self, name).shape != shape:
                raise ValueError(
                    f"ConstraintRows: {name} has shape {getattr(self, name).shape}, "
                    f"expected {shape}."
                )

    @classmethod
    def make(
        cls,
        n_features: int,
        *,
        A: AnyMatrix | None = None,
        c: Vector | None = None,
        E: AnyMatrix | None = None,
        f: Vector | None = None,
        lower: Vector | None = None,
        upper: Vector | None = None,
    ) -> ConstraintRows:
        """Return rows with some parts given and the others putting no constraint."""
        return cls(
            A=np.empty((0, n_features)) if A is None else A,
            c=np.empty(0) if c is None else c,
            E=np.empty((0, n_features)) if E is None else E,
            f=np.empty(0) if f is None else f,
            lower=np.full(n_features, -np.inf) if lower is None else lower,
            upper=np.full(n_features, np.inf) if upper is None else upper,
        )

    @classmethod
    def empty(cls, n_features: int) -> ConstraintRows:
        """Return rows that put no constraint on ``n_features`` coefficients."""
        return cls.make(n_features)

    @property
    def n_features(self) -> int:
        """Number of coefficients."""
        return int(self.lower.shape[0])

    @property
    def is_empty(self) -> bool:
        """Whether nothing is constrained."""
        rows = self.c.shape[0] + self.f.shape[0]
        return rows == 0 and bool(np.all(self.lower == -np.inf) and np.all(self.upper == np.inf))

    def text(self, i: int, names: NDArray[Any] | None = None, equality: bool = False) -> str:
        """Return an inequality row, or an equality row, as it would be written by hand.

        >>> rows = ConstraintRows.make(2, A=np.array([[2.0, -1.0]]), c=np.array([-1.0]))
        >>> rows.text(0, np.array(["a", "b"]))
        '2 a - b >= 1'
        """
        row, constant = (self.E[[i]], self.f[i]) if equality else (self.A[[i]], self.c[i])
        numbers = np.asarray(row.toarray() if sparse.issparse(row) else row).ravel()
        value, sign = -constant, "==" if equality else ">="
        if not equality and (numbers <= 0).all():  # read better the other way round
            numbers, value, sign = -numbers, -value, "<="
        written = ""
        columns = np.flatnonzero(numbers)
        for j in columns[:_TERMS_WRITTEN]:
            size = abs(numbers[j])
            factor = "" if size == 1.0 else f"{size:g} "
            lead = "-" if numbers[j] < 0 else ""
            if written:
                lead = " - " if numbers[j] < 0 else " + "
            written += f"{lead}{factor}{f'b[{j}]' if names is None else names[j]}"
        if columns.size > _TERMS_WRITTEN:
            written += f" + {columns.size - _TERMS_WRITTEN} more terms"
        return f"{written or '0'} {sign} {value + 0.0:g}"


def combine(
    parts: Sequence[ConstraintRows], n_features: int, names: NDArray[Any] | None = None
) -> ConstraintRows:
    """Return one `ConstraintRows` that holds exactly where all the parts do.

    Rows are stacked in order and bounds intersected. The stacked matrix is sparse if one of its
    parts is, unless it is small or more than a quarter of its entries are stored. `names` are those
    of the columns, for messages.

    Raises
    ------
    ValueError
        If a part has another number of columns.
    InfeasibleError
        If the bounds of some column exclude each other.

    Examples
    --------
    >>> import numpy as np
    >>> from rectiline.constraints import Box, LinearInequality, combine
    >>> box = Box(lower=0.0, upper=[1.0, 2.0]).rows(2)
    >>> budget = LinearInequality([-1.0, -1.0], 2.5).rows(2)
    >>> both = combine([box, budget], 2)
    >>> both.A, both.c, both.upper
    (array([[-1., -1.]]), array([2.5]), array([1., 2.]))
    """
    for part in parts:
        if part.n_features != n_features:
            raise ValueError(
                f"combine: a constraint has {part.n_features} columns, expected {n_features}."
            )
    if not parts:
        return ConstraintRows.empty(n_features)
    whole = [ConstraintRows.empty(n_features), *parts]
    lower = np.max([part.lower for part in whole], axis=0)
    upper = np.min([part.upper for part in whole], axis=0)
    crossed = np.flatnonzero(lower > upper)
    if crossed.size:
        j = int(crossed[0])
        raise InfeasibleError(
            f"The constraints exclude each other at {column_label(j, names)}: lower bound "
            f"{lower[j]:g} > upper bound {upper[j]:g}.",
            None,
        )
    return ConstraintRows(
        A=_stack([part.A for part in whole]),
        c=np.concatenate([part.c for part in whole]),
        E=_stack([part.E for part in whole]),
        f=np.concatenate([part.f for part in whole]),
        lower=lower,
        upper=upper,
    )


def _stack(blocks: list[AnyMatrix]) -> AnyMatrix:
    filled = [array_if_small(block) for block in blocks if block.shape[0] > 0]
    if not filled:
        return blocks[0]
    if not any(sparse.issparse(block) for block in filled):
        return np.vstack(filled)
    stacked = sparse.csr_array(sparse.vstack([sparse.csr_array(b) for b in filled], format="csr"))
    if stacked.nnz > SPARSE_PAYS_BELOW * stacked.shape[0] * stacked.shape[1]:
        return stacked.toarray()
    return stacked
