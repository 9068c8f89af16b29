"""The objective and a dual bound for it, in plain NumPy, independent of the library under test.

Every loss of the benchmark is, per row, a sum of *pieces*

    f(z) = sum_k max over g in [lo_k, hi_k] of  g (z - at_k) - quad_k g^2 / 2,    lo_k <= 0 <= hi_k

so that the dual of ``sum_i f_i(x_i'b + b0) + Omega(b)`` subject to ``A b + c >= 0`` is

    D(g, xi) = - sum at g + quad g^2/2  -  xi'c  -  Omega*(q),     q = A'xi - X'g

over the boxes, ``xi >= 0`` and, with an intercept, ``sum g = 0``. Any ``g`` a solver hands over is
moved into that set before it is believed (`Objective.bound`).
"""

from __future__ import annotations

import hashlib
import math
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any

import numpy as np

from .cases import Case, Data
from .datasets import Table, load

Vector = np.ndarray


@dataclass(frozen=True)
class Piece:
    """One boxed dual variable per row: bounds, the kink ``at`` and the curvature ``quad``."""

    lo: Vector
    hi: Vector
    at: Vector
    quad: Vector

    def value(self, z: Vector) -> Vector:
        t = z - self.at
        with np.errstate(divide="ignore", invalid="ignore"):
            g = np.where(self.quad > 0, t / self.quad, np.where(t > 0, self.hi, self.lo))
        g = np.clip(g, self.lo, self.hi)
        return g * t - 0.5 * self.quad * g * g

    def conjugate(self, g: Vector) -> Vector:
        return self.at * g + 0.5 * self.quad * g * g

    def scaled(self, factor: float) -> Piece:
        """The piece of ``factor * f``."""
        return Piece(self.lo * factor, self.hi * factor, self.at, self.quad / factor)


def pieces_of(loss: str, parameter: float | None, y: Vector, weight: Vector) -> list[Piece]:
    """Pieces of ``weight * loss``; the formulas of the losses are those of the library's docs."""
    zero = np.zeros_like(weight)
    inf = np.full_like(weight, np.inf)
    p = 0.0 if parameter is None else parameter

    def margin(height: Vector, quad: Vector) -> list[Piece]:
        """A loss of the margin that is zero beyond 1: g has the sign of -y, kink at z = y."""
        return [Piece(np.where(y > 0, -height, 0.0), np.where(y > 0, 0.0, height), y, quad)]

    match loss:
        case "hinge":
            return margin(weight, zero)
        case "smoothed_hinge":
            return margin(weight, (p or 1.0) / weight)
        case "squared_hinge":
            return margin(inf, 0.5 / weight)
        case "modified_huber":
            return margin(4.0 * weight, 0.5 / weight)
        case "pinball":
            return [Piece(-weight * p, weight * (1.0 - p), y, zero)]
        case "absolute":
            return [Piece(-weight, weight, y, zero)]
        case "huber":
            return [Piece(-weight * p, weight * p, y, 1.0 / weight)]
        case "squared_error":
            return [Piece(-inf, inf, y, 1.0 / weight)]
        case "epsilon_insensitive":
            return [Piece(zero, weight, y + p, zero), Piece(-weight, zero, y - p, zero)]
        case "squared_epsilon_insensitive":
            quad = 0.5 / weight
            return [Piece(zero, inf, y + p, quad), Piece(-inf, zero, y - p, quad)]
        case "expectile":
            above, below = 1.0 / ((1.0 - p) * weight), 1.0 / (p * weight)
            return [Piece(zero, inf, y, above), Piece(-inf, zero, y, below)]
    raise ValueError(f"loss={loss!r} has no pieces here")


