"""`Block`: rows of the interior point program with their arguments and boxed dual variables."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rectiline.solvers.interior.per_row import Part, Totals
from rectiline.solvers.interior.rows import Rows

Vector = NDArray[np.float64]

__all__ = ["Block"]


@dataclass(slots=True, eq=False)
class Block:
    """Rows R with arguments ``sign * R b + offset`` and the same kinds of parts on each.

    A large block may be split into several, in any place: the program only adds up what they
    return.
    """

    rows: Rows
    sign: Vector | float
    offset: Vector
    parts: list[Part]
    least: float = 0.0  # added to the stiffness: free duals have none of their own
    argument: Vector = field(init=False)
    change: Vector = field(init=False)
    weight: Vector = field(init=False)
    share: Vector = field(init=False)
    heavy: NDArray[np.bool_] | None = field(init=False, default=None)
    miss: Vector | None = field(init=False, default=None)

    def __post_init__(self) -> None:
        self.argument = self.offset

    def place(self, coef: Vector) -> None:
        """Set the arguments to those of the coefficients."""
        self.argument = self.sign * self.rows.dot(coef) + self.offset

    def weights(self) -> Vector:
        """Return the weight of each row in the normal equations."""
        self.weight = self._total(
            [part.linearise(part.own(self.argument), self.least) for part in self.parts]
        )
        return self.weight

    def aim_at_boundary(self) -> Vector:
        """Set the predictor's target; return the duals that it aims at, row by row."""
        return self._aimed([part.aim_at_boundary() for part in self.parts])

    def save_error(self) -> None:
        """Keep the second-order error of the predictor."""
        for part in self.parts:
            part.save_error()

    def aim_at_centre(self, product: float, share: float) -> Vector:
        """Set the corrector's target; return the duals that it aims at, row by row."""
        return self._aimed([part.aim_at_centre(product, share) for part in self.parts])

    def aim_at_outliers(self, product: float, dual: float, primal: float) -> Vector:
        """Move the target where a step would leave products far from their mean."""
        return self._aimed([part.aim_at_outliers(product, dual, primal) for part in self.parts])

    def _aimed(self, shares: list[Vector]) -> Vector:
        self.share = self._total(shares)
        return self.dual() + self.sign * self.share

    def direction(self) -> tuple[object, ...]:
        """Return the direction and its target, for `restore`."""
        parts = [part.direction() for part in self.parts]
        return parts, self.share, self.change, self.heavy, self.miss

    def restore(self, direction: tuple[Any, ...]) -> None:
        """Go back to a direction."""
        parts, self.share, self.change, self.heavy, self.miss = direction
        for part, own in zip(self.parts, parts, strict=True):
            part.restore(own)

    def turn(self, direction: Vector, target: Vector | None) -> None:
        """Set the direction of everything on the rows from that of the coefficients.

        `target`, where it is known, is where the direction takes the duals. Duals and arguments
        belong together by ``move = weight * change + share``; on rows with a large weight, those
        on a kink, the product would magnify the rounding of the change: the duals come first.
        """
        self.change = self.sign * self.rows.dot(direction)
        self.heavy = self.miss = None
        if target is not None:
            move = self.sign * target - self._total([part.a for part in self.parts])
            self.heavy = self.weight > np.abs(move) + np.abs(self.share)
            self.miss = np.where(self.heavy, (move - self.share) / self.weight - self.change, 0.0)
            self.change = self.change + self.miss
        for part in self.parts:
            part.turn(part.own(self.change))

    def correct(self, direction: Vector, move: Vector | None) -> None:
        """Add a further direction of the coefficients, and of the duals where it is known."""
        change = self.sign * self.rows.dot(direction)
        if move is not None:
            assert self.heavy is not None and self.miss is not None
            more = np.where(self.heavy, self.sign * move / self.weight - change, 0.0)
            change = change + more
            self.miss = self.miss + more
        self.change = self.change + change
        for part in self.parts:
            part.correct(part.own(change))

    def shift(self, values: Vector) -> None:
        """Add a further change of the rows' values to the direction."""
        change = self.sign * values
        self.change = self.change + change
        for part in self.parts:
            part.correct(part.own(change))

    def unmatched(self) -> Vector:
        """Return by how much the duals move more than the arguments explain."""
        if self.miss is None:
            return np.zeros(self.argument.size)
        return self.sign * (self.weight * self.miss)

    def dual(self) -> Vector:
        """Return the dual of each row: the slope of its cost in its value."""
        return self.sign * self._total([part.a for part in self.parts])

    def pull(self) -> Vector:
        """Return the rows' pull on every column, ``R' dual``."""
        return self.rows.tdot(self.dual())

    def pull_ahead(self) -> Vector:
        """Return `pull` after a full step."""
        return self.rows.tdot(self.sign * self._total([part.a + part.da for part in self.parts]))

    def longest(self) -> tuple[float, float]:
        """Return the longest steps of the duals and of the rest that keep all signs."""
        steps = [part.longest() for part in self.parts]
        dual, primal = ([step[k] for step in steps] for k in (0, 1))
        return min(dual, default=1.0), min(primal, default=1.0)

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
        if len(vectors) == 1 and self.parts[0].where is None:
            return vectors[0]
        total = np.zeros(self.argument.size)
        for part, vector in zip(self.parts, vectors, strict=True):
            if part.where is None:
                total += vector
            else:
                total[part.where] += vector
        return total
