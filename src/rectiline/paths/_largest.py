"""The smallest strength at which a norm penalty leaves nothing but zeros.

All coefficients are zero at strength s exactly if some optimal dual point of the model without
coefficients has ``dual_norm(q) <= s`` for the penalty at strength 1. Every such dual point proves
an upper bound. Where samples sit on a kink of their loss (ties in quantiles; a whole class on the
margin) it is not unique, and the strength is the maximum of

    (L(0) - L(b)) / norm(b)    over all b that satisfy the constraints,

L the losses with the best intercept. Dinkelbach's ascent finds it: the b that is optimal at one
strength gives the next, and its multipliers the upper bound. On linear programs, where b moves from
vertex to vertex, few steps are exact.
"""

from __future__ import annotations

import warnings
from typing import NamedTuple

import numpy as np

from rectiline._polling import OutOfTime, asked_at_checkpoints
from rectiline._typing import Indices, Vector
from rectiline.exceptions import ConvergenceWarning
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
from rectiline.problems.intercepts import best_shift
from rectiline.solvers import Newton, Session, Solution, limited_threads, solve

_MOST_STEPS = 12
_START_SHARE = 0.6  # of the first upper bound, where the ascent starts
_FIRST_STEP_DOWN = 0.2  # factor to the next strength where zeros were optimal; then its square
_ROWS_PER_COLUMN_FOR_NEWTON = 4  # from which on its rough steps are the fastest
_ROUGH_TOL, _EXACT_TOL = 1e-2, 3e-11
_SPARSE_TOL = 1e-4  # relative gap of exact steps where pivots are slow:
_DENSITY_FOR_PIVOTS = 0.1  # on designs that store a smaller share of entries
_EQUAL_BOUNDS = 1e-9  # relative distance at which bounds agree
_ZERO_SHARE = 1e-10  # strengths below this share of the first upper bound are zero
_ROUNDING_OF_SUMS = 1e-14  # a sum below this share of the size of its terms is zero
_ROUNDING_OF_LOSSES = 1e-15  # relative rounding error of a difference of losses


class ZeroPoint(NamedTuple):
    """The smallest strength with zeros only, the intercept there, and the proof."""

    strength: float
    intercept: float
    dual: DualPoint | None  # None where it is not at hand


def is_sparsifying(penalty: Penalty | None) -> bool:
    """Whether some strength sets all coefficients to zero."""
    return _norm_part(penalty) is not None


def _norm_part(penalty: Penalty | None) -> Penalty | None:
    """Return the norm in the penalty when its strength is 1; None if there is none."""
    if penalty is None or penalty.is_zero:
        return None
    if isinstance(penalty, L1 | GroupLinf | SparseGroupLinf | Slope):
        return penalty.with_strength(1.0)
    if isinstance(penalty, ElasticNet) and penalty.l1 > 0:
        return L1(penalty.l1 / penalty.strength)
    if isinstance(penalty, Columnwise) and not (penalty.l1[penalty.l2 > 0] == 0).any():
        return L1(1.0, penalty.l1 / penalty.strength)
    return None


def largest_strength(problem: Problem) -> float:
    """Return the smallest strength of the problem's penalty at which all coefficients are zero.

    It is proved from above, and from below to about 1e-9 for norm penalties: L1, elastic net,
    groups (also with L1), Slope. It is zero where the gradient is zero up to rounding, so that any
    strength gives zeros, and an upper bound where columns are not penalised (they are fitted first,
    to a certified 1e-9), where time runs out, and, about 1e-4 above, for sparse X.

    Parameters
    ----------
    problem : Problem

    Returns
    -------
    float

    Examples
    --------
    >>> import numpy as np
    >>> import rectiline as rl
    >>> from rectiline.paths import largest_strength
    >>> X = np.array([[0.0], [1.0], [2.0], [4.0]])
    >>> problem = rl.Problem(X, [-1, -1, 1, 1], rl.losses.Hinge(), rl.penalties.L1(1.0))
    >>> round(largest_strength(problem), 9)
    5.0
    """
    return zero_point(problem).strength


def zero_point(problem: Problem) -> ZeroPoint:
    """Return `largest_strength` with the intercept and the multipliers that prove it."""
    norm = _norm_part(problem.penalty)
    if norm is None:
        raise ValueError(
            f"penalty={problem.penalty!r} does not set all coefficients to zero at any finite "
            "strength; give the strengths."
        )
    d = problem.n_features
    is_free = norm.separable(d)[1] == 0 if isinstance(norm, L1) else norm.free_columns(d)
    free = np.flatnonzero(is_free)
    if free.size:
        return ZeroPoint(_with_free_columns(problem, norm, free), 0.0, None)
    _check_zero_is_feasible(problem)
    with asked_at_checkpoints(None), limited_threads(problem):  # a few passes, whatever the time
        bounds = _Bounds(problem, norm, null_model(problem))
    try:
        with limited_threads(problem):
            bounds.ascend()
    except OutOfTime:
        pass  # the upper bound holds
    return ZeroPoint(bounds.strength, bounds.null.intercept, bounds.dual)


def _with_free_columns(problem: Problem, norm: Penalty, free: Indices) -> float:
    rows = problem.constraint_rows
    if rows.c.size or rows.f.size or problem.columns.has_bounds:
        raise ValueError("Columns without a penalty together with constraints: give the strengths.")
    part = problem.with_design(problem.design.X[:, free], None)
    q = -problem.design.tdot(solve(part, tol=1e-9).dual.sample)
    q[free] = 0.0
    return norm.dual_norm(q)


