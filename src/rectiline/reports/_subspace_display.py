"""`SubspaceDisplay`: the subspace that tasks share, and where each task lies in it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import KW_ONLY, dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rectiline.reports._plots import Display

_MOST_NAMES = 40  # more tasks or columns than this are drawn without their names


@dataclass(eq=False, repr=False)
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
    def from_estimator(cls, model: Any, *, ax: Any = None, **style: Any) -> SubspaceDisplay:
        """Draw the subspace of a fitted `MultiTaskRegressor` or `MultiTaskClassifier`.

        Parameters
        ----------
        model : fitted estimator
        ax : pair of matplotlib.axes.Axes, optional
        **style
            Passed on to the scatter of the tasks.
        """
        own = np.sum(model.task_components_**2, axis=1)
        left = np.sum(model.specific_components_**2, axis=1)
        total = own + left
        display = cls(
            model.shared_components_,
            model.task_components_,
            np.where(total > 0, own / np.where(total > 0, total, 1.0), 1.0),
            task_names=[str(label) for label in model.tasks_],
            feature_names=getattr(model, "feature_names_in_", None),
        )
        return display.plot(ax=ax, **style)

    def _draw(self, ax: Any, **style: Any) -> None:
        self.axes_ = tuple(ax)
        self._draw_components(ax[0])
        self._draw_tasks(ax[1], style)

    def _draw_components(self, ax: Any) -> None:
        peak = float(np.abs(self.components).max(initial=0.0)) or 1.0
        self.image_ = ax.imshow(
            self.components, cmap="RdBu_r", vmin=-peak, vmax=peak, aspect="auto"
        )
        ax.figure.colorbar(self.image_, ax=ax)
        count, names = len(self.components), self.feature_names
        ax.set_yticks(range(count), range(1, count + 1))
        if names is not None and len(names) <= _MOST_NAMES:
            ax.set_xticks(range(len(names)), names, rotation=90)
        ax.set(xlabel="column", ylabel="component", title="Shared components")

    def _draw_tasks(self, ax: Any, style: dict[str, Any]) -> None:
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
