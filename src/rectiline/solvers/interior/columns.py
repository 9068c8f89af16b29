"""Working sets of columns for `interior`: most of the columns of sparse data stay zero under L1.

The method runs on the columns that the slopes at zero ask for. After a step, one product with all
of X says which others the present multipliers ask for, ``|x_j'g|`` near or above the strength.
They join at zero, with products of the present size, and the method goes on from where it is: an
early point of the central path ranks the columns well, and the duals of the rows do not depend on
which columns there are. So a run takes about as many steps as on the columns of the solution alone.

Source: pricing as in column generation (Dedieu, Mazumder and Wang, "Solving L1-regularized SVMs and
related linear programs"); there the restricted program is solved to the end by the simplex method.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import numpy as np

from rectiline._typing import Indices, Vector
from rectiline.problems.forms import CompositeForm, EpigraphForm, FormPoint
from rectiline.solvers._screening import largest, zero_dual
from rectiline.solvers.interior.method import Method, Verdict

__all__ = ["WorkingColumns", "generates_columns"]

_COLUMNS_TO_GENERATE = 1000  # from this many columns of sparse data on they are generated
_FIRST_COLUMNS = 200  # 100 to 300 take about as long on tf-idf data
_JOINING_RATIO = 0.8  # slope over strength from which on a column joins with the violated ones
_MOST_GROWTH_SHARE = 0.5  # of the working set at once
_MOST_FIRST_DUAL_SHARE = 0.95  # dual of a column that joins, relative to its strength


def generates_columns(form: EpigraphForm) -> bool:
    """Whether columns are generated: many sparse ones, each with a price and nothing else."""
    problem = form.problem
    plain = problem.is_separable and form.columns.is_plain_l1 and not form.n_constraints
    many = form.design.is_sparse and form.design.n_features >= _COLUMNS_TO_GENERATE
    return plain and many and bool((form.columns.l1 > 0).all())


@dataclass(slots=True, eq=False)
class WorkingColumns:
    """The columns in the program, of all columns of the form."""

    form: EpigraphForm
    columns: Indices  # in order
    part: EpigraphForm  # the problem on them
    most_columns: int  # size that the working set must not exceed
    proximal: float  # term of the method
    excess: float = np.inf  # by which other columns exceeded their strengths at the last look
    q: Vector = field(default_factory=lambda: np.zeros(0))  # then, of all columns,
    ratio: Vector = field(default_factory=lambda: np.zeros(0))  # and of the others in strengths

    @classmethod
    def first(
        cls, form: EpigraphForm, warm: FormPoint | None, most_columns: int, proximal: float
    ) -> WorkingColumns:
        """Return the columns that the slopes at zero, or at a given point, ask for."""
        if warm is None:
            g, support = zero_dual(CompositeForm.apply(form.problem))[1], np.zeros(0, dtype=np.intp)
        else:
            g, support = warm.sample, np.flatnonzero(warm.coef)
        ratio = np.abs(form.design.tdot(g)) / form.columns.l1
        columns = np.union1d(largest(ratio, _FIRST_COLUMNS, -np.inf), support)
        return cls(form, columns, _on_columns(form, columns), most_columns, proximal)

    def spread(self, point: FormPoint) -> FormPoint:
        """Return a point in terms of all columns."""
        coef = np.zeros(self.form.design.n_features)
        coef[self.columns] = point.coef
        return replace(point, coef=coef)

    def look(self, sample: Vector, verdict: Verdict) -> Verdict:
        """Look at the other columns; return the verdict with what they add to it.

        `sample` are the multipliers of the samples. The certificate shrinks all multipliers by as
        much as the worst column exceeds its strength. Columns that join late cost the more steps
        the smaller the products have become: one pass over X after each step is worth its time.
        """
        self.q = self.form.design.tdot(sample)
        self.ratio = np.abs(self.q) / self.form.columns.l1
        self.ratio[self.columns] = 0.0
        self.excess = max(float(self.ratio.max()) - 1.0, 0.0)
        return verdict._replace(relative_gap=verdict.relative_gap + self.excess)

    def grow(self, method: Method) -> Method:
        """Return the method that goes on, with the columns that the last look asks for, if any."""
        room = self.most_columns - self.columns.size
        if self.excess == 0.0 or room <= 0:
            return method
        most = min(max(int(_MOST_GROWTH_SHARE * self.columns.size), 1), room)
        old = self.columns
        self.columns = np.union1d(old, largest(self.ratio, most, _JOINING_RATIO))
        self.part = _on_columns(self.form, self.columns)
        new_method = Method(self.part, 16, self.proximal, is_part=True)
        _continue(new_method, method, np.searchsorted(self.columns, old), self.q[self.columns])
        return new_method


def _on_columns(form: EpigraphForm, columns: Indices) -> EpigraphForm:
    return EpigraphForm.apply(form.problem.on_columns(columns))


def _continue(method: Method, old: Method, place: Indices, q: Vector) -> None:
    """Go on from the old method on more columns: `place` says where its own are, q is ``X'g``."""
    program, before = method.program, old.program
    x_old, y_old = old.core.point()
    sides_old, mean = old.core.sides(), Verdict.of(old.core).mean_product
    x = np.zeros(program.width)
    x[place] = x_old[: place.size]
    x[q.size :] = x_old[place.size :]
    units, caps = program.price[: q.size], program.units[2][program.price[: q.size]]
    # A column that joins balances the rows as far as its strength allows.
    pulled = q * program.scales.column * program.unit
    y, sides = np.zeros(program.row.size), np.zeros((4, program.row.size))
    y[units] = np.clip(-pulled, -_MOST_FIRST_DUAL_SHARE * caps, _MOST_FIRST_DUAL_SHARE * caps)
    sides[0, units], sides[2, units] = y[units] + caps, caps - y[units]
    sides[1, units], sides[3, units] = mean / sides[0, units], mean / sides[2, units]
    # All units but prices are those of the samples, which come first in both programs.
    n = int(before.price[0])
    for new, was in ((y, y_old), *zip(sides, sides_old, strict=True)):
        new[:n] = was[:n]
        new[units[place]] = was[before.price[: place.size]]
    method.core.resume(x, y, sides)
