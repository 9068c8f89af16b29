"""Tables of coefficients with their errors, tests and intervals: what `summary` returns."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np

from rectiline._typing import Matrix, Vector
from rectiline.inference import _render

__all__ = ["SummaryTable", "SummaryTables"]


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
        return _render.frame(self.columns(), library)

    def to_markdown(self) -> str:
        """Return the table in Markdown."""
        return _render.markdown(self)

    def to_latex(self) -> str:
        """Return the table in LaTeX, with rules of the booktabs package."""
        return _render.latex(self)

    def to_html(self) -> str:
        """Return the table in HTML."""
        return _render.html(self)

    def __str__(self) -> str:
        return _render.text(self)

    __repr__ = __str__

    def _repr_html_(self) -> str:
        return self.to_html()


def _stacked(name: str, meaning: str) -> Any:
    """Return a property with one entry for each table."""
    return property(lambda tables: np.array([getattr(one, name) for one in tables]), doc=meaning)


class SummaryTables(tuple[SummaryTable, ...]):
    """The tables of several quantiles, in the order of the fit; a tuple of `SummaryTable`."""

    def __new__(cls, tables: Iterable[SummaryTable]) -> Self:
        """Hold the tables."""
        return super().__new__(cls, tuple(tables))

    def without_last(self, count: int) -> SummaryTables:
        """Return the tables without their last rows."""
        return SummaryTables(one.without_last(count) for one in self)

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the coefficients, the same for every level."""
        return self[0].names

    quantile = _stacked("quantile", "The levels, (m,).")
    coef = _stacked("coef", "Coefficients, (m, p).")
    std_error = _stacked("std_error", "Standard errors, (m, p).")
    statistic = _stacked("statistic", "t statistics, (m, p).")
    p_value = _stacked("p_value", "p values, (m, p).")
    interval = _stacked("interval", "Confidence intervals, (m, p, 2).")

    @property
    def kind(self) -> str:
        """How the errors were computed."""
        return self[0].kind

    def to_frame(self, library: str = "pandas") -> Any:
        """Return one data frame with a row per quantile and coefficient."""
        listed = [{"quantile": [one.quantile] * len(one.names), **one.columns()} for one in self]
        joined = {key: np.concatenate([one[key] for one in listed]) for key in listed[0]}
        return _render.frame(joined, library)

    def to_markdown(self) -> str:
        """Return the tables in Markdown, one after the other."""
        return "\n\n".join(one.to_markdown() for one in self)

    def to_latex(self) -> str:
        """Return one table in LaTeX with quantiles as columns, errors below coefficients."""
        return _render.latex_of_quantiles(self)

    def to_html(self) -> str:
        """Return the tables in HTML, one after the other."""
        return "\n".join(one.to_html() for one in self)

    def __str__(self) -> str:
        return "\n\n".join(map(str, self))

    __repr__ = __str__

    def _repr_html_(self) -> str:
        return self.to_html()
