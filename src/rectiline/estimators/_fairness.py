"""Sensitive features: read them, give them to the constraints, report what was reached."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from rectiline._typing import Mask, Vector
from rectiline.constraints import Constraint, DemographicParity, EqualOpportunity, Fairness
from rectiline.estimators._check import own_names

_MOST_GROUPS = 20  # a column with more values is reported by its halves


@dataclass(frozen=True, eq=False)
class FairnessData:
    """Sensitive columns as labels, and as numbers for covariances.

    Attributes
    ----------
    names : list of str
    labels : list of ndarray
        One array of labels per column.
    numbers : ndarray of shape (n_samples, k)
        Numeric columns as they are, indicator columns for the others.
    """

    names: list[str]
    labels: list[NDArray[Any]]
    numbers: Vector

    @classmethod
    def read(cls, sensitive: Any, n_samples: int) -> FairnessData | None:
        """Return the columns of what a user passed as ``sensitive_features``."""
        if sensitive is None:
            return None
        table = np.asarray(sensitive)
        if table.ndim == 1:
            table = table[:, None]
        if table.ndim != 2 or table.shape[0] != n_samples:
            raise ValueError(
                f"sensitive_features must have one row per sample, {n_samples} in all; got shape "
                f"{np.shape(sensitive)}."
            )
        names = own_names(sensitive) or [f"s{k}" for k in range(table.shape[1])]
        labels = [_tightened(*pair) for pair in zip(table.T, names, strict=True)]
        return cls(names, labels, np.column_stack([_as_numbers(column) for column in labels]))

    @property
    def codes(self) -> NDArray[np.int64]:
        """Integer labels, one column per sensitive column."""
        return np.column_stack(
            [np.unique(column, return_inverse=True)[1] for column in self.labels]
        ).astype(np.int64)


def _tightened(column: NDArray[Any], name: str) -> NDArray[Any]:
    """Return a column with a dtype that sorts; data frames arrive as objects."""
    if column.dtype.kind == "O":
        try:
            column = column.astype(np.float64)
        except (TypeError, ValueError):
            column = column.astype(str)
    if column.dtype.kind == "f" and not np.isfinite(column).all():
        row = int(np.argmax(~np.isfinite(column)))
        raise ValueError(f"sensitive_features: column {name!r} has {column[row]} in row {row}.")
    return column


def _as_numbers(column: NDArray[Any]) -> Vector:
    if column.dtype.kind in "biuf":
        return column.astype(np.float64)[:, None]
    values, codes = np.unique(column, return_inverse=True)
    indicators = (codes[:, None] == np.arange(values.size)).astype(np.float64)
    # Two groups have opposite indicators: one says it all.
    return np.asarray(indicators[:, 1:] if values.size == 2 else indicators)


def is_fairness(constraint: Constraint) -> bool:
    """Whether a constraint is about sensitive features."""
    return isinstance(constraint, Fairness | DemographicParity)


def with_groups(
    constraint: Any, data: FairnessData | None, positive: Mask | None, keep: Mask | None
) -> Constraint:
    """Return a constraint with its sensitive features filled in.

    Parameters
    ----------
    positive : mask, optional
        Samples with the favourable outcome, for `EqualOpportunity`.
    keep : mask, optional
        Samples that count; the others are held out of a fold.
    """
    if not is_fairness(constraint):
        return cast(Constraint, constraint)
    own = constraint.sensitive
    if own is None:
        if data is None:
            raise ValueError(
                f"{constraint!r} needs to know the sensitive features: fit(X, y, "
                "sensitive_features=...), or give them to the constraint."
            )
        own = data.numbers if isinstance(constraint, Fairness) else data.codes
    columns = np.asarray(own)
    keep = np.ones(len(columns), dtype=bool) if keep is None else keep
    kept = keep.reshape(-1, *[1] * (columns.ndim - 1))
    if isinstance(constraint, Fairness):
        # Held-out samples get the mean, so that they have no part in the covariance; the mean over
        # all samples is smaller than the one over those kept by their share.
        filled = np.where(kept, columns, columns[keep].mean(axis=0))
        return Fairness(filled, constraint.tolerance * keep.mean())
    codes = np.where(kept, columns, -1)
    if isinstance(constraint, EqualOpportunity):
        chosen = positive if constraint.positive is None else constraint.positive
        if chosen is None:
            raise ValueError(
                "EqualOpportunity is about samples of the positive class, which a regression does "
                "not have; give it positive=..., or use DemographicParity."
            )
        return constraint.bind(codes, chosen)
    return cast(Constraint, constraint.bind(codes))


def fairness_table(
    data: FairnessData, decisions: Vector, targets: NDArray[Any] | None
) -> dict[str, NDArray[Any]]:
    """Return what the groups get, as columns of a table.

    Parameters
    ----------
    decisions : ndarray of shape (n_samples,) or (n_samples, n_problems)
    targets : ndarray of bool of the shape of `decisions`, or None
        Which samples are positive; None for regressions.

    Returns
    -------
    dict
        ``column``, ``group``, ``n_samples``, ``mean_decision``, ``covariance`` of the decision
        with membership in the group; for classifiers also ``positive_rate``,
        ``true_positive_rate`` and ``mean_decision_of_positives``.
    """
    lines: list[dict[str, Any]] = []
    for name, labels in zip(data.names, data.labels, strict=True):
        for group, members in _groups(labels):
            centred = members - members.mean()
            line = {
                "column": name,
                "group": group,
                "n_samples": int(members.sum()),
                "mean_decision": decisions[members].mean(axis=0),
                "covariance": np.tensordot(centred, decisions, 1) / centred.size,
            }
            if targets is not None:
                line["positive_rate"] = (decisions[members] > 0).mean(axis=0)
                chosen = (targets.T & members).T
                with np.errstate(invalid="ignore", divide="ignore"):
                    rate = ((decisions > 0) & chosen).sum(axis=0) / chosen.sum(axis=0)
                    mean = np.where(chosen, decisions, 0.0).sum(axis=0) / chosen.sum(axis=0)
                line |= {"true_positive_rate": rate, "mean_decision_of_positives": mean}
            lines.append(line)
    return {name: np.array([line[name] for line in lines]) for name in lines[0]}


def _groups(labels: NDArray[Any]) -> list[tuple[str, Mask]]:
    values = np.unique(labels)
    if values.size <= _MOST_GROUPS or labels.dtype.kind not in "iuf":
        return [(str(value), labels == value) for value in values]
    middle = np.median(labels)
    return [(f"<= {middle:g}", labels <= middle), (f"> {middle:g}", labels > middle)]
