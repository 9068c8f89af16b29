"""Costs of the tasks while the subspace is held, and the curvature of one in a common move of all.

With the subspace fixed let ``phi(u_0)`` be the least cost of a task for ``u = u_0 + v``. Rows on a
kink hold their prediction, rows on a curved piece resist by their curvature, active constraints do
not give way. With X these rows, ``1/D`` how far each gives way and ``K = X S X' / strength``:

    phi'' = X' (1/D + K)^-1 X     or, for many rows,     R - R (X'D X + R)^-1 R,  R = strength S^-1,

with the intercept eliminated in both.

`settle` solves a task by linear equations, from the pieces that its rows were on in the last pass.
With the subspace held and the place of every row on the graph of its slope known
(`rectiline.problems._task`), the optimality conditions of a task are linear: with
``K = X S X' / strength``, R the rows on kinks and curved pieces and F the others,

    (K_RR + give) g_R - b 1 = (X start)_R - level - K_RF g_F,     1'g = 0,
    u = start - S X'g / strength.

Where R holds more rows than there are columns, and no kinks, the same equations are solved for u.
The answer says where every row is now. If that is where it was thought to be, the answer is exact;
else the equations are set up again (the primal-dual active set method). From one pass to the next
few rows change place, so one or two systems do. There is no guarantee: when the places do not
settle soon the caller takes a solver that always gets there.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import linalg

from rectiline._costs import SECONDS_PER_ENTRY_COPIED
from rectiline._lazy import cached_property
from rectiline._polling import checkpoint
from rectiline._typing import Indices, Matrix, Vector
from rectiline.backends import Design
from rectiline.problems import DualPoint, MultiTaskProblem
from rectiline.problems.forms import Places, Task


@dataclass(frozen=True, eq=False)
class Held:
    """What all tasks of a pass have in common: ``(strength/2) u' (eta I + M)^-1 u``."""

    space: Any
    eta: float
    strength: float

    @classmethod
    def of(cls, problem: MultiTaskProblem, space: Any) -> Held:
        """Return what the penalty of a problem charges in a subspace."""
        return cls(space, problem.penalty.eta, 2.0 * problem.penalty.scale)

    def charge(self, coef: Matrix) -> float:
        """Return the costs of coefficients, one column for each task."""
        return 0.5 * self.strength * float(np.sum(coef * self.space.times(coef, self.eta, -1.0)))

    def image(self, q: Vector) -> Vector:
        """Return ``S q / strength``."""
        moved: Vector = self.space.times(q, self.eta) / self.strength
        return moved

    def reach(self, task: Task) -> Vector:
        """Return by how much, about, a unit of slope of each row moves its own argument."""
        typical = (self.eta + self.space.typical) / self.strength
        return np.asarray(task.weight * task.row_squares * typical)

    def kernel(self, X: Any, gram: Matrix | None = None) -> Matrix:
        """Return ``X S X' / strength``, dense; `gram` is ``X X'`` where it is known."""
        plain = X @ X.T if gram is None else gram
        plain = plain.toarray() if hasattr(plain, "toarray") else plain
        kernel = np.asarray(plain * ((self.eta + self.space.floor) / self.strength), dtype=float)
        if self.space.weights.size:
            extra = (self.space.weights - self.space.floor) / self.strength
            projected = np.asarray(X @ self.space.basis)
            kernel += (projected * extra) @ projected.T
        return kernel

    @cached_property
    def metric(self) -> Matrix:
        """``strength S^-1``."""
        space = self.space
        base = self.strength / (self.eta + space.floor)
        change = self.strength / (self.eta + space.weights) - base
        metric: Matrix = (space.basis * change) @ space.basis.T
        metric[np.diag_indices_from(metric)] += base
        return metric


def task_curvature(task: Task, at: tuple[Vector, float, DualPoint], held: Held) -> Matrix:
    """Return the second derivative of phi at coefficients, intercept and multipliers."""
    u, b, dual = at
    places = task.pieces.place(task.design.dot(u) + b, dual.sample, held.reach(task))
    rows = task.pieces.resisting(places)
    inverse = task.pieces.lines(places, rows)[1]
    d = task.design.n_features
    X = task.design.X[rows]
    X = np.asarray(X.toarray() if task.design.is_sparse else X, dtype=np.float64)
    ones = np.full(rows.size, float(task.fit_intercept))
    if task.is_constrained:  # an active constraint is a row that does not give way at all
        tight = task.holding_rows(dual)
        X = np.vstack([X, tight])
        ones, inverse = (np.append(v, np.zeros(tight.shape[0])) for v in (ones, inverse))
    n = X.shape[0]
    if not n:
        return np.zeros((d, d))
    if n <= d:
        kernel = held.kernel(X)
        floor = 1e-9 * max(float(np.trace(kernel)) / n, 1e-300)
        kernel[np.diag_indices(n)] += np.maximum(inverse, floor)
        factor = linalg.cho_factor(kernel, lower=True)
        solved = linalg.cho_solve(factor, X)
        image = linalg.cho_solve(factor, ones)
        solved -= np.outer(image, image @ X) / max(float(image @ ones), 1e-300)
        return np.asarray(X.T @ solved)
    stiff = np.trace(held.metric) / max(float(np.sum(X * X)), 1e-300) * 1e8
    weight = 1.0 / np.maximum(inverse, 1.0 / stiff)
    pull = weight * ones
    X = X - np.outer(ones, (pull @ X) / max(float(pull.sum()), 1e-300))
    gram = (X * weight[:, None]).T @ X
    inner = linalg.cho_solve(linalg.cho_factor(gram + held.metric, lower=True), held.metric)
    return np.asarray(held.metric - held.metric @ inner)


# ---- linear equations for rows whose places are known --------------------------------------------


