"""Score a grid of strengths on folds and find the best one, by any score."""

from __future__ import annotations

import warnings
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import replace
from itertools import product
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rectiline._polling import Clock, asked_at_checkpoints
from rectiline._typing import Indices, Vector
from rectiline.estimators._run import RunOptions, raise_if_infeasible
from rectiline.estimators._show import FitReport
from rectiline.estimators._tasks import FitData
from rectiline.exceptions import ConvergenceWarning, NoAnswerError
from rectiline.paths import FairShares, Path, in_threads, path
from rectiline.problems import Problem
from rectiline.solvers import central_intercept

_OTHER_PARTS = 3  # parts of a search besides its folds: scores, the path on all data, the last fit
_EQUAL_SCORES = 1e-10  # scores closer than this, relative, are the same; the stronger penalty wins


class Search(ABC):
    """Paths on every fold for every mix, scored on what each fold holds out.

    A subclass says what the folds are, and what is solved at which strengths.

    Attributes
    ----------
    on_all : list of list of Problem
        The problems on all the data, at their unit strength, for each mix and task.
    grids : list of ndarray
        Strengths for each mix, from large to small.
    l1_ratio, strengths, place : float, ndarray, int
        The mix of the winner, its grid, and its place there; after `run`, as are the next.
    paths : tuple of Path
        Those of the winner on all the data, one for each task.
    results : dict of ndarray
        The table behind the choice.
    """

    n_folds: int
    on_all: list[list[Problem]]
    grids: list[Vector]
    report: FitReport

    def __init__(self, model: Any, data: FitData, clock: Clock) -> None:
        self.model, self.data, self.clock = model, data, clock
        self.options, self.l1_ratios = RunOptions.of(model, clock), model._ratios()
        self.n_tasks = len(data.tasks)  # problems at each strength

    def _set_problems(self, sampled: Callable[[Problem], Problem] = lambda whole: whole) -> None:
        """Set the problems, and the grids that a sample of their rows asks for."""
        model, data, self.on_all, self.grids = self.model, self.data, [], []
        for ratio in self.l1_ratios:
            problems = [model._path_problem(data, task, ratio) for task in data.tasks]
            self.on_all.append(problems)
            self.grids.append(model._grid(ratio, map(sampled, problems)))

    @abstractmethod
    def _score(self, scores: Vector, seconds: Vector, limit: float | None) -> None:
        """Write scores and fit times, shaped (ratios, strengths, folds)."""

    @abstractmethod
    def _paths_on_all(self, ratio: int, limit: float | None) -> tuple[Path, ...]:
        """Return the paths of a mix on all the data, one for each task."""

    def run(self) -> None:
        """Score the grid, choose, and solve the path of the winner on all the data.

        A time limit is shared out evenly between the folds of every mix, their scores, that path,
        and what its caller does with the answer.
        """
        limit, clock = self.options.time_limit, Clock()
        parts = len(self.l1_ratios) * self.n_folds + _OTHER_PARTS

        def left(share: float) -> float | None:
            return None if limit is None else max(share * limit - clock.seconds, 1e-6)

        shape = (len(self.l1_ratios), max(grid.size for grid in self.grids), self.n_folds)
        scores, seconds = np.full(shape, -np.inf), np.zeros(shape)
        with self.report:
            self._score(scores, seconds, left(1 - _OTHER_PARTS / parts))
            ratio, place = _best_place(mean_scores(scores))
            self.paths = self._paths_on_all(ratio, left(1 - 1 / parts))
        if not all(map(len, self.paths)):
            raise NoAnswerError(
                f"time_limit={limit!r}: the time was up before a first model was known."
            )
        self.l1_ratio, self.strengths = self.l1_ratios[ratio], self.grids[ratio]
        self.place = min(place, *(len(one) - 1 for one in self.paths))
        self.results = self._table(scores, seconds)

    def _table(self, scores: Vector, seconds: Vector) -> dict[str, NDArray[Any]]:
        pairs = list(zip(self.l1_ratios, self.grids, strict=True))
        columns: dict[str, list[Any]] = {"strength": [s for _, grid in pairs for s in grid]}
        if self.l1_ratios != [None]:
            columns["param_l1_ratio"] = [one for one, grid in pairs for _ in grid]
        each, spent = (
            np.concatenate([part[k, : grid.size] for k, (_, grid) in enumerate(pairs)])
            for part in (scores, seconds)
        )
        return score_table(columns, each, spent, self.options.time_limit)


