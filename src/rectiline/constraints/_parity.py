"""`DemographicParity` and `EqualOpportunity`: mean predictions equal between groups.

    | mean of x_i'b over group g  -  mean over group h |  <=  tolerance      for any two groups

With a the difference of the two groups' mean rows these are a'b + tolerance >= 0 and
-a'b + tolerance >= 0. The intercept cancels in the difference.
"""

from __future__ import annotations

from itertools import combinations, pairwise

import numpy as np
from numpy.typing import ArrayLike, NDArray

from rectiline._typing import Vector
from rectiline.constraints._base import Constraint, DesignLike
from rectiline.constraints._fairness import bounded_rows, checked_tolerance, given_data
from rectiline.constraints._rows import ConstraintRows

MOST_GROUPS = 50  # more than this is a continuous column, not a grouping

Codes = NDArray[np.int64]


class DemographicParity(Constraint):
    """Keep the mean predictions of any two groups within a tolerance of each other.

    A tolerance of 0 asks for equal means and becomes equality rows; infinity puts no constraint.

    Parameters
    ----------
    sensitive : array-like of shape (n_samples,) or (n_samples, k), optional
        Group labels; each column is a grouping of its own. None means that they are given later,
        to `bind`. Samples with a negative integer label belong to no group.
    tolerance : float, default 0.0
        The largest difference allowed, >= 0.

    Examples
    --------
    >>> from rectiline.backends import as_design
    >>> from rectiline.constraints import DemographicParity
    >>> parity = DemographicParity(["a", "a", "b", "b"], tolerance=0.5)
    >>> rows = parity.rows(1, as_design([[0.0], [2.0], [4.0], [6.0]]))
    >>> rows.A, rows.c
    (array([[-4.],
           [ 4.]]), array([0.5, 0.5]))
    """

    sensitive: Codes | None
    tolerance: Vector

    def __init__(self, sensitive: ArrayLike | None = None, tolerance: float = 0.0) -> None:
        self._set(
            sensitive=None if sensitive is None else _codes(type(self).__name__, sensitive),
            tolerance=checked_tolerance(type(self).__name__, tolerance, most_dimensions=0),
        )

    def bind(self, sensitive: ArrayLike) -> DemographicParity:
        """Return the constraint with the same tolerance on these groups."""
        return DemographicParity(sensitive, float(self.tolerance))

    def rows(self, n_features: int, design: DesignLike | None = None) -> ConstraintRows:
        """Return two inequality rows per pair of groups, or equality rows at tolerance 0."""
        codes, X = given_data(type(self).__name__, self.sensitive, n_features, design)
        bounded: list[tuple[Vector, float]] = []
        for column in self._grouped(codes).T:
            present = np.unique(column[column >= 0])
            means = [
                np.asarray(X.tdot((column == g) / np.count_nonzero(column == g)), dtype=np.float64)
                for g in present
            ]
            # Equal neighbours make all of them equal.
            pairs = pairwise(means) if self.tolerance == 0.0 else combinations(means, 2)
            bounded += [(a - b, float(self.tolerance)) for a, b in pairs]
        return bounded_rows(bounded, n_features)

    def _grouped(self, codes: Codes) -> Codes:
        """Return the groups with -1 for samples whose predictions do not count."""
        return codes


class EqualOpportunity(DemographicParity):
    """Keep the groups' mean predictions on positive samples within a tolerance of each other.

    Parameters
    ----------
    sensitive : array-like of shape (n_samples,) or (n_samples, k), optional
        Group labels, as for `DemographicParity`.
    tolerance : float, default 0.0
        The largest difference allowed, >= 0.
    positive : array-like of bool of shape (n_samples,), optional
        The samples whose outcome is the favourable one; estimators fill this in from y.

    Examples
    --------
    >>> from rectiline.backends import as_design
    >>> from rectiline.constraints import EqualOpportunity
    >>> fair = EqualOpportunity([0, 0, 1, 1], 0.0, positive=[True, False, True, True])
    >>> fair.rows(1, as_design([[0.0], [2.0], [4.0], [6.0]])).E
    array([[-5.]])
    """

    positive: NDArray[np.bool_] | None

    def __init__(
        self,
        sensitive: ArrayLike | None = None,
        tolerance: float = 0.0,
        positive: ArrayLike | None = None,
    ) -> None:
        super().__init__(sensitive, tolerance)
        mask = None if positive is None else np.array(positive, dtype=bool)
        if mask is not None:
            if mask.ndim != 1 or (self.sensitive is not None and mask.size != len(self.sensitive)):
                raise ValueError(
                    "EqualOpportunity: positive must be one boolean per sample, got shape "
                    f"{mask.shape}."
                )
            mask.flags.writeable = False
        self._set(positive=mask)

    def bind(self, sensitive: ArrayLike, positive: ArrayLike | None = None) -> EqualOpportunity:
        """Return the constraint with the same tolerance on these groups and positives."""
        given = self.positive if positive is None else positive
        return EqualOpportunity(sensitive, float(self.tolerance), given)

    def _grouped(self, codes: Codes) -> Codes:
        if self.positive is None:
            raise ValueError(
                "EqualOpportunity does not know which samples are positive: give positive, or "
                "call bind(sensitive, positive)."
            )
        return np.where(self.positive[:, None], codes, -1)


def _codes(owner: str, sensitive: ArrayLike) -> Codes:
    """Return labels as integers 0, 1, .. per column; negative ones stay in no group."""
    labels = np.asarray(sensitive)
    if labels.ndim not in (1, 2) or labels.size == 0:
        raise ValueError(
            f"{owner}: sensitive must hold one label per sample, or one row of labels, got shape "
            f"{labels.shape}."
        )
    columns = labels.reshape(labels.shape[0], -1)
    codes = np.empty(columns.shape, dtype=np.int64)
    for k, column in enumerate(columns.T):
        outside = column < 0 if column.dtype.kind == "i" else np.zeros(column.size, dtype=bool)
        found = np.unique(column[~outside], return_inverse=True)[1]
        codes[outside, k] = -1
        codes[~outside, k] = found
        if codes[:, k].max(initial=-1) >= MOST_GROUPS:
            raise ValueError(
                f"{owner}: column {k} of sensitive has {int(codes[:, k].max()) + 1} distinct "
                f"values; a grouping has at most {MOST_GROUPS}. Use Fairness for a number."
            )
    codes.flags.writeable = False
    return codes
