"""`Nonnegative` and `Box`: bounds on single coefficients."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from rectiline._numbers import frozen, place_of
from rectiline._typing import Vector
from rectiline.constraints._base import Constraint, DesignLike
from rectiline.constraints._rows import ConstraintRows


class Nonnegative(Constraint):
    """Keep every coefficient >= 0.

    Examples
    --------
    >>> from rectiline.constraints import Nonnegative
    >>> Nonnegative().rows(2).lower
    array([0., 0.])
    """

    def rows(self, n_features: int, design: DesignLike | None = None) -> ConstraintRows:
        """Return lower bounds of 0 and no rows."""
        return ConstraintRows.make(n_features, lower=np.zeros(n_features))


class Box(Constraint):
    """Keep ``lower <= b <= upper``.

    Parameters
    ----------
    lower, upper : float or array-like of shape (n_features,), default no bound
        One number for all coefficients or one for each. ``-inf`` below and ``inf`` above mean
        no bound.

    Examples
    --------
    >>> from rectiline.constraints import Box
    >>> box = Box(lower=[0.0, -1.0], upper=1.0)
    >>> rows = box.rows(2)
    >>> rows.lower, rows.upper
    (array([ 0., -1.]), array([1., 1.]))
    """

    lower: Vector
    upper: Vector

    def __init__(self, lower: ArrayLike = -np.inf, upper: ArrayLike = np.inf) -> None:
        low = frozen("Box", "lower", lower, infinite=True)
        high = frozen("Box", "upper", upper, infinite=True)
        for name, bound, never in (("lower", low, np.inf), ("upper", high, -np.inf)):
            if bound.ndim > 1:
                raise ValueError(
                    f"Box: {name} must be a number or a vector, got shape {bound.shape}."
                )
            if np.any(bound == never):
                at = place_of(bound == never)
                raise ValueError(f"Box: {name}{at} = {never!r} leaves a coefficient no room.")
        if low.ndim == high.ndim == 1 and low.size != high.size:
            raise ValueError(f"Box: lower has {low.size} values but upper has {high.size}.")
        if np.any(low > high):
            column = int(np.argmax(low > high))
            below, above = (np.broadcast_to(b, np.broadcast(low, high).shape) for b in (low, high))
            raise ValueError(
                f"Box: lower bound {below.flat[column]:g} > upper bound {above.flat[column]:g} at "
                + (f"column {column}." if below.ndim else "every column.")
            )
        self._set(lower=low, upper=high)

    def rows(self, n_features: int, design: DesignLike | None = None) -> ConstraintRows:
        """Return the bounds and no rows."""
        for name, bound in (("lower", self.lower), ("upper", self.upper)):
            if bound.ndim == 1 and bound.size != n_features:
                raise ValueError(
                    f"Box: {name} has {bound.size} values but there are {n_features} columns."
                )
        return ConstraintRows.make(
            n_features,
            lower=np.broadcast_to(self.lower, n_features).copy(),
            upper=np.broadcast_to(self.upper, n_features).copy(),
        )
