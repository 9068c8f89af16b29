"""Choosing C: the grid, the winner, and the fit with it."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rectiline.estimators._run import RunOptions, solve_all
from rectiline.estimators._search import (
    MakeProblem,
    RoutesToSplitter,
    Search,
    grid_values,
    scaled,
)
from rectiline.solvers import Solution

__all__ = ["ChoosesC"]


class ChoosesC(RoutesToSplitter):
    """What `PLQClassifierCV` and `PLQRegressorCV` share.

    Paths run at ``C = 1`` and strength s; that is the objective at ``C = 1/s`` divided by C.
    """

    Cs: Any
    l1_ratios: Any
    penalty: Any
    _penalty: Any

    def _ratios(self) -> list[float | None]:
        if not isinstance(self.penalty, str) or self.penalty != "elasticnet":
            return [None]
        return [0.5] if self.l1_ratios is None else [float(one) for one in self.l1_ratios]

    def _grids(self, make: MakeProblem, n_tasks: int) -> list[NDArray[np.float64]]:
        """Return the strengths to try for each mix, from large to small."""
        return [self._grid(make, ratio, n_tasks) for ratio in self._ratios()]

    def _grid(self, make: MakeProblem, ratio: float | None, n_tasks: int) -> NDArray[np.float64]:
        penalty = self._penalty(l1_ratio=ratio)
        if penalty is None or penalty.is_zero:
            raise ValueError(f"penalty={self.penalty!r}: there is no strength to choose.")
        problems = (make(task, ratio, None, 1.0) for task in range(n_tasks))
        strengths, values = grid_values(self.Cs, problems, "Cs")
        if strengths is not None:
            return strengths
        assert values is not None
        return np.asarray(penalty.strength / np.sort(values))

    def _choose(self, search: Search) -> list[Solution]:
        """Run the search, note what was chosen, and solve the chosen problems."""
        chosen = search.run()
        penalty = self._penalty(l1_ratio=chosen.l1_ratio)
        self.C_ = float(penalty.strength / chosen.strength)
        self.l1_ratio_ = chosen.l1_ratio
        self.Cs_ = penalty.strength / chosen.strengths
        self.path_ = chosen.paths[0] if len(chosen.paths) == 1 else chosen.paths
        table = dict(chosen.results)
        self.cv_results_ = {"param_C": penalty.strength / table.pop("strength"), **table}
        makers = [
            lambda t=t: search.make(t, chosen.l1_ratio, None, self.C_)
            for t in range(search.n_tasks)
        ]
        warm = [scaled(one, self.C_) for one in chosen.solutions]
        return solve_all(makers, replace(RunOptions.of(self), time_limit=None), warm)
