"""Write the proofs of a fit to one file, in the terms of the user's data: `save_certificate`."""

from __future__ import annotations

from typing import Any

import numpy as np

from rectiline.estimators._check import column_names
from rectiline.problems import Problem
from rectiline.problems.proofs import ProvedData, Statement, save_proofs


def save_fit(path: Any, again: Any, y: Any) -> None:
    """Write the proofs of all problems of a fit; `y` is what the user gave."""
    if not isinstance(again.problems[0], Problem):
        raise TypeError(
            f"save_certificate: a certificate file cannot hold the tasks of "
            f"{type(again.model).__name__}, which share a penalty; verify(X, y) proves the fit."
        )
    data, levels = again.data, None
    if data.rows is None and getattr(again.model, "_is_joint", False):
        levels = again.model._stacked(data).shape
    names = column_names(again.model)
    if data.rows is not None:
        given = ProvedData.of(again.problems[0], names)
    else:
        has_labels = data.classes is not None
        given = ProvedData(
            data.X,
            data.y,
            np.unique(data.y).tolist() if has_labels else None,
            data.weight if data.is_weighted else None,
            names,
            target_names(y),
        )
    has_outputs = data.rows is None and np.ndim(data.y) == 2
    statements = [
        Statement(problem, solution, task.samples, k if has_outputs else 0, levels)
        for k, (problem, solution, task) in enumerate(
            zip(again.problems, again.solutions, data.tasks, strict=False)
        )
    ]
    save_proofs(path, statements, given)


def target_names(y: Any) -> list[str] | None:
    """Return the names of a data frame's columns, or of a series."""
    columns = getattr(y, "columns", None)
    name = getattr(y, "name", None)
    if columns is not None:
        return [str(one) for one in columns]
    return None if name is None else [str(name)]
