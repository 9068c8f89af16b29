"""`newton` along a path of strengths: one state for all of them; used by `rectiline.paths`.

Between two neighbouring strengths of a penalty little changes. The rows keep their arguments and
slopes, the Newton matrix is updated where rows have moved, and steps end as soon as the estimated
gap meets the target (`_core.NewtonPath`). The results are candidates: the caller certifies them.

Losses with kinks have a follower of their own (`KinkedFollower`). From strength to strength on a
logarithmic scale the predictions of a model move nearly along a line. The two moves before give the
next one up to an error that the last prediction shows as well: rows that are many errors away from
every knot are frozen on their pieces, the others make up a small problem, and one product with X
tells whether its answer holds for all rows.
"""

from __future__ import annotations

import math
import time
from typing import NamedTuple

import numpy as np

from rectiline import _core
from rectiline._typing import Vector
from rectiline.problems import DualPoint, Problem
from rectiline.problems.forms import FormPoint, RectifiedForm, ReducedForm
from rectiline.solvers._base import Budget, Candidate
from rectiline.solvers.newton._model import Model, Multipliers, Schedule, WorkingSet, row_lengths

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


# ---- losses with kinks ---------------------------------------------------------------------------


_ROWS_PER_COLUMN = 5  # with fewer rows nearly all of them matter at every strength
_LARGEST_TARGET = 1e-4  # from here on a few steps on all rows are enough: `NewtonFollower`
# Of the target, on all rows and on a working set. There a tenth of the gap costs a few percent of
# the time, and scores of a search, where samples change sides, depend less on the target.
_AIM, _REDUCED_AIM = 0.5, 0.03
_REACH_IN_ERRORS = 3.0  # rows within so many errors of a knot stay in the working set
_MOST_ROUNDS = 6  # working sets at one strength
_MOST_STEPS = 200
_MOST_PREDICTED_MOVES = 2.0  # a prediction adds at most so many times the last move,
_PREDICTED_SHARE = 0.8  # and only this share of it: moves become shorter
_FIRST_START = 10.0  # stiffness of the envelopes where nothing is known about errors
_STIFFEST_START = 1e6
_LATER_STIFFNESS_SHARE = 1 / 25  # relative to the stiffness that the round before ended with
_STIFFNESS_FACTOR, _INNER_STEPS = 3.0, 40


class _Pair(NamedTuple):
    """Scaled coefficients, their predictions, and multipliers."""

    b: Vector
    z: Vector
    sample: Vector
    column: Vector
    objective: float  # estimated; 0 where it is not known


class _Move(NamedTuple):
    """How the pair moved from one strength to the next."""

    b: Vector
    z: Vector
    log_ratio: float  # of the strengths


