"""Any loss as a scorer for scikit-learn's model selection."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from sklearn.metrics import make_scorer as _sklearn_make_scorer

from rectiline.losses import Loss, get

__all__ = ["make_scorer"]


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
    return _sklearn_make_scorer(
        _MeanLoss(made, None if labels is None else tuple(labels)),
        greater_is_better=False,
        response_method=method,
    )