@dataclass
class Objective:
    """A case with its numbers. ``X`` is a float64 array (C order) or CSR matrix."""

    case: Case
    X: Any
    y: Vector
    weight: Vector
    l1: float = 0.0
    l2: float = 1.0
    A: Vector | None = None
    c: Vector | None = None
    sensitive: Vector | None = None
    groups: Vector | None = None
    slope: Vector | None = None
    pieces: list[Piece] = field(init=False)

    def __post_init__(self) -> None:
        self.pieces = pieces_of(self.case.loss, self.case.parameter, self.y, self.weight)

    @property
    def n(self) -> int:
        return int(self.X.shape[0])

    @property
    def d(self) -> int:
        return int(self.X.shape[1])

    @property
    def uniform_weight(self) -> float:
        """The common sample weight; every case here has one."""
        return float(self.weight[0])

    def fingerprint(self) -> str:
        """A digest of the numbers: a bound must not be used for other data of the same name."""
        columns = np.asarray(self.X.sum(axis=0)).ravel()
        parts = (columns, self.y, np.array([*self.X.shape, self.l1, self.l2]))
        return hashlib.sha256(
            b"".join(np.ascontiguousarray(p).tobytes() for p in parts)
        ).hexdigest()[:16]

    def penalty(self, coef: Vector) -> float:
        size = np.abs(coef)
        if self.groups is not None:
            top = np.zeros(int(self.groups.max()) + 1)
            np.maximum.at(top, self.groups, size)
            return float(self.l1 * top.sum())
        if self.slope is not None:
            return float(np.sort(size)[::-1] @ self.slope)
        return float(self.l1 * size.sum() + 0.5 * self.l2 * (coef @ coef))

    def value(self, coef: Vector, intercept: float = 0.0) -> float:
        """The primal objective, whatever the feasibility of ``coef``."""
        z = np.asarray(self.X @ coef).ravel() + intercept
        loss = sum(piece.value(z) for piece in self.pieces)
        return math.fsum(loss) + self.penalty(coef)

    def value_at_zero(self) -> float:
        return self.value(np.zeros(self.d))

    def violation(self, coef: Vector) -> float:
        """Worst violated row of ``A b + c >= 0``, relative to the size of its terms."""
        if self.A is None or self.c is None:
            return 0.0
        scale = np.abs(self.c) + np.abs(self.A) @ np.abs(coef)
        return float(np.max(np.maximum(-(self.A @ coef + self.c), 0.0) / np.maximum(scale, 1e-300)))

    def boxes(self) -> tuple[Vector, Vector]:
        lo: Vector = sum(piece.lo for piece in self.pieces)
        hi: Vector = sum(piece.hi for piece in self.pieces)
        return lo, hi

    def bound(self, g: Vector, xi: Vector | None = None, coef: Vector | None = None) -> float:
        """A lower bound on the optimum from any dual guess; ``-inf`` if it proves nothing.

        Without any penalty the bound holds for the optimum over ``|b_j| <= 10 (1 + max|coef|)``: an
        optimum inside that box is a global one because the objective is convex.
        """
        lo, hi = self.boxes()
        g = np.clip(np.asarray(g, dtype=float), lo, hi)
        xi = None if self.A is None else np.maximum(np.zeros(len(self.c)) if xi is None else xi, 0)
        free = self.penalty_is_zero
        if free:
            g = project(g, lo, hi, self.X, self.case.intercept)
        elif self.case.intercept:
            g = balance(g, lo, hi)
        if not np.all(np.isfinite(g)):
            return -math.inf
        q = -np.asarray(self.X.T @ g).ravel()
        if xi is not None:
            q = q + self.A.T @ xi
        shrink = 1.0 if free else self.shrink(q)
        parts = [piece.conjugate(np.clip(shrink * g, piece.lo, piece.hi)) for piece in self.pieces]
        total = -math.fsum(np.sum(parts, axis=0)) - self.conjugate(shrink * q)
        if free:
            radius = 10.0 * (1.0 + (0.0 if coef is None else float(np.max(np.abs(coef)))))
            total -= radius * (float(np.abs(q).sum()) + abs(math.fsum(g)) * self.case.intercept)
        return total - (0.0 if xi is None else shrink * float(xi @ self.c))

    @property
    def penalty_is_zero(self) -> bool:
        return self.groups is None and self.slope is None and self.l1 == 0.0 and self.l2 == 0.0

    def dual_norm(self, q: Vector) -> float:
        """How far ``q`` is outside the penalty's dual ball (at most 1 is inside)."""
        size = np.abs(q)
        if self.groups is not None:
            return float(np.bincount(self.groups, weights=size).max() / self.l1)
        if self.slope is not None:
            return float(np.max(np.cumsum(np.sort(size)[::-1]) / np.cumsum(self.slope)))
        return float(size.max() / self.l1)

    def shrink(self, q: Vector) -> float:
        if self.l2 > 0 and self.groups is None and self.slope is None:
            return 1.0
        return 1.0 / max(1.0, self.dual_norm(q))

    def conjugate(self, q: Vector) -> float:
        if self.l2 == 0 or self.groups is not None or self.slope is not None:
            return 0.0
        return float(np.sum(np.maximum(np.abs(q) - self.l1, 0.0) ** 2) / (2.0 * self.l2))


# ---- from a case to its objective


@lru_cache(maxsize=1)
def _table(data: Data) -> Table:
    """The last table is kept: consecutive cases often share it."""
    return load(data)


