"""An interior method for linear programs with a few lines and very many bounded variables.

    minimise t  subject to  |b_l - a_l'g| <= t for every line l,  low <= g <= high,  sum g = owed.

With the parts ``s+ = t - r`` and ``s- = t + r`` of the residuals ``r = b - A'g``, their multipliers
``p, n >= 0``, prices ``v = p - n`` of the lines and c of the sum, optimal points satisfy

    sum(p + n) = 1,   zl - zu = c - A v,   p s+ = n s- = zl (g - low) = zu (high - g) = 0.

Both sides are feasible from the start, and stay so. A step (Mehrotra's predictor and corrector)
solves a system of the size of the lines. Variables that have come close to a bound, compared with
what they cost elsewhere, are put there and leave the steps; lines may join between steps.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import lapack

from rectiline.backends import Design

Vector = NDArray[np.float64]
Matrix = NDArray[np.float64]

__all__ = ["OpenInterior"]

_TO_THE_BOUNDARY = 0.995
_LIFT = 1.05  # t at first, in largest residuals
_SETTLED = 0.01  # of its width: so close to a bound that a variable may be put there
_ROUGH = 0.3  # relative gap from which on variables may settle
_FEW = 0.6  # share of the variables that may be left for a copy of them to be worth its price
_CHEAP = 5_000_000  # products per step, below which variables do not settle
_RIDGES = 1e-15, 1e-12, 1e-9  # of the scaled system: as little as gives it a factor


class _Move(NamedTuple):
    t: float
    g: Vector
    pull: Vector  # A'g
    p: Vector
    n: Vector
    zl: Vector
    zu: Vector
    c: float


class OpenInterior:
    """The iterates.

    Parameters
    ----------
    low, high : ndarray of shape (m,)
        Bounds of g.
    owed : float or None
        What g has to sum to.
    g : ndarray of shape (m,)
        Where to start: strictly between the bounds, with the right sum.

    Attributes
    ----------
    value : ndarray of shape (m,)
        All variables now.
    works : ndarray of int
        Those that move; `part` are their rows of A, `g` their values, `low` and `high` their
        bounds, `right` and `left` what the others leave of b and of the sum.
    t, residual, p, n, c : float or ndarray
        The other iterates.
    theta : ndarray
        How freely each of the variables that move did so in the last step.
    gap : float
        Distance between t and what the prices prove, if nothing else moves.
    """

    def __init__(self, low: Vector, high: Vector, owed: float | None, g: Vector) -> None:
        self._low, self._high, self._owed = low, high, owed
        self.value = g.copy()
        self.A = np.zeros((g.size, 0))
        self.b = np.zeros(0)
        self.c = 0.0
        self.p, self.n = np.zeros(0), np.zeros(0)
        self.works = np.arange(g.size)
        self._zl, self._zu, self.theta = np.zeros(g.size), np.zeros(g.size), np.zeros(g.size)
        self.gap = np.inf
        self.t, self._mean = 1.0, 1.0  # and the mean product of the pairs

    # ---- lines -------------------------------------------------------------------------------

    def add_lines(self, A: Matrix, b: Vector) -> None:
        """Add lines: columns of `A`, one row for each variable, and their constants."""
        first = self.b.size == 0
        share = 1.0 if first else self._mean / self.t
        self.A = np.ascontiguousarray(np.hstack([self.A, A])) if not first else A
        self.b = np.append(self.b, b)
        more = np.full(b.size, share)
        self.p, self.n = np.append(self.p, more), np.append(self.n, more)
        total = float(self.p.sum() + self.n.sum())  # everything dual may be scaled together
        self.p, self.n, self.c = self.p / total, self.n / total, self.c / total
        self._zl, self._zu = self._zl / total, self._zu / total
        self._set_part()
        largest = float(np.abs(self.residual).max())
        self.t = _LIFT * largest if first else max(self.t, _LIFT * largest)
        if first:
            self._mean = self.t / (2 * (self.b.size + self.g.size))
            least = np.minimum(*self.rooms())
            self._zl, self._zu = self._mean / least, self._mean / least
        self._set_gap()

    def _set_part(self) -> None:
        """Take over the variables that move."""
        works, rest = self.works, self.value.copy()
        rest[works] = 0.0
        self.part = self.A if works.size == rest.size else self.A[works]
        self._design = Design(self.part)
        self.g, self.low, self.high = self.value[works], self._low[works], self._high[works]
        self.right = self.b - self.A.T @ rest
        self.left = None if self._owed is None else self._owed - float(rest.sum())
        self.residual = self.right - self.part.T @ self.g

    def rooms(self) -> tuple[Vector, Vector]:
        """Return how far the variables may move down and up."""
        return self.g - self.low, self.high - self.g

    def _set_gap(self) -> None:
        down, up = self.rooms()
        self.gap = float(
            self.p @ (self.t - self.residual)
            + self.n @ (self.t + self.residual)
            + self._zl @ down
            + self._zu @ up
        )
        self._mean = self.gap / (2 * (self.b.size + self.g.size))

    def lower_bound(self, v: Vector, c: float) -> float:
        """Return what prices of the lines and of the sum prove about the optimum over all."""
        reduced = c - self.A @ v
        least = np.minimum(self._low * reduced, self._high * reduced).sum()
        owed = 0.0 if self._owed is None else self._owed
        size = float(np.abs(v).sum())
        return float(self.b @ v - c * owed + least) / size if size > 0 else 0.0

    def reduced(self) -> Vector:
        """Return what each variable costs at the present prices."""
        return np.asarray(self.c - self.A @ (self.p - self.n))

    # ---- settling ----------------------------------------------------------------------------

    def settle(self) -> None:
        """Put variables at the bounds that they have come close to, if that helps."""
        work = self.g.size * self.b.size * (self.b.size + 10)  # vectors count a little as well
        if self.gap > _ROUGH * self.t or work < _CHEAP:
            return
        down, up = self.rooms()
        width = self.high - self.low
        near_low, near_high = (
            (room < _SETTLED * width) & (price * width > self._mean / _SETTLED)
            for room, price in ((down, self._zl), (up, self._zu))
        )
        stays = ~(near_low | near_high)
        if stays.sum() > _FEW * stays.size or stays.sum() < 2 * self.b.size:
            return
        g = np.where(near_low, self.low, np.where(near_high, self.high, self.g))
        if self.left is not None:  # the others make up for it
            owed = self.left - float(g.sum())
            room = np.where(stays, up if owed > 0 else down, 0.0)
            share = owed / float(room.sum())
            if abs(share) > 0.5:
                return
            g += share * room
        self.value[self.works] = g
        self.works = self.works[stays]
        self._zl, self._zu, self.theta = self._zl[stays], self._zu[stays], self.theta[stays]
        before = float(np.abs(self.residual).max())
        self._set_part()
        self.t += max(float(np.abs(self.residual).max()) - before, 0.0)
        self._set_gap()

    # ---- one step ----------------------------------------------------------------------------

    def step(self) -> bool:
        """Take a step; False if its system has no factor or it leads nowhere."""
        with np.errstate(all="ignore"):
            if not self._factorise():
                return False
            down, up = self.rooms()
            plus, minus = self.t - self.residual, self.t + self.residual
            rest = -self.p * plus, -self.n * minus, -self._zl * down, -self._zu * up
            trial = self._direction(*rest, exact=False)
            primal, dual = (min(1.0, one) for one in self._lengths(trial))
            left = float(
                (self.p + dual * trial.p) @ (plus + primal * (trial.t + trial.pull))
                + (self.n + dual * trial.n) @ (minus + primal * (trial.t - trial.pull))
                + (self._zl + dual * trial.zl) @ (down + primal * trial.g)
                + (self._zu + dual * trial.zu) @ (up - primal * trial.g)
            )
            aim = self._mean * min(max(left / self.gap, 0.0) ** 3, 1.0)
            move = self._direction(
                aim + rest[0] - trial.p * (trial.t + trial.pull),
                aim + rest[1] - trial.n * (trial.t - trial.pull),
                aim + rest[2] - trial.zl * trial.g,
                aim + rest[3] + trial.zu * trial.g,
                exact=True,
            )
            primal, dual = (min(1.0, _TO_THE_BOUNDARY * one) for one in self._lengths(move))
            if not (np.isfinite(move.g).all() and np.isfinite(move.t) and max(primal, dual) > 1e-6):
                return False
        self.t += primal * move.t
        self.g = self.g + primal * move.g
        self.residual = self.residual - primal * move.pull
        self.p, self.n = self.p + dual * move.p, self.n + dual * move.n
        self._zl, self._zu = self._zl + dual * move.zl, self._zu + dual * move.zu
        self.c += dual * move.c
        self.value[self.works] = self.g
        self._set_gap()
        return True

    def _factorise(self) -> bool:
        down, up = self.rooms()
        size = self.b.size
        self.theta = 1.0 / (self._zl / down + self._zu / up)
        K = self._design.weighted_gram(self.theta, np.arange(size), self.left is not None)
        p, n = self.p / (self.t - self.residual), self.n / (self.t + self.residual)
        self._stiff, self._skew = p + n, (p - n) / (p + n)
        diagonal = np.einsum("ii->i", K)
        diagonal[:size] += 1.0 / self._stiff
        self._scale = 1.0 / np.sqrt(diagonal)
        K *= self._scale
        K *= self._scale[:, None]
        for ridge in _RIDGES:
            diagonal += ridge
            self._factor, info = lapack.dpotrf(K.T, lower=0, clean=0)
            if info == 0:
                break
        if info != 0 or not np.isfinite(self._scale).all():
            return False
        self._column = np.append(self._skew, np.zeros(diagonal.size - size))
        self._across = self._solve(self._column)
        self._pivot = float((4.0 * p * n / self._stiff).sum() + self._column @ self._across)
        return True

    def _solve(self, right: Vector) -> Vector:
        found, _ = lapack.dpotrs(self._factor, right * self._scale, lower=0)
        return np.asarray(found * self._scale)

    def _direction(self, p: Vector, n: Vector, low: Vector, high: Vector, exact: bool) -> _Move:
        """Return the move that changes the products of each pair by these amounts, to first order.

        What A'g moves by follows from the system, which is what the prices need: they stay
        feasible. `exact` multiplies for the other side, so that errors do not add up there.
        """
        down, up = self.rooms()
        plus, minus = self.t - self.residual, self.t + self.residual
        p_part, n_part = p / plus, n / minus
        h, wish = p_part - n_part, low / down - high / up
        wished = self.theta * wish
        right = h / self._stiff - self.part.T @ wished
        if self.left is not None:
            right = np.append(right, self.left - float(self.g.sum()) - float(wished.sum()))
        total = 1.0 - float(self.p.sum() + self.n.sum() + p_part.sum() + n_part.sum())
        total += float(self._skew @ h)
        along = self._solve(right)
        t = (float(self._column @ along) - total) / self._pivot
        x = along - self._across * t
        v = x[: h.size]
        c = -float(x[-1]) if self.left is not None else 0.0
        g = self.theta * (wish - c + self.part @ v)
        pull = (h - v) / self._stiff - self._skew * t
        return _Move(
            t,
            g,
            self.part.T @ g if exact else pull,
            p_part - self.p / plus * (t + pull),
            n_part - self.n / minus * (t - pull),
            (low - self._zl * g) / down,
            (high + self._zu * g) / up,
            c,
        )

    def _lengths(self, move: _Move) -> tuple[float, float]:
        down, up = self.rooms()
        plus, minus = self.t - self.residual, self.t + self.residual
        pairs = (down, move.g), (up, -move.g), (plus, move.t + move.pull)
        primal = max(_speed(*pair) for pair in (*pairs, (minus, move.t - move.pull)))
        multipliers = (self.p, move.p), (self.n, move.n), (self._zl, move.zl), (self._zu, move.zu)
        dual = max(_speed(*pair) for pair in multipliers)
        return 1.0 / max(primal, 1e-30), 1.0 / max(dual, 1e-30)


def _speed(left: Vector, change: Vector) -> float:
    return float(np.max(-change / left, initial=0.0))
