"""The two real data sets, and the synthetic ones."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

TASKS, ROWS, RANK = 200, 500, 5


def _read(name: str) -> dict[str, np.ndarray]:
    folder = os.environ.get("RECTILINE_DATA")
    if not folder:
        raise SystemExit("Set RECTILINE_DATA to the folder that holds the data sets.")
    with np.load(Path(folder) / f"{name}.npz", allow_pickle=False) as stored:
        return {key: stored[key] for key in stored.files}


def _standardised(X: np.ndarray) -> np.ndarray:
    spread = X.std(axis=0)
    return (X - X.mean(axis=0))[:, spread > 0] / spread[spread > 0]


def read_school() -> tuple[list[np.ndarray], list[np.ndarray]]:
    """Rows and marks of each school; columns standardised over all rows, constants dropped."""
    data = _read("school")
    X, ids = _standardised(data["X"].astype(float)), data["task_id"]
    groups = [np.flatnonzero(ids == t) for t in np.unique(ids)]
    return [X[g] for g in groups], [data["y"][g].astype(float) for g in groups]


def read_yeast() -> tuple[np.ndarray, np.ndarray]:
    """Columns standardised over all rows, and labels 0 or 1."""
    data = _read("yeast_multilabel")
    return _standardised(data["X"].astype(float)), (data["Y"] > 0).astype(int)


def synthetic(kind: str, d: int) -> Iterator[tuple[Any, np.ndarray]]:
    """Tasks whose coefficients have rank 5, with dense rows or about 50 entries in each."""
    from scipy import sparse

    rng = np.random.default_rng(0)
    U = rng.standard_normal((d, RANK)) @ rng.standard_normal((RANK, TASKS))
    for t in range(TASKS):
        if kind == "dense":
            X = rng.standard_normal((ROWS, d))
        else:
            X = sparse.random(ROWS, d, density=50 / d, format="csr", random_state=t)
        z = X @ U[:, t]
        yield X, z / z.std() + 0.3 * rng.standard_normal(ROWS)
