"""Tables of solutions, and plots of losses, of convergence and of paths."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rectiline.losses import Loss, get
from rectiline.paths import Path
from rectiline.reports._plots import Display, fitted, short
from rectiline.solvers import Progress, Solution


def solution_table(solutions: Path | Solution | Iterable[Solution]) -> dict[str, NDArray[Any]]:
    """Return one row per solution, as columns that a data frame takes.

    Parameters
    ----------
    solutions : Path, Solution or iterable of Solution

    Returns
    -------
    dict of ndarray
        ``strength`` (for paths), ``status``, ``objective``, ``relative_gap``, ``violation``,
        ``n_nonzero``, ``solver``, ``n_iter`` and ``seconds``.

    Examples
    --------
    >>> import numpy as np
    >>> import rectiline as rl
    >>> from rectiline.reports import solution_table
    >>> X = np.array([[0.0], [1.0], [2.0], [3.0]])
    >>> solution = rl.solve(rl.Problem(X, [0, 0, 1, 1], loss=rl.losses.Hinge()))
    >>> solution_table(solution)["status"]
    array(['solved'], dtype='<U6')
    """
    listed = [solutions] if isinstance(solutions, Solution) else list(solutions)
    table: dict[str, NDArray[Any]] = {}
    if isinstance(solutions, Path):
        table["strength"] = solutions.strengths.copy()
    rows = {
        "status": [str(one.status) for one in listed],
        "objective": [one.certificate.primal for one in listed],
        "relative_gap": [one.certificate.relative_gap for one in listed],
        "violation": [one.certificate.violation for one in listed],
        "n_nonzero": [int(np.count_nonzero(one.coef)) for one in listed],
        "solver": [one.solver for one in listed],
        "n_iter": [one.n_iter for one in listed],
        "seconds": [one.seconds for one in listed],
    }
    return table | {name: np.array(column) for name, column in rows.items()}


_ARGUMENT = {"margin": "margin  y z", "residual": "residual  y - z", "prediction": "prediction  z"}


class LossDisplay(Display):
    """Losses of one kind as curves.

    Parameters
    ----------
    losses : sequence of Loss
        All of the margin, or all of the residual.
    span : tuple of float
        Ends of the horizontal axis.
    labels : sequence of str, optional
        Legend entries; what the losses are by default.

    Attributes
    ----------
    ax_ : matplotlib.axes.Axes
    figure_ : matplotlib.figure.Figure
    lines_ : list of matplotlib.lines.Line2D

    Examples
    --------
    >>> from rectiline.losses import Hinge, SmoothedHinge
    >>> from rectiline.reports import LossDisplay
    >>> display = LossDisplay.from_losses([Hinge(), SmoothedHinge()])
    >>> len(display.lines_)
    2
    """

    losses: Sequence[Loss]
    span: tuple[float, float]
    labels: Sequence[str] | None = None

    def __post_init__(self) -> None:
        if self.labels is not None and len(self.labels) != len(self.losses):
            raise ValueError(f"labels: {len(self.labels)} labels for {len(self.losses)} losses.")

    @classmethod
    def from_losses(
        cls,
        losses: Any,
        *,
        span: tuple[float, float] | None = None,
        labels: Sequence[str] | None = None,
        **style: Any,
    ) -> LossDisplay:
        """Draw losses.

        Parameters
        ----------
        losses : Loss or name of one, sequence of these, or mapping from label to loss
        span : tuple of float, optional
            Ends of the horizontal axis; a little more than all knots by default.
        labels : sequence of str, optional
            Legend entries; what the losses are by default.
        **style
            As for `plot`: ``ax``, and how lines look.
        """
        if isinstance(losses, Mapping):
            labels, losses = list(losses), list(losses.values())
        single = isinstance(losses, Loss | str)
        listed = [get(one) for one in ([losses] if single else losses)]
        kinds = sorted({one.of for one in listed})
        if len(kinds) != 1:
            raise ValueError(f"losses must be of one kind to share an axis; got {kinds}.")
        if span is None:
            knots = np.concatenate([one.curve.knots for one in listed])
            room = max(1.0, 0.5 * float(np.ptp(knots)))
            span = (float(knots.min()) - 2 * room, float(knots.max()) + 2 * room)
        return cls(listed, span, labels).plot(**style)

    @classmethod
    def from_estimator(cls, estimator: Any, **style: Any) -> LossDisplay:
        """Draw the loss of an estimator, one curve per quantile for quantile regressions."""
        used = getattr(estimator, "loss_", None)  # widths relative to the data are known by now
        if hasattr(estimator, "quantiles_"):
            used = [estimator._loss(level) for level in estimator.quantiles_]
        elif used is None:
            used = get(estimator.loss, **(estimator.loss_params or {}))
        return cls.from_losses(used, **style)

    def _draw(self, ax: Any, **style: Any) -> None:
        self.lines_ = []
        names = self.labels or [repr(loss) for loss in self.losses]
        for loss, name in zip(self.losses, names, strict=True):
            knots = loss.curve.knots
            seen = knots[(knots > self.span[0]) & (knots < self.span[1])]
            t = np.union1d(np.linspace(*self.span, 401), seen)
            self.lines_ += ax.plot(t, loss.curve.value(t), **{"label": short(name), **style})
        ax.set(xlabel=_ARGUMENT[self.losses[0].of], ylabel="loss")
        ax.legend()


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
        cls, solution: Solution, *, label: str | None = None, **style: Any
    ) -> ConvergenceDisplay:
        """Draw the history of one solution.

        Parameters
        ----------
        solution : Solution
        label : str, optional
            Legend entry; the name of the solver by default.
        **style
            As for `plot`: ``ax``, ``against``, and how lines look.
        """
        name = solution.solver if label is None else label
        return cls([solution.history], [name]).plot(**style)

    @classmethod
    def from_estimator(
        cls, estimator: Any, *, labels: Sequence[str] | None = None, **style: Any
    ) -> ConvergenceDisplay:
        """Draw the histories of the problems behind a fitted estimator.

        Parameters
        ----------
        estimator : fitted estimator
        labels : sequence of str, optional
            Legend entries, one per problem.
        **style
            As for `plot`: ``ax``, ``against``, and how lines look.
        """
        found = fitted(estimator, "solution_", "one of rectiline's estimators")
        if isinstance(found, Solution):
            solved, names = [found], [found.solver]
        else:
            solved, names = found, [f"problem {k}: {one.solver}" for k, one in enumerate(found, 1)]
        return cls([one.history for one in solved], labels or names).plot(**style)

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


_MOST_LEGEND_ENTRIES = 10  # for the coefficients that are largest at the end of the path


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
        **style: Any,
    ) -> PathDisplay:
        """Draw a path; the parameters are those of the class and of `plot`."""
        return cls(path, feature_names, chosen).plot(**style)

    @classmethod
    def from_estimator(cls, estimator: Any, *, problem: int = 0, **style: Any) -> PathDisplay:
        """Draw ``path_`` of a fitted CV estimator and mark the chosen strength.

        Parameters
        ----------
        estimator : fitted PLQClassifierCV, PLQRegressorCV or QuantileRegressorCV
        problem : int, default=0
            Which problem, where there are several classes, outputs or quantiles.
        **style
            As for `plot`: ``ax``, and how lines look.
        """
        paths = fitted(estimator, "path_", "one that chooses a strength, such as PLQRegressorCV")
        path = paths if isinstance(paths, Path) else paths[problem]
        values = estimator.Cs_ if hasattr(estimator, "Cs_") else estimator.alphas_
        best = estimator.C_ if hasattr(estimator, "C_") else estimator.alpha_
        place = min(int(np.argmin(np.abs(np.log(values / best)))), len(path) - 1)
        names = getattr(estimator, "feature_names_in_", None)
        return cls(path, names, float(path.strengths[place])).plot(**style)

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
