"""Write the proofs of a fit to one file, in the terms of the user's data: `save_certificate`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from rectiline.estimators._check import column_names
from rectiline.estimators._quantile_problems import StackedQuantiles
from rectiline.problems import Problem
from rectiline.problems.proofs import ProvedData, Statement, save_proofs


def save_fit(path: Any, again: Any, y: Any) -> None:
    """Write the proofs of all problems of a fit; `y` is what the user gave."""
    if not isinstance(again.problems[0], Problem):
        raise TypeError(
            f"save_certificate: a certificate file cannot hold the tasks of "
            f"{type(again.model).__name__}, which share a penalty; verify(X, y) proves the fit."
        )
    save_proofs(path, _statements(again), _proved_data(again, y))


def save_steps(path: Any, steps: Sequence[Any], y: Any) -> None:
    """Write the proofs of fits on the same rows, each with a target of its own; y is the first."""
    first = _proved_data(steps[0], y)
    columns = np.column_stack([again.data.y for again in steps])
    made = [f"target of step {k}" for k in range(2, len(steps) + 1)]
    names = [*(first.targets or ["y"]), *made]
    found = [replace(_statements(again)[0], output=k) for k, again in enumerate(steps)]
    save_proofs(path, found, replace(first, y=columns, targets=names))


def _proved_data(again: Any, y: Any) -> ProvedData:
    """Return the data of a fit as the user has them."""
    data, names = again.data, column_names(again.model)
    if data.rows is not None:
        return ProvedData.of(again.problems[0], names)
    labels = None if data.classes is None else np.unique(data.y).tolist()
    weight = data.weight if data.is_weighted else None
    return ProvedData(data.X, data.y, labels, weight, names, target_names(y))


def _statements(again: Any) -> list[Statement]:
    """Return the problems of a fit and their answers."""
    data, levels = again.data, None
    if data.rows is None and getattr(again.model, "_is_joint", False):
        levels = StackedQuantiles.of(again.model, data).shape
    has_outputs = data.rows is None and np.ndim(data.y) == 2
    found = zip(again.problems, again.solutions, data.tasks, strict=False)
    return [
        Statement(problem, solution, task.samples, k if has_outputs else 0, levels)
        for k, (problem, solution, task) in enumerate(found)
    ]


def target_names(y: Any) -> list[str] | None:
    """Return the names of a data frame's columns, or of a series."""
    columns = getattr(y, "columns", None)
    name = getattr(y, "name", None)
    if columns is not None:
        return [str(one) for one in columns]
    return None if name is None else [str(name)]
