"""Random awkward problems, for the library and for cvxpy alike; used by `fuzz_solve.py`.

A problem is a function of two numbers, a seed and a case. Every loss, penalty and kind of
constraint meets designs with badly scaled, duplicated, constant or dependent columns, duplicated
rows, few rows, many zeros, and weights that may be zero. cvxpy gets the definitions in centred and
scaled coefficients, which changes nothing but its accuracy.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

import cvxpy as cp
import numpy as np
from cases import LossCase, rehu, sorted_l1
from scipy import sparse as sp

import rectiline as rl
from rectiline import constraints as rc
from rectiline import losses as rlo
from rectiline import penalties as rp

Rng = np.random.Generator
Express = Callable[[cp.Expression], cp.Expression]


@dataclass
class RandomProblem:
    """A problem as raw arrays with its terms for the library and for cvxpy.

    Attributes
    ----------
    X : ndarray
        The design; `is_sparse` says whether the library gets it in compressed rows.
    words : list of str
        What is awkward about it.
    """

    X: np.ndarray
    y: np.ndarray
    weight: np.ndarray | None
    intercept: bool
    is_sparse: bool
    loss: LossCase
    penalty: rl.penalties.Penalty | None
    charge: Express
    constraints: list[rc.Constraint] = field(default_factory=list)
    conditions: list[Callable[[cp.Expression], list[cp.Constraint]]] = field(default_factory=list)
    linear: np.ndarray | None = None
    words: list[str] = field(default_factory=list)

    @property
    def name(self) -> str:
        n, d = self.X.shape
        return f"{n} x {d} " + " ".join(self.words)

    def problem(self) -> rl.Problem:
        return rl.Problem(
            sp.csr_array(self.X) if self.is_sparse else self.X,
            self.y,
            loss=self.loss.loss,
            penalty=self.penalty,
            constraints=self.constraints,
            sample_weight=self.weight,
            fit_intercept=self.intercept,
            linear=self.linear,
        )

    def program(self) -> Program:
        return Program(self)


class Program:
    """The program in cvxpy's words, in centred and scaled coefficients."""

    def __init__(self, given: RandomProblem) -> None:
        X = given.X
        self.mean = X.mean(axis=0) if given.intercept else np.zeros(X.shape[1])
        scale = np.sqrt(np.mean((X - self.mean) ** 2, axis=0))
        self.scale = np.where(scale > 1e-12, scale, 1.0)
        self.scaled, self.intercept = cp.Variable(X.shape[1]), cp.Variable()
        coef = cp.multiply(1.0 / self.scale, self.scaled)
        z = ((X - self.mean) / self.scale) @ self.scaled
        z = z + self.intercept if given.intercept else z
        y = given.y
        t = {"margin": cp.multiply(y, z), "residual": y - z, "prediction": z}[given.loss.loss.of]
        weight = np.ones(y.size) if given.weight is None else given.weight
        kept = np.flatnonzero(weight)
        self.objective = weight[kept] @ given.loss.express(t[kept]) + given.charge(coef)
        if given.linear is not None:
            self.objective = self.objective + (given.linear / self.scale) @ self.scaled
        self.constraints = [one for make in given.conditions for one in make(coef)]

    def value(self, coef: np.ndarray, intercept: float) -> float:
        """Return the objective at somebody's answer."""
        self.scaled.value = coef * self.scale
        self.intercept.value = intercept + float(self.mean @ coef)
        return float(self.objective.value)

    def answer(self) -> tuple[np.ndarray, float]:
        """Return cvxpy's coefficients and intercept."""
        coef = self.scaled.value / self.scale
        intercept = 0.0 if self.intercept.value is None else float(self.intercept.value)
        return coef, intercept - float(self.mean @ coef)


