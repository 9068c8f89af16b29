"""What users pass to `Problem`, by name or as objects, read into its parts."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse as sp

from rectiline._column_names import names_of
from rectiline._numbers import real_array, refuse_masked
from rectiline._typing import Vector
from rectiline.backends import Design, as_design
from rectiline.constraints import Constraint, ConstraintRows, combine, named_constraints
from rectiline.losses import LinearTerm, Loss, PiecewiseLQ
from rectiline.penalties import Fused, Penalty, Ridge
from rectiline.penalties import get as get_penalty
from rectiline.problems._block_samples import BlockSamples, Encoding
from rectiline.problems._data import BlockData, Data
from rectiline.problems._region import Region
from rectiline.problems._samples import Samples, checked_losses
from rectiline.problems._terms import Terms
from rectiline.rows import RowBlocks

DEFAULT_PENALTY = Ridge(1.0)  # recognised by identity: it does not apply where y is None
NOT_GIVEN: Any = ...  # the default of a loss: None in its place may be the penalty of rows
_MOST_UNSCALED_EXPONENT = 40  # rows whose largest entry is within 2**-40 .. 2**40 stay as they are
_LARGEST_EXPONENT = 1000  # that scaled constants may have


# Source, terms and names of the columns of a problem, checked.
Parts = tuple[Data | BlockData, Terms, NDArray[Any] | None]


@np.errstate(all="ignore")
def read_rows(
    rows: RowBlocks,
    loss: Any,
    penalty: Any = DEFAULT_PENALTY,
    constraints: Any = (),
    fit_intercept: bool | None = None,
    encoding: Encoding | None = None,
    **others: Any,
) -> Parts:
    """Check the arguments of a problem on rows in blocks; `others` must not be given."""
    given = [name for name, value in others.items() if value is not None]
    if given or isinstance(penalty, Fused):
        what = given[0] if given else "penalty=Fused(...)"
        raise ValueError(
            f"{what} needs X in memory, and cannot go with rows in blocks, which hold their own y "
            "and weights. Leave it out, or pass arrays."
        )
    names = None if rows.feature_names is None else np.asarray(rows.feature_names)
    intercept = True if fit_intercept is None else bool(fit_intercept)
    samples = BlockSamples.of(rows, loss, intercept, encoding)
    terms = terms_of(penalty, constraints, rows.n_features, names, None, is_in_memory=False)
    return BlockData(rows, samples), terms, names


@np.errstate(all="ignore")  # sizes that overflow are refused or end as unsolved
def read_arrays(
    X: Any,
    y: ArrayLike | None,
    loss: Any,
    penalty: str | Penalty | Fused | None,
    constraints: Any,
    fit_intercept: bool | None,
    *,
    sample_weight: ArrayLike | None,
    loss_index: ArrayLike | None,
    linear: ArrayLike | None,
    feature_names: Sequence[str] | NDArray[Any] | None,
) -> Parts:
    """Check the arguments of `Problem`, which describes them, for arrays in memory."""
    refuse_masked("y", y)
    if y is None and penalty is DEFAULT_PENALTY:
        penalty = None
    names = names_of(X) if feature_names is None else np.asarray(feature_names)
    if X is None:
        data = _without_rows(y, loss, sample_weight, fit_intercept, linear)
    else:
        losses = checked_losses(loss, loss_index)  # first: a forgotten loss is a common mistake
        design = as_design(X)
        if y is None and losses[0].of == "margin":
            raise ValueError(f"y is None, but {losses[0]!r} is a loss of the margin: give labels.")
        intercept = y is not None if fit_intercept is None else bool(fit_intercept)
        targets = np.zeros(design.n_samples) if y is None else y
        samples = Samples.of(
            losses, targets, sample_weight, intercept, loss_index, design.n_samples
        )
        check_size(samples)
        data = Data(design, samples)
    d = data.n_features
    if names is not None and names.shape != (d,):
        raise ValueError(
            f"feature_names has shape {names.shape}; X has {d} columns and needs a name for each."
        )
    vector = None if linear is None else checked_linear(linear, d)
    if vector is not None and data.samples.fit_intercept:
        raise ValueError(
            "A linear term goes with fit_intercept=False. For an intercept add a column of ones "
            "to X without a penalty, such as a zero among the weights of L1."
        )
    if isinstance(penalty, Fused) and (X is None or data.samples.fit_intercept):
        raise ValueError(
            "Fused goes with data and fit_intercept=False: its rows have no intercept. For one "
            "add a column of ones to X and leave it out of Fused(columns=...)."
        )
    fused, penalty = (penalty, penalty.rest) if isinstance(penalty, Fused) else (None, penalty)
    terms = terms_of(penalty, constraints, d, names, None if X is None else data.design)
    of = data.samples.losses[0].of
    if fused is not None:
        data = _with_rows(data, fused.matrix(d), _loss_of_differences(fused, of), fused.strength)
    if vector is not None and (X is None or vector.any()):
        data = _with_rows(data, vector[None, :], LinearTerm(of), 1.0)
    return data, terms, names


@np.errstate(all="ignore")  # sizes that overflow are refused or end as unsolved
def terms_of(
    penalty: Any,
    constraints: Any,
    d: int,
    names: NDArray[Any] | None,
    design: Design | None,
    is_in_memory: bool = True,
) -> Terms:
    """Return penalty and constraints, by name or as objects, as the terms of a problem."""
    made = get_penalty(penalty, d, names=names)
    asked = tuple(named_constraints(constraints, names=names, n_features=d))
    parts = [_rows_of(one, d, design, is_in_memory) for one in asked]
    counts = tuple((one.c.size, one.f.size) for one in parts)
    return Terms(made, Region(with_ordinary_rows(combine(parts, d, names))), asked, counts)


def _rows_of(one: Constraint, d: int, design: Design | None, is_in_memory: bool) -> ConstraintRows:
    """Return the rows of a constraint, or say that they cannot be made of rows in blocks."""
    try:
        return one.rows(d, design)
    except ValueError as error:
        if is_in_memory:
            raise
        raise ValueError(
            f"{one!r} cannot be stated for rows in blocks: {error} Constraints that look at X need "
            "it in memory."
        ) from error


def check_size(samples: Samples) -> None:
    """Raise ValueError if the objective is infinite before anything is fitted."""
    finite = math.isfinite(samples.loss_at_zero) and math.isfinite(samples.total_weight)
    if not finite:
        raise ValueError(
            f"The loss of zero coefficients overflows float64 (largest |y| or offset "
            f"{np.abs(samples.offset).max():.1e}, largest sample weight "
            f"{samples.weight.max():.1e}): rescale y or sample_weight."
        )


def _without_rows(
    y: Any, loss: Any, sample_weight: Any, fit_intercept: bool | None, linear: Any
) -> Data:
    """Return the data of a problem that has no rows yet and will have a linear term."""
    given = {"y": y, "loss": loss, "sample_weight": sample_weight}
    unused = [name for name, value in given.items() if value is not None]
    if unused or fit_intercept:
        shown = ", ".join([*unused, *(["fit_intercept=True"] if fit_intercept else [])])
        raise ValueError(f"X is None, so there are no samples; leave out {shown}.")
    if linear is None:
        raise ValueError(
            "X is None and there is no linear term: there is nothing to minimise. Give X, y and a "
            "loss, or `linear`."
        )
    nothing = np.zeros(0)
    samples = Samples((LinearTerm(),), None, nothing, nothing, nothing, False)
    return Data(Design(np.empty((0, checked_linear(linear, None).size))), samples)


# ---- rows of X that are no samples: a linear term, differences -----------------------------------


def _with_rows(data: Data, X: Any, loss: Loss, weight: float) -> Data:
    """Return the data with rows that have a loss of their value, of the samples' kind."""
    ones = np.ones(X.shape[0])
    sign = -ones if loss.of == "residual" else ones
    return data.with_rows(X, Samples((loss,), None, sign, 0.0 * ones, weight * ones, False))