class KinkedFollower:
    """Moves a pair along the strengths of a loss with kinks; parameters as in `NewtonFollower`."""

    name = "newton"

    def __init__(self, problem: Problem, target: float) -> None:
        assert problem.penalty is not None
        self._form = form = RectifiedForm.apply(problem)
        self._base = Model(form)
        self._base_strength = problem.penalty.strength
        self._rows = _core.NewtonRows(form.design.by_rows.view, form.rows, form.fit_intercept)
        self._length = row_lengths(self._base)
        # Held-out rows weigh nothing: they must not decide about steps either.
        self._metric = form.weight / (form.weight.sum() * self._length**2)
        self._target = _TARGET_SHARE * target

    @staticmethod
    def accepts(problem: Problem, target: float) -> bool:
        """Return whether following is expected to beat one `solve` per strength."""
        n, d = problem.n_samples, problem.n_features
        plain = problem.is_separable and not problem.is_constrained
        long = _ROWS_PER_COLUMN * d <= n and d <= _LARGEST_MATRIX
        kinked = problem.slope_width[1] and target < _LARGEST_TARGET
        return plain and long and kinked and problem.columns.strongly_convex

    def place(self, coef: Vector, intercept: float, dual: DualPoint) -> None:
        """Start at a pair; its multipliers may lie outside their ranges."""
        b = self._base.from_user(coef, intercept)
        self._pair = _Pair(b, self._predictions(coef, intercept), dual.sample, np.zeros(0), 0.0)
        self._strength: float | None = None  # of the pair, once it has moved
        self._last: _Move | None = None
        self._error: float | None = None  # of predictions, in the metric of the rows

    def move(self, strength: float, seconds: float) -> Candidate | None:
        """Return a candidate at a strength; None if the target was not reached."""
        began = time.perf_counter()
        budget = Budget(_MOST_STEPS, seconds, self._target)
        model = self._base.times_strength(strength / self._base_strength)
        predicted = self._predict(model, strength)
        pair, error, steps, growth = predicted, self._error, 0, 0.0
        for _ in range(_MOST_ROUNDS):
            self._rows.place_at(pair.z)
            working = None
            if error is not None:
                working = WorkingSet.split(
                    self._rows, model, pair.b, _REACH_IN_ERRORS * error, self._length, budget
                )
            start = _FIRST_START if error is None else model.argument_scale / max(error, 1e-300)
            start = min(max(start, 1.0, _LATER_STIFFNESS_SHARE * growth), _STIFFEST_START)
            run, found, spent = self._improve(model, pair, working, start, budget)
            steps, growth = steps + spent, run.growth
            moved = self._size(found.z - pair.z)
            pair = found
            if run.relative_gap <= self._target:
                break
            # All rows have been tried, or numbers overflow: other solvers have other ways.
            if working is None or not math.isfinite(moved) or steps >= _MOST_STEPS:
                return None
            error = moved if error is None else max(error, moved)
        else:
            return None
        self._remember(pair, predicted, strength)
        coef, intercept = model.to_user(pair.b)
        point = FormPoint(coef, intercept, pair.sample, np.zeros(0))
        return Candidate(strength, *self._form.invert(point), steps, time.perf_counter() - began)

    def _predict(self, model: Model, strength: float) -> _Pair:
        """Return where the pair is expected at a strength."""
        pair, last, before = self._pair, self._last, self._strength
        if before is None:
            here = FormPoint(*model.to_user(pair.b), pair.sample, np.zeros(0))
            return pair._replace(column=model.multipliers(pair.b, here).column)
        column = pair.column * (strength / before)
        if last is None:
            return pair._replace(column=column)
        moves = min(math.log(strength / before) / last.log_ratio, _MOST_PREDICTED_MOVES)
        share = _PREDICTED_SHARE * moves
        b, z = pair.b + share * last.b, pair.z + share * last.z
        return _Pair(b, z, pair.sample, column, pair.objective)

    def _improve(
        self, model: Model, pair: _Pair, working: WorkingSet | None, start: float, budget: Budget
    ) -> tuple[_core.NewtonRun, _Pair, int]:
        """Solve on a working set or on all rows; return the run, evaluated on all, pair, steps."""
        aim = self._target * (_AIM if working is None else _REDUCED_AIM)
        working = working or WorkingSet.whole(self._rows, model, pair.b)
        run, sample, steps, _ = working.solve(
            pair.sample,
            Multipliers(pair.column, np.zeros(0)),
            Schedule(start, _STIFFNESS_FACTOR, _INNER_STEPS),
            pair.objective,
            aim,
            _MOST_STEPS,
            budget,
        )
        z = self._predictions(*model.to_user(run.b))
        run.estimate(*self._form.rows.sums(z, sample))
        return run, _Pair(run.b, z, sample, run.column, run.objective), steps

    def _remember(self, pair: _Pair, predicted: _Pair, strength: float) -> None:
        """Take the pair, and what its move says about the next one."""
        log_ratio = 0.0 if self._strength is None else math.log(strength / self._strength)
        if log_ratio != 0.0:
            self._last = _Move(pair.b - self._pair.b, pair.z - self._pair.z, log_ratio)
            self._error = self._size(pair.z - predicted.z)
        self._pair, self._strength = pair, strength

    def _predictions(self, coef: Vector, intercept: float) -> Vector:
        return self._form.design.dot(np.ascontiguousarray(coef)) + intercept

    def _size(self, z: Vector) -> float:
        """Return the root mean square of predictions, in units of the length of each row."""
        return math.sqrt(float(self._metric @ (z * z)))
