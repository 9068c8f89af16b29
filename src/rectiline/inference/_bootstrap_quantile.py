"""Bootstrap replicates of quantile regressions: many reweighted problems near one solution.

All replicates share the products with X: the samples far from the fitted plane enter as one
linear term each, found for many replicates in one matrix product. What is left is a small problem
on the samples near the plane, solved from the basis of the fit. An answer within the ball on which
the others keep their side is the answer of the whole problem; otherwise more samples are kept.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse as sp

from rectiline._typing import Matrix, Vector
from rectiline.inference._bandwidth import bandwidth
from rectiline.inference._draws import Resampling, mammen
from rectiline.inference._fit import Fit
from rectiline.inference._near_rows import Index, NearRows, useful_count
from rectiline.inference._rows import Rows
from rectiline.inference._sandwich import scores
from rectiline.inference._sparsity import kernel_sparsity, kernel_width

Seeds = Sequence[np.random.SeedSequence]

__all__ = ["QuantileReplicates"]

_SAMPLE_GROWTH_FACTOR = 4  # factor on the kept samples when a replicate leaves the ball


Family = tuple[NearRows, Index]  # the kept samples around one level, and the basis of its fit


class QuantileReplicates:
    """The replicates of one fit; `solve` is safe to call from several threads.

    Parameters
    ----------
    fit : Fit
        With all levels.
    method : {"pairs", "weights", "wild"}
    labels : ndarray of int or None
        Clusters; "wild" then perturbs the gradient of each cluster (Hagemann 2017).
    """

    def __init__(self, fit: Fit, method: str, labels: NDArray[np.intp] | None) -> None:
        self.fit, self.method, self.labels = fit, method, labels
        self.wild = method == "wild" and labels is None
        self._unit = bool((fit.weight == 1.0).all())
        if self.wild and (fit.weight != np.round(fit.weight)).any():
            raise ValueError(
                "method='wild' draws a residual for every sample, so that sample_weight must hold "
                "whole numbers; use method='weights' with others, or weights_are='probability'."
            )
        self._fits = [self._doubled(k) for k in range(fit.m)] if self.wild else [fit] * fit.m
        self._row_sum = fit.rows.cross(fit.weight)
        self._sums: list[Matrix] = []
        if method == "wild" and labels is not None:
            count = int(labels.max()) + 1
            slopes = -scores(fit)  # level - 1(u <= 0), in units of the loss's own height
            heights = [one.curve.right[0] - one.curve.left[0] for one in fit.losses]
            self._sums = [
                fit.rows.group_sums(fit.weight * slope / height, labels, count)
                for slope, height in zip(slopes, heights, strict=True)
            ]
        distance = 1.2 * (np.sqrt(fit.p) + 1.5)
        if self.wild:
            distance *= np.sqrt(2.0)  # two copies of every sample near the plane
        self._families = [self._family(k, float(distance)) for k in range(fit.m)]

    def _doubled(self, k: int) -> Fit:
        """Return the fit on twice the samples, with the two targets of the wild bootstrap each.

        Residuals are ``2 (1 - level) |u|`` or ``-2 level |u|`` (Feng, He and Hu 2011), with the
        sizes of `_left_out_sizes`; a replicate gives each sample's weight to one of its two copies.
        """
        fit = self.fit
        assert fit.levels is not None
        size, level = _left_out_sizes(fit, k), float(fit.levels[k])
        twice = np.concatenate([2.0 * (1.0 - level) * size, -2.0 * level * size])
        predictions = np.tile(fit.predictions[k], 2)
        rows = fit.rows
        stack: Any = sp.vstack if sp.issparse(rows.X) else np.concatenate
        scale = None if rows.scale is None else np.tile(rows.scale, 2)
        return Fit(
            rows=Rows(stack([rows.X, rows.X]), rows.constant, scale),
            targets=predictions + twice,
            weight=np.tile(0.5 * fit.weight, 2),
            coef=fit.coef[k : k + 1],
            levels=fit.levels[k : k + 1],
            losses=fit.losses[k : k + 1],
            names=fit.names,
            multipliers=None,
            gap=fit.gap,
            model=fit.model,
            given=fit.given,
        )

    def _family(self, k: int, distance: float) -> Family:
        fit = self._fits[k]
        place = 0 if self.wild else k
        assert fit.levels is not None
        count = useful_count(fit, float(fit.levels[place]), distance)
        while True:
            near = NearRows.of(fit, place, count)
            weight = np.ascontiguousarray(fit.weight[near.index])
            best = near.solve(near.method(), weight, near.total(fit, fit.weight), near.first)
            if best is not None or near.keeps_all:
                return near, near.first if best is None else best[1]
            count *= _SAMPLE_GROWTH_FACTOR

    def solve(self, seeds: Seeds) -> Matrix:
        """Return the coefficients of the replicates with these seeds, (len(seeds), m, p)."""
        made = np.empty((len(seeds), self.fit.m, self.fit.p))
        for k in range(self.fit.m):
            weights = np.array([self._weights(k, seed) for seed in seeds])
            extra = self._perturbations(k, seeds)
            self._solve_level(k, weights, extra, made[:, k])
        return made

    def _weights(self, k: int, seed: np.random.SeedSequence) -> Vector:
        """Return the weights of one replicate; for "wild" those of the upper copies."""
        fit = self.fit
        if self.method != "wild":
            return Resampling(self.method, fit.weight, self.labels).draw(seed)
        if not self.wild:
            return fit.weight
        assert fit.levels is not None
        rng = np.random.default_rng(seed)
        share = 1.0 - float(fit.levels[k])
        if self._unit:
            return (rng.random(fit.rows.n) < share).astype(np.float64)
        return rng.binomial(fit.weight.astype(np.int64), share).astype(np.float64)

    def _perturbations(self, k: int, seeds: Seeds) -> Matrix:
        """Return what the wild gradient bootstrap adds to the gradient, (len(seeds), p)."""
        if not self._sums:
            return np.zeros((len(seeds), self.fit.p))
        factors = [mammen(np.random.default_rng(one), self._sums[k].shape[0]) for one in seeds]
        return np.asarray(np.array(factors) @ self._sums[k])

    def _solve_level(self, k: int, weights: Matrix, extra: Matrix, out: Matrix) -> None:
        fit, (near, basis) = self._fits[k], self._families[k]
        place = 0 if self.wild else k
        open_ones = np.arange(weights.shape[0])
        while open_ones.size:
            drawn = weights if open_ones.size == weights.shape[0] else weights[open_ones]
            totals, kept = (
                self._doubled_parts(near, drawn)
                if self.wild
                else (near.total(fit, drawn), drawn.take(near.index, axis=1))
            )
            totals = np.ascontiguousarray(totals + extra[open_ones] / near.scale)
            method, left = None if self.wild else near.method(), []
            for row, b in enumerate(open_ones):
                weight, total = kept[row], np.ascontiguousarray(totals[row])
                if method is not None:
                    found = near.solve(method, weight, total, basis)
                else:
                    chosen, start = self._live_copies(near, weight, basis)
                    found = near.solve(near.method(chosen), weight[chosen], total, start)
                if found is not None:
                    out[b] = found[0] / near.scale
                elif near.keeps_all:
                    out[b] = np.nan
                else:
                    left.append(b)
            open_ones = np.array(left, dtype=np.intp)
            if open_ones.size:
                wider = NearRows.of(fit, place, _SAMPLE_GROWTH_FACTOR * near.index.size)
                near, basis = wider, wider.first

    def _doubled_parts(self, near: NearRows, upper: Matrix) -> tuple[Matrix, Matrix]:
        """Return what the kept copies have to balance, and their weights.

        Copies that are not kept lie above the plane if they are upper ones, else below it.
        """
        n = self.fit.rows.n
        above = self.fit.rows.cross((upper * near.above[:n]).T)
        totals = ((1.0 - near.level) * self._row_sum - above) / near.scale
        kept = upper.take(near.index % n, axis=1)
        lower = near.index >= n
        kept[:, lower] = self.fit.weight[near.index[lower] - n] - kept[:, lower]
        return totals, kept

    def _live_copies(self, near: NearRows, weight: Vector, basis: Index) -> tuple[Index, Index]:
        """Return the kept copies with a weight, and a basis of them to start from.

        Half of the copies have no weight in a replicate; without them a step costs half as much.
        """
        n, chosen = self.fit.rows.n, np.flatnonzero(weight)
        live, wanted = near.index[chosen], near.index[basis]
        wanted = np.where(weight[basis] > 0, wanted, (wanted + n) % (2 * n))
        start = np.minimum(np.searchsorted(live, wanted), live.size - 1)
        if (live[start] != wanted).any():  # the other copy of a sample of the basis is not kept
            chosen, start = np.arange(weight.size), basis
        return chosen, start


def _left_out_sizes(fit: Fit, k: int) -> Vector:
    """Return ``|u_i| + s h_i |psi_i|``: about the residuals' sizes had their sample been left out.

    Fitted residuals are too small: p of them are zero, and replicates made of them spread too
    little in small samples. Here h are leverages, psi the multipliers, which lie between
    ``level - 1`` and ``level``, and s is the sparsity: the small-sample correction of Feng, He and
    Hu (2011).
    """
    assert fit.levels is not None and fit.multipliers is not None
    level, curve = float(fit.levels[k]), fit.losses[k].curve
    residual = fit.arguments[k]
    h = bandwidth("hall-sheather", level, fit.n)
    if kernel_width(residual, fit.weight, level, h, interpolate=False) == 0.0:
        return np.asarray(np.abs(residual))  # more than half of the samples lie on the plane
    sparsity = kernel_sparsity(residual, fit.weight, level, h, "gaussian")
    psi = np.abs(np.nan_to_num(fit.multipliers[k])) / (curve.right[0] - curve.left[0])
    return np.asarray(np.abs(residual) + sparsity * fit.lengths**2 * psi)
