"""Check what a user passes to `MultiTaskProblem` and make the tasks."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from rectiline.backends import Design, as_design
from rectiline.constraints import Constraint
from rectiline.losses import Loss
from rectiline.problems._samples import Samples, checked_weight
from rectiline.problems._task import Task


def make_tasks(
    X: Any,
    y: Sequence[ArrayLike],
    loss: Loss,
    constraints: Any,
    sample_weight: Sequence[ArrayLike] | None,
    fit_intercept: bool,
) -> tuple[Task, ...]:
    """Return one task per entry of y."""
    if not isinstance(loss, Loss):
        raise TypeError(f"loss must be a Loss such as rectiline.losses.Hinge(); got {loss!r}.")
    targets = [np.ravel(np.asarray(one)) for one in y]
    if not targets:
        raise ValueError("y must hold the targets of at least one task; got none.")
    designs = _designs(X, len(targets))
    for t, (design, one) in enumerate(zip(designs, targets)):
        if design.n_samples != one.size:
            raise ValueError(
                f"y[{t}] has {one.size} entries but X[{t}] has {design.n_samples} rows."
            )
        if design.n_features != designs[0].n_features:
            raise ValueError(
                f"X[{t}] has {design.n_features} columns but X[0] has {designs[0].n_features}; all "
                "tasks need the same columns."
            )
    weights = normalized_weights(sample_weight, designs)
    per_task = _constraints(constraints, len(targets))
    samples = _samples_of_tasks(loss, targets, weights, fit_intercept)
    return tuple(map(Task.make, designs, samples, per_task))


def _samples_of_tasks(
    loss: Loss, targets: list[NDArray[Any]], weights: list[NDArray[np.float64]], fit_intercept: bool
) -> list[Samples]:
    """Check the targets of all tasks together and return the samples of each.

    Margin losses take two labels over all tasks; one task alone may hold only one of them. If all
    labels are -1 or 1 these are the signs, even if one of them never occurs.
    """
    together = np.concatenate(targets)
    if loss.of == "margin" and together.dtype.kind in "iuf":
        signs = np.array([-1, 1], dtype=together.dtype if together.dtype.kind != "u" else int)
        if np.isin(together, signs).all():
            together = np.concatenate([together, signs])  # both are known, present or not
    encoded = loss.encode(together)
    found = []
    for end, weight in zip(np.cumsum([one.size for one in targets]), weights):
        direction, offset = (part[end - weight.size : end].copy() for part in encoded)
        found.append(Samples((loss,), None, direction, offset, weight, bool(fit_intercept)))
    return found


def _designs(X: Any, n_tasks: int) -> list[Design]:
    if isinstance(X, (list, tuple)) and not _is_matrix_of_numbers(X):
        if len(X) != n_tasks:
            raise ValueError(f"X holds {len(X)} tasks but y holds {n_tasks}.")
        seen: dict[int, Design] = {}
        designs = []
        for t, one in enumerate(X):  # tasks with the same matrix share it, and its checks
            if id(one) not in seen:
                seen[id(one)] = as_design(one, f"X[{t}]")
            designs.append(seen[id(one)])
        return designs
    return [as_design(X)] * n_tasks


def _is_matrix_of_numbers(X: Sequence[Any]) -> bool:
    """Whether a list is one matrix written as rows of numbers."""
    first = X[0] if len(X) else None
    return isinstance(first, (list, tuple)) and bool(first) and np.isscalar(first[0])


def normalized_weights(
    given: Sequence[ArrayLike] | None, designs: list[Design]
) -> list[NDArray[np.float64]]:
    """Return weights that sum to one in each task, or raise where they cannot."""
    if given is not None and len(given) != len(designs):
        raise ValueError(f"sample_weight holds {len(given)} tasks but y holds {len(designs)}.")
    pairs = enumerate(zip([None] * len(designs) if given is None else given, designs, strict=True))
    weights = [checked_weight(w, one.n_samples, f"sample_weight[{t}]") for t, (w, one) in pairs]
    return [one / one.sum() for one in weights]


def _constraints(given: Any, n_tasks: int) -> list[tuple[Constraint, ...]]:
    """Return the constraints of each task: the same for all, or one sequence per task."""
    if given is None:
        given = ()
    if isinstance(given, Constraint):
        given = (given,)
    given = tuple(given)
    if all(isinstance(one, Constraint) for one in given):
        return [given] * n_tasks
    if len(given) != n_tasks:
        raise ValueError(
            f"constraints must hold Constraint objects, or one sequence of them per task: "
            f"{n_tasks} tasks, but {len(given)} entries."
        )
    return [
        (one,) if isinstance(one, Constraint) else tuple(() if one is None else one)
        for one in given
    ]
