"""School: what sharing is worth on held-out rows, strengths chosen on a quarter of the rest."""

from __future__ import annotations

from collections.abc import Callable
from itertools import product
from typing import Any

import numpy as np

from .data import read_school
from .tables import Table

Rows = list[tuple[np.ndarray, np.ndarray]]
Columns = list[np.ndarray]

SPLITS = 10
SHARES = (0.75, 0.4, 0.2)
ALPHAS = (0.1, 1.0, 10.0, 100.0)
BETAS = (0.01, 0.1, 1.0)
DIMS = (1, 2, 4)
SLOPES, CENTRED = "one slope vector, own intercepts", "shared subspace, center=True"


def school() -> Table:
    """Explained variance on the test rows, for every model, share and split."""
    return summarised(
        {f"{share:.0%}": [scores(share, k) for k in range(SPLITS)] for share in SHARES}
    )


def scores(share: float, seed: int) -> dict[str, float]:
    """Explained variance of every model on the rows that are left out in one split."""
    models: dict[str, Callable[[Rows, Columns], Columns]] = {
        "school means only": _means,
        "independent ridge": _independent,
        "one model for all": _pooled,
        SLOPES: _pooled_slopes,
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


def summarised(parts: dict[str, list[dict[str, float]]]) -> Table:
    """Means and spreads over the splits, and who beats whom."""
    names = list(parts[f"{SHARES[0]:.0%}"][0])
    scores = {
        name: {share: [one[name] for one in some] for share, some in parts.items()}
        for name in names
    }
    lines = [
        (name, *(_cell(values) for values in parts.values())) for name, parts in scores.items()
    ]
    remarks = []
    for rival in (SLOPES, "independent ridge"):
        for ours in ("shared subspace", CENTRED):
            for share in scores[ours]:
                more = np.subtract(scores[ours][share], scores[rival][share])
                remarks.append(
                    f"{share}: '{ours}' beats '{rival}' in {int(np.sum(more > 0))} of {more.size} "
                    f"splits, by {more.min():+.1f} to {more.max():+.1f} points"
                )
    count = len(parts[f"{SHARES[0]:.0%}"])
    title = f"School: explained variance on held-out rows, %, {count} splits"
    return Table(title, ("model", *(f"{s:.0%}" for s in SHARES)), lines, remarks, scores)


def _cell(values: list[float]) -> str:
    return f"{np.mean(values):.1f} +- {np.std(values, ddof=1):.1f}"


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


def _ridge(X: np.ndarray, y: np.ndarray, strength: float) -> np.ndarray:
    return np.linalg.solve(X.T @ X + strength * np.eye(X.shape[1]), X.T @ y)


def _independent(fit: Rows, new: Columns) -> Columns:
    def model(fit: Rows, new: Columns, strength: float) -> Columns:
        found = []
        for (rows, marks), more in zip(fit, new):
            mean, level = rows.mean(axis=0), marks.mean()
            u = _ridge(rows - mean, marks - level, strength * len(marks))
            found.append(level + (more - mean) @ u)
        return found

    return _chosen(fit, new, np.logspace(-2, 2, 9), model)


def _pooled(fit: Rows, new: Columns) -> Columns:
    def model(fit: Rows, new: Columns, strength: float) -> Columns:
        X, y = np.vstack([r for r, _ in fit]), np.concatenate([m for _, m in fit])
        mean, level = X.mean(axis=0), y.mean()
        u = _ridge(X - mean, y - level, strength * len(y))
        return [level + (more - mean) @ u for more in new]

    return _chosen(fit, new, np.logspace(-6, 1, 8), model)


def _pooled_slopes(fit: Rows, new: Columns) -> Columns:
    def model(fit: Rows, new: Columns, strength: float) -> Columns:
        X = np.vstack([r - r.mean(axis=0) for r, _ in fit])
        y = np.concatenate([m - m.mean() for _, m in fit])
        u = _ridge(X, y, strength * len(y))
        return [m.mean() + (more - r.mean(axis=0)) @ u for (r, m), more in zip(fit, new)]

    return _chosen(fit, new, np.logspace(-6, 1, 8), model)


def _shared(fit: Rows, new: Columns, center: bool) -> Columns:
    from rectiline import MultiTaskRegressor

    warm = MultiTaskRegressor(center=center, tol=1e-3, warm_start=True)

    def model(fit: Rows, new: Columns, candidate: Any) -> Columns:
        warm.set_params(**dict(zip(("shared_dim", "alpha", "beta"), candidate)))
        warm.fit([r for r, _ in fit], [m for _, m in fit])
        return list(warm.predict(new))

    return _chosen(fit, new, list(product(DIMS, ALPHAS, BETAS)), model)
