"""Covariances of quantile regressions: kinds "iid", "nid" and "kernel".

With J = X'WX and densities f_i at the fitted quantile, levels s and t have the covariance
``(min(s, t) - s t) H_s^-1 J H_t^-1`` with ``H = X' diag(w f) X`` (Koenker and Bassett 1982;
Hendricks and Koenker 1992; Powell 1991). Kind "iid" has one density for all samples.
"""

from __future__ import annotations

import warnings

import numpy as np
from scipy.stats import norm

from rectiline._typing import Matrix, Vector
from rectiline.inference._bandwidth import bandwidth
from rectiline.inference._fit import Fit
from rectiline.inference._parts import Options, Parts
from rectiline.inference._sparsity import KERNELS, kernel_sparsity, kernel_width, order_sparsity

__all__ = ["difference_densities", "iid_parts", "kernel_parts", "nid_parts"]

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
    breads, notes = [], []
    for k, level in enumerate(_levels(fit)):
        h = bandwidth(options.bandwidth, level, fit.n)
        width = kernel_width(fit.arguments[k], fit.weight, level, h)
        density = norm.pdf(fit.arguments[k] / width) / width
        breads.append(fit.rows.gram(fit.weight * density))
        notes.append(f"bandwidth {h:.4g} ({_rule(options)}), kernel width {width:.6g}")
    return _parts(fit, breads, notes)


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
    made, crossed = [], 0
    for level, h in zip(levels, widths, strict=True):
        low, high = np.searchsorted(wanted, [level - h, level + h])
        rise = fit.rows.predict(coef[high] - coef[low])
        rise -= _SMALLEST_STEP * float(np.abs(rise).max())
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
