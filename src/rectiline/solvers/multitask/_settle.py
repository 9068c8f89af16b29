"""Solve a task by linear equations, from the pieces that its rows were on in the last pass.

With the subspace held and the place of every row on the graph of its slope known
(`rectiline.problems._task_pieces`), the optimality conditions of a task are linear: with
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

import numpy as np
from scipy import linalg

from rectiline._costs import SECONDS_PER_ENTRY_COPIED
from rectiline._polling import checkpoint
from rectiline._typing import Indices, Matrix, Vector
from rectiline.backends import Design
from rectiline.problems import DualPoint
from rectiline.problems.forms import Pieces, Places, Task
from rectiline.solvers.multitask._held import Held

Answer = tuple[Vector, float, DualPoint]  # coefficients, intercept and multipliers of a task

_ROUNDS = 12
_PATIENCE = 3  # rounds without fewer changes before giving up
_FEW_CHANGES = 2  # with which an answer may already be good enough
_ROUNDING_SHARE = 1e-11  # relative to the objective at zero
_MOST_UNKNOWNS = 700  # up to which the equations are set up


def settle(
    task: Task,
    near: Answer,
    held: Held,
    start: Vector | None,
    gap: float,
    largest: int = _MOST_UNKNOWNS,
) -> Answer | None:
    """Return the answer of a task if the places of its rows settle, else None.

    `near` holds coefficients, intercept and multipliers to start from; `gap` is what the answer may
    leave of the objective of the task; `largest` the most unknowns of its equations.
    """
    pieces, design = task.pieces, task.design
    if task.is_constrained:
        return None
    base = np.zeros(design.n_features) if start is None else start
    z0 = np.zeros(design.n_samples) if start is None else design.dot(start)
    reach = held.reach(task)
    u, b, dual = near
    places = pieces.place(design.dot(u) + b, dual.sample, reach)
    fewest, waited = design.n_samples + 1, 0
    for _ in range(_ROUNDS):
        found = _solve(task, pieces, places, held, z0, largest)
        if found is None:
            return None
        g, b = found
        u = base - held.image(design.tdot(g))
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


def _solve(
    task: Task, pieces: Pieces, places: Places, held: Held, z0: Vector, largest: int
) -> tuple[Vector, float] | None:
    """Return multipliers and intercept for given places, or None where they say too little."""
    rows, g = pieces.resisting(places), pieces.resting(places)
    if not rows.size:
        return None if task.fit_intercept else (g, 0.0)
    level, give = pieces.lines(places, rows)
    many = rows.size > task.design.n_features and bool((give > 0).all())
    if min(rows.size, task.design.n_features if many else rows.size) > largest:
        return None
    solve = _for_coefficients if many else for_multipliers
    try:
        g[rows], b = solve(task, rows, held, g, level - z0[rows], give)
    except linalg.LinAlgError:
        return None
    return g, b


def for_multipliers(
    task: Task,
    rows: Indices,
    held: Held,
    g: Vector,
    goal: Vector,
    give: Vector,
    gram: Matrix | None = None,
) -> tuple[Vector, float]:
    """Solve ``(K_RR + give) g_R - b 1 = -goal - K_RF g_F``, one unknown per resisting row.

    `gram` is ``X_R X_R'`` where it is known.
    """
    design = task.design
    X = design.X if rows.size == design.n_samples else design.X[rows]
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
