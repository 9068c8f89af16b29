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

    def below(self, coef: Any, intercept: float) -> Fraction:
        """Return the least value found near an answer: rows at knots stay, others keep their piece.

        It is the optimum where the answer is good enough to tell which rows are at knots.
        """
        start = [*rational(coef), *([rational(intercept)] if self.intercept else [])]
        best = self.at(start)
        for level in (Fraction(1, 10**k) for k in (3, 6, 9, 12, 15)):
            moved = self._newton(start, level)
            if moved is not None:
                best = min(best, self.at(moved))
        return best

    def at(self, point: list[Fraction]) -> Fraction:
        """Return the objective at coefficients followed by an intercept where there is one."""
        return (
            self.value(point[:-1], point[-1]) if self.intercept else self.value(point, Fraction(0))
        )

    def _newton(self, point: list[Fraction], level: Fraction) -> list[Fraction] | None:
        """Return the minimiser where nothing changes its piece and what is near a knot is at it."""
        rows = [[*row, Fraction(1)] if self.intercept else row for row in self.X]
        size = len(point)
        H = [[Fraction(0)] * size for _ in range(size)]
        slope = [Fraction(0)] * size
        fixed: list[tuple[list[Fraction], Fraction]] = []
        for i, row in enumerate(rows):
            terms = [abs(x * b) for x, b in zip(row, point, strict=True)]
            z = sum((x * b for x, b in zip(row, point, strict=True)), Fraction(0))
            t, reach = self.direction[i] * z + self.offset[i], sum(terms) + abs(self.offset[i])
            near = [k for k in self.curve.knots if abs(t - k) <= level * (reach + abs(k))]
            if near and self.curve.slope(near[0])[0] < self.curve.slope(near[0])[1]:
                fixed.append((row, self.direction[i] * (near[0] - t)))
                continue
            left, _ = self.curve.slope(t)
            curved = self.curve.curvature[sum(knot < t for knot in self.curve.knots)]
            for a in range(size):
                slope[a] += self.weight[i] * left * self.direction[i] * row[a]
                for c in range(size):
                    H[a][c] += self.weight[i] * curved * row[a] * row[c]
        largest = max((abs(b) for b in point), default=Fraction(0))
        for j, (rho, l1) in enumerate(zip(self.rho, self.l1, strict=True)):
            if l1 > 0 and abs(point[j]) <= level * largest:
                fixed.append(([Fraction(int(k == j)) for k in range(size)], -point[j]))
                continue
            H[j][j] += rho
            slope[j] += rho * point[j] + l1 * (1 if point[j] > 0 else -1 if point[j] < 0 else 0)
        system = [[*H[a], *(row[a] for row, _ in fixed), -slope[a]] for a in range(size)] + [
            [*row, *([Fraction(0)] * len(fixed)), by] for row, by in fixed
        ]
        step = solved_exactly(system)
        return None if step is None else [b + s for b, s in zip(point, step[:size], strict=True)]

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


def solved_exactly(system: list[list[Fraction]]) -> list[Fraction] | None:
    """Return a solution of the linear equations ``[matrix | right]``, or None if there is none."""
    rows = [list(row) for row in system]
    size = len(rows[0]) - 1
    pivots: list[int] = []
    for column in range(size):
        k = len(pivots)
        found = next((i for i in range(k, len(rows)) if rows[i][column] != 0), None)
        if found is None:
            continue
        rows[k], rows[found] = rows[found], rows[k]
        pivot = rows[k][column]
        rows[k] = [value / pivot for value in rows[k]]
        for i in range(len(rows)):
            if i != k and rows[i][column] != 0:
                factor = rows[i][column]
                rows[i] = [a - factor * b for a, b in zip(rows[i], rows[k], strict=True)]
        pivots.append(column)
    if any(row[-1] != 0 for row in rows[len(pivots) :]):
        return None
    solution = [Fraction(0)] * size
    for row, column in zip(rows, pivots, strict=False):
        solution[column] = row[-1]
    return solution
