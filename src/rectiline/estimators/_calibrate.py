"""Probabilities of classifiers on rows in blocks: a curve through decisions on left-out folds."""

from __future__ import annotations

import copy
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.calibration import CalibratedClassifierCV

from rectiline._typing import Matrix
from rectiline.estimators._rows import refuse_on_rows, with_targets
from rectiline.estimators._run import RunOptions, solve_in_passes
from rectiline.estimators._scores import predictions
from rectiline.estimators._search_rows import rows_of_folds, without_fold
from rectiline.estimators._tasks import FitData
from rectiline.rows import Block, TensorRows


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
