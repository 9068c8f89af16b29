"""Tables of coefficients with their errors, tests and intervals: what `summary` returns."""

from __future__ import annotations

from dataclasses import dataclass, replace
from html import escape
from typing import Any

import numpy as np

from rectiline._frames import html_row
from rectiline._optional import optional
from rectiline._typing import Matrix, Vector


@dataclass(frozen=True, eq=False)
class SummaryTable:
    """Coefficients of one fit with standard errors, tests and confidence intervals.

    Attributes
    ----------
    names : tuple of str
        The intercept first, then the columns.
    coef, std_error, statistic, p_value : ndarray of shape (p,)
        NaN where the kind has none: "rank" gives intervals only.
    interval : ndarray of shape (p, 2)
    level : float
        Coverage of the intervals.
    kind : str
        How the errors were computed.
    note : str
        Bandwidth, kernel, number of replicates or clusters.
    quantile : float or None
    n_samples : int or float
        Sum of the weights.
    df : float
        Degrees of freedom of the t distribution.
    pseudo_r1 : float
        Share of the loss that the model explains: one minus the loss over that of the best
        constant (Koenker and Machado 1999).
    relative_gap : float
        Certified relative gap of the fit.
    unique : bool
        Whether the certificate shows that the optimum is unique.
    title : str
    """

    names: tuple[str, ...]
    coef: Vector
    std_error: Vector
    statistic: Vector
    p_value: Vector
    interval: Matrix
    level: float
    kind: str
    note: str
    quantile: float | None
    n_samples: float
    df: float
    pseudo_r1: float
    relative_gap: float
    unique: bool
    title: str

    def without_last(self, count: int) -> SummaryTable:
        """Return the table without its last rows, which its note counts as effects."""
        kept = slice(0, len(self.names) - count)
        rows = ("names", "coef", "std_error", "statistic", "p_value", "interval")
        shown = {name: getattr(self, name)[kept] for name in rows}
        note = f"{self.note}, " if self.note else ""
        return replace(self, **shown, note=f"{note}{count} effects not shown")

    def columns(self) -> dict[str, Any]:
        """Return the table as columns, by name."""
        return {
            "name": list(self.names),
            "coef": self.coef,
            "std_error": self.std_error,
            "statistic": self.statistic,
            "p_value": self.p_value,
            "lower": self.interval[:, 0],
            "upper": self.interval[:, 1],
        }

    def to_frame(self, library: str = "pandas") -> Any:
        """Return a data frame with one row per coefficient.

        Parameters
        ----------
        library : {"pandas", "polars"}, default="pandas"

        Returns
        -------
        DataFrame
            Columns name, coef, std_error, statistic, p_value, lower, upper; pandas has the names
            as its index.
        """
        return _frame(self.columns(), library)

    def _cells(self) -> list[list[str]]:
        """Return the head and the lines of the table as texts."""
        low = 0.5 - 0.5 * self.level
        head = ["", "coef", f"[{low:.4g}", f"{1.0 - low:.4g}]"]
        columns = [list(self.names), list(map(_number, self.coef))]
        columns += [list(map(_number, ends)) for ends in self.interval.T]
        if np.isfinite(self.std_error).any():  # rank tests give intervals alone
            head[2:2] = ["std error", "t", "P>|t|"]
            pair = (self.statistic, self.p_value)
            tests = [[_number(value, ".3f") for value in one] for one in pair]
            columns[2:2] = [list(map(_number, self.std_error)), *tests]
        return [head, *map(list, zip(*columns, strict=True))]

    def _above(self) -> list[str]:
        note = f", {self.note}" if self.note else ""
        return [f"{self.title}, {self.n_samples:.12g} samples", f"Errors: {self.kind}{note}"]

    def _below(self) -> list[str]:
        parts = [f"pseudo R1 {self.pseudo_r1:.4f}", f"certified gap {self.relative_gap:.1e}"]
        if np.isfinite(self.df):
            parts.append(f"t with {self.df:g} degrees of freedom")
        lines = ["; ".join(parts)]
        if not self.unique:
            lines.append("The certificate does not show that the optimum is unique.")
        return lines

    def to_markdown(self) -> str:
        """Return the table in Markdown, what is known about the fit above and below it."""
        cells = [[cell.replace("|", r"\|") for cell in row] for row in self._cells()]
        lines = ["| " + " | ".join(row) + " |" for row in cells]
        lines.insert(1, "|---" + "|---:" * (len(cells[0]) - 1) + "|")
        return "\n".join([*self._above(), "", *lines, "", *self._below()])

    def to_latex(self) -> str:
        """Return the table in LaTeX, with rules of the booktabs package."""
        return _tabular(self._cells(), [*self._above(), *self._below()])

    def to_html(self) -> str:
        """Return the table in HTML."""
        head, *lines = self._cells()
        rows = "".join(html_row(line, first="th") for line in lines)
        above, below = ("<br>".join(map(escape, part)) for part in (self._above(), self._below()))
        foot = f"<tfoot><tr><td colspan='{len(head)}'>{below}</td></tr></tfoot>"
        return (
            f"<table class='rectiline-summary'><caption>{above}</caption><thead>"
            f"{html_row(head, 'th')}</thead><tbody>{rows}</tbody>{foot}</table>"
        )

    def __str__(self) -> str:
        cells = self._cells()
        widths = [max(len(row[k]) for row in cells) for k in range(len(cells[0]))]
        lines = []
        for first, *rest in cells:
            numbers = (cell.rjust(width) for cell, width in zip(rest, widths[1:], strict=True))
            lines.append("  ".join([first.ljust(widths[0]), *numbers]))
        rule = "-" * max(map(len, lines))
        return "\n".join([*self._above(), rule, lines[0], rule, *lines[1:], rule, *self._below()])

    __repr__ = __str__

    def _repr_html_(self) -> str:
        return self.to_html()

    def _in_brackets(self, k: int) -> str:
        """Return the error of a coefficient, or its interval."""
        if np.isfinite(self.std_error[k]):
            return f"({_number(self.std_error[k])})"
        return f"[{_number(self.interval[k, 0])}, {_number(self.interval[k, 1])}]"


