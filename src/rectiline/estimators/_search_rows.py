"""Searches of `PLQRegressorCV` and `PLQClassifierCV` on rows in blocks.

Folds are masks of rows, and several strengths on all folds are one family of problems: each block
is read once for all of them. One more pass over the rows scores them.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from contextlib import closing
from dataclasses import dataclass
from functools import partial
from numbers import Integral
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rectiline._polling import Clock
from rectiline.estimators._callbacks import FitReport
from rectiline.estimators._classes import first_largest
from rectiline.estimators._rows import refuse_on_rows, sample_rows
from rectiline.estimators._run import RunOptions, raise_if_infeasible
from rectiline.estimators._scoring import predictions
from rectiline.estimators._search_folds import Chosen, best_place, mean_scores, score_table
from rectiline.estimators._tasks import FitData
from rectiline.paths import Path
from rectiline.problems import Problem
from rectiline.problems.blocks import BlockData, NearRows, fold_of_rows
from rectiline.rows import Block, TensorRows
from rectiline.solvers import Solution, check_takes_rows, solve_family

Vector = NDArray[np.float64]

__all__ = ["search_rows"]

_MEMBERS = 32  # problems of a family at most: each keeps copies of its rows near a knot
_FOLDS = 5
_ERRORS = {  # scores of regressions, and the power of the errors that they add up
    "r2": 2,
    "neg_mean_squared_error": 2,
    "neg_root_mean_squared_error": 2,
    "neg_mean_absolute_error": 1,
}


def search_rows(model: Any, data: FitData, params: dict[str, Any], clock: Clock) -> Chosen:
    """Score the grid on folds of the rows and return the winner, solved on all rows."""
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
    options = RunOptions.of(model, clock)
    check_takes_rows(options.solver, options.solver_options)
    scoring = _checked_scoring(model.scoring, data.classes is not None)
    search = _RowSearch(model, data, _n_folds(model.cv), options, clock, scoring)
    ratios = model._ratios()
    grids = [search.strengths(ratio) for ratio in ratios]
    rounds = [-(-grid.size // search.at_once) for grid in grids]
    report = FitReport(model, sum(rounds), kind="round")
    shape = (len(ratios), max(grid.size for grid in grids), search.n_folds)
    scores, seconds = np.full(shape, -np.inf), np.zeros(shape)
    paths = []
    with closing(report):
        for place, (ratio, grid) in enumerate(zip(ratios, grids, strict=True)):
            tell = partial(_Round, report, sum(rounds[:place]))
            paths.append(search.solve(ratio, grid, scores[place], seconds[place], tell))
    report.end()
    best, at = best_place(mean_scores(scores))
    columns: dict[str, list[Any]] = {"strength": [s for grid in grids for s in grid]}
    if ratios != [None]:
        columns["param_l1_ratio"] = [r for r, grid in zip(ratios, grids, strict=True) for _ in grid]
    sizes = [grid.size for grid in grids]
    each = np.concatenate([scores[k, :size] for k, size in enumerate(sizes)])
    spent = np.concatenate([seconds[k, :size] for k, size in enumerate(sizes)])
    return Chosen(
        strength=float(grids[best][at]),
        l1_ratio=ratios[best],
        paths=tuple(paths[best]),
        solutions=tuple(path[at] for path in paths[best]),
        strengths=grids[best],
        results=score_table(columns, each, spent, options.time_limit),
    )


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
class _Round:
    """Tells about one family of problems of a search: its strengths on all folds."""

    report: FitReport
    before: int  # rounds of other ratios
    place: int

    def callbacks(self, count: int) -> list[Any]:
        """Return one callback for each problem; the first also hears how far a pass is."""
        told = self.report.for_problem(self.before + self.place)
        return [told] + [None if told is None else told.__call__] * (count - 1)

    def ended(self, strengths: Vector, solved: list[Solution], scores: Vector) -> None:
        """Tell how the problems ended."""
        count = sum(one.status == "solved" for one in solved)
        best = float(np.max(mean_scores(scores[None])))
        self.report.ended(
            self.before + self.place,
            f"strengths {strengths[0]:.3g} to {strengths[-1]:.3g}: {count} of {len(solved)} "
            f"problems solved in {solved[0].passes} passes, best mean score {best:.6g}",
        )


@dataclass(frozen=True, eq=False)
class _RowSearch:
    """Problems of a search on rows: one for each strength, fold and task."""

    model: Any
    data: FitData
    n_folds: int
    options: RunOptions
    clock: Clock
    scoring: str

    @property
    def at_once(self) -> int:
        """How many strengths make a family, on all folds and on all rows."""
        return max(1, _MEMBERS // ((self.n_folds + 1) * len(self.data.tasks)))

    def strengths(self, ratio: float | None) -> Vector:
        """Return the strengths to try, from large to small; a grid follows a sample of the rows."""

        def make(task: int, ratio: float | None, keep: None) -> Problem:
            problem = self._problem(task, ratio, 1.0)
            block, at = sample.block, sample.rows
            near = NearRows(at, block.X, problem.samples.of_block(block, at))
            return near.problem(problem.terms, near.samples.weight * sample.stands_for)

        sample = sample_rows(self.data.rows, self.options.seed)
        grid: Vector = self.model._grid(make, ratio, len(self.data.tasks))
        return grid

    def _problem(self, task: int, ratio: float | None, share: float) -> Problem:
        """Return a problem on all rows, with this share of the penalty of C = 1."""
        penalty = self.model._penalty(share, l1_ratio=ratio)
        problem: Problem = self.model._problem(self.data, self.data.tasks[task], penalty)
        return problem

    def solve(
        self,
        ratio: float | None,
        grid: Vector,
        scores: Vector,
        seconds: Vector,
        tell: Callable[[int], _Round],
    ) -> list[Path]:
        """Return the paths on all rows, one for each task; write scores and times of the folds."""
        tasks, began = len(self.data.tasks), time.perf_counter()
        whole = [self._problem(task, ratio, 1.0) for task in range(tasks)]
        bases = [
            [_without_fold(one, fold, self.n_folds) for one in whole]
            for fold in range(self.n_folds)
        ]
        unit = self.model._penalty(l1_ratio=ratio).strength
        found: list[list[Solution]] = [[] for _ in range(tasks)]
        for number, first in enumerate(range(0, grid.size, self.at_once)):
            some, this = grid[first : first + self.at_once], tell(number)
            penalties = [self.model._penalty(s / unit, l1_ratio=ratio) for s in some]
            family = [
                one.with_penalty(penalty)
                for penalty in penalties
                for group in (*bases, whole)
                for one in group
            ]
            options = self.options
            solved = solve_family(
                family,
                tol=options.tol,
                max_iter=options.max_iter,
                time_limit=self.clock.remaining,
                callback=this.callbacks(len(family)),
                random_state=options.seed,
                **options.solver_options,
            )
            for one in solved:
                raise_if_infeasible(one)
            parts = np.array(solved, dtype=object).reshape(some.size, self.n_folds + 1, tasks)
            for task in range(tasks):
                found[task] += list(parts[:, -1, task])
            place = slice(first, first + some.size)
            scores[place] = self._scores(parts[:, :-1])
            this.ended(some, solved, scores[place])
            seconds[place] = np.vectorize(lambda s: s.seconds)(parts[:, :-1]).sum(-1) / len(solved)
        spent = time.perf_counter() - began
        return [Path(grid, tuple(one), spent) for one in found]

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
