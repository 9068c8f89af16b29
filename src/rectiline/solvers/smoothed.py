"""`smoothed`: rough answers under L1, from proximal Newton steps on a smoothed loss.

    min over b, b0   sum_i w_i phi_mu(x_i'b + b0) + sum_j l1_j |b_j|

phi_mu is the Moreau envelope of the loss with step mu. At the solution for mu its slopes are
multipliers of the problem itself, and rows that are within mu of a kink are all that keeps the gap
open, by at most mu/4 each for the hinge: a wide mu is enough for a gap of 0.1 or 0.01. mu is halved
when smoothing is what keeps the gap open. The steps are compiled (`core` room `newton`,
`smoothed_l1`); here columns are generated: after a few steps one product with all of X says which
other columns the multipliers ask for.

Source of the smoothing: Nesterov, "Smooth minimization of non-smooth functions"; of the steps:
Yuan, Ho and Lin, "An improved GLMNET for L1-regularized logistic regression". Departures: the
intercept is eliminated from every quadratic model; the first sweeps keep to trust regions.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import ClassVar

import numpy as np
from scipy import sparse as sp

from rectiline import _core
from rectiline._costs import SECONDS_PER_ENTRY
from rectiline._polling import checkpoint, time_left
from rectiline._typing import Indices, Vector
from rectiline.problems import Problem
from rectiline.problems.forms import CompositeForm, FormPoint
from rectiline.solvers._base import Budget, Step
from rectiline.solvers._screening import largest, spread_of_arguments, zero_dual

_FIRST_COLUMNS = 200
_LEAST_FIRST_RATIO = 0.5  # slope at zero over strength that a first column must have
_JOINING_RATIO = 0.9  # slope over strength from which on a column joins with the violated ones
# The first sweeps use a loss that is smoother by this factor.
_FIRST_SWEEPS, _FIRST_SMOOTHING_FACTOR = 10, 2.0
_STEPS_BETWEEN_PRICINGS = 3
_TARGET_SHARE = 0.3  # of violated strengths and of smoothing in the gap that is allowed
_SMOOTHING_FACTOR = 0.5
_LEAST_SMOOTHING_SHARE = 1e-3  # relative to the first smoothing
_MOST_PRICINGS_WITHOUT_PROGRESS = 10
# Below this relative gap pivots are faster: news20, imdb, reuters at 0.003 to 0.3.
_HAND_OVER_GAP = 1e-3


@dataclass(slots=True, eq=False)
class SmoothedState:
    """The running method, its columns, and the best point and multipliers met."""

    form: CompositeForm
    method: _core.SmoothedL1
    columns: Indices  # in the order in which they joined
    mu: float
    least_mu: float
    best: FormPoint
    primal: float = np.inf
    bound: float = -np.inf
    idle: int = 0  # looks since the gap fell
    excess: float = np.inf  # by which the worst column exceeded its strength at the last look
    smoothing: float = np.inf  # what smoothing adds to the relative gap
    ratio: Vector = field(default_factory=lambda: np.zeros(0))  # of other columns, in strengths

    def add(self, columns: Indices) -> None:
        """Let columns join."""
        checkpoint(seconds=2 * SECONDS_PER_ENTRY * self.form.design.n_stored)
        self.columns = np.concatenate([self.columns, columns])
        part = sp.csc_array(self.form.design.X[:, columns])
        self.method.add(
            part.data.astype(np.float64, copy=False),
            part.indices.astype(np.int32, copy=False),
            part.indptr.astype(np.int64),
            self.form.columns.l1[columns],
        )

    def look(self) -> float:
        """Look at all columns; return the relative gap of the best point and the best bound."""
        form = self.form
        g = self.method.dual(self.mu)
        z = self.method.predictions()
        smoothing = form.rows.sums(z, g)[1]
        if form.fit_intercept:
            form.rows.balance(g)
        coef = np.zeros(form.design.n_features)
        coef[self.columns] = self.method.coefficients()
        point = FormPoint(coef, self.method.intercept, g, np.zeros(0))
        q = -form.design.tdot(g)
        primal, gap = form.gap(point, z, q)
        before = self.primal - self.bound
        if primal < self.primal:
            self.primal = primal
            self.best = FormPoint(coef, point.intercept, self.best.sample, point.constraint)
        if primal - gap > self.bound:
            self.bound = primal - gap
            self.best = FormPoint(self.best.coef, self.best.intercept, g, point.constraint)
        gap = self.primal - self.bound
        self.idle = 0 if gap < 0.9 * before else self.idle + 1
        self.ratio = np.abs(q) / form.columns.l1
        self.excess = float(self.ratio.max()) - 1.0
        self.ratio[self.columns] = 0.0
        size = max(abs(self.primal), abs(self.bound), 1e-300)
        self.smoothing = smoothing / size
        return gap / size

    def adapt(self, target: float) -> bool:
        """Let columns join and smooth less, as the last look asks for; return whether to go on."""
        if float(self.ratio.max()) > 1.0 + _TARGET_SHARE * target:
            self.add(
                largest(self.ratio, max(self.columns.size, _FIRST_COLUMNS // 8), _JOINING_RATIO)
            )
        if self.smoothing > 0.5 * self.excess and self.smoothing > _TARGET_SHARE * target:
            self.mu *= _SMOOTHING_FACTOR
        return self.mu >= self.least_mu and self.idle < _MOST_PRICINGS_WITHOUT_PROGRESS


@dataclass(frozen=True, slots=True)
class Smoothed:
    """Proximal Newton steps on a smoothed loss, `solver="smoothed"`; its fields are options.

    Parameters
    ----------
    smoothing : float, default=0.25
        First smoothing width, in units of the margin or of the spread of y.
    hands_over : bool, default=False
        Whether to stop at a gap of 0.001, for `generation` to go on from there.

    Examples
    --------
    >>> import numpy as np
    >>> import rectiline as rl
    >>> rng = np.random.default_rng(0)
    >>> X = rng.standard_normal((200, 50))
    >>> y = np.sign(X[:, 0] + 0.1 * rng.standard_normal(200))
    >>> problem = rl.Problem(X, y, rl.losses.Hinge(), rl.penalties.L1(5.0))
    >>> solution = rl.solve(problem, solver="smoothed", tol=0.01)
    >>> solution.certificate.relative_gap <= 0.01
    True
    """

    smoothing: float = 0.25
    hands_over: bool = False

    name: ClassVar[str] = "smoothed"
    form: ClassVar[type[CompositeForm]] = CompositeForm
    default_max_iter: ClassVar[int] = 500
    first_burst: ClassVar[int] = 500

    def __post_init__(self) -> None:
        if not 0.0 < self.smoothing < np.inf:
            raise ValueError(f"smoothing={self.smoothing!r}: must be a finite number > 0.")

    @staticmethod
    def refuses(problem: Problem) -> str | None:
        """Return why the steps do not apply, or None."""
        columns = problem.columns if problem.is_separable else None
        if columns is None or not columns.is_plain_l1 or not (columns.l1 > 0).all():
            return "it takes an L1 penalty on every column, without bounds and ridge"
        if problem.has_constraint_rows or problem.has_linear_term:
            return "it takes no constraints and no linear term"
        if problem.n_samples > np.iinfo(np.int32).max:
            return "it takes at most 2**31 - 1 rows"
        return None

    def start(self, form: CompositeForm, warm: FormPoint | None, seed: int) -> SmoothedState:
        """Return the method at zero, or at `warm`; nothing here is random."""
        if warm is None:
            intercept, g = zero_dual(form)
            coef = np.zeros(form.design.n_features)
        else:
            intercept, g, coef = warm.intercept, warm.sample, warm.coef
        ratio = np.abs(form.design.tdot(g)) / form.columns.l1
        ratio[coef != 0.0] = np.inf
        columns = largest(
            ratio, max(_FIRST_COLUMNS, int(np.count_nonzero(coef))), _LEAST_FIRST_RATIO
        )
        mu = self.smoothing * spread_of_arguments(form)
        method = _core.SmoothedL1(form.rows, form.fit_intercept)
        nothing = np.zeros(0, dtype=np.intp)
        point = FormPoint(coef, intercept, g, np.zeros(0))
        state = SmoothedState(form, method, nothing, mu, _LEAST_SMOOTHING_SHARE * mu, point)
        state.add(columns)
        method.place(coef[columns], intercept)
        if warm is None:
            for k in range(_FIRST_SWEEPS):
                checkpoint()
                method.sweep(_FIRST_SMOOTHING_FACTOR * mu, k < 2, time_left())
        return state

    def advance(self, state: SmoothedState, budget: Budget) -> Step:
        """Take steps until the gap estimate meets the target or no longer falls."""
        done, wanted = 0, budget.relative_gap
        target = max(wanted, _HAND_OVER_GAP) if self.hands_over else wanted
        while done < budget.iterations:
            for _ in range(_STEPS_BETWEEN_PRICINGS):
                done += 1
                worst = state.method.step(state.mu, budget.left())
                if worst < _TARGET_SHARE * target or budget.is_over():
                    break
            gap = state.look()
            if gap <= target:
                return Step(done, gap <= wanted, exhausted=gap > wanted)
            if not state.adapt(target):
                return Step(done, False, exhausted=True)
            if budget.is_over():
                break
        return Step(done, False)

    def point(self, state: SmoothedState) -> FormPoint:
        """Return the best point with the best multipliers."""
        return state.best
