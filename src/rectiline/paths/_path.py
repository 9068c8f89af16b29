"""One problem at many strengths, each solution starting from the one before."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any, overload

import numpy as np
from numpy.typing import ArrayLike, NDArray

from rectiline._frames import html_table
from rectiline._polling import Clock, asked_at_checkpoints
from rectiline._typing import Vector
from rectiline.paths._follow import PathRun, certified
from rectiline.paths._largest import ZeroPoint, is_sparsifying, null_model, zero_point
from rectiline.problems import DualPoint, Problem
from rectiline.solvers import Candidate, Solution, Status, checked_limits

_LARGEST_STRENGTH_TIME_SHARE = 0.3  # of a time limit; an upper bound is used if that is not enough


@dataclass(frozen=True, eq=False)
class Path:
    """Solutions of one problem from the strongest penalty to the weakest.

    Attributes
    ----------
    strengths : ndarray of shape (k,)
        From large to small.
    solutions : tuple of Solution
        One for each strength, every one with its own certificate.
    seconds : float
        Wall time of the whole path.
    """

    strengths: Vector
    solutions: tuple[Solution, ...]
    seconds: float = 0.0

    @property
    def coefs(self) -> NDArray[np.float64]:
        """Coefficients, one row per strength."""
        return np.array([one.coef for one in self.solutions])

    @property
    def intercepts(self) -> Vector:
        """Intercept at each strength."""
        return np.array([one.intercept for one in self.solutions])

    @property
    def relative_gaps(self) -> Vector:
        """Certified relative gap at each strength."""
        return np.array([one.certificate.relative_gap for one in self.solutions])

    @property
    def n_nonzero(self) -> NDArray[np.intp]:
        """Number of coefficients that are not zero at each strength."""
        return np.array([np.count_nonzero(one.coef) for one in self.solutions], dtype=np.intp)

    def without_duals(self) -> Path:
        """Return the path without multipliers, whose size is that of the samples.

        The `dual` of each solution is empty then; its certificate stays.
        """
        nothing = DualPoint(np.zeros(0))
        return replace(self, solutions=tuple(replace(one, dual=nothing) for one in self.solutions))

    def __len__(self) -> int:
        return self.strengths.size

    def __iter__(self) -> Iterator[Solution]:
        return iter(self.solutions)

    @overload
    def __getitem__(self, index: int) -> Solution: ...
    @overload
    def __getitem__(self, index: slice) -> tuple[Solution, ...]: ...
    def __getitem__(self, index: int | slice) -> Solution | tuple[Solution, ...]:
        return self.solutions[index]

    def _repr_html_(self) -> str:
        header = ("strength", "objective", "relative gap", "nonzero", "status")
        rows = [
            (
                float(strength),
                one.objective,
                f"{one.certificate.relative_gap:.1e}",
                np.count_nonzero(one.coef),
                one.status,
            )
            for strength, one in zip(self.strengths, self.solutions, strict=True)
        ]
        return html_table(f"Path, {self.seconds:.3g} s", [header, *rows])

    def __repr__(self) -> str:
        if not self.solutions:
            return "Path(no strengths)"
        solved = sum(one.status == Status.SOLVED for one in self.solutions)
        return (
            f"Path({len(self)} strengths from {self.strengths[0]:.4g} to {self.strengths[-1]:.4g}, "
            f"{solved} solved, largest relative gap {self.relative_gaps.max():.1e}, "
            f"seconds={self.seconds:.3g})"
        )


def path(
    problem: Problem,
    strengths: ArrayLike | None = None,
    *,
    n_strengths: int = 30,
    ratio: float | None = None,
    time_limit: float | None = None,
    warm_start: Solution | None = None,
    **options: Any,
) -> Path:
    """Solve a problem at many strengths of its penalty.

    Parameters
    ----------
    problem : Problem
        Its penalty says which kind; only the strength changes.
    strengths : array-like, optional
        Positive numbers; they are sorted from large to small. By default `n_strengths` of them from
        the smallest that sets all coefficients to zero, computed exactly, down to `ratio` times
        that; a ridge penalty starts where it leaves next to nothing.
    n_strengths : int, default=30
    ratio : float, optional
        See `default_strengths`.
    time_limit : float, optional
        Most seconds for the whole path. Strengths that were not reached are left out, as they are
        after a callback that stops; the largest default strength may be an upper bound then.
    warm_start : Solution, optional
        Where the first strength starts.
    **options
        As for `rectiline.solve`: solver, tol, max_iter, callback, random_state. With
        ``solver="auto"`` one Newton method follows the path where that is expected to be faster;
        points that it cannot certify are solved by other solvers.

    Returns
    -------
    Path

    Examples
    --------
    >>> import numpy as np
    >>> import rectiline as rl
    >>> from rectiline.paths import path
    >>> rng = np.random.default_rng(0)
    >>> X = rng.standard_normal((100, 4))
    >>> y = X[:, 0] + rng.standard_normal(100)
    >>> problem = rl.Problem(X, y, rl.losses.Huber(), rl.penalties.ElasticNet(0.9, 0.1))
    >>> found = path(problem, n_strengths=5)
    >>> len(found), float(abs(found.coefs[0]).max()), bool(found.relative_gaps.max() <= 1e-6)
    (5, 0.0, True)
    """
    tol, max_iter = options.get("tol", 1e-6), options.get("max_iter")
    seed, callback = options.get("random_state", 0), options.get("callback")
    checked_limits(tol, max_iter, time_limit, seed, callback)
    clock = Clock.with_grace(time_limit)
    if problem.penalty is None or problem.penalty.is_zero:
        raise ValueError("penalty=None has no strength to vary.")
    start = None
    if strengths is None:
        share = None if time_limit is None else _LARGEST_STRENGTH_TIME_SHARE * time_limit
        with asked_at_checkpoints(Clock.with_grace(share)):
            grid, start = grid_and_start(problem, n_strengths, ratio)
    else:
        grid = checked_strengths(strengths)
    known: list[Solution] = []
    if start is not None and start.dual is not None:
        # All-zero coefficients are the solution at the largest strength, if that is proved.
        zeros, first = np.zeros(problem.n_features), float(grid[0])
        at = Candidate(first, zeros, start.intercept, start.dual, 0, clock.seconds)
        one = problem.with_penalty(problem.penalty.with_strength(first))
        reason = "the smallest strength with all-zero coefficients"
        found = certified(one, at, tol, "largest_strength", reason)
        known = [found] if found.status == Status.SOLVED else []
    solutions = PathRun(problem, grid, clock, known, warm_start, options).run()
    return Path(grid[: len(solutions)], tuple(solutions), clock.seconds)


# ---- which strengths to try when the user names none ---------------------------------------------


_RATIO, _RATIO_WIDE = 1e-4, 1e-2
_RIDGE_MOVE = 1e-2  # at the largest ridge strength predictions move by this share of their scale


def default_strengths(
    problem: Problem, n_strengths: int = 30, ratio: float | None = None
) -> Vector:
    """Return strengths from the largest useful one down to `ratio` times it, evenly in logarithm.

    By default the ratio is 1e-4, and 1e-2 where there are more columns than rows, whose solutions
    soon fit everything. For norm penalties the first is the smallest strength with all coefficients
    zero, exactly. A ridge penalty has no such strength: there the grid starts where predictions
    move by about one percent of their scale, and spans `ratio` squared.

    Parameters
    ----------
    problem : Problem
        Its penalty says what the strengths multiply.
    n_strengths : int, default=30
    ratio : float, optional
        The smallest strength over the largest.

    Returns
    -------
    ndarray of shape (n_strengths,)
        From large to small.

    Examples
    --------
    >>> import numpy as np
    >>> import rectiline as rl
    >>> from rectiline.paths import default_strengths
    >>> X = np.array([[0.0], [1.0], [2.0], [4.0]])
    >>> problem = rl.Problem(X, [-1, -1, 1, 1], rl.losses.Hinge(), rl.penalties.L1(1.0))
    >>> default_strengths(problem, 3, 0.01).round(6)
    array([5.  , 0.5 , 0.05])
    """
    return grid_and_start(problem, n_strengths, ratio)[0]


def grid_and_start(
    problem: Problem, n_strengths: int, ratio: float | None
) -> tuple[Vector, ZeroPoint | None]:
    """Return `default_strengths`, and the solution at the first of them where it is known."""
    if problem.penalty is None or problem.penalty.is_zero:
        raise ValueError("penalty=None has no strength to choose.")
    if ratio is None:
        ratio = _RATIO_WIDE if problem.n_features > problem.n_samples else _RATIO
    if not 0.0 < ratio < 1.0:
        raise ValueError(f"ratio={ratio!r}: must lie strictly between 0 and 1.")
    start = None
    if is_sparsifying(problem.penalty):
        start = zero_point(problem)
        top = start.strength
    else:
        with asked_at_checkpoints(None):  # two passes, whatever the time
            top, ratio = _ridge_top(problem), ratio * ratio
    if not 0.0 < top < np.inf:  # nothing to learn from the columns: any strength gives zeros
        top = problem.penalty.strength
    return np.asarray(np.geomspace(top, top * ratio, n_strengths), dtype=np.float64), start


def _ridge_top(problem: Problem) -> float:
    """Return a strength s at which ``b = q / s`` hardly moves the predictions.

    It follows the units of X and y, so that the grid finds the same models in any of them.
    """
    null = null_model(problem)
    q = -problem.design.tdot(null.dual)
    moved = problem.design.dot(q)
    weight = problem.weight
    used = weight > 0
    reach = float(np.max(np.abs(moved - np.average(moved, weights=weight))[used]))
    scale = 1.0
    if problem.losses[0].of == "residual":
        errors = np.abs(problem.offset - null.intercept)
        scale = float(np.average(errors, weights=weight)) or 1.0
    return reach / (_RIDGE_MOVE * scale)


def checked_strengths(strengths: ArrayLike) -> Vector:
    """Return strengths as positive numbers from large to small."""
    values = np.array(strengths, dtype=np.float64, ndmin=1)
    if values.ndim != 1 or not values.size:
        raise ValueError(f"strengths must be a list of numbers; got shape {values.shape}.")
    if not (np.isfinite(values) & (values > 0)).all():
        at = int(np.argmax(~(np.isfinite(values) & (values > 0))))
        raise ValueError(f"strengths must be finite and > 0; strengths[{at}] is {values[at]}.")
    return np.sort(values)[::-1].copy()
