"""`ConvergenceDisplay`: the certified gap over the course of a solve."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from rectiline.reports._plots import Display, fitted, short
from rectiline.solvers import Progress, Solution


@dataclass(eq=False, repr=False)
class ConvergenceDisplay(Display):
    """Certified relative gap against time or iterations.

    Parameters
    ----------
    histories : sequence of sequences of Progress
        One per problem, as in `Solution.history`.
    labels : sequence of str
        One per problem.

    Attributes
    ----------
    ax_ : matplotlib.axes.Axes
    figure_ : matplotlib.figure.Figure
    lines_ : list of matplotlib.lines.Line2D

    Examples
    --------
    >>> import numpy as np
    >>> import rectiline as rl
    >>> from rectiline.reports import ConvergenceDisplay
    >>> X = np.array([[0.0], [1.0], [2.0], [3.0]])
    >>> solution = rl.solve(rl.Problem(X, [0, 0, 1, 1], loss=rl.losses.Hinge()))
    >>> display = ConvergenceDisplay.from_solution(solution)
    """

    histories: Sequence[Sequence[Progress]]
    labels: Sequence[str]

    @classmethod
    def from_solution(
        cls,
        solution: Solution,
        *,
        label: str | None = None,
        ax: Any = None,
        against: str = "seconds",
        **style: Any,
    ) -> ConvergenceDisplay:
        """Draw the history of one solution.

        Parameters
        ----------
        solution : Solution
        label : str, optional
            Legend entry; the name of the solver by default.
        ax : matplotlib.axes.Axes, optional
        against : {"seconds", "n_iter"}, default="seconds"
        **style
            For `matplotlib.axes.Axes.plot`.
        """
        name = solution.solver if label is None else label
        return cls([solution.history], [name]).plot(ax=ax, against=against, **style)

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        *,
        labels: Sequence[str] | None = None,
        ax: Any = None,
        against: str = "seconds",
        **style: Any,
    ) -> ConvergenceDisplay:
        """Draw the histories of the problems behind a fitted estimator.

        Parameters
        ----------
        estimator : fitted estimator
        labels : sequence of str, optional
            Legend entries, one per problem.
        ax : matplotlib.axes.Axes, optional
        against : {"seconds", "n_iter"}, default="seconds"
        **style
            For `matplotlib.axes.Axes.plot`.
        """
        found = fitted(estimator, "solution_", "one of rectiline's estimators")
        if isinstance(found, Solution):
            solved, names = [found], [found.solver]
        else:
            solved, names = found, [f"problem {k}: {one.solver}" for k, one in enumerate(found, 1)]
        made = cls([one.history for one in solved], labels or names)
        return made.plot(ax=ax, against=against, **style)

    def _draw(self, ax: Any, against: str = "seconds", **style: Any) -> None:
        if against not in ("seconds", "n_iter"):
            raise ValueError(f"against={against!r}: must be 'seconds' or 'n_iter'.")
        self.lines_ = []
        floor = np.finfo(float).eps  # an exact answer has no place on a logarithmic axis
        for history, label in zip(self.histories, self.labels, strict=True):
            known = [one for one in history if np.isfinite(one.relative_gap)]
            where = [getattr(one, against) for one in known]
            gaps = [max(one.relative_gap, floor) for one in known]
            self.lines_ += ax.plot(where, gaps, **{"marker": "o", "label": short(label), **style})
            names = [one.solver for one in known]
            begin = [k for k, name in enumerate(names) if k == 0 or name != names[k - 1]]
            for k in begin if len(begin) > 1 else ():  # each stage is named where it begins
                at = (where[k], gaps[k])
                ax.annotate(names[k], at, (4, 6), textcoords="offset points", fontsize="small")
        unit = "seconds" if against == "seconds" else "iterations"
        ax.set(yscale="log", xlabel=unit, ylabel="certified relative gap")
        ax.legend()
