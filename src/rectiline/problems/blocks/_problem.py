"""A problem on rows in blocks: `rectiline.Problem` returns it for a source that is not an array."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from rectiline._typing import Vector
from rectiline.backends import Design
from rectiline.constraints import Constraint, ConstraintRows, combine, named_constraints
from rectiline.losses import Loss
from rectiline.penalties import Penalty, Ridge
from rectiline.penalties import get as get_penalty
from rectiline.problems._certificate import Certificate
from rectiline.problems._data import Data
from rectiline.problems._inputs import checked_losses, curve_arrays
from rectiline.problems._region import Region
from rectiline.problems._samples import Samples
from rectiline.problems._terms import PenaltyTerms, Terms
from rectiline.problems.blocks._pass import NearRows
from rectiline.problems.blocks._targets import EncodedTargets, StoredTargets, Targets
from rectiline.rows import Block, RowBlocks, from_arrays

if TYPE_CHECKING:
    from rectiline.problems._problem import Problem

__all__ = ["BlockProblem", "Measures"]

_LABELS_SHOWN = 5


@dataclass(slots=True)
class Measures:
    """What passes have found out about the rows; a problem fills it with its first pass."""

    loss_at_zero: float = 0.0
    weight: float = 0.0  # sum of the sample weights
    sizes: Vector | None = None  # sum of weight_i |x_ij| for each column, or a bound on it
    argument_scale: float = 1.0

    @property
    def is_known(self) -> bool:
        """Whether a pass has been made."""
        return self.sizes is not None


class BlockProblem:
    """A penalised, constrained linear model on rows that are read block by block.

    `rectiline.Problem(rows, ...)` makes one. See `rectiline.Problem` for the parameters; targets
    and weights come with the rows.

    Parameters
    ----------
    rows : RowBlocks
        See `rectiline.rows`.
    loss : Loss or str, or sequence of Loss
        Several if `targets` say which of them each row pays.
    penalty : Penalty, str or None, default=Ridge(1.0)
    constraints : sequence of Constraint, default=()
        Constraints that look at X (fairness, say) need the rows in memory.
    fit_intercept : bool, optional
        Whether there is a free intercept; there is one by default.
    targets : Targets, optional
        How rows get their signs, offsets and weights, if not by the loss alone.

    Examples
    --------
    >>> import numpy as np
    >>> import rectiline as rl
    >>> rng = np.random.default_rng(0)
    >>> X = rng.standard_normal((5000, 3))
    >>> y = X @ np.array([1.0, 2.0, 3.0]) + rng.standard_normal(5000)
    >>> rows = rl.rows.from_arrays(X, y, block_rows=1000)
    >>> problem = rl.Problem(rows, loss=rl.losses.Pinball(0.9))
    >>> problem
    Problem(5000 x 3 rows in blocks, loss=Pinball(quantile=0.9), penalty=Ridge(strength=1.0),
    constraints=[], fit_intercept=True)
    """

    def __init__(
        self,
        rows: RowBlocks,
        loss: str | Loss | Sequence[Loss],
        penalty: str | Penalty | None = Ridge(1.0),  # noqa: B008  (penalties are immutable)
        constraints: Any = (),
        fit_intercept: bool | None = None,
        targets: Targets | None = None,
    ) -> None:
        if not isinstance(rows, RowBlocks):
            raise TypeError(f"rows must be RowBlocks, see rectiline.rows; got {type(rows)}.")
        self.blocks = rows
        self.losses = checked_losses(loss, None if targets is None else 0)
        self.fit_intercept = True if fit_intercept is None else bool(fit_intercept)
        d = rows.n_features
        names = None if rows.feature_names is None else np.asarray(rows.feature_names)
        asked = tuple(named_constraints(constraints, names=names, n_features=d))
        made = get_penalty(penalty, d, names=names)
        self.terms = Terms.of(made, Region(_rows_without_data(asked, d)), asked)
        if not rows.has_target and self.losses[0].of != "prediction":
            raise ValueError("These rows have no targets y; a problem needs them.")
        self._targets = targets
        self._given: Problem | None = None
        self.measures = Measures()

    @classmethod
    def on_arrays(cls, problem: Problem) -> BlockProblem:
        """Return a problem in memory as a problem on blocks of views of its rows."""
        new = object.__new__(cls)
        X = problem.design.by_rows.X
        new.blocks = from_arrays(X)
        new.losses, new.fit_intercept = problem.losses, problem.fit_intercept
        new.terms = problem.terms
        new._targets = StoredTargets(problem.data.samples)
        new._given = problem
        columns = problem.design.norm_bounds.columns  # a bound on the sizes, by Cauchy and Schwarz
        new.measures = Measures(sizes=columns * float(np.linalg.norm(problem.weight)))
        return new

    @property
    def in_memory(self) -> Problem | None:
        """The problem in memory behind this one, if there is one."""
        return self._given

    @property
    def n_samples(self) -> int:
        """Number of rows."""
        return self.blocks.n_rows

    @property
    def n_features(self) -> int:
        """Number of columns."""
        return self.blocks.n_features

    @property
    def loss(self) -> Loss:
        """What one row pays."""
        return self.losses[0]

    @property
    def penalty(self) -> Penalty | None:
        """What the coefficients pay."""
        return self.terms.penalty

    @property
    def constraints(self) -> tuple[Constraint, ...]:
        """The constraints as they were passed."""
        return self.terms.constraints

    @property
    def curves(self) -> list[Any]:
        """The losses as the compiled core takes them."""
        return [curve_arrays(one) for one in self.losses]

    @property
    def targets(self) -> Targets:
        """How rows get their signs, offsets and weights; a margin loss looks for its labels."""
        if self._targets is None:
            of = self.losses[0].of
            labels = self._find_labels() if of == "margin" else None
            self._targets = EncodedTargets(of, labels)
        return self._targets

    def labels_in_memory(self) -> NDArray[Any] | None:
        """Return the labels of all rows of a classification where they are at hand."""
        if self.targets.labels is None:
            return None
        return self.blocks.targets_in_memory if self._given is None else self._given.direction

    def _find_labels(self) -> tuple[Any, Any]:
        """Return the two labels; reads blocks until there are two of them."""
        found: set[Any] = set()
        for some in self.blocks.map_targets(_labels, None):
            found.update(some)
            if len(found) >= 2:  # more of them are refused when blocks are encoded
                break
        if len(found) != 2:
            shown = ", ".join(map(repr, sorted(found)[:_LABELS_SHOWN]))
            raise ValueError(
                f"{self.losses[0]!r}: a margin loss needs exactly two distinct labels in y; got "
                f"{len(found)} ({shown})."
            )
        low, high = sorted(found)
        return low, high

    def with_penalty(self, penalty: Penalty | None) -> BlockProblem:
        """Return this problem under another penalty; the rows are shared."""
        return self._changed(lambda new: setattr(new, "terms", self.terms.with_penalty(penalty)))

    def on_blocks(self, blocks: RowBlocks) -> BlockProblem:
        """Return this problem on other rows, whose targets mean what they mean here."""

        def change(new: BlockProblem) -> None:
            new.blocks, new._targets, new.measures = blocks, self.targets, Measures()

        return self._changed(change)

    def with_targets(self, targets: Targets) -> BlockProblem:
        """Return this problem with other targets or weights of the same rows."""

        def change(new: BlockProblem) -> None:
            new._targets, new.measures = targets, Measures()

        return self._changed(change)

    def _changed(self, change: Callable[[BlockProblem], None]) -> BlockProblem:
        new = object.__new__(BlockProblem)
        new.__dict__.update(self.__dict__)
        new._given = None
        change(new)
        return new

    # ---- problems in memory on some of the rows -------------------------------------------------

    def on_near_rows(self, near: NearRows, weight: Vector | None = None) -> Problem:
        """Return the problem in memory on copies of some rows, under other weights if given."""
        from rectiline.problems._problem import Problem

        targets = near.targets
        samples = Samples(
            self.losses,
            targets.index,
            targets.direction,
            targets.offset,
            targets.weight if weight is None else weight,
            self.fit_intercept,
        )
        return Problem.of(Data.of(near.design, samples), self.terms)

    # ---- what a certificate asks ----------------------------------------------------------------

    @property
    def least_loss(self) -> float:
        """Sum of the smallest values of the losses."""
        if self._given is not None:
            return self._given.least_loss
        return self.measures.weight * min(float(one.curve.minimum()[1]) for one in self.losses)

    @property
    def loss_at_zero(self) -> float:
        """Sum of the losses at zero coefficients and intercept."""
        return self._given.loss_at_zero if self._given is not None else self.measures.loss_at_zero

    @property
    def coef_unit(self) -> Vector:
        """What a coefficient must be to move the predictions by their typical size."""
        if self._given is not None:
            return self._given.coef_unit
        sizes = self.measures.sizes
        if sizes is None:
            return np.ones(self.n_features)
        mean = sizes / max(self.measures.weight, 1e-300)
        unit = self.measures.argument_scale / np.where(mean > 0, mean, 1.0)
        return np.where(mean > 0, unit, 0.0)

    def penalty_terms(self, coef: Vector, q: Vector, error: Vector) -> PenaltyTerms:
        """Return the penalty's part of a certificate, see `Terms.penalty_terms`."""
        return self.terms.penalty_terms(coef, q, error)

    def violation(self, coef: Vector) -> tuple[float, float]:
        """Return the worst constraint violation, absolute and relative to the terms of its row."""
        if not self.terms.is_constrained:
            return 0.0, 0.0
        return self.terms.region.violation(coef, self.coef_unit)

    def certify(self, solution: Any, intercept: float = 0.0, dual: Any = None) -> Certificate:
        """Prove how close to optimal an answer is, with one pass over the rows.

        Parameters
        ----------
        solution : Solution, or array-like of shape (n_features,)
            An answer with `coef`, `intercept` and `dual`, given alone; or coefficients.
        intercept : float, default=0.0
        dual : SplitDual, optional
            Multipliers by exception. Without them slopes at the predictions are tried.

        Returns
        -------
        Certificate
        """
        from rectiline.problems.blocks._prove import prove_blocks

        if hasattr(solution, "coef"):
            if intercept != 0.0 or dual is not None:
                raise TypeError("certify takes a solution alone, without intercept and dual.")
            return prove_blocks(self, solution.coef, solution.intercept, solution.dual)
        return prove_blocks(self, solution, intercept, dual)

    def checked_point(self, coef: ArrayLike, intercept: float) -> tuple[Vector, float]:
        """Return coefficients and intercept as float64, or raise where they do not fit."""
        b = np.ascontiguousarray(coef, dtype=np.float64)
        if b.shape != (self.n_features,):
            raise ValueError(
                f"coef must have shape ({self.n_features},), one entry per column; got {b.shape}."
            )
        b0 = float(intercept)
        if not (np.isfinite(b0) and np.isfinite(b).all()):
            raise ValueError("coef and intercept must be finite numbers.")
        if b0 != 0.0 and not self.fit_intercept:
            raise ValueError(f"intercept={b0} but the problem has no intercept.")
        return b, b0

    def __repr__(self) -> str:
        size = f"{self.blocks.shown_rows} x {self.n_features}"
        return (
            f"Problem({size} rows in blocks, loss={self.loss!r}, "
            f"penalty={self.penalty!r}, constraints={list(self.constraints)!r}, "
            f"fit_intercept={self.fit_intercept})"
        )


def _labels(block: Block, _: None) -> list[Any]:
    """Return the labels in a block; of a tensor, the least and the largest one."""
    if block.is_tensor:
        return [block.y.min().item(), block.y.max().item()]
    labels: list[Any] = np.unique(np.asarray(block.y)).tolist()
    return labels


def _rows_without_data(constraints: tuple[Constraint, ...], d: int) -> ConstraintRows:
    """Return the rows of constraints that do not look at X."""
    probe = Design(np.zeros((1, d)))
    parts = []
    for one in constraints:
        try:
            parts.append(one.rows(d, probe))
        except ValueError as error:
            raise ValueError(
                f"{one!r} cannot be stated for rows in blocks: {error} Constraints that look at X "
                "need it in memory."
            ) from error
    return combine(parts, d)
