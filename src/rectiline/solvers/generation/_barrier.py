"""An interior point method for groups: predictor-corrector steps on a working set of groups.

    min over b, b0, t   sum_u cap_u max(0, lift_u + sign_u z_u) + strength sum_g t_g
    subject to          t_g - b_j >= 0 and t_g + b_j >= 0 for the columns j of group g

with ``z = X b + b0`` at the sample of each unit. The multipliers are ``0 <= a <= cap`` of the
units and ``r+, r- >= 0`` of the two sides of each column; optimal ones satisfy

    X'g + r+ - r- = 0,    sum over g of (r+ + r-) = strength,    sum g = 0,    g_i = sum sign_u a_u.

Steps keep a, r and both slacks positive (Mehrotra's predictor and corrector, one length for the
primal and one for the multipliers). In a group the equations for (b, t) are a diagonal with one
border, so what is left is of the size of the samples,

    K = 1 / theta + X D^-1 X' + one vector per group,

and costs one symmetric product and one Cholesky factor per step, whatever the sign patterns of the
groups. The multipliers take the step that K gives, so that their equations stay accurate where K is
badly conditioned; the error goes into the predictions, which the next step looks at afresh.

Sources: Mehrotra (1992), On the implementation of a primal-dual interior point method; the problem
is the group LP of Section 3 of the column generation paper.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy import sparse as sp
from scipy.linalg import lapack

from rectiline import _core
from rectiline._typing import Indices, Vector
from rectiline.backends import Design
from rectiline.problems.forms import LinearProgramForm
from rectiline.solvers.generation._points import BarrierMove

__all__ = ["BarrierMaster"]

_TO_THE_BOUNDARY = 0.995
_REFINEMENTS = 6
_ACCURATE = 1e-10  # scaled residual of the equations
_SMALL_PIVOT = 1e-3  # of the factor of the scaled K, below which solutions are refined
_RIDGE = 1e-14  # of the scaled K; refinement makes up for it
_ZERO_GROUP = 100.0  # cost of a group, in mean products per column, that counts as zero


class BarrierMaster:
    """The iterates; groups may be added between steps."""

    def __init__(self, form: LinearProgramForm) -> None:
        self.form = form
        units = form.dual_units
        self._samples, self._row = np.unique(units.sample, return_inverse=True)
        self._sign, self._cap, self._lift = units.sign, units.cap, units.lift
        self.strength = float(form.penalty.strength)
        self.b0 = form.best_intercept(np.zeros(form.design.n_samples))
        self.a = 0.5 * self._cap
        excess = self._lift + self._sign * self.b0
        spread = float(np.abs(excess).mean()) or 1.0
        # Multipliers of a >= 0 and of a <= cap: the parts of the argument on either side of 0.
        self.below, self.above = np.maximum(-excess, 0.0) + spread, np.maximum(excess, 0.0) + spread
        self.columns = np.zeros(0, dtype=np.intp)
        self._ends = np.zeros(1, dtype=np.int64)
        self.b, self.t, self.up, self.down = np.zeros(0), np.zeros(0), np.zeros(0), np.zeros(0)
        # t - b and t + b have digits of their own: the difference of the two would have none left.
        self.slack = np.zeros(0), np.zeros(0)
        self.mean = float(self.below @ self.a + self.above @ (self._cap - self.a)) / (
            2 * self.a.size
        )

    # ---- the working set ---------------------------------------------------------------------

    def add_groups(self, groups: list[Indices]) -> None:
        """Let more groups move, from products of the present size."""
        sizes = np.array([group.size for group in groups], dtype=np.int64)
        self.columns = np.concatenate([self.columns, *groups])
        self._ends = np.concatenate([self._ends, self._ends[-1] + np.cumsum(sizes)])
        self._sizes = np.diff(self._ends)
        self._owner = np.repeat(np.arange(self._sizes.size), self._sizes)
        part = self.form.on_columns(self.columns).design
        whole = self._samples.size == part.n_samples
        self.design = part if whole else Design(part.X[self._samples])
        share = np.repeat(self.strength / (2.0 * sizes), sizes)
        self.up, self.down = np.concatenate([self.up, share]), np.concatenate([self.down, share])
        self.b = np.concatenate([self.b, np.zeros(share.size)])
        self.t = np.concatenate([self.t, self.mean * 2.0 * sizes / self.strength])
        caps = self.t[self._owner][-share.size :]
        self.slack = (
            np.concatenate([self.slack[0], caps]),
            np.concatenate([self.slack[1], caps]),
        )

    def _per_group(self, values: Vector) -> Vector:
        return np.asarray(np.add.reduceat(values, self._ends[:-1]))

    # ---- the point ---------------------------------------------------------------------------

    @property
    def slopes(self) -> Vector:
        """The slopes g of all samples."""
        g = np.zeros(self.form.design.n_samples)
        g[self._samples] = self._by_row(self._sign * self.a)
        return g

    def snapped(self) -> Vector:
        """Return the coefficients with small groups at zero and columns at their cap exactly."""
        t, up, down = self.t[self._owner], self.up, self.down
        busy = (self.t * self.strength > _ZERO_GROUP * self.mean * self._sizes)[self._owner]
        push = np.where(self.b > 0, up, down) / self.strength
        away = np.where(self.b > 0, *self.slack) / (2.0 * t)
        at_cap = push > away  # of two numbers whose product is tiny, the one that is not
        count = self._per_group(at_cap.astype(np.float64))
        total = self._per_group(np.where(at_cap, np.abs(self.b), 0.0))
        cap = np.where(count > 0, total / np.maximum(count, 1.0), self.t)[self._owner]
        kept = np.where(at_cap, np.copysign(cap, self.b), np.clip(self.b, -cap, cap))
        return np.where(busy, kept, 0.0)

    # ---- one step ----------------------------------------------------------------------------

    def _by_row(self, values: Vector) -> Vector:
        sums = np.bincount(self._row, values, minlength=self._samples.size)
        return np.asarray(sums, dtype=np.float64)

    def step(self) -> bool:
        """Take a predictor-corrector step; False if the equations could not be solved."""
        with np.errstate(all="ignore"):  # numbers that overflow end the method
            return self._factorise() and self._advance()

    def _advance(self) -> bool:
        room = self._cap - self.a
        target = (-self.below * self.a, -self.above * room, -self.slack[0] * self.up)
        try_out = self._direction(*target, -self.slack[1] * self.down, refined=False)
        primal, dual = self._lengths(try_out)
        left = self._mean_after(try_out, primal, dual)
        aim = self.mean * min((left / self.mean) ** 3, 1.0)
        rise = try_out.t[self._owner]
        move = self._direction(
            aim + target[0] - try_out.below * try_out.a,
            aim + target[1] + try_out.above * try_out.a,
            aim + target[2] - (rise - try_out.b) * try_out.up,
            aim - self.slack[1] * self.down - (rise + try_out.b) * try_out.down,
        )
        primal, dual = (min(1.0, _TO_THE_BOUNDARY * length) for length in self._lengths(move))
        if not np.isfinite(move.b).all() or max(primal, dual) < 1e-8:
            return False
        self.mean = self._mean_after(move, primal, dual)
        self.a = self.a + dual * move.a
        self.up, self.down = self.up + dual * move.up, self.down + dual * move.down
        self.below, self.above = self.below + primal * move.below, self.above + primal * move.above
        self.b, self.b0 = self.b + primal * move.b, self.b0 + primal * move.b0
        self.t = self.t + primal * move.t
        rise = move.t[self._owner]
        self.slack = (
            self.slack[0] + primal * (rise - move.b),
            self.slack[1] + primal * (rise + move.b),
        )
        return bool(np.isfinite(self.mean))

    def _factorise(self) -> bool:
        """Prepare the equations at the present point."""
        room = self._cap - self.a
        self._theta = 1.0 / (self.below / self.a + self.above / room)
        self._weight = self._by_row(self._theta)
        self._stiff = self.up / self.slack[0], self.down / self.slack[1]
        diagonal = self._stiff[0] + self._stiff[1]
        self._inverse = 1.0 / diagonal
        self._tilt = self._inverse * (self._stiff[1] - self._stiff[0])
        self._border = self._per_group(4.0 * self._stiff[0] * self._stiff[1] * self._inverse)
        kernel = self.design.weighted_kernel(self._inverse)
        tilted = self._tilted_sums() / np.sqrt(self._border)[:, None]
        kernel += tilted.T @ tilted
        kernel.flat[:: self._samples.size + 1] += 1.0 / self._weight
        scale = kernel.diagonal().copy()
        if not (scale > 0).all() or not np.isfinite(scale).all():
            return False
        self._scale = 1.0 / np.sqrt(scale)
        kernel *= self._scale
        kernel *= self._scale[:, None]
        kernel.flat[:: self._samples.size + 1] += _RIDGE
        # Symmetric, so its transpose in the order that LAPACK reads: nothing is copied.
        self._factor, failed = lapack.dpotrf(kernel.T, lower=1, overwrite_a=1, clean=0)
        if failed:
            return False
        self._delicate = float(np.min(np.abs(self._factor.diagonal()))) < _SMALL_PIVOT
        self._ones = self._solved(np.ones(self._samples.size))
        self._image = self.design.tdot(self._by_row(self._sign * self.a))
        self._z = self.design.dot(self.b) + self.b0
        return True

    def _tilted_sums(self) -> NDArray[np.float64]:
        """Return one line per group: its columns of X times their tilts."""
        places = np.arange(self.columns.size, dtype=np.int64)
        if not self.design.is_sparse:
            return _core.signed_sums(self.design.view, places, self._ends, self._tilt)
        shape = (self.columns.size, self._sizes.size)
        spread = sp.csc_array((self._tilt, places, self._ends), shape=shape)
        return np.asarray((self.design.X @ spread).toarray().T)

    def _solved(self, right: Vector, refined: bool = True) -> Vector:
        """Return the solution for K, refined as long as that helps."""
        found, rest, best = np.zeros(right.size), right, np.inf
        for _ in range(_REFINEMENTS):
            step = self._scale * lapack.dpotrs(self._factor, self._scale * rest, lower=1)[0]
            if not (refined and self._delicate):
                return np.asarray(step)
            image, _ = self._within_groups(self.design.tdot(step), np.zeros(self._sizes.size))
            left = rest - step / self._weight - self.design.dot(image)
            size = float(np.linalg.norm(self._scale * left))
            if not size < 0.5 * best:
                break
            found, rest, best = found + step, left, size
            if size <= _ACCURATE * float(np.linalg.norm(self._scale * right)):
                break
        return found

    def _within_groups(self, v: Vector, of_t: Vector) -> tuple[Vector, Vector]:
        """Solve the equations of (b, t) group by group."""
        t = (of_t - self._per_group(self._tilt * v)) / self._border
        return self._inverse * v - self._tilt * t[self._owner], t

    def _direction(
        self, below: Vector, above: Vector, up: Vector, down: Vector, refined: bool = True
    ) -> BarrierMove:
        """Return the step by which the four kinds of products change by the given amounts."""
        room = self._cap - self.a
        rest = self.above - self.below - self._lift - self._sign * self._z[self._row]
        pull = -rest - above / room + below / self.a
        shift = self._by_row(self._sign * self._theta * pull)
        of_up, of_down = up / self.slack[0], down / self.slack[1]
        v = self.down - self.up - self._image - of_up + of_down
        missing = self.strength - self._per_group(self.up + self.down)
        of_t = self._per_group(of_up + of_down) - missing
        first, _ = self._within_groups(v, of_t)
        g = self._solved(shift / self._weight + self.design.dot(first), refined)
        b0 = 0.0
        if self.form.fit_intercept:
            total = float(self._sign @ self.a)
            b0 = -(total + float(g.sum())) / float(self._ones.sum())
            g = g + b0 * self._ones
        b, t = self._within_groups(v - self.design.tdot(g), of_t)
        a = self._theta * (pull + self._sign * ((g - shift) / self._weight)[self._row])
        rise = t[self._owner]
        return BarrierMove(
            a,
            (below - self.below * a) / self.a,
            (above + self.above * a) / room,
            b,
            b0,
            t,
            of_up - self._stiff[0] * (rise - b),
            of_down - self._stiff[1] * (rise + b),
        )

    def _lengths(self, move: BarrierMove) -> tuple[float, float]:
        """Return how far the primal point and the multipliers can go before one reaches zero."""
        rise = move.t[self._owner]
        primal = min(
            _room(self.below, move.below),
            _room(self.above, move.above),
            _room(self.slack[0], rise - move.b),
            _room(self.slack[1], rise + move.b),
        )
        dual = min(
            _room(self.a, move.a),
            _room(self._cap - self.a, -move.a),
            _room(self.up, move.up),
            _room(self.down, move.down),
        )
        return primal, dual

    def _mean_after(self, move: BarrierMove, primal: float, dual: float) -> float:
        """Return the mean product after a step."""
        rise = move.t[self._owner]
        a = self.a + dual * move.a
        total = (self.below + primal * move.below) @ a
        total += (self.above + primal * move.above) @ (self._cap - a)
        total += (self.slack[0] + primal * (rise - move.b)) @ (self.up + dual * move.up)
        total += (self.slack[1] + primal * (rise + move.b)) @ (self.down + dual * move.down)
        return float(total) / (2 * self.a.size + 2 * self.b.size)


def _room(values: Vector, move: Vector) -> float:
    """Return the largest share of `move`, at most 1, that leaves the values non-negative."""
    falls = move < 0
    return min(1.0, float(np.min(values[falls] / -move[falls], initial=1.0)))
