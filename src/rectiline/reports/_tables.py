"""Tables of solutions and paths, for `to_frame` and the reports."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rectiline.paths import Path
from rectiline.solvers import Solution


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
