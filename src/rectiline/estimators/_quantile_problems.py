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

from rectiline._typing import Indices, Vector
from rectiline.constraints import Constraint, ConstraintRows, LinearInequality
from rectiline.estimators._encode import PlainColumns, on_copies
from rectiline.estimators._parameters import is_adaptive
from rectiline.estimators._rows import refuse_on_rows
from rectiline.estimators._tasks import FitData
from rectiline.losses import Loss
from rectiline.penalties import Penalty
from rectiline.problems import Problem
from rectiline.problems.blocks import Encoding
from rectiline.rows import Levels, StackedRows, TensorRows


@dataclass(frozen=True, eq=False)
class StackedQuantiles:
    """Several quantiles in one problem, in which each sample appears once for each of them.

    Attributes
    ----------
    data : FitData
    losses : sequence of Loss
        From the lowest quantile to the highest.
    fit_intercept : bool
    penalty : Penalty or None
        Of the slopes of each quantile, a sum over columns.
    rows : ConstraintRows
        What the slopes of each quantile obey.
    shares_slopes : bool
        Whether all quantiles have the same slopes.
    points : sequence of sparse matrices
        For each pair of neighbours, the points at which they must not cross.
    frozen : ndarray of shape (n_quantiles, n_samples), optional
        Slopes of the losses of samples that stay on their side of a quantile, NaN for the others:
        only these are rows of the problem, and the frozen ones a linear term.
    """

    data: FitData
    losses: Sequence[Loss]
    fit_intercept: bool
    penalty: Penalty | None
    rows: ConstraintRows
    shares_slopes: bool = False
    points: Sequence[Any] = ()
    frozen: NDArray[np.float64] | None = None

    @classmethod
    def of(cls, model: Any, data: FitData) -> StackedQuantiles:
        """Return the quantiles of a model in one problem; what it does not take is refused."""
        penalty, d = model._penalty(model._strength(data)), model.n_features_in_
        adds_up = not is_adaptive(model) and on_copies(penalty, d, 1, np.zeros(0)) is not None
        if penalty is not None and not adds_up:
            raise ValueError(
                f"penalty={model.penalty!r}, penalty_params={model.penalty_params!r}: quantiles "
                "that are fitted jointly (non_crossing, shared_slopes) take penalties that are "
                "sums over columns ('elasticnet', 'l1', 'l2'), without adaptive weights."
            )
        refuse_on_rows(model, **{"a joint fit on a GPU": isinstance(data.rows, TensorRows)})
        if model._n_effects:
            raise ValueError(
                "fixed_effects do not go with non_crossing and shared_slopes: fit the quantiles "
                "one by one, or give the effects as columns with categorical='onehot'."
            )
        losses = [model._loss(level) for level in np.sort(model.quantiles_)]
        rows = model._task_problem(data, data.tasks[0]).terms.region.rows
        shared = bool(model.shared_slopes)
        return cls(data, losses, model.fit_intercept, penalty, rows, shared)

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
        copies, free = self._n_slopes // self.d, np.zeros(shape.n_columns - self._n_slopes)
        penalty = on_copies(self.penalty, self.d, copies, free)
        own = PlainColumns(self.rows, self.d, copies)
        constraints = [*self._crossing_rows(), own]
        data, losses = self.data, list(self.losses)
        if data.rows is not None:
            rows, encoding = StackedRows(data.rows, shape), Encoding("residual", levels=self.m)
            return Problem.on_encoded_rows(rows, losses, encoding, penalty, constraints, False)
        level, row = np.nonzero(self._is_listed)
        return Problem(
            self._design(shape, row, level),
            data.y[row],
            loss=losses,
            penalty=penalty,
            constraints=constraints,
            sample_weight=shape.factor * data.weight[row],
            fit_intercept=False,
            loss_index=level,
            linear=None if self.frozen is None else self._frozen_slopes(self.frozen),
            feature_names=None if names is None else self._columns(names, levels),
        )

    @property
    def _is_listed(self) -> NDArray[np.bool_]:
        if self.frozen is None:
            return np.ones((self.m, self.data.n_samples), dtype=bool)
        return np.isnan(self.frozen)

    def _frozen_slopes(self, frozen: NDArray[np.float64]) -> Vector:
        slopes = np.where(np.isnan(frozen), 0.0, frozen)
        return self.pack(np.asarray(slopes @ self.data.X), slopes.sum(axis=1))

    def all_multipliers(self, listed: Vector) -> Vector:
        """Return the multipliers of all samples from those of the problem."""
        if self.frozen is None:
            return listed
        sample = self.frozen.copy()
        sample[self._is_listed] = listed[: np.count_nonzero(self._is_listed)]
        return sample.ravel()

    def _design(self, shape: Levels, row: Indices, level: Indices) -> Any:
        """Return X once for each quantile, sparse unless they share its columns."""
        X = self.data.X
        stacked = shape.stack(sp.csr_array(X) if sp.issparse(X) else X, row, level)
        return stacked.toarray() if self.shares_slopes and not sp.issparse(X) else stacked

    def _crossing_rows(self) -> list[Constraint]:
        """Return the steps from each quantile to the next at their points."""
        counts = [x.shape[0] for x in self.points]
        if not any(counts):
            return []
        x, level = sp.csr_array(sp.vstack(self.points)), np.repeat(np.arange(len(counts)), counts)
        below, above = (self.shape.stack(x, np.arange(level.size), level + k) for k in (0, 1))
        return [LinearInequality(sp.csr_array(above - below))]

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
