"""Many tasks with a shared subspace, which no rival solves: speed, memory, quality.

    python -m benchmarks run multitask [--filter PART]

- tiny: 200 tasks of 20 rows, losses without a closed form;
- size: 200 tasks, 1,000 dense or 20,000 sparse columns; seconds and memory;
- school: explained variance on held-out rows, 75, 40 and 20 % of each school's rows for training.

The data folder is named by RECTILINE_DATA and holds ``school.npz`` (X, y, task_id). Nothing is
downloaded. Tables go to ``results/multitask.json``.
"""

from __future__ import annotations

import json
import os
import resource
import subprocess
import sys
import time
import warnings
from collections.abc import Callable, Iterator
from itertools import product
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from . import machine, store
from .process import ROOT

Rows = list[tuple[np.ndarray, np.ndarray]]
Columns = list[np.ndarray]
SPLITS = 10
CENTRED = "shared subspace, center=True"


class Table(NamedTuple):
    """What a part found, as text."""

    title: str
    header: tuple[str, ...]
    lines: list[tuple[str, ...]]


def run(names: list[str]) -> None:
    """Run the named parts, all of them without names, and write down what they find."""
    for name in names or list(PARTS):
        if name not in PARTS:
            raise SystemExit(f"part {name!r}: known are {', '.join(PARTS)}")
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            table = PARTS[name]()
        print(table.title, *map(", ".join, [table.header, *table.lines]), sep="\n", flush=True)
        entry = {**table._asdict(), "machine": machine.describe()}
        store.update(
            store.RESULTS / "multitask.json",
            lambda old, name=name, entry=entry: {**old, name: entry},
        )


def _spread(values: Any, digits: int) -> str:
    return f"{np.mean(values):.{digits}f} +- {np.std(values, ddof=1):.{digits}f}"


# ---- data


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


def synthetic(kind: str, d: int) -> Iterator[tuple[Any, np.ndarray]]:
    """Tasks whose coefficients have rank 5, with dense rows or about 50 entries in each."""
    from scipy import sparse

    rng = np.random.default_rng(0)
    U = rng.standard_normal((d, 5)) @ rng.standard_normal((5, TASKS))
    for t in range(TASKS):
        if kind == "dense":
            X = rng.standard_normal((ROWS, d))
        else:
            X = sparse.random(ROWS, d, density=50 / d, format="csr", random_state=t)
        z = X @ U[:, t]
        yield X, z / z.std() + 0.3 * rng.standard_normal(ROWS)


# ---- many tiny tasks


def tiny() -> Table:
    """200 tasks of 20 rows and 10 columns, rank 2: what a task costs in a pass."""
    from rectiline import losses
    from rectiline.penalties import SharedSubspace
    from rectiline.problems import MultiTaskProblem
    from rectiline.solvers.multitask import solve_multitask

    rng = np.random.default_rng(0)
    m, n, d = 200, 20, 10
    U = rng.normal(size=(d, 2)) @ rng.normal(size=(2, m))
    X = [rng.normal(size=(n, d)) for _ in range(m)]
    z = [rows @ u + 0.5 * rng.normal(size=n) for rows, u in zip(X, U.T)]
    lines = []
    for loss in (losses.Hinge(), losses.SquaredHinge(), losses.Huber(0.7), losses.Pinball(0.3)):
        y = [np.where(one > 0, 1.0, -1.0) for one in z] if loss.of == "margin" else z
        problem = MultiTaskProblem(X, y, loss, SharedSubspace(2, 1.0, 0.1))
        began = time.process_time()
        answer = solve_multitask(problem)
        seconds = time.process_time() - began
        gap, passes = answer.certificate.relative_gap, answer.n_iter
        each = f"{1e3 * seconds / passes / m:.2f}"
        lines.append((loss.name, f"{seconds:.2f}", f"{gap:.0e}", str(passes), each))
    title = "200 tasks of 20 rows, 10 columns, h = 2, certified 1e-6"
    header = ("loss", "CPU s", "gap", "passes", "ms per task and pass")
    return Table(title, header, lines)


# ---- size

TASKS, ROWS = 200, 500
COLUMNS = {"dense": 1_000, "sparse": 20_000}


def size() -> Table:
    """Memory beyond X while solving, against X and one matrix of coefficients."""
    lines = []
    for kind, d in COLUMNS.items():
        command = [sys.executable, "-W", "ignore", "-m", "benchmarks.multitask", kind]
        done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
        found = json.loads(done.stdout)
        coefficients, more = d * TASKS * 8 / 1e6, found["more_mb"]
        lines.append(
            (
                f"{kind}, d = {d:,}",
                f"{found['seconds']:.0f}",
                str(found["passes"]),
                f"{found['gap']:.0e}",
                f"{found['x_mb']:.0f}",
                f"{coefficients:.1f}",
                f"{more:.0f}",
                f"{more / (found['x_mb'] + coefficients):.2f}",
            )
        )
    title = "200 tasks of 500 rows, rank 5, least squares, h = 5, certified 1e-6; memory in MB"
    header = ("problem", "CPU s", "passes", "gap", "X", "d x tasks", "more", "of X + d x tasks")
    return Table(title, header, lines)


