"""Read a fitted estimator and its training data into a `Fit`, or refuse with the reason."""

from __future__ import annotations

import warnings
from dataclasses import replace
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from rectiline._typing import Matrix, Vector
from rectiline.inference._fit import Fit, check_squares, full_rank
from rectiline.inference._rows import Rows

_NAMES_SHOWN = 5  # names listed in a message
_SAME_TOTAL = 1e-6  # relative difference of the sum of weights from n that is rounding
_SAME_LOSS = 1e-6  # relative difference of losses above which the data are not those of the fit


def read_fit(
    model: Any,
    X: Any,
    y: Any,
    sample_weight: Any = None,
    weights_are: str | None = None,
    *,
    penalised: bool = False,
) -> Fit:
    """Return the record of a fit; raise ValueError if no standard error is valid for it.

    Parameters
    ----------
    weights_are : {"frequency", "probability"}, optional
        None is "frequency", with a warning where the weights do not look like it.
    penalised : bool, default=False
        Whether a penalty or an active constraint is accepted, as for a bootstrap.
    """
    check_is_fitted(model)
    if not hasattr(model, "_inference_terms"):  # estimators that have standard errors have it
        raise TypeError(
            "model must be a QuantileRegressor, PLQRegressor or PLQClassifier; got "
            f"{type(model).__name__}."
        )
    given = (X, y)
    X, y, weight = model._inference_data(X, y, sample_weight)
    reason = model._why_no_standard_errors(X)
    if reason is not None and not penalised:
        raise ValueError(f"No valid standard errors: {reason} {_WAYS_OUT}")
    losses, levels, targets = model._inference_terms(y)
    fit = Fit(
        rows=Rows(X, bool(model.fit_intercept)),
        targets=targets,
        weight=weight,
        coef=with_intercepts(model),
        levels=levels,
        losses=losses,
        names=_names(model),
        multipliers=None,
        gap=_gap(model),
        model=model,
        given=given,
        is_plain=reason is None,
    )
    if fit.rows.in_blocks:
        multipliers = _split_multipliers(fit)
    elif reason is None:
        multipliers = _multipliers(fit, model._dual_coef(*given, sample_weight))
    else:
        multipliers = _multipliers(fit, getattr(model, "dual_coef_", None))
    fit = given_fit = replace(fit, multipliers=multipliers)
    if weights_are not in (None, "frequency", "probability"):
        raise ValueError(
            f"weights_are={weights_are!r}: must be 'frequency' (a weight counts equal samples) or "
            "'probability' (survey weights and others: each sample is one observation)."
        )
    if weights_are == "probability":
        share = np.count_nonzero(weight) / weight.sum()
        fit = replace(fit, weight=share * weight, has_probabilities=True)
    elif weights_are is None:
        _warn_about_units(weight)
    if reason is not None:
        return fit
    if fit.n <= fit.p or np.count_nonzero(weight) <= fit.p:
        raise ValueError(
            f"Standard errors need more samples than coefficients; there are {fit.n:g} samples "
            f"(the sum of the weights) in {np.count_nonzero(weight)} rows and {fit.p} coefficients."
        )
    _check_same_data(given_fit)
    for j, size in enumerate(fit.rows.largest()):
        check_squares(f"Column {j} of X", size)
    if not full_rank(fit.gram):
        shown = ", ".join(map(repr, _redundant(fit)[:_NAMES_SHOWN]))
        raise ValueError(
            "The columns of X (with the intercept) are linearly dependent, so that the "
            f"coefficients are not determined. Drop redundant columns, such as {shown}, and fit "
            "again."
        )
    return fit


def with_intercepts(model: Any) -> Matrix:
    """Return one row of coefficients for each level, the intercept first."""
    coef = np.atleast_2d(np.asarray(model.coef_, dtype=np.float64))
    if not model.fit_intercept:
        return coef
    return np.column_stack([np.atleast_1d(model.intercept_), coef])


