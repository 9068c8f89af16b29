"""Many tasks with a shared subspace: solvers, quality and size.

Run as ``python -m benchmarks.suites.multitask [solvers|yeast|school|labels|size ...]``; without
names the first four run. The data folder is named by the environment variable RECTILINE_DATA and
holds ``school.npz`` (X, y, task_id) and ``yeast_multilabel.npz`` (X, Y). Nothing is downloaded.

- solvers: school, least squares; passes and seconds until the objective is within 1e-8;
- yeast: hinge on all rows, certified 1e-4, side by side with 14 x 3 LinearSVC fits;
- school: explained variance on held-out rows, 75, 40 and 20 % of each school's rows for training;
- labels: yeast with 300 training rows, macro AUC and F1;
- size: 200 tasks, 1,000 dense or 20,000 sparse columns; seconds and memory.
"""

from __future__ import annotations

import os
import sys
import time
import warnings
from collections.abc import Callable, Iterator
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np

CASES: list[Any] = []  # these races have several tasks each and bring their own loop

ALPHAS = (0.1, 1.0, 10.0, 100.0)
BETAS = (0.01, 0.1, 1.0)
DIMS = (1, 2, 4)


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
    data = _read("yeast_multilabel")
    return _standardised(data["X"].astype(float)), (data["Y"] > 0).astype(int)


# ---- solvers


def solvers() -> None:
    from rectiline.losses import SquaredError
    from rectiline.penalties import SharedSubspace
    from rectiline.problems._multitask import MultiTaskProblem
    from rectiline.solvers.multitask import SOLVERS, solve_multitask
    from rectiline.solvers.multitask._blocks import Block
    from rectiline.solvers.multitask._least_squares import LeastSquaresSteps

    X, y = read_school()
    print("School, least squares, all rows, h = 2: passes (seconds) to 1e-4 / 1e-6 / 1e-8")
    for alpha, eta in ((10.0, 0.1), (1.0, 0.01), (100.0, 0.01)):
        penalty = SharedSubspace(2, alpha, alpha * eta)
        problem = MultiTaskProblem(X, y, SquaredError(), penalty)
        steps = LeastSquaresSteps(problem)
        best = solve_multitask(problem, tol=1e-11, max_iter=2000).objective
        for name in ("bcd_plain", "bcd", "apg"):
            counts = _count(problem, steps, SOLVERS[name](), best, Block)
            cells = [_seconds(problem, steps, SOLVERS[name](), k, Block) for k in counts]
            shown = "  ".join(f"{k} ({s:.3f})" for k, s in zip(counts, cells))
            print(f"  alpha {alpha:g}, eta {eta:g}  {name:10s} {shown}")


def _start(problem: Any, steps: Any, method: Any, block: Any) -> Any:
    near = block(np.zeros((problem.n_features, problem.n_tasks)), np.zeros(problem.n_tasks))
    return method.start(problem, steps, near, problem.start_subspace(near.coef))


def _count(problem: Any, steps: Any, method: Any, best: float, block: Any) -> list[int]:
    state, found, targets = _start(problem, steps, method, block), [], [1e-4, 1e-6, 1e-8]
    for k in range(1, 1000):
        answer = method.advance(state, 1, 1.0)
        value = problem.objective(answer.coef, answer.intercept)
        while targets and value - best <= targets[0] * best:
            found.append(k)
            targets.pop(0)
        if not targets:
            break
    return found


def _seconds(problem: Any, steps: Any, method: Any, passes: int, block: Any) -> float:
    def once() -> float:
        state = _start(problem, steps, method, block)
        began = time.perf_counter()
        method.advance(state, passes, 1.0)
        return time.perf_counter() - began

    return min(once() for _ in range(5))


# ---- yeast against independent fits


def yeast() -> None:
    from sklearn.svm import LinearSVC

    from rectiline.losses import Hinge
    from rectiline.penalties import SharedSubspace
    from rectiline.problems._multitask import MultiTaskProblem
    from rectiline.solvers.multitask import solve_multitask

    X, Y = read_yeast()
    signs = [np.where(column > 0, 1.0, -1.0) for column in Y.T]
    print("Yeast, hinge, all rows, 14 labels, h = 2: certified 1e-4 against 14 x 3 LinearSVC fits")
    for alpha, eta in ((0.1, 0.1), (0.01, 0.1), (0.001, 0.1)):
        beta = alpha * eta
        problem = MultiTaskProblem(X, signs, Hinge(), SharedSubspace(2, alpha, beta))
        began = time.perf_counter()
        answer = solve_multitask(problem, tol=1e-4)
        ours = time.perf_counter() - began
        began = time.perf_counter()
        for C in (0.1, 1.0, 10.0):
            for column in signs:
                C_own = C / (2.0 * beta * len(column))
                LinearSVC(loss="hinge", C=C_own, tol=1e-4, max_iter=10**7).fit(X, column)
        theirs = time.perf_counter() - began
        print(
            f"  alpha {alpha:g}, eta {eta:g}: {ours:.2f} s, gap "
            f"{answer.certificate.relative_gap:.0e}, {answer.n_iter} passes; "
            f"42 LinearSVC fits {theirs:.2f} s"
        )


