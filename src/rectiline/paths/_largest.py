"""The smallest strength at which a norm penalty leaves nothing but zeros.

All coefficients are zero at strength s exactly if some optimal dual point of the model without
coefficients has ``dual_norm(q) <= s`` for the penalty at strength 1. Where samples sit on a kink of
their loss (ties in quantiles; a whole class on the margin) that dual point is not unique, and the
smallest strength is the optimum of a linear program over the multipliers that are left open:

    minimise t  subject to  a'q <= t cost_a for every atom a of the penalty,
                            q = A'xi + E'nu - X'g,  low <= g <= high,  sum g = 0,  xi >= 0.

Atoms (columns for L1, groups with signs, sorted sets for Slope) are added as they are violated.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse as sp
from scipy.optimize import linprog

from rectiline.paths._null import NullModel, null_model
from rectiline.penalties import L1, Atom, Columnwise, ElasticNet, GroupLinf, Penalty, Slope
from rectiline.problems import Problem
from rectiline.solvers import solve

Vector = NDArray[np.float64]

__all__ = ["is_sparsifying", "largest_strength"]

_ATOMS_PER_ROUND = 30
_ROUNDS = 100
_MOST_ENTRIES = 2_000_000  # of the linear program; beyond, what is proved so far is returned
_CLOSE = 1e-10  # of the first guess: distance between the linear program and what is proved


def is_sparsifying(penalty: Penalty | None) -> bool:
    """Whether some strength sets all coefficients to zero."""
    if penalty is None or penalty.is_zero:
        return False
    return _norm_part(penalty) is not None


def _norm_part(penalty: Penalty) -> Penalty | None:
    """Return the norm in the penalty when its strength is 1; None if there is none."""
    if isinstance(penalty, L1 | GroupLinf | Slope):
        return penalty.with_strength(1.0)
    if isinstance(penalty, ElasticNet) and penalty.l1 > 0:
        return L1(penalty.l1 / penalty.strength)
    if isinstance(penalty, Columnwise) and not (penalty.l1[penalty.l2 > 0] == 0).any():
        return L1(1.0, penalty.l1 / penalty.strength)
    return None


def largest_strength(problem: Problem) -> float:
    """Return the smallest strength of the problem's penalty at which all coefficients are zero.

    It is exact (to about 1e-10) for norm penalties: L1, elastic net, group L-infinity, Slope.
    It is an upper bound where columns pay nothing (they are fitted first, to a certified 1e-9), and
    where so many multipliers are open that the linear program would grow out of hand.

    Examples
    --------
    >>> import numpy as np
    >>> import rectiline as rl
    >>> from rectiline.paths import largest_strength
    >>> X = np.array([[0.0], [1.0], [2.0], [4.0]])
    >>> problem = rl.Problem(X, [-1, -1, 1, 1], rl.losses.Hinge(), rl.penalties.L1(1.0))
    >>> largest_strength(problem)
    5.0
    """
    norm = None if problem.penalty is None else _norm_part(problem.penalty)
    if norm is None or problem.penalty is None or problem.penalty.is_zero:
        raise ValueError(
            f"penalty={problem.penalty!r} does not set all coefficients to zero at any finite "
            "strength; give the strengths."
        )
    free = np.flatnonzero(norm.free_columns(problem.n_features)) if not isinstance(
        norm, L1
    ) else np.flatnonzero(norm.separable(problem.n_features)[1] == 0)
    if free.size:
        return _with_free_columns(problem, norm, free)
    active = _active_rows(problem)
    null = null_model(problem)
    return _Program(problem, norm, null, active).solve()


def _with_free_columns(problem: Problem, norm: Penalty, free: NDArray[np.intp]) -> float:
    rows = problem.constraint_rows
    if rows.c.size or rows.f.size or problem.columns.has_bounds:
        raise ValueError("Columns without a penalty together with constraints: give the strengths.")
    margin = problem.losses[0].of == "margin"
    part = Problem(
        problem.design.X[:, free],
        problem.direction if margin else problem.offset,
        loss=problem.loss,
        penalty=None,
        sample_weight=problem.weight,
        fit_intercept=problem.fit_intercept,
        loss_index=problem.loss_index,
    )
    q = -problem.design.tdot(solve(part, tol=1e-9).dual.sample)
    q[free] = 0.0
    return norm.dual_norm(q)


def _active_rows(problem: Problem) -> tuple[Any, Any]:
    """Return the inequality and equality rows that hold with equality at zero."""
    rows = problem.constraint_rows
    d = problem.n_features
    if (rows.c < 0).any() or (rows.f != 0).any() or (rows.lower > 0).any() or (rows.upper < 0).any():
        raise ValueError(
            "The constraints exclude all-zero coefficients, so no strength reaches them; give the "
            "strengths."
        )
    eye = sp.eye_array(d, format="csr")
    inequality = sp.vstack(
        [sp.csr_array(rows.A)[rows.c == 0], eye[rows.lower == 0], -eye[rows.upper == 0]],
        format="csr",
    )
    return inequality, sp.csr_array(rows.E)


class _Program:
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
        self.base = -problem.design.tdot(fixed)  # q of the multipliers that are decided
        self.owed = -float(np.sum(fixed))  # what the open ones must sum to
        rows = problem.design.X[self.open]
        rows = sp.csr_array(rows) if sp.issparse(rows) else np.asarray(rows, dtype=np.float64)
        self.blocks = (-rows, *active)  # what g, xi and nu add to q, one row for each
        self.atoms: list[tuple[Atom, float]] = []  # with the cost at strength 1

    def solve(self) -> float:
        """Return the strength that the best multipliers prove."""
        point = np.zeros(sum(block.shape[0] for block in self.blocks))
        if not point.size:
            return self.norm.dual_norm(self.base)
        if self.balanced and self.open.size:
            share = (self.owed - self.low.sum()) / float((self.high - self.low).sum())
            point[: self.open.size] = self.low + np.clip(share, 0, 1) * (self.high - self.low)
        q = self._q(point)
        best, bound = self.norm.dual_norm(q), 0.0
        start = best
        for _ in range(_ROUNDS):
            if best - bound <= _CLOSE * max(bound, start):
                break
            level = max(bound, 0.5 * start if not self.atoms else 0.0, 1e-12 * start)
            worst = self.norm.with_strength(level * self.norm.strength).price(q, _ATOMS_PER_ROUND)
            if not worst or len(self.atoms) * point.size > _MOST_ENTRIES:
                break
            self.atoms += [(atom, atom.cost / level) for atom in worst]
            bound, point = self._optimum(start)
            q = self._q(point)
            best = min(best, self.norm.dual_norm(q))
        return float(best)

    def _q(self, point: Vector) -> Vector:
        q, first = self.base, 0
        for block in self.blocks:
            q = q + block.T @ point[first : first + block.shape[0]]
            first += block.shape[0]
        return np.asarray(q)

    def _optimum(self, start: float) -> tuple[float, Vector]:
        """Return the optimum over the atoms so far, a lower bound, and the multipliers there."""
        n_open, n_rows, n_equal = (block.shape[0] for block in self.blocks)
        size = float(np.max(self.high - self.low, initial=0.0)) or 1.0
        lines, right = [], []
        for atom, unit in self.atoms:
            # a'q <= t cost, in units of the first guess and of the widest multiplier
            parts = [np.asarray(block[:, atom.columns] @ atom.signs) for block in self.blocks]
            pays = np.concatenate([part.ravel() for part in parts]) * (size / (unit * start))
            lines.append(np.concatenate([[-1.0], pays]))
            right.append(-float(atom.signs @ self.base[atom.columns]) / (unit * start))
        bounds = [(0.0, None), *zip(self.low / size, self.high / size, strict=True)]
        bounds += [(0.0, None)] * n_rows + [(None, None)] * n_equal
        sums = np.concatenate([[0.0], np.ones(n_open), np.zeros(n_rows + n_equal)])
        balanced = self.balanced and n_open > 0
        found = linprog(
            np.eye(1, sums.size)[0],
            A_ub=np.array(lines),
            b_ub=np.array(right),
            A_eq=sums[None] if balanced else None,
            b_eq=[self.owed / size] if balanced else None,
            bounds=bounds,
            method="highs",
        )
        if found.x is None:
            raise RuntimeError(f"The linear program of the largest strength failed: {found.message}")
        return float(found.x[0]) * start, np.asarray(found.x[1:], dtype=np.float64) * size