def _redundant(fit: Fit) -> list[str]:
    """Return names of columns that the columns before them span."""
    scale = np.sqrt(np.maximum(np.diag(fit.gram), 1e-300))
    gram, kept = fit.gram / np.outer(scale, scale), list[int]()
    for j in range(fit.p):
        if full_rank(gram[np.ix_([*kept, j], [*kept, j])]):
            kept.append(j)
    return [name for j, name in enumerate(fit.names) if j not in kept]


def _warn_about_units(weight: Vector) -> None:
    """Warn about weights that are hardly frequencies: the errors depend on their unit."""
    total, n = float(weight.sum()), weight.size
    if (weight != np.round(weight)).any() and abs(total - n) > _SAME_TOTAL * n:
        warnings.warn(
            f"sample_weight counts as frequencies, so that there are {total:g} samples where X has "
            f"{n} rows. Pass weights_are='probability' for survey weights or any others that do "
            "not count copies (as R takes them), or weights_are='frequency' to keep this.",
            UserWarning,
            stacklevel=4,
        )


def _names(model: Any) -> tuple[str, ...]:
    given = getattr(model, "feature_names_in_", getattr(model, "_sparse_names", None))
    if given is None:
        given = [f"x{j}" for j in range(model.n_features_in_)]
    first = ["(intercept)"] if model.fit_intercept else []
    return (*first, *(str(name) for name in given))


def _multipliers(fit: Fit, dual_coef: Any) -> Matrix | None:
    """Return the slopes per unit of weight, NaN where the weight is zero."""
    weight = fit.weight
    if dual_coef is None or np.shape(dual_coef)[-1] != weight.size:
        return None
    slopes = np.atleast_2d(dual_coef)
    factor = _strength(fit) * weight
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(weight > 0, slopes / factor, np.nan)


def _split_multipliers(fit: Fit) -> Matrix | None:
    """Return the slopes of rows in blocks: those of their losses, or the listed multipliers."""
    solved = fit.model.solution_
    duals = [one.dual for one in (solved if isinstance(solved, tuple) else (solved,))]
    if len(duals) != fit.m or not all(hasattr(one, "split_coef") for one in duals):
        return None
    made = fit.slopes(fit.arguments)
    for slope, dual in zip(made, duals, strict=True):
        weight = fit.weight[dual.rows]
        with np.errstate(divide="ignore", invalid="ignore"):
            slope[dual.rows] = np.where(weight > 0, dual.share * dual.values / weight, np.nan)
    return made


def _strength(fit: Fit) -> float:
    """Return the factor on the losses in the objective of the problems of the fit."""
    if fit.rows.in_blocks:
        return 1.0
    return float(getattr(fit.model, "C_", getattr(fit.model, "C", 1.0)))


def _gap(model: Any) -> float:
    proofs = model.certificate_
    listed = proofs if isinstance(proofs, tuple) else (proofs,)
    return max(float(one.relative_gap) for one in listed)


def _check_same_data(fit: Fit) -> None:
    """Raise if the losses on these data are not what the certificate of the fit says."""
    # Certificates of solutions are in units of the sum of losses, whatever the estimator reports.
    solved = fit.model.solution_
    listed = [one.certificate for one in (solved if isinstance(solved, tuple) else (solved,))]
    if fit.multipliers is None:
        raise ValueError(_OTHER_DATA)
    if len(listed) != fit.m:
        return
    scale = _strength(fit)
    for loss, z, proof in zip(fit.losses, fit.predictions, listed, strict=True):
        found = scale * float(np.sum(loss.value(fit.targets, z, fit.weight)))
        if abs(found - proof.primal) > _SAME_LOSS * max(abs(proof.primal), abs(found)):
            raise ValueError(
                f"{_OTHER_DATA} The loss was {proof.primal:.8g} at the fit and is {found:.8g}."
            )


_WAYS_OUT = (
    "What may be done: fit without it; refit on the selected columns (the errors then ignore the "
    "selection); or kind='bootstrap', whose spread does not include the bias of the penalty nor "
    "the corner at a constraint."
)
_OTHER_DATA = (
    "X, y and sample_weight must be those that the model was fitted on, the weights included."
)