def _loss_of_differences(penalty: Fused, of: Any) -> Loss:
    """Return what the penalty charges for a difference, for strength one."""
    if penalty.squared:
        return PiecewiseLQ([], [[0.5, 0.0, 0.0]], of=of)
    return PiecewiseLQ([0.0], [[0.0, -1.0, 0.0], [0.0, 1.0, 0.0]], of=of)


def checked_linear(linear: Any, n_features: int | None) -> Vector:
    """Return the coefficients of the linear term, one finite number per column."""
    vector = real_array("linear", linear)
    if vector.ndim != 1 or n_features not in (None, vector.size) or not vector.size:
        wanted = "a vector" if n_features is None else f"{n_features} numbers, one per column"
        raise ValueError(f"linear must hold {wanted}; got shape {vector.shape}.")
    if not np.isfinite(vector).all():
        j = int(np.argmin(np.isfinite(vector)))
        raise ValueError(f"linear must hold finite numbers; linear[{j}] is {vector[j]}.")
    return vector


# ---- rows of constraints -------------------------------------------------------------------------


def with_ordinary_rows(rows: ConstraintRows) -> ConstraintRows:
    """Return constraints that hold for the same coefficients, without rows of extreme size.

    Squares of entries beyond 1e154 overflow and those below 1e-154 vanish. Rows of ordinary size
    are left as they are, so that their multipliers are in the user's units; powers of two round
    nothing.

    Examples
    --------
    >>> import numpy as np
    >>> from rectiline.constraints import ConstraintRows
    >>> rows = ConstraintRows.make(2, A=np.array([[2.0**-700, 0.0]]), c=np.array([-(2.0**-700)]))
    >>> scaled = with_ordinary_rows(rows)
    >>> scaled.A, scaled.c
    (array([[1., 0.]]), array([-1.]))
    """
    A, c = _scaled(rows.A, rows.c)
    E, f = _scaled(rows.E, rows.f)
    if A is rows.A and E is rows.E:
        return rows
    return replace(rows, A=A, c=c, E=E, f=f)


def _scaled(matrix: Any, constant: Vector) -> tuple[Any, Vector]:
    if not constant.size or not matrix.shape[1]:
        return matrix, constant
    largest = abs(matrix).max(axis=1)
    largest = np.asarray(largest.toarray() if sp.issparse(largest) else largest).ravel()
    exponent = np.where(largest > 0, np.frexp(largest)[1] - 1, 0)
    exponent = np.where(np.abs(exponent) > _MOST_UNSCALED_EXPONENT, exponent, 0)
    # A constant must stay a finite number: such a row is scaled less.
    room = np.where(constant != 0, np.frexp(constant)[1], -_LARGEST_EXPONENT) - _LARGEST_EXPONENT
    exponent = np.maximum(exponent, room)
    if not exponent.any():
        return matrix, constant
    if sp.issparse(matrix):
        each = np.repeat(exponent, np.diff(matrix.indptr))
        data = np.ldexp(matrix.data, -each)
        matrix = sp.csr_array((data, matrix.indices, matrix.indptr), shape=matrix.shape)
    else:
        matrix = np.ldexp(matrix, -exponent[:, None])
    return matrix, np.ldexp(constant, -exponent)