def _resident() -> float:
    """Memory of this process in MB (peak where the system does not say)."""
    status = Path("/proc/self/statm")
    if status.exists():
        return int(status.read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE") / 1e6
    return _peak()


def _peak() -> float:
    unit = 1.0 if sys.platform == "darwin" else 1024.0
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit / 1e6


def _one(kind: str) -> dict[str, Any]:
    from rectiline.losses import SquaredError
    from rectiline.penalties import SharedSubspace
    from rectiline.problems import MultiTaskProblem
    from rectiline.solvers.multitask import solve_multitask

    X, y = map(list, zip(*synthetic(kind, COLUMNS[kind])))
    np.linalg.qr(np.ones((300, 300)) @ np.ones((300, 300)))  # buffers of the linear algebra
    parts = [(one,) if kind == "dense" else (one.data, one.indices, one.indptr) for one in X]
    stored = sum(part.nbytes for some in parts for part in some) / 1e6
    before, began = _resident(), time.process_time()
    problem = MultiTaskProblem(X, y, SquaredError(), SharedSubspace(5, 1.0, 0.1))
    answer = solve_multitask(problem)
    return {
        "seconds": time.process_time() - began,
        "passes": answer.n_iter,
        "gap": answer.certificate.relative_gap,
        "x_mb": stored,
        "more_mb": _peak() - before,
    }


# ---- school

SHARES = (0.75, 0.4, 0.2)
SCHOOL_ALPHAS = (0.1, 1.0, 10.0, 100.0)
SCHOOL_BETAS = (0.01, 0.1, 1.0)
DIMS = (1, 2, 4)


def school() -> Table:
    """Explained variance on the test rows, for every model, share and split."""
    parts = {f"{share:.0%}": [scores(share, k) for k in range(SPLITS)] for share in SHARES}
    lines = [
        (name, *(_spread([one[name] for one in some], 1) for some in parts.values()))
        for name in parts["75%"][0]
    ]
    title = f"School: explained variance on held-out rows, %, {SPLITS} splits"
    return Table(title, ("model", *parts), lines)


def scores(share: float, seed: int) -> dict[str, float]:
    """Explained variance of every model on the rows that are left out in one split."""
    models: dict[str, Callable[[Rows, Columns], Columns]] = {
        "school means only": _means,
        "independent ridge": _independent,
        "one model for all": _pooled,
        "one slope vector, own intercepts": _pooled_slopes,
        "shared subspace": lambda fit, new: _shared(fit, new, center=False),
        CENTRED: lambda fit, new: _shared(fit, new, center=True),
    }
    fit, held = _split(*read_school(), share, seed)
    truth = np.concatenate([marks for _, marks in held])
    spread = np.sum((truth - truth.mean()) ** 2)
    found = {}
    for name, model in models.items():
        left = np.sum((truth - np.concatenate(model(fit, [rows for rows, _ in held]))) ** 2)
        found[name] = 100.0 * (1.0 - float(left / spread))
    return found


def _split(X: Columns, y: Columns, share: float, seed: int) -> tuple[Rows, Rows]:
    rng = np.random.default_rng(seed)
    fit, held = [], []
    for rows, marks in zip(X, y):
        order = rng.permutation(len(marks))
        k = max(2, round(share * len(marks)))
        fit.append((rows[order[:k]], marks[order[:k]]))
        held.append((rows[order[k:]], marks[order[k:]]))
    return fit, held


def _chosen(fit: Rows, new: Columns, grid: Any, model: Callable[..., Columns]) -> Columns:
    """Fit every candidate on three quarters, keep the best on the rest, fit again on everything."""
    inner, held = _split([r for r, _ in fit], [m for _, m in fit], 0.75, 1234)
    truth = np.concatenate([marks for _, marks in held])

    def miss(candidate: Any) -> float:
        found = np.concatenate(model(inner, [rows for rows, _ in held], candidate))
        return float(np.sum((truth - found) ** 2))

    return model(fit, new, min(grid, key=miss))


def _means(fit: Rows, new: Columns) -> Columns:
    return [np.full(len(rows), marks.mean()) for (_, marks), rows in zip(fit, new)]


def _ridge(X: np.ndarray, y: np.ndarray, strength: float) -> Any:
    from sklearn.linear_model import Ridge

    return Ridge(strength * len(y)).fit(X, y)


def _independent(fit: Rows, new: Columns) -> Columns:
    def model(fit: Rows, new: Columns, strength: float) -> Columns:
        return [_ridge(*part, strength).predict(more) for part, more in zip(fit, new)]

    return _chosen(fit, new, np.logspace(-2, 2, 9), model)


def _pooled(fit: Rows, new: Columns) -> Columns:
    def model(fit: Rows, new: Columns, strength: float) -> Columns:
        X, y = np.vstack([r for r, _ in fit]), np.concatenate([m for _, m in fit])
        found = _ridge(X, y, strength)
        return [found.predict(more) for more in new]

    return _chosen(fit, new, np.logspace(-6, 1, 8), model)


def _pooled_slopes(fit: Rows, new: Columns) -> Columns:
    def model(fit: Rows, new: Columns, strength: float) -> Columns:
        X = np.vstack([r - r.mean(axis=0) for r, _ in fit])
        y = np.concatenate([m - m.mean() for _, m in fit])
        u = _ridge(X, y, strength).coef_
        return [m.mean() + (more - r.mean(axis=0)) @ u for (r, m), more in zip(fit, new)]

    return _chosen(fit, new, np.logspace(-6, 1, 8), model)


def _shared(fit: Rows, new: Columns, center: bool) -> Columns:
    from rectiline import MultiTaskRegressor

    warm = MultiTaskRegressor(center=center, tol=1e-3, warm_start=True)

    def model(fit: Rows, new: Columns, candidate: Any) -> Columns:
        warm.set_params(**dict(zip(("shared_dim", "alpha", "beta"), candidate)))
        warm.fit([r for r, _ in fit], [m for _, m in fit])
        return list(warm.predict(new))

    return _chosen(fit, new, list(product(DIMS, SCHOOL_ALPHAS, SCHOOL_BETAS)), model)


PARTS: dict[str, Callable[[], Table]] = {
    "tiny": tiny,
    "size": size,
    "school": school,
}

if __name__ == "__main__":
    print(json.dumps(_one(*sys.argv[1:])))
