"""Which strengths to try when the user names none."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from rectiline._polling import asked_at_checkpoints
from rectiline._typing import Vector
from rectiline.paths._largest import ZeroPoint, is_sparsifying, null_model, zero_point
from rectiline.problems import Problem

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
    q = -problem.design.tdot(0.5 * (null.low + null.high))
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
