"""The linear program over multipliers that a model without coefficients leaves open.

Used by `_largest`, which states the program. Where it applies, Dinkelbach's ascent brings a lower
bound first. The program itself is solved over atoms of the penalty, added as they are violated.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse as sp

from rectiline._lazy import cached_property
from rectiline._polling import OutOfTime, Timekeeper, asked_at_checkpoints
from rectiline._typing import Matrix, Vector
from rectiline.paths._ascent import ascend, can_ascend
from rectiline.paths._bounded_program import BoundedProgram
from rectiline.paths._null import NullModel
from rectiline.penalties import Atom, Penalty
from rectiline.problems import DualPoint, Problem

__all__ = ["MultiplierProgram"]

_ATOMS_PER_ROUND = 100
_ROUNDS = 100
_FIRST_LEVEL = 1e-3  # of the first guess: columns that the first program looks at
_MOST_ENTRIES = 4_000_000  # of the linear program; beyond, what is proved so far is returned
_WIDE = 4  # columns per open multiplier from which on few samples are near the margin at once
_FIRST_ASCENT, _FIRST_WIDE = 0.1, 0.6  # of the first upper bound: where the ascent starts
_CLOSE = 1e-10  # relative distance between the linear program and what is proved
_LEAST = 1e-3  # of the first guess: optima below count as this large
_ROUNDING = 1e-14  # of the size of the terms of a sum: below, it is zero


class MultiplierProgram:
    """The linear program over the open multipliers, grown atom by atom."""

    def __init__(
        self, problem: Problem, norm: Penalty, null: NullModel, active: tuple[Any, Any]
    ) -> None:
        self._problem, self._intercept = problem, null.intercept
        self.norm = norm
        self.design = problem.design
        self.open = np.flatnonzero(null.high > null.low)
        self.low, self.high = null.low[self.open], null.high[self.open]
        fixed = null.low.copy()
        fixed[self.open] = 0.0
        self.fixed = fixed
        self.base = -problem.design.tdot(fixed)  # q of the multipliers that are decided
        # What the open ones must sum to.
        self.owed = -float(np.sum(fixed)) if problem.fit_intercept else None
        self.active = active  # what xi and nu add to q, one row for each
        self.atoms: list[tuple[Atom, float]] = []  # with the cost at strength 1
        self._known: set[tuple[bytes, bytes]] = set()
        self._program: BoundedProgram | None = None
        # What rounding in X'g can make of zero, in the dual norm.
        terms = float(np.linalg.norm(np.maximum(np.abs(null.low), np.abs(null.high))))
        sizes = np.sqrt(problem.design.column_squares()) * terms
        self.rounding = norm.dual_norm(_ROUNDING * sizes)

    def solve(self, keeper: Timekeeper | None = None) -> tuple[float, Vector]:
        """Return the strength that the best multipliers prove, and these multipliers.

        A strength that is nothing but rounding is zero. `keeper` may end the search for better
        multipliers: what is proved so far is an upper bound.
        """
        self.point = self._middle()
        self.best, self.bound = self.norm.dual_norm(self._q(self.point)), 0.0
        start = self.best
        if self.point.size and start > self.rounding:
            try:
                with asked_at_checkpoints(keeper):
                    if self.point.size == self.open.size:
                        self._ascend()
                    self._along_vertices(start)
            except OutOfTime:
                pass
        least = max(self.rounding, _CLOSE * start)
        return (float(self.best) if self.best > least else 0.0), self.point

    def _middle(self) -> Vector:
        """Return multipliers between their bounds, with the right sum."""
        point = np.zeros(self.open.size + sum(block.shape[0] for block in self.active))
        share, width = 0.5, self.high - self.low
        if self.owed is not None and self.open.size:
            share = (self.owed - float(self.low.sum())) / float(width.sum())
            share = min(max(share, 0.0), 1.0)
        point[: self.open.size] = self.low + share * width
        return point

    def _ascend(self) -> None:
        """Bring the bounds together from below, if the program has the right form."""
        problem = self._problem.with_penalty(self.norm)
        if not can_ascend(problem):
            return
        wide = self.design.n_features >= _WIDE * self.open.size
        start = (_FIRST_WIDE if wide else _FIRST_ASCENT) * self.best
        found = ascend(problem, start, self._intercept)
        if found is None:
            return
        self.bound = found[0]
        point = np.clip(found[1][self.open], self.low, self.high)
        if self.owed is not None:  # repair the sum to the last digit
            owed = self.owed - float(point.sum())
            room = self.high - point if owed > 0 else point - self.low
            point = point + owed * (room / max(float(room.sum()), 1e-300))
        proved = self.norm.dual_norm(self._q(point))
        if proved < self.best:
            self.best, self.point = proved, point

    def _along_vertices(self, start: float) -> None:
        """Solve programs over the atoms so far, and add those that are violated, to the optimum."""
        q, is_new = self._q(self.point), False
        for _ in range(_ROUNDS):
            if self.best - self.bound <= _CLOSE * max(self.bound, _LEAST * start):
                return
            if self.best <= self.rounding:
                return
            level = max(self.bound, _FIRST_LEVEL * start if not self.atoms else 0.0, 1e-12 * start)
            worst = self.norm.with_strength(level * self.norm.strength).price(q, _ATOMS_PER_ROUND)
            is_new |= self._add(worst, level)
            if not is_new or len(self.atoms) * self.point.size > _MOST_ENTRIES:
                return
            is_new = False
            optimum = self._optimum(start)
            if optimum is None:  # what is proved so far is an upper bound
                return
            self.bound, point = optimum
            q = self._q(point)
            proved = self.norm.dual_norm(q)
            if proved < self.best:
                self.best, self.point = proved, point

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
        n_open, n_rows = self.open.size, self.active[0].shape[0]
        inequality = np.zeros(size)
        inequality[places] = point[n_open : n_open + places.size]
        return DualPoint(self._sample(point), inequality, point[n_open + n_rows :])

    def _sample(self, point: Vector) -> Vector:
        sample = self.fixed.copy()
        sample[self.open] = point[: self.open.size]
        return sample

    def _q(self, point: Vector) -> Vector:
        q, first = -self.design.tdot(self._sample(point)), self.open.size
        for block in self.active:
            if block.shape[0]:
                q = q + block.T @ point[first : first + block.shape[0]]
            first += block.shape[0]
        return np.asarray(q)

    def _pays(self, atoms: Sequence[Atom]) -> Matrix:
        """Return ``a'x`` for the open samples x, one column for each atom a."""
        if all(atom.columns.size == 1 for atom in atoms):
            columns = np.concatenate([atom.columns for atom in atoms])
            everything = np.array_equal(columns, np.arange(self.design.n_features))
            part = self._rows if everything else self._rows[:, columns]
            signs = np.concatenate([atom.signs for atom in atoms])
            return np.asarray((part.toarray() if sp.issparse(part) else part) * signs)
        parts = [np.ravel(self._rows[:, atom.columns] @ atom.signs) for atom in atoms]
        return np.ascontiguousarray(np.array(parts).T)

    @cached_property
    def _rows(self) -> Any:
        rows = self.design.X[self.open]
        return sp.csr_array(rows) if sp.issparse(rows) else np.asarray(rows, dtype=np.float64)

    def _optimum(self, start: float) -> tuple[float, Vector] | None:
        """Return the optimum over the atoms so far, a lower bound, and the multipliers there.

        None if the numbers are too far apart for the linear program, as where targets that do not
        vary leave nothing but rounding to price.
        """
        atoms = [atom for atom, _ in self.atoms]
        units = np.array([unit * start for _, unit in self.atoms])
        # a'q <= t cost, in units of the first guess and of the widest multiplier
        parts = [np.full((1, len(atoms)), -1.0)]
        parts.append(-self._pays(atoms) * (self._size / units))
        for block in self.active:
            more = [np.ravel(block[:, atom.columns] @ atom.signs) for atom in atoms]
            parts.append(np.array(more).T * (self._size / units))
        right = [-float(atom.signs @ self.base[atom.columns]) for atom in atoms]
        if self._program is None:
            self._program = self._empty_program()
        found = self._program.solve(np.vstack(parts).T, np.array(right) / units)
        return None if found is None else (found[0] * start, found[1] * self._size)

    @cached_property
    def _size(self) -> float:
        return float(np.max(self.high - self.low, initial=0.0)) or 1.0

    def _empty_program(self) -> BoundedProgram:
        n_rows, n_equal = (block.shape[0] for block in self.active)
        more: list[tuple[float | None, float | None]] = [(0.0, None)] * n_rows
        more += [(None, None)] * n_equal
        owed = None if self.owed is None or not self.open.size else self.owed / self._size
        return BoundedProgram(self.low / self._size, self.high / self._size, owed, more)
