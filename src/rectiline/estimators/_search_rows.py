"""Searches of `PLQRegressorCV` and `PLQClassifierCV` on rows in blocks.

Folds are masks of rows, and several strengths on all folds are one family of problems: each block
is read once for all of them. One more pass over the rows scores them.
"""

from __future__ import annotations

import itertools
import time
from dataclasses import dataclass, field
from numbers import Integral
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rectiline._polling import Clock
from rectiline._typing import Vector
from rectiline.estimators._rows import refuse_on_rows, sample_rows
from rectiline.estimators._run import RunOptions, raise_if_infeasible, solve_in_passes
from rectiline.estimators._search_folds import Search, mean_scores, predictions
from rectiline.estimators._show import FitReport
from rectiline.estimators._tasks import FitData, first_largest
from rectiline.paths import Path
from rectiline.problems import Problem
from rectiline.problems.blocks import BlockData, NearRows, fold_of_rows
from rectiline.rows import Block, TensorRows
from rectiline.solvers import Solution, check_takes_rows

__all__ = ["RowSearch", "search_on_rows"]

_MEMBERS = 32  # problems of a family at most: each keeps copies of its rows near a knot
_FOLDS = 5
_ERRORS = {  # scores of regressions, and the power of the errors that they add up
    "r2": 2,
    "neg_mean_squared_error": 2,
    "neg_root_mean_squared_error": 2,
    "neg_mean_absolute_error": 1,
}


