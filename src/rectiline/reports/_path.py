"""`PathDisplay`: coefficients along a path of strengths."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from rectiline.paths import Path
from rectiline.reports._plots import Display, fitted, short

_MOST_LEGEND_ENTRIES = 10  # for the coefficients that are largest at the end of the path


@dataclass(eq=False, repr=False)
class PathDisplay(Display):
    """Coefficients against the strength of the penalty.

    Parameters
    ----------
    path : Path
    feature_names : sequence of str, optional
    chosen : float, optional
        Strength to mark.

    Attributes
    ----------
    ax_ : matplotlib.axes.Axes
    figure_ : matplotlib.figure.Figure
    lines_ : list of matplotlib.lines.Line2D

    Examples
    --------
    >>> import numpy as np
    >>> import rectiline as rl
    >>> from rectiline.paths import path
    >>> from rectiline.reports import PathDisplay
    >>> rng = np.random.default_rng(0)
    >>> X = rng.standard_normal((50, 3))
    >>> problem = rl.Problem(X, X[:, 0], rl.losses.Huber(), rl.penalties.L1(1.0))
    >>> display = PathDisplay.from_path(path(problem, n_strengths=4))
    >>> len(display.lines_)
    3
    """

    path: Path
    feature_names: Sequence[str] | None = None
    chosen: float | None = None

    @classmethod
    def from_path(
        cls,
        path: Path,
        *,
        feature_names: Sequence[str] | None = None,
        chosen: float | None = None,
        ax: Any = None,
        **style: Any,
    ) -> PathDisplay:
        """Draw a path; the parameters are those of the class and of `plot`."""
        return cls(path, feature_names, chosen).plot(ax=ax, **style)

    @classmethod
    def from_estimator(
        cls, estimator: Any, *, problem: int = 0, ax: Any = None, **style: Any
    ) -> PathDisplay:
        """Draw ``path_`` of a fitted CV estimator and mark the chosen strength.

        Parameters
        ----------
        estimator : fitted PLQClassifierCV, PLQRegressorCV or QuantileRegressorCV
        problem : int, default=0
            Which problem, where there are several classes, outputs or quantiles.
        ax : matplotlib.axes.Axes, optional
        **style
            For `matplotlib.axes.Axes.plot`.
        """
        paths = fitted(estimator, "path_", "one that chooses a strength, such as PLQRegressorCV")
        path = paths if isinstance(paths, Path) else paths[problem]
        values = estimator.Cs_ if hasattr(estimator, "Cs_") else estimator.alphas_
        best = estimator.C_ if hasattr(estimator, "C_") else estimator.alpha_
        place = min(int(np.argmin(np.abs(np.log(values / best)))), len(path) - 1)
        names = getattr(estimator, "feature_names_in_", None)
        return cls(path, names, float(path.strengths[place])).plot(ax=ax, **style)

    def _draw(self, ax: Any, **style: Any) -> None:
        coefs = self.path.coefs
        named = np.argsort(-np.abs(coefs[-1]))[:_MOST_LEGEND_ENTRIES]
        self.lines_ = []
        for j in range(coefs.shape[1]):
            name = f"x{j}" if self.feature_names is None else str(self.feature_names[j])
            label = short(name) if j in named else "_nolegend_"
            self.lines_ += ax.plot(self.path.strengths, coefs[:, j], **{"label": label, **style})
        if self.chosen is not None:
            ax.axvline(self.chosen, color="0.5", linestyle="--", label="chosen")
        ax.set(xscale="log", xlabel="strength of the penalty", ylabel="coefficient")
        ax.invert_xaxis()
        ax.legend(fontsize="small")
