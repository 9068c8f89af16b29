"""Several quantiles in one problem: one slope vector for all, or slopes that must not cross.

Each sample appears once for each quantile, with the loss of that quantile. Intercepts are columns
of indicators, so that each quantile has its own. Quantiles that must not cross obey, for each pair
of neighbours with slopes b, c and intercepts b0, c0, the rows ``x'(c - b) + c0 - b0 >= 0`` at the
points x that `rectiline.estimators._non_crossing` has found.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse as sp

from rectiline._typing import Vector
from rectiline.constraints import Constraint, ConstraintRows, LinearInequality
from rectiline.estimators._encode import PlainColumns
from rectiline.estimators._tasks import FitData
from rectiline.losses import Loss
from rectiline.penalties import Columnwise, Penalty
from rectiline.problems import Problem
from rectiline.problems.blocks import Encoding
from rectiline.rows import Levels, StackedRows

_SMALL = 1 << 20  # entries of a stacked X below which products with zeros cost nothing


@dataclass(frozen=True, eq=False)
class StackedQuantiles:
    """Several quantiles in one problem, in which each sample appears once for each of them.

    Attributes
    ----------
    data : FitData
    losses : sequence of Loss
        From the lowest quantile to the highest.
    fit_intercept : bool
    strengths : tuple of float
        Of the L1 norm and of the ridge.
    rows : ConstraintRows
        What the slopes of each quantile obey.
    shares_slopes : bool
        Whether all quantiles have the same slopes.
    points : sequence of sparse matrices
        For each pair of neighbours, the points at which they must not cross.
    """

    data: FitData
    losses: Sequence[Loss]
    fit_intercept: bool
    strengths: tuple[float, float]
    rows: ConstraintRows
    shares_slopes: bool = False
    points: Sequence[Any] = ()

    @property
    def m(self) -> int:
        """Number of quantiles."""
        return len(self.losses)

    @property
    def d(self) -> int:
        """Number of columns of X."""
        return int(self.rows.lower.size)

    @property
    def _n_slopes(self) -> int:
        return self.d if self.shares_slopes else self.m * self.d

    @property
    def shape(self) -> Levels:
        """How rows are repeated; the loss of shared slopes is the mean over quantiles."""
        factor = 1.0 / self.m if self.shares_slopes else 1.0
        return Levels(self.m, self.d, self.shares_slopes, self.fit_intercept, factor=factor)

    def problem(self, names: Sequence[str] | None = None, levels: Sequence[float] = ()) -> Problem:
        """Return the problem; `names` of columns and `levels` are for those who read it."""
        shape = self.shape
        penalty = self._penalty(shape.n_columns)
        own = PlainColumns(self.rows, self.d, self._n_slopes // self.d)
        constraints = [*self._crossing_rows(), own]
        data, losses = self.data, list(self.losses)
        if data.rows is not None:
            rows, encoding = StackedRows(data.rows, shape), Encoding("residual", levels=self.m)
            return Problem.on_encoded_rows(rows, losses, encoding, penalty, constraints, False)
        n = data.n_samples
        return Problem(
            self._design(shape),
            np.tile(data.y, self.m),
            loss=losses,
            penalty=penalty,
            constraints=constraints,
            sample_weight=np.tile(shape.factor * data.weight, self.m),
            fit_intercept=False,
            loss_index=np.repeat(np.arange(self.m), n),
            feature_names=None if names is None else self._columns(names, levels),
        )

    def _design(self, shape: Levels) -> Any:
        """Return X once for each quantile; sparse unless they share its columns or it is small."""
        n, m, X = self.data.n_samples, self.m, self.data.X
        X = sp.csr_array(X) if sp.issparse(X) else X
        stacked = shape.stack(X, np.tile(np.arange(n), m), np.repeat(np.arange(m), n))
        is_filled = self.shares_slopes or stacked.shape[0] * stacked.shape[1] <= _SMALL
        return stacked.toarray() if is_filled and not sp.issparse(X) else stacked

    def _penalty(self, n_columns: int) -> Penalty | None:
        if not any(self.strengths):
            return None
        pays = np.arange(n_columns) < self._n_slopes
        return Columnwise(*(strength * pays for strength in self.strengths))

    def _crossing_rows(self) -> list[Constraint]:
        """Return the steps from each quantile to the next at their points."""
        steps = np.diff(np.eye(self.m), axis=0)
        parts = []
        for step, x in zip(steps, self.points, strict=False):
            own = [sp.kron(step[None], np.ones((x.shape[0], 1)))] if self.fit_intercept else []
            parts.append(sp.hstack([sp.kron(step[None], x), *own]))
        if not any(part.shape[0] for part in parts):
            return []
        return [LinearInequality(sp.csr_array(sp.vstack(parts)))]

    def _columns(self, names: Sequence[str], levels: Sequence[float]) -> list[str]:
        """Return names for the columns of the problem."""
        slopes = [f"{name} at {level:g}" for level in levels for name in names]
        own = [f"intercept of {level:g}" for level in levels] if self.fit_intercept else []
        return [*(names if self.shares_slopes else slopes), *own]

    def pack(self, slopes: NDArray[np.float64], intercepts: Vector) -> Vector:
        """Return the coefficients of the problem that stand for these quantiles."""
        own = slopes[0] if self.shares_slopes else slopes.ravel()
        return np.append(own, intercepts) if self.fit_intercept else own.copy()

    def unpack(self, coef: Vector) -> tuple[NDArray[np.float64], Vector]:
        """Return slopes (m, d) and intercepts (m,)."""
        end = self._n_slopes
        slopes = np.tile(coef[:end].reshape(-1, self.d), (self.m * self.d // end, 1))
        own = coef[end:].copy() if self.fit_intercept else np.zeros(self.m)
        return slopes, own
