"""`newton` along a path of strengths: one state for all of them; used by `rectiline.paths`.

Between two neighbouring strengths of a penalty little changes. The rows keep their arguments and
slopes, the Newton matrix is updated where rows have moved, and steps end as soon as the estimated
gap meets the target (`_core.NewtonPath`). The results are candidates: the caller certifies them.
"""

from __future__ import annotations

import time

import numpy as np

from rectiline import _core
from rectiline._typing import Vector
from rectiline.problems import DualPoint, Problem
from rectiline.problems.forms import FormPoint, RectifiedForm, ReducedForm
from rectiline.solvers._base import Candidate
from rectiline.solvers.newton._model import Model

_LARGEST_MATRIX = 1000  # columns up to which a Newton matrix of all of them is cheap
_TARGET_SHARE = 0.92  # the certificate may be larger than the estimate
_MOST_STEPS_PER_STRENGTH = 40  # beyond, `solve` is the better method
_ROWS_PER_COLUMN_OF_LINEAR_PROGRAM = 15  # from which on it is faster than pivots
_ROWS_PER_COLUMN_WITH_KINKS = 25  # with fewer rows, kinks take many steps at each strength
_ENTRIES_FOR_ANY_TARGET = 50_000  # up to this many entries of X no target is too small
_SMALLEST_TARGET = 1e-4  # on larger data, for losses with kinks: `solve` has working sets of rows
_SMALLEST_L1_TARGET = 5e-4  # on larger data, with kinks in the penalty


class NewtonFollower:
    """Moves a pair from strength to strength of the problem's penalty.

    Parameters
    ----------
    problem : Problem
        At the first strength; see `accepts`.
    target : float
        Relative gap that candidates are to be certified to. Steps stop somewhat below, by
        estimate.

    Examples
    --------
    >>> import numpy as np
    >>> import rectiline as rl
    >>> from rectiline.solvers import NewtonFollower
    >>> rng = np.random.default_rng(0)
    >>> X = rng.standard_normal((50, 3))
    >>> problem = rl.Problem(X, X[:, 0] + rng.standard_normal(50), loss=rl.losses.Absolute())
    >>> follower = NewtonFollower(problem, target=1e-3)
    >>> follower.place(np.zeros(3), 0.0, rl.problems.DualPoint(np.zeros(50)))
    >>> found = follower.move(0.5, seconds=10.0)
    >>> weaker = problem.with_penalty(rl.penalties.Ridge(0.5))
    >>> weaker.certify(found.coef, found.intercept, found.dual).relative_gap < 2e-3
    True
    """

    def __init__(self, problem: Problem, target: float) -> None:
        assert problem.penalty is not None
        kind = ReducedForm if _in_span(problem) else RectifiedForm
        self._form: RectifiedForm = kind.apply(problem)
        self.name = "reduced_newton" if kind is ReducedForm else "newton"
        self._model = Model(self._form)
        rows = _core.NewtonRows(
            self._form.design.by_rows.view, self._form.rows, self._form.fit_intercept
        )
        self._path = _core.NewtonPath(rows, self._model.terms, problem.penalty.strength)
        self._target = _TARGET_SHARE * target

    @staticmethod
    def accepts(problem: Problem, target: float) -> bool:
        """Return whether following is expected to beat one `solve` per strength."""
        n, d, columns = problem.n_samples, problem.n_features, problem.columns
        if _in_span(problem):
            return n * n <= _ENTRIES_FOR_ANY_TARGET or target >= _SMALLEST_TARGET
        if not problem.is_separable or problem.is_constrained or d > min(n, _LARGEST_MATRIX):
            return False
        if not columns.strongly_convex:  # linear programs can continue from a basis
            return target >= _SMALLEST_TARGET and n >= _ROWS_PER_COLUMN_OF_LINEAR_PROGRAM * d
        if problem.design.n_stored <= _ENTRIES_FOR_ANY_TARGET:
            return True
        if columns.has_l1:
            return target >= _SMALLEST_L1_TARGET
        if not problem.slope_width[1]:
            return True
        return target >= _SMALLEST_TARGET and n >= _ROWS_PER_COLUMN_WITH_KINKS * d

    def place(self, coef: Vector, intercept: float, dual: DualPoint) -> None:
        """Start at a pair; its multipliers may lie outside their ranges."""
        point = self._form.point_of(coef, intercept, dual)
        user = self._model.joined(point.coef, intercept)
        self._path.place(user, np.ascontiguousarray(point.sample))

    def move(self, strength: float, seconds: float) -> Candidate | None:
        """Return a candidate at a strength; None if the target was not reached."""
        began = time.perf_counter()
        steps, gap, failed = self._path.move(
            strength, self._target, _MOST_STEPS_PER_STRENGTH, seconds
        )
        if failed or not gap <= self._target:
            return None
        b = self._path.coefficients()
        if not np.isfinite(b).all():
            return None
        d = self._form.design.n_features
        intercept = float(b[d]) if b.size > d else 0.0
        point = FormPoint(b[:d], intercept, self._path.dual(), np.zeros(0))
        return Candidate(strength, *self._form.invert(point), steps, time.perf_counter() - began)


def _in_span(problem: Problem) -> bool:
    """Return whether the path is followed in the span of the rows: many more columns than rows."""
    n = problem.n_samples
    few = n < problem.n_features and n <= _LARGEST_MATRIX and not problem.design.is_sparse
    return few and ReducedForm.accepts(problem) is None
