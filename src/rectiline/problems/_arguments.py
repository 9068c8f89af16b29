"""What users pass to `Problem`, by name or as objects, read into its parts."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from rectiline._column_names import names_of
from rectiline._numbers import refuse_masked
from rectiline.backends import Design, as_design
from rectiline.constraints import Constraint, ConstraintRows, combine, named_constraints
from rectiline.penalties import Fused, Penalty, Ridge
from rectiline.penalties import get as get_penalty
from rectiline.problems._block_samples import BlockSamples, Encoding
from rectiline.problems._data import BlockData, Data
from rectiline.problems._extra_rows import (
    checked_linear,
    with_difference_rows,
    with_linear_row,
)
from rectiline.problems._inputs import checked_losses
from rectiline.problems._region import Region
from rectiline.problems._row_scales import with_ordinary_rows
from rectiline.problems._samples import Samples
from rectiline.problems._terms import Terms
from rectiline.rows import RowBlocks

__all__ = ["DEFAULT_PENALTY", "Parts", "check_size", "read_arrays", "read_rows", "terms_of"]

DEFAULT_PENALTY = Ridge(1.0)  # recognised by identity: it does not apply where y is None


class Parts(NamedTuple):
    """The parts of a problem, checked."""

    source: Data | BlockData
    terms: Terms
    feature_names: NDArray[Any] | None


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
    return Parts(BlockData(rows, samples), terms, names)


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
    design: Design | None = None
    samples: Samples | None = None
    if X is None:
        d = _without_data(y, loss, sample_weight, fit_intercept, linear)
    else:
        losses = checked_losses(loss, loss_index)  # first: a forgotten loss is a common mistake
        design = as_design(X)
        n, d = design.n_samples, design.n_features
        if y is None and losses[0].of == "margin":
            raise ValueError(f"y is None, but {losses[0]!r} is a loss of the margin: give labels.")
        intercept = y is not None if fit_intercept is None else bool(fit_intercept)
        targets = np.zeros(n) if y is None else y
        samples = Samples.of(loss, targets, sample_weight, intercept, loss_index, n)
    if names is not None and names.shape != (d,):
        raise ValueError(
            f"feature_names has shape {names.shape}; X has {d} columns and needs a name for each."
        )
    vector = None if linear is None else checked_linear(linear, d)
    if vector is not None and samples is not None and samples.fit_intercept:
        raise ValueError(
            "A linear term goes with fit_intercept=False. For an intercept add a column of ones "
            "to X that pays no penalty, such as a zero among the weights of L1."
        )
    if isinstance(penalty, Fused) and (samples is None or samples.fit_intercept):
        raise ValueError(
            "Fused goes with data and fit_intercept=False: its rows have no intercept. For one "
            "add a column of ones to X and leave it out of Fused(columns=...)."
        )
    if samples is not None:
        check_size(samples)
    fused, penalty = (penalty, penalty.rest) if isinstance(penalty, Fused) else (None, penalty)
    terms = terms_of(penalty, constraints, d, names, design)
    if fused is not None:
        assert design is not None and samples is not None
        design, samples = with_difference_rows(design, samples, fused)
    if vector is not None and (design is None or vector.any()):
        design, samples = with_linear_row(design, samples, vector)
    assert design is not None and samples is not None
    return Parts(Data.of(design, samples), terms, names)


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
    return Terms.of(made, Region(with_ordinary_rows(combine(parts, d, names))), asked, counts)


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


def _without_data(
    y: Any, loss: Any, sample_weight: Any, fit_intercept: bool | None, linear: Any
) -> int:
    """Return the number of coefficients of a problem that has no data but a linear term."""
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
    return int(checked_linear(linear, None).size)
