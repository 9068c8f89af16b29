"""Tables: coefficients as data frames, and small HTML tables for notebooks."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from rectiline._optional import optional

if TYPE_CHECKING:
    import pandas as pd


def coefficient_frame(
    coef: ArrayLike,
    intercept: ArrayLike,
    names: Sequence[Any] | None,
    titles: Sequence[Any],
    caller: str,
) -> pd.DataFrame:
    """Return one row per column of X, then the intercept, and one column per title.

    `coef` has one row per title. Without names the rows are numbered from 0.
    """
    pd = optional("pandas", f"{caller} makes a pandas data frame")
    table = np.atleast_2d(np.asarray(coef, dtype=np.float64))
    rows = list(range(table.shape[1])) if names is None else list(names)
    if len(rows) != table.shape[1]:
        raise ValueError(f"{caller}: {len(rows)} names for {table.shape[1]} coefficients.")
    shifts = np.broadcast_to(np.asarray(intercept, dtype=np.float64).ravel(), table.shape[0])
    values = np.column_stack([table, shifts]).T
    index = pd.Index([*rows, "(intercept)"], dtype=object, name="column")
    return pd.DataFrame(values, index=index, columns=list(titles))


def html_table(title: str, rows: Iterable[Sequence[Any]]) -> str:
    """Return a table for a notebook; floats are cut to eight digits.

    >>> html_table("a", [("gap", 0.25)])
    '<table><caption>a</caption><tr><td>gap</td><td>0.25</td></tr></table>'
    """
    lines = "".join(map(html_row, rows))
    return f"<table><caption>{escape(title)}</caption>{lines}</table>"


def html_row(cells: Iterable[Any], tag: str = "td", first: str = "") -> str:
    """Return a row of a table, its first cell under a tag of its own if one is given.

    >>> html_row(["gap", 0.25], first="th")
    '<tr><th>gap</th><td>0.25</td></tr>'
    """
    texts = [f"{one:.8g}" if isinstance(one, float) else str(one) for one in cells]
    tags = [first or tag, *[tag] * (len(texts) - 1)]
    made = (f"<{name}>{escape(text)}</{name}>" for name, text in zip(tags, texts))
    return f"<tr>{''.join(made)}</tr>"