def _stacked(name: str, meaning: str) -> Any:
    """Return a property with one entry for each table."""
    return property(lambda tables: np.array([getattr(one, name) for one in tables]), doc=meaning)


class SummaryTables(tuple[SummaryTable, ...]):
    """The tables of several quantiles, in the order of the fit; a tuple of `SummaryTable`."""

    def without_last(self, count: int) -> SummaryTables:
        """Return the tables without their last rows."""
        return SummaryTables(one.without_last(count) for one in self)

    names = property(lambda tables: tables[0].names, doc="Names of the coefficients.")
    kind = property(lambda tables: tables[0].kind, doc="How the errors were computed.")
    quantile = _stacked("quantile", "The levels, (m,).")
    coef = _stacked("coef", "Coefficients, (m, p).")
    std_error = _stacked("std_error", "Standard errors, (m, p).")
    statistic = _stacked("statistic", "t statistics, (m, p).")
    p_value = _stacked("p_value", "p values, (m, p).")
    interval = _stacked("interval", "Confidence intervals, (m, p, 2).")

    def to_frame(self, library: str = "pandas") -> Any:
        """Return one data frame with a row per quantile and coefficient."""
        listed = [{"quantile": [one.quantile] * len(one.names), **one.columns()} for one in self]
        joined = {key: np.concatenate([one[key] for one in listed]) for key in listed[0]}
        return _frame(joined, library)

    def to_markdown(self) -> str:
        """Return the tables in Markdown, one after the other."""
        return "\n\n".join(one.to_markdown() for one in self)

    def to_latex(self) -> str:
        """Return one table in LaTeX with quantiles as columns, errors below coefficients."""
        head = ["", *(f"{one.quantile:g}" for one in self)]
        rows = []
        for k, name in enumerate(self.names):
            rows.append([name, *(_number(one.coef[k]) for one in self)])
            rows.append(["", *(one._in_brackets(k) for one in self)])
        rows.append(["Samples", *(f"{one.n_samples:.12g}" for one in self)])
        rows.append(["Pseudo R1", *(f"{one.pseudo_r1:.4f}" for one in self)])
        return _tabular([head, *rows], self[0]._above()[1:])

    def to_html(self) -> str:
        """Return the tables in HTML, one after the other."""
        return "\n".join(one.to_html() for one in self)

    def __str__(self) -> str:
        return "\n\n".join(map(str, self))

    __repr__ = __str__

    def _repr_html_(self) -> str:
        return self.to_html()


def _tabular(cells: list[list[str]], comments: list[str]) -> str:
    head, *lines = [" & ".join(map(_for_latex, row)) + r" \\" for row in cells]
    begin = r"\begin{tabular}{l" + "r" * (len(cells[0]) - 1) + "}"
    above = [*("% " + line for line in comments), begin, r"\toprule", head, r"\midrule"]
    return "\n".join([*above, *lines, r"\bottomrule", r"\end{tabular}"])


def _frame(columns: dict[str, Any], library: str) -> Any:
    """Return columns as a data frame."""
    if library not in ("pandas", "polars"):
        raise ValueError(f"library={library!r}: must be 'pandas' or 'polars'.")
    frames = optional(library, f"to_frame(library={library!r}) needs {library}")
    if library == "polars":
        return frames.DataFrame({key: list(value) for key, value in columns.items()})
    keys = ["quantile", "name"] if "quantile" in columns else "name"
    return frames.DataFrame(columns).set_index(keys)


def _number(value: float, form: str = ".6g") -> str:
    return "" if np.isnan(value) else f"{value:{form}}"


def _for_latex(cell: str) -> str:
    special = {"\\": r"\textbackslash{}", "|": r"\textbar{}", ">": r"\textgreater{}"}
    special |= {character: "\\" + character for character in "&%$#_{}"}
    return "".join(special.get(character, character) for character in cell)
