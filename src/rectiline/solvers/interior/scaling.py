"""Units in which every number of the program is of order one.

Columns get mean square 1 over the data (after centring, where an intercept takes up the means),
constraint rows norm 1 after that, columns that only constraints touch a largest entry of 1;
predictions are measured in median deviations of the targets (of the loss where they are largest),
and the objective so that the widths of the dual boxes of the samples add up to one. Answers are
certified in the user's units by the problem.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse as sp

from rectiline._typing import Indices, Vector
from rectiline.backends import Design
from rectiline.problems.forms import EpigraphForm, Samples, shapes_of

_ROUNDS = 4  # alternations between rows and columns that only constraints touch


@dataclass(frozen=True, slots=True, eq=False)
class Scales:
    """How the program's numbers relate to the user's.

    ``coef = prediction * column * b`` and ``z = shift + prediction * (centred rows' values)``;
    duals of samples are divided by ``prediction * objective``, of a row by ``row`` times that.
    """

    column: Vector  # all columns but the intercept
    centre: Vector | None
    shift: float
    rows: Vector  # rows of constraints and of an epigraph
    prediction: float
    objective: float


def measure(
    form: EpigraphForm,
    design: Design,
    samples: Samples,
    matrix: Any,
    is_exact: bool,
    size: float = 1.0,
) -> Scales:
    """Return the scales of a form; `matrix` holds the rows that are not samples.

    `is_exact`: all scales are powers of two and nothing is centred, so that nothing is rounded;
    otherwise the intercept takes up the means of columns and the middle of the targets.
    `size`: of the coefficients, in the units that the data alone suggest.
    """
    centre, spread = _columns(design, form.fit_intercept and not is_exact)
    column, rows = _alternate(spread, matrix, form.epigraph.n_columns)
    # Where the samples' losses bend, as predictions.
    shapes = [shapes_of(loss.curve) for loss in samples.losses]
    knots = samples.each([parts[0].knot if parts else 0.0 for parts in shapes])
    bends = samples.direction * (knots - samples.offset)
    middle, prediction = 0.0, 1.0
    if bends.size:
        middle = float(np.median(bends))
        away, losses = np.abs(bends - middle), samples.index
        # Rows of differences bend at zero, however far apart the targets of the others are.
        kinds = [...] if losses is None else [losses == kind for kind in np.unique(losses)]
        spread_of_bends = max(float(np.median(away[kind])) for kind in kinds)
        prediction = spread_of_bends or float(np.mean(np.abs(bends))) or 1.0
    prediction = size * max(prediction, _forced(form, design))
    if is_exact:
        prediction = float(_power(prediction))
    is_shifted = not is_exact and form.fit_intercept and np.ptp(samples.direction) == 0.0
    shift = middle if is_shifted else 0.0
    widths = samples.each([sum(one.width(prediction) for one in parts) for parts in shapes])
    width = float(np.sum(samples.weight * widths))
    if not bends.size:  # no data, but a linear term
        width = float(np.abs(form.linear * column[: form.linear.size]).max()) or 1.0
    objective = 1.0 / (width * prediction)
    if is_exact:
        objective = float(_power(objective))
    return Scales(column, centre, shift, rows, prediction, objective)


def _power(values: Any) -> Any:
    """Return the nearest powers of two: scaling by them rounds nothing."""
    return np.exp2(np.round(np.log2(values)))


def _forced(form: EpigraphForm, design: Design) -> float:
    """Return the size of predictions where constraints rule out zero coefficients, else 0."""
    near = form.point_near_zero
    if not near.any() or not design.n_samples:
        return 0.0
    z = design.dot(near)
    return float(np.median(np.abs(z - np.median(z) if form.fit_intercept else z)))


def _columns(design: Design, fit_intercept: bool) -> tuple[Vector | None, Vector]:
    """Return the means to subtract, if any, and the root mean square of each column of X."""
    squares = design.column_squares() / max(design.n_samples, 1)
    # Centring would fill a sparse matrix.
    if not fit_intercept or design.is_sparse:
        return None, np.sqrt(squares)
    centre = design.column_sums / design.n_samples
    # A constant column is left with nothing but rounding: it keeps its size.
    varies = squares - centre**2
    return centre, np.sqrt(np.where(varies > 1e-14 * squares, varies, squares))


def _alternate(spread: Vector, matrix: Any, width: int) -> tuple[Vector, Vector]:
    """Return the scales of all columns but the intercept, and of the rows of the matrix."""
    column = np.ones(width)
    data = np.zeros(width, dtype=bool)
    data[: spread.size] = spread > 0
    column[data] = 1.0 / spread[data[: spread.size]]
    if not data.all() and matrix.shape[0]:
        column[~data] = 0.0
        for _ in range(_ROUNDS):
            top = _column_tops(matrix, _row_norms(matrix, column))[~data]
            column[~data] = 1.0 / np.where(top > 0, top, 1.0)
    column = _power(column)
    return column, _power(_row_norms(matrix, column))


def _row_norms(matrix: Any, column: Vector) -> Vector:
    """Return the norm of every row, 1 for rows of zeros."""
    if not matrix.shape[0]:
        return np.zeros(0)
    norm = np.sqrt(Design(matrix).row_squares(column**2))
    return np.where(norm > 0, norm, 1.0)


def _column_tops(matrix: Any, norm: Vector) -> Vector:
    """Return the largest entry of every column after division of the rows by their norms."""
    if not sp.issparse(matrix):
        return np.asarray(np.max(np.abs(matrix) / norm[:, None], axis=0))
    return np.asarray((sp.diags_array(1.0 / norm) @ abs(matrix)).max(axis=0).toarray()).ravel()


# ---- the samples with weight ---------------------------------------------------------------------


def used_samples(form: EpigraphForm) -> tuple[Indices | slice, Samples]:
    """Return which rows of X are samples with a weight, and these."""
    used = form.weight > 0
    used[form.linear_rows] = False  # that term is a vector of the program
    active = slice(None) if used.all() else np.flatnonzero(used)
    return active, form.problem.data.samples.take(active)


def least_losses(samples: Samples) -> float:
    """Return what the constants of the losses add to the objective; a linear term has none."""
    values = []
    for loss in samples.losses:
        low, high = loss.curve.domain()
        values.append(loss.curve.minimum()[1] if low <= 0 <= high else 0.0)
    return float(np.sum(samples.weight * samples.each(values)))
