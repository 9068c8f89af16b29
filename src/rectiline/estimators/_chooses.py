"""Base classes of the CV estimators: make a grid, search it, fit with the chosen strength."""

from __future__ import annotations

import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from contextlib import closing
from dataclasses import replace
from functools import cache
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from rectiline._polling import Clock, asked_at_checkpoints
from rectiline.estimators._adaptive import adapted, is_adaptive
from rectiline.estimators._callbacks import FitReport
from rectiline.estimators._row_fits import RowsData
from rectiline.estimators._run import RunOptions, solve_all
from rectiline.estimators._search import (
    OTHER_PARTS,
    Chosen,
    MakeProblem,
    RoutesToSplitter,
    ScoreFold,
    Search,
    grid_values,
)
from rectiline.estimators._search_rows import search_rows
from rectiline.estimators._state import restored_on_failure
from rectiline.estimators._typed import checked_fit
from rectiline.penalties import Fused
from rectiline.problems import Problem
from rectiline.solvers import Solution

Vector = NDArray[np.float64]

__all__ = ["ChoosesC", "ChoosesStrength"]


class ChoosesStrength(RoutesToSplitter, ABC):
    """What the three CV estimators share: search, then solve what was chosen."""

    fold_tol: float | None
    time_limit: float | None

    @abstractmethod
    def _ratios(self) -> list[float | None]:
        """Return the mixes to try."""

    @abstractmethod
    def _grid(self, make: MakeProblem, ratio: float | None, n_tasks: int) -> Vector:
        """Return the strengths to try for one mix, from large to small."""

    def _choose(
        self,
        X: Any,
        y: Any,
        n_tasks: int,
        make: MakeProblem,
        score: ScoreFold,
        params: dict[str, Any],
        began: float,
    ) -> Chosen:
        """Search the grid; the paths on all the data are part of the result.

        The time limit counts from `began`.
        """
        folds = self._folds(X, y, params)
        ratios = self._ratios()
        report = FitReport(self, n_tasks * (len(ratios) * len(folds) + 1), X, y, kind="path")
        limit: float | None = self.time_limit
        share = None if limit is None else limit / (len(ratios) * len(folds) + OTHER_PARTS)
        with asked_at_checkpoints(Clock.with_grace(share)):
            strengths = [self._grid(make, ratio, n_tasks) for ratio in ratios]
        search = Search(
            n_samples=X.shape[0],
            n_tasks=n_tasks,
            make=make,
            score=score,
            folds=folds,
            l1_ratios=ratios,
            strengths=strengths,
            options=RunOptions.of(self).since(began),
            fold_tol=self.fold_tol,
            report=report,
        )
        with closing(report):
            chosen = search.run()
        report.end()
        self.l1_ratio_ = chosen.l1_ratio
        paths = tuple(one.without_duals() for one in chosen.paths)
        self.path_ = paths[0] if len(paths) == 1 else paths
        return chosen

    def _solve_chosen(
        self, chosen: Chosen, makers: Sequence[Callable[[], Problem]], factor: float, began: float
    ) -> list[Solution]:
        """Solve the chosen problems, whose losses weigh `factor` times as much as on the path.

        The points of the path are the starts; what is left is to finish them.
        """
        options = RunOptions.of(self).since(began)
        starts = [replace(one, dual=one.dual.scaled(factor)) for one in chosen.solutions]
        return solve_all(makers, options, starts)


