"""Regression of many tasks that share a subspace."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import RegressorMixin
from sklearn.metrics import r2_score

from rectiline.estimators.multitask._inputs import flat_pair
from rectiline.estimators.multitask._model import MultiTaskModel


class MultiTaskRegressor(RegressorMixin, MultiTaskModel):  # type: ignore[misc]
    """Linear regression of several tasks whose coefficients share a subspace.

    Minimise over the coefficients ``u_t`` and intercepts ``b_t`` of all tasks ::

        sum_t (1/n_t) sum_i loss(y_ti, x_ti'u_t + b_t) + Omega([u_1 .. u_m])

    where Omega is ``beta |u|^2`` inside a subspace of dimension `shared_dim` that is chosen
    with the coefficients, and ``(alpha + beta) |u|^2`` outside of it
    (`rectiline.penalties.SharedSubspace`).

    Parameters
    ----------
    loss : str or Loss, default="squared_error"
        A loss of the residual, see `rectiline.losses`.
    {task_parameters}

    Attributes
    ----------
    {task_attributes}

    Examples
    --------
    >>> import numpy as np
    >>> from rectiline.estimators.multitask import MultiTaskRegressor
    >>> rng = np.random.default_rng(0)
    >>> X = rng.standard_normal((60, 5))
    >>> tasks = np.repeat(["a", "b", "c"], 20)
    >>> slopes = {"a": 1.0, "b": -2.0, "c": 0.5}
    >>> y = np.array([slopes[t] for t in tasks]) * (X[:, 0] + X[:, 1])
    >>> model = MultiTaskRegressor(alpha=1.0, beta=0.001).fit(X, y, tasks=tasks)
    >>> model.tasks_
    ['a', 'b', 'c']
    >>> float(model.score(X, y, tasks=tasks)) > 0.99
    True
    """

    _loss_kinds = ("residual", "prediction")

    def score(self, X: Any, y: Any, tasks: Any = None, sample_weight: Any = None) -> float:
        """Return the coefficient of determination R^2 of the predictions.

        Over all rows for stacked or listed tasks, averaged over the columns of a matrix y
        (entries that are NaN do not count).
        """
        found, y, weight = flat_pair(self.predict(X, tasks), y, sample_weight)
        scores = []
        for target, one in zip(y.reshape(len(y), -1).T, found.reshape(len(found), -1).T):
            present = ~np.isnan(target.astype(np.float64))
            share = None if weight is None else np.asarray(weight)[present]
            scores.append(r2_score(target[present], one[present], sample_weight=share))
        return float(np.mean(scores))
