"""Plots of what fitted models do: fairness, terms of formulas, subspaces of tasks."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import KW_ONLY
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import clone

from rectiline.constraints import DemographicParity, EqualOpportunity, Fairness
from rectiline.reports._plots import Display, short

_FORMS: dict[str, Any] = {
    "covariance": Fairness,
    "demographic_parity": DemographicParity,
    "equal_opportunity": EqualOpportunity,
}


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
        **style
            As for `plot`: ``ax``, and how lines look.
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
        return cls(grid, np.array(scores), np.array(differences)).plot(**style)

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


class PartialEffectDisplay(Display):
    """The effect of one term against its variable, with pointwise intervals.

    Parameters
    ----------
    effect : PartialEffect
        What `FormulaModel.partial_effect` returns.
    labels : sequence of str, optional
        Legend entries, one for each quantile where there are several.

    Attributes
    ----------
    ax_ : matplotlib.axes.Axes
    figure_ : matplotlib.figure.Figure
    lines_ : list of matplotlib.lines.Line2D

    Examples
    --------
    >>> import numpy as np
    >>> import rectiline as rl
    >>> x = np.random.default_rng(0).uniform(0, 6, 200)
    >>> model = rl.formula("y ~ s(x)", {"x": x, "y": np.sin(x)}).fit(rl.PLQRegressor("huber"))
    >>> display = rl.reports.PartialEffectDisplay.from_formula(model, "s(x)", kind=None, grid=3)
    >>> display.effect.grid.round(1)
    array([0., 3., 6.])
    """

    effect: Any
    labels: Any = None

    @classmethod
    def from_formula(
        cls, model: Any, term: str, *, ax: Any = None, style: Any = None, **options: Any
    ) -> PartialEffectDisplay:
        """Draw a term of a fitted formula.

        Parameters
        ----------
        model : FormulaModel
        term : str
            As the formula has it, such as ``"s(x)"``.
        ax : matplotlib.axes.Axes, optional
        style : dict, optional
            For `matplotlib.axes.Axes.plot`.
        **options
            Options of `FormulaModel.partial_effect`: ``grid``, ``kind``, ``level``, ``n_boot``.
        """
        if not hasattr(model, "partial_effect"):
            raise TypeError(
                f"model must be a fitted formula, rl.formula(...).fit(...); got {model!r}."
            )
        effect = model.partial_effect(term, **options)
        levels = getattr(model.estimator, "quantiles_", None) if effect.value.ndim == 2 else None
        labels = None if levels is None else [f"quantile {level:g}" for level in levels]
        return cls(effect, labels).plot(ax=ax, **(style or {}))

    def _draw(self, ax: Any, **style: Any) -> None:
        effect, self.lines_ = self.effect, []
        rows = (np.atleast_2d(one) for one in (effect.value, effect.lower, effect.upper))
        for k, (value, lower, upper) in enumerate(zip(*rows, strict=True)):
            label = None if self.labels is None else short(self.labels[k])
            (line,) = ax.plot(effect.grid, value, label=label, **style)
            if np.isfinite(lower).any():
                ax.fill_between(effect.grid, lower, upper, alpha=0.2, color=line.get_color())
            self.lines_.append(line)
        ax.set(xlabel=effect.variable, ylabel=effect.term)
        if self.labels is not None:
            ax.legend()


_MOST_NAMES = 40  # more tasks or columns than this are drawn without their names


class SubspaceDisplay(Display):
    """The shared components as a picture, and the tasks as points in the shared subspace.

    Parameters
    ----------
    components : ndarray of shape (shared_dim, n_features)
        Orthonormal rows.
    tasks : ndarray of shape (n_tasks, shared_dim)
        Coordinates of each task.
    shares : ndarray of shape (n_tasks,)
        Share of each task's own squared length that lies in the subspace, drawn as colour.
    task_names, feature_names : sequence of str, optional

    Attributes
    ----------
    axes_ : tuple of matplotlib.axes.Axes
        The picture of the components and the scatter of the tasks.
    figure_ : matplotlib.figure.Figure
    image_ : matplotlib.image.AxesImage
    points_ : matplotlib.collections.PathCollection

    Examples
    --------
    >>> import numpy as np
    >>> from rectiline.estimators.multitask import MultiTaskRegressor
    >>> from rectiline.reports import SubspaceDisplay
    >>> X = np.random.default_rng(0).standard_normal((30, 4))
    >>> model = MultiTaskRegressor().fit(X, np.outer(X[:, 0], [1.0, -1.0, 2.0]))
    >>> display = SubspaceDisplay.from_estimator(model)
    """

    _n_axes = 2
    components: NDArray[np.float64]
    tasks: NDArray[np.float64]
    shares: NDArray[np.float64]
    _: KW_ONLY
    task_names: Sequence[str] | None = None
    feature_names: Sequence[str] | None = None

    @classmethod
    def from_estimator(cls, model: Any, **style: Any) -> SubspaceDisplay:
        """Draw the subspace of a fitted `MultiTaskRegressor` or `MultiTaskClassifier`.

        Parameters
        ----------
        model : fitted estimator
        **style
            As for `plot`: ``ax``, a pair of axes, and how the scatter of the tasks looks.
        """
        own = np.sum(model.task_components_**2, axis=1)
        left = np.sum(model.specific_components_**2, axis=1)
        total = own + left
        return cls(
            model.shared_components_,
            model.task_components_,
            np.where(total > 0, own / np.where(total > 0, total, 1.0), 1.0),
            task_names=[str(label) for label in model.tasks_],
            feature_names=getattr(model, "feature_names_in_", None),
        ).plot(**style)

    def _draw(self, ax: Any, **style: Any) -> None:
        left, ax = self.axes_ = tuple(ax)
        peak = float(np.abs(self.components).max(initial=0.0)) or 1.0
        look = {"cmap": "RdBu_r", "vmin": -peak, "vmax": peak, "aspect": "auto"}
        self.image_ = left.imshow(self.components, **look)
        left.figure.colorbar(self.image_, ax=left)
        count, names = len(self.components), self.feature_names
        left.set_yticks(range(count), range(1, count + 1))
        if names is not None and len(names) <= _MOST_NAMES:
            left.set_xticks(range(len(names)), names, rotation=90)
        left.set(xlabel="column", ylabel="component", title="Shared components")

        x = self.tasks[:, 0]
        has_two = self.tasks.shape[1] > 1
        y = self.tasks[:, 1] if has_two else np.zeros_like(x)
        options = {"c": self.shares, "vmin": 0.0, "vmax": 1.0, "cmap": "viridis"} | style
        self.points_ = ax.scatter(x, y, **options)
        ax.figure.colorbar(self.points_, ax=ax, label="share inside the subspace")
        if self.task_names is not None and len(self.task_names) <= _MOST_NAMES:
            for name, at in zip(self.task_names, zip(x, y)):
                ax.annotate(name, at, textcoords="offset points", xytext=(4, 3), fontsize=8)
        ax.axhline(0.0, color="0.8", linewidth=0.8, zorder=0)
        ax.axvline(0.0, color="0.8", linewidth=0.8, zorder=0)
        ax.set(xlabel="component 1", title="Tasks")
        if has_two:
            ax.set_ylabel("component 2")
        else:
            ax.set_yticks([])