class ChoosesC(ChoosesStrength):
    """What `PLQClassifierCV` and `PLQRegressorCV` share.

    Paths run at ``C = 1`` and strength s; that is the objective at ``C = 1/s`` divided by C.
    """

    Cs: Any
    C_: Any
    l1_ratios: Any
    penalty: Any
    _penalty: Any
    _read_any: Any
    _state_certificates_in: Any
    _problem: Any
    _makers: Any
    _keep: Any

    @checked_fit
    def fit(
        self,
        X: Any,
        y: ArrayLike | None = None,
        sample_weight: ArrayLike | None = None,
        sensitive_features: Any = None,
        **params: Any,
    ) -> Self:
        """Choose C on folds and fit on all the data.

        Parameters
        ----------
        X : array-like, sparse matrix of shape (n_samples, n_features), or source of rows
            Rows in blocks, see `rectiline.rows`, are put into folds by a hash of their number;
            `cv` is the number of folds then, and `scoring` a name such as
            "neg_mean_absolute_error" whose sums over rows can be added up.
        y : array-like of shape (n_samples,), or (n_samples, n_outputs) for a regression
            None for rows that hold their own targets.
        sample_weight : array-like of shape (n_samples,), optional
            Non-negative weights, of losses and of scores.
        sensitive_features : array-like of shape (n_samples,) or (n_samples, k), optional
            What fairness constraints without columns of their own are about.
        **params
            ``groups`` for the splitter, and what metadata routing sends there.

        Returns
        -------
        self
        """
        with restored_on_failure(self):
            began = time.perf_counter()
            data = self._read_any(X, y, sample_weight, sensitive_features)
            if isinstance(data, RowsData):
                return self._fit_rows(data, search_rows(self, data, params, began))

            def on(
                task: int, ratio: float | None, keep: NDArray[np.bool_] | None = None
            ) -> Problem:
                penalty = self._penalty(l1_ratio=ratio)
                return adapted(self, self._problem(data, data.tasks[task], penalty, keep))

            on_all = cache(on)

            def make(task: int, ratio: float | None, keep: NDArray[np.bool_] | None) -> Problem:
                whole = on_all(task, ratio)
                if keep is None:
                    return whole
                looks_at_samples = data.constraints or is_adaptive(self)
                if looks_at_samples or whole.n_samples != keep.size:
                    return on(task, ratio, keep)
                return whole.with_sample_weight(np.where(keep, whole.weight, 0.0))

            score = self._score_of(data, None if sample_weight is None else data.weight)
            chosen = self._choose(data.X, data.y, len(data.tasks), make, score, params, began)
            C = self._note_C(chosen)
            makers = self._makers(data, self._penalty(l1_ratio=chosen.l1_ratio), C)
            fitted: Self = self._keep(data, self._solve_chosen(chosen, makers, C, began))
            return fitted

    def _fit_rows(self, data: RowsData, chosen: Chosen) -> Self:
        """Keep what a search on rows in blocks has found."""
        self.l1_ratio_ = chosen.l1_ratio
        paths = tuple(one.without_duals() for one in chosen.paths)
        self.path_ = paths[0] if len(paths) == 1 else paths
        each = [self._note_C(chosen)] * len(data.tasks)
        fitted: Self = self._keep(replace(data, C=each), list(chosen.solutions))
        self._state_certificates_in(*each)
        return fitted

    @abstractmethod
    def _score_of(self, data: Any, sample_weight: Vector | None) -> ScoreFold:
        """Return how to score; `sample_weight` are the weights if there were any."""

    def _ratios(self) -> list[float | None]:
        if self.penalty not in ("elasticnet", "sparse_group"):  # an object is equal to no name
            return [None]
        return [0.5] if self.l1_ratios is None else [float(one) for one in self.l1_ratios]

    def _grid(self, make: MakeProblem, ratio: float | None, n_tasks: int) -> Vector:
        penalty = self._penalty(l1_ratio=ratio)
        if isinstance(penalty, Fused):
            raise ValueError(
                f"{type(self).__name__} has no path for Fused: search its strength with "
                "GridSearchCV over C."
            )
        if penalty is None or penalty.is_zero:
            raise ValueError(f"penalty={self.penalty!r}: there is no strength to choose.")
        problems = (make(task, ratio, None) for task in range(n_tasks))
        strengths, values = grid_values(self.Cs, problems, "Cs")
        if strengths is not None:
            return strengths
        assert values is not None
        return np.asarray(penalty.strength / np.sort(values))

    def _note_C(self, chosen: Chosen) -> float:
        """Set what the search found in terms of C; return the chosen C."""
        unit = self._penalty(l1_ratio=chosen.l1_ratio).strength
        C = self.C_ = float(unit / chosen.strength)
        self.Cs_ = unit / chosen.strengths
        table = dict(chosen.results)
        self.cv_results_ = {"param_C": unit / table.pop("strength"), **table}
        return C
