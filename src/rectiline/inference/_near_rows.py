"""Quantile regressions near a fitted one, on the few samples that can change sides.

A sample at distance ``|r_i|`` from the fitted plane stays on its side for all coefficients b with
``|R (b - b_fit)| < |r_i| / l_i``, where ``R'R = X'WX`` and ``l_i = |R^-T x_i|``. Within a ball of
that norm all samples with a larger ratio only add a linear term to the loss. Rank intervals and
bootstrap replicates stay within a distance of order one, where about sqrt(n p) samples matter.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from rectiline import _core
from rectiline._typing import Matrix, Vector
from rectiline.inference._fit import Fit

Index = NDArray[np.int64]


# As a multiple of `Fit.rounding`: breaks ties between samples, which make bases singular.
_JITTER_PER_ROUNDING = 16.0
MOST_STEPS = 10_000_000
SAMPLE_GROWTH_FACTOR = 4  # on the kept samples where coefficients leave the ball that they serve


def useful_count(fit: Fit, level: float, distance: float) -> int:
    """Return how many samples to keep for coefficients at a distance, in standard deviations."""
    share = 2.0 * distance * math.sqrt(level * (1.0 - level) * fit.rows.n * fit.p)
    return max(math.ceil(share), 20 * fit.p)


@dataclass(frozen=True, eq=False)
class NearRows:
    """The samples near one fitted quantile, and the compiled method that exchanges them.

    Attributes
    ----------
    level : float
    index : ndarray of shape (k,)
        The samples that are kept.
    columns : ndarray of shape (p, k)
        Their rows, each coefficient's column divided by `scale`.
    targets : ndarray of shape (k,)
        Their targets with ties broken.
    scale : ndarray of shape (p,)
    above : ndarray of shape (n,)
        1 for samples that are not kept and lie above the plane, else 0.
    centre : ndarray of shape (p,)
        The fitted coefficients, in scaled columns.
    factor : ndarray of shape (p, p)
        R above, in scaled columns.
    radius : float
        Distance within which the samples that are not kept stay on their side.
    first : ndarray of shape (p,)
        A basis to start from, as positions in `index`.
    """

    level: float
    index: Index
    columns: Matrix
    targets: Vector
    scale: Vector
    above: Vector
    centre: Vector
    factor: Matrix
    radius: float
    first: Index

    @classmethod
    def of(cls, fit: Fit, k: int, count: int, residual: Vector | None = None) -> NearRows:
        """Keep the `count` samples that can change sides first, at the k-th level of the fit.

        `residual` takes the place of the fit's own: distances of other targets from the plane.
        """
        residual = fit.arguments[k] if residual is None else residual
        reach = np.abs(residual) / np.maximum(fit.lengths, 1e-300)
        live = np.flatnonzero(fit.weight > 0)
        if count < live.size:
            parted = live[np.argpartition(reach[live], count)]
            index, radius = np.sort(parted[:count]), float(reach[parted[count]])
        else:
            index, radius = live, np.inf
        kept = np.zeros(fit.rows.n, dtype=bool)
        kept[index] = True
        scale = np.sqrt(np.diag(fit.gram) / fit.n)
        jitter = np.random.default_rng(0).uniform(-1.0, 1.0, index.size)
        columns = np.ascontiguousarray((fit.rows.take(index) / scale).T)
        first = independent_rows(columns, np.abs(residual[index]))
        if first is None:
            if np.isfinite(radius):
                return cls.of(fit, k, SAMPLE_GROWTH_FACTOR * count, residual)
            raise ValueError("The rows of X are linearly dependent.")
        return cls(
            level=float(fit.levels[k]),
            index=index,
            columns=columns,
            targets=fit.predictions[k][index]
            + residual[index]
            + _JITTER_PER_ROUNDING * fit.rounding[k][index] * jitter,
            scale=scale,
            above=((residual > 0) & ~kept).astype(np.float64),
            centre=fit.coef[k] * scale,
            factor=np.ascontiguousarray(fit.factor / scale),
            radius=radius,
            first=first,
        )

    @property
    def keeps_all(self) -> bool:
        """Whether no sample was left out."""
        return not np.isfinite(self.radius)

    def method(self, targets: Vector | None = None) -> _core.QuantileBasis:
        """Return a new compiled method, with other targets if given; each thread needs its own."""
        return _core.QuantileBasis(self.columns, self.targets if targets is None else targets)

    def total(self, fit: Fit, weight: Matrix, above: Matrix | None = None) -> Matrix:
        """Return what the kept samples have to balance under weights (n,) or (b, n).

        `above` says which samples lie above the plane, if not those of the fit.
        """
        far = self.above
        if above is not None:
            far = above.copy()
            far[:, self.index] = 0.0
        weighted = weight * ((1.0 - self.level) - far)
        return np.ascontiguousarray(fit.rows.cross(weighted.T) / self.scale)

    def solve(
        self, method: _core.QuantileBasis, weight: Vector, total: Vector, basis: Index
    ) -> tuple[Vector, Index] | None:
        """Return the best coefficients (scaled) and their basis; None if they may lie outside."""
        outcome, coef, found, _ = method.solve(weight, total, basis, MOST_STEPS)
        if outcome != "done" or np.linalg.norm(self.factor @ (coef - self.centre)) >= self.radius:
            return None
        return coef, found


def independent_rows(columns: Matrix, distance: Vector) -> Index | None:
    """Return p samples with independent rows, near ones first; None if there are not as many."""
    p = columns.shape[0]
    lengths = np.linalg.norm(columns, axis=0)
    chosen: list[int] = []
    span = np.zeros((p, 0))
    for i in np.argsort(distance, kind="stable"):
        row = columns[:, i]
        rest = row - span @ (span.T @ row)
        rest -= span @ (span.T @ rest)
        size = float(np.linalg.norm(rest))
        if size > 1e-6 * lengths[i]:
            chosen.append(int(i))
            span = np.column_stack([span, rest / size])
            if len(chosen) == p:
                return np.array(chosen, dtype=np.int64)
    return None
