"""`newton` along a path of strengths: one state for all of them.

Between two strengths of a penalty little changes. The rows keep their arguments and slopes, the
Newton matrix is updated where rows have moved, and steps end as soon as the estimated gap meets
the target (`_core.NewtonPath`). Losses with one kink at modest targets have a method of their own
where rows are few (`_core.LinearPath`). What comes out are candidates: whoever asks for them has
them certified.
"""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from rectiline import _core
from rectiline.problems import Problem, predict_all
from rectiline.problems.forms import RectifiedForm, ReducedForm
from rectiline.solvers.newton._model import Model

Vector = NDArray[np.float64]
Matrix = NDArray[np.float64]
Index = NDArray[np.int64]

__all__ = ["Follower", "SpanFollower"]

_LARGEST_MATRIX = 1000  # columns up to which a Newton matrix of all of them is cheap
_AIM = 0.92  # of the target: estimates are not certificates
_MOST_STEPS = 40  # at one strength; who needs more is better off with another method
_ROWS_PER_COLUMN = 15  # from which on it beats going on from a basis
_EASY_SIZE = 50_000  # entries of X up to which no target is too small
_SMALLEST_TARGET = 1e-4  # beyond, for losses with kinks: the solver has working sets of rows
_SMALLEST_L1_TARGET = 5e-4  # beyond, with kinks in the penalty
_SMALLEST_LINEAR_TARGET = 5e-4  # of problems that are softened first
_SOFT_ROWS = 6, 100  # per column: with fewer, bases are the better way, with more, Newton's method
_SOFT_RIDGE_ROWS = 1.5, 25.0  # the same with ridge terms
_LONGEST_SOFT = 2.5  # ratio of strengths
_LARGEST_COPY = 8_000_000  # entries of X that these may copy


