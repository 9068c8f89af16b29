"""One problem at many strengths, each solution starting from the one before."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, overload

import numpy as np
from numpy.typing import ArrayLike, NDArray

from rectiline.paths._ahead import Ahead, Clock
from rectiline.paths._answers import Kept, stacked
from rectiline.paths._grid import checked_strengths, grid_and_start
from rectiline.paths._guide import Guide
from rectiline.paths._largest import ZeroPoint
from rectiline.paths._scout import Scout, scouting_part
from rectiline.problems import Problem
from rectiline.solvers import Progress, Session, Solution, Status, solve

Vector = NDArray[np.float64]

__all__ = ["Path", "along", "path"]


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
    kept : Kept or None
        What else is known about the solutions, if somebody has asked to keep it.
    """

    strengths: Vector
    solutions: tuple[Solution, ...]
    seconds: float = 0.0
    kept: Kept | None = None

    @property
    def lent_coefs(self) -> NDArray[np.float64]:
        """The same as `coefs`, in memory that the solutions look at if it is in one piece."""
        return stacked([one.coef for one in self.solutions])

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

    def __repr__(self) -> str:
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
        after a callback that stops.
    warm_start : Solution, optional
        Where the first strength starts.
    **options
        As for `rectiline.solve`: solver, tol, max_iter, callback, random_state. With
        ``solver="auto"`` one Newton method goes along the path where that is likely to pay, and
        hands over what it cannot get certified. At a modest `tol`, paths on many samples have
        points with ``solver="interpolation"``: these lie between two others, which prove them.

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
    began = time.perf_counter()
    if problem.penalty is None or problem.penalty.is_zero:
        raise ValueError("penalty=None has no strength to vary.")
    start = None
    if strengths is None:
        grid, start = grid_and_start(problem, n_strengths, ratio)
    else:
        grid = checked_strengths(strengths)
    known: list[Solution] = []
    if start is not None and start.dual is not None:
        at_zero = _zeros(problem, float(grid[0]), start, options.get("tol", 1e-6), began)
        known = [] if at_zero is None else [at_zero]
    return along(problem, grid, Clock(began, time_limit), known, warm_start, **options)


def along(
    problem: Problem,
    grid: Vector,
    clock: Clock,
    known: Sequence[Solution] = (),
    start: Solution | None = None,
    guide: Guide | None = None,
    callback: Any = None,
    keeps: bool = False,
    **options: Any,
) -> Path:
    """Solve the problem at strengths from large to small.

    The first solutions may be `known`; if none is, `start` is where the first one starts. They
    cannot be far from those of the `guide`, if there is one. With `keeps`, what comes up anyway
    is kept for others who ask.
    """
    listener = _Listener(callback)
    solutions = list(known)
    latest = solutions[-1] if solutions else start
    if guide is not None and (latest is not None or not np.array_equal(guide.strengths, grid)):
        guide = None
    elif guide is None and latest is None and not listener.is_heard:
        guide = _scouted(problem, grid, clock, options)
    if guide is not None:
        problem = problem.share_scales(guide.problem)
    ahead = Ahead.of(
        problem,
        grid[len(solutions) :],
        latest,
        options,
        clock,
        listener.is_heard,
        guide,
        keeps,
    )
    session = Session()
    assert problem.penalty is not None
    # What this problem works out about the data comes along to those made from it.
    one = problem
    for strength in grid[len(solutions) :]:
        if clock.is_late and solutions:
            break
        found, near = (None, None) if ahead is None else ahead.next()
        if found is None:
            one = one.with_penalty(problem.penalty.with_strength(float(strength)))
            near = near or latest
            if near is None and guide is not None:
                near = guide.start(problem)
            found = solve(
                one,
                warm_start=near,
                time_limit=clock.left,
                session=session,
                callback=listener.callback,
                **options,
            )
            if ahead is not None:
                ahead.missed(found)
                ahead = None if ahead.gives_up else ahead
        listener.hear(found)
        solutions.append(found)
        latest = found
        if latest.status in (Status.INFEASIBLE, Status.STOPPED) or listener.stopped:
            break
    reached = grid[: len(solutions)]
    kept = None if ahead is None else ahead.kept
    return Path(reached, tuple(solutions), time.perf_counter() - clock.began, kept)


def _scouted(problem: Problem, grid: Vector, clock: Clock, options: dict[str, Any]) -> Scout | None:
    """Return answers on few of the samples, if these can tell where those on all will be."""
    if not Ahead.takes(options):
        return None
    part = scouting_part(problem, grid, options.get("tol", 1e-6))
    if part is None:
        return None
    ahead = along(part, grid, Clock(time.perf_counter(), clock.left), keeps=True, **options)
    if ahead.kept is None or not ahead.kept.pulls:  # it did not get to the end on its own
        return None
    return Scout(problem, grid, ahead.solutions, Kept(None, ahead.kept.pulls))


class _Listener:
    """Remembers whether the callback asked to stop: a point may be solved at that very moment."""

    def __init__(self, callback: Any) -> None:
        self._callback = callback
        self.stopped = False
        self._latest: Any = None
        # What is not callable is refused by `solve`.
        self.callback = self._hear if callable(callback) else callback
        self.is_heard = callback is not None

    def hear(self, solution: Solution) -> None:
        """Tell of a solution, unless the callback has heard of it while it was found."""
        known = solution.infeasibility is not None or solution.certificate is self._latest
        if callable(self._callback) and not known:
            self._hear(
                Progress(solution.solver, solution.n_iter, solution.seconds, solution.certificate)
            )

    def _hear(self, progress: Any) -> bool:
        self._latest = progress.certificate
        self.stopped = bool(self._callback(progress)) or self.stopped
        return self.stopped


def _zeros(
    problem: Problem, strength: float, start: ZeroPoint, tol: float, began: float
) -> Solution | None:
    """Return all-zero coefficients as the solution at the largest strength, if that is proved.

    At exactly this strength other solutions may be as good; a solver could find one of those.
    """
    assert problem.penalty is not None
    one = problem.with_penalty(problem.penalty.with_strength(strength))
    coef = np.zeros(problem.n_features)
    certificate, dual = one.certify_repaired(coef, start.intercept, start.dual)
    if not certificate.holds(tol):
        return None
    seconds = time.perf_counter() - began
    return Solution(
        coef=coef,
        intercept=start.intercept,
        status=Status.SOLVED,
        solver="largest_strength",
        n_iter=0,
        seconds=seconds,
        dual=dual,
        certificate=certificate,
        reason="the smallest strength with all-zero coefficients",
    )
