"""Several quantiles in one problem: one slope vector for all, or slopes that must not cross.

Each sample appears once per quantile, with the loss of that quantile. Intercepts are columns of
indicators, so that each quantile has its own.

**Not crossing.** For neighbouring quantiles let d and d0 be the differences of slopes and
intercepts. On the box ``lo <= x <= hi`` the smallest distance is
``d0 + d'lo + sum_j min(w_j d_j, 0)`` with ``w = hi - lo``. With extra columns ``s_j >= 0`` and
``s_j >= -w_j d_j`` it is linear to demand

    d0 + d'lo - sum_j s_j >= 0,

which holds for some s exactly if the quantiles do not cross anywhere in the box. The extra columns
also get an upper bound far beyond the range of y, so that every dual point bounds the optimum;
`reached_cap` says if it was not far enough.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray
from scipy import sparse as sp

from rectiline._costs import SECONDS_PER_ENTRY_COPIED, SECONDS_PER_SPARSE_ENTRY_COPIED
from rectiline._lazy import cached_property
from rectiline._polling import checkpoint
from rectiline._typing import Indices, Vector
from rectiline.constraints import (
    Box,
    Constraint,
    ConstraintRows,
    LinearEquality,
    LinearInequality,
)
from rectiline.exceptions import ConvergenceWarning
from rectiline.losses import Loss
from rectiline.penalties import Columnwise, Penalty
from rectiline.problems import Problem
from rectiline.problems.blocks import Encoding
from rectiline.rows import Block, Levels, RowBlocks, StackedRows
from rectiline.solvers import Solution, Status

__all__ = ["NonCrossing", "RangedRows", "SharedSlopes", "StackedQuantiles", "zero_answer"]


def bounding_box(X: Any) -> tuple[Vector, Vector]:
    """Return the smallest and the largest value of each column."""
    if not sp.issparse(X):
        return np.asarray(X.min(axis=0), float), np.asarray(X.max(axis=0), float)
    low, high = X.min(axis=0), X.max(axis=0)
    return low.toarray().ravel().astype(float), high.toarray().ravel().astype(float)


@dataclass(frozen=True, eq=False)
class RangedRows:
    """Rows in blocks, with the smallest and the largest value of each column and of the targets."""

    rows: RowBlocks
    low: Vector
    high: Vector
    targets: Vector

    @classmethod
    def of(cls, rows: RowBlocks) -> RangedRows:
        """Return rows with what one pass over them finds."""
        ends = np.array(list(rows.map_blocks(_block_ends, None)))
        low, high = ends[:, 0].min(axis=0), ends[:, 1].max(axis=0)
        return cls(rows, low[:-1], high[:-1], np.array([low[-1], high[-1]]))

    @property
    def shape(self) -> tuple[int, int]:
        """Rows and columns, as an array has them."""
        return self.rows.n_rows, self.rows.n_features


def _block_ends(block: Block, _: None) -> NDArray[np.float64]:
    """Return the smallest and the largest values of a block; nothing is below or above none."""
    width = int(block.X.shape[1])
    ends = np.full((2, width + 1), np.inf)
    ends[1] = -np.inf
    if block.n_rows:
        ends[:, :width] = bounding_box(block.X)
        ends[:, width] = block.y.min(), block.y.max()
    return ends


@dataclass(frozen=True, eq=False)
class StackedQuantiles:
    """Several quantiles in one problem, in which each sample appears once for each of them.

    `losses` go from the lowest quantile to the highest. For rows in blocks X is `RangedRows`, y
    holds the ends of the targets, and there is no weight.
    """

    X: Any
    y: Vector
    weight: Vector
    losses: list[Loss]
    fit_intercept: bool
    rows: ConstraintRows | None = None  # what the slopes of each quantile obey besides

    shares_slopes: ClassVar[bool] = False

    @property
    def m(self) -> int:
        """Number of quantiles."""
        return len(self.losses)

    @property
    def d(self) -> int:
        """Number of columns of X."""
        return int(self.X.shape[1])

    @property
    def _n_slopes(self) -> int:
        return self.d if self.shares_slopes else self.m * self.d

    @property
    def _n_extra(self) -> int:
        """Number of extra columns, the last ones."""
        return 0

    @property
    def _levels(self) -> Levels:
        """How the rows of X are repeated: slopes, an indicator of each quantile, extra columns."""
        factor = 1.0 / self.m if self.shares_slopes else 1.0  # the loss is the mean over quantiles
        shares, extra = self.shares_slopes, self._n_extra
        return Levels(self.m, self.d, shares, self.fit_intercept, extra, factor)

    def problem(self, l1: float, l2: float, empty: bool = False) -> Problem:
        """Return the problem; with `empty` the columns hold nothing, which takes no time."""
        levels = self._levels
        penalty = _penalty(l1, l2, self._n_slopes, levels.n_columns - self._n_slopes)
        constraints = [*self._constraints(), *self._own_constraints(levels.n_columns)]
        if isinstance(self.X, RangedRows):
            return Problem.on_encoded_rows(
                StackedRows(self.X.rows, levels),
                self.losses,
                Encoding("residual", levels=self.m),
                penalty,
                constraints,
                fit_intercept=False,
            )
        n = self.y.size
        return Problem(
            sp.csr_array((n * self.m, levels.n_columns)) if empty else self._design(levels),
            np.tile(self.y, self.m),
            loss=self.losses,
            penalty=penalty,
            constraints=constraints,
            sample_weight=np.tile(levels.factor * self.weight, self.m),
            fit_intercept=False,
            loss_index=np.repeat(np.arange(self.m), n),
        )

    def _design(self, levels: Levels) -> Any:
        """Return X once for each quantile, dense only if quantiles share its columns."""
        n, m, d, is_sparse = self.y.size, self.m, self.d, sp.issparse(self.X)
        if self.shares_slopes and not is_sparse:
            checkpoint(seconds=SECONDS_PER_ENTRY_COPIED * self.X.size * m)
            dense = np.zeros((m, n, levels.n_columns), dtype=self.X.dtype)
            dense[:, :, :d] = self.X
            if self.fit_intercept:
                dense[np.arange(m), :, d + np.arange(m)] = 1.0
            return dense.reshape(n * m, -1)
        checkpoint(
            seconds=SECONDS_PER_SPARSE_ENTRY_COPIED * (self.X.nnz if is_sparse else self.X.size) * m
        )
        X = sp.csr_array(self.X) if is_sparse else self.X
        return levels.stack(X, np.tile(np.arange(n), m), np.repeat(np.arange(m), n))

    def _constraints(self) -> list[Constraint]:
        return []

    def _own_constraints(self, n_features: int) -> list[Constraint]:
        """Return the rows on slopes, once or for each quantile; other columns are free."""
        rows, made = self.rows, list[Constraint]()
        if rows is None:
            return made
        copies, free = self._n_slopes // self.d, n_features - self._n_slopes

        def spread(part: Any) -> sp.csr_array:
            wide = sp.block_diag([sp.csr_array(part)] * copies, format="csr")
            return sp.csr_array(sp.hstack([wide, sp.csr_array((wide.shape[0], free))]))

        if rows.A.shape[0]:
            made.append(LinearInequality(spread(rows.A), np.tile(rows.c, copies)))
        if rows.E.shape[0]:
            made.append(LinearEquality(spread(rows.E), np.tile(rows.f, copies)))
        if np.isfinite(rows.lower).any() or np.isfinite(rows.upper).any():
            ends = [np.tile(one, copies) for one in (rows.lower, rows.upper)]
            made.append(
                Box(
                    np.concatenate([ends[0], np.full(free, -np.inf)]),
                    np.concatenate([ends[1], np.full(free, np.inf)]),
                )
            )
        return made

    def unpack(self, coef: Vector) -> tuple[NDArray[np.float64], Vector]:
        """Return slopes (m, d) and intercepts (m,)."""
        end = self._n_slopes
        slopes = np.tile(coef[:end].reshape(-1, self.d), (self.m * self.d // end, 1))
        own = coef[end : end + self.m].copy() if self.fit_intercept else np.zeros(self.m)
        return slopes, own

    def columns(self, names: list[str], levels: list[str]) -> list[str]:
        """Return names for the columns of the problem."""
        slopes = [f"{name} at {level}" for level in levels for name in names]
        own = [f"intercept of {level}" for level in levels] if self.fit_intercept else []
        return [*(names if self.shares_slopes else slopes), *own]

    def reached_cap(self, coef: Vector) -> bool:
        """Whether an extra column came near its upper bound, which may have shaped the answer."""
        return False

    def wider(self) -> Self:
        """Return these settings with a thousand times the upper bound of extra columns."""
        return self

    def mended(self, coef: Vector) -> Vector:
        """Return coefficients with what rounding left of a crossing taken out."""
        return coef


class SharedSlopes(StackedQuantiles):
    """Composite quantile regression: one slope vector, an intercept for each quantile."""

    shares_slopes = True


@dataclass(frozen=True, eq=False)
class NonCrossing(StackedQuantiles):
    """Own slopes for each quantile that do not cross on the bounding box of X."""

    cap: float = 1e3  # upper bound of the extra columns, in ranges of y

    @property
    def _n_extra(self) -> int:
        return (self.m - 1) * int(self._wide.size)

    @cached_property
    def _box(self) -> tuple[Vector, Vector]:
        if isinstance(self.X, RangedRows):
            return self.X.low, self.X.high
        return bounding_box(self.X)

    @cached_property
    def _wide(self) -> Indices:
        """Columns that are not constant: only they need the extra variable."""
        low, high = self._box
        return np.flatnonzero(high > low)

    def _constraints(self) -> list[Constraint]:
        """Return the rows of the smallest distances, and of what the extra columns cover."""
        m, wide = self.m, self._wide
        low, high = self._box
        step = np.diff(np.eye(m), axis=0)  # from each quantile to the next
        between, extra = np.eye(m - 1), np.ones((1, wide.size))
        span = sp.diags_array(high - low, format="csr")[wide]
        own = [sp.csr_array(step)] if self.fit_intercept else []
        none = [sp.csr_array((self._n_extra, m))] if self.fit_intercept else []
        distance = [sp.kron(step, low[None]), *own, sp.kron(-between, extra)]
        covers = [sp.kron(step, span), *none, sp.eye_array(self._n_extra)]
        rows = sp.vstack([sp.hstack(distance), sp.hstack(covers)], format="csr")
        lower = np.full(rows.shape[1], -np.inf)
        upper = np.full(rows.shape[1], np.inf)
        first_extra = rows.shape[1] - self._n_extra
        lower[first_extra:], upper[first_extra:] = 0.0, self._top
        return [LinearInequality(sp.csr_array(rows)), Box(lower, upper)]

    @property
    def _top(self) -> float:
        return self.cap * (float(np.ptp(self.y)) or float(np.abs(self.y).max()) or 1.0)

    def columns(self, names: list[str], levels: list[str]) -> list[str]:
        """Return names for the columns of the problem."""
        extra = [
            f"{names[j]} between {low} and {high}"
            for low, high in pairwise(levels)
            for j in self._wide
        ]
        return [*super().columns(names, levels), *extra]

    def reached_cap(self, coef: Vector) -> bool:
        """Whether an extra column came near its upper bound, which may have shaped the answer."""
        extra = self._n_extra
        return bool(extra and coef[coef.size - extra :].max() > 0.5 * self._top)

    def wider(self) -> Self:
        """Return these settings with a thousand times the upper bound of extra columns."""
        return replace(self, cap=1e3 * self.cap)

    def mended(self, coef: Vector) -> Vector:
        """Return coefficients with what rounding left of a crossing taken out.

        The extra columns get their exact value and the intercepts move up by what is missing.
        """
        slopes, intercepts = self.unpack(coef)
        low, high = self._box
        step = np.diff(slopes, axis=0)
        least = np.diff(intercepts) + np.sum(np.minimum(step * low, step * high), axis=1)
        size = np.abs(intercepts).max() + np.max(np.abs(slopes) @ np.maximum(abs(low), abs(high)))
        margin = 4 * np.finfo(float).eps * size
        moved = coef.copy()
        if self.fit_intercept:
            lift = np.concatenate([[0.0], np.cumsum(np.maximum(margin - least, 0.0))])
            moved[self.m * self.d : self.m * self.d + self.m] = intercepts + lift
        wide = self._wide
        extra = np.maximum(-(high - low)[wide] * step[:, wide], 0.0).ravel()
        moved[coef.size - extra.size :] = extra
        return moved


def _penalty(l1: float, l2: float, paying: int, free: int) -> Penalty | None:
    if l1 == 0.0 and l2 == 0.0:
        return None
    return Columnwise(
        np.concatenate([np.full(paying, l1), np.zeros(free)]),
        np.concatenate([np.full(paying, l2), np.zeros(free)]),
    )


def zero_answer(
    stacked: StackedQuantiles, parts: tuple[float, float]
) -> tuple[Problem, Solution] | None:
    """Return zero coefficients with their certificate if they are feasible, without stacking X.

    Their objective does not depend on X, nor does the bound that zero multipliers prove.
    """
    problem = stacked.problem(*parts, empty=True)
    if not problem.is_in_memory:
        return None
    coef = np.zeros(problem.n_features)
    if problem.violation(coef)[0] > 0:
        return None
    dual = problem.zero_dual()
    solution = Solution(
        coef=coef,
        intercept=0.0,
        status=Status.TIME_LIMIT,
        solver="none",
        n_iter=0,
        seconds=0.0,
        dual=dual,
        certificate=problem.certify(coef, 0.0, dual),
        reason="there is no time to put the quantiles into one problem",
    )
    warnings.warn(
        "QuantileRegressor: time_limit is too short to put the quantiles into one problem; all "
        f"coefficients are zero. {Status.TIME_LIMIT.advice}",
        ConvergenceWarning,
        stacklevel=5,
    )
    return problem, solution
