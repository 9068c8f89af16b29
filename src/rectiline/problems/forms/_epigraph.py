"""The epigraph form: penalties that couple columns become a few more columns and rows.

    min over b, t   sum_i f_i(x_i'b + b0) + sum_j h_j(b_j) + linear'(b, t) + cap'relu(C (b, t))
    subject to      R b + k >= 0 (or = 0),   U (b, t) >= 0

Separable penalties need no further columns: this is then the rectified form. GroupLinf has one
column t_g per group with cost ``strength`` and rows ``t_g - b_j >= 0``, ``t_g + b_j >= 0``;
SparseGroupLinf has the same, and ``l1`` in ``h``.

Slope is a sum over the levels k where the strengths drop, by ``drop_k``, of the k largest absolute
values, and the k largest of s sum to ``min over theta of k theta + sum_j relu(s_j - theta)``. So
there is one column s_j >= \\|b_j\\| per coefficient and one column theta_k per level. With
distinct strengths that is d*d capped rows but only 3 d columns, and the columns are what a step
costs.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse as sp

from rectiline._lazy import cached_property
from rectiline._typing import Indices, Vector
from rectiline.penalties import GroupedPenalty, Slope
from rectiline.problems._problem import Problem
from rectiline.problems._terms import Columns
from rectiline.problems.forms._rectified import RectifiedForm

_MOST_COLUMNS = 20_000  # further columns
_MOST_ROWS = 4_000_000  # capped rows of Slope


class Levels(NamedTuple):
    """A sorted penalty by levels: base |b|_1 + sum_l drop_l (sum of the n_l largest |b_j|)."""

    base: float
    drop: Vector
    n_largest: Vector

    @classmethod
    def of(cls, strengths: Vector) -> Levels:
        """Return the levels at which the strengths, which fall, drop."""
        drop = strengths[:-1] - strengths[1:]
        at = np.flatnonzero(drop > 0)
        return cls(float(strengths[-1]), drop[at], (at + 1).astype(np.float64))


@dataclass(frozen=True, eq=False)
class Epigraph:
    """The further columns and rows of a penalty, in terms of all columns (coefficients first)."""

    linear: Vector
    above: sp.csr_array  # rows that must be >= 0
    capped: sp.csr_array  # rows r that cost cap_r * relu(r)
    cap: Vector

    @classmethod
    def empty(cls, n_features: int) -> Epigraph:
        """Return what a separable penalty needs: nothing."""
        none = sp.csr_array((0, n_features))
        return cls(np.zeros(n_features), none, none, np.zeros(0))

    @property
    def n_columns(self) -> int:
        """Number of columns, coefficients included."""
        return int(self.linear.size)


@dataclass(frozen=True, eq=False)
class EpigraphForm(RectifiedForm):
    """A rectified form with the epigraph of the penalty where it couples columns.

    Examples
    --------
    >>> import numpy as np
    >>> import rectiline as rl
    >>> from rectiline.problems.forms import EpigraphForm
    >>> problem = rl.Problem(
    ...     np.eye(3), [1.0, 2.0, 3.0], loss=rl.losses.Absolute(),
    ...     penalty=rl.penalties.GroupLinf(2.0, groups=[0, 0, 1]),
    ... )
    >>> EpigraphForm.apply(problem).epigraph.linear
    array([0., 0., 0., 2., 2.])
    """

    @staticmethod
    def accepts(problem: Problem) -> str | None:
        """Return why the problem has no such form, or None if it has."""
        penalty, d = problem.penalty, problem.n_features
        if problem.is_separable or isinstance(penalty, GroupedPenalty):
            return None
        if not isinstance(penalty, Slope):
            return f"the penalty {penalty!r} couples columns and has no epigraph form"
        levels = Levels.of(penalty.strengths).drop.size
        if d + levels > _MOST_COLUMNS or d * levels > _MOST_ROWS:
            return (
                f"the epigraph of a Slope whose strengths drop {levels} times needs "
                f"{d + levels} further columns and {d * levels} rows (at most {_MOST_COLUMNS} and "
                f"{_MOST_ROWS}); the solver 'generation' needs none"
            )
        return None

    @cached_property
    def columns(self) -> Columns:
        """The cost of each coefficient; Slope with equal strengths is an L1 penalty.

        SparseGroupLinf charges absolute values along with its groups.
        """
        penalty, given = self.problem.penalty, self.problem.columns
        l1: Any = given.l1
        if isinstance(penalty, GroupedPenalty):
            l1 = np.full(given.rho.size, penalty.l1)
        elif isinstance(penalty, Slope) and self._levels is None:
            l1 = penalty.strengths
        return given if l1 is given.l1 else Columns(given.rho, l1, given.lower, given.upper)

    @cached_property
    def groups(self) -> list[Indices] | None:
        """The coefficients that each further column covers, if that is what these columns do."""
        penalty = self.problem.penalty
        if isinstance(penalty, GroupedPenalty) and not penalty.is_zero:
            return list(penalty.groups)
        return None

    @cached_property
    def _levels(self) -> Levels | None:
        """The levels of a sorted penalty whose strengths are not all equal."""
        penalty = self.problem.penalty
        levels = Levels.of(penalty.strengths) if isinstance(penalty, Slope) else None
        return levels if levels is not None and levels.drop.size else None

    @cached_property
    def epigraph(self) -> Epigraph:
        """The further columns and rows."""
        penalty, d = self.problem.penalty, self.problem.n_features
        if self.groups is not None:
            assert isinstance(penalty, GroupedPenalty)
            return _group_epigraph(penalty, d)
        return Epigraph.empty(d) if self._levels is None else _slope_epigraph(self._levels, d)

    @property
    def n_columns(self) -> int:
        """Number of columns, coefficients included and the intercept not."""
        d = self.problem.n_features
        if self.groups is not None:
            return d + len(self.groups)
        return d if self._levels is None else 2 * d + int(self._levels.drop.size)


def _above_absolute(columns: Indices, above: Indices, width: int) -> sp.csr_array:
    """Return the rows ``x[above] - x[columns] >= 0`` and ``x[above] + x[columns] >= 0``."""
    count = columns.size
    ones, row = np.ones(count), np.arange(count)
    cover = sp.csr_array((ones, (row, above)), shape=(count, width))
    own = sp.csr_array((ones, (row, columns)), shape=(count, width))
    return sp.csr_array(sp.vstack([cover - own, cover + own], format="csr"))


def _group_epigraph(penalty: GroupedPenalty, d: int) -> Epigraph:
    groups = penalty.groups
    width = d + len(groups)
    columns = np.concatenate(groups)
    owner = np.repeat(np.arange(len(groups)), [group.size for group in groups])
    linear = np.concatenate([np.zeros(d), np.full(len(groups), penalty.linf)])
    above = _above_absolute(columns, d + owner, width)
    return Epigraph(linear, above, sp.csr_array((0, width)), np.zeros(0))


def _slope_epigraph(sorted_levels: Levels, d: int) -> Epigraph:
    base, drop, levels = sorted_levels
    width = 2 * d + levels.size
    columns = np.arange(d)
    linear = np.concatenate([np.zeros(d), np.full(d, base), levels * drop])
    above = _above_absolute(columns, d + columns, width)
    rows = d * levels.size
    sizes = np.tile(d + columns, levels.size)
    thresholds = np.repeat(2 * d + np.arange(levels.size), d)
    capped = sp.csr_array(
        (
            np.tile([1.0, -1.0], rows),
            np.column_stack([sizes, thresholds]).ravel(),
            np.arange(0, 2 * rows + 1, 2),
        ),
        shape=(rows, width),
    )
    return Epigraph(linear, above, capped, np.repeat(drop, d))
