"""The data of a problem: rows of X and their losses. `Problem` holds them beside its `Terms`.

`Data` are in memory; a pass over them sees views of their rows as blocks of a source. `BlockData`
are read block by block where they are.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy import sparse as sp

from rectiline import _core
from rectiline._lazy import FieldsAlone, Part, cached_property
from rectiline._typing import Indices, Vector
from rectiline.backends import Design, array_if_small
from rectiline.losses import Loss
from rectiline.problems._block_samples import BlockSamples
from rectiline.problems._samples import Samples
from rectiline.rows import ArrayRows, RowBlocks

_SPARSE = 4  # times as many further sparse rows as rows from which on dense X is stored as sparse


@dataclass(frozen=True, eq=False)
class Data(FieldsAlone):
    """The design and the samples.

    Attributes
    ----------
    design : Design
    samples : Samples
        Losses, encoded targets and weights; see there.
    """

    design: Design
    samples: Samples

    #: Number of rows of X.
    n_samples = Part[int]("design.n_samples")
    #: Number of columns of X.
    n_features = Part[int]("design.n_features")

    @property
    def shown(self) -> str:
        """Size and kind of X as text."""
        kind = "sparse" if self.design.is_sparse else "dense"
        return f"{self.n_samples} x {self.n_features} {kind}"

    @cached_property
    def blocks(self) -> RowBlocks:
        """Views of the rows of X, as passes read them."""
        return ArrayRows(self.design.by_rows.X, None)

    @property
    def classes(self) -> tuple[tuple[Any, ...], Any]:
        """Signs of the classes that a sample must hold enough of, if any, and those of all rows."""
        if self.samples.losses[0].of != "margin":
            return (), None
        return (-1.0, 1.0), self.samples.direction

    def shares_rows(self, other: Data | BlockData) -> bool:
        """Whether other data have the same array X."""
        if not isinstance(other, Data):
            return False
        a, b = self.design.X, other.design.X
        dense = isinstance(a, np.ndarray) and isinstance(b, np.ndarray)
        return a is b or (dense and a.__array_interface__ == b.__array_interface__)

    def with_loss(self, loss: str | Loss) -> Data:
        """Return the data under another loss; everything else is shared."""
        return Data(self.design, self.samples.with_loss(loss))

    def on_rows(self, rows: Indices, sample_weight: ArrayLike | None = None) -> Data:
        """Return copies of some rows, under their own weights unless others are given."""
        samples = self.samples.take(rows)
        samples = samples.with_weight(samples.weight if sample_weight is None else sample_weight)
        # The entries were checked when the whole design was made.
        return Data(Design(self.design.by_rows.X[rows]), samples)

    def on_columns(self, columns: Indices) -> Data:
        """Return copies of some columns, in column order, so that products with them are fast."""
        X = self.design.X[:, columns]
        part = Design(X if self.design.is_sparse else np.asfortranarray(X))
        return Data(part, self.samples)

    def with_rows(self, X: Any, samples: Samples) -> Data:
        """Return the data with further rows below, of finite numbers; X is copied."""
        given = array_if_small(self.design.X)
        if sp.issparse(given) or (sp.issparse(X) and X.shape[0] > _SPARSE * self.n_samples):
            form = given.format if sp.issparse(given) else "csr"
            both: Any = sp.vstack([sp.csr_array(given), sp.csr_array(X)], format=form)
        else:
            dense = X.toarray() if sp.issparse(X) else X
            both = np.vstack([given, dense.astype(np.float64)])
        return Data(Design(both), Samples.joined([self.samples, samples]))

    @cached_property
    def linear(self) -> Vector:
        """Coefficients of the linear term of the objective; zeros where there is none."""
        rows = self.samples.linear_rows
        if not rows.size:
            return np.zeros(self.design.n_features)
        return np.asarray(self.design.X[rows].T @ self.samples.weight[rows], dtype=np.float64)

    # ---- scales of the columns, which solvers work in -------------------------------------------

    @cached_property
    def column_means(self) -> Vector:
        """Weighted mean of each column."""
        if self._has_equal_weights:
            return self.design.column_means()
        return self.design.tdot(self.samples.weight) / float(self.samples.weight.sum())

    @cached_property
    def column_mean_squares(self) -> Vector:
        """Weighted mean of the squares of each column."""
        if self._has_equal_weights:
            return self.design.column_squares() / max(self.n_samples, 1)
        weight = self.samples.weight
        return self.design.column_squares(weight) / float(weight.sum())

    @cached_property
    def _has_equal_weights(self) -> bool:
        """Whether all weights are equal: then X has been looked at already."""
        weight = self.samples.weight
        return bool((weight == weight[:1]).all())

    def column_units(self, about_means: bool) -> tuple[Vector | None, Vector]:
        """Centres of the columns, None for zero, and what makes their mean squares about them 1."""
        squares = self.column_mean_squares
        return _core.column_units(
            self.column_means if about_means else squares, squares, about_means
        )

    @cached_property
    def coef_unit(self) -> Vector:
        """What a coefficient must be to move the predictions by their typical size."""
        rms = np.sqrt(self.column_mean_squares)
        unit = self.samples.argument_scale / np.where(rms > 0, rms, 1.0)
        return np.where(rms > 0, unit, 0.0)


@dataclass(frozen=True, eq=False)
class BlockData:
    """Rows in blocks, and how their losses are read off a block.

    Attributes
    ----------
    blocks : RowBlocks
    samples : BlockSamples
    """

    blocks: RowBlocks
    samples: BlockSamples

    #: Number of rows.
    n_samples = Part[int]("blocks.n_rows")
    #: Number of columns.
    n_features = Part[int]("blocks.n_features")

    @property
    def shown(self) -> str:
        """Size and kind of the rows as text."""
        return f"{self.blocks.shown_rows} x {self.n_features} rows in blocks"

    @property
    def classes(self) -> tuple[tuple[Any, ...], Any]:
        """Labels that a sample must hold enough of, and those of all rows if they are at hand."""
        labels = self.samples.encoding.labels
        return labels or (), None if labels is None else self.blocks.targets_in_memory

    def shares_rows(self, other: Data | BlockData) -> bool:
        """Whether other data are on the same source."""
        return self.blocks is other.blocks

    def with_loss(self, loss: str | Loss) -> BlockData:
        """Return the data under another loss; everything else is shared."""
        return BlockData(self.blocks, self.samples.with_loss(loss))
