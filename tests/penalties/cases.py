"""Every penalty once, with the same penalty written for an independent modelling tool."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import cvxpy as cp
import numpy as np

from rectiline.penalties import L1, ElasticNet, GroupLinf, Penalty, Ridge, Slope, SparseGroupLinf


@dataclass(frozen=True)
class Case:
    name: str
    penalty: Penalty
    n_features: int
    express: Callable[[cp.Variable], cp.Expression]
    is_norm: bool = True  # positively homogeneous, so that the conjugate is an indicator

    def point(self, seed: int, scale: float = 1.0) -> np.ndarray:
        return scale * np.random.default_rng(seed).normal(size=self.n_features)

    def dual_point(self, seed: int, scale: float = 1.0) -> np.ndarray:
        """A point that some multiple of the dual ball contains, if there is one but 0."""
        q = self.point(seed, scale)
        for j in range(self.n_features):
            if not np.isfinite(self.penalty.dual_norm(np.where(np.arange(q.size) == j, q, 0.0))):
                q[j] = 0.0
        return q


def sorted_l1(strengths: np.ndarray) -> Callable[[cp.Variable], cp.Expression]:
    # The sum of all d is the L1 norm, which some versions cannot take as a sum of the d largest.
    last = float(strengths[-1])
    drops = -np.diff(strengths)
    return lambda b: (
        last * cp.norm1(b)
        + sum(float(drop) * cp.sum_largest(cp.abs(b), k + 1) for k, drop in enumerate(drops))
    )


def groups_linf(strength: float, *groups: list[int]) -> Callable[[cp.Variable], cp.Expression]:
    return lambda b: strength * sum(cp.norm_inf(b[group]) for group in groups)


def sparse_group(name: str, l1: float, linf: float, groups: list, *members: list[int]) -> Case:
    largest = groups_linf(linf, *members)
    d = 1 + max(column for group in members for column in group) + (0 if len(groups) > 2 else 1)
    penalty = SparseGroupLinf(l1, linf, groups)
    return Case(name, penalty, d, lambda b: l1 * cp.norm1(b) + largest(b))


def slope(name: str, penalty: Slope) -> Case:
    return Case(name, penalty, penalty.strengths.size, sorted_l1(penalty.strengths))


WEIGHTS = np.array([1.0, 0.5, 2.0, 0.0])

PENALTIES = [
    Case("ridge", Ridge(0.7), 4, lambda b: 0.35 * cp.sum_squares(b), is_norm=False),
    Case("ridge-zero", Ridge(0.0), 3, lambda b: 0.0 * cp.sum(b)),
    Case("l1", L1(0.8), 4, lambda b: 0.8 * cp.norm1(b)),
    Case("l1-weights", L1(0.6, WEIGHTS), 4, lambda b: 0.6 * (WEIGHTS @ cp.abs(b))),
    Case("l1-zero", L1(0.0), 3, lambda b: 0.0 * cp.sum(b)),
    Case(
        "elastic-net",
        ElasticNet(0.5, 0.9),
        4,
        lambda b: 0.5 * cp.norm1(b) + 0.45 * cp.sum_squares(b),
        is_norm=False,
    ),
    Case("elastic-net-l1", ElasticNet(0.5, 0.0), 4, lambda b: 0.5 * cp.norm1(b)),
    Case(
        "elastic-net-l2", ElasticNet(0.0, 2.0), 3, lambda b: 1.0 * cp.sum_squares(b), is_norm=False
    ),
    Case("group-labels", GroupLinf(0.9, [1, 0, 1, 1, 0]), 5, groups_linf(0.9, [0, 2, 3], [1, 4])),
    Case("group-lists", GroupLinf(1.1, [[3, 0], [2]]), 5, groups_linf(1.1, [0, 3], [2])),
    Case("group-zero", GroupLinf(0.0, ["a", "b", "a"]), 3, lambda b: 0.0 * cp.sum(b)),
    sparse_group("sparse-group", 0.3, 0.9, [1, 0, 1, 1, 0], [0, 2, 3], [1, 4]),
    sparse_group("sparse-group-lists", 0.4, 0.8, [[3, 0], [2]], [0, 3], [2]),
    sparse_group("sparse-group-l1", 0.4, 0.0, [0, 0, 1, 1], [0, 1], [2, 3]),
    sparse_group("sparse-group-linf", 0.0, 0.4, [[3, 0], [2]], [0, 3], [2]),
    slope("slope", Slope([1.5, 1.0, 0.9, 0.2])),
    slope("slope-tail-zero", Slope([1.0, 0.4, 0.0, 0.0])),
    slope("slope-constant", Slope([0.7, 0.7, 0.7])),
    slope("slope-zero", Slope(np.zeros(3))),
    slope("slope-bh", Slope.bh(5, q=0.2, strength=0.5)),
    slope("slope-oscar", Slope.oscar(4, l1=0.3, slope=0.2)),
    slope("slope-two-level", Slope.two_level(4, k=2, high=1.0, low=0.5)),
    slope("slope-sqrt-log", Slope.sqrt_log(4, strength=0.4)),
]

NORMS = [case for case in PENALTIES if case.is_norm]
TRUE_NORMS = [
    case
    for case in NORMS
    if np.isfinite(case.penalty.dual_norm(case.dual_point(0))) and case.dual_point(0).any()
]