def search_on_rows(
    model: Any, data: FitData, params: dict[str, Any], options: RunOptions, clock: Clock
) -> RowSearch:
    """Return the search of a model on folds of the rows; the grid follows a sample of them."""
    multi = getattr(model, "multi_class", "ovr") == "ovo" and len(data.tasks) > 1
    refuse_on_rows(
        model,
        **{
            f"fit parameter {next(iter(params), None)!r}": bool(params),
            "fold_tol": model.fold_tol is not None,
            "multi_class='ovo'": multi,
            "a search on a GPU": isinstance(data.rows, TensorRows),
        },
    )
    check_takes_rows(options.solver, options.solver_options)
    scoring = _checked_scoring(model.scoring, data.classes is not None)
    sample, n_tasks = sample_rows(data.rows, options.seed), len(data.tasks)

    def on_sample(task: int, ratio: float | None, keep: None) -> Problem:
        problem: Problem = model._path_problem(data, data.tasks[task], ratio)
        near = NearRows(
            sample.rows, sample.block.X, problem.samples.of_block(sample.block, sample.rows)
        )
        return near.problem(problem.terms, near.samples.weight * sample.stands_for)

    n_folds, ratios = _n_folds(model.cv), model._ratios()
    grids = [model._grid(on_sample, ratio, n_tasks) for ratio in ratios]
    at_once = max(1, _MEMBERS // ((n_folds + 1) * n_tasks))
    rounds = sum(-(-grid.size // at_once) for grid in grids)
    report = FitReport(model, rounds, kind="round")
    return RowSearch(model, data, n_folds, ratios, grids, options, report, clock, scoring, at_once)


def _n_folds(cv: Any) -> int:
    if cv is None:
        return _FOLDS
    if not isinstance(cv, Integral) or cv < 2:
        raise ValueError(
            f"cv={cv!r}: with rows in blocks it must be a number of folds of at least 2, or None; "
            "rows are put into folds by a hash of their number."
        )
    return int(cv)


def _checked_scoring(scoring: Any, is_classifier: bool) -> str:
    allowed = ("accuracy",) if is_classifier else tuple(_ERRORS)
    if scoring is None:
        return allowed[0]
    if not isinstance(scoring, str) or scoring not in allowed:
        raise ValueError(
            f"scoring={scoring!r}: with rows in blocks it must be None or one of "
            f"{', '.join(map(repr, allowed))}, whose sums over blocks can be added up. Others "
            "need arrays in memory."
        )
    return scoring


@dataclass(frozen=True, eq=False)
class RowSearch(Search):
    """A search on rows in blocks: some strengths on all folds, and on all rows, are one family.

    Attributes
    ----------
    scoring : str
    at_once : int
        How many strengths make a family.
    """

    clock: Clock
    scoring: str
    at_once: int
    solved: list[tuple[Path, ...]] = field(default_factory=list)  # on all rows, for each mix

    def _paths_on_all(self, ratio: int, limit: float | None) -> tuple[Path, ...]:
        return self.solved[ratio]

    def _score(self, scores: Vector, seconds: Vector, limit: float | None) -> None:
        rounds = itertools.count()
        for ratio, grid in enumerate(self.strengths):
            began = time.perf_counter()
            found: list[list[Solution]] = [[] for _ in range(self.n_tasks)]
            bases = self._on_folds(self.l1_ratios[ratio])
            for first in range(0, grid.size, self.at_once):
                some = slice(first, min(first + self.at_once, grid.size))
                parts = self._solve(bases, ratio, grid[some], next(rounds), scores[ratio, some])
                for task in range(self.n_tasks):
                    found[task] += list(parts[:, -1, task])
                spent = np.vectorize(lambda one: one.seconds)(parts[:, :-1])
                seconds[ratio, some] = spent.sum(-1) / parts.size
            elapsed = time.perf_counter() - began
            self.solved.append(tuple(Path(grid, tuple(one), elapsed) for one in found))

    def _on_folds(self, ratio: float | None) -> list[Problem]:
        """Return the problems of all tasks without each fold in turn, then those on all rows."""
        whole = [self.model._path_problem(self.data, task, ratio) for task in self.data.tasks]
        parts = [_without_fold(one, k, self.n_folds) for k in range(self.n_folds) for one in whole]
        return [*parts, *whole]

    def _solve(
        self, bases: list[Problem], ratio: int, grid: Vector, number: int, scores: Vector
    ) -> NDArray[Any]:
        """Return solutions (strengths, folds and all rows, tasks) of a family, and score them."""
        mix = self.l1_ratios[ratio]
        unit = self.model._penalty(l1_ratio=mix).strength
        penalties = [self.model._penalty(strength / unit, l1_ratio=mix) for strength in grid]
        family = [one.with_penalty(penalty) for penalty in penalties for one in bases]
        told = self.report.for_problem(number)  # the first problem also hears how far a pass is
        callbacks = [told] + [None if told is None else told.__call__] * (len(family) - 1)
        solved = solve_in_passes(family, self.options, callbacks, self.clock.remaining)
        for one in solved:
            raise_if_infeasible(one)
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
        power = _ERRORS.get(self.scoring, 2)
        state = _Scored(coefs, intercepts, self.data.classes, power)
        total = np.zeros((3, self.n_folds))
        missed = np.zeros(parts.shape[:2])
        for sums, errors in self.data.rows.map_blocks(_score_block, state):
            _add_moments(total, sums)
            missed += errors
        weight = np.where(total[0] > 0, total[0], np.nan)
        if self.data.classes is not None:
            return np.asarray(1.0 - missed / weight)
        if self.scoring != "r2":
            mean = missed / weight
            return np.asarray(-np.sqrt(mean) if "root" in self.scoring else -mean)
        constant = total[2] == 0
        ratio = missed / np.where(constant, 1.0, total[2])
        return np.asarray(1.0 - np.where(constant, missed > 0, ratio)) + 0.0 * weight


def _without_fold(problem: Problem, fold: int, n_folds: int) -> Problem:
    """Return a problem on rows in blocks in which those of a fold have no weight."""
    samples: Any = problem.samples
    source = BlockData(problem.blocks, samples.without_fold(fold, n_folds))
    return Problem.of(source, problem.terms, problem.feature_names)


@dataclass(frozen=True, eq=False)
class _Scored:
    """What is sent to every block to score it: models (strengths, folds, tasks), and classes.

    `power`: of the errors that regressions are scored by.
    """

    coefs: NDArray[np.float64]
    intercepts: NDArray[np.float64]
    classes: NDArray[Any] | None
    power: int


def _score_block(block: Block, state: _Scored) -> tuple[Vector, Vector]:
    """Return weight, mean and squared deviations of y in each fold, and what models miss there.

    Models miss powers of errors, or the weight of rows with a wrong class.
    """
    n_folds = state.coefs.shape[1]
    numbers = block.start + np.arange(block.n_rows, dtype=np.int64)
    fold_of = fold_of_rows(numbers, n_folds)
    weight = np.ones(block.n_rows) if block.weight is None else np.asarray(block.weight, float)
    moments, missed = np.zeros((3, n_folds)), np.zeros(state.coefs.shape[:2])
    for fold in range(n_folds):
        rows = np.flatnonzero(fold_of == fold)
        w = weight[rows]
        if not w.sum() > 0:
            continue
        found = predictions(block.X[rows], state.coefs[:, fold], state.intercepts[:, fold])
        y = np.asarray(block.y)[rows]
        if state.classes is not None:
            is_binary = found.shape[2] == 1
            place = (found[:, :, 0] > 0).astype(int) if is_binary else first_largest(found)
            missed[:, fold] = w @ (state.classes[place] != y[:, None])
            moments[0, fold] = w.sum()
            continue
        y = y.astype(np.float64)
        mean = np.average(y, weights=w)
        moments[:, fold] = w.sum(), mean, w @ (y - mean) ** 2
        missed[:, fold] = w @ np.abs(found[:, :, 0] - y[:, None]) ** state.power
    return moments, missed


def _add_moments(total: Vector, more: Vector) -> None:
    """Add weight, mean and squared deviations of more rows, fold by fold (Chan's formula)."""
    weight = total[0] + more[0]
    share = np.divide(more[0], weight, out=np.zeros_like(weight), where=weight > 0)
    step = more[1] - total[1]
    total[2] += more[2] + total[0] * share * step**2
    total[1] += share * step
    total[0] = weight