# ---- quality


def school(splits: int = 10, shares: tuple[float, ...] = (0.75, 0.4, 0.2)) -> None:
    """Explained variance on held-out rows; strengths chosen on a quarter of the training rows."""
    X, y = read_school()
    models: dict[str, Callable[..., Any]] = {
        "school means only": _means,
        "independent ridge": _independent,
        "one model for all": _pooled,
        "one slope vector, own intercepts": _pooled_slopes,
        "shared subspace": lambda *a: _shared(*a, center=False),
        "shared subspace, center=True": lambda *a: _shared(*a, center=True),
    }
    print(f"School: explained variance on held-out rows, %, {splits} splits")
    for share in shares:
        table: dict[str, list[float]] = {name: [] for name in models}
        for seed in range(splits):
            fit, held = _split(X, y, share, seed)
            for name, model in models.items():
                predicted = np.concatenate(model(fit, [rows for rows, _ in held]))
                truth = np.concatenate([marks for _, marks in held])
                left = np.sum((truth - predicted) ** 2)
                table[name].append(100 * (1 - left / np.sum((truth - truth.mean()) ** 2)))
        for name, values in table.items():
            print(
                f"  {share:.0%}  {name:34s} {np.mean(values):5.1f} +- {np.std(values, ddof=1):.1f}"
            )
        won = np.sum(
            np.array(table["shared subspace, center=True"])
            > np.array(table["one slope vector, own intercepts"])
        )
        print(f"  {share:.0%}  centred beats own intercepts in {won} of {splits} splits")


Rows = list[tuple[np.ndarray, np.ndarray]]


def _split(X: list[np.ndarray], y: list[np.ndarray], share: float, seed: int) -> tuple[Rows, Rows]:
    rng = np.random.default_rng(seed)
    fit, held = [], []
    for rows, marks in zip(X, y):
        order = rng.permutation(len(marks))
        k = max(2, round(share * len(marks)))
        fit.append((rows[order[:k]], marks[order[:k]]))
        held.append((rows[order[k:]], marks[order[k:]]))
    return fit, held


def _means(fit: Rows, new: list[np.ndarray]) -> list[np.ndarray]:
    return [np.full(len(rows), marks.mean()) for (_, marks), rows in zip(fit, new)]


def _ridge(X: np.ndarray, y: np.ndarray, strength: float) -> np.ndarray:
    return np.linalg.solve(X.T @ X + strength * np.eye(X.shape[1]), X.T @ y)


def _chosen(fit: Rows, new: list[np.ndarray], grid: Any, model: Callable[..., Any]) -> Any:
    """Fit every candidate on three quarters, keep the best on the rest, fit again on everything."""
    inner, held = _split([r for r, _ in fit], [m for _, m in fit], 0.75, 1234)
    truth = np.concatenate([marks for _, marks in held])

    def miss(candidate: Any) -> float:
        found = np.concatenate(model(inner, [rows for rows, _ in held], candidate))
        return float(np.sum((truth - found) ** 2))

    return model(fit, new, min(grid, key=miss))


def _independent(fit: Rows, new: list[np.ndarray]) -> list[np.ndarray]:
    def model(fit: Rows, new: list[np.ndarray], strength: float) -> list[np.ndarray]:
        found = []
        for (rows, marks), more in zip(fit, new):
            mean, level = rows.mean(axis=0), marks.mean()
            u = _ridge(rows - mean, marks - level, strength * len(marks))
            found.append(level + (more - mean) @ u)
        return found

    return _chosen(fit, new, np.logspace(-2, 2, 9), model)


def _pooled(fit: Rows, new: list[np.ndarray]) -> list[np.ndarray]:
    def model(fit: Rows, new: list[np.ndarray], strength: float) -> list[np.ndarray]:
        X, y = np.vstack([r for r, _ in fit]), np.concatenate([m for _, m in fit])
        mean, level = X.mean(axis=0), y.mean()
        u = _ridge(X - mean, y - level, strength * len(y))
        return [level + (more - mean) @ u for more in new]

    return _chosen(fit, new, np.logspace(-6, 1, 8), model)


