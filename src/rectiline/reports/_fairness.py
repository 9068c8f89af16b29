"""`FairnessDisplay`: accuracy against the tolerance of a fairness constraint."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import clone

from rectiline.constraints import DemographicParity, EqualOpportunity, Fairness
from rectiline.reports._plots import Display

_FORMS: dict[str, Any] = {
    "covariance": Fairness,
    "demographic_parity": DemographicParity,
    "equal_opportunity": EqualOpportunity,
}


@dataclass(eq=False, repr=False)
class FairnessDisplay(Display):
    """Score, and the largest difference of mean decisions between groups, against the tolerance.

    Parameters
    ----------
    tolerances : ndarray of shape (k,)
    scores : ndarray of shape (k,)
    differences : ndarray of shape (k,)
        Largest difference of the groups' mean decisions on the data that were scored.

    Attributes
    ----------
    ax_ : matplotlib.axes.Axes
    figure_ : matplotlib.figure.Figure
    lines_ : list of matplotlib.lines.Line2D

    Examples
    --------
    >>> import rectiline as rl
    >>> people = rl.datasets.load_adult_sample()
    >>> display = rl.reports.FairnessDisplay.from_estimator(
    ...     rl.PLQClassifier(), people.data, people.target, people.male, tolerances=[0.0, 1.0]
    ... )
    >>> bool(display.differences[0] < display.differences[1])
    True
    """

    tolerances: NDArray[np.float64]
    scores: NDArray[np.float64]
    differences: NDArray[np.float64]

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        X: Any,
        y: ArrayLike,
        sensitive_features: Any,
        *,
        tolerances: Sequence[float] | None = None,
        form: str = "covariance",
        X_test: Any = None,
        y_test: ArrayLike | None = None,
        sensitive_test: Any = None,
        ax: Any = None,
        **style: Any,
    ) -> FairnessDisplay:
        """Fit a classifier at several tolerances and draw what comes out.

        Parameters
        ----------
        estimator : PLQClassifier
            It is cloned, and the fairness constraint is added to its constraints.
        X, y, sensitive_features
            Training data.
        tolerances : sequence of float, optional
            Eight values up to the covariance (or difference) of the unconstrained fit by default.
        form : {"covariance", "demographic_parity", "equal_opportunity"}, default="covariance"
        X_test, y_test, sensitive_test : optional
            Data to score on; the training data by default.
        ax : matplotlib.axes.Axes, optional
        **style
            For `matplotlib.axes.Axes.plot`.
        """
        if form not in _FORMS:
            raise ValueError(f"form={form!r}: must be one of {', '.join(map(repr, _FORMS))}.")
        if X_test is None:
            X_test, y_test, sensitive_test = X, y, sensitive_features
        own = estimator.constraints
        listed = list(own) if isinstance(own, list | tuple) else [own]
        if tolerances is None:
            free = clone(estimator).fit(X, y, sensitive_features=sensitive_features)
            top = _largest(free.fairness_, form)
            grid = np.geomspace(max(top, 1e-12), 1e-3 * max(top, 1e-12), 8)
        else:
            grid = np.asarray(tolerances, dtype=np.float64)
        scores, differences = [], []
        for tolerance in grid:
            fair = clone(estimator).set_params(
                constraints=[*listed, _FORMS[form](tolerance=float(tolerance))]
            )
            fair.fit(X, y, sensitive_features=sensitive_features)
            scores.append(fair.score(X_test, y_test))
            differences.append(_difference(fair.decision_function(X_test), sensitive_test))
        made = cls(grid, np.array(scores), np.array(differences))
        return made.plot(ax=ax, **style)

    def _draw(self, ax: Any, **style: Any) -> None:
        look = {"marker": "o", **style}
        self.lines_ = ax.plot(self.tolerances, self.scores, **{"label": "accuracy", **look})
        other = ax.twinx()
        self.lines_ += other.plot(
            self.tolerances, self.differences, **{"label": "difference", "color": "C1", **look}
        )
        ax.set(xscale="log", xlabel="tolerance", ylabel="accuracy")
        other.set_ylabel("largest difference of mean decisions")
        ax.legend(handles=self.lines_)


def _largest(table: dict[str, NDArray[Any]], form: str) -> float:
    if form == "covariance":
        return float(np.max(np.abs(table["covariance"])))
    name = "mean_decision" if form == "demographic_parity" else "mean_decision_of_positives"
    return max(
        float(np.ptp(table[name][table["column"] == column], axis=0).max())
        for column in np.unique(table["column"])
    )


def _difference(decisions: NDArray[Any], sensitive: Any) -> float:
    columns = np.asarray(sensitive).reshape(decisions.shape[0], -1)
    worst = 0.0
    for column in columns.T:
        means = [decisions[column == group].mean(axis=0) for group in np.unique(column)]
        worst = max(worst, float(np.ptp(means, axis=0).max()))
    return worst
