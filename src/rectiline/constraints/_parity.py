"""`DemographicParity` and `EqualOpportunity`: mean predictions equal between groups.

    | mean of x_i'b over group g  -  mean over group h |  <=  tolerance      for any two groups

With a the difference of the two groups' mean rows these are a'b + tolerance >= 0 and
-a'b + tolerance >= 0. The intercept cancels in the difference.
"""

from __future__ import annotations

from collections.abc import Mapping
from itertools import combinations, pairwise
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from rectiline._typing import Vector
from rectiline.constraints._base import Constraint, DesignLike
from rectiline.constraints._checks import numbers
from rectiline.constraints._rows import ConstraintRows

__all__ = ["DemographicParity", "EqualOpportunity"]

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
            tolerance=_tolerance(type(self).__name__, tolerance),
        )

    def bind(self, sensitive: ArrayLike) -> DemographicParity:
        """Return the constraint with the same tolerance on these groups."""
        return DemographicParity(sensitive, float(self.tolerance))

    def rows(self, n_features: int, design: DesignLike | None = None) -> ConstraintRows:
        """Return two inequality rows per pair of groups, or equality rows at tolerance 0."""
        codes = _bound(type(self).__name__, self.sensitive, n_features, design)
        assert design is not None
        return _rows(codes, float(self.tolerance), n_features, design)

    def _arguments(self) -> Mapping[str, Any]:
        return {"sensitive": self.sensitive, "tolerance": float(self.tolerance)}


class EqualOpportunity(Constraint):
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

    sensitive: Codes | None
    tolerance: Vector
    positive: NDArray[np.bool_] | None

    def __init__(
        self,
        sensitive: ArrayLike | None = None,
        tolerance: float = 0.0,
        positive: ArrayLike | None = None,
    ) -> None:
        name = type(self).__name__
        codes = None if sensitive is None else _codes(name, sensitive)
        mask = None if positive is None else np.array(positive, dtype=bool)
        if mask is not None:
            if mask.ndim != 1 or (codes is not None and mask.size != codes.shape[0]):
                raise ValueError(
                    f"{name}: positive must be one boolean per sample, got shape {mask.shape}."
                )
            mask.flags.writeable = False
        self._set(sensitive=codes, tolerance=_tolerance(name, tolerance), positive=mask)

    def bind(self, sensitive: ArrayLike, positive: ArrayLike | None = None) -> EqualOpportunity:
        """Return the constraint with the same tolerance on these groups and positives."""
        given = self.positive if positive is None else positive
        return EqualOpportunity(sensitive, float(self.tolerance), given)

    def rows(self, n_features: int, design: DesignLike | None = None) -> ConstraintRows:
        """Return two inequality rows per pair of groups, or equality rows at tolerance 0."""
        codes = _bound(type(self).__name__, self.sensitive, n_features, design)
        if self.positive is None:
            raise ValueError(
                "EqualOpportunity does not know which samples are positive: give positive, or "
                "call bind(sensitive, positive)."
            )
        assert design is not None
        kept = np.where(self.positive[:, None], codes, -1)
        return _rows(kept, float(self.tolerance), n_features, design)

    def _arguments(self) -> Mapping[str, Any]:
        return {
            "sensitive": self.sensitive,
            "tolerance": float(self.tolerance),
            "positive": self.positive,
        }


def _tolerance(owner: str, tolerance: float) -> Vector:
    allowed = numbers(owner, "tolerance", tolerance)
    if allowed.ndim:
        raise ValueError(f"{owner}: tolerance must be one number, got shape {allowed.shape}.")
    if allowed < 0.0:
        raise ValueError(f"{owner}: tolerance = {float(allowed)!r}, but it must be >= 0.")
    return allowed


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


def _bound(owner: str, codes: Codes | None, n_features: int, design: DesignLike | None) -> Codes:
    if codes is None:
        raise ValueError(
            f"{owner} has no groups yet: make {owner}(sensitive, tolerance), or call "
            "bind(sensitive)."
        )
    if design is None:
        raise ValueError(f"{owner} depends on the data: rows(n_features, design) needs both.")
    if codes.shape[0] != design.n_samples:
        raise ValueError(
            f"{owner}: sensitive has {codes.shape[0]} rows but X has {design.n_samples}."
        )
    if n_features != design.n_features:
        raise ValueError(f"{owner}: n_features={n_features} but X has {design.n_features} columns.")
    return codes


def _rows(codes: Codes, tolerance: float, d: int, design: DesignLike) -> ConstraintRows:
    if tolerance == np.inf:
        return ConstraintRows.empty(d)
    within: list[Vector] = []
    exact: list[Vector] = []
    for column in codes.T:
        present = np.unique(column[column >= 0])
        means = [
            np.asarray(design.tdot((column == g) / np.count_nonzero(column == g)), dtype=np.float64)
            for g in present
        ]
        if tolerance == 0.0:  # equal neighbours make all of them equal
            exact += [a - b for a, b in pairwise(means)]
        else:
            for a, b in combinations(means, 2):
                within += [a - b, b - a]
    return ConstraintRows.make(
        d,
        A=np.array(within).reshape(-1, d),
        c=np.full(len(within), tolerance),
        E=np.array(exact).reshape(-1, d),
        f=np.zeros(len(exact)),
    )
