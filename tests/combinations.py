"""Awkward designs, and the combinations of `cases` that are solved and compared."""

from __future__ import annotations

import zlib
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from cases import (
    CONSTRAINTS,
    COUPLED,
    FLAT,
    LOSSES,
    RIDGES,
    ConstraintCase,
    LossCase,
    PenaltyCase,
)

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


def combinations(penalties: list[PenaltyCase]) -> list[Case]:
    """Every loss with every design and every constraint with every penalty, the rest rotating."""
    found = {}
    for i, loss in enumerate(LOSSES):
        for j, design in enumerate(DESIGNS):
            penalty = penalties[(i + j) % len(penalties)]
            if penalty.name == "none" and design.make is wide:
                continue  # interpolation: the optimum is zero, and that is all there is to say
            constraint = CONSTRAINTS[(2 * i + 4 * j) % len(CONSTRAINTS)]
            case = Case(loss, penalty, constraint, design, (i + j // 2) % 2 == 0)
            found[case.name] = case
    for i, constraint in enumerate(CONSTRAINTS):
        for j, penalty in enumerate(penalties):
            for intercept in (True, False):
                loss = LOSSES[(3 * i + 5 * j + intercept) % len(LOSSES)]
                design = DESIGNS[(i + 3 * j + 5 * intercept) % len(DESIGNS)]
                case = Case(loss, penalty, constraint, design, intercept)
                found[case.name] = case
    return list(found.values())


CASES = combinations(RIDGES)
FLAT_CASES = combinations(FLAT)
COUPLED_CASES = combinations(COUPLED)
