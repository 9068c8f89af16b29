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
from rectiline.paths._grid import checked_strengths, grid_and_start
from rectiline.problems import DualPoint, Problem
from rectiline.solvers import Candidate, Solution, Status

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
        tol, name = options.get("tol", 1e-6), "largest_strength"
        reason = "the smallest strength with all-zero coefficients"
        found = certified(one, at, tol, name, reason)
        known = [found] if found.status == Status.SOLVED else []
    solutions = PathRun(problem, grid, clock, known, warm_start, options).run()
    return Path(grid[: len(solutions)], tuple(solutions), clock.seconds)
