"""Lines of the linear program over open multipliers, and the way to its optimum through the inside.

A line says ``|a'q| <= t cost`` for an atom a of the norm, ``q = base - X'g``: norms are even, so an
atom and its mirror image are one line. Any g that is feasible proves an upper bound of the optimum
(the dual norm of its q), and any prices of the lines prove a lower one.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

from rectiline.paths._open_interior import OpenInterior
from rectiline.paths._open_vertex import nearby_vertices
from rectiline.penalties import L1, Atom, Penalty

Vector = NDArray[np.float64]
Matrix = NDArray[np.float64]

__all__ = ["OpenLines"]

_ALL_COLUMNS = 64  # up to so many, all of them are lines from the beginning
_AT_ONCE = 128  # lines that join otherwise
_STEPS = 120
_FIRST_LOOK = 0.3  # relative gap from which on bounds are computed, and lines may join
_NEXT_LOOK = 0.3  # of the gap of the last look
_NEAR_VERTEX = 1e-3  # relative gap from which on a vertex is tried
_CLOSE = 1e-10  # relative gap that is reached
_NOT_FAR = 0.5  # of t: lines to go on with by other means
_TINY = 1e-8  # of the first guess: optima below may be zero
_LEAST = 1e-4  # of the first guess: optima below count as this large


class OpenLines:
    """The lines so far with the best bounds.

    Parameters
    ----------
    norm : Penalty
        The norm whose dual is minimised.
    base : ndarray of shape (d,)
        What the multipliers that are decided contribute to q.
    low, high : ndarray of shape (m,)
        Bounds of the open multipliers.
    owed : float or None
        What they have to sum to.
    q_of : callable
        Returns q of multipliers.
    zero : float
        Optima below are zero.
    """

    def __init__(
        self,
        norm: Penalty,
        base: Vector,
        low: Vector,
        high: Vector,
        owed: float | None,
        q_of: Callable[[Vector], Vector],
        zero: float,
    ) -> None:
        self._norm, self._base, self._low, self._high, self._owed = norm, base, low, high, owed
        self._q_of, self._zero = q_of, zero
        self._known: set[tuple[bytes, bytes]] = set()
        self.atoms: list[tuple[Atom, float]] = []  # with the cost at strength 1
        self.best, self.bound = np.inf, 0.0
        self.point = np.zeros(low.size)

    @property
    def is_closed(self) -> bool:
        """Whether the bounds have met, or are nothing but zero."""
        if self.best <= self._zero:
            return True
        return self.best - self.bound <= _CLOSE * max(self.bound, _LEAST * self._unit)

    def place(self, g: Vector) -> None:
        """Take the first multipliers, strictly between their bounds."""
        self.offer(g)
        self._first, self._unit = g, self.best

    def begin(self, pays: Callable[[Sequence[Atom]], Matrix], most_entries: int) -> None:
        """Start through the inside where it was placed.

        `pays` returns what each multiplier takes from ``a'q``, one column per atom.
        """
        self._pays, self._most_entries = pays, most_entries
        self._width = float((self._high - self._low).max())
        low, high, g = (one / self._width for one in (self._low, self._high, self._first))
        owed = None if self._owed is None else self._owed / self._width
        self._program = OpenInterior(low, high, owed, g)
        self._look_at = _FIRST_LOOK
        self.has_ended = not self._join(self._first_atoms())

    @property
    def relative_gap(self) -> float:
        """How far the iterates are from the optimum over the lines so far."""
        return self._program.gap / max(self._program.t, _TINY)

    def close_in(self, steps: int = _STEPS) -> None:
        """Bring the bounds together.

        It has ended when they have met, can be brought no closer, or are next to nothing.
        """
        for _ in range(steps):
            if self.has_ended:
                return
            self.has_ended = not self._step()

    def _step(self) -> bool:
        """Take a step, look at the bounds now and then; return whether to go on."""
        program = self._program
        if not program.step():
            self._look()
            return False
        program.settle()
        if self.relative_gap > self._look_at:
            return True
        self._look_at = _NEXT_LOOK * self.relative_gap
        q = self._look()
        if self.is_closed or program.gap <= 1e-15:
            return False
        worst = self._priced(q, program.t * self._unit)
        if (len(self.atoms) + len(worst)) * self._low.size > self._most_entries:
            return False
        if self._join(worst):
            self._look_at = _FIRST_LOOK
        return True

    # ---- lines -------------------------------------------------------------------------------

    def _first_atoms(self) -> list[tuple[Atom, float]]:
        d = self._base.size
        if isinstance(self._norm, L1) and d <= _ALL_COLUMNS:
            costs, sign = self._norm.separable(d)[1], np.ones(1)
            return [(Atom(np.array([j]), sign, costs[j], 0.0), costs[j]) for j in range(d)]
        return self._priced(self._q_of(self.point), 1e-3 * self._unit)

    def _priced(self, q: Vector, level: float) -> list[tuple[Atom, float]]:
        level = max(level, 1e-12 * self._unit)
        found = self._norm.with_strength(level * self._norm.strength).price(q, _AT_ONCE)
        return [(atom, atom.cost / level) for atom in found]

    def _join(self, atoms: list[tuple[Atom, float]]) -> bool:
        """Add the lines that are new; return whether there are any."""
        new = []
        for atom, cost in atoms:
            signs = atom.signs * atom.signs[0]
            key = (np.asarray(atom.columns).tobytes(), signs.tobytes())
            if key not in self._known:
                self._known.add(key)
                new.append((atom, cost))
        if new:
            self.atoms += new
            scale = 1.0 / np.array([cost * self._unit for _, cost in new])
            A = self._pays([atom for atom, _ in new])
            A *= self._width * scale
            b = np.array([atom.signs @ self._base[atom.columns] for atom, _ in new]) * scale
            if self._owed is not None:  # the sum is known: what columns have in common is as well
                centre = A.mean(axis=0)
                A -= centre
                b -= centre * (self._owed / self._width)
            self._program.add_lines(A, b)
        return bool(new)

    # ---- bounds ------------------------------------------------------------------------------

    def offer(self, point: Vector) -> Vector:
        """Take multipliers, and the bound that they prove; return q there."""
        if self._owed is not None:  # to the last digit
            owed = self._owed - float(point.sum())
            room = self._high - point if owed > 0 else point - self._low
            point = point + owed * (room / max(float(room.sum()), 1e-300))
        q = self._q_of(point)
        proved = self._norm.dual_norm(q)
        if proved < self.best:
            self.best, self.point = proved, point
        return q

    def _look(self) -> Vector:
        """Take what the iterates and a vertex nearby prove; return q there."""
        program = self._program
        q = self.offer(program.value * self._width)
        self.price()
        if program.gap <= _NEAR_VERTEX * program.t and not self.is_closed:
            for point, prices, price in nearby_vertices(program):
                self.offer(point * self._width)
                self.bound = max(self.bound, program.lower_bound(prices, price) * self._unit)
        return q

    def price(self) -> None:
        """Take the lower bound that the present prices prove."""
        program = self._program
        priced = program.lower_bound(program.p - program.n, program.c) * self._unit
        self.bound = max(self.bound, priced)

    def tight(self) -> list[tuple[Atom, float]]:
        """Return the atoms of the lines that are not far from tight, on the side where they are."""
        residual = self._program.residual
        near = np.flatnonzero(np.abs(residual) > _NOT_FAR * self._program.t)
        found = []
        for line in near:
            atom, cost = self.atoms[line]
            signs = np.sign(residual[line]) * atom.signs
            found.append((Atom(atom.columns, signs, atom.cost, atom.excess), cost))
        return found

    def reduced(self) -> Vector:
        """Return what each multiplier costs at the last prices."""
        return self._program.reduced()
