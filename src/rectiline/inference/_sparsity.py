"""The sparsity 1 / f(0) of identically distributed residuals, for covariances of kind "iid"."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
from scipy.stats import norm

from rectiline._typing import Vector
from rectiline.inference._frequencies import at_ranks, quantile, standard_deviation
from rectiline.losses import Pinball
from rectiline.problems import Problem
from rectiline.solvers import solve

__all__ = ["KERNELS", "kernel_sparsity", "kernel_width", "order_sparsity"]


KERNELS: dict[str, Callable[[Vector], Vector]] = {
    "epanechnikov": lambda u: np.where(np.abs(u) <= 1.0, 0.75 * (1.0 - u * u), 0.0),
    "biweight": lambda u: np.where(np.abs(u) <= 1.0, 0.9375 * (1.0 - u * u) ** 2, 0.0),
    "gaussian": lambda u: np.asarray(norm.pdf(u)),
}
_INSIDE_RANGE = 1e-7  # a multiplier this far from the ends of its range, -1/2 and 1/2, is inside


def order_sparsity(residual: Vector, weight: Vector, p: int, h: float) -> tuple[float, bool]:
    """Return the slope of a median regression of central order statistics on their rank.

    The second value says whether that slope is unique; where it is not, another program for the
    same median regression may find another one.

    The residuals nearest to zero, those on the fitted plane left out, are regressed on
    ``rank / (n - p)`` (Koenker and Bassett 1978, as summarised in Koenker 2005, 3.4.1).

    Parameters
    ----------
    residual, weight : ndarray of shape (n,)
    p : int
        Number of coefficients.
    h : float
        Bandwidth in the level.
    """
    n = float(weight.sum())
    size = np.abs(residual)
    on_plane = float(weight[size == 0.0].sum())
    count = max(p + 1, math.ceil(n * h)) + 1
    ranks = on_plane + np.arange(1.0, count + 1.0)
    ranks = ranks[ranks <= n + 1e-9]
    order = np.argsort(size, kind="stable")
    # The repeated sample in order of absolute value, then its central part in signed order.
    near = at_ranks(np.arange(residual.size, dtype=np.float64), weight[order], ranks)
    central = np.sort(residual[order][near.astype(np.intp)])
    problem = Problem((ranks / (n - p))[:, None], central, Pinball(0.5), penalty=None)
    solution = solve(problem, tol=1e-9, polish=True)
    # Points whose multiplier is strictly inside its range lie on every optimal line.
    pins = np.abs(solution.dual.sample) < 0.5 - _INSIDE_RANGE
    # Both are sorted, so that the slope is not negative, except for rounding.
    return abs(float(solution.coef[0])), np.unique(ranks[pins]).size >= 2


def kernel_width(
    residual: Vector, weight: Vector, level: float, h: float, interpolate: bool = True
) -> float:
    """Return the width of a kernel on residuals that a bandwidth in the level stands for.

    It is ``(Phi^-1(level + h) - Phi^-1(level - h)) min(sd, IQR / 1.34)``. Quartiles are
    interpolated as in R, or not, as in Stata.
    """
    spread = quantile(residual, weight, 0.75, interpolate) - quantile(
        residual, weight, 0.25, interpolate
    )
    scale = min(standard_deviation(residual, weight), spread / 1.34)
    return float((norm.ppf(level + h) - norm.ppf(level - h)) * scale)


def kernel_sparsity(residual: Vector, weight: Vector, level: float, h: float, kernel: str) -> float:
    """Return one over a kernel estimate of the residuals' density at zero, as Stata's qreg does."""
    width = kernel_width(residual, weight, level, h, interpolate=False)
    density = float(weight @ KERNELS[kernel](residual / width)) / (float(weight.sum()) * width)
    if not density > 0.0:
        raise ValueError(
            f"The {kernel} kernel of width {width:g} finds no residuals near zero; "
            "choose sparsity='gaussian' or a larger bandwidth."
        )
    return 1.0 / density
