"""Covariances of fits, kind by kind, as the breads and meats of sandwiches.

Kinds "iid", "nid" and "kernel" are for quantiles. With J = X'WX and densities f_i at the fitted
quantile, levels s and t have the covariance ``(min(s, t) - s t) H_s^-1 J H_t^-1`` with
``H = X' diag(w f) X`` (Koenker and Bassett 1982; Hendricks and Koenker 1992; Powell 1991). Kind
"iid" has one density for all samples.

Kinds "sandwich", "margin_density" and "cluster" are for any loss phi. With its derivative psi at
the arguments t_i (residuals or margins),

    A = sum_i w_i phi''(t_i) x_i x_i',   B = sum_i w_i psi(t_i)^2 x_i x_i',   cov = A^-1 B A^-1

(Huber 1973; White 1980). A kink of phi adds to phi'' its jump of slope times a kernel estimate of
the density of t at the kink, which for the hinge is the result of Koo, Lee, Kim and Park (2008).
With clusters B sums the outer products of the clusters' gradients (Parente and Santos Silva 2016).
"""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.stats import norm

from rectiline._typing import Matrix, Vector
from rectiline.inference._densities import (
    KERNELS,
    bandwidth,
    kernel_sparsity,
    kernel_width,
    median_deviation,
    order_sparsity,
    spread,
    standard_deviation,
)
from rectiline.inference._fit import Fit, Options, Parts
from rectiline.inference._read_fit import with_intercepts

_SMALLEST_STEP = float(np.finfo(np.float64).eps) ** (2.0 / 3.0)


def quantile_parts(fit: Fit, kind: str, options: Options) -> Parts:
    """Return the parts of kinds "iid", "nid" and "kernel"."""
    densities, notes = _densities(fit, kind, options)
    breads = [fit.rows.gram(fit.weight * one) for one in densities]
    share = np.minimum.outer(fit.levels, fit.levels) - np.outer(fit.levels, fit.levels)
    return Parts(np.array(breads), share[:, :, None, None] * fit.gram, fit.n - fit.p, notes)


def sandwich_parts(fit: Fit, kind: str, options: Options) -> Parts:
    """Return the parts for any loss; samples of a cluster may depend on one another."""
    slopes, bends = fit.scores, _bends
    if kind == "cluster":
        labels, count = checked_groups(options.groups, fit.rows.n)
        sums = np.array([fit.rows.group_sums(fit.weight * one, labels, count) for one in slopes])
        meats, df, head = np.einsum("sgi,tgj->stij", sums, sums), count - 1.0, f"{count} clusters"
        bends = _quantile_bends if fit.is_quantile else _bends
    else:
        # Of the squares of gradients: a frequency counts copies, a probability scales.
        weight = fit.weight**2 if fit.has_probabilities else fit.weight
        meats = np.array([[fit.rows.gram(weight * s * t) for t in slopes] for s in slopes])
        df, head = fit.n - fit.p, ""
    made, notes = bends(fit, options)
    breads = np.array([fit.rows.gram(fit.weight * one) for one in made])
    told = tuple(", ".join(part for part in (head, one) if part) for one in notes)
    return Parts(breads, meats, df, told)


# ---- densities of residuals at fitted quantiles -------------------------------------------------


def _densities(fit: Fit, kind: str, options: Options) -> tuple[Matrix, tuple[str, ...]]:
    """Return densities of the residuals at the fitted quantiles, (m, n), and notes about them."""
    widths = _bandwidths(fit, options)
    if kind == "nid":
        made, notes = difference_densities(fit, options), [""] * fit.m
    else:
        found = [_SMOOTHERS[kind](fit, k, h, options) for k, h in enumerate(widths.tolist())]
        made, notes = np.array([one for one, _ in found]), [f", {note}" for _, note in found]
    rule = options.bandwidth if isinstance(options.bandwidth, str) else "given"
    pairs = zip(widths, notes, strict=True)
    return made, tuple(f"bandwidth {h:.4g} ({rule}){note}" for h, note in pairs)


def _bandwidths(fit: Fit, options: Options) -> Vector:
    return np.array([bandwidth(options.bandwidth, level, fit.n) for level in fit.levels])


def _one_density(fit: Fit, k: int, h: float, options: Options) -> tuple[Vector, str]:
    """Return one density for all samples, whose residuals are identically distributed."""
    if options.sparsity != "order" and options.sparsity not in KERNELS:
        raise ValueError(
            f"sparsity={options.sparsity!r}: must be 'order' (order statistics, as R) or a kernel, "
            f"one of {sorted(KERNELS)} (as Stata)."
        )
    residual, level, unique = fit.settled[k], fit.levels[k], True
    if options.sparsity == "order":
        sparsity, unique = order_sparsity(residual, fit.weight, fit.p, h)
    else:
        sparsity = kernel_sparsity(residual, fit.weight, level, h, options.sparsity)
    note = f"sparsity {sparsity:.6g}{'' if unique else ' (not unique)'}"
    return np.full(fit.rows.n, 1.0 / sparsity), note


