"""`Fairness`: predictions that do not move with a sensitive column.

    | mean_i (s_i - mean s) x_i'b |  <=  tolerance        for each sensitive column s

With a = X'(s - mean s)/n these are the two rows a'b + tolerance >= 0 and -a'b + tolerance >= 0.
The intercept does not enter, because centred columns sum to zero.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from rectiline._numbers import frozen
from rectiline._typing import Vector
from rectiline.constraints._base import Constraint, DesignLike
from rectiline.constraints._rows import ConstraintRows

# A column that moves by less than this, relative to its size, is constant up to rounding.
CONSTANT_BELOW = 1e-12


class Fairness(Constraint):
    """Keep the covariance of the predictions with each sensitive column within a tolerance.

    A sensitive column that is constant puts no constraint, and neither does a tolerance of
    infinity. A tolerance of 0 asks for exactly no covariance and becomes one equality row.

    Parameters
    ----------
    sensitive : array-like of shape (n_samples,) or (n_samples, k), optional
        The sensitive columns as finite numbers; they are centred here. None means that they are
        given later, to `bind`.
    tolerance : float or array-like of shape (k,), default 0.0
        The largest covariance allowed, >= 0; one number for all columns or one for each.
    form : {"covariance"}
        What is bounded. Covariance is the only form.

    Examples
    --------
    >>> import numpy as np
    >>> from rectiline.constraints import Fairness
    >>> group = np.array([0.0, 0.0, 1.0, 1.0])
    >>> Fairness(group, tolerance=0.1)
    Fairness(sensitive=[0.0, 0.0, 1.0, 1.0], tolerance=0.1, form='covariance')
    >>> Fairness(tolerance=0.1).bind(group) == Fairness(group, tolerance=0.1)
    True
    """

    sensitive: Vector | None
    tolerance: Vector
    form: str

    def __init__(
        self,
        sensitive: ArrayLike | None = None,
        tolerance: ArrayLike = 0.0,
        form: str = "covariance",
    ) -> None:
        if form != "covariance":
            raise ValueError(f"Fairness(form={form!r}): form must be 'covariance'.")
        allowed = checked_tolerance("Fairness", tolerance)
        columns = None if sensitive is None else _columns(sensitive, allowed)
        self._set(sensitive=columns, tolerance=allowed, form=form)

    def bind(self, sensitive: ArrayLike) -> Fairness:
        """Return the constraint with the same tolerance on these sensitive columns."""
        return Fairness(sensitive, self.tolerance, self.form)

    def rows(self, n_features: int, design: DesignLike | None = None) -> ConstraintRows:
        """Return two inequality rows, or one equality row, per column that is not constant."""
        sensitive, X = given_data("Fairness", self.sensitive, n_features, design)
        columns = sensitive.reshape(X.n_samples, -1)
        tolerance = np.broadcast_to(self.tolerance, columns.shape[1])
        bounded: list[tuple[Vector, float]] = []
        for column, allowed in zip(columns.T, tolerance, strict=True):
            centred = _centred(column)
            if centred is not None:
                covariance = np.asarray(X.tdot(centred), dtype=np.float64) / X.n_samples
                bounded.append((covariance, float(allowed)))
        return bounded_rows(bounded, n_features)


def checked_tolerance(owner: str, tolerance: ArrayLike, most_dimensions: int = 1) -> Vector:
    """Return tolerances >= 0: one number, or a vector where that is allowed."""
    allowed = frozen(owner, "tolerance", tolerance, infinite=True, least=0.0)
    if allowed.ndim > most_dimensions:
        wanted = "a number or a vector" if most_dimensions else "one number"
        raise ValueError(f"{owner}: tolerance must be {wanted}, got shape {allowed.shape}.")
    return allowed


def given_data(
    owner: str, sensitive: Any, n_features: int, design: DesignLike | None
) -> tuple[NDArray[Any], DesignLike]:
    """Return the sensitive columns and X of a constraint if they are there and fit together."""
    if sensitive is None:
        raise ValueError(
            f"{owner} has no sensitive columns yet: make {owner}(sensitive, tolerance), or call "
            "bind(sensitive)."
        )
    if design is None:
        raise ValueError(f"{owner} depends on the data: rows(n_features, design) needs both.")
    if sensitive.shape[0] != design.n_samples:
        raise ValueError(
            f"{owner}: sensitive has {sensitive.shape[0]} rows but X has {design.n_samples}."
        )
    if n_features != design.n_features:
        raise ValueError(f"{owner}: n_features={n_features} but X has {design.n_features} columns.")
    return sensitive, design


def bounded_rows(bounded: list[tuple[Vector, float]], n_features: int) -> ConstraintRows:
    """Return ``|row @ b| <= tolerance`` for pairs of both: an equality where that is 0."""
    rows = [(sign * row, most) for row, most in bounded if 0 < most < np.inf for sign in (1, -1)]
    exact = [row for row, most in bounded if most == 0.0]
    return ConstraintRows.make(
        n_features,
        A=np.array([row for row, _ in rows]).reshape(-1, n_features),
        c=np.array([most for _, most in rows]),
        E=np.array(exact).reshape(-1, n_features),
        f=np.zeros(len(exact)),
    )


def _columns(sensitive: ArrayLike, tolerance: Vector) -> Vector:
    columns = frozen("Fairness", "sensitive", sensitive)
    if columns.ndim not in (1, 2) or columns.size == 0:
        raise ValueError(
            "Fairness: sensitive must be a vector with one value per sample or a matrix with one "
            f"row per sample, got shape {columns.shape}."
        )
    count = 1 if columns.ndim == 1 else columns.shape[1]
    if tolerance.ndim == 1 and tolerance.size != count:
        raise ValueError(
            f"Fairness: tolerance has {tolerance.size} values but sensitive has {count} columns."
        )
    return columns


def _centred(column: Vector) -> Vector | None:
    """Return the column minus its mean, or None if it is constant up to rounding."""
    centred: Vector = column - column.mean()
    if np.max(np.abs(centred)) <= CONSTANT_BELOW * np.max(np.abs(column)):
        return None
    centred -= centred.mean()  # the first mean was rounded
    return centred
