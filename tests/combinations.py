"""Awkward designs, and the combinations of `cases` that are solved and compared."""

from __future__ import annotations

import itertools
import zlib
from collections.abc import Callable, Container, Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from cases import LOSSES, ConstraintCase, LossCase, PenaltyCase, SolverCase

import rectiline as rl

Data = tuple[np.ndarray, np.ndarray | None]  # X and the sample weights


def gaussian(rng: np.random.Generator) -> Data:
    return rng.normal(size=(50, 4)), None


def weighted(rng: np.random.Generator) -> Data:
    return rng.normal(size=(50, 4)), rng.uniform(0.1, 3.0, 50)


def zero_weights(rng: np.random.Generator) -> Data:
    return rng.normal(size=(60, 4)), rng.uniform(0.5, 2.0, 60) * (rng.random(60) < 0.6)


def zero_rows(rng: np.random.Generator) -> Data:
    X = rng.normal(size=(50, 4))
    X[::5] = 0.0
    return X, None


def duplicates(rng: np.random.Generator) -> Data:
    return np.repeat(rng.normal(size=(15, 4)), 4, axis=0), None


def collinear(rng: np.random.Generator) -> Data:
    X = rng.normal(size=(50, 3))
    return np.column_stack([X, X[:, 0] - 2 * X[:, 1], X[:, 2]]), None


def constant_column(rng: np.random.Generator) -> Data:
    X = rng.normal(size=(50, 4))
    X[:, 1] = 1.0
    return X, None


def wide(rng: np.random.Generator) -> Data:
    return rng.normal(size=(18, 25)), None


def shifted(rng: np.random.Generator) -> Data:
    return rng.normal(size=(50, 4)) + 100.0, None


def badly_scaled(rng: np.random.Generator) -> Data:
    return rng.normal(size=(50, 5)) * [1e-3, 1.0, 1e3, 30.0, 0.03], None


@dataclass(frozen=True)
class DesignCase:
    make: Callable[[np.random.Generator], Data]
    hard: bool = False  # too many sweeps for coordinate ascent

    @property
    def name(self) -> str:
        return self.make.__name__


DESIGNS = [
    DesignCase(gaussian),
    DesignCase(weighted),
    DesignCase(zero_weights),
    DesignCase(zero_rows),
    DesignCase(duplicates),
    DesignCase(collinear),
    DesignCase(constant_column),
    DesignCase(wide),
    DesignCase(shifted, hard=True),
    DesignCase(badly_scaled, hard=True),
]


@dataclass(frozen=True)
class Case:
    """A problem as raw arrays, for the library and for cvxpy alike."""

    loss: LossCase
    penalty: PenaltyCase
    constraint: ConstraintCase
    design: DesignCase
    intercept: bool

    @property
    def name(self) -> str:
        parts = [self.loss.name, self.penalty.name, self.constraint.name, self.design.name]
        return "/".join([*parts, "intercept" if self.intercept else "origin"])

    @property
    def hard(self) -> bool:
        return self.design.hard or self.penalty.hard

    @cached_property
    def data(self) -> tuple[np.ndarray, np.ndarray, np.ndarray | None]:
        """X, y and weights; the same on every machine."""
        rng = np.random.default_rng(zlib.crc32(self.name.encode()))
        X, weight = self.design.make(rng)
        spread = np.where(X.std(axis=0) > 0, X.std(axis=0), 1.0)
        signal = (X - X.mean(axis=0)) / spread @ rng.normal(size=X.shape[1])
        target = signal + 0.8 * rng.standard_t(3, size=X.shape[0]) + 0.5
        return X, np.where(target > 0.2, 1.0, -1.0) if self.of == "margin" else target, weight

    @property
    def n_features(self) -> int:
        return self.data[0].shape[1]

    @property
    def of(self) -> str:
        return self.loss.loss.of

    @property
    def problem(self) -> rl.Problem:
        X, y, weight = self.data
        return rl.Problem(
            X,
            y,
            loss=self.loss.loss,
            penalty=self.penalty.make(X.shape[1]),
            constraints=self.constraint.make(X),
            sample_weight=weight,
            fit_intercept=self.intercept,
        )


FACTORS = ("loss", "penalty", "constraint", "design", "intercept")


def interpolates(penalty: PenaltyCase, design: DesignCase) -> bool:
    """Tell whether the optimum is zero, which is all there is to say about such a case."""
    return penalty.name == "none" and design.make is wide


def _factors(solver: SolverCase) -> tuple[Sequence[Any], ...]:
    """Return the losses, designs, constraints and penalties that a solver takes."""
    designs = [design for design in DESIGNS if solver.hard or not design.hard]
    penalties = [penalty for penalty in solver.penalties if solver.hard or not penalty.hard]
    return LOSSES, designs, solver.constraints, penalties


def full_product(solver: SolverCase) -> list[Case]:
    """Return every loss with every design, constraint and penalty, intercepts alternating."""
    choices = itertools.product(*_factors(solver))
    return [
        Case(loss, penalty, constraint, design, intercept=k % 2 == 0)
        for k, (loss, design, constraint, penalty) in enumerate(choices)
        if not interpolates(penalty, design)
    ]


def pairwise(solver: SolverCase) -> list[Case]:
    """Return cases in which any two values of different factors meet, if they meet at all.

    Each case is built around two values that have not met yet; the other factors take, one after
    the other, the value that meets most new partners.
    """
    factors = (*_factors(solver), (True, False))
    left = dict.fromkeys(
        ((i, one), (j, other))
        for i, j in itertools.combinations(range(len(factors)), 2)
        for one in range(len(factors[i]))
        for other in range(len(factors[j]))
        if (i, j) != (1, 3) or not interpolates(factors[3][other], factors[1][one])
    )
    found = []
    while left:
        chosen = dict(next(iter(left)))
        for i, values in enumerate(factors):
            if i not in chosen:
                # Ties are broken in turn, and not always for the first value.
                order = [(k + len(found)) % len(values) for k in range(len(values))]
                chosen[i] = max(
                    order, key=lambda value: _worth({**chosen, i: value}, factors, left)
                )
        for pair in _pairs(chosen):
            left.pop(pair, None)
        loss, design, constraint, penalty, intercept = (factors[i][chosen[i]] for i in range(5))
        found.append(Case(loss, penalty, constraint, design, intercept))
    return found


def _pairs(chosen: dict[int, int]) -> Iterable[Any]:
    return itertools.combinations(sorted(chosen.items()), 2)


def _worth(chosen: dict[int, int], factors: tuple[Sequence[Any], ...], left: Container[Any]) -> int:
    """Count the pairs that meet for the first time; a case that interpolates is worth less."""
    if {1, 3} <= set(chosen) and interpolates(factors[3][chosen[3]], factors[1][chosen[1]]):
        return -1
    return sum(pair in left for pair in _pairs(chosen))
