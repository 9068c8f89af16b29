"""Yeast with few training rows: does sharing help when all labels see the same rows?"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from .data import read_yeast
from .tables import Table

SPLITS, TRAIN = 10, 300
ALPHAS = (0.01, 0.1, 1.0)
BETAS = (1.0, 0.1, 0.01)
DIMS = (1, 2, 4)
STRONG = 30.0  # a column of this size carries an intercept that ridge hardly charges
METRICS = ("macro AUC", "macro F1", "micro F1")


def labels() -> Table:
    """Scores on the test rows for every model and split."""
    from sklearn.metrics import f1_score, roc_auc_score

    X, Y = read_yeast()
    models: dict[str, Callable[..., np.ndarray]] = {
        "independent hinge fits": lambda *a: _many(*a, dims=(X.shape[1],)),
        "one model for all": lambda *a: _pooled(*a, own=False),
        "one slope vector, own intercepts": lambda *a: _pooled(*a, own=True),
        "shared subspace": lambda *a: _many(*a, dims=DIMS),
        "shared subspace, center=True": lambda *a: _many(*a, dims=DIMS, center=True),
    }
    scores: dict[str, list[list[float]]] = {name: [] for name in models}
    for seed in range(SPLITS):
        order = np.random.default_rng(seed).permutation(len(Y))
        train, test = order[:TRAIN], order[TRAIN:]
        for name, model in models.items():
            found = model(X[train], Y[train], X[test])
            f1 = [
                f1_score(Y[test], found > 0, average=kind, zero_division=0)
                for kind in ("macro", "micro")
            ]
            auc = roc_auc_score(Y[test], found, average="macro")
            scores[name].append([float(v) for v in (auc, *f1)])
    lines = []
    for name, rows in scores.items():
        means, spreads = np.mean(rows, axis=0), np.std(rows, axis=0, ddof=1)
        lines.append((name, *(f"{m:.3f} +- {s:.3f}" for m, s in zip(means, spreads))))
    alone = np.array(scores["independent hinge fits"])
    remarks = []
    for name in ("shared subspace", "shared subspace, center=True"):
        for k, metric in enumerate(METRICS):
            more = np.array(scores[name])[:, k] - alone[:, k]
            remarks.append(
                f"{metric}: '{name}' beats independent fits in {int(np.sum(more > 0))} of {SPLITS} "
                f"splits, by {more.min():+.3f} to {more.max():+.3f}"
            )
    title = f"Yeast, hinge, {TRAIN} training rows, {SPLITS} splits"
    return Table(title, ("model", *METRICS), lines, remarks, scores)


def _quarter(n: int) -> tuple[np.ndarray, np.ndarray]:
    order = np.random.default_rng(1234).permutation(n)
    return order[n // 4 :], order[: n // 4]


def _many(
    X: np.ndarray, Y: np.ndarray, new: np.ndarray, dims: tuple[int, ...], center: bool = False
) -> np.ndarray:
    """Independent labels are the case in which every direction is shared."""
    from rectiline import MultiTaskClassifierCV

    model = MultiTaskClassifierCV(
        shared_dims=dims, alphas=ALPHAS, betas=BETAS, cv=[_quarter(len(X))], tol=1e-4, center=center
    )
    return np.asarray(model.fit(X, Y).decision_function(new))


def _pooled(X: np.ndarray, Y: np.ndarray, new: np.ndarray, own: bool) -> np.ndarray:
    """One slope vector for all labels, with an intercept of each or one for all."""
    fit, held = _quarter(len(X))
    signs = np.where(Y > 0, 1.0, -1.0)

    def miss(strength: float) -> float:
        found = _stacked(X[fit], signs[fit], X[held], strength, own)
        return float(np.maximum(1.0 - signs[held] * found, 0.0).mean())

    return _stacked(X, signs, new, min((1e-4, 1e-3, 1e-2, 0.1, 1.0), key=miss), own)


def _stacked(
    X: np.ndarray, signs: np.ndarray, new: np.ndarray, strength: float, own: bool
) -> np.ndarray:
    import rectiline as rl

    n, m = signs.shape
    rows: Any = np.tile(X, (m, 1))
    if own:
        rows = np.hstack([rows, STRONG * np.repeat(np.eye(m), n, axis=0)])
    problem = rl.Problem(
        rows,
        signs.T.ravel(),
        rl.losses.Hinge(),
        rl.penalties.Ridge(2.0 * strength),
        sample_weight=np.full(n * m, 1.0 / (n * m)),
        fit_intercept=not own,
    )
    found = rl.solve(problem, tol=1e-4)
    d = X.shape[1]
    levels = STRONG * found.coef[d:] if own else np.full(m, found.intercept)
    return np.asarray((new @ found.coef[:d])[:, None] + levels)
