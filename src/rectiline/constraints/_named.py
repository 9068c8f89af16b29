"""Constraints written with column names: signs, bounds and orders, for problems and estimators."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from itertools import pairwise
from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse as sp

from rectiline._column_names import column_index
from rectiline._relations import read_relations
from rectiline._suggest import not_an_object
from rectiline.constraints._base import Constraint
from rectiline.constraints._bounds import Box, Nonnegative
from rectiline.constraints._linear import LinearEquality, LinearInequality

_RULE = re.compile(r"\s*(>=|<=|==)\s*(\S+)\s*")


def named_constraints(
    constraints: Any,
    monotone: Mapping[Any, int] | Sequence[int] | None = None,
    order: Sequence[Sequence[Any]] | None = None,
    *,
    names: NDArray[Any] | None,
    n_features: int,
    owner: str = "constraints",
) -> list[Constraint]:
    """Return constraint objects for what a user wrote with objects and column names.

    Parameters
    ----------
    constraints : Constraint, mapping, text, or sequence of these
        A mapping bounds columns: ``{"age": ">=0", "income": (0, None), 3: 1.5}``. A text relates
        them: ``"age + sex >= 0"``, ``"0 <= bmi <= 1"``, ``"a = b"``; ``"nonnegative"`` is about
        all of them. A name that is no identifier is written in backquotes.
    monotone : mapping of column to 1, -1 or 0, or one of these for each column
        1 lets the prediction only rise with the column (coefficient >= 0), -1 only fall.
    order : iterable of chains
        Along each chain of columns the coefficients must not decrease.
    names : array of column names or None
    n_features : int
    owner : str
        Whose texts they are, for messages.
    """
    if constraints is None:
        constraints = ()
    single = isinstance(constraints, Constraint | Mapping | str)
    single = single or not isinstance(constraints, Iterable)
    listed = [constraints] if single else list(constraints)
    made: list[Constraint] = []
    for one in listed:
        if isinstance(one, Mapping):
            made.append(_bounds(one, names, n_features))
        elif isinstance(one, str):
            made += _from_text(one, names, n_features, owner)
        elif isinstance(one, Constraint):
            made.append(one.with_names(names, n_features))
        else:
            example = (
                "rectiline.constraints.Nonnegative(), a text such as 'age + sex >= 0', or a "
                "mapping from column to bound such as {'age': '>=0'}"
            )
            raise not_an_object(owner, one, Constraint, example)
    if monotone is not None and len(monotone):
        made.append(_signs(monotone, names, n_features))
    if order is not None and len(order):
        made.append(_chains(order, names, n_features))
    return made


def _from_text(text: str, names: NDArray[Any] | None, d: int, owner: str) -> Iterable[Constraint]:
    """Return the constraints of a text; one about a single coefficient is a bound."""
    if text.strip() == "nonnegative":
        return [Nonnegative()]
    if names is None:
        raise ValueError(
            f'{owner} "{text}": it names columns, but X has no column names. Pass X as a data '
            "frame, or give a mapping from positions to bounds."
        )
    made: list[Constraint] = []
    for row, constant, sign in read_relations(text, list(names), owner):
        used = np.flatnonzero(row)
        if used.size > 1:
            flip = -1.0 if sign == "<=" else 1.0
            kind = LinearEquality if sign == "=" else LinearInequality
            made.append(kind(flip * row[None], [flip * constant]))
            continue
        j = int(used[0])
        bound, is_lower = -constant / row[j], (sign == ">=") == (row[j] > 0)
        rule = bound if sign == "=" else (bound, None) if is_lower else (None, bound)
        made.append(_bounds({j: rule}, names, d))
    return made


def _bounds(
    rules: Mapping[Any, Any], names: NDArray[Any] | None, d: int, owner: str = "constraints"
) -> Box:
    lower, upper = np.full(d, -np.inf), np.full(d, np.inf)
    for column, rule in rules.items():
        j = column_index(column, names, d, owner)
        low, high = _interval(column, rule)
        lower[j], upper[j] = max(lower[j], low), min(upper[j], high)
        if lower[j] > upper[j]:
            raise ValueError(
                f"constraints: column {column!r} has the lower bound {lower[j]:g} > upper bound "
                f"{upper[j]:g}."
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


def _signs(monotone: Any, names: NDArray[Any] | None, d: int) -> Box:
    rules = {1: (0.0, None), -1: (None, 0.0), 0: (None, None)}
    if not isinstance(monotone, Mapping):
        if len(monotone) != d:
            raise ValueError(
                f"monotone has {len(monotone)} entries but X has {d} columns; give one direction "
                "per column, or a mapping from column to direction."
            )
        monotone = dict(enumerate(monotone))
    for column, direction in monotone.items():
        if direction not in rules:
            raise ValueError(
                f"monotone: column {column!r} has the direction {direction!r}; it must be 1 "
                "(rising), -1 (falling) or 0 (free)."
            )
    signs = {column: rules[direction] for column, direction in monotone.items()}
    return _bounds(signs, names, d, "monotone")


def _chains(order: Sequence[Sequence[Any]], names: NDArray[Any] | None, d: int) -> LinearInequality:
    pairs: list[tuple[int, int]] = []
    for chain in order:
        if isinstance(chain, str) or len(chain) < 2:
            raise ValueError(
                f"order: {chain!r} is not a chain; each chain lists two or more columns whose "
                "coefficients must not decrease, such as ['low', 'mid', 'high']."
            )
        places = [column_index(column, names, d, "order") for column in chain]
        pairs += list(pairwise(places))
    low, high = np.transpose(pairs)
    columns = sp.csr_array(sp.eye_array(d))
    return LinearInequality(columns[high] - columns[low])