class FoldSearch(Search):
    """A search on arrays in memory: a path on the training part of each fold.

    A held-out sample keeps its row and gets the weight zero, so that nothing is copied.
    """

    def __init__(self, model: Any, data: FitData, clock: Clock) -> None:
        super().__init__(model, data, clock)
        self.folds: list[tuple[Indices, Indices]] = model._folds(data)
        self.n_folds = len(self.folds)
        parts, limit = len(self.l1_ratios) * self.n_folds, model.time_limit
        self.report = FitReport(model, self.n_tasks * (parts + 1), data.X, data.y, kind="path")
        share = None if limit is None else limit / (parts + _OTHER_PARTS)
        with asked_at_checkpoints(Clock.with_grace(share)):
            self._set_problems()

    def _path(self, ratio: int, fold: int | None, task: int, seconds: float | None) -> Path:
        """Return the path of one task and mix, on the training part of a fold or on all data."""
        clock, place = Clock(seconds), len(self.l1_ratios) * self.n_folds
        problem, grid = self.on_all[ratio][task], self.grids[ratio]
        if fold is not None:
            data, mix = self.data, self.l1_ratios[ratio]
            keep = np.zeros(data.n_samples, dtype=bool)
            keep[self.folds[fold][0]] = True
            problem = self.model._path_problem(data, data.tasks[task], mix, keep)
            place = ratio * self.n_folds + fold
        number = place * self.n_tasks + task
        callback = self.report.for_problem(number)
        tol = max(self.model.fold_tol or 0.0, self.options.tol)
        options = self.options.keywords(clock.remaining) | {"tol": tol}
        try:
            found = path(problem, grid, callback=callback, **options)
        except NoAnswerError:  # other folds may have had more time
            found = Path(grid[:0], ())
        self.report.ended(number, found)
        for solution in found:
            raise_if_infeasible(solution)
        if fold is None:
            return found
        # Central intercepts, as in a fit, so that scores do not depend on which of several
        # equally good ones a solver came to. Multipliers take more memory than X.
        central = []
        for one in found:
            middle = central_intercept(problem, one.coef, one.intercept, one.dual)
            central.append(replace(one, intercept=middle, problem=None))
        return replace(found, solutions=tuple(central)).without_duals()

    def _paths(
        self, parts: Sequence[tuple[int, int | None]], limit: float | None
    ) -> list[tuple[Path, ...]]:
        """Return the paths of all tasks for each pair of a mix and a fold."""
        jobs = [(*part, task) for part in parts for task in range(self.n_tasks)]
        shares = FairShares(limit, len(jobs), self.options.n_jobs)
        found = in_threads(lambda job: self._path(*job, shares.next()), jobs, self.options.n_jobs)
        return list(zip(*[iter(found)] * self.n_tasks, strict=True))

    def _paths_on_all(self, ratio: int, limit: float | None) -> tuple[Path, ...]:
        return self._paths([(ratio, None)], limit)[0]

    def _score(self, scores: Vector, seconds: Vector, limit: float | None) -> None:
        parts = list(product(range(len(self.l1_ratios)), range(self.n_folds)))
        found, score = self._paths(parts, limit), self.model._score_of(self.data)
        for (ratio, fold), trained in zip(parts, found, strict=True):
            size = min(map(len, trained))
            if not size:
                continue
            coefs = np.stack([one.coefs[:size] for one in trained], axis=1)
            intercepts = np.stack([one.intercepts[:size] for one in trained], axis=1)
            scores[ratio, :size, fold] = score(self.folds[fold][1], coefs, intercepts)
            for one in trained:
                seconds[ratio, :size, fold] += [point.seconds for point in one[:size]]


def score_table(
    candidates: dict[str, list[Any]],
    scores: NDArray[np.float64],
    seconds: NDArray[np.float64],
    time_limit: float | None,
) -> dict[str, NDArray[Any]]:
    """Return ``cv_results_`` of candidates with scores and fit times (candidates, folds).

    Candidates that were left out on some fold have the score minus infinity. Warn of them where a
    time limit may be the reason; whoever stops a search by a callback knows it.
    """
    left_out = int(np.isneginf(scores).any(axis=1).sum())
    if left_out and time_limit is not None:
        chosen = "the choice is among the others" if left_out < len(scores) else "none was compared"
        warnings.warn(
            f"The search ended (time_limit={time_limit}) before {left_out} of {len(scores)} "
            f"candidates were fitted on every fold; {chosen}. Raise time_limit, or give fewer "
            "candidates or folds.",
            ConvergenceWarning,
            stacklevel=2,
        )
    table: dict[str, NDArray[Any]] = {name: np.array(col) for name, col in candidates.items()}
    for fold in range(scores.shape[1]):
        table[f"split{fold}_test_score"] = scores[:, fold]
    table["mean_test_score"] = mean_scores(scores)
    with np.errstate(invalid="ignore"):  # strengths that a limit left out have no spread
        table["std_test_score"] = _on_scored(scores).std(axis=-1)
    order = np.argsort(-table["mean_test_score"], kind="stable")
    table["rank_test_score"] = np.argsort(order) + 1
    table["mean_fit_time"] = seconds.mean(axis=1)
    return table


def mean_scores(scores: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return means over the folds (last) that have samples to score on."""
    return np.asarray(_on_scored(scores).mean(axis=-1))


def _on_scored(scores: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the scores on the folds (last) that have samples to score on."""
    scored = ~np.isnan(scores).reshape(-1, scores.shape[-1]).all(axis=0)
    if not scored.any():
        raise ValueError("No fold holds out samples with positive weight to score on.")
    return scores[..., scored]


def _best_place(mean: NDArray[np.float64]) -> tuple[int, int]:
    """Return (ratio, place) of the best mean score, the strongest penalty among equals."""
    top = np.nanmax(mean)
    near = mean >= top - _EQUAL_SCORES * max(1.0, abs(float(top)))
    place = int(np.argmax(near.any(axis=0)))
    return int(np.argmax(near[:, place])), place
