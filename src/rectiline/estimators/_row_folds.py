"""Models on folds of rows in blocks: searches of the CV estimators, and probabilities.

Folds are masks of rows, and several strengths on all folds are one family of problems: each block
is read once for all of them. One more pass over the rows scores them.
"""

from __future__ import annotations

import copy
import itertools
import time
from dataclasses import replace
from functools import reduce
from numbers import Integral
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.calibration import CalibratedClassifierCV

from rectiline._polling import Clock
from rectiline._typing import Indices, Matrix, Vector
from rectiline.estimators._rows import refuse_on_rows, with_targets
from rectiline.estimators._run import RunOptions, solve_in_passes
from rectiline.estimators._scores import SummedScore, predictions
from rectiline.estimators._search_folds import Search, mean_scores
from rectiline.estimators._show import FitReport
from rectiline.estimators._tasks import FitData
from rectiline.paths import Path
from rectiline.problems import Problem
from rectiline.problems.blocks import BlockData, NearRows, fold_of_rows
from rectiline.rows import Block, TensorRows
from rectiline.solvers import Solution, check_takes_rows, draw_rows

_MEMBERS = 32  # problems of a family at most: each keeps copies of its rows near a knot
_FOLDS = 5
_REGRESSION_SCORES = (
    "r2",
    "neg_mean_squared_error",
    "neg_root_mean_squared_error",
    "neg_mean_absolute_error",
)


def _checked_score(model: Any, data: FitData) -> SummedScore:
    """Return the score that `scoring` names; its sums over blocks can be added up."""
    score: SummedScore = model._own_score(data)
    allowed = ("accuracy",) if data.classes is not None else _REGRESSION_SCORES
    if model.scoring is None:
        return score
    if score.losses or not isinstance(model.scoring, str) or model.scoring not in allowed:
        names = "" if score.losses else f" or one of {', '.join(map(repr, allowed))}"
        raise ValueError(
            f"scoring={model.scoring!r}: with rows in blocks it must be None{names}, whose sums "
            "over blocks can be added up. Others need arrays in memory."
        )
    return score if data.classes is not None else replace(score, name=model.scoring)


