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

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse as sp

from rectiline._polling import asked_at_checkpoints, who_is_asked
from rectiline.paths._multiplier_program import MultiplierProgram
from rectiline.paths._null import null_model
from rectiline.penalties import (
    L1,
    Columnwise,
    ElasticNet,
    GroupLinf,
    Penalty,
    Slope,
    SparseGroupLinf,
)
from rectiline.problems import DualPoint, Problem
from rectiline.solvers import limited_threads, solve

__all__ = ["ZeroPoint", "is_sparsifying", "largest_strength", "zero_point"]


class ZeroPoint(NamedTuple):
    """The smallest strength with zeros only, the intercept there, and the proof."""

    strength: float
    intercept: float
    dual: DualPoint | None  # None where it is not at hand


def is_sparsifying(penalty: Penalty | None) -> bool:
    """Whether some strength sets all coefficients to zero."""
    if penalty is None or penalty.is_zero:
        return False
    return _norm_part(penalty) is not None


def _norm_part(penalty: Penalty) -> Penalty | None:
    """Return the norm in the penalty when its strength is 1; None if there is none."""
    if isinstance(penalty, L1 | GroupLinf | SparseGroupLinf | Slope):
        return penalty.with_strength(1.0)
    if isinstance(penalty, ElasticNet) and penalty.l1 > 0:
        return L1(penalty.l1 / penalty.strength)
    if isinstance(penalty, Columnwise) and not (penalty.l1[penalty.l2 > 0] == 0).any():
        return L1(1.0, penalty.l1 / penalty.strength)
    return None


def largest_strength(problem: Problem) -> float:
    """Return the smallest strength of the problem's penalty at which all coefficients are zero.

    It is exact (proved to about 1e-10) for norm penalties: L1, elastic net, groups (also
    with L1), Slope; and zero where the columns ask for nothing but rounding, so that any strength
    gives zeros.
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
    return zero_point(problem).strength


def zero_point(problem: Problem) -> ZeroPoint:
    """Return `largest_strength` with the intercept and the multipliers that prove it."""
    norm = None if problem.penalty is None else _norm_part(problem.penalty)
    if norm is None or problem.penalty is None or problem.penalty.is_zero:
        raise ValueError(
            f"penalty={problem.penalty!r} does not set all coefficients to zero at any finite "
            "strength; give the strengths."
        )
    free = (
        np.flatnonzero(norm.free_columns(problem.n_features))
        if not isinstance(norm, L1)
        else np.flatnonzero(norm.separable(problem.n_features)[1] == 0)
    )
    if free.size:
        return ZeroPoint(_with_free_columns(problem, norm, free), 0.0, None)
    keeper = who_is_asked()
    with asked_at_checkpoints(None), limited_threads(problem):  # a few passes, whatever the time
        null = null_model(problem)
        program = MultiplierProgram(problem, norm, null, _active_rows(problem))
        strength, point = program.solve(keeper)
        tight = np.flatnonzero(problem.constraint_rows.c == 0)
        dual = program.dual(point, tight, problem.constraint_rows.c.size)
    return ZeroPoint(strength, null.intercept, dual)


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
    if (
        (rows.c < 0).any()
        or (rows.f != 0).any()
        or (rows.lower > 0).any()
        or (rows.upper < 0).any()
    ):
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
