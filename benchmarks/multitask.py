"""Many tasks with a shared subspace, which no rival solves: speed, memory, quality.

    python -m benchmarks.multitask [--parts tiny size school]

- tiny: 200 tasks of 20 rows, losses without a closed form;
- size: 200 tasks, 1,000 dense or 20,000 sparse columns; seconds and memory;
- school: explained variance on held-out rows, 75, 40 and 20 % of each school's rows for training.

The data folder is named by RECTILINE_DATA and holds ``school.npz`` (X, y, task_id). Nothing is
downloaded.
"""

from __future__ import annotations

import os
import resource
import time
import warnings
from collections.abc import Callable, Iterator
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np

from . import machine, store
from .process import apart

Row = dict[str, Any]
Rows = list[tuple[np.ndarray, np.ndarray]]  # X and y of each task
Arrays = list[np.ndarray]
SPLITS = 10


def solve(X: list[Any], y: Arrays, loss: Any, dimension: int) -> tuple[Any, float]:
    """Return the certified answer and its CPU seconds."""
    from rectiline.penalties import SharedSubspace
    from rectiline.problems import MultiTaskProblem
    from rectiline.solvers import solve_multitask

    began = time.process_time()
    answer = solve_multitask(MultiTaskProblem(X, y, loss, SharedSubspace(dimension, 1.0, 0.1)))
    return answer, time.process_time() - began


def tiny() -> Iterator[Row]:
    """200 tasks of 20 rows and 10 columns, rank 2, h = 2: what a task costs in a pass."""
    from rectiline import losses

    rng = np.random.default_rng(0)
    m, n, d = 200, 20, 10
    U = rng.normal(size=(d, 2)) @ rng.normal(size=(2, m))
    X = [rng.normal(size=(n, d)) for _ in range(m)]
    z = [rows @ u + 0.5 * rng.normal(size=n) for rows, u in zip(X, U.T)]
    for loss in (losses.Hinge(), losses.SquaredHinge(), losses.Huber(0.7), losses.Pinball(0.3)):
        y = [np.where(one > 0, 1.0, -1.0) for one in z] if loss.of == "margin" else z
        answer, seconds = solve(X, y, loss, 2)
        gap, passes = answer.certificate.relative_gap, answer.n_iter
        row = {"what": loss.name, "CPU s": f"{seconds:.2f}", "gap": f"{gap:.0e}", "passes": passes}
        yield row | {"ms per task and pass": f"{1e3 * seconds / passes / m:.2f}"}


TASKS, ROWS = 200, 500


def size() -> Iterator[Row]:
    """Memory in MB beyond X while solving, against X and one matrix of coefficients."""
    for kind, d in {"dense": 1_000, "sparse": 20_000}.items():
        found = apart(measure_size, kind == "sparse", d)
        coefficients = d * TASKS * 8 / 1e6
        share = found["more"] / (found["X"] + coefficients)
        row = {"what": f"{kind}, d = {d:,}", "CPU s": f"{found['seconds']:.0f}"}
        row |= {"gap": f"{found['gap']:.0e}", "passes": found["passes"], "X": f"{found['X']:.0f}"}
        row |= {"d x tasks": f"{coefficients:.1f}", "more": f"{found['more']:.0f}"}
        yield row | {"of X + d x tasks": f"{share:.2f}"}


def measure_size(is_sparse: bool, d: int) -> dict[str, Any]:
    """Solve tasks whose coefficients have rank 5, with dense rows or about 50 entries in each."""
    from scipy import sparse

    from rectiline.losses import SquaredError

    rng = np.random.default_rng(0)
    U = rng.standard_normal((d, 5)) @ rng.standard_normal((5, TASKS))
    X, y = [], []
    for t in range(TASKS):
        if is_sparse:
            X.append(sparse.random(ROWS, d, density=50 / d, format="csr", random_state=t))
        else:
            X.append(rng.standard_normal((ROWS, d)))
        z = X[t] @ U[:, t]
        y.append(z / z.std() + 0.3 * rng.standard_normal(ROWS))
    np.linalg.qr(np.ones((300, 300)) @ np.ones((300, 300)))  # buffers of the linear algebra
    parts = [(one.data, one.indices, one.indptr) if is_sparse else (one,) for one in X]
    stored = sum(part.nbytes for some in parts for part in some) / 1e6
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    before = pages * os.sysconf("SC_PAGE_SIZE") / 1e6
    answer, seconds = solve(X, y, SquaredError(), 5)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024 / 1e6
    about = {"seconds": seconds, "passes": answer.n_iter, "gap": answer.certificate.relative_gap}
    return about | {"X": stored, "more": peak - before}


# ---- school -------------------------------------------------------------------------------------


