"""Choosing a strength: the grid, the winner, and the fit with it."""

from __future__ import annotations

import time
from abc import abstractmethod
from collections.abc import Callable
from dataclasses import replace
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from rectiline.estimators._callbacks import FitReport
from rectiline.estimators._run import RunOptions, solve_all
from rectiline.estimators._search import (
    Chosen,
    MakeProblem,
    RoutesToSplitter,
    ScoreFold,
    Search,
    grid_values,
)
from rectiline.problems import Problem
from rectiline.solvers import Solution

__all__ = ["ChoosesC", "ChoosesStrength"]


class ChoosesStrength(RoutesToSplitter):
    """What the three CV estimators share."""

    _grid_parameter: ClassVar[str]  # how the parameter with the values to try is called
    _value_name: ClassVar[str]  # and one such value

    @abstractmethod
    def _ratios(self) -> list[float | None]:
        """Return the mixes to try."""

    @abstractmethod
    def _values(self, ratio: float | None, strengths: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return what the user calls these strengths of a path; the inverse is the same."""

    @abstractmethod
    def _chosen_problem(self, task: int, chosen: Chosen) -> Problem:
        """Return the problem to solve with what was chosen."""

    def _grid(self, make: MakeProblem, ratio: float | None, n_tasks: int) -> NDArray[np.float64]:
        """Return the strengths to try for one mix, from large to small."""
        problems = (make(task, ratio, None) for task in range(n_tasks))
        given = getattr(self, self._grid_parameter)
        strengths, values = grid_values(given, problems, self._grid_parameter)
        if strengths is None:
            assert values is not None
            strengths = np.sort(self._values(ratio, values))[::-1].copy()
        return strengths

    def _choose(
        self,
        X: Any,
        y: Any,
        n_tasks: int,
        make: MakeProblem,
        score: ScoreFold,
        params: dict[str, Any],
        final: Callable[[int, Chosen], Problem],
        *,
        classifier: bool,
    ) -> list[Solution]:
        """Search, note what was chosen, and solve the chosen problems."""
        began = time.perf_counter()
        options = RunOptions.of(self)
        folds = self._folds(X, y, params, classifier=classifier)
        ratios = self._ratios()
        report = FitReport(self, n_tasks * (len(ratios) * len(folds) + 1), X, y, "path")
        chosen = Search(
            n_samples=X.shape[0],
            n_tasks=n_tasks,
            make=make,
            score=score,
            folds=folds,
            l1_ratios=ratios,
            strengths=[self._grid(make, ratio, n_tasks) for ratio in ratios],
            options=options,
            report=report,
        ).run()
        report.end()
        self._note(chosen)
        if options.time_limit is not None:
            left = options.time_limit - (time.perf_counter() - began)
            options = replace(options, time_limit=max(left, 1e-6))
        makers = [lambda t=t: final(t, chosen) for t in range(n_tasks)]  # type: ignore[misc]
        return solve_all(makers, options, chosen.solutions)
