"""Exactly feasible points of tiny problems with two coefficients, for any penalty and constraints.

The objective in the plane is quadratic between lines: rows at a knot, coefficients at zero or of
equal size, constraints that hold with equality. Points where two lines meet, least points on one
line, and least points between lines are computed in rational arithmetic, from the lines near a
given answer. Each of them is feasible, so that no lower bound may exceed its objective.
"""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from itertools import combinations, pairwise
from typing import Any

from exact import ExactProblem, rational, solved_exactly

from rectiline.penalties import GroupLinf, Slope

Point = list[Fraction]
Line = tuple[Fraction, Fraction, Fraction]  # a x + b y = c

_NEAREST = 4  # lines that are looked at
_PROBES = 3  # pieces of each of them


class ExactPlane(ExactProblem):
    """The objective of a problem with two coefficients and no intercept, and its constraints."""

    def __init__(self, problem: Any) -> None:
        super().__init__(problem)
        rows = problem.terms.given.rows
        self.penalty = problem.penalty
        dense = [m.toarray() if hasattr(m, "toarray") else m for m in (rows.A, rows.E)]
        self.above = [(*a, -c) for a, c in zip(rational(dense[0]), rational(rows.c), strict=True)]
        self.equal = [(*e, -f) for e, f in zip(rational(dense[1]), rational(rows.f), strict=True)]
        for j in range(2):
            unit = [Fraction(int(k == j)) for k in range(2)]
            if rows.lower[j] > -float("inf"):
                self.above.append((*unit, rational(rows.lower[j])))
            if rows.upper[j] < float("inf"):
                self.above.append((*(-u for u in unit), -rational(rows.upper[j])))

    def value(self, coef: Point, intercept: Fraction = Fraction(0)) -> Fraction:
        """Return the objective, whatever the penalty."""
        total = super().value(coef, intercept)
        sizes = [abs(b) for b in coef]
        if isinstance(self.penalty, GroupLinf):
            strength = rational(self.penalty.strength)
            total += strength * sum(max(sizes[j] for j in group) for group in self.penalty.groups)
        elif isinstance(self.penalty, Slope):
            strengths = rational(self.penalty.strengths)
            ordered = sorted(sizes, reverse=True)
            total += sum(s * b for s, b in zip(strengths, ordered, strict=True))
        return total

    def is_feasible(self, point: Point) -> bool:
        """Whether all constraints hold exactly."""
        at = [(a * point[0] + b * point[1], c) for a, b, c in self.above]
        equal = [(a * point[0] + b * point[1], c) for a, b, c in self.equal]
        return all(v >= c for v, c in at) and all(v == c for v, c in equal)

    def least(self, coef: Any) -> Fraction | None:
        """Return the least objective of feasible points near an answer, None if there is none."""
        start = rational(coef)
        lines = sorted(self._lines(), key=lambda line: self._distance(line, start))
        near = [*self.equal, *lines[:_NEAREST]]
        found = [start, *self._crossings(near), *self._least_on_lines(near, lines, start)]
        if not self.equal:
            free = self._newton(start, Fraction(0))
            found += [] if free is None else [free]
        values = [self.value(one) for one in found if self.is_feasible(one)]
        return min(values, default=None)

    def _lines(self) -> Iterator[Line]:
        one, zero = Fraction(1), Fraction(0)
        for row, turn, offset in zip(self.X, self.direction, self.offset, strict=True):
            for knot in self.curve.knots:
                if any(row):
                    yield (row[0], row[1], turn * (knot - offset))
        yield from ((one, zero, zero), (zero, one, zero), (one, one, zero), (one, -one, zero))
        yield from (line for line in self.above if any(line[:2]))

    @staticmethod
    def _distance(line: Line, at: Point) -> Fraction:
        """Return by how much a point misses a line, relative to the terms of its equation."""
        terms = [line[0] * at[0], line[1] * at[1], -line[2]]
        size = sum(abs(term) for term in terms)
        return abs(sum(terms)) / size if size else Fraction(0)

    @staticmethod
    def _crossings(lines: list[Line]) -> Iterator[Point]:
        for first, second in combinations(lines, 2):
            met = solved_exactly([list(first), list(second)])
            if met is not None:
                yield met

    def _least_on_lines(self, near: list[Line], lines: list[Line], at: Point) -> Iterator[Point]:
        """Return vertices of the parabolas along the lines, between the others and near `at`."""
        step = Fraction(1, 2**200)
        for a, b, c in near:
            square = a * a + b * b
            base, way = [a * c / square, b * c / square], [-b, a]
            place = (way[0] * at[0] + way[1] * at[1]) / square
            stops = sorted(
                (other[2] - other[0] * base[0] - other[1] * base[1]) / slope
                for other in lines
                if (slope := other[0] * way[0] + other[1] * way[1]) != 0
            )
            ends = [stops[0] - 1, *stops, stops[-1] + 1] if stops else [place, place]
            probes = sorted(((s + t) / 2 for s, t in pairwise(ends)), key=lambda s: abs(s - place))
            for probe in probes[:_PROBES]:
                points = [
                    [base[k] + s * way[k] for k in range(2)]
                    for s in (probe - step, probe, probe + step)
                ]
                low, middle, high = map(self.value, points)
                curvature = (low + high - 2 * middle) / step**2
                if curvature > 0:
                    least = probe - (high - low) / (2 * step) / curvature
                    yield [base[k] + least * way[k] for k in range(2)]
