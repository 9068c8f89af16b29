"""The categories behind ``|`` of a formula, as columns that the estimators' encoder takes."""

from __future__ import annotations

from typing import Any

Categories = tuple[tuple[str, ...], ...]  # one or several columns of data make up each


def read_effects(terms: Any, table: Any) -> Categories:
    """Return the categories of these terms; none if there is none but the intercept."""
    found = []
    for term in [one for one in terms if str(one) != "1"]:
        texts = [str(factor.expr) for factor in term.factors]
        names = [one[2:-1] if one[:2] == "C(" else one for one in texts]
        found.append(tuple(name.strip(" `") for name in names))
        for name in found[-1]:
            if name not in table.columns:
                raise ValueError(
                    f"formula: {name!r} behind '|' must be a column of data, or several as in "
                    "'a:b'; make it one first."
                )
    # The levels of a:b tell those of a and b.
    sets = [set(one) for one in found]
    return tuple(one for one in found if not any(set(one) < other for other in sets))


def effect_table(effects: Categories, table: Any) -> Any:
    """Return a column for each category, of none no column; several of data are joined as texts."""
    import pandas as pd

    made = {}
    for one in effects:
        joined = table[one[0]] if len(one) == 1 else table[list(one)].astype(str).agg(":".join, 1)
        made[":".join(one)] = joined
    return pd.DataFrame(made, index=table.index)
