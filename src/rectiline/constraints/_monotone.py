"""`Monotone`: coefficients in increasing or decreasing order."""

from __future__ import annotations

import numpy as np
from scipy import sparse

from rectiline.constraints._base import Constraint, DesignLike
from rectiline.constraints._rows import ConstraintRows


class Monotone(Constraint):
    """Keep the coefficients in order, from small to large or the reverse.

    Parameters
    ----------
    increasing : bool, default True
        Whether coefficients may only grow, or only fall, from each column to the next.

    Examples
    --------
    >>> from rectiline.constraints import Monotone
    >>> Monotone().rows(3).A.toarray()
    array([[-1.,  1.,  0.],
           [ 0., -1.,  1.]])
    """

    increasing: bool

    def __init__(self, increasing: bool = True) -> None:
        if not isinstance(increasing, bool | np.bool_):
            raise TypeError(f"Monotone(increasing={increasing!r}): must be True or False.")
        self._set(increasing=bool(increasing))

    def rows(self, n_features: int, design: DesignLike | None = None) -> ConstraintRows:
        """Return one sparse row for each pair of neighbouring columns."""
        if n_features < 2:
            return ConstraintRows.empty(n_features)
        columns = sparse.csr_array(sparse.eye_array(n_features))
        A = (columns[1:] - columns[:-1]) * (1.0 if self.increasing else -1.0)
        return ConstraintRows.make(n_features, A=A, c=np.zeros(n_features - 1))
