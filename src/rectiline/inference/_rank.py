"""Confidence intervals by inversion of rank-score tests: kind "rank".

For coefficient j fixed at b, the regression on the other columns has multipliers a(b), and

    T(b) = sum_i w_i x_ij (a_i(b) - (1 - level)) / sqrt(level (1 - level) q_j)

falls in steps as b grows; q_j is the squared length of column j after regression on the others
(Gutenbrunner and Jureckova 1992; Koenker 1994), under weights f_i where errors are not identically
distributed (Koenker and Machado 1999). The interval holds all b with ``|T(b)|`` below a quantile of
the t distribution; its ends are interpolated between two neighbouring steps.

The steps are followed from basis to basis (`QuantileBasis`), on the samples near the fit.
"""

from __future__ import annotations

import math

import numpy as np
from scipy.stats import t as student

from rectiline._typing import Matrix, Vector
from rectiline.inference._fit import Fit, Options, inverse
from rectiline.inference._kinds import difference_densities
from rectiline.inference._near_rows import MOST_STEPS, SAMPLE_GROWTH_FACTOR, NearRows, useful_count

_WALK_DEVIATIONS = 3.5  # standard deviations that a walk may go before more samples are taken in
_EQUAL_PLACES = 1e-7  # share of the way at which two places are one, as in the compiled walk


def rank_intervals(fit: Fit, options: Options, level: float) -> tuple[Matrix, tuple[str, ...]]:
    """Return intervals (m, p, 2) and what the tables say about them."""
    if options.iid:
        squares = np.tile(1.0 / np.diag(np.linalg.inv(fit.gram)), (fit.m, 1))
        note = "identically distributed errors"
    else:
        densities = difference_densities(fit, options)
        squares = np.array([_weighted_squares(fit, one) for one in densities])
        note = "densities from neighbouring quantiles"
    cut = float(student.ppf(0.5 + 0.5 * level, fit.n - fit.p))
    made = np.empty((fit.m, fit.p, 2))
    for k, tau in enumerate(fit.levels):
        until = cut * np.sqrt(tau * (1.0 - tau) * squares[k])
        made[k] = _Walks(fit, k).intervals(until)
    return made, (note,) * fit.m


def _weighted_squares(fit: Fit, density: Vector) -> Vector:
    """Return squared lengths of each column less its density-weighted fit by the others."""
    left = inverse(fit.rows.gram(fit.weight * density))
    left /= np.diag(left)[:, None]  # a column less its fit by the others, in terms of all
    return np.asarray(np.einsum("ij,jk,ik->i", left, fit.gram, left))


class _Walks:
    """The walks along each coefficient of one fitted quantile."""

    def __init__(self, fit: Fit, k: int) -> None:
        self.fit, self.k = fit, k
        self._keep(useful_count(fit, float(fit.levels[k]), _WALK_DEVIATIONS))

    def _keep(self, count: int) -> None:
        """Keep `count` samples, or more until a basis of the fitted quantile is among them."""
        near = self.near = NearRows.of(self.fit, self.k, count)
        self.method, self.total = near.method(), near.total(self.fit, self.fit.weight)
        self.weight = np.ascontiguousarray(self.fit.weight[near.index])
        best = near.solve(self.method, self.weight, self.total, near.first)
        if best is not None:
            self.basis = best[1]
        elif not near.keeps_all:
            self._keep(SAMPLE_GROWTH_FACTOR * count)
        else:
            raise ValueError(
                "No basis of the fitted quantile was found, so that there are no rank intervals; "
                "use kind='nid' or kind='bootstrap'."
            )

    def intervals(self, until: Vector) -> Matrix:
        """Return the interval of every coefficient, given the largest score inside it."""
        made = np.empty((self.fit.p, 2))
        for j in range(self.fit.p):
            for side, direction in enumerate((-1.0, 1.0)):
                made[j, side] = self._end(j, direction, float(until[j]))
        return made

    def _end(self, j: int, direction: float, until: float) -> float:
        while True:
            self.near.solve(self.method, self.weight, self.total, self.basis)
            scale, ball = self.near.scale[j], (self.near.centre, self.near.factor, self.near.radius)
            found = self.method.walk(j, direction, until / scale, *ball, MOST_STEPS)
            outcome, place, score = found
            if outcome == "done":
                return _interpolated(place / scale, np.abs(score) * scale, until)
            if self.near.keeps_all:
                # The score never becomes significant: the interval is open on this side.
                return direction * math.inf
            self._keep(SAMPLE_GROWTH_FACTOR * self.near.index.size)


def _interpolated(place: Vector, score: Vector, until: float) -> float:
    """Return where the score reaches `until`, on the line between the last two distinct places."""
    same = np.abs(place - place[-1]) <= _EQUAL_PLACES * abs(place[-1] - place[0])
    before = np.flatnonzero(~same)
    if not before.size:
        return float(place[-1])
    k = int(before[-1])
    share = (until - score[k]) / (score[-1] - score[k])
    return float(place[k] + share * (place[-1] - place[k]))
