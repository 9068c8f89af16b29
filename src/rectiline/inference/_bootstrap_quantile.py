"""Bootstrap replicates of quantile regressions: many reweighted problems near one solution.

All replicates share the products with X: the samples far from the fitted plane enter as one
linear term each, found for many replicates in one matrix product. What is left is a small problem
on the samples near the plane. An answer within the ball on which the others keep their side is the
answer of the whole problem; otherwise more samples are kept. Each replicate has its own seed,
whoever draws it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rectiline._numbers import seed_of
from rectiline._typing import Matrix, Vector
from rectiline.inference._densities import bandwidth, kernel_sparsity, kernel_width
from rectiline.inference._fit import Fit
from rectiline.inference._near_rows import SAMPLE_GROWTH_FACTOR, NearRows, useful_count
from rectiline.inference._rows import Rows

METHODS = ("pairs", "weights", "wild")


def replicate_seeds(random_state: Any, count: int) -> list[np.random.SeedSequence]:
    """Return one seed per replicate; None is the fixed seed 0."""
    return list(np.random.SeedSequence(seed_of(random_state)).spawn(count))


def mammen(rng: np.random.Generator, count: int) -> Vector:
    """Return draws with mean 0, variance 1 and third moment 1 (Mammen 1993)."""
    root = np.sqrt(5.0)
    low = rng.uniform(size=count) < (root + 1.0) / (2.0 * root)
    return np.asarray(np.where(low, 0.5 * (1.0 - root), 0.5 * (1.0 + root)))


@dataclass(frozen=True, eq=False)
class Resampling:
    """Weights of the samples in a replicate by resampling, of samples or of whole clusters.

    Attributes
    ----------
    method : {"pairs", "weights"}
        Draws with replacement, or independent exponential weights.
    weight : ndarray of shape (n,)
        Frequency weights: a sample of weight two is drawn like two equal samples.
    labels : ndarray of shape (n,) or None
        Clusters 0, 1, ...
    """

    method: str
    weight: Vector
    labels: NDArray[np.intp] | None = None

    def draw(self, seed: np.random.SeedSequence) -> Vector:
        """Return the weights of one replicate."""
        rng = np.random.default_rng(seed)
        if self.labels is not None:
            count = int(self.labels.max()) + 1
            times: NDArray[Any] = rng.standard_exponential(count)
            if self.method == "pairs":
                times = np.bincount(rng.integers(0, count, count), minlength=count)
            return np.asarray(self.weight * times[self.labels])
        if self.method == "weights":
            return np.asarray(rng.standard_gamma(self.weight))
        if (self.weight == 1.0).all():
            chosen = rng.integers(0, self.weight.size, self.weight.size)
        else:
            reached = np.cumsum(self.weight)
            drawn = rng.uniform(0.0, reached[-1], round(float(reached[-1])))
            chosen = np.minimum(np.searchsorted(reached, drawn, "right"), self.weight.size - 1)
        return np.bincount(chosen, minlength=self.weight.size).astype(np.float64)


Seeds = Sequence[np.random.SeedSequence]


class QuantileReplicates:
    """The replicates of one fit; `solve` is safe to call from several threads.

    The wild bootstrap gives each sample the residual ``2 (1 - level) |u|`` or ``-2 level |u|``
    (Feng, He and Hu 2011), with the sizes of `_left_out_sizes`; with clusters it perturbs the
    gradient of each of them instead (Hagemann 2017).

    Parameters
    ----------
    fit : Fit
        With all levels.
    method : {"pairs", "weights", "wild"}
    labels : ndarray of int or None
        Clusters.
    """

    def __init__(self, fit: Fit, method: str, labels: NDArray[np.intp] | None) -> None:
        self.method, self.labels = method, labels
        self.wild = method == "wild" and labels is None
        if self.wild and (fit.weight != 1.0).any():
            fit = _repeated(fit)
        self.fit = fit
        self._sums: list[Matrix] = []
        if method == "wild" and labels is not None:
            count = int(labels.max()) + 1
            slopes = -fit.scores  # level - 1(u <= 0), in units of the loss's own height
            heights = [one.curve.right[0] - one.curve.left[0] for one in fit.losses]
            self._sums = [
                fit.rows.group_sums(fit.weight * slope / height, labels, count)
                for slope, height in zip(slopes, heights, strict=True)
            ]
        self._sizes = [_left_out_sizes(fit, k) for k in range(fit.m)] if self.wild else []
        self._first_near = [self._near(k, self._useful_count(k)) for k in range(fit.m)]

    def _near(self, k: int, count: int) -> NearRows:
        """Return samples near the plane, for the wild bootstrap by the nearer of two places."""
        if not self.wild:
            return NearRows.of(self.fit, k, count)
        level = float(self.fit.levels[k])
        return NearRows.of(self.fit, k, count, 2.0 * min(level, 1.0 - level) * self._sizes[k])

    def _useful_count(self, k: int) -> int:
        """Return how many samples most replicates need."""
        distance = 1.2 * (np.sqrt(self.fit.p) + 1.5) * np.sqrt(2.0 if self.wild else 1.0)
        return useful_count(self.fit, float(self.fit.levels[k]), float(distance))

    def solve(self, seeds: Seeds) -> Matrix:
        """Return the coefficients of the replicates with these seeds, (len(seeds), m, p)."""
        made = np.empty((len(seeds), self.fit.m, self.fit.p))
        for k in range(self.fit.m):
            drawn = np.array([self._drawn(k, seed) for seed in seeds])
            extra = self._perturbations(k, seeds)
            self._solve_level(k, drawn, extra, made[:, k])
        return made

    def _drawn(self, k: int, seed: np.random.SeedSequence) -> Vector:
        """Return the weights of one replicate; for "wild" which samples lie above the plane."""
        if self.wild:
            draws = np.random.default_rng(seed).random(self.fit.rows.n)
            return (draws < 1.0 - float(self.fit.levels[k])).astype(np.float64)
        if self.method == "wild":
            return self.fit.weight
        return Resampling(self.method, self.fit.weight, self.labels).draw(seed)

    def _perturbations(self, k: int, seeds: Seeds) -> Matrix:
        """Return what the wild gradient bootstrap adds to the gradient, (len(seeds), p)."""
        if not self._sums:
            return np.zeros((len(seeds), self.fit.p))
        factors = [mammen(np.random.default_rng(one), self._sums[k].shape[0]) for one in seeds]
        return np.asarray(np.array(factors) @ self._sums[k])

    def _solve_level(self, k: int, drawn: Matrix, extra: Matrix, out: Matrix) -> None:
        fit, near = self.fit, self._first_near[k]
        open_ones = np.arange(drawn.shape[0])
        while open_ones.size:
            some = drawn if open_ones.size == drawn.shape[0] else drawn[open_ones]
            weights, above = (np.ones_like(some), some) if self.wild else (some, None)
            totals = near.total(fit, weights, above) + extra[open_ones] / near.scale
            kept, method, left = weights.take(near.index, axis=1), near.method(), []
            for row, b in enumerate(open_ones):
                if self.wild:
                    method = near.method(self._targets(k, near, some[row]))
                found = near.solve(method, kept[row], np.ascontiguousarray(totals[row]), near.first)
                if found is not None:
                    out[b] = found[0] / near.scale
                elif near.keeps_all:
                    out[b] = np.nan
                else:
                    left.append(b)
            open_ones = np.array(left, dtype=np.intp)
            if open_ones.size:
                near = self._near(k, SAMPLE_GROWTH_FACTOR * near.index.size)

    def _targets(self, k: int, near: NearRows, above: Vector) -> Vector:
        """Return the targets of the kept samples in a wild replicate."""
        level, size = float(self.fit.levels[k]), self._sizes[k][near.index]
        residual = np.where(above[near.index] > 0, 2.0 * (1.0 - level), -2.0 * level) * size
        return near.targets + residual - 2.0 * min(level, 1.0 - level) * size


def _repeated(fit: Fit) -> Fit:
    """Return the fit with each sample as often as its weight says."""
    if fit.rows.in_blocks:
        raise ValueError(
            "method='wild' repeats samples by their weights, which needs arrays in memory; use "
            "method='weights' with rows in blocks."
        )
    if (fit.weight != np.round(fit.weight)).any():
        raise ValueError(
            "method='wild' draws a residual for every sample, so that sample_weight must hold "
            "whole numbers; use method='weights' with others, or weights_are='probability'."
        )
    at = np.repeat(np.arange(fit.rows.n), fit.weight.astype(np.int64))
    scale = None if fit.rows.scale is None else fit.rows.scale[at]
    rows, weight = Rows(fit.rows.X[at], fit.rows.constant, scale), np.ones(at.size)
    own = {"targets": fit.targets[at], "multipliers": fit.multipliers[:, at]}
    return replace(fit, rows=rows, weight=weight, **own)


def _left_out_sizes(fit: Fit, k: int) -> Vector:
    """Return ``|u_i| + s h_i |psi_i|``: about the residuals' sizes had their sample been left out.

    Fitted residuals are too small: p of them are zero, and replicates made of them spread too
    little in small samples. Here h are leverages, psi the multipliers, which lie between
    ``level - 1`` and ``level``, and s is the sparsity: the small-sample correction of Feng, He and
    Hu (2011).
    """
    level, curve = float(fit.levels[k]), fit.losses[k].curve
    residual = fit.arguments[k]
    h = bandwidth("hall-sheather", level, fit.n)
    if kernel_width(residual, fit.weight, level, h, interpolate=False) == 0.0:
        return np.asarray(np.abs(residual))  # more than half of the samples lie on the plane
    sparsity = kernel_sparsity(residual, fit.weight, level, h, "gaussian")
    psi = np.abs(np.nan_to_num(fit.multipliers[k])) / (curve.right[0] - curve.left[0])
    return np.asarray(np.abs(residual) + sparsity * fit.lengths**2 * psi)