def random_problem(seed: int, case: int) -> RandomProblem:
    """Return the problem of a seed and a case."""
    rng = np.random.default_rng([seed, case])
    words: list[str] = []
    X, weight = _design(rng, words)
    n, d = X.shape
    spread = np.where(X.std(axis=0) > 1e-9, X.std(axis=0), 1.0)
    truth = rng.normal(size=d) * (rng.random(d) < min(1.0, 8.0 / d))
    signal = (X - X.mean(axis=0)) / spread @ truth + rng.choice([0.1, 1.0]) * rng.standard_t(3, n)
    if rng.random() < 0.1:
        signal = np.round(signal)
        words.append("round targets")
    if rng.random() < 0.1:
        signal = signal * 10.0 ** rng.uniform(-3, 3)
        words.append("scaled targets")
    loss = _loss(rng)
    y = np.where(signal > np.median(signal), 1.0, -1.0) if loss.loss.of == "margin" else signal
    if loss.loss.of == "margin" and n > 1:
        y[:2] = 1.0, -1.0
    words.append(loss.name)
    penalty, charge = _penalty(rng, d)
    words.append(type(penalty).__name__)
    made = RandomProblem(
        X, y, weight, bool(rng.random() < 0.6), bool(rng.random() < 0.3), loss, penalty, charge
    )
    if loss.loss.of == "margin" and n == 1:
        made.y = np.array([1.0])
    if rng.random() < 0.55:
        _constrain(rng, made, spread, words)
    if rng.random() < 0.25:
        made.intercept = False  # a linear term goes without one
        made.linear = rng.normal(size=d) * spread * 10.0 ** rng.uniform(-1, 2)
        words.append("linear term")
    made.words = words + ["intercept"] * made.intercept + ["csr"] * made.is_sparse
    return made


