"""An oracle in exact rational arithmetic: objectives of tiny problems, and their optima.

Nothing here is shared with the library but the numbers that describe a loss (its knots, slopes and
curvatures) and the encoded targets.
"""

from __future__ import annotations

from fractions import Fraction
from itertools import pairwise, product
from typing import Any

import numpy as np


def rational(values: Any) -> Any:
    """Return floats as exact fractions, in nested lists."""
    if np.ndim(values) == 0:
        return Fraction(float(values))
    return [rational(one) for one in np.asarray(values, dtype=np.float64)]


class ExactCurve:
    """A convex piecewise linear-quadratic function, by its first value and its slopes."""

    def __init__(self, curve: Any) -> None:
        self.knots = rational(curve.knots)
        self.left, self.right = rational(curve.left), rational(curve.right)
        self.curvature = rational(curve.curvature)
        at, least = curve.minimum()
        self.anchor, self.least = Fraction(float(at)), Fraction(float(least))

    def slope(self, t: Fraction) -> tuple[Fraction, Fraction]:
        """Return the left and the right derivative."""
        if t in self.knots:
            k = self.knots.index(t)
            return self.left[k], self.right[k]
        k = sum(knot < t for knot in self.knots)
        if k == 0:
            one = self.left[0] + self.curvature[0] * (t - self.knots[0])
        else:
            one = self.right[k - 1] + self.curvature[k] * (t - self.knots[k - 1])
        return one, one

    def __call__(self, t: Fraction) -> Fraction:
        """Return the value: the least one plus the integral of the slope from its place."""
        low, high = sorted((self.anchor, t))
        stops = [low, *(knot for knot in self.knots if low < knot < high), high]
        total = Fraction(0)
        for a, b in pairwise(stops):
            total += (b - a) * (self.slope(a)[1] + self.slope(b)[0]) / 2
        return self.least + (total if t >= self.anchor else -total)


class ExactProblem:
    """The objective of a problem with a separable penalty and no constraints."""

    def __init__(self, problem: Any) -> None:
        X = problem.design.X
        self.X = rational(X.toarray() if hasattr(X, "toarray") else X)
        self.direction, self.offset = rational(problem.direction), rational(problem.offset)
        self.weight = rational(problem.weight)
        self.rho, self.l1 = rational(problem.columns.rho), rational(problem.columns.l1)
        self.curve = ExactCurve(problem.losses[0].curve)
        self.intercept = problem.fit_intercept

    def arguments(self, coef: list[Fraction], intercept: Fraction) -> list[Fraction]:
        """Return what each row's loss is evaluated at."""
        z = [sum((x * b for x, b in zip(row, coef, strict=True)), intercept) for row in self.X]
        parts = zip(self.direction, z, self.offset, strict=True)
        return [turn * one + offset for turn, one, offset in parts]

    def value(self, coef: list[Fraction], intercept: Fraction) -> Fraction:
        """Return the objective."""
        rows = zip(self.weight, self.arguments(coef, intercept), strict=True)
        columns = zip(self.rho, self.l1, coef, strict=True)
        return sum((w * self.curve(t) for w, t in rows), Fraction(0)) + sum(
            rho * b * b / 2 + l1 * abs(b) for rho, l1, b in columns
        )

    def optimum(self) -> Fraction:
        """Return the exact least value of a problem in one variable, by its bends and vertices."""
        assert (len(self.X[0]) + self.intercept) == 1
        places = self._bends()
        stops = sorted(set(places))
        inner = [(a + b) / 2 for a, b in pairwise(stops)]
        for probe in (*inner, stops[0] - 1, stops[-1] + 1):
            places.extend(self._vertex(probe))
        return min(self._at(one) for one in places)

    def _at(self, place: Fraction) -> Fraction:
        return self.value([], place) if self.intercept else self.value([place], Fraction(0))

    def _bends(self) -> list[Fraction]:
        """Return where some row is at a knot, and zero."""
        found = [Fraction(0)]
        for i, knot in product(range(len(self.offset)), self.curve.knots):
            per_unit = self.direction[i] * (1 if self.intercept else self.X[i][0])
            if per_unit != 0:
                found.append((knot - self.offset[i]) / per_unit)
        return found

    def _vertex(self, probe: Fraction) -> list[Fraction]:
        """Return where the quadratic around `probe` is least, if it is curved."""
        step = Fraction(1, 2**40) * (abs(probe) + 1)
        low, middle, high = (self._at(probe + k * step) for k in (-1, 0, 1))
        curvature = (low + high - 2 * middle) / step**2
        if curvature <= 0:
            return []
        return [probe - (high - low) / (2 * step) / curvature]
