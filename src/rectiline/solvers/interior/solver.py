"""`interior`: a primal-dual interior point method with predictor and corrector.

    min over b   sum over rows of parts(R b) + linear'b + sum_j rho_j/2 b_j^2        (see `program`)

Each part is a boxed dual variable with a multiplier for each finite bound (`per_row`). A step
linearises the optimality conditions at products of multipliers and distances that are aimed at a
common small number (Mehrotra's predictor-corrector, with Gondzio's centrality corrector for short
steps; `central`). All unknowns but the coefficients are eliminated row by row, which leaves one
positive definite system of the size of the columns, or of the rows where they are fewer
(`normal`). So a step costs one weighted sum of squared rows, one Cholesky factor and a few
products with X; ten to thirty steps are enough whatever the loss, the strength or the scaling of
the columns.

The iteration stops when its own estimate of the certificate meets the target. Departures from the
textbook: distances to the bounds are iterates of their own; the system is regularised by a
proximal term, whose effect is removed by conjugate gradients on the system without it; near the
end rows away from their kinks and columns on their way to zero are left out of the factor, which
is in single precision while that is enough, and refinement makes up for both (`split`); if thin
constraints stop progress, it starts again from inside them; of many sparse columns under L1 only
those that the multipliers ask for take part (`columns`).
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from rectiline.problems import Certificate, Problem
from rectiline.problems.forms import EpigraphForm, FormPoint
from rectiline.solvers._base import Budget, Step
from rectiline.solvers.interior.build import build
from rectiline.solvers.interior.central import iterate
from rectiline.solvers.interior.columns import WorkingColumns, generates_columns
from rectiline.solvers.interior.rounding import is_nothing, rounded
from rectiline.solvers.interior.verdict import Iterate, Verdict, judge

Vector = NDArray[np.float64]

__all__ = ["Interior"]

_SAFETY = 0.3  # the certificate may say a little more than the estimate,
_LOOSE, _SAFETY_IF_LOOSE = 1e-4, 0.8  # the less so the larger it is
_ROUNDING_SAFETY = 0.7  # share of the target that exact zeros may use up
_POLISH = 3  # further steps for the sake of exact zeros
_PATIENCE = 8  # steps without progress, short ones counted twice
_SHORT = 0.05
_GROWING = 1.5  # times the longest step before
_ROUNDING = 1e-20  # mean products below this cannot make the gap smaller
_LONG = 60  # steps after which a start under constraints counts as a bad one
_STARTS = ((100.0, True), (1e4, True), (100.0, False))  # further ones: slack, rows as given
_LARGEST_SYSTEM = 8_000  # rows of a dense matrix to factorise: half a gigabyte


@dataclass(slots=True, eq=False)
class InteriorState:
    """The iterate and the best pair met."""

    iterate: Iterate
    best: FormPoint
    proximal: float  # at every start
    working: WorkingColumns | None  # None where all columns are in the program
    best_gap: float = np.inf
    since_best: int = 0
    mark: tuple[float, float] = (np.inf, np.inf)  # products and residual at the last progress
    longest: float = 0.0  # step since then
    idle: int = 0  # steps since then, or since steps grew
    may_go_inside: bool = True
    steps: int = 0  # since the last start
    starts: tuple[tuple[float, bool], ...] = ()  # that have not been tried

    def note(self, verdict: Verdict) -> None:
        """Keep the pair if it is the best so far, and notice lack of progress."""
        gap = max(verdict.relative_gap, verdict.violation)
        self.since_best += 1
        self.steps += 1
        if gap < self.best_gap or not np.isfinite(self.best_gap):
            self.best = self._point(self.iterate.b)
            self.best_gap, self.since_best = gap, 0
        # The gap of an early pair says little: what must fall is the products, down to rounding.
        step = self.iterate.step
        self.idle += 2 if step < _SHORT else 1
        residual = float(np.max(np.abs(self.iterate.residual)))
        if _ROUNDING < verdict.products < 0.5 * self.mark[0] or residual < 0.5 * self.mark[1]:
            self.idle, self.mark, self.longest = 0, (verdict.products, residual), step
        # Steps that grow are on their way out of a corner, however short they are as yet.
        if self.since_best == 0 or step > _GROWING * self.longest:
            self.idle, self.longest = 0, max(step, self.longest)

    def is_stuck(self, moved: bool) -> bool:
        """Whether there is no progress, not even from another start.

        Rows may be met long before the products are small, or their multipliers start far too
        small: steps become short. A start inside the constraints, or one with more room and other
        units, avoids that; without constraints one further start is enough.
        """
        late = self.steps >= _LONG and bool(self.starts)
        if moved and self.idle < _PATIENCE and not late:
            return False
        self.idle, self.steps, self.mark, self.longest = 0, 0, (np.inf, np.inf), 0.0
        if self.may_go_inside:
            self.may_go_inside = False
            if self.iterate.restart():
                return False
        if not self.starts:
            return True
        (slack, rows_as_given), *left = self.starts
        self.starts = tuple(left)
        old = self.iterate
        program = build(old.program.form, rows_as_given)
        b = program.begin(None, slack)
        self.iterate = Iterate(program, b, program.pull(), old.by_rows, self.proximal)
        return False

    def round_off(self, target: float) -> bool:
        """Give the current pair exact zeros where it stays good enough for the target.

        Returns whether that is done; if not, a further step may help.
        """
        b, done = rounded(self.iterate, max(_ROUNDING_SAFETY * target, self.best_gap))
        if b is not self.iterate.b:
            self.best = self._point(b)
        return done

    def _point(self, b: Vector) -> FormPoint:
        """Return the current pair with the given coefficients of the program."""
        point = self.iterate.program.point(b)
        return point if self.working is None else self.working.spread(point)

    def judge(self) -> Verdict:
        """Return the verdict on the pair, and note it; columns may join that it asks for."""
        verdict = judge(self.iterate)
        if self.working is not None:
            verdict = self.working.look(self.iterate, verdict)
        self.note(verdict)
        if self.working is not None:
            self.iterate = self.working.grow(self.iterate)
        return verdict

    def point(self) -> FormPoint:
        """Return the best pair, within the bounds to the last digit."""
        columns = self.iterate.program.form.columns
        if not columns.has_bounds:
            return self.best
        return replace(self.best, coef=np.clip(self.best.coef, columns.lower, columns.upper))


@dataclass(frozen=True, slots=True)
class Interior:
    """Options of the solver.

    Parameters
    ----------
    proximal : float, default=1e-12
        Weight of the proximal term in the linear systems, in units where columns have mean square
        1; raised when a factorisation fails. It steadies the steps and does not bias the answer.

    Examples
    --------
    >>> import numpy as np
    >>> import rectiline as rl
    >>> X, y = np.array([[0.0], [1.0], [2.0], [3.0]]), np.array([0.0, 1.0, 5.0, 3.0])
    >>> problem = rl.Problem(X, y, loss=rl.losses.Absolute(), penalty=None)
    >>> solution = rl.solve(problem, solver="interior", tol=1e-9)
    >>> round(solution.objective, 6), solution.coef.round(6)
    (3.0, array([1.]))
    """

    proximal: float = 1e-12

    name: ClassVar[str] = "interior"
    form: ClassVar[type[Any]] = EpigraphForm
    default_max_iter: ClassVar[int] = 300
    first_burst: ClassVar[int] = 100  # the certificate may cost as much as several steps

    @staticmethod
    def refuses(problem: Problem) -> str | None:
        """Return why the linear systems cannot be set up, or None."""
        reason = EpigraphForm.accepts(problem)
        if reason is not None:
            return reason
        form = EpigraphForm.apply(problem)
        constant = all(units.n_relu + units.n_rehu == 0 for units in form.units)
        if constant and not form.linear_rows.size:
            return "the loss is constant"
        size = 0 if generates_columns(form) else _system_size(form)
        if size > _LARGEST_SYSTEM:
            return (
                f"its linear systems would have {size} unknowns, more than the {_LARGEST_SYSTEM} "
                "that it factorises"
            )
        return None

    def start(self, form: EpigraphForm, warm: FormPoint | None, seed: int) -> InteriorState:
        """Return the iterate at its start; nothing here is random."""
        working = None
        if generates_columns(form):
            working = WorkingColumns.first(form, warm, _LARGEST_SYSTEM)
            form, warm = working.part, working.restricted(warm)
        program = build(form)
        b = program.begin(warm)
        by_rows = working is None and _by_rows(form)
        state = Iterate(program, b, program.pull(), by_rows, self.proximal)
        constrained = program.inequalities or program.equalities or program.others
        starts = _STARTS if constrained else _STARTS[:1]
        best = program.point(b)
        if working is not None:
            best = working.spread(best)
        return InteriorState(state, best, self.proximal, working, starts=starts)

    def advance(self, state: InteriorState, budget: Budget) -> Step:
        """Iterate until the gap estimate meets the target or the budget is spent."""
        step, polish = Step(0, False), 0
        for done in range(1, budget.iterations + 1):
            left = budget.left()
            moved = iterate(state.iterate)
            verdict = state.judge()
            reached = verdict.meets(_safe(budget.relative_gap)) or is_nothing(state.iterate)
            if reached and not state.round_off(budget.relative_gap) and polish < _POLISH and moved:
                polish += 1
                continue
            step = Step(done, reached, exhausted=not reached and state.is_stuck(moved))
            if reached or step.exhausted or budget.is_over():
                break
            if left < np.inf and budget.left() < left - budget.left():
                break  # the next step takes about as long as this one, longer than there is time
        return step

    def point(self, state: InteriorState) -> FormPoint:
        """Return the best pair so far."""
        return state.point()

    def learn(self, state: InteriorState, certificate: Certificate) -> None:
        """Do nothing: the next steps are the same whatever is proved."""


def _safe(target: float) -> float:
    """Return the estimate at which the certificate is likely to meet the target."""
    return (_SAFETY_IF_LOOSE if target >= _LOOSE else _SAFETY) * target


def _by_rows(form: EpigraphForm) -> bool:
    """Whether the systems get the size of the rows; the rows of an epigraph are too many.

    They are the more expensive ones: columns with a small diagonal are added to them.
    """
    columns = form.design.n_features + form.fit_intercept
    rows = int(np.count_nonzero(form.weight)) + form.n_constraints
    fewer = rows < columns and (1.3 * rows < columns or columns > _LARGEST_SYSTEM)
    return form.n_columns == form.design.n_features and fewer


def _system_size(form: EpigraphForm) -> int:
    rows = int(np.count_nonzero(form.weight)) + form.n_constraints
    return rows if _by_rows(form) else form.n_columns + form.fit_intercept
