"""Which rows of each task are held out, fold by fold."""

from __future__ import annotations

from collections.abc import Iterator
from numbers import Integral
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.model_selection import check_cv

from rectiline.estimators.multitask._inputs import TaskData

Masks = list[NDArray[np.bool_]]

__all__ = ["folds"]


def folds(data: TaskData, cv: Any, seed: int) -> Iterator[Masks]:
    """Yield, for each fold, which rows of each task are held out.

    A number of folds splits tasks with rows of their own task by task, so that each keeps its share
    of rows, and tasks that share X by rows, so that they go on sharing it. A splitter splits
    the rows of X. A task always keeps a row of positive weight to train on.
    """
    count = 5 if cv is None else cv
    if isinstance(count, Integral):
        split = _shared_masks if data.form == "shared" else _own_masks
        masks = split(data, int(count), seed)
    else:
        masks = _splitter_masks(data, cv)
    for held_out in masks:
        for t, mask in enumerate(held_out):
            counted = np.flatnonzero(np.ones(mask.size) if data.weight is None else data.weight[t])
            if mask[counted].all():
                mask[counted[0]] = False
        yield held_out


def _own_masks(data: TaskData, count: int, seed: int) -> Iterator[Masks]:
    rng = np.random.default_rng(seed)
    # Dealing out rows one by one from a random fold keeps the folds even over many small tasks.
    fold_of = [rng.permutation((np.arange(y.size) + rng.integers(count)) % count) for y in data.y]
    for k in range(count):
        yield [fold == k for fold in fold_of]


def _shared_masks(data: TaskData, count: int, seed: int) -> Iterator[Masks]:
    assert data.rows is not None
    n = 1 + max(int(rows[-1]) for rows in data.rows if rows.size)
    fold_of = np.random.default_rng(seed).permutation(np.arange(n) % count)
    for k in range(count):
        yield [fold_of[rows] == k for rows in data.rows]


def _splitter_masks(data: TaskData, cv: Any) -> Iterator[Masks]:
    if data.rows is None:
        raise ValueError("cv must be a number of folds when X is a list with one matrix per task.")
    n = 1 + max(int(rows[-1]) for rows in data.rows if rows.size)
    for _, test in check_cv(cv).split(np.zeros((n, 1))):
        out = np.zeros(n, dtype=bool)
        out[test] = True
        yield [out[rows] for rows in data.rows]