def school() -> Iterator[Row]:
    """Explained variance on the test rows in percent, for every model and share of rows."""
    shares = {"75%": 0.75, "40%": 0.4, "20%": 0.2}
    parts = {name: [scores(share, k) for k in range(SPLITS)] for name, share in shares.items()}
    for model in MODELS:
        found = {name: [one[model] for one in some] for name, some in parts.items()}
        spread = {k: f"{np.mean(v):.1f} +- {np.std(v, ddof=1):.1f}" for k, v in found.items()}
        yield {"what": model, **spread}


def read_school() -> Rows:
    """Rows and marks of each school; columns standardised over all rows, constants dropped."""
    folder = os.environ.get("RECTILINE_DATA")
    if not folder:
        raise SystemExit("Set RECTILINE_DATA to the folder that holds the data sets.")
    with np.load(Path(folder) / "school.npz", allow_pickle=False) as data:
        X, y, ids = data["X"].astype(float), data["y"].astype(float), data["task_id"]
    spread = X.std(axis=0)
    X = (X - X.mean(axis=0))[:, spread > 0] / spread[spread > 0]
    return [(X[ids == t], y[ids == t]) for t in np.unique(ids)]


def scores(share: float, seed: int) -> dict[str, float]:
    """Explained variance of every model on the rows that are left out in one split.

    Strengths are chosen on a quarter of the training rows.
    """
    fit, held = split(read_school(), share, seed)
    inner, chosen_on = split(fit, 0.75, 1234)
    found = {}
    for name, (grid, model) in MODELS.items():
        best = max(grid, key=lambda one, m=model: explained(chosen_on, m, inner, one))
        found[name] = 100.0 * explained(held, model, fit, best)
    return found


def explained(held: Rows, model: Callable[..., Arrays], fit: Rows, candidate: Any) -> float:
    truth = np.concatenate([marks for _, marks in held])
    guess = np.concatenate(model(fit, [rows for rows, _ in held], candidate))
    return 1.0 - float(np.sum((truth - guess) ** 2) / np.sum((truth - truth.mean()) ** 2))


def split(tasks: Rows, share: float, seed: int) -> tuple[Rows, Rows]:
    rng = np.random.default_rng(seed)
    fit, held = [], []
    for X, y in tasks:
        order = rng.permutation(len(y))
        k = max(2, round(share * len(y)))
        fit.append((X[order[:k]], y[order[:k]]))
        held.append((X[order[k:]], y[order[k:]]))
    return fit, held


def ridge(X: np.ndarray, y: np.ndarray, strength: float) -> Any:
    from sklearn.linear_model import Ridge

    return Ridge(strength * len(y)).fit(X, y)


def means(fit: Rows, new: Arrays, _: Any) -> Arrays:
    return [np.full(len(rows), marks.mean()) for (_, marks), rows in zip(fit, new)]


def independent(fit: Rows, new: Arrays, strength: float) -> Arrays:
    return [ridge(*part, strength).predict(more) for part, more in zip(fit, new)]


def pooled(fit: Rows, new: Arrays, strength: float) -> Arrays:
    found = ridge(np.vstack([X for X, _ in fit]), np.concatenate([y for _, y in fit]), strength)
    return [found.predict(more) for more in new]


def pooled_slopes(fit: Rows, new: Arrays, strength: float) -> Arrays:
    centred = [(X - X.mean(axis=0), y - y.mean()) for X, y in fit]
    X, y = np.vstack([X for X, _ in centred]), np.concatenate([y for _, y in centred])
    u = ridge(X, y, strength).coef_
    return [y.mean() + (more - X.mean(axis=0)) @ u for (X, y), more in zip(fit, new)]


def shared(fit: Rows, new: Arrays, candidate: Any, center: bool) -> Arrays:
    from rectiline import MultiTaskRegressor

    named = dict(zip(("shared_dim", "alpha", "beta"), candidate))
    model = MultiTaskRegressor(**named, center=center, tol=1e-3)
    return list(model.fit(*map(list, zip(*fit))).predict(new))


SUBSPACES = list(product((1, 2, 4), (0.1, 1.0, 10.0, 100.0), (0.01, 0.1, 1.0)))
MODELS: dict[str, tuple[Any, Callable[..., Arrays]]] = {
    "school means only": ([None], means),
    "independent ridge": (np.logspace(-2, 2, 9), independent),
    "one model for all": (np.logspace(-6, 1, 8), pooled),
    "one slope vector, own intercepts": (np.logspace(-6, 1, 8), pooled_slopes),
    "shared subspace": (SUBSPACES, lambda *given: shared(*given, center=False)),
    "shared subspace, center=True": (SUBSPACES, lambda *given: shared(*given, center=True)),
}


def rows(parts: list[str]) -> Iterator[Row]:
    """Yield the rows of some parts."""
    about = machine.describe()
    warnings.simplefilter("ignore")
    for part in parts:
        for row in {"tiny": tiny, "size": size, "school": school}[part]():
            yield {"part": part, **row, **{k: about[k] for k in ("cpu", "date", "revision")}}


if __name__ == "__main__":
    store.run(rows, ("part", "what"), parts=["tiny", "size", "school"])