class Follower:
    """Moves a pair from strength to strength of the problem's penalty.

    Parameters
    ----------
    problem : Problem
        At the first strength; see `accepts`.
    target : float
        Relative gap that answers are to be certified to. It stops somewhat below, by estimate.
    n_threads : int, default=0
        As for `Newton`.

    Examples
    --------
    >>> import numpy as np
    >>> import rectiline as rl
    >>> from rectiline.solvers import Follower
    >>> rng = np.random.default_rng(0)
    >>> X = rng.standard_normal((50, 3))
    >>> problem = rl.Problem(X, X[:, 0] + rng.standard_normal(50), loss=rl.losses.Absolute())
    >>> follower = Follower(problem, target=1e-3)
    >>> follower.place_at_zero()
    >>> coef, intercept, _ = follower.move(0.5, seconds=10.0)
    >>> weaker = problem.with_penalty(rl.penalties.Ridge(0.5))
    >>> weaker.certify(coef, intercept, follower.multipliers).relative_gap < 2e-3
    True
    """

    way: ClassVar[str] = "newton: on from the strength before"
    _form: ClassVar[type[Any]] = RectifiedForm

    def __init__(self, problem: Problem, target: float, n_threads: int = 0) -> None:
        assert problem.penalty is not None
        form = self._form.apply(problem)
        width, kinked = form.slope_width()
        self._model = Model(form, form.argument_scale(), width)
        design = form.design.by_rows
        strength = problem.penalty.strength
        self._path: _core.NewtonPath | _core.LinearPath
        if _is_soft(form.problem, target):
            self._path = _core.LinearPath(
                design.view, form.rows, self._model.loop, strength, n_threads
            )
        else:
            self._rows = _core.NewtonRows(design.view, form.rows, form.fit_intercept, n_threads)
            self._path = _core.NewtonPath(
                self._rows,
                self._model.loop,
                strength,
                self._model.row_stiffness,
                self._model.total_width / self._model.argument_scale,
                self._model.argument_scale,
                not kinked,
            )
        self._target = _AIM * target
        self._problem = form.problem
        # Without kinks anywhere the multipliers are those that belong to the predictions.
        self.slopes_follow = not kinked and not self._model.kinked.size
        self.has_strayed = False  # predictions have left the ranges given to `focus`
        self._slopes: Vector | None = None  # of the losses of rows that are left out

    @staticmethod
    def accepts(problem: Problem, target: float) -> bool:
        """Whether following is the way to go for such a problem and target."""
        n, d, columns = problem.n_samples, problem.n_features, problem.columns
        if not problem.is_separable or problem.is_constrained or d > min(n, _LARGEST_MATRIX):
            return False
        if _is_soft(problem, target):
            return True
        if not columns.strongly_convex:  # linear programs have bases to go on from
            return target >= _SMALLEST_TARGET and n >= _ROWS_PER_COLUMN * d
        if problem.design.n_stored <= _EASY_SIZE:
            return True
        if columns.has_l1:
            return target >= _SMALLEST_L1_TARGET
        return target >= _SMALLEST_TARGET or not problem.slope_width[1]

    def place_at_zero(self) -> None:
        """Start without coefficients, and with an intercept in the middle of the targets."""
        problem = self._problem
        intercept = 0.0
        if problem.fit_intercept and problem.losses[0].of == "residual":
            used = problem.offset[problem.weight > 0]
            intercept = float(np.partition(used, used.size // 2)[used.size // 2])
        self._place(np.zeros(problem.n_features), intercept, np.zeros(problem.n_samples))

    def place(
        self, coef: Vector, intercept: float, sample: Vector, predictions: Vector | None = None
    ) -> None:
        """Start at a pair; its multipliers may lie outside their ranges.

        Its `predictions` save a product with X if they are known.
        """
        self._place(coef, intercept, sample, predictions)

    def _place(
        self, coef: Vector, intercept: float, sample: Vector, predictions: Vector | None = None
    ) -> None:
        self._slopes = None
        b = np.append(coef, intercept) if self._problem.fit_intercept else coef
        b = np.ascontiguousarray(b)
        if isinstance(self._path, _core.LinearPath):  # finds its own multipliers
            self._path.place(b)
        else:
            self._path.place(b, np.ascontiguousarray(sample), predictions)

    @property
    def longest_move(self) -> float:
        """Ratio of strengths that it can get over at once; softened problems get lost beyond."""
        return _LONGEST_SOFT if isinstance(self._path, _core.LinearPath) else np.inf

    @property
    def can_focus(self) -> bool:
        """Whether it could leave out rows: see `focus`."""
        return isinstance(self._path, _core.NewtonPath)

    def focus(
        self, low: Vector, high: Vector, predictions: Vector | None = None, most: float = 0.6
    ) -> int:
        """Let rows take part in the moves to come that may meet a knot between these predictions.

        Parameters
        ----------
        low, high : ndarray of shape (n_samples,)
            Ends of the predictions that are expected.
        predictions : ndarray of shape (n_samples,), optional
            At the last answer; they save a product with X if they are known.
        most : float, default=0.6
            Largest share of the rows that it pays to go on with.

        Returns
        -------
        int
            How many take part; 0 if that would be too many, and all do.
        """
        if isinstance(self._path, _core.LinearPath):
            return 0
        count = self._path.focus(low, high, predictions, most)
        self._slopes = self._path.frozen_slopes() if count else None
        return count

    def widen(self) -> None:
        """Let all rows take part again."""
        if isinstance(self._path, _core.NewtonPath):
            self._path.widen()
            self._slopes = None

    def move(
        self, strength: float, seconds: float, share: float = 1.0
    ) -> tuple[Vector, float, int] | None:
        """Return coefficients, intercept and steps; None if it did not get there.

        `share`: of the target, to get closer.
        """
        target = share * self._target
        steps, gap, failed, self.has_strayed = self._path.move(
            strength, target, _MOST_STEPS, seconds
        )
        if failed or not gap <= target:
            return None
        b = self._path.coefficients()
        if not np.isfinite(b).all():
            return None
        d = self._problem.n_features
        return b[:d], float(b[d]) if b.size > d else 0.0, steps

    @property
    def multipliers(self) -> Vector:
        """Those of the last answer, unless they follow from its predictions."""
        return self._path.dual()

    def exceptions(self) -> tuple[Vector | None, Index, Vector]:
        """Return the same by exceptions, where `can_focus`; they are yet to be balanced.

        Slopes of the losses of rows left out, with NaN for the others, or None; rows of the others
        whose multipliers are not the slopes at their own predictions, and these. If they are many,
        slopes of all rows, and some of the others.
        """
        assert isinstance(self._path, _core.NewtonPath)
        rows, values, slopes = self._path.exceptions()
        return slopes if slopes.size else self._slopes, rows, values

    def put_multipliers(self, into: Vector) -> None:
        """Write the same into a contiguous vector."""
        if isinstance(self._path, _core.NewtonPath):
            self._path.dual_into(into)
        else:
            into[:] = self._path.dual()


class SpanFollower(Follower):
    """The same in the span of the rows, for more columns than rows under a plain ridge penalty.

    Moves return coefficients in the span.
    """

    way: ClassVar[str] = "reduced_newton: on from the strength before"
    _form: ClassVar[type[Any]] = ReducedForm

    def __init__(self, problem: Problem, target: float, n_threads: int = 0) -> None:
        super().__init__(problem, target, n_threads)
        self._design = problem.design

    @staticmethod
    def accepts(problem: Problem, target: float) -> bool:
        """Whether following is the way to go for such a problem and target."""
        n = problem.n_samples
        if not n < problem.n_features or n > _LARGEST_MATRIX or problem.design.is_sparse:
            return False
        return ReducedForm.accepts(problem) is None and (
            n * n <= _EASY_SIZE or target >= _SMALLEST_TARGET
        )

    def place(
        self, coef: Vector, intercept: float, sample: Vector, predictions: Vector | None = None
    ) -> None:
        """Start at a pair; its multipliers may lie outside their ranges."""
        self._place(self.in_span(coef[None])[0], intercept, sample, predictions)

    @property
    def can_focus(self) -> bool:
        """Whether it could leave out rows."""
        return False

    def in_span(self, coefs: Matrix) -> Matrix:
        """Return what moves would have found for coefficients of the columns, one row for each."""
        _, back = self._design.row_space
        return np.asarray(self._design.dot_many(coefs, np.zeros(len(coefs))) @ back)

    def coefs_of(self, found: Matrix) -> Matrix:
        """Return the coefficients of the columns for those found by moves, one row for each."""
        _, back = self._design.row_space
        return self._design.tdot_many(found @ back.T)

    def slopes_at(self, coefs: Matrix, intercepts: Vector) -> Matrix:
        """Return the multipliers of pairs found by moves, one row for each, without kinks."""
        problem = self._problem
        slopes = problem.rows.slopes_of_many(predict_all(problem.design, coefs, intercepts))
        return np.asarray(slopes)


def _is_soft(problem: Problem, target: float) -> bool:
    """Whether `LinearPath` takes this: one kink per row, and L1 or ridge terms everywhere."""
    columns, design = problem.columns, problem.design
    if target < _SMALLEST_LINEAR_TARGET or design.is_sparse or design.n_stored > _LARGEST_COPY:
        return False
    has_ridge = bool((columns.rho > 0).all())
    if not has_ridge and (columns.rho.any() or not (columns.l1 > 0).all()):
        return False
    fewest, most = _SOFT_RIDGE_ROWS if has_ridge else _SOFT_ROWS
    if not fewest <= np.count_nonzero(problem.weight) / max(problem.n_features, 1) <= most:
        return False
    curves = [loss.curve for loss in problem.losses]
    return all(
        one.knots.size == 1
        and not one.curvature.any()
        and one.left[0] <= 0 <= one.right[0]
        and one.left[0] < one.right[0]
        for one in curves
    )
