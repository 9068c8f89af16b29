"""Score what a fold holds out: quickly for the default, through scikit-learn for the rest."""

from __future__ import annotations

import copy
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.metrics import check_scoring, r2_score
from sklearn.metrics._scorer import _BaseScorer

from rectiline.estimators._classes import first_largest
from rectiline.estimators._search import ScoreFold

Vector = NDArray[np.float64]

__all__ = ["accuracy_of", "r2_of", "scorer_of"]


def accuracy_of(X: Any, places: NDArray[np.intp], weight: Vector) -> ScoreFold:
    """Return the weighted accuracy of two-class or one-vs-rest decisions."""

    def score(test: NDArray[np.intp], coef: NDArray[np.float64], intercept: Vector) -> float:
        decisions = X[test] @ coef.T + intercept
        if decisions.shape[1] == 1:
            guess = (decisions[:, 0] > 0).astype(np.intp)
        else:
            guess = first_largest(decisions)
        return float(np.average(guess == places[test], weights=weight[test]))

    return score


def r2_of(X: Any, y: NDArray[Any], weight: Vector) -> ScoreFold:
    """Return the weighted R^2, averaged over outputs."""

    def score(test: NDArray[np.intp], coef: NDArray[np.float64], intercept: Vector) -> float:
        predicted = X[test] @ coef.T + intercept
        true = y[test].reshape(test.size, -1)
        return float(r2_score(true, predicted, sample_weight=weight[test]))

    return score


def scorer_of(
    estimator: Any,
    scoring: Any,
    X: Any,
    y: NDArray[Any],
    sample_weight: Vector | None,
    fitted: dict[str, Any],
    flat: bool,
) -> ScoreFold:
    """Return the score of a stand-in for the estimator, as `scoring` wants it.

    `fitted` are attributes that do not depend on the strength; `flat` says that one problem has
    a flat ``coef_``.
    """
    scorer = check_scoring(estimator, scoring=scoring)
    weighted = sample_weight is not None and isinstance(scorer, _BaseScorer)

    def score(test: NDArray[np.intp], coef: NDArray[np.float64], intercept: Vector) -> float:
        model = copy.copy(estimator)
        vars(model).pop("feature_names_in_", None)  # the folds are plain arrays
        vars(model).update(fitted)
        model.coef_ = coef[0] if flat else coef
        model.intercept_ = float(intercept[0]) if flat else intercept
        keywords = {"sample_weight": sample_weight[test]} if weighted else {}  # type: ignore[index]
        return float(scorer(model, X[test], y[test], **keywords))

    return score
