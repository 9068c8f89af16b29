"""Classification with the strength chosen by cross-validation."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import _fit_context

from rectiline.estimators._check import check_data, check_design, check_weight
from rectiline.estimators._chooses_c import ChoosesC
from rectiline.estimators._classes import (
    TwoClassTask,
    class_weights,
    find_classes,
    two_class_tasks,
)
from rectiline.estimators._classifier import PLQClassifier
from rectiline.estimators._docs import documented
from rectiline.estimators._fairness import FairnessData, is_fairness
from rectiline.estimators._fitted import store_solutions
from rectiline.estimators._parameters import GRID, make_loss
from rectiline.estimators._run import RunOptions
from rectiline.estimators._scoring import accuracy_of, scorer_of
from rectiline.estimators._search import Search
from rectiline.estimators._state import keep_parameters, restored_on_failure
from rectiline.losses import Loss
from rectiline.penalties import Penalty
from rectiline.problems import Problem

__all__ = ["PLQClassifierCV"]


@documented()
class PLQClassifierCV(ChoosesC, PLQClassifier):
    """`PLQClassifier` with C, and the mix of an elastic net, chosen by cross-validation.

    Every fold follows a warm-started path from the strongest penalty down, in parallel threads
    that share X; then the path is solved on all the data. Every point of it has a certificate.

    Parameters
    ----------
    Cs : int or array-like, default=30
        Values of C to try, or how many: then from the largest C that gives all-zero coefficients
        (computed exactly for norm penalties) up; see `rectiline.paths.default_strengths`.
    l1_ratios : array-like, optional
        Mixes to try with ``penalty="elasticnet"``; 0.5 by default.
    loss : str or Loss, default="hinge"
        As for `PLQClassifier`.
    {loss_params}
    {penalty}
    {constraints}
    class_weight : dict or "balanced", optional
        Factors on the sample weights of each class.
    multi_class : {"ovr", "ovo"}, default="ovr"
        How more than two classes become two-class problems.
    {cv}
    {fit_intercept}
    {running}

    Attributes
    ----------
    C_ : float
        The chosen C.
    l1_ratio_ : float or None
        The chosen mix.
    Cs_ : ndarray
        The values of C of ``path_``.
    classes_ : ndarray of shape (n_classes,)
        Labels with positive sample weight.
    coef_ : ndarray of shape (1, n_features) or (n_problems, n_features)
    intercept_ : ndarray of shape (1,) or (n_problems,)
    path_ : Path or tuple of Path
        All strengths on all the data, for the chosen mix.
    cv_results_ : dict of ndarray
        One entry per point of the grid: ``param_C``, scores of the folds, their mean and rank.
    {proof}

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from rectiline.estimators import PLQClassifierCV
    >>> X, y = load_iris(return_X_y=True)
    >>> model = PLQClassifierCV(Cs=[0.1, 1, 10]).fit(X, y)
    >>> model.cv_results_["param_C"], model.score(X, y) > 0.9
    (array([ 0.1,  1. , 10. ]), True)
    """

    _parameter_constraints: dict[str, list[Any]] = {
        **{
            name: rule
            for name, rule in PLQClassifier._parameter_constraints.items()
            if name not in ("C", "l1_ratio")
        },
        **GRID,
    }

    def __init__(
        self,
        Cs: Any = 30,
        *,
        l1_ratios: Any = None,
        loss: str | Loss = "hinge",
        loss_params: dict[str, Any] | None = None,
        penalty: str | Penalty = "l2",
        penalty_params: dict[str, Any] | None = None,
        constraints: Any = (),
        monotone: dict[Any, int] | None = None,
        order: Any = None,
        class_weight: Any = None,
        multi_class: str = "ovr",
        cv: Any = None,
        scoring: Any = None,
        fit_intercept: bool = True,
        solver: str = "auto",
        solver_options: dict[str, Any] | None = None,
        tol: float = 1e-6,
        max_iter: int | None = None,
        time_limit: float | None = None,
        warm_start: bool = False,
        n_jobs: int | None = None,
        random_state: Any = None,
        verbose: int = 0,
        callback: Any = None,
    ) -> None:
        keep_parameters(self, locals())

    @_fit_context(prefer_skip_nested_validation=True)  # type: ignore[untyped-decorator]
    def fit(
        self,
        X: Any,
        y: ArrayLike,
        sample_weight: ArrayLike | None = None,
        sensitive_features: Any = None,
        **params: Any,
    ) -> PLQClassifierCV:
        """Choose C on folds and fit on all the data.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
        y : array-like of shape (n_samples,)
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
            return self._fit_cv(X, y, sample_weight, sensitive_features, params)

    def _fit_cv(
        self, X: Any, y: Any, sample_weight: Any, sensitive: Any, params: dict[str, Any]
    ) -> PLQClassifierCV:
        loss = make_loss(self.loss, self.loss_params, of=("margin", "residual"))
        X, y = check_data(self, X, y, numeric_y=False, multi_output=False)
        weight = check_weight(sample_weight, X)
        classes, places = find_classes(y, weight)
        losses_weight = class_weights(self.class_weight, classes, places, weight)
        groups = FairnessData.read(sensitive, X.shape[0])
        constraints = self._listed_constraints()
        tasks = two_class_tasks(places, classes.size, self.multi_class)
        pairs = tasks[0].samples is not None
        if pairs and any(map(is_fairness, constraints)):
            raise ValueError("Fairness constraints need multi_class='ovr'; got 'ovo'.")
        design = check_design(X)

        def make(
            task: int, ratio: float | None, keep: NDArray[np.bool_] | None, factor: float
        ) -> Problem:
            one, used = _widened(tasks[task], losses_weight)
            used = factor * (used if keep is None else np.where(keep, used, 0.0))
            penalty = self._penalty(l1_ratio=ratio)
            return self._problem(one, design, loss, penalty, constraints, used, groups, keep)

        if self.scoring is None and not pairs:
            score = accuracy_of(X, places, weight)
        else:
            given = None if sample_weight is None else weight
            score = scorer_of(self, self.scoring, X, y, given, {"classes_": classes}, False)
        search = Search(
            n_samples=X.shape[0],
            n_tasks=len(tasks),
            make=make,
            score=score,
            folds=self._folds(X, y, params, classifier=True),
            l1_ratios=self._ratios(),
            strengths=self._grids(make, len(tasks)),
            options=RunOptions.of(self),
        )
        solutions = self._choose(search)
        store_solutions(self, solutions, rows=True)
        self.classes_ = classes
        self._set_fairness(X, groups, tasks)
        return self


def _widened(
    task: TwoClassTask, weight: NDArray[np.float64]
) -> tuple[TwoClassTask, NDArray[np.float64]]:
    """Return a pair's task over all samples, those of other classes with weight zero."""
    if task.samples is None:
        return task, weight
    targets, used = np.full(weight.size, -1.0), np.zeros(weight.size)
    targets[task.samples] = task.targets
    used[task.samples] = weight[task.samples]
    return TwoClassTask(targets), used
