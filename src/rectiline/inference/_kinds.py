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
    quantile,
    standard_deviation,
)
from rectiline.inference._fit import Fit, Options, Parts

_SMALLEST_STEP = float(np.finfo(np.float64).eps) ** (2.0 / 3.0)


def iid_parts(fit: Fit, options: Options) -> Parts:
    """Return the parts for residuals that are identically distributed."""
    if options.sparsity != "order" and options.sparsity not in KERNELS:
        raise ValueError(
            f"sparsity={options.sparsity!r}: must be 'order' (order statistics, as R) or a kernel, "
            f"one of {sorted(KERNELS)} (as Stata)."
        )
    breads, notes = [], []
    for k, level in enumerate(_levels(fit)):
        h = bandwidth(options.bandwidth, level, fit.n)
        residual = fit.settled[k]
        unique = True
        if options.sparsity == "order":
            sparsity, unique = order_sparsity(residual, fit.weight, fit.p, h)
        else:
            sparsity = kernel_sparsity(residual, fit.weight, level, h, options.sparsity)
        breads.append(fit.gram / sparsity)
        note = f"bandwidth {h:.4g} ({_rule(options)}), sparsity {sparsity:.6g}"
        notes.append(note if unique else f"{note} (not unique)")
    return _parts(fit, breads, notes)


def nid_parts(fit: Fit, options: Options) -> Parts:
    """Return the parts with densities from differences of neighbouring fitted quantiles."""
    densities, widths = difference_densities(fit, options)
    breads = [fit.rows.gram(fit.weight * one) for one in densities]
    notes = [f"bandwidth {h:.4g} ({_rule(options)})" for h in widths]
    return _parts(fit, breads, notes)


def kernel_parts(fit: Fit, options: Options) -> Parts:
    """Return the parts with a Gaussian kernel on the residuals (Powell's sandwich)."""
    return _parts(fit, *_gaussian_breads(fit, options))


def _gaussian_breads(fit: Fit, options: Options) -> tuple[list[Matrix], list[str]]:
    breads, notes = [], []
    for k, level in enumerate(_levels(fit)):
        h = bandwidth(options.bandwidth, level, fit.n)
        width = kernel_width(fit.arguments[k], fit.weight, level, h)
        density = norm.pdf(fit.arguments[k] / width) / width
        breads.append(fit.rows.gram(fit.weight * density))
        notes.append(f"bandwidth {h:.4g} ({_rule(options)}), kernel width {width:.6g}")
    return breads, notes


def difference_densities(fit: Fit, options: Options) -> tuple[Matrix, Vector]:
    """Return densities ``2h / x'(b(level + h) - b(level - h))``, (m, n), and the bandwidths h.

    Where two fitted quantiles cross, the density is set to zero, with a warning.
    """
    levels = _levels(fit)
    widths = np.array([bandwidth(options.bandwidth, level, fit.n) for level in levels])
    wanted = np.unique(np.concatenate([levels - widths, levels + widths]))
    given = fit.unscaled or fit
    intercept, coef = given.model._fitted_quantiles(
        wanted, given.rows.X, given.targets, given.weight, options.n_jobs
    )
    if fit.rows.constant:
        coef = np.column_stack([intercept, coef])
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
    return np.array(made), widths


def _levels(fit: Fit) -> Vector:
    assert fit.levels is not None
    return fit.levels


def _rule(options: Options) -> str:
    return options.bandwidth if isinstance(options.bandwidth, str) else "given"


def _parts(fit: Fit, breads: list[Matrix], notes: list[str]) -> Parts:
    levels = _levels(fit)
    share = np.minimum.outer(levels, levels) - np.outer(levels, levels)
    meats = share[:, :, None, None] * fit.gram
    return Parts(np.array(breads), meats, fit.n - fit.p, tuple(notes))


def sandwich_parts(fit: Fit, options: Options) -> Parts:
    """Return the parts for any loss; kinks count through the density at them."""
    slopes = fit.scores
    breads, notes = _breads(fit, options)
    meats = np.empty((fit.m, fit.m, fit.p, fit.p))
    for s in range(fit.m):
        for t in range(s + 1):
            meats[s, t] = fit.rows.gram(fit.meat_weight * slopes[s] * slopes[t])
            meats[t, s] = meats[s, t]
    return Parts(breads, meats, fit.n - fit.p, notes)


def cluster_parts(fit: Fit, options: Options) -> Parts:
    """Return the parts for samples that depend on one another within groups."""
    labels, count = checked_groups(options.groups, fit.rows.n)
    sums = np.array([fit.rows.group_sums(fit.weight * one, labels, count) for one in fit.scores])
    meats = np.einsum("sgi,tgj->stij", sums, sums)
    made: tuple[Any, Any]
    if fit.is_quantile and fit.has_many_columns:  # few samples of each effect are near the plane
        breads, notes = _gaussian_breads(fit, options)
        heights = [one.curve.right[0] - one.curve.left[0] for one in fit.losses]
        made = [high * one for high, one in zip(heights, breads, strict=True)], notes
    elif fit.is_quantile:
        made = _uniform_breads(fit, options)
    else:
        made = _breads(fit, options)
    told = tuple(f"{count} clusters{', ' + one if one else ''}" for one in made[1])
    return Parts(np.array(made[0]), meats, count - 1.0, told)


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


def _breads(fit: Fit, options: Options) -> tuple[Matrix, tuple[str, ...]]:
    """Return expected second derivatives: curvatures, and densities at kinks."""
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
        made.append(fit.rows.gram(fit.weight * bend))
        notes.append(note)
    return np.array(made), tuple(notes)


def _density_width(fit: Fit, argument: Vector, options: Options) -> float:
    """Return the width of the kernel for the density at a kink: Silverman's rule, or as given."""
    if not isinstance(options.bandwidth, str):
        width = float(options.bandwidth)
        if not width > 0:
            raise ValueError(f"bandwidth={options.bandwidth!r}: a kernel's width must be positive.")
        return width
    spread = quantile(argument, fit.weight, 0.75) - quantile(argument, fit.weight, 0.25)
    scale = standard_deviation(argument, fit.weight)
    if spread > 0:
        scale = min(scale, spread / 1.34)
    return float(0.9 * scale * fit.n**-0.2)


def _uniform_breads(fit: Fit, options: Options) -> tuple[Matrix, tuple[str, ...]]:
    """Return ``sum 1(|u_i| <= c) w_i x_i x_i' / (2 c)``, scaled as the losses are."""
    assert fit.levels is not None
    made, notes = [], []
    for loss, level, residual in zip(fit.losses, fit.levels, fit.arguments, strict=True):
        h = bandwidth(options.bandwidth, level, fit.n)
        step = float(norm.ppf(level + h) - norm.ppf(level - h))
        width = step * median_deviation(residual, fit.weight)
        height = float(loss.curve.right[0] - loss.curve.left[0])
        inside = np.abs(residual) <= width
        made.append(fit.rows.gram(np.where(inside, fit.weight * height / (2.0 * width), 0.0)))
        notes.append(f"bandwidth {h:.4g}, uniform kernel of half width {width:.6g}")
    return np.array(made), tuple(notes)
