"""Constraints written with column names: signs, bounds and orders."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from itertools import pairwise
from numbers import Integral, Real
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse as sp

from rectiline.constraints import Box, Constraint, LinearInequality

__all__ = ["column_index", "named_constraints"]

_RULE = re.compile(r"\s*(>=|<=|==)\s*(\S+)\s*")


def named_constraints(
    constraints: Any,
    monotone: Mapping[Any, int] | None,
    order: Iterable[Sequence[Any]] | None,
    names: NDArray[Any] | None,
    n_features: int,
) -> list[Constraint]:
    """Return constraint objects for what a user wrote with objects and column names.

    Parameters
    ----------
    constraints : Constraint, mapping, or sequence of both
        A mapping bounds columns: ``{"age": ">=0", "income": (0, None), 3: 1.5}``.
    monotone : mapping of column to 1, -1 or 0
        1 lets the prediction only rise with the column (coefficient >= 0), -1 only fall.
    order : iterable of chains
        Along each chain of columns the coefficients must not decrease.
    names : array of column names or None
    n_features : int
    """
    if constraints is None:
        constraints = ()
    listed = [constraints] if isinstance(constraints, Constraint | Mapping) else list(constraints)
    made: list[Constraint] = []
    for one in listed:
        if isinstance(one, Mapping):
            made.append(_bounds(one, names, n_features))
        elif isinstance(one, Constraint):
            made.append(one)
        else:
            raise TypeError(
                "constraints must hold Constraint objects such as "
                "rectiline.constraints.Nonnegative() or mappings from column to bound such as "
                f"{{'age': '>=0'}}; got {one!r}."
            )
    if monotone:
        made.append(_signs(monotone, names, n_features))
    if order:
        made.append(_chains(order, names, n_features))
    return made


def column_index(column: Any, names: NDArray[Any] | None, n_features: int, owner: str) -> int:
    """Return the position of a column given by name or by position."""
    if isinstance(column, str):
        if names is None:
            raise ValueError(
                f"{owner}: column {column!r} is given by name, but X has no column names. Fit on "
                "a data frame, or give the position of the column."
            )
        found = np.flatnonzero(names == column)
        if not found.size:
            shown = ", ".join(map(repr, names[:8])) + (", ..." if len(names) > 8 else "")
            raise ValueError(f"{owner}: X has no column {column!r}; its columns are {shown}.")
        return int(found[0])
    if isinstance(column, Integral) and not isinstance(column, bool):
        if -n_features <= int(column) < n_features:
            return int(column) % n_features
        raise ValueError(f"{owner}: column {column} does not exist; X has {n_features} columns.")
    raise TypeError(f"{owner}: a column is a name or a position; got {column!r}.")


def _bounds(rules: Mapping[Any, Any], names: NDArray[Any] | None, d: int) -> Box:
    lower, upper = np.full(d, -np.inf), np.full(d, np.inf)
    for column, rule in rules.items():
        j = column_index(column, names, d, "constraints")
        low, high = _interval(column, rule)
        lower[j], upper[j] = max(lower[j], low), min(upper[j], high)
        if lower[j] > upper[j]:
            raise ValueError(
                f"constraints: column {column!r} must be at least {lower[j]} and at most "
                f"{upper[j]}, which nothing is."
            )
    return Box(lower, upper)


def _interval(column: Any, rule: Any) -> tuple[float, float]:
    if isinstance(rule, str):
        match = _RULE.fullmatch(rule)
        try:
            sign, number = match.group(1), float(match.group(2))  # type: ignore[union-attr]
        except (AttributeError, ValueError):
            number = float("nan")
        if not np.isfinite(number):
            raise ValueError(
                f"constraints: column {column!r} has the rule {rule!r}; a rule is '>=', '<=' or "
                "'==' and a number, such as '>=0'."
            )
        return (-np.inf if sign == "<=" else number), (np.inf if sign == ">=" else number)
    if isinstance(rule, Real):
        return float(rule), float(rule)
    if isinstance(rule, Sequence) and len(rule) == 2:
        low, high = rule
        return (-np.inf if low is None else float(low)), (np.inf if high is None else float(high))
    raise ValueError(
        f"constraints: column {column!r} has the rule {rule!r}; give a text such as '>=0', a pair "
        "(lower, upper) with None for no bound, or a number to fix the coefficient."
    )


def _signs(monotone: Mapping[Any, int], names: NDArray[Any] | None, d: int) -> Box:
    lower, upper = np.full(d, -np.inf), np.full(d, np.inf)
    for column, direction in monotone.items():
        j = column_index(column, names, d, "monotone")
        if direction not in (-1, 0, 1):
            raise ValueError(
                f"monotone: column {column!r} has the direction {direction!r}; it must be 1 "
                "(rising), -1 (falling) or 0 (free)."
            )
        if direction == 1:
            lower[j] = 0.0
        elif direction == -1:
            upper[j] = 0.0
    return Box(lower, upper)


def _chains(order: Iterable[Sequence[Any]], names: NDArray[Any] | None, d: int) -> LinearInequality:
    pairs: list[tuple[int, int]] = []
    for chain in order:
        if isinstance(chain, str) or len(chain) < 2:
            raise ValueError(
                f"order: {chain!r} is not a chain; each chain lists two or more columns whose "
                "coefficients must not decrease, such as ['low', 'mid', 'high']."
            )
        places = [column_index(column, names, d, "order") for column in chain]
        pairs += list(pairwise(places))
    count = len(pairs)
    rows = sp.csr_array(
        (
            np.tile([-1.0, 1.0], count),
            (np.repeat(np.arange(count), 2), np.ravel(pairs)),
        ),
        shape=(count, d),
    )
    return LinearInequality(rows)