Answer = tuple[Vector, float, DualPoint]  # coefficients, intercept and multipliers of a task

_ROUNDS = 12
_PATIENCE = 3  # rounds without fewer changes before giving up
_FEW_CHANGES = 2  # with which an answer may already be good enough
_ROUNDING_SHARE = 1e-11  # relative to the objective at zero
_MOST_UNKNOWNS = 700  # up to which the equations are set up for rows that may change place


def settle(task: Task, near: Answer, held: Held, start: Vector | None, gap: float) -> Answer | None:
    """Return the answer of a task if the places of its rows settle, else None.

    `near` holds coefficients, intercept and multipliers to start from; `gap` is what the answer may
    leave of the objective of the task.
    """
    pieces, design = task.pieces, task.design
    if task.is_constrained:
        return None
    base = np.zeros(design.n_features) if start is None else start
    z0 = np.zeros(design.n_samples) if start is None else design.dot(start)
    reach = held.reach(task)
    u, b, dual = near
    is_parabola = task.quadratic_target is not None  # all rows have one place
    places = np.zeros(design.n_samples, dtype=np.intp)
    if not is_parabola:
        places = pieces.place(design.dot(u) + b, dual.sample, reach)
    fewest, waited = design.n_samples + 1, 0
    for _ in range(_ROUNDS):
        found = _solve(task, places, held, z0)
        if found is None:
            return None
        g, b = found
        u = base - held.image(design.tdot(g))
        if is_parabola:
            return u, b, DualPoint(g)
        z = design.dot(u) + b
        after = pieces.place(z, g, reach)
        changes = int(np.count_nonzero(after != places))
        if not changes or (changes <= _FEW_CHANGES and _is_feasible(task, g)):
            left = task.rows.sums(z, g)[1] + abs(b * float(g.sum()))
            if left <= (gap if changes else max(gap, _ROUNDING_SHARE * abs(task.loss_at_zero))):
                return u, b, DualPoint(g)
            if not changes:
                return None  # the equations are too ill-conditioned to be believed
        waited = 0 if changes < fewest else waited + 1
        if waited >= _PATIENCE:
            return None
        places, fewest = after, min(fewest, changes)
    return None


def _is_feasible(task: Task, g: Vector) -> bool:
    """Whether multipliers lie in their boxes; outside of them the gap is infinite."""
    clipped = g.copy()
    task.rows.clip(clipped)
    return bool((clipped == g).all())


def _solve(task: Task, places: Places, held: Held, z0: Vector) -> tuple[Vector, float] | None:
    """Return multipliers and intercept for given places, or None where they say too little."""
    pieces = task.pieces
    rows, g = pieces.resisting(places), pieces.resting(places)
    if not rows.size:
        return None if task.fit_intercept else (g, 0.0)
    level, give = pieces.lines(places, rows)
    many = rows.size > task.design.n_features and bool((give > 0).all())
    size = task.design.n_features if many else rows.size
    if size > _MOST_UNKNOWNS and task.quadratic_target is None:  # a parabola is solved at once
        return None
    solve = _for_coefficients if many else _for_multipliers
    try:
        g[rows], b = solve(task, rows, held, g, level - z0[rows], give)
    except linalg.LinAlgError:
        return None
    return g, b


def _for_multipliers(
    task: Task, rows: Indices, held: Held, g: Vector, goal: Vector, give: Vector
) -> tuple[Vector, float]:
    """Solve ``(K_RR + give) g_R - b 1 = -goal - K_RF g_F``, one unknown per resisting row."""
    design, is_wide = task.design, task.design.n_samples < task.design.n_features
    checkpoint(products=float(rows.size) ** 3)
    X, gram = design.X, design.row_gram if is_wide else None
    if rows.size < design.n_samples:
        X, gram = X[rows], None if gram is None else gram[np.ix_(rows, rows)]
    kernel = held.kernel(X, gram)
    kernel[np.diag_indices(rows.size)] += give
    factor = linalg.cho_factor(kernel, lower=True, overwrite_a=True, check_finite=False)
    sides = np.ones((rows.size, 2))
    sides[:, 0] = -goal
    if g.any():
        sides[:, 0] -= X @ held.image(design.tdot(g))
    if not task.fit_intercept:
        return linalg.cho_solve(factor, sides[:, 0], check_finite=False), 0.0
    both = linalg.cho_solve(factor, sides, check_finite=False)
    b = -float(g.sum() + both[:, 0].sum()) / float(both[:, 1].sum())
    return both[:, 0] + b * both[:, 1], b


def _for_coefficients(
    task: Task, rows: Indices, held: Held, g: Vector, goal: Vector, give: Vector
) -> tuple[Vector, float]:
    """Solve the same for ``v = u - start``, the intercept eliminated; curved pieces only."""
    checkpoint(seconds=SECONDS_PER_ENTRY_COPIED * rows.size * task.design.n_features)
    X, stiff = task.design.X[rows], 1.0 / give
    part = Design(np.asarray(X.toarray() if task.design.is_sparse else X, dtype=float))
    mean, level = np.zeros(part.n_features), 0.0
    if task.fit_intercept:
        mean = part.tdot(stiff) / stiff.sum()
        level = float(stiff @ goal - g.sum()) / float(stiff.sum())
    matrix = part.weighted_gram(stiff, np.arange(mean.size), False, mean) + held.metric
    right = part.tdot(stiff * (goal - level)) - task.design.tdot(g)
    factor = linalg.cho_factor(matrix, lower=True, overwrite_a=True, check_finite=False)
    v = linalg.cho_solve(factor, right, check_finite=False)
    intercept = level - float(mean @ v)
    return stiff * (part.dot(v) + intercept - goal), intercept
