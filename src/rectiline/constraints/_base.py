"""The base class of all constraints, which turn into rows and bounds for `Problem`."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any, Protocol

from numpy.typing import NDArray

from rectiline._immutable import Immutable
from rectiline._immutable import rebuild as _rebuild  # noqa: F401  (pickles of 0.2.0 name it)
from rectiline._typing import Vector
from rectiline.constraints._rows import ConstraintRows


class DesignLike(Protocol):
    """What a constraint may ask of the data matrix X."""

    @property
    def n_samples(self) -> int:
        """Number of rows of X."""

    @property
    def n_features(self) -> int:
        """Number of columns of X."""

    def tdot(self, v: Vector, /) -> Vector:
        """Return X'v."""


class Constraint(Immutable, ABC):
    """Restrict the coefficients.

    Constraints are immutable; they can be compared, hashed, pickled and copied.
    """

    @abstractmethod
    def rows(self, n_features: int, design: DesignLike | None = None) -> ConstraintRows:
        """Return the constraint as rows and bounds on ``n_features`` coefficients.

        Parameters
        ----------
        n_features : int
            Number of coefficients.
        design : DesignLike, optional
            The data matrix; only constraints that depend on the data need it.

        Raises
        ------
        ValueError
            If the constraint is made for another number of coefficients or samples.
        """

    def with_names(self, names: NDArray[Any] | None, n_features: int) -> Constraint:
        """Return the constraint with columns that are given by name put at their positions."""
        return self
