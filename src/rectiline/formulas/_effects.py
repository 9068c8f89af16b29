"""The categories behind ``|`` of a formula, encoded as the fixed effects of the estimators are."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from rectiline.backends import TableEncoder


@dataclass(frozen=True, eq=False)
class Effects:
    """The categories behind ``|``: one or several columns of data make up each."""

    columns: tuple[tuple[str, ...], ...]
    encoder: TableEncoder

    @classmethod
    def of(cls, terms: Any, table: Any, new_levels: str) -> Effects | None:
        """Return the effects of these terms; None if there is none but the intercept."""
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
        whole = tuple(one for one in found if not any(set(one) < other for other in sets))
        if not whole:
            return None
        names = [":".join(one) for one in whole]
        made = TableEncoder.learn(
            _effect_table(whole, table), fixed_effects=names, new_levels=new_levels
        )
        return cls(whole, made)

    def on(self, table: Any) -> Any:
        """Return the columns of zeros and ones."""
        return self.encoder.numbers(_effect_table(self.columns, table))


def _effect_table(effects: tuple[tuple[str, ...], ...], table: Any) -> Any:
    """Return one column for each effect; several columns of data are joined as texts."""
    import pandas as pd

    made = {}
    for one in effects:
        joined = table[one[0]] if len(one) == 1 else table[list(one)].astype(str).agg(":".join, 1)
        made[":".join(one)] = joined
    return pd.DataFrame(made)