def _gaussian_density(fit: Fit, k: int, h: float, options: Options) -> tuple[Vector, str]:
    """Return a Gaussian kernel on the residuals (Powell's sandwich)."""
    width = kernel_width(fit.arguments[k], fit.weight, fit.levels[k], h)
    return norm.pdf(fit.arguments[k] / width) / width, f"kernel width {width:.6g}"


def _uniform_density(fit: Fit, k: int, h: float, options: Options) -> tuple[Vector, str]:
    """Return a uniform kernel on the residuals, ``1(|u_i| <= c) / (2 c)``."""
    residual, level = fit.arguments[k], fit.levels[k]
    step = float(norm.ppf(level + h) - norm.ppf(level - h))
    width = step * median_deviation(residual, fit.weight)
    is_inside = np.abs(residual) <= width
    return np.where(is_inside, 0.5 / width, 0.0), f"uniform kernel of half width {width:.6g}"


_SMOOTHERS = {"iid": _one_density, "kernel": _gaussian_density, "uniform": _uniform_density}


def difference_densities(fit: Fit, options: Options) -> Matrix:
    """Return densities ``2h / x'(b(level + h) - b(level - h))``, (m, n).

    Where two fitted quantiles cross, the density is set to zero, with a warning.
    """
    levels = fit.levels
    widths = _bandwidths(fit, options)
    wanted = np.unique(np.concatenate([levels - widths, levels + widths]))
    given = fit.unscaled or fit
    data = (given.rows.X, given.targets, given.weight)
    coef = with_intercepts(given.model._fitted_quantiles(wanted, *data, options.n_jobs))
    low, high = np.searchsorted(wanted, [levels - widths, levels + widths])
    made, crossed = [], 0
    for h, rise in zip(widths, fit.rows.predict(coef[high] - coef[low]).T, strict=True):
        rise = rise - _SMALLEST_STEP * float(np.abs(rise).max())
        crossed += int(np.count_nonzero((rise <= 0) & (fit.weight > 0)))
        with np.errstate(divide="ignore"):
            made.append(np.where(rise > 0, 2.0 * h / rise, 0.0))
    if crossed:
        warnings.warn(
            f"The quantiles around the fitted ones cross at {crossed} samples; their density "
            "counts as zero. A larger bandwidth or kind='kernel' avoids this.",
            UserWarning,
            stacklevel=2,
        )
    return np.array(made)


def checked_groups(groups: Any, n: int) -> tuple[NDArray[np.intp], int]:
    """Return cluster labels as 0, 1, ... and their number."""
    if groups is None:
        raise ValueError("kind='cluster' needs groups: one label for each sample.")
    labels = np.asarray(groups)
    if labels.shape != (n,):
        raise ValueError(
            f"groups must have one label for each of the {n} samples; got {labels.shape}."
        )
    found, places = np.unique(labels, return_inverse=True)
    if found.size < 2:
        raise ValueError(f"groups must name at least two clusters; all samples have {found[0]!r}.")
    return places.astype(np.intp), int(found.size)


# ---- expected second derivatives of losses ------------------------------------------------------


def _quantile_bends(fit: Fit, options: Options) -> tuple[Matrix, tuple[str, ...]]:
    """Return densities times the jumps of slope at fitted quantiles, (m, n), and notes."""
    # With many columns few samples of each effect are near the plane.
    densities, notes = _densities(fit, "kernel" if fit.has_many_columns else "uniform", options)
    jumps = [one.curve.right[0] - one.curve.left[0] for one in fit.losses]
    return np.array(jumps)[:, None] * densities, notes


def _bends(fit: Fit, options: Options) -> tuple[Matrix, tuple[str, ...]]:
    """Return curvatures, and densities at kinks times their jumps of slope, (m, n), and notes."""
    made, notes = [], []
    for loss, argument in zip(fit.losses, fit.arguments, strict=True):
        curve = loss.curve
        bend = curve.curvature[np.searchsorted(curve.knots, argument)]
        jumps = curve.right - curve.left
        note = ""
        if (jumps > 0).any():
            width = _density_width(fit, argument, options)
            for knot, jump in zip(curve.knots, jumps, strict=True):
                bend = bend + jump * norm.pdf((argument - knot) / width) / width
            note = f"kernel width {width:.6g} at the kinks of the loss"
        made.append(bend)
        notes.append(note)
    return np.array(made), tuple(notes)


def _density_width(fit: Fit, argument: Vector, options: Options) -> float:
    """Return the width of the kernel for the density at a kink: Silverman's rule, or as given."""
    if not isinstance(options.bandwidth, str):
        width = float(options.bandwidth)
        if not width > 0:
            raise ValueError(f"bandwidth={options.bandwidth!r}: a kernel's width must be positive.")
        return width
    scale = spread(argument, fit.weight) or standard_deviation(argument, fit.weight)
    return float(0.9 * scale * fit.n**-0.2)