def _pooled_slopes(fit: Rows, new: list[np.ndarray]) -> list[np.ndarray]:
    def model(fit: Rows, new: list[np.ndarray], strength: float) -> list[np.ndarray]:
        X = np.vstack([r - r.mean(axis=0) for r, _ in fit])
        y = np.concatenate([m - m.mean() for _, m in fit])
        u = _ridge(X, y, strength * len(y))
        return [m.mean() + (more - r.mean(axis=0)) @ u for (r, m), more in zip(fit, new)]

    return _chosen(fit, new, np.logspace(-6, 1, 8), model)


def _shared(fit: Rows, new: list[np.ndarray], center: bool) -> list[np.ndarray]:
    from rectiline.estimators.multitask import MultiTaskRegressor

    warm = MultiTaskRegressor(center=center, tol=1e-4, warm_start=True)

    def model(fit: Rows, new: list[np.ndarray], candidate: Any) -> list[np.ndarray]:
        warm.set_params(**dict(zip(("shared_dim", "alpha", "beta"), candidate)))
        warm.fit([r for r, _ in fit], [m for _, m in fit])
        return list(warm.predict(new))

    return _chosen(fit, new, list(product(DIMS, ALPHAS, BETAS)), model)


def labels(splits: int = 4) -> None:
    """Yeast with few training rows: does the shared subspace help at all?"""
    from sklearn.metrics import f1_score, roc_auc_score

    from rectiline.estimators.multitask import MultiTaskClassifierCV

    X, Y = read_yeast()
    print(f"Yeast, hinge, 300 training rows, {splits} splits: macro AUC / macro F1 / micro F1")
    for name, dims in (("independent", [X.shape[1]]), ("shared subspace", [1, 2, 4])):
        rows = []
        for seed in range(splits):
            order = np.random.default_rng(seed).permutation(len(Y))
            train, test = order[:300], order[300:]
            model = MultiTaskClassifierCV(
                shared_dims=dims, alphas=(0.01, 0.1, 1.0), betas=(0.1, 0.01, 0.001), cv=4, tol=1e-4
            ).fit(X[train], Y[train])
            scores, found = model.decision_function(X[test]), model.predict(X[test])
            auc = roc_auc_score(Y[test], scores, average="macro")
            f1 = [f1_score(Y[test], found, average=a, zero_division=0) for a in ("macro", "micro")]
            rows.append([auc, *f1])
        print(f"  {name:16s} " + " / ".join(f"{v:.3f}" for v in np.mean(rows, axis=0)))


# ---- size


def size() -> None:
    import resource

    from rectiline.losses import SquaredError
    from rectiline.penalties import SharedSubspace
    from rectiline.problems._multitask import MultiTaskProblem
    from rectiline.solvers.multitask import solve_multitask

    print("200 tasks of 500 rows, rank 5, least squares, certified 1e-6")
    for name, d in (("dense", 1_000), ("sparse", 20_000)):
        X, y = map(list, zip(*_synthetic(name, d)))
        stored = sum(one.data.nbytes if name == "sparse" else one.nbytes for one in X)
        before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        problem = MultiTaskProblem(X, y, SquaredError(), SharedSubspace(5, 1.0, 0.1))
        answer = solve_multitask(problem, n_threads=None)
        more = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) / 1e3
        print(
            f"  {name}, d = {d}: {answer.seconds:.0f} s, {answer.n_iter} passes, gap "
            f"{answer.certificate.relative_gap:.0e}; X {stored / 1e6:.0f} MB, d x tasks "
            f"{200 * d * 8 / 1e6:.0f} MB, {more:.0f} MB more while solving"
        )


def _synthetic(kind: str, d: int) -> Iterator[tuple[Any, np.ndarray]]:
    from scipy import sparse

    rng = np.random.default_rng(0)
    U = rng.standard_normal((d, 5)) @ rng.standard_normal((5, 200))
    for t in range(200):
        if kind == "dense":
            X = rng.standard_normal((500, d))
        else:
            X = sparse.random(500, d, density=50 / d, format="csr", random_state=t)
        z = X @ U[:, t]
        yield X, z / z.std() + 0.3 * rng.standard_normal(500)


PARTS = {"solvers": solvers, "yeast": yeast, "school": school, "labels": labels, "size": size}


def main(names: list[str]) -> None:
    """Run the named parts."""
    warnings.simplefilter("ignore")
    for name in names or ["solvers", "yeast", "school", "labels"]:
        if name not in PARTS:
            raise SystemExit(f"part {name!r}: known are {', '.join(PARTS)}")
        PARTS[name]()


if __name__ == "__main__":
    main(sys.argv[1:])
