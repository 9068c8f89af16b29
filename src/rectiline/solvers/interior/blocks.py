"""A block: rows, their arguments, and the parts on them."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from rectiline.solvers.interior.per_row import Part, Totals
from rectiline.solvers.interior.rows import Rows

Vector = NDArray[np.float64]

__all__ = ["Block"]


@dataclass(slots=True, eq=False)
class Block:
    """Rows R with arguments ``sign * R b + offset`` and the same kinds of parts on each.

    A large block may be split into several, in any place: the program only adds up what they return.
    """

    rows: Rows
    sign: Vector | float
    offset: Vector
    parts: list[Part]
    least: float = 0.0  # added to the stiffness: free duals have none of their own
    argument: Vector = field(init=False)
    change: Vector = field(init=False)

    def __post_init__(self) -> None:
        self.argument = self.offset

    def place(self, coef: Vector) -> None:
        """Set the arguments to those of the coefficients."""
        self.argument = self.sign * self.rows.dot(coef) + self.offset

    def weights(self) -> Vector:
        """Return the weight of each row in the normal equations."""
        return self._total(
            [part.linearise(part.own(self.argument), self.least) for part in self.parts]
        )

    def aim(self, product: float | None) -> Vector:
        """Set the target of the next direction; return where it wants the duals, row by row."""
        shares = [
            part.aim_at_boundary() if product is None else part.aim_at_centre(product)
            for part in self.parts
        ]
        return self.dual() + self.sign * self._total(shares)

    def turn(self, direction: Vector) -> None:
        """Set the direction of everything on the rows from that of the coefficients."""
        self.change = self.sign * self.rows.dot(direction)
        for part in self.parts:
            part.turn(part.own(self.change))

    def correct(self, direction: Vector) -> None:
        """Add a further direction of the coefficients."""
        change = self.sign * self.rows.dot(direction)
        self.change = self.change + change
        for part in self.parts:
            part.correct(part.own(change))

    def dual(self) -> Vector:
        """Return the dual of each row: the slope of its cost in its value."""
        return self.sign * self._total([part.a for part in self.parts])

    def pull(self) -> Vector:
        """Return the rows' pull on every column, ``R' dual``."""
        return self.rows.tdot(self.dual())

    def pull_change(self) -> Vector:
        """Return the direction of `pull`."""
        return self.rows.tdot(self.sign * self._total([part.da for part in self.parts]))

    def longest(self) -> tuple[float, float]:
        """Return the longest steps of the duals and of the rest that keep all signs."""
        steps = [part.longest() for part in self.parts]
        return min(step[0] for step in steps), min(step[1] for step in steps)

    def products_after(self, dual: float, primal: float) -> float:
        """Return the sum of the complementarity products after steps of these lengths."""
        return sum(part.products_after(dual, primal) for part in self.parts)

    def move(self, dual: float, primal: float) -> None:
        """Take the step."""
        self.argument = self.argument + primal * self.change
        for part in self.parts:
            part.move(dual, primal)

    def judge(self, totals: Totals) -> None:
        """Add this block's sums to the totals."""
        for part in self.parts:
            part.count(totals)
            part.judge(part.own(self.argument), totals)

    def _total(self, vectors: list[Vector]) -> Vector:
        """Return the sum over parts, for every row."""
        if self.parts[0].where is None and len(vectors) == 1:
            return vectors[0]
        total = np.zeros(self.argument.size)
        for part, vector in zip(self.parts, vectors, strict=True):
            if part.where is None:
                total += vector
            else:
                total[part.where] += vector
        return total