def _design(rng: Rng, words: list[str]) -> tuple[np.ndarray, np.ndarray | None]:
    """Return X and weights: a Gaussian table to which several things may happen."""
    kind = rng.random()
    if kind < 0.7:
        n, d = int(rng.integers(3, 120)), int(rng.integers(1, 25))
    elif kind < 0.9:
        n, d = int(rng.integers(5, 60)), int(rng.integers(20, 150))
    else:
        n, d = int(rng.integers(50, 400)), int(rng.integers(30, 260))
    X = rng.normal(size=(n, d))

    def happens(word: str, chance: float) -> bool:
        if rng.random() < chance:
            words.append(word)
            return True
        return False

    if happens("correlated", 0.15):
        X = 0.3 * X + rng.normal(size=(n, 1))
    if happens("zeros", 0.25):
        X = X * (rng.random((n, d)) < rng.choice([0.05, 0.2, 0.5]))
    if happens("integers", 0.1):
        X = np.round(X)
    if happens("dependent", 0.15) and d > 2:
        rank = int(rng.integers(1, d))
        X = X[:, :rank] @ rng.integers(-2, 3, size=(rank, d)).astype(float)
    if happens("twin columns", 0.15):
        X[:, rng.integers(d)] = X[:, rng.integers(d)]
    if happens("constant column", 0.15):
        X[:, rng.integers(d)] = rng.choice([0.0, 1.0, 7.0])
    if happens("twin rows", 0.2):
        X = X[rng.integers(max(1, n // 4), size=n)]
    if happens("shifted", 0.1):
        X = X + 100.0 * rng.random(d)
    if happens("bad scales", 0.3):
        X = X * 10.0 ** rng.uniform(-3, 3, d)
    weight = None
    if happens("weights", 0.3):
        weight = 10.0 ** rng.uniform(-1, 2, n)
        if happens("zero weights", 0.5):
            weight = weight * (rng.random(n) < 0.7)
            weight[: min(n, 3)] = 1.0
    return X, weight


def _loss(rng: Rng) -> LossCase:
    kind = int(rng.integers(14))
    q, e = float(rng.uniform(0.02, 0.98)), float(10.0 ** rng.uniform(-2, 1))
    if kind == 0:
        return LossCase(rlo.Hinge(), lambda t: cp.pos(1 - t))
    if kind == 1:
        return LossCase(rlo.SquaredHinge(), lambda t: cp.square(cp.pos(1 - t)))
    if kind == 2:
        return LossCase(rlo.SmoothedHinge(width=e), lambda t: rehu(1 - t, e) / e)
    if kind == 3:
        return LossCase(rlo.ModifiedHuber(), lambda t: 2 * rehu(1 - t, 2.0))
    if kind == 4:
        return LossCase(rlo.Absolute(), cp.abs)
    if kind == 5:
        return LossCase(rlo.EpsilonInsensitive(e), lambda t: cp.pos(cp.abs(t) - e))
    if kind == 6:
        squared = rlo.SquaredEpsilonInsensitive(e)
        return LossCase(squared, lambda t: cp.square(cp.pos(cp.abs(t) - e)))
    if kind == 7:
        return LossCase(rlo.Pinball(q), lambda t: q * cp.pos(t) + (1 - q) * cp.pos(-t))
    if kind == 8:
        return LossCase(rlo.Huber(e), lambda t: 0.5 * cp.huber(t, e))
    if kind == 9:
        return LossCase(rlo.SquaredError(), lambda t: 0.5 * cp.square(t))
    if kind == 10:
        return LossCase(
            rlo.Expectile(q),
            lambda t: 0.5 * q * cp.square(cp.pos(t)) + 0.5 * (1 - q) * cp.square(cp.pos(-t)),
        )
    if kind == 11:  # kinks, flat, straight and curved pieces in one, a least value above zero
        return LossCase(
            rlo.PiecewiseLQ([-1, 0, 1], [(0, -2, 0), (0, -1, 1), (0, 0, 1), (0.5, 0, 0.5)]),
            lambda t: (
                1 + cp.pos(-t) + cp.pos(-t - 1) + 0.5 * cp.square(cp.pos(t - 1)) + cp.pos(t - 1)
            ),
        )
    if kind == 12:
        return LossCase(
            rlo.PiecewiseLQ.maximum([(0, -1, 1), (0, 0, 0), (0.5, 0, -3)], of="margin"),
            lambda t: cp.maximum(cp.pos(1 - t), 0.5 * cp.square(t) - 3),
        )
    return LossCase(
        rlo.PiecewiseLQ.from_units(relu=[(1, -2), (-2, 1)], rehu=[(1, 0, 2)], of="prediction"),
        lambda t: cp.pos(t - 2) + cp.pos(1 - 2 * t) + rehu(t, 2.0),
    )


def _penalty(rng: Rng, d: int) -> tuple[rl.penalties.Penalty | None, Express]:
    s = float(10.0 ** rng.uniform(-3, 1.5))
    kind = int(rng.integers(7))
    if kind == 0:
        return rp.Ridge(s), lambda b: 0.5 * s * cp.sum_squares(b)
    if kind == 1:
        r = float(10.0 ** rng.uniform(-3, 1))
        return rp.ElasticNet(s, r), lambda b: s * cp.norm1(b) + 0.5 * r * cp.sum_squares(b)
    if kind == 2:
        return rp.L1(s), lambda b: s * cp.norm1(b)
    if kind == 3:
        weights = rng.uniform(0.0, 3.0, d) * (rng.random(d) < 0.8)
        return rp.L1(s, weights=weights), lambda b: (s * weights) @ cp.abs(b)
    if kind == 4:
        labels = rng.integers(max(1, d // 3), size=d)
        members = [np.flatnonzero(labels == label) for label in np.unique(labels)]
        return rp.GroupLinf(s, labels), lambda b: s * sum(cp.norm_inf(b[one]) for one in members)
    if kind == 5:
        strengths = s * np.sort(rng.random(d))[::-1]
        if rng.random() < 0.4:
            strengths = s * np.sort(rng.integers(0, 4, d))[::-1] / 3.0
        if d < 40:
            return rp.Slope(strengths), lambda b: sorted_l1(b, strengths)
        # A few levels keep cvxpy's program small.
        strengths = s * np.repeat([1.0, 0.6, 0.3], [d // 5, d // 5, d - 2 * (d // 5)])
        return rp.Slope(strengths), lambda b: _levels(b, strengths)
    return None, lambda b: cp.Constant(0.0)


def _levels(b: cp.Expression, strengths: np.ndarray) -> cp.Expression:
    total = float(strengths[-1]) * cp.norm1(b)
    for k in np.flatnonzero(np.diff(strengths)):
        total = total + float(strengths[k] - strengths[k + 1]) * cp.sum_largest(cp.abs(b), k + 1)
    return total


def _constrain(rng: Rng, made: RandomProblem, spread: np.ndarray, words: list[str]) -> None:
    """Add one to three kinds of constraints that hold at one point, or rarely at none."""
    d = made.X.shape[1]
    inside = np.sort(np.abs(rng.normal(size=d))) / (spread if rng.random() < 0.5 else 1.0)
    kinds = ["nonnegative", "box", "monotone", "fairness", "inequality", "equality", "simplex"]
    chosen = rng.choice(kinds, size=int(rng.integers(1, 4)), replace=False)
    if "monotone" in chosen:
        inside = np.sort(inside)
    if "simplex" in chosen:
        chosen = np.array(
            [one for one in chosen if one not in ("equality", "simplex")] + ["simplex"]
        )
        inside = inside / inside.sum()
    for kind in chosen:
        words.append(str(kind))
        _add(rng, made, str(kind), inside, spread)
    if rng.random() < 0.06:
        row = rng.normal(size=d)
        high = float(row @ inside) + rng.uniform(0.0, 1.0)
        made.constraints += [rc.LinearInequality(row, -high - 0.3), rc.LinearInequality(-row, high)]
        made.conditions.append(lambda b: [row @ b >= high + 0.3, row @ b <= high])
        words.append("contradiction")


def _add(rng: Rng, made: RandomProblem, kind: str, inside: np.ndarray, spread: np.ndarray) -> None:
    d, given, conditions = inside.size, made.constraints, made.conditions
    if kind == "nonnegative":
        given.append(rc.Nonnegative())
        conditions.append(lambda b: [b >= 0])
    elif kind == "box":
        low = inside - rng.exponential(size=d) / spread
        high = inside + rng.exponential(size=d) / spread
        if rng.random() < 0.3:
            high[rng.random(d) < 0.5] = np.inf
        finite = np.flatnonzero(np.isfinite(high))
        given.append(rc.Box(low, high))
        conditions.append(lambda b: [b >= low])
        if finite.size:
            conditions.append(lambda b: [b[finite] <= high[finite]])
    elif kind == "monotone":
        given.append(rc.Monotone())
        if d > 1:
            conditions.append(lambda b: [cp.diff(b) >= 0])
    elif kind == "fairness":
        column = (rng.random(made.y.size) < 0.4).astype(float)
        column[0] = 1.0 - column[-1]
        row = (column - column.mean()) @ made.X / made.y.size
        limit = float(abs(row @ inside) + 0.02)
        given.append(rc.Fairness(column, limit))
        conditions.append(lambda b: [cp.abs(row @ b) <= limit])
    elif kind == "simplex":
        given += [rc.LinearEquality(np.ones(d), -1.0), rc.Nonnegative()]
        conditions.append(lambda b: [cp.sum(b) == 1, b >= 0])
    else:
        m = int(rng.integers(1, min(d, 4) + 1))
        rows = rng.normal(size=(m, d)) * (spread if rng.random() < 0.5 else 1.0)
        if rng.random() < 0.2:
            rows[-1] = rows[0]
        right = rows @ inside
        if kind == "equality":
            given.append(rc.LinearEquality(rows, -right))
            conditions.append(lambda b: [rows @ b == right])
        else:
            right = right - rng.choice([0.0, 0.1]) * np.abs(right)
            given.append(rc.LinearInequality(rows, -right))
            conditions.append(lambda b: [rows @ b >= right])
