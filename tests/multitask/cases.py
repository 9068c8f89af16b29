"""Small multi-task problems, each once, and an independent semidefinite program for them."""

from __future__ import annotations

import warnings
from dataclasses import dataclass, field
from typing import Any

import cvxpy as cp
import numpy as np

from rectiline import losses
from rectiline.penalties import SharedSubspace
from rectiline.problems import MultiTaskProblem


@dataclass(frozen=True)
class Case:
    name: str
    loss: losses.Loss
    shared_dim: int = 2
    alpha: float = 1.0
    beta: float = 0.1
    n_features: int = 5
    sizes: tuple[int, ...] = (12, 20, 15, 9)
    rank: int = 2
    center: bool = False
    fit_intercept: bool = True
    weighted: bool = False
    one_class: bool = False  # the first task knows +1 only, the second -1 only
    seed: int = 0
    constraints: Any = ()
    options: dict[str, Any] = field(default_factory=dict)

    def data(self):
        rng = np.random.default_rng(self.seed)
        d, m = self.n_features, len(self.sizes)
        U = rng.normal(size=(d, self.rank)) @ rng.normal(size=(self.rank, m))
        X = [rng.normal(size=(n, d)) for n in self.sizes]
        y = []
        for rows, u in zip(X, U.T):
            z = rows @ u + 0.5 + 0.5 * rng.standard_t(3, size=rows.shape[0])
            y.append(np.where(z > 0, 1.0, -1.0) if self.loss.of == "margin" else z)
        if self.one_class:
            y[0], y[1] = np.ones(self.sizes[0]), -np.ones(self.sizes[1])
        weight = [rng.exponential(size=n) for n in self.sizes] if self.weighted else None
        return X, y, weight

    @property
    def penalty(self):
        return SharedSubspace(self.shared_dim, self.alpha, self.beta)

    def problem(self):
        X, y, weight = self.data()
        return MultiTaskProblem(
            X, y, self.loss, self.penalty, self.constraints, weight, self.fit_intercept, self.center
        )

    def reference(self):
        """Return the optimum as an interior-point solver of semidefinite programs sees it."""
        X, y, weight = self.data()
        d, m = self.n_features, len(self.sizes)
        weight = [np.ones(n) for n in self.sizes] if weight is None else weight
        U, common = cp.Variable((d, m)), cp.Variable((d, 1))
        M = cp.Variable((d, d), symmetric=True)
        T = cp.Variable((m, m), symmetric=True)
        b = cp.Variable(m) if self.fit_intercept else np.zeros(m)
        V = U - common @ np.ones((1, m)) if self.center else U
        S = self.penalty.eta * np.eye(d) + M
        limits = [cp.bmat([[S, V], [V.T, T]]) >> 0, M >> 0, np.eye(d) - M >> 0]
        limits += [cp.trace(M) == self.shared_dim]
        if self.one_class:  # else the intercept of such a task has no end
            limits += [cp.abs(b) <= 5.0]
        for t in range(m):
            held = self.constraints
            if held and isinstance(held[0], tuple):
                held = held[t]
            limits += express_constraints(held, U[:, t])
        total = self.penalty.scale * cp.trace(T)
        for t in range(m):
            w = weight[t] / weight[t].sum()
            total += w @ express(self.loss, y[t], X[t] @ U[:, t] + b[t])
        program = cp.Problem(cp.Minimize(total), limits)
        with warnings.catch_warnings():
            # Nearly solved is good enough to compare with, at the accuracy of the tests.
            warnings.filterwarnings("ignore", "Solution may be inaccurate", UserWarning)
            program.solve(solver=cp.CLARABEL)
        return program.value


def express(loss, y, z):
    """Return the loss of each row as a convex expression."""
    r = y - z
    margin = cp.pos(1 - cp.multiply(y, z)) if loss.of == "margin" else None
    match loss:
        case losses.Hinge():
            return margin
        case losses.SquaredHinge():
            return cp.square(margin)
        case losses.SquaredError():
            return cp.square(r) / 2
        case losses.Huber():
            return cp.huber(r, loss.delta) / 2
        case losses.Pinball():
            return cp.maximum(loss.quantile * r, (loss.quantile - 1) * r)
        case losses.Absolute():
            return cp.abs(r)
        case losses.EpsilonInsensitive():
            return cp.pos(cp.abs(r) - loss.epsilon)
    raise AssertionError(loss)


def express_constraints(constraints, u):
    rows = [one.rows(u.shape[0], None) for one in constraints]
    limits = []
    for one in rows:
        for matrix, constant, equal in ((one.A, one.c, False), (one.E, one.f, True)):
            if constant.size:
                image = matrix @ u + constant
                limits.append(image == 0 if equal else image >= 0)
        for bound, sign in ((one.lower, 1.0), (one.upper, -1.0)):
            held = np.flatnonzero(np.isfinite(bound))
            if held.size:
                limits.append(sign * (u[held] - bound[held]) >= 0)
    return limits


FIVE = [
    losses.Hinge(),
    losses.SquaredHinge(),
    losses.SquaredError(),
    losses.Huber(0.7),
    losses.Pinball(0.3),
]


def five(name, **options):
    return [Case(f"{name}-{one.name}", one, **options) for one in FIVE]


CASES = [
    *five("plain"),
    *five("line", shared_dim=1, alpha=0.3, beta=0.1, seed=1),
    *five("everything", shared_dim=5, beta=0.05, seed=2),
    *five("rank", shared_dim=3, rank=1, alpha=10.0, beta=0.1, seed=3),
    *five("one-task", sizes=(25,), seed=4),
    *five("one-row", sizes=(1, 20, 1, 14), seed=5),
    *five("wide", n_features=8, sizes=(4, 6, 5), seed=6, beta=0.02),
    *five("weighted", weighted=True, seed=7),
    *five("no-intercept", fit_intercept=False, seed=8),
    *five("one-class", one_class=True, seed=11),
    *five("centred", center=True, seed=9),
    *five("centred-strong", center=True, alpha=10.0, beta=1.0, seed=10),
]
