"""Cases of `benchmarks.structure`: panels, trends, grids and splines, as problems and as units."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from scipy import sparse as sp
from scipy.interpolate import BSpline

import rectiline as rl

from .quadratic import Program


@dataclass
class Units:
    """Rows of a program with the dual box and the softness of each, collected piece by piece."""

    pieces: list[tuple[Any, ...]] = field(default_factory=list)

    def add(self, rows: Any, target: Any, low: float, high: float, soft: float = 0.0) -> Units:
        n = rows.shape[0]
        values = (np.broadcast_to(np.asarray(v, float), n) for v in (target, low, high, soft))
        self.pieces.append((sp.csr_matrix(rows), *values))
        return self

    def stacked(self) -> tuple[Any, ...]:
        rows = sp.vstack([piece[0] for piece in self.pieces], format="csr")
        return rows, *(np.concatenate([p[k] for p in self.pieces]) for k in range(1, 5))

    def value(self, b: np.ndarray) -> float:
        rows, target, low, high, soft = self.stacked()
        u = rows @ b - target
        with np.errstate(divide="ignore", invalid="ignore"):
            a = np.where(soft > 0, np.clip(u / soft, low, high), np.where(u > 0, high, low))
        return math.fsum(np.where(u == 0, 0.0, a * u - 0.5 * soft * a * a))


@dataclass(frozen=True)
class Case:
    """How we state a problem, and the same one as units; `size` is what time is fitted to."""

    name: str
    size: int
    ours: Callable[[], rl.Problem]
    units: Callable[[], Units]
    family: str = ""


# ---- losses: what we call them, and their units on rows ------------------------------------------

LOSSES: dict[str, tuple[Any, Callable[[Units, Any, Any], Units]]] = {
    "median": ("absolute", lambda u, X, y: u.add(X, y, -1.0, 1.0)),
    "quantile 0.9": (
        rl.losses.Pinball(0.9),
        lambda u, X, y: u.add(X, y, -0.9, 1.0 - 0.9),
    ),
    "huber": (rl.losses.Huber(1.0), lambda u, X, y: u.add(X, y, -1.0, 1.0, 1.0)),
    "squared": ("squared_error", lambda u, X, y: u.add(X, y, -math.inf, math.inf, 1.0)),
}


# ---- families -----------------------------------------------------------------------------------


def panel(n: int, firms: int, years: int, loss: str, effects: str) -> Case:
    """Columns, firms and years: two columns, or five beside 100,000 firms."""

    def data() -> tuple[Any, np.ndarray]:
        rng = np.random.default_rng(0)
        k = 5 if n > 500_000 else 2
        firm, year, x = (
            rng.integers(firms, size=n),
            rng.integers(years, size=n),
            rng.normal(size=(n, k)),
        )
        y = x.sum(1) + 2 * rng.normal(size=firms)[firm] + rng.standard_t(3, n)
        y += rng.normal(size=years)[year]
        at, ones = np.arange(n), np.ones(n)
        parts = [sp.csr_matrix(x), sp.csr_matrix((ones, (at, firm)), shape=(n, firms))]
        if years > 1:  # the first year is the reference
            later = year > 0
            parts.append(
                sp.csr_matrix((ones[later], (at[later], year[later] - 1)), shape=(n, years - 1))
            )
        return sp.hstack(parts, format="csr"), y

    def strengths(X: Any) -> np.ndarray:
        weight = np.zeros(X.shape[1])
        weight[X.shape[1] - firms - (years - 1) : X.shape[1] - (years - 1)] = 1.0
        return weight

    def ours() -> rl.Problem:
        X, y = data()
        weight, none = strengths(X), np.zeros(X.shape[1])
        penalty = {
            "free": None,
            "L1": rl.penalties.L1(1.0, weights=weight),
            "ridge": rl.penalties.Columnwise(none, weight),
        }[effects]
        return rl.Problem(X, y, LOSSES[loss][0], penalty, fit_intercept=False)

    def units() -> Units:
        X, y = data()
        found = LOSSES[loss][1](Units(), X, y)
        priced = sp.identity(X.shape[1], format="csr")[strengths(X) > 0]
        if effects == "L1":
            found.add(priced, 0.0, -1.0, 1.0)
        if effects == "ridge":
            found.add(priced, 0.0, -math.inf, math.inf, 1.0)
        return found

    name = f"panel {n} x {firms} + {years}: {loss}, effects {effects}"
    return Case(name, n, ours, units, f"panel {loss}, effects {effects}")


def _noisy(n: int) -> np.ndarray:
    rng = np.random.default_rng(1)
    return np.sin(np.linspace(0, 9, n)) + 0.3 * rng.standard_t(3, n)


def _fused(name: str, family: str, y: np.ndarray, loss: str, penalty: Any) -> Case:
    eye = sp.identity(y.size, format="csr")

    def units() -> Units:
        rows = penalty.matrix(y.size)
        return LOSSES[loss][1](Units(), eye, y).add(rows, 0.0, -penalty.strength, penalty.strength)

    def ours() -> rl.Problem:
        return rl.Problem(eye, y, LOSSES[loss][0], penalty, fit_intercept=False)

    return Case(name, y.size, ours, units, family)


def trend(n: int, order: int, loss: str) -> Case:
    strength = (5.0, 5.0, 20.0)[order - 1]
    penalty = rl.penalties.Fused(strength, order=order)
    family = f"trend of order {order}, {loss}"
    return _fused(f"{family}: n = {n}", family, _noisy(n), loss, penalty)


def grid(side: int, order: int, loss: str) -> Case:
    at = np.arange(side * side).reshape(side, side)
    edges = np.vstack(
        [
            np.column_stack([at[:, 1:].ravel(), at[:, :-1].ravel()]),
            np.column_stack([at[1:].ravel(), at[:-1].ravel()]),
        ]
    )
    rng = np.random.default_rng(2)
    steps = np.add.outer(np.arange(side) > side / 3, np.arange(side) > side / 2)
    y = (steps + 0.3 * rng.standard_t(3, (side, side))).ravel()
    penalty = rl.penalties.Fused(1.0, order=order, graph=edges)
    family = f"grid of order {order}, {loss}"
    return _fused(f"{family}: {side} x {side}", family, y, loss, penalty)


def spline(n: int, knots: int, loss: str) -> Case:
    """Cubic B-splines with a ridge on second differences of their coefficients."""

    def data() -> tuple[Any, np.ndarray, Any]:
        rng = np.random.default_rng(3)
        x = np.sort(rng.random(n))
        places = np.concatenate([[0.0] * 3, np.linspace(0, 1, knots - 2), [1.0] * 3])
        X = sp.csr_matrix(BSpline.design_matrix(x, places, 3))
        D = rl.penalties.Fused(1.0, order=2).matrix(X.shape[1])
        return X, np.sin(20 * x * x) + 0.3 * rng.standard_t(3, n), D

    def ours() -> rl.Problem:
        X, y, D = data()
        losses = [rl.losses.get(LOSSES[loss][0]), rl.losses.SquaredError()]
        return rl.Problem(
            sp.vstack([X, D], format="csr"),
            np.append(y, np.zeros(D.shape[0])),
            losses,
            None,
            fit_intercept=False,
            loss_index=np.repeat([0, 1], [n, D.shape[0]]),
        )

    def units() -> Units:
        X, y, D = data()
        return LOSSES[loss][1](Units(), X, y).add(D, 0.0, -math.inf, math.inf, 1.0)

    return Case(f"spline {n} x {knots}: {loss}", n, ours, units, f"spline {loss}")


def portfolio(factors: int) -> tuple[Callable[[], rl.Problem], Program]:
    """Return OSQP's portfolio problem (Stellato et al. 2020, appendix A), ours and in full."""
    rng, n = np.random.default_rng(1), 100 * factors
    F = sp.random(n, factors, 0.5, "csr", random_state=rng, data_rvs=rng.standard_normal)
    D, mu = rng.random(n) * math.sqrt(factors), rng.standard_normal(n)
    budget = rl.constraints.LinearConstraint(np.ones(n), 1.0, 1.0)
    penalty = rl.penalties.Columnwise(np.zeros(n), 2 * D)

    def ours() -> rl.Problem:
        rules = [rl.constraints.Nonnegative(), budget]
        X = math.sqrt(2.0) * F.T
        return rl.Problem(X, None, "squared_error", penalty, rules, linear=-mu)

    eye, ones = sp.eye(n), sp.csr_matrix(np.ones((1, n)))
    rows = sp.bmat([[ones, None], [F.T, -sp.eye(factors)], [eye, None]], format="csc")
    equal = np.concatenate([[1.0], np.zeros(factors)])
    return ours, Program(
        sp.block_diag([sp.diags(2 * D), 2 * sp.eye(factors)], format="csc"),
        np.concatenate([-mu, np.zeros(factors)]),
        rows,
        np.append(equal, np.zeros(n)),
        np.append(equal, np.full(n, np.inf)),
    )


def cases() -> Iterator[Case]:
    """Yield all cases but portfolios, which are no sums of units."""
    for n, firms, years in ((20_000, 2_000, 1), (200_000, 20_000, 10), (1_000_000, 100_000, 20)):
        for loss in LOSSES:
            yield panel(n, firms, years, loss, "free")
        for effects in ("L1", "ridge"):
            yield panel(n, firms, years, "median", effects)
    for n in (3_000, 20_000, 100_000):
        for order in (1, 2, 3):
            yield trend(n, order, "quantile 0.9")
        for loss in ("huber", "squared"):
            yield trend(n, 2, loss)
    for side in (100, 300):
        for order, loss in ((1, "median"), (1, "squared"), (2, "median")):
            yield grid(side, order, loss)
    for n, knots in ((20_000, 200), (200_000, 2_000)):
        for loss in ("median", "huber"):
            yield spline(n, knots, loss)
