"""The linear program over multipliers that a model without coefficients leaves open."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse as sp

from rectiline.paths._null import NullModel
from rectiline.paths._open_rows import OpenRows
from rectiline.penalties import Atom, Penalty
from rectiline.problems import DualPoint, Problem

Vector = NDArray[np.float64]

__all__ = ["OpenMultipliers"]

_ATOMS_PER_ROUND = 30
_ROUNDS = 100
_FIRST_LEVEL = 1e-3  # of the first guess: columns that the first program looks at
_MOST_ENTRIES = 4_000_000  # of the linear program; beyond, what is proved so far is returned
_CLOSE = 1e-10  # of the first guess: distance between the linear program and what is proved
_ROUNDING = 1e-14  # of the size of the terms of a sum: below, it is zero


class OpenMultipliers:
    """The linear program over the open multipliers, grown atom by atom."""

    def __init__(
        self, problem: Problem, norm: Penalty, null: NullModel, active: tuple[Any, Any]
    ) -> None:
        self.norm = norm
        self.balanced = problem.fit_intercept
        self.open = np.flatnonzero(null.high > null.low)
        self.low, self.high = null.low[self.open], null.high[self.open]
        fixed = null.low.copy()
        fixed[self.open] = 0.0
        self.fixed = fixed
        self.base = -problem.design.tdot(fixed)  # q of the multipliers that are decided
        self.owed = -float(np.sum(fixed))  # what the open ones must sum to
        rows = problem.design.X[self.open]
        rows = sp.csr_array(rows) if sp.issparse(rows) else np.asarray(rows, dtype=np.float64)
        self.blocks = (-rows, *active)  # what g, xi and nu add to q, one row for each
        self.atoms: list[tuple[Atom, float]] = []  # with the cost at strength 1
        self._known: set[tuple[bytes, bytes]] = set()
        self._program: OpenRows | None = None
        # What rounding in X'g can make of zero, in the dual norm.
        terms = float(np.linalg.norm(np.maximum(np.abs(null.low), np.abs(null.high))))
        sizes = np.sqrt(problem.design.column_squares()) * terms
        self.rounding = norm.dual_norm(_ROUNDING * sizes)

    def solve(self) -> tuple[float, Vector]:
        """Return the strength that the best multipliers prove, and these multipliers.

        A strength that is nothing but rounding is zero.
        """
        point = np.zeros(sum(block.shape[0] for block in self.blocks))
        if not point.size:
            strength = self.norm.dual_norm(self.base)
            return strength if strength > self.rounding else 0.0, point
        if self.balanced and self.open.size:
            share = (self.owed - self.low.sum()) / float((self.high - self.low).sum())
            point[: self.open.size] = self.low + np.clip(share, 0, 1) * (self.high - self.low)
        q = self._q(point)
        best, bound, found = self.norm.dual_norm(q), 0.0, point
        start = best
        for _ in range(_ROUNDS):
            if best - bound <= _CLOSE * max(bound, start) or best <= self.rounding:
                break
            level = max(bound, _FIRST_LEVEL * start if not self.atoms else 0.0, 1e-12 * start)
            worst = self.norm.with_strength(level * self.norm.strength).price(q, _ATOMS_PER_ROUND)
            if not self._add(worst, level) or len(self.atoms) * point.size > _MOST_ENTRIES:
                break
            optimum = self._optimum(start)
            if optimum is None:  # what is proved so far is an upper bound
                break
            bound, point = optimum
            q = self._q(point)
            proved = self.norm.dual_norm(q)
            if proved < best:
                best, found = proved, point
        return float(best) if best > max(self.rounding, _CLOSE * start) else 0.0, found

    def _add(self, atoms: Sequence[Atom], level: float) -> bool:
        """Add those that are new; return whether there are any.

        The linear program satisfies the others as well as it can.
        """
        before = len(self.atoms)
        for atom in atoms:
            key = (np.asarray(atom.columns).tobytes(), np.asarray(atom.signs).tobytes())
            if key not in self._known:
                self._known.add(key)
                self.atoms.append((atom, atom.cost / level))
        return len(self.atoms) > before

    def dual(self, point: Vector, places: NDArray[np.intp], size: int) -> DualPoint:
        """Return the multipliers as a dual point of the problem.

        `places` are the positions of the tight rows among `size`; multipliers of bounds
        come after them and are left out, since a certificate finds its own.
        """
        n_open, n_rows = self.open.size, self.blocks[1].shape[0]
        sample = self.fixed.copy()
        sample[self.open] = point[:n_open]
        inequality = np.zeros(size)
        inequality[places] = point[n_open : n_open + places.size]
        return DualPoint(sample, inequality, point[n_open + n_rows :])

    def _q(self, point: Vector) -> Vector:
        q, first = self.base, 0
        for block in self.blocks:
            q = q + block.T @ point[first : first + block.shape[0]]
            first += block.shape[0]
        return np.asarray(q)

    def _optimum(self, start: float) -> tuple[float, Vector] | None:
        """Return the optimum over the atoms so far, a lower bound, and the multipliers there.

        None if the numbers are too far apart for the linear program, as where targets that do not
        vary leave nothing but rounding to price.
        """
        n_open, n_rows, n_equal = (block.shape[0] for block in self.blocks)
        size = float(np.max(self.high - self.low, initial=0.0)) or 1.0
        lines, right = [], []
        for atom, unit in self.atoms:
            # a'q <= t cost, in units of the first guess and of the widest multiplier
            parts = [np.asarray(block[:, atom.columns] @ atom.signs) for block in self.blocks]
            pays = np.concatenate([part.ravel() for part in parts]) * (size / (unit * start))
            lines.append(np.concatenate([[-1.0], pays]))
            right.append(-float(atom.signs @ self.base[atom.columns]) / (unit * start))
        if self._program is None:
            more: list[tuple[float | None, float | None]] = [(0.0, None)] * n_rows
            more += [(None, None)] * n_equal
            owed = self.owed / size if self.balanced and n_open > 0 else None
            self._program = OpenRows(self.low / size, self.high / size, owed, more)
        found = self._program.solve(np.array(lines), np.array(right))
        return None if found is None else (found[0] * start, found[1] * size)
