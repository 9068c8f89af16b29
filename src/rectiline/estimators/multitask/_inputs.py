"""The ways to hand over tasks, read into one.

- stacked: rows of all tasks in X, one target per row, ``tasks`` says which task a row belongs to;
- listed: one X and one y per task;
- shared: one X for all tasks, one column of Y per task, NaN where a row is not in a task;
- single: a vector y without ``tasks`` is one task.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray
from scipy import sparse as sp
from sklearn.utils import check_array, check_consistent_length, column_or_1d
from sklearn.utils.validation import validate_data

from rectiline._numbers import refuse_masked
from rectiline._typing import Indices
from rectiline.backends import TableEncoder, take_rows
from rectiline.estimators._check import READABLE, check_weight

Form = Literal["stacked", "listed", "shared", "single"]


@dataclass(frozen=True, eq=False)
class TaskData:
    """Rows, targets and weights of each task, and how they came.

    ``places`` holds, for each task, the places of its rows in the user's X (None when listed).
    """

    X: list[Any]
    y: list[NDArray[Any]]
    weight: list[NDArray[np.float64]]
    labels: list[Any]
    form: Form
    places: list[Indices] | None = None
    targets: list[NDArray[Any]] = field(default_factory=list)  # numbers that the losses see
    rounded: Any = None  # the shared subspace of an answer

    @property
    def n_tasks(self) -> int:
        """Number of tasks."""
        return len(self.y)


def is_listed(X: Any) -> bool:
    """Whether X is a list of matrices rather than one matrix."""
    if not isinstance(X, (list, tuple)) or not X:
        return False
    first = X[0]
    if hasattr(first, "ndim"):
        return int(first.ndim) == 2
    return isinstance(first, (list, tuple)) and bool(first) and isinstance(first[0], (list, tuple))


def read_tasks(estimator: Any, X: Any, y: Any, tasks: Any, sample_weight: Any) -> TaskData:
    """Return the tasks in X and y, all checked; note the columns of X on the estimator."""
    for name, given in (("X", X), ("y", y), ("sample_weight", sample_weight)):
        for one in given if isinstance(given, (list, tuple)) else (given,):
            refuse_masked(name, one)
    if is_listed(X):
        if tasks is not None:
            raise ValueError("tasks must be None when X is a list with one matrix per task.")
        return _read_listed(estimator, X, y, sample_weight)
    if y is None:
        raise ValueError(
            f"This {type(estimator).__name__} estimator requires y to be passed, but the target y "
            "is None."
        )
    is_vector = (y.ndim if hasattr(y, "ndim") else np.ndim(np.asarray(y))) < 2
    if tasks is None and not is_vector:
        return _read_shared(estimator, X, y, sample_weight)
    X, y = validate_data(estimator, X, y, y_numeric=estimator._numeric_targets, **READABLE)
    labels, codes = [0], np.zeros(X.shape[0], dtype=np.intp)
    if tasks is not None:
        labels, codes = place_tasks(tasks, X.shape[0])
    rows = [np.flatnonzero(codes == k) for k in range(len(labels))]
    form: Form = "single" if tasks is None else "stacked"
    return _split(X, [y[where] for where in rows], sample_weight, rows, labels, form)


def _split(
    X: Any,
    targets: list[NDArray[Any]],
    sample_weight: Any,
    rows: list[Indices],
    labels: list[Any],
    form: Form,
) -> TaskData:
    """Return the tasks whose rows are some of those of X; those with the same rows share them."""
    weight = check_weight(sample_weight, X)
    if sp.issparse(X) and X.format != "csr" and any(one.size < X.shape[0] for one in rows):
        X = X.tocsr()
    parts = {where.tobytes(): where for where in rows}
    matrices = {key: _rows(X, where) for key, where in parts.items()}
    own = [matrices[where.tobytes()] for where in rows]
    return TaskData(own, targets, [weight[where] for where in rows], labels, form, rows)


def _read_listed(estimator: Any, X: Sequence[Any], y: Any, sample_weight: Any) -> TaskData:
    if not isinstance(y, (list, tuple)) or len(y) != len(X):
        given = len(y) if isinstance(y, (list, tuple)) else type(y).__name__
        raise ValueError(f"y must be a list with one entry per task, {len(X)}; got {given}.")
    matrices, targets = [], []
    for t, (rows, target) in enumerate(zip(X, y)):
        matrices.append(validate_data(estimator, rows, reset=t == 0, **READABLE))
        target = column_or_1d(target)
        check_consistent_length(rows, target)
        if estimator._numeric_targets:
            target = check_array(target, ensure_2d=False, dtype=np.float64, input_name=f"y[{t}]")
        targets.append(target)
    listed = [None] * len(X) if sample_weight is None else sample_weight
    if len(listed) != len(X):
        raise ValueError(
            f"sample_weight must be a list with one entry per task, {len(X)}; got {len(listed)}."
        )
    weights = [check_weight(w, rows) for w, rows in zip(listed, matrices)]
    return TaskData(matrices, targets, weights, list(range(len(X))), "listed")


def _read_shared(estimator: Any, X: Any, y: Any, sample_weight: Any) -> TaskData:
    X, numeric = validate_data(estimator, X, **READABLE), estimator._numeric_targets
    Y = y.toarray() if sp.issparse(y) else y
    Y = check_array(
        Y,
        dtype=np.float64 if numeric else None,
        ensure_all_finite="allow-nan" if numeric or np.asarray(Y).dtype.kind == "f" else False,
        input_name="y",
    )
    check_consistent_length(X, Y)
    columns = np.split(Y, Y.shape[1], axis=1)
    rows = [np.flatnonzero(TableEncoder.complete(column)) for column in columns]
    for t, where in enumerate(rows):
        if not where.size:
            raise ValueError(f"y[:, {t}] has no entry that is not NaN.")
    targets = [Y[where, t] for t, where in enumerate(rows)]
    return _split(X, targets, sample_weight, rows, list(range(Y.shape[1])), "shared")


def flat_pair(found: Any, y: Any, weight: Any) -> tuple[NDArray[Any], NDArray[Any], Any]:
    """Return predictions, targets and weights as arrays; lists of tasks are joined."""
    if isinstance(found, list):
        found, y = np.concatenate(found), np.concatenate(y)
        weight = None if weight is None else np.concatenate(weight)
    return found, y.toarray() if sp.issparse(y) else np.asarray(y), weight


def place_tasks(tasks: Any, n: int, known: list[Any] | None = None) -> tuple[list[Any], Indices]:
    """Return the labels of the tasks, and the place of each row's task among them.

    The labels are those of the fit, or without them those in `tasks`, sorted where they can be.
    """
    refuse_masked("tasks", tasks)
    try:
        plain = hasattr(tasks, "tolist")
        ids = tasks.tolist() if plain else [getattr(t, "item", lambda t=t: t)() for t in tasks]
        labels = list(dict.fromkeys(ids))
        if any(label != label for label in labels):
            raise ValueError("tasks holds NaN; give each row of X the label of its task.")
    except TypeError:
        raise ValueError(
            "tasks must be one-dimensional and hold hashable labels, one per row of X; got "
            f"{type(tasks).__name__}."
        ) from None
    if len(ids) != n:
        raise ValueError(f"tasks must have one label per row of X: {n} rows, {len(ids)} labels.")
    if known is None:
        with suppress(TypeError):
            labels = sorted(labels)
        known = labels
    for label in set(labels).difference(known):
        raise ValueError(
            f"tasks[{ids.index(label)}] is {label!r}, which was not among the {len(known)} tasks "
            "in fit."
        )
    places = {label: k for k, label in enumerate(known)}
    return known, np.fromiter(map(places.__getitem__, ids), dtype=np.intp, count=n)


def _rows(X: Any, where: Indices) -> Any:
    """Return rows of X, without a copy when they follow one another."""
    if where.size == X.shape[0]:
        return X
    if where.size and where[-1] - where[0] + 1 == where.size:
        return X[where[0] : where[-1] + 1]
    return take_rows(X, where)