class RowSearch(Search):
    """A search on rows in blocks: some strengths on all folds, and on all rows, are one family.

    The grid follows a sample of the rows.

    Attributes
    ----------
    score : SummedScore
    at_once : int
        How many strengths make a family.
    constants : list of ndarray
        What the best constants of the folds miss, where one pass cannot tell.
    solved : list of tuple of Path
        Those on all rows, for each mix.
    """

    def __init__(self, model: Any, data: FitData, clock: Clock) -> None:
        super().__init__(model, data, clock)
        multi = getattr(model, "multi_class", "ovr") == "ovo" and self.n_tasks > 1
        refuse_on_rows(
            model,
            **{
                f"fit parameter {next(iter(data.split_params), None)!r}": bool(data.split_params),
                "fold_tol": model.fold_tol is not None,
                "multi_class='ovo'": multi,
                "a search on a GPU": isinstance(data.rows, TensorRows),
            },
        )
        check_takes_rows(self.options.solver, self.options.solver_options)
        self.score = _checked_score(model, data)
        sample = draw_rows(data.rows, self.options.seed)

        def on_sample(problem: Problem) -> Problem:
            samples = problem.samples.of_block(sample.block, sample.rows)
            near = NearRows(sample.rows, sample.block.X, samples)
            factor = model._path_factor(data.kept_weight())
            return near.problem(problem.terms, factor * near.samples.weight * sample.stands_for)

        cv = _FOLDS if model.cv is None else model.cv
        if not isinstance(cv, Integral) or cv < 2:
            raise ValueError(
                f"cv={cv!r}: with rows in blocks it must be a number of folds of at least 2, or "
                "None; rows are put into folds by a hash of their number."
            )
        self.n_folds = int(cv)
        self._set_problems(on_sample)
        self.at_once = max(1, _MEMBERS // ((self.n_folds + 1) * self.n_tasks))
        rounds = sum(-(-grid.size // self.at_once) for grid in self.grids)
        self.report = FitReport(model, rounds, kind="round")
        self.constants: list[Matrix] = []
        if self.score.losses:  # the best constants of a fold need all of its targets
            _, y, weight = with_targets(data.rows, None, None)
            weight = np.ones(y.size) if weight is None else np.asarray(weight, dtype=np.float64)
            for held in rows_of_folds(0, y.size, self.n_folds):
                own = self.score.constant(y[held].astype(np.float64), weight[held])
                self.constants.append(own)
        self.solved: list[tuple[Path, ...]] = []

    def _paths_on_all(self, ratio: int, limit: float | None) -> tuple[Path, ...]:
        return self.solved[ratio]

    def _score(self, scores: Vector, seconds: Vector, limit: float | None) -> None:
        rounds = itertools.count()
        for ratio, grid in enumerate(self.grids):
            began = time.perf_counter()
            found: list[list[Solution]] = [[] for _ in range(self.n_tasks)]
            bases = self._on_folds(self.on_all[ratio])
            for first in range(0, grid.size, self.at_once):
                some = slice(first, min(first + self.at_once, grid.size))
                parts = self._solve(bases, ratio, grid[some], next(rounds), scores[ratio, some])
                for task in range(self.n_tasks):
                    found[task] += list(parts[:, -1, task])
                spent = np.vectorize(lambda one: one.seconds)(parts[:, :-1])
                seconds[ratio, some] = spent.sum(-1) / parts.size
            elapsed = time.perf_counter() - began
            self.solved.append(tuple(Path(grid, tuple(one), elapsed) for one in found))

    def _on_folds(self, whole: list[Problem]) -> list[tuple[Problem, float]]:
        """Return the problems of all tasks without each fold in turn, then those on all rows.

        Each comes with the factor on its losses.
        """
        total, parts = self.data.total, list[tuple[Problem, float]]()
        for fold in range(self.n_folds):
            held = float(self.constants[fold][0, 0]) if self.constants else 0.0
            factor = self.model._path_factor(total - held)
            parts += [(without_fold(one, fold, self.n_folds), factor) for one in whole]
        return [*parts, *((one, self.model._path_factor(total)) for one in whole)]

    def _solve(
        self,
        bases: list[tuple[Problem, float]],
        ratio: int,
        grid: Vector,
        number: int,
        scores: Vector,
    ) -> NDArray[Any]:
        """Return solutions (strengths, folds and all rows, tasks) of a family, and score them."""
        mix = self.l1_ratios[ratio]
        unit = self.model._penalty(l1_ratio=mix).strength
        family = [
            one.with_penalty(self.model._penalty(strength / unit / factor, l1_ratio=mix))
            for strength in grid
            for one, factor in bases
        ]
        told = self.report.for_problem(number)  # the first problem also hears how far a pass is
        callbacks = [told] + [None if told is None else told.__call__] * (len(family) - 1)
        options = replace(self.options, time_limit=self.clock.remaining)
        solved = solve_in_passes(family, options, callbacks=callbacks)
        parts = np.array(solved, dtype=object).reshape(grid.size, self.n_folds + 1, self.n_tasks)
        scores[:] = self._scores(parts[:, :-1])
        count = sum(one.status == "solved" for one in solved)
        self.report.ended(
            number,
            f"strengths {grid[0]:.3g} to {grid[-1]:.3g}: {count} of {len(solved)} problems solved "
            f"in {solved[0].passes} passes, best mean score {np.max(mean_scores(scores)):.6g}",
        )
        return parts

    def _scores(self, parts: NDArray[Any]) -> Vector:
        """Return the scores of solutions (strengths, folds, tasks) on the rows of their folds."""
        coefs = np.array([[[one.coef for one in t] for t in f] for f in parts])
        intercepts = np.array([[[one.intercept for one in t] for t in f] for f in parts])
        state = (coefs, intercepts, self.score)
        found = list(self.data.rows.map_blocks(_score_block, state))
        constants: Any = self.constants or reduce(_added, [one for one, _ in found])
        pairs = zip(constants, sum(missed for _, missed in found), strict=True)
        return np.column_stack([self.score.value(constant, one) for constant, one in pairs])


def rows_of_folds(start: int, count: int, n_folds: int) -> list[Indices]:
    """Return the places of the rows of each fold among so many rows from a number on."""
    fold_of = fold_of_rows(start + np.arange(count, dtype=np.int64), n_folds)
    return [np.flatnonzero(fold_of == fold) for fold in range(n_folds)]


def without_fold(problem: Problem, fold: int, n_folds: int) -> Problem:
    """Return a problem on rows in blocks in which those of a fold have no weight."""
    samples: Any = problem.samples
    source = BlockData(problem.blocks, samples.without_fold(fold, n_folds))
    return Problem.of(source, problem.terms, problem.feature_names)


def _score_block(block: Block, state: tuple[Matrix, Matrix, SummedScore]) -> tuple[Matrix, Matrix]:
    """Return what the best constants and the models miss in each fold of a block.

    The state holds models (strengths, folds, tasks), which miss (folds, strengths, outputs).
    """
    coefs, intercepts, score = state
    weight = np.ones(block.n_rows) if block.weight is None else np.asarray(block.weight, float)
    y = np.asarray(block.y)
    constants, missed = [], []
    for fold, rows in enumerate(rows_of_folds(block.start, block.n_rows, coefs.shape[1])):
        found = predictions(block.X[rows], coefs[:, fold], intercepts[:, fold])
        one = y[rows] if score.classes is not None else y[rows].astype(np.float64)
        missed.append(score.missed(found, one, weight[rows]))
        constants.append(np.zeros((3, 1)) if score.losses else score.constant(one, weight[rows]))
    return np.array(constants), np.array(missed)


def _added(total: Matrix, more: Matrix) -> Matrix:
    """Return weight, mean and squared deviations of all rows, fold by fold (Chan's formula)."""
    weight = total[:, 0] + more[:, 0]
    share = np.divide(more[:, 0], weight, out=np.zeros_like(weight), where=weight > 0)
    step = more[:, 1] - total[:, 1]
    spread = total[:, 2] + more[:, 2] + total[:, 0] * share * step**2
    return np.stack([weight, total[:, 1] + share * step, spread], axis=1)


# ---- probabilities of classifiers: a curve through decisions on left-out folds ----


def calibrated_on_rows(
    model: Any, data: FitData, n_folds: int, options: RunOptions
) -> CalibratedClassifierCV:
    """Return probabilities for a fitted classifier; its models without folds share passes."""
    refuse_on_rows(model, **{"calibration on a GPU": isinstance(data.rows, TensorRows)})
    problems = model._problems(data)
    family = [without_fold(one, fold, n_folds) for fold in range(n_folds) for one in problems]
    solved = solve_in_passes(family, options)
    coefs = np.array([one.coef for one in solved]).reshape(n_folds, len(problems), -1)
    intercepts = np.array([one.intercept for one in solved]).reshape(n_folds, -1)
    scores = np.concatenate(list(data.rows.map_blocks(_fold_scores, (coefs, intercepts))))
    _, y, weight = with_targets(data.rows, None, None)
    decisions = model._decisions(scores).reshape(len(y), -1)
    known = np.isin(y, model.classes_)  # the others have no weight
    given = CalibratedClassifierCV(
        _Given(model.classes_), method=model.calibration, ensemble=False
    ).fit(decisions[known], y[known], sample_weight=None if weight is None else weight[known])
    # From here on decisions are those of the model itself.
    plain = copy.copy(model)
    plain.calibration = None
    given.calibrated_classifiers_[0].estimator = plain
    return given


def probabilities(calibrated: CalibratedClassifierCV, decisions: Matrix) -> Matrix:
    """Return the probabilities of the classes that go with decisions."""
    curve = copy.copy(calibrated.calibrated_classifiers_[0])
    given = decisions.reshape(len(decisions), -1)
    curve.estimator = _Given(calibrated.classes_).fit(given, None)
    return np.asarray(curve.predict_proba(given))


def _fold_scores(block: Block, models: tuple[Matrix, Matrix]) -> NDArray[np.float64]:
    """Return the products of rows with the coefficients that were fitted without their folds."""
    coefs, intercepts = models
    made = np.empty((block.n_rows, coefs.shape[1]))
    for fold, rows in enumerate(rows_of_folds(block.start, block.n_rows, len(coefs))):
        made[rows] = predictions(block.X[rows], coefs[fold][None], intercepts[fold])[:, 0]
    return made


class _Given(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """A classifier whose decisions are its data."""

    def __init__(self, classes: NDArray[Any]) -> None:
        self.classes = classes

    def fit(self, X: Matrix, y: Any, sample_weight: Any = None) -> _Given:
        """Learn nothing."""
        self.classes_ = self.classes
        return self

    def decision_function(self, X: Matrix) -> Matrix:
        """Return the decisions."""
        return X[:, 0] if X.shape[1] == 1 else X
