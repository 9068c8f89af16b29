"""Classification in many tasks that share a subspace."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import ClassifierMixin
from sklearn.utils.multiclass import check_classification_targets

from rectiline._typing import Vector
from rectiline.estimators.multitask._inputs import TaskData, flat_pair
from rectiline.estimators.multitask._model import MultiTaskModel


class MultiTaskClassifier(ClassifierMixin, MultiTaskModel, loss="hinge"):  # type: ignore[misc]
    """Linear two-class models of several tasks whose coefficients share a subspace.

    The objective of `MultiTaskRegressor` with a loss of the margin. Multi-label data are tasks that
    share X: ``fit(X, Y)`` with one column of Y per label. A task may hold one class only.

    Parameters
    ----------
    loss : str or Loss, default="hinge"
        A loss of the margin, see `rectiline.losses`.
    {task_parameters}

    Attributes
    ----------
    classes_ : ndarray, or list of ndarray
        The labels, the larger one being positive; a list with one array per task if the tasks
        do not have the same two labels.
    {task_attributes}

    Examples
    --------
    >>> from sklearn.datasets import make_multilabel_classification
    >>> from rectiline.estimators.multitask import MultiTaskClassifier
    >>> X, Y = make_multilabel_classification(n_samples=100, n_classes=4, random_state=0)
    >>> model = MultiTaskClassifier(shared_dim=2, alpha=0.1, beta=0.01).fit(X, Y)
    >>> model.predict(X).shape
    (100, 4)
    """

    _loss_kinds = ("margin",)
    _numeric_targets = False

    def _targets(self, data: TaskData) -> list[NDArray[np.float64]]:
        """Learn the labels and return the targets as -1 and +1."""
        own = []
        for y in data.y:
            check_classification_targets(y)
            own.append(np.unique(y))
        worst = max(own, key=len)
        if worst.size > 2:
            raise ValueError(
                "Only binary classification is supported. The type of the target is multiclass: "
                f"{worst.size} classes in one task; give a task two at most."
            )
        union = np.unique(np.concatenate(own))
        is_shared = union.size <= 2
        self._labels = [union] * data.n_tasks if is_shared else own
        self.classes_: Any = union if is_shared else own
        return [np.where(y == k[-1], 1.0, -1.0) for y, k in zip(data.y, self._labels)]

    def decision_function(self, X: Any, tasks: Any = None) -> Any:
        """Return the scores; positive means the larger label.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features), or a list of them
        tasks : array-like of shape (n_samples,), optional

        Returns
        -------
        ndarray of shape (n_samples,) or (n_samples, n_tasks), or a list of vectors
        """
        return self._by_task(X, tasks, lambda scores, t: scores)

    def _prediction(self, scores: Vector, t: int) -> NDArray[Any]:
        """Return the larger label where a score is positive; there may be but one label."""
        return np.asarray(self._labels[t][np.where(scores > 0, -1, 0)])

    def score(self, X: Any, y: Any, tasks: Any = None, sample_weight: Any = None) -> float:
        """Return the share of rows that are labelled correctly.

        Over all rows and tasks, except after ``fit(X, Y)`` without missing entries, where it is the
        share of rows with every label correct, as scikit-learn has it for multi-label data.
        """
        found, y, weight = flat_pair(self.predict(X, tasks), y, sample_weight)
        right, present = found == y, y == y
        if right.ndim == 2:
            if not present.all():
                return float(right[present].mean())
            right = right.all(axis=1)
        return float(np.average(right, weights=weight))

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_class = False
        tags.classifier_tags.multi_label = True
        return tags
