"""Choose the strength of a penalty by cross-validation: what the CV estimators add to a fit."""

from __future__ import annotations

import os
from collections.abc import Iterable
from dataclasses import replace
from numbers import Real
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.model_selection import check_cv
from sklearn.utils.metadata_routing import (
    MetadataRouter,
    MethodMapping,
    _routing_enabled,
    process_routing,
)
from sklearn.utils.validation import check_is_fitted

from rectiline._polling import Clock
from rectiline._typing import Mask, Vector
from rectiline.estimators._base import BaseLinear
from rectiline.estimators._check import checked_fit
from rectiline.estimators._parameters import adapted
from rectiline.estimators._proofs import fold_statements, proved_again, save_fit
from rectiline.estimators._row_folds import RowSearch
from rectiline.estimators._run import RunOptions, solve_all
from rectiline.estimators._scores import ScoreFold, SummedScore, scorer_of
from rectiline.estimators._search_folds import FoldSearch, Search
from rectiline.estimators._tasks import FitData, Task
from rectiline.paths import default_strengths
from rectiline.penalties import Fused
from rectiline.problems import Problem
from rectiline.solvers import Solution

Folds = list[tuple[NDArray[np.intp], NDArray[np.intp]]]


class SearchMixin(BaseLinear):
    """Search a grid of strengths on folds, then solve what was chosen on all the data.

    A path runs from strong penalties to weak ones. What users choose is C, of which the strength s
    is ``penalty / C``: the objective at C is that of the path times C. Quantiles have `alpha`,
    the strength itself.
    """

    _searched: ClassVar[str] = "C"

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
        return self._fit(X, y, sample_weight, sensitive_features, **params)

    def _read(
        self,
        X: Any,
        y: Any,
        sample_weight: Any = None,
        sensitive_features: Any = None,
        **params: Any,
    ) -> FitData:
        unknown = sorted(set(params) - {"groups"})
        if unknown and not _routing_enabled():
            raise TypeError(
                f"{type(self).__name__}.fit takes groups for the splitter, and other metadata "
                f"only with metadata routing enabled; got {', '.join(unknown)}."
            )
        data: FitData = super()._read(X, y, sample_weight, sensitive_features)
        return replace(data, split_params=params)

    def _solve_tasks(self, data: FitData, clock: Clock) -> tuple[FitData, list[Solution]]:
        chosen = (FoldSearch if data.rows is None else RowSearch)(self, data, clock)
        chosen.run()
        data = self._note_choice(data, chosen)
        found = [one[chosen.place] for one in chosen.paths]
        if data.rows is not None:  # solved to the end already
            return data, found
        # The points of the path are the starts; what is left is to finish them.
        factor = data.tasks[0].C / self._path_factor(data.kept_weight())
        starts = [replace(one, dual=one.dual.scaled(factor)) for one in found]
        options = RunOptions.of(self, clock)
        return data, solve_all(self._problems(data), options, starts)

    def save_certificate(
        self,
        path: str | os.PathLike[str],
        X: Any,
        y: ArrayLike | None = None,
        sample_weight: ArrayLike | None = None,
        sensitive_features: Any = None,
        *,
        folds: bool = False,
        **params: Any,
    ) -> None:
        """Write the proof of the fit, and of its folds, to a file that ``rectiline verify`` checks.

        Parameters
        ----------
        path : str or path
            By convention with the ending ``.rlcert``.
        X, y : array-like, or rows in blocks and None
            The data of the fit. Names of a data frame and of a series are kept.
        sample_weight : array-like of shape (n_samples,), optional
            The weights of the fit.
        sensitive_features : array-like, optional
            As for `fit`.
        folds : bool, default=False
            Whether to prove the fits on the training part of every fold as well, at the chosen
            strength. They are solved again to the tolerance of the fit, in the units of ``path_``,
            and follow the problems of the fit. A splitter without a fixed random state
            gives other folds than those of the search.
        **params
            ``groups`` for the splitter, as for `fit`.
        """
        given = X, y, sample_weight, sensitive_features
        again = proved_again(self, "save_certificate", *given, **params)
        save_fit(path, again, y, fold_statements(again) if folds else ())

    # ---- the search -----------------------------------------------------------------------------

    def _path_problem(
        self, data: FitData, task: Task, ratio: float | None, keep: Mask | None = None
    ) -> Problem:
        """Return the problem of a path at its unit strength; samples not kept have no weight."""
        penalty = self._penalty(l1_ratio=ratio)
        factor = self._path_factor(data.kept_weight(keep))
        return adapted(self, self._problem(data, task, penalty, factor, keep))

    def _path_factor(self, weight: float) -> float:
        """Return what the losses of a path, on samples of this weight, are multiplied by."""
        return 1.0

    def _ratios(self) -> list[float | None]:
        """Return the mixes to try."""
        penalty = getattr(self, "penalty", "elasticnet")
        if penalty not in ("elasticnet", "sparse_group"):  # an object is equal to no name
            return [None]
        listed = [0.5] if self.l1_ratios is None else list(self.l1_ratios)
        if not listed or not all(isinstance(one, Real) and 0 <= float(one) <= 1 for one in listed):
            raise ValueError(f"l1_ratios={listed!r}: must list numbers from 0 to 1, at least one.")
        return [float(one) for one in listed]

    def _grid(self, ratio: float | None, problems: Iterable[Problem]) -> Vector:
        """Return the strengths to try for one mix, from large to small."""
        penalty = self._penalty(l1_ratio=ratio)
        if isinstance(penalty, Fused):
            raise ValueError(
                f"{type(self).__name__} has no path for Fused: search its strength with "
                "GridSearchCV over C."
            )
        if penalty is None or penalty.is_zero:
            raise ValueError(f"penalty={self.penalty!r}: there is no strength to choose.")
        name = f"{self._searched}s"
        given = getattr(self, name)
        if isinstance(given, int | np.integer) and not isinstance(given, bool):
            grids = [default_strengths(problem, int(given)) for problem in problems]
            return max(grids, key=lambda grid: float(grid[0]))
        values = np.array(given, dtype=np.float64, ndmin=1)
        if values.ndim != 1 or not values.size or not (np.isfinite(values) & (values > 0)).all():
            raise ValueError(
                f"{name}={given!r}: must be a count or a list of positive finite numbers."
            )
        return np.sort(self._exchanged(values, penalty.strength))[::-1].copy()

    def _exchanged(self, values: Any, unit: float) -> Any:
        """Return strengths from values of C, or the other way round."""
        return unit / values

    def _note_choice(self, data: FitData, chosen: Search) -> FitData:
        """Set what the search found; return the data with it."""
        self.l1_ratio_ = chosen.l1_ratio
        paths = tuple(one.without_duals() for one in chosen.paths)
        self.path_ = paths[0] if len(paths) == 1 else paths
        unit = self._penalty(l1_ratio=chosen.l1_ratio).strength
        name, table = self._searched, dict(chosen.results)
        best = float(self._exchanged(chosen.strengths[chosen.place], unit))
        setattr(self, f"{name}_", best)
        setattr(self, f"{name}s_", self._exchanged(chosen.strengths, unit))
        grid = self._exchanged(table.pop("strength"), unit)
        self.cv_results_ = {f"param_{name}": grid, **table}
        if name == "C":
            data = replace(data, tasks=[replace(task, C=best) for task in data.tasks])
        return data

    def _problems(self, data: FitData) -> Any:
        check_is_fitted(self, f"{self._searched}_")
        return super()._problems(data)

    # ---- scores and folds -----------------------------------------------------------------------

    def _score_of(self, data: FitData) -> ScoreFold:
        """Return how to score what a fold holds out."""
        score = None if self.scoring is not None else self._own_score(data)
        if score is None:
            return scorer_of(self, data)
        return score.on_folds(data.X, data.y, data.weight)

    def _own_score(self, data: FitData) -> SummedScore | None:
        """Return the estimator's own score, or None if only its method can tell."""
        return None if data.tasks[0].samples is not None else SummedScore(classes=data.classes)

    def get_metadata_routing(self) -> Any:
        """Return how metadata reach the fit and the splitter.

        Returns
        -------
        MetadataRouter
        """
        router = MetadataRouter(owner=type(self).__name__).add_self_request(self)
        return router.add(
            splitter=check_cv(self.cv),
            method_mapping=MethodMapping().add(caller="fit", callee="split"),
        )

    def _folds(self, data: FitData) -> Folds:
        params, is_labelled = data.split_params, data.classes is not None
        splitter = check_cv(self.cv, data.y, classifier=is_labelled)
        if _routing_enabled():
            params = process_routing(self, "fit", **params).splitter.split
        return list(splitter.split(data.X, data.y, **params))
