"""Look penalties up by name, as estimators and problems take them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from rectiline._column_names import column_index
from rectiline._suggest import not_an_object, unknown_name
from rectiline.penalties._base import Penalty
from rectiline.penalties._group_linf import GroupLinf, SparseGroupLinf
from rectiline.penalties._grouping import column_groups
from rectiline.penalties._separable import L1, ElasticNet, Ridge
from rectiline.penalties._slope import Slope

PENALTIES = ("elasticnet", "group", "l1", "l2", "slope", "sparse_group")

_ALIASES = {
    "elastic_net": "elasticnet",
    "lasso": "l1",
    "ridge": "l2",
    "group_lasso": "group",
    "group_linf": "group",
    "sparse_group_lasso": "sparse_group",
    "sparse_group_linf": "sparse_group",
    "sorted_l1": "slope",
    "none": None,
}


def get(
    penalty: str | Penalty | None,
    n_features: int,
    *,
    strength: float = 1.0,
    l1_ratio: float = 0.5,
    groups: Any = None,
    q: float = 0.1,
    strengths: ArrayLike | None = None,
    weights: ArrayLike | Mapping[Any, float] | None = None,
    names: NDArray[Any] | None = None,
) -> Penalty | None:
    """Return the penalty of that name for so many columns; a penalty is returned as it is.

    Parameters
    ----------
    penalty : {"l2", "l1", "elasticnet", "group", "sparse_group", "slope"}, Penalty or None
    n_features : int
        Number of columns.
    strength : float, default=1.0
        Multiplies the whole penalty.
    l1_ratio : float, default=0.5
        Share of the L1 norm in "elasticnet" and "sparse_group".
    groups : optional
        For "group" and "sparse_group": one label per column, a mapping from column to label or from
        label to columns, or disjoint lists of columns.
    q : float, default=0.1
        For "slope": false discovery rate that the sequence of strengths aims at.
    strengths : array-like, optional
        For "slope": the sequence itself.
    weights : array-like or mapping, optional
        For "l1": one weight per column, or a mapping from column to weight; others have weight 1.
    names : ndarray of str, optional
        Names of the columns, for `groups` and `weights`.

    Returns
    -------
    Penalty or None

    Examples
    --------
    >>> from rectiline.penalties import get
    >>> get("elasticnet", 3, l1_ratio=0.25)
    ElasticNet(l1=0.25, l2=0.75)
    """
    if penalty is None:
        return None
    if isinstance(penalty, Penalty):
        return penalty if strength == 1.0 else penalty.with_strength(strength * penalty.strength)
    if not isinstance(penalty, str):
        raise not_an_object("penalty", penalty, Penalty, "rectiline.penalties.Ridge(1.0), or None")
    if penalty not in PENALTIES:
        raise ValueError(unknown_name("penalty", penalty, PENALTIES, _ALIASES))
    if penalty == "l2":
        return Ridge(strength)
    if penalty == "l1":
        return L1(strength, _column_weights(weights, names, n_features))
    if penalty == "elasticnet" and l1_ratio == 1.0:
        return L1(strength)
    if penalty == "elasticnet":
        return ElasticNet(l1_ratio * strength, (1.0 - l1_ratio) * strength)
    if penalty == "group":
        return GroupLinf(strength, column_groups(groups, names, n_features))
    if penalty == "sparse_group":
        members = column_groups(groups, names, n_features)
        return SparseGroupLinf(l1_ratio * strength, (1.0 - l1_ratio) * strength, members)
    if strengths is not None:
        made = Slope(strengths)
        return made.with_strength(strength * made.strength)
    return Slope.bh(n_features, q, strength)


def _column_weights(weights: Any, names: NDArray[Any] | None, n_features: int) -> Any:
    """Return one weight per column for a mapping, anything else as it is."""
    if not isinstance(weights, Mapping):
        return weights
    made = np.ones(n_features)
    for column, weight in weights.items():
        made[column_index(column, names, n_features, "weights")] = weight
    return made
