"""Score what a fold holds out: quickly for the default, through scikit-learn for the rest."""

from __future__ import annotations

import copy
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.metrics import check_scoring
from sklearn.metrics._scorer import _BaseScorer

from rectiline.estimators._classes import first_largest
from rectiline.estimators._search_folds import ScoreFold, ScorePoints
from rectiline.solvers import one_thread

Vector = NDArray[np.float64]

__all__ = ["accuracy_of", "predictions", "r2_of", "rows_of", "scorer_of"]


def accuracy_of(X: Any, places: NDArray[np.intp], weight: Vector) -> ScoreFold:
    """Return the weighted accuracy of two-class or one-vs-rest decisions."""

    def on(test: NDArray[np.intp]) -> ScorePoints:
        part, true, share = rows_of(X, test), places[test], _shares(weight[test])

        def score(coefs: NDArray[np.float64], intercepts: NDArray[np.float64]) -> Vector:
            decisions = predictions(part, coefs, intercepts)
            if decisions.shape[2] == 1:
                right = (decisions[:, :, 0] > 0) == true[:, None].astype(bool)
            else:
                right = first_largest(decisions) == true[:, None]
            return np.asarray(share @ right)

        return score

    return on


def r2_of(X: Any, y: NDArray[np.float64], weight: Vector) -> ScoreFold:
    """Return the weighted R^2, averaged over outputs, as scikit-learn's `r2_score` does."""

    def on(test: NDArray[np.intp]) -> ScorePoints:
        part, share = rows_of(X, test), _shares(weight[test])
        true = y[test].reshape(test.size, -1)
        spread = share @ (true - share @ true) ** 2
        constant = spread == 0

        def score(coefs: NDArray[np.float64], intercepts: NDArray[np.float64]) -> Vector:
            errors = predictions(part, coefs, intercepts)
            errors -= true[:, None, :]
            missed = np.tensordot(share, np.square(errors, out=errors), 1)
            # Targets that do not vary are explained entirely or not at all.
            ratio = missed / np.where(constant, 1.0, spread)
            return np.asarray(np.mean(1.0 - np.where(constant, missed > 0, ratio), axis=1))

        return score

    return on


def rows_of(X: Any, test: NDArray[np.intp]) -> Any:
    """Return rows of X, those side by side without a copy."""
    side_by_side = test.size > 0 and test[-1] - test[0] == test.size - 1
    if side_by_side and bool((np.diff(test) == 1).all()):
        return X[int(test[0]) : int(test[-1]) + 1]
    return X[test]


def predictions(
    X: Any, coefs: NDArray[np.float64], intercepts: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Return the predictions of several models, shaped (samples, models, tasks)."""
    k, tasks, d = coefs.shape
    with one_thread:  # threads would wait for each other longer than such a product takes
        predicted = np.asarray(X @ coefs.reshape(k * tasks, d).T).reshape(-1, k, tasks)
    predicted += intercepts
    return predicted


def _shares(weight: Vector) -> Vector:
    """Return weights that sum to one; not a number if there is no weight to score with."""
    total = float(weight.sum())
    return weight / total if total > 0 else np.full(weight.size, np.nan)


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

    def on(test: NDArray[np.intp]) -> ScorePoints:
        part, true = X[test], y[test]
        keywords = {"sample_weight": sample_weight[test]} if weighted else {}  # type: ignore[index]

        def one(coef: NDArray[np.float64], intercept: Vector) -> float:
            model = copy.copy(estimator)
            vars(model).pop("feature_names_in_", None)  # the folds are plain arrays
            vars(model).update(fitted)
            model.coef_ = coef[0] if flat else coef
            model.intercept_ = float(intercept[0]) if flat else intercept
            return float(scorer(model, part, true, **keywords))

        return lambda coefs, intercepts: np.array([one(*m) for m in zip(coefs, intercepts)])

    return on