def _check_zero_is_feasible(problem: Problem) -> None:
    rows = problem.constraint_rows
    inside = (rows.c >= 0).all() and (rows.f == 0).all()
    if not (inside and (rows.lower <= 0).all() and (rows.upper >= 0).all()):
        raise ValueError(
            "The constraints exclude all-zero coefficients, so no strength reaches them; give the "
            "strengths."
        )


class _Bounds:
    """What is proved about the strength from above and from below."""

    def __init__(self, problem: Problem, norm: Penalty, null: NullModel) -> None:
        self.problem, self.norm, self.null = problem.with_penalty(norm), norm, null
        self.open = np.flatnonzero(null.high > null.low)
        self.upper, self.lower = np.inf, 0.0
        rows = problem.constraint_rows
        self.dual = DualPoint(null.dual, np.zeros(rows.c.size), np.zeros(rows.f.size))
        self._prove(self.dual)
        # What rounding in X'g can make of zero, in the dual norm.
        terms = float(np.linalg.norm(np.maximum(np.abs(null.low), np.abs(null.high))))
        sizes = np.sqrt(problem.design.column_squares()) * terms
        self.nothing = max(norm.dual_norm(_ROUNDING_OF_SUMS * sizes), _ZERO_SHARE * self.upper)

    @property
    def strength(self) -> float:
        """The least strength that is proved to leave zeros; one that is rounding is zero."""
        return self.upper if self.upper > self.nothing else 0.0

    def ascend(self) -> None:
        """Bring the bounds together, if multipliers or constraints leave anything open."""
        problem, d = self.problem, self.problem.n_features
        if not (self.open.size or problem.has_constraint_rows) or self.upper <= self.nothing:
            return
        strength = _START_SHARE * self.upper
        is_long = _ROWS_PER_COLUMN_FOR_NEWTON * d <= problem.n_samples
        rough = found = None  # rough steps come first where exact ones are slow
        if isinstance(self.norm, Slope):
            rough = "auto"
        elif is_long and Newton.refuses(problem) is None:
            rough = "newton"
        is_sparse = problem.design.n_stored < _DENSITY_FOR_PIVOTS * problem.n_samples * d
        with warnings.catch_warnings():  # a fit that ends early is a start all the same
            warnings.simplefilter("ignore", ConvergenceWarning)
            if rough is not None:
                strength, found = self._steps(strength, rough, _ROUGH_TOL, None)
            self._steps(strength, "auto", _SPARSE_TOL if is_sparse else _EXACT_TOL, found)

    def _steps(
        self, strength: float, solver: str, tol: float, found: Solution | None
    ) -> tuple[float, Solution | None]:
        """Go up while bounds improve; return the strength to go on from and the answer there."""
        session, step_down = Session(), _FIRST_STEP_DOWN
        for _ in range(_MOST_STEPS):
            one = self.problem.with_penalty(self.norm.with_strength(strength * self.norm.strength))
            found = solve(one, solver, tol, warm_start=found, session=session)
            self._prove(found.dual)
            self.lower = max(self.lower, self._gain(found.coef, found.intercept))
            if self.upper - self.lower <= _EQUAL_BOUNDS * self.upper or self.upper <= self.nothing:
                break
            before = strength  # as long as nothing is proved, zeros are optimal there
            strength = self.lower or step_down * min(strength, self.upper)
            step_down *= step_down
            if abs(strength - before) <= 0.1 * tol * strength:
                break
        return strength, found

    def _prove(self, dual: DualPoint) -> None:
        """Take the multipliers if, moved to where those of zeros lie, they prove more."""
        low, high = self.null.low, self.null.high
        sample = np.clip(dual.sample, low, high)
        if self.problem.fit_intercept and self.open.size:  # the sum must be zero
            owed = -float(sample.sum())
            room = (high if owed > 0 else low) - sample
            share = abs(owed) / max(abs(float(room.sum())), 1e-300)
            sample = sample + min(share, 1.0) * room
        rows = self.problem.constraint_rows
        inequality = np.where(rows.c == 0, np.maximum(dual.inequality, 0.0), 0.0)
        moved = DualPoint(sample, inequality, dual.equality)
        q = self.problem.terms.region.combined(moved) - self.problem.design.tdot(sample)
        # A bound at zero bears any pull against it.
        q = np.where((rows.lower == 0) & (q < 0) | (rows.upper == 0) & (q > 0), 0.0, q)
        proved = self.norm.dual_norm(q)
        if proved < self.upper:
            self.upper, self.dual = float(proved), moved

    def _gain(self, coef: Vector, intercept: float) -> float:
        """Return the lower bound that coefficients prove."""
        size = self.norm.value(coef)
        if not size > 0:
            return 0.0
        losses = self.problem.with_penalty(None)
        at_zero = losses.objective(np.zeros(coef.size), self.null.intercept)
        gained = at_zero - losses.objective(coef, intercept) - _ROUNDING_OF_LOSSES * at_zero
        return max(gained / size, 0.0)


# ---- the model without coefficients --------------------------------------------------------------


class NullModel(NamedTuple):
    """A best constant prediction and the range of slopes of each sample's loss there.

    Any ``g`` with ``low <= g <= high`` (and ``sum(g) == 0`` with an intercept) is an optimal dual
    point of the problem without coefficients, and there are no others.
    """

    intercept: float
    low: Vector
    high: Vector

    @property
    def dual(self) -> Vector:
        """The multipliers in the middle."""
        return 0.5 * (self.low + self.high)


def null_model(problem: Problem) -> NullModel:
    """Return the best model with all coefficients zero."""
    intercept = best_shift(problem, np.zeros(problem.n_samples)) if problem.fit_intercept else 0.0
    return NullModel(intercept, *problem.rows.slope_ranges(intercept))
