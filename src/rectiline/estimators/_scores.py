"""Scores of the models of a search on rows that they have not seen, and losses as scorers."""

from __future__ import annotations

import copy
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.metrics import check_scoring
from sklearn.metrics import make_scorer as _sklearn_make_scorer
from sklearn.metrics._scorer import _BaseScorer

from rectiline._typing import Indices, Matrix, Vector
from rectiline.estimators._tasks import FitData, first_largest
from rectiline.losses import Loss, get
from rectiline.problems.intercepts import best_intercept
from rectiline.solvers import one_thread

# (test samples, coefficients (k, tasks, d), intercepts (k, tasks)) -> k scores
ScoreFold = Callable[[Indices, NDArray[np.float64], NDArray[np.float64]], Vector]

_MOST_PREDICTIONS = 4_000_000  # made at once


@dataclass(frozen=True, eq=False)
class SummedScore:
    """A score made of sums over rows, so that rows may come in parts.

    Models are compared with the best constant prediction, which misses `constant`: wrong labels
    are compared with all labels.

    Attributes
    ----------
    name : str
        "r2" for shares of what the constant misses, also of labels and of losses; or a name of
        scikit-learn for mean errors.
    losses : tuple of Loss
        What quantiles miss by, one loss for each; regressions miss by powers of errors.
    classes : ndarray or None
        Labels, of which models predict one.
    """

    name: str = "r2"
    losses: tuple[Loss, ...] = ()
    classes: NDArray[Any] | None = None

    def constant(self, y: NDArray[Any], weight: Vector) -> Matrix:
        """Return weight, mean target, and what the best constant misses, (3, outputs)."""
        total = float(weight.sum())
        if not total > 0 or self.classes is not None:
            return np.array([[total], [0.0], [total]])
        if self.losses:
            best = [best_intercept(loss, y, weight) for loss in self.losses]
            pairs = zip(self.losses, best, strict=True)
            least = [float(np.sum(loss.value(y, at, weight))) for loss, at in pairs]
            return np.array([np.full(len(best), total), best, least])
        targets = np.asarray(y, dtype=np.float64).reshape(len(y), -1)
        mean = np.average(targets, axis=0, weights=weight)
        return np.array([np.full(mean.size, total), mean, weight @ (targets - mean) ** 2])

    def missed(self, found: NDArray[Any], y: NDArray[Any], weight: Vector) -> Matrix:
        """Return what predictions (samples, models, outputs) miss, (models, outputs)."""
        if self.classes is not None:
            is_binary = found.shape[2] == 1
            place = (found[:, :, 0] > 0).astype(int) if is_binary else first_largest(found)
            return np.asarray(weight @ (self.classes[place] != y[:, None]))[:, None]
        if self.losses:
            pairs = [zip(self.losses, model, strict=True) for model in found.transpose(1, 2, 0)]
            return np.array([[loss.value(y, z, weight).sum() for loss, z in one] for one in pairs])
        errors = found - np.asarray(y, dtype=np.float64).reshape(len(y), 1, -1)
        power = 1 if self.name == "neg_mean_absolute_error" else 2
        return np.asarray(np.tensordot(weight, np.abs(errors) ** power, 1))

    def value(self, constant: Matrix, missed: Matrix) -> Vector:
        """Return the scores of models, the mean over outputs; NaN where rows have no weight."""
        weight, _, least = constant
        if not (weight > 0).all():
            return np.full(len(missed), np.nan)
        if self.name == "r2":
            # Targets that do not vary are explained entirely or not at all.
            ratio = missed / np.where(least > 0, least, 1.0)
            return np.asarray(np.mean(1.0 - np.where(least > 0, ratio, missed > 0), axis=1))
        mean = np.mean(missed / weight, axis=1)
        return np.asarray(-np.sqrt(mean) if "root" in self.name else -mean)

    def on_folds(self, X: Any, y: NDArray[Any], weight: Vector) -> ScoreFold:
        """Return how to score on the test samples of folds of arrays."""

        def score(test: Indices, coefs: Matrix, intercepts: Matrix) -> Vector:
            part, true, w = X[test], y[test], weight[test]
            at_once = max(1, _MOST_PREDICTIONS // max(test.size * coefs.shape[1], 1))
            some = [slice(first, first + at_once) for first in range(0, len(coefs), at_once)]
            found = (predictions(part, coefs[one], intercepts[one]) for one in some)
            missed = np.concatenate([self.missed(one, true, w) for one in found])
            return self.value(self.constant(true, w), missed)

        return score


def predictions(X: Any, coefs: Matrix, intercepts: Matrix) -> Matrix:
    """Return the predictions of several models, shaped (samples, models, tasks)."""
    k, tasks, d = coefs.shape
    with one_thread:  # threads would wait for each other longer than such a product takes
        predicted = np.asarray(X @ coefs.reshape(k * tasks, d).T).reshape(-1, k, tasks)
    predicted += intercepts
    return predicted


def scorer_of(model: Any, data: FitData) -> ScoreFold:
    """Return the score of a stand-in for the model, as its `scoring` wants it.

    Weights reach scorers of scikit-learn, which take them; a callable gets a model and the data.
    """
    scorer = check_scoring(model, scoring=model.scoring)
    weighted = data.is_weighted and isinstance(scorer, _BaseScorer)
    fitted = {} if data.classes is None else {"classes_": data.classes}
    flat = not model._has_coef_rows(data)

    def score(test: Indices, coefs: Matrix, intercepts: Matrix) -> Vector:
        part, true, scores = data.X[test], data.y[test], []
        keywords = {"sample_weight": data.weight[test]} if weighted else {}
        for coef, intercept in zip(coefs, intercepts, strict=True):
            stand_in = copy.copy(model)
            for name in ("feature_names_in_", "encoder_"):  # the folds are plain arrays
                vars(stand_in).pop(name, None)
            vars(stand_in).update(fitted)
            stand_in.coef_ = coef[0] if flat else coef
            stand_in.intercept_ = float(intercept[0]) if flat else intercept
            scores.append(float(scorer(stand_in, part, true, **keywords)))
        return np.array(scores)

    return score


@dataclass(frozen=True)
class _MeanLoss:
    """The weighted mean of a loss over the samples, a function that can be pickled."""

    loss: Loss
    labels: tuple[Any, Any] | None = None

    @property
    def __name__(self) -> str:
        return f"mean_{self.loss.name}"

    def __call__(
        self, y_true: ArrayLike, y_pred: ArrayLike, sample_weight: ArrayLike | None = None
    ) -> float:
        true, predicted = np.asarray(y_true), np.asarray(y_pred, dtype=np.float64)
        if predicted.shape != true.shape:
            raise ValueError(
                f"{self.loss!r} is scored on one prediction per target; y has shape {true.shape} "
                f"and the predictions {predicted.shape}."
            )
        if self.labels is not None:
            low, high = self.labels
            strange = ~((true == low) | (true == high))
            if strange.any():
                found = true[strange][:1].tolist()[0]
                raise ValueError(f"labels={self.labels!r}, but y holds {found!r}.")
            true = np.where(true == high, 1.0, -1.0)
        paid = self.loss.value(true, predicted)
        weight = None if sample_weight is None else np.asarray(sample_weight, dtype=np.float64)
        return float(np.average(paid, axis=0, weights=weight).mean())


def make_scorer(
    loss: str | Loss, *, labels: tuple[Any, Any] | None = None, **parameters: Any
) -> Any:
    """Make a scorer from a loss: minus its mean, so that larger is better.

    Parameters
    ----------
    loss : str or Loss
        A loss of the residual is scored on ``predict``, one of the margin on
        ``decision_function``.
    labels : tuple of two labels, optional
        For a loss of the margin: the negative and the positive label. By default they are those in
        the y that is scored, which must then hold both.
    **parameters
        Parameters of a loss given by name.

    Returns
    -------
    callable
        ``scorer(estimator, X, y, sample_weight=None)``, for ``scoring=`` of `GridSearchCV`,
        `cross_val_score` and the CV estimators.

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from sklearn.linear_model import LinearRegression
    >>> from sklearn.model_selection import cross_val_score
    >>> from rectiline.estimators import make_scorer
    >>> from rectiline.losses import Asymmetric
    >>> X, y = load_diabetes(return_X_y=True)
    >>> scorer = make_scorer(Asymmetric(over=1, under=4))
    >>> cross_val_score(LinearRegression(), X, y, scoring=scorer, cv=3).round(1)
    array([-118.6, -115.7, -100.3])
    """
    made = get(loss, **parameters)
    if labels is not None and made.of != "margin":
        raise ValueError(f"{made!r} is a loss of the {made.of}; it has no labels.")
    method = "decision_function" if made.of == "margin" else "predict"
    mean = _MeanLoss(made, None if labels is None else tuple(labels))
    return _sklearn_make_scorer(mean, greater_is_better=False, response_method=method)