def build(case: Case) -> tuple[Objective, str]:
    """The objective of a case, and where its data came from."""
    table = _table(case.data)
    n, d = table.X.shape
    weight = np.full(n, case.C / n if case.mean else case.C)
    objective = Objective(case, table.X, table.y, weight, l1=case.l1, l2=case.l2)
    if case.fairness is not None:
        sensitive = _sensitive(table.X, table.Z, case.data.seed)
        row = np.asarray(table.X.T @ (sensitive - sensitive.mean())).ravel() / n
        objective.sensitive = sensitive
        objective.A = np.vstack([row, -row])
        objective.c = np.full(2, case.fairness)
    if case.penalty == "group_linf":
        own = case.data.name in ("correlated_groups", "weak_groups")
        objective.groups = np.asarray(table.Z if own else np.arange(d) // 10, dtype=np.intp)
    elif case.penalty == "slope_two_level":
        objective.slope = np.where(np.arange(d) < 10, 2.0, 1.0)
    elif case.penalty == "slope_sqrt_log":
        objective.slope = np.sqrt(np.log(2.0 * d / np.arange(1, d + 1)))
    if case.l1_relative:
        objective.l1 *= _largest_strength(objective)
    if objective.slope is not None:
        objective.slope = objective.slope * objective.l1
    return objective, table.origin


def _sensitive(X: object, Z: object, seed: int) -> np.ndarray:
    """The set's own sensitive attribute, else a random column (as the ReHLine paper does)."""
    if Z is not None:
        return np.asarray(Z, dtype=float).reshape(len(Z), -1)[:, 0]
    column = int(np.random.default_rng(seed).integers(X.shape[1]))
    picked = X[:, [column]]
    return np.asarray(picked.todense() if hasattr(picked, "todense") else picked).ravel()


def _largest_strength(objective: Objective) -> float:
    """``max_j sum_i w_i |x_ij|`` over columns: the lambda_max of the L1-SVM paper (a norm of it
    for groups), an upper bound on the smallest strength with zero coefficients."""
    total = np.asarray(abs(objective.X).T @ objective.weight).ravel()
    if objective.groups is not None:
        return float(np.bincount(objective.groups, weights=total).max())
    return float(total.max())


# ---- dual points on the hyperplanes that an unpenalised intercept or column demands


def balance(g: Vector, lo: Vector, hi: Vector) -> Vector:
    """The nearest point of the boxes, in the metric of its room to move, with sum zero.

    ``sum clip(g - mu * room)`` falls monotonically in ``mu``, so bisection finds it; the last
    rounding error is put on the entry with the most room.
    """
    room = np.minimum(np.minimum(g - lo, hi - g), np.abs(g).max() + 1.0) + 1e-9 * _width(g, lo, hi)

    def total(mu: float) -> float:
        return float(np.sum(np.clip(g - mu * room, lo, hi)))

    low, high = -1.0, 1.0
    while total(low) < 0 and low > -1e18:
        low *= 4.0
    while total(high) > 0 and high < 1e18:
        high *= 4.0
    for _ in range(200):
        middle = 0.5 * (low + high)
        low, high = (middle, high) if total(middle) > 0 else (low, middle)
    moved = np.clip(g - 0.5 * (low + high) * room, lo, hi)
    for _ in range(3):
        best = int(np.argmax(np.minimum(moved - lo, hi - moved)))
        moved[best] = np.clip(moved[best] - np.sum(moved), lo[best], hi[best])
    return moved


def project(g: Vector, lo: Vector, hi: Vector, X: Any, intercept: bool) -> Vector:
    """Iterate weighted least squares towards ``X'g = 0`` (and ``sum g = 0``) inside the boxes."""
    columns = np.asarray(X.todense()) if hasattr(X, "todense") else np.asarray(X)
    norms = np.sqrt(np.einsum("ij,ij->j", columns, columns))
    if intercept:
        columns = np.column_stack([columns, np.ones(len(g))])
        norms = np.append(norms, np.sqrt(len(g)))
    norms[norms == 0] = 1.0
    width = _width(g, lo, hi)
    for _ in range(30):
        leftover = columns.T @ g / norms
        if np.abs(leftover).max() <= 1e-15 * np.abs(g).max() * np.sqrt(len(g)):
            break
        room = np.minimum(g - lo, hi - g) / width
        weight = (room * room + 1e-14) * width
        matrix = (columns / norms).T @ (weight[:, None] * (columns / norms))
        step = np.linalg.lstsq(matrix, leftover, rcond=1e-14)[0]
        g = np.clip(g - weight * ((columns / norms) @ step), lo, hi)
    return g


def _width(g: Vector, lo: Vector, hi: Vector) -> Vector:
    """Box widths, with the size of ``g`` standing in for infinite ones."""
    return np.minimum(hi - lo, np.abs(g).max() + 1.0)
