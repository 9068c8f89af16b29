"""Rows and units of the compiled method, collected block by block; see `units`."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse as sp

from rectiline.problems.forms import EpigraphForm
from rectiline.solvers.interior.samples import Samples

Vector = NDArray[np.float64]
Indices = NDArray[np.int64]

__all__ = ["Units", "add_columns", "add_samples", "opposites"]


@dataclass(slots=True)
class Units:
    """Rows with their units, collected block by block."""

    counts: list[Indices] = field(default_factory=list)  # entries of each row
    columns: list[Indices] = field(default_factory=list)
    values: list[Vector] = field(default_factory=list)
    row: list[Indices] = field(default_factory=list)
    fields: list[Vector] = field(default_factory=list)  # shift, low, high, soft
    n_rows: int = 0
    n_units: int = 0

    def add_rows(self, matrix: Any, row: Vector, column: Vector, last: Vector | None = None) -> int:
        """Add rows divided by `row`, their columns times `column`; return the number of the first.

        `last` holds the entries of a further last column.
        """
        first = self.n_rows
        if not matrix.shape[0]:
            return first
        counts, columns, values = _compressed(matrix)
        values = values * column[columns] / np.repeat(row, counts)
        if last is not None:
            counts = counts + 1
            ends = np.cumsum(counts) - 1
            others = np.ones(columns.size + last.size, dtype=bool)
            others[ends] = False
            columns, values = _spread(columns, others), _spread(values, others)
            columns[ends], values[ends] = column.size, last
        self.counts.append(counts)
        self.columns.append(columns)
        self.values.append(values)
        self.n_rows += counts.size
        return first

    def add_single(self, columns: Indices) -> Indices:
        """Add a row for each of some coefficients; return their numbers."""
        first, self.n_rows = self.n_rows, self.n_rows + columns.size
        self.counts.append(np.ones(columns.size, dtype=np.int64))
        self.columns.append(columns)
        self.values.append(np.ones(columns.size))
        return first + np.arange(columns.size)

    def add(self, row: Any, shift: Any, low: Any, high: Any, soft: Any = 0.0) -> slice:
        """Add a unit to each of some rows; return their places."""
        numbers = np.empty((4, len(row)))
        for k, one in enumerate((shift, low, high, soft)):
            numbers[k] = one
        self.row.append(np.asarray(row, dtype=np.int64))
        self.fields.append(numbers)
        first, self.n_units = self.n_units, self.n_units + len(row)
        return slice(first, self.n_units)

    def compiled(self, method: Any, rho: Vector, linear: Vector, by_rows: bool) -> Any:
        """Return the compiled method at its start."""
        begin = np.zeros(self.n_rows + 1, dtype=np.int64)
        np.cumsum(np.concatenate(self.counts), out=begin[1:])
        columns, values = np.concatenate(self.columns), np.concatenate(self.values)
        fields = np.ascontiguousarray(np.concatenate(self.fields, axis=1))
        return method(
            begin, columns, values, np.concatenate(self.row), *fields, rho, linear, by_rows
        )


def _spread(entries: Any, places: NDArray[np.bool_]) -> Any:
    """Return a longer vector with the entries in the given places."""
    longer = np.zeros(places.size, dtype=entries.dtype)
    longer[places] = entries
    return longer


def opposites(matrix: Any) -> tuple[Any, Indices, NDArray[np.bool_]]:
    """Return rows to keep, and for every row its place among them and whether it is the opposite.

    Rows that are bounded on both sides come twice, as they are and as their negatives.
    """
    n = int(matrix.shape[0])
    is_opposite = np.zeros(n, dtype=bool)
    if n < 2:
        return slice(None), np.arange(n), is_opposite
    key = matrix @ np.sqrt(np.arange(2.0, matrix.shape[1] + 2.0))
    order = np.argsort(np.abs(key), kind="stable")
    pairs = key[order[1:]] == -key[order[:-1]]
    pairs[1:] &= ~pairs[:-1]
    one, other = order[:-1][pairs], order[1:][pairs]
    if not one.size:
        return slice(None), np.arange(n), is_opposite
    same = np.asarray(abs(matrix[one] + matrix[other]).sum(axis=1)).ravel() == 0.0
    one, other = one[same], other[same]
    is_opposite[other] = True
    kept = np.flatnonzero(~is_opposite)
    place = np.zeros(n, dtype=np.int64)
    place[kept] = np.arange(kept.size)
    place[other] = place[one]
    return (kept if other.size else slice(None)), place, is_opposite


def _compressed(matrix: Any) -> tuple[Indices, Indices, Vector]:
    """Return the number of entries of each row, their columns and their values."""
    if not sp.issparse(matrix):
        n, d = matrix.shape
        if matrix.all():
            return np.full(n, d), np.tile(np.arange(d), n), matrix.ravel().astype(np.float64)
        at, columns = np.nonzero(matrix)
        counts = np.bincount(at, minlength=matrix.shape[0])
        return counts.astype(np.int64), columns.astype(np.int64), matrix[at, columns]
    rows = sp.csr_array(matrix)
    if not rows.has_canonical_format:
        rows = rows.copy() if rows is matrix else rows
        rows.sum_duplicates()
    return np.diff(rows.indptr).astype(np.int64), rows.indices.astype(np.int64), rows.data


def add_samples(
    form: EpigraphForm, samples: Samples, units: Units, column: Vector, ys: float, unit: float
) -> list[tuple[Any, slice]]:
    """Add the rows of the data with their losses; return where the units of the samples are."""
    X = form.design.X if samples.active is None else form.design.by_rows.X[samples.active]
    direction = samples.direction  # a sign divides as it multiplies
    units.add_rows(X, direction, column, direction if form.fit_intercept else None)
    found = []
    for slot in samples.slots:
        where = slot.rows(samples.index)
        index = samples.index if where is None or samples.index is None else samples.index[where]
        chosen = np.arange(samples.weight.size) if where is None else where
        weight = samples.weight[chosen]
        shift = (samples.offset[chosen] - slot.on_rows("knot", index)) / ys
        low, high = weight * slot.on_rows("low", index), weight * slot.on_rows("high", index)
        soft = slot.on_rows("soft", index) / (weight * ys * unit)
        found.append((chosen, units.add(chosen, shift, low * unit, high * unit, soft)))
    return found


def add_columns(form: EpigraphForm, units: Units, size: Vector, objective: float) -> None:
    """Add a row for each coefficient with a price or a bound, with units for these."""
    columns, d = form.columns, form.design.n_features
    used = np.flatnonzero(
        (columns.l1 > 0) | np.isfinite(columns.lower) | np.isfinite(columns.upper)
    )
    place = np.zeros(d, dtype=np.int64)
    place[used] = units.add_single(used)
    cap = columns.l1 * size[:d] * objective
    low, high = -columns.lower / size[:d], -columns.upper / size[:d]
    fixed = columns.lower == columns.upper  # an equality: two bounds would leave no room
    for chosen, shift, least, most in (
        (columns.l1 > 0, np.zeros(d), -cap, cap),
        (np.isfinite(low) & ~fixed, low, np.full(d, -np.inf), np.zeros(d)),
        (np.isfinite(high) & ~fixed, high, np.zeros(d), np.full(d, np.inf)),
        (fixed, low, np.full(d, -np.inf), np.full(d, np.inf)),
    ):
        at = np.flatnonzero(chosen)
        units.add(place[at], shift[at], least[at], most[at])
