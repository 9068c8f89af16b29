"""Write a summary table as text, Markdown, LaTeX, HTML or a data frame."""

from __future__ import annotations

import html as markup
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from rectiline.inference._table import SummaryTable

__all__ = ["frame", "html", "latex", "latex_of_quantiles", "markdown", "text"]


def text(table: SummaryTable) -> str:
    """Return the table for a terminal."""
    cells = [_head(table), *_body(table)]
    widths = [max(len(row[k]) for row in cells) for k in range(len(cells[0]))]
    lines = []
    for row in cells:
        first, *rest = row
        numbers = (cell.rjust(width) for cell, width in zip(rest, widths[1:], strict=True))
        lines.append("  ".join([first.ljust(widths[0]), *numbers]))
    rule = "-" * max(map(len, lines))
    return "\n".join([*_above(table), rule, lines[0], rule, *lines[1:], rule, *_below(table)])


def markdown(table: SummaryTable) -> str:
    """Return the table in Markdown, what is known about the fit above and below it."""
    head, *rows = [_head(table), *_body(table)]
    head = ["", *head[1:]]
    shown = [[cell.replace("|", r"\|") for cell in row] for row in (head, *rows)]
    lines = ["| " + " | ".join(row) + " |" for row in shown]
    lines.insert(1, "|---" + "|---:" * (len(head) - 1) + "|")
    return "\n".join([*_above(table), "", *lines, "", *_below(table)])


def latex(table: SummaryTable) -> str:
    """Return the table in LaTeX with booktabs rules."""
    return _tabular([_head(table), *_body(table)], [*_above(table), *_below(table)])


def latex_of_quantiles(tables: Sequence[SummaryTable]) -> str:
    """Return one table in LaTeX: quantiles as columns, errors or intervals below coefficients."""
    head = ["", *(f"{one.quantile:g}" for one in tables)]
    rows = []
    for k, name in enumerate(tables[0].names):
        rows.append([name, *(_number(one.coef[k]) for one in tables)])
        rows.append(["", *(_in_brackets(one, k) for one in tables)])
    rows.append(["Samples", *(f"{one.n_samples:.12g}" for one in tables)])
    rows.append(["Pseudo R1", *(f"{one.pseudo_r1:.4f}" for one in tables)])
    return _tabular([head, *rows], _above(tables[0])[1:])


def _in_brackets(table: SummaryTable, k: int) -> str:
    if np.isfinite(table.std_error[k]):
        return f"({_number(table.std_error[k])})"
    return f"[{_number(table.interval[k, 0])}, {_number(table.interval[k, 1])}]"


def _tabular(cells: list[list[str]], comments: list[str]) -> str:
    head, *lines = [" & ".join(map(_for_latex, row)) + r" \\" for row in cells]
    begin = r"\begin{tabular}{l" + "r" * (len(cells[0]) - 1) + "}"
    above = [*("% " + line for line in comments), begin, r"\toprule", head, r"\midrule"]
    return "\n".join([*above, *lines, r"\bottomrule", r"\end{tabular}"])


def html(table: SummaryTable) -> str:
    """Return the table in HTML."""
    head = "".join(f"<th>{markup.escape(cell)}</th>" for cell in _head(table))
    rows = []
    for first, *rest in _body(table):
        cells = "".join(f"<td>{markup.escape(cell)}</td>" for cell in rest)
        rows.append(f"<tr><th>{markup.escape(first)}</th>{cells}</tr>")
    above = "<br>".join(map(markup.escape, _above(table)))
    below = "<br>".join(map(markup.escape, _below(table)))
    foot = f"<tfoot><tr><td colspan='{len(_head(table))}'>{below}</td></tr></tfoot>"
    return (
        f"<table class='rectiline-summary'><caption>{above}</caption><thead><tr>{head}</tr></thead>"
        f"<tbody>{''.join(rows)}</tbody>{foot}</table>"
    )


def frame(columns: dict[str, Any], library: str) -> Any:
    """Return columns as a data frame."""
    if library not in ("pandas", "polars"):
        raise ValueError(f"library={library!r}: must be 'pandas' or 'polars'.")
    try:
        if library == "polars":
            import polars

            return polars.DataFrame({key: list(value) for key, value in columns.items()})
        import pandas
    except ImportError as error:
        raise ImportError(f"to_frame(library={library!r}) needs {library}; install it.") from error
    keys = ["quantile", "name"] if "quantile" in columns else "name"
    return pandas.DataFrame(columns).set_index(keys)


def _above(table: SummaryTable) -> list[str]:
    note = f", {table.note}" if table.note else ""
    return [f"{table.title}, {table.n_samples:.12g} samples", f"Errors: {table.kind}{note}"]


def _below(table: SummaryTable) -> list[str]:
    parts = [f"pseudo R1 {table.pseudo_r1:.4f}", f"certified gap {table.relative_gap:.1e}"]
    if np.isfinite(table.df):
        parts.append(f"t with {table.df:g} degrees of freedom")
    lines = ["; ".join(parts)]
    if not table.unique:
        lines.append("The certificate does not show that the optimum is unique.")
    return lines


def _head(table: SummaryTable) -> list[str]:
    low = 0.5 - 0.5 * table.level
    ends = [f"[{low:.4g}", f"{1.0 - low:.4g}]"]
    errors = ["std error", "t", "P>|t|"] if np.isfinite(table.std_error).any() else []
    return ["", "coef", *errors, *ends]


def _body(table: SummaryTable) -> list[list[str]]:
    columns = [list(table.names), list(map(_number, table.coef))]
    if np.isfinite(table.std_error).any():  # rank tests give intervals alone
        columns.append(list(map(_number, table.std_error)))
        columns += [list(map(_fixed, one)) for one in (table.statistic, table.p_value)]
    columns += [list(map(_number, ends)) for ends in table.interval.T]
    return [list(row) for row in zip(*columns, strict=True)]


def _number(value: float) -> str:
    return "" if np.isnan(value) else f"{value:.6g}"


def _fixed(value: float) -> str:
    return "" if np.isnan(value) else f"{value:.3f}"


def _for_latex(cell: str) -> str:
    special = {"\\": r"\textbackslash{}", "|": r"\textbar{}", ">": r"\textgreater{}"}
    special |= {character: "\\" + character for character in "&%$#_{}"}
    return "".join(special.get(character, character) for character in cell)
