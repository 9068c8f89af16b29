"""Linear programs with few rows and very many bounded variables, for `_multiplier_program`.

Nearly all variables of such a program end at one of their bounds. The others form a working set,
which HiGHS solves; the variables outside it stay at their bounds until the prices of the rows say
that they should move.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import linprog

from rectiline._polling import checkpoint
from rectiline._typing import Matrix, Vector

__all__ = ["BoundedProgram"]

_WORKING = 2_000  # variables at first, and most that join at once
_MANY = 1.5  # working sets: with more variables than that a working set pays
_SAMPLE = 0.75  # of a working set: variables of the first guess at the prices
_ROUNDS = 60
_FEASIBLE = 1e-10  # the least that HiGHS takes
_NOTHING = 1e-11  # what variables at the wrong bounds may cost together


class BoundedProgram:
    """Minimise t subject to ``lines @ (t, g, more) <= right`` and, if asked, ``sum(g) = owed``.

    Parameters
    ----------
    low, high : ndarray of shape (m,)
        Bounds of g.
    owed : float or None
        What g has to sum to.
    more : list of (float or None, float or None)
        Bounds of the other variables; that of t is (0, None).
    working : int
        Variables of the first working set.
    """

    def __init__(
        self,
        low: Vector,
        high: Vector,
        owed: float | None,
        more: list[tuple[float | None, float | None]],
        working: int = _WORKING,
    ) -> None:
        self._working, self._sample = working, int(_SAMPLE * working)
        self._low, self._high, self._owed, self._more = low, high, owed, more
        self._works = np.ones(low.size, dtype=bool)
        self._is_guessed = low.size <= _MANY * working
        share = 0.5
        if owed is not None:
            share = (owed - low.sum()) / max(float((high - low).sum()), 1e-300)
        self._value = low + min(max(share, 0.0), 1.0) * (high - low)
        self._random = np.random.default_rng(0)

    def solve(self, lines: Matrix, right: Vector) -> tuple[float, Vector] | None:
        """Return the optimum and the variables but t there; None if there is none.

        Lines may have been added since the last call.
        """
        m, growing = self._low.size, self._working
        if not self._is_guessed:
            self._guess(lines, right)
        for _ in range(_ROUNDS):
            checkpoint()
            found = self._restricted(lines, right)
            if found is None:
                if self._works.all():
                    return None
                self._works[:] = True  # values that do not go together
                continue
            t, x, prices = found
            n_works = int(self._works.sum())
            self._value[self._works] = x[:n_works]
            reduced = -(lines[:, 1 : m + 1].T @ prices[:-1]) - prices[-1]
            up, down = self._high - self._value, self._value - self._low
            cost = np.where(self._works, 0.0, np.maximum(-reduced * up, reduced * down))
            if cost.sum() <= _NOTHING:
                return t, np.concatenate([self._value, x[n_works:]])
            self._works[:] = m <= 2 * self._working
            if m > 2 * self._working:  # drop variables that their cost fixes, add the most violated
                doubt = -np.abs(reduced) * (self._high - self._low)
                self._works[_largest(doubt, self._working)] = True
                joining = min(growing, int(np.count_nonzero(cost > 0)))
                self._works[_largest(cost, joining)] = True
                growing = min(2 * growing, m)
        return None

    def _restricted(self, lines: Matrix, right: Vector) -> tuple[float, Vector, Vector] | None:
        """Return optimum, variables and prices (of the sum last) with the others where they are."""
        m, works = self._low.size, self._works
        rest = ~works
        kept = np.concatenate([[True], works, np.ones(len(self._more), dtype=bool)])
        right = right - lines[:, 1 : m + 1][:, rest] @ self._value[rest]
        owed = None if self._owed is None else self._owed - float(self._value[rest].sum())
        bounds = [(0.0, None), *zip(self._low[works], self._high[works], strict=True), *self._more]
        return _program(lines[:, kept], right, owed, int(works.sum()), bounds)

    def _guess(self, lines: Matrix, right: Vector) -> None:
        """Set the variables by the prices of a program on a sample, if its prices differ."""
        m = self._low.size
        some = self._random.choice(m, self._sample, replace=False)
        share = self._sample / m
        part = np.hstack([lines[:, [0]], lines[:, 1 + some] / share, lines[:, m + 1 :]])
        bounds = [(0.0, None), *zip(self._low[some], self._high[some], strict=True), *self._more]
        owed = None if self._owed is None else share * self._owed
        found = _program(part, right, owed, self._sample, bounds)
        self._works[:] = False
        if found is None or not found[2][:-1].any():  # nothing to choose by yet
            self._works[self._random.choice(m, self._working, replace=False)] = True
            return
        prices = found[2]
        # The sum was that of the sample: its price is per unit of it.
        self.start_at(-(lines[:, 1 : m + 1].T @ prices[:-1]) - share * prices[-1])

    def start_at(self, reduced: Vector) -> None:
        """Set variables to the bound that their reduced cost favours; those near zero stay open."""
        m, width = self._low.size, self._high - self._low
        self._is_guessed = True
        self._works[:] = False
        self._value = np.where(reduced > 0, self._low, self._high)
        doubt = -np.abs(reduced) * width
        count = min(self._working, m // 4) + 1
        while count < m:
            self._works[_largest(doubt, count)] = True
            least = float(self._value[~self._works].sum()) + float(self._low[self._works].sum())
            most = least + float(width[self._works].sum())
            if self._owed is None or least <= self._owed <= most:  # they can make up the sum
                return
            count *= 2
        self._works[:] = True


def _program(
    lines: Matrix,
    right: Vector,
    owed: float | None,
    n_summed: int,
    bounds: list[tuple[float | None, float | None]],
) -> tuple[float, Vector, Vector] | None:
    size = lines.shape[1]
    sums = np.zeros(size)
    sums[1 : 1 + n_summed] = 1.0
    balanced = owed is not None and n_summed > 0
    found = linprog(
        np.eye(1, size)[0],
        A_ub=lines,
        b_ub=right,
        A_eq=sums[None] if balanced else None,
        b_eq=[owed] if balanced else None,
        bounds=bounds,
        method="highs",
        options={
            "primal_feasibility_tolerance": _FEASIBLE,
            "dual_feasibility_tolerance": _FEASIBLE,
        },
    )
    if found.x is None:
        return None
    price = float(found.eqlin.marginals[0]) if balanced else 0.0
    x = np.asarray(found.x, dtype=np.float64)
    return float(x[0]), x[1:], np.append(np.asarray(found.ineqlin.marginals), price)


def _largest(values: Vector, count: int) -> NDArray[np.intp]:
    return np.argpartition(-values, max(count - 1, 0))[:count]
