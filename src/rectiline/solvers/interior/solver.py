"""`interior`: a primal-dual interior point method with predictor and corrector.

    min over x   sum_j rho_j/2 x_j^2 + linear'x + sum over units of phi(row x + shift)

Any problem is such a program (`program`): losses, constraints, bounds and prices are boxed dual
variables on rows. The steps are compiled, for numbers of 16 and of 32 digits (room `interior` of
the core, whose header says what a step does); they leave linear systems of the size of the columns,
or of the rows where they are fewer (`systems`). So a step costs one weighted sum of squared rows,
one factor and a few products with X; ten to thirty steps are enough whatever the loss, the strength
or the scaling of the columns.

The iteration stops when its own estimate of the certificate meets the target. Coefficients that
approach zero are made zero where the pair stays good enough; of many columns under L1 only
those that the multipliers ask for take part. 32 digits bear columns and
constraint rows that are too badly scaled for doubles, and cost some ten times as much.

An interior point method approaches zeros and bounds without ever reaching them. Which coefficients
are on their way to zero shows in the duals: their pull is clearly below the strength of the
penalty.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np

from rectiline._typing import Vector
from rectiline.problems import Problem
from rectiline.problems.forms import EpigraphForm, FormPoint, shapes_of
from rectiline.solvers._base import Budget, Step
from rectiline.solvers.interior.method import (
    Method,
    Verdict,
    WorkingColumns,
    generates_columns,
    largest_system,
    n_unknowns,
    step_work,
)
from rectiline.solvers.interior.program import UnitProgram

_SAFETY = 0.3  # the certificate may say a little more than the estimate,
_LOOSE, _SAFETY_IF_LOOSE = 1e-4, 0.8  # the less so the larger it is
_ROUNDING_SAFETY = 0.7  # share of the target that exact zeros may use up
_MOST_POLISHING_STEPS = 3  # further ones for the sake of exact zeros
_PATIENCE = {16: 8, 32: 30}  # steps without progress, by digits
_LONGER_STEP_FACTOR = 1.5  # a step this much longer than the longest before counts as progress
_LEAST_PRODUCT = 1e-20  # mean products below this cannot make the gap smaller
_LOWER_OBJECTIVE = 0.997  # times that at the mark: less is progress, on the way to far coefficients
_NO_MARK = (np.inf, np.inf, np.inf)
_MOST_PRODUCTS_OF_32_DIGITS = 2.5e7  # per step: a few tenths of a second


@dataclass(slots=True, eq=False)
class InteriorState:
    """The method on its program, and the best pair met."""

    method: Method
    best: FormPoint
    working: WorkingColumns | None  # None where all columns are in the program
    best_gap: float = np.inf
    is_best: bool = True  # whether the present pair is the best one
    mark: tuple[float, float, float] = _NO_MARK  # products, residual, objective at last progress
    longest: float = 0.0  # step since then
    idle: int = 0  # steps since then, or since steps grew

    def evaluate(self) -> Verdict:
        """Return the verdict on the pair, and note it; columns may join that it asks for."""
        verdict = Verdict.of(self.method.core)
        if self.working is not None:
            verdict = self.working.look(self.pair().sample, verdict)
        self._note(verdict)
        if self.working is not None:
            self.method = self.working.grow(self.method)
        return verdict

    def _note(self, verdict: Verdict) -> None:
        """Keep the pair if it is the best so far, and notice lack of progress."""
        gap = max(verdict.relative_gap, verdict.violation)
        self.is_best = gap < self.best_gap or not np.isfinite(self.best_gap)
        if self.is_best:
            self.best, self.best_gap = self.pair(), gap
        # The gap of an early pair says little: what must fall is the products, down to rounding.
        step = self.method.core.step_length
        self.idle += 1
        products, residual, size = verdict.mean_product, verdict.residual, verdict.size
        is_better = _LEAST_PRODUCT < products < 0.5 * self.mark[0] or residual < 0.5 * self.mark[1]
        if is_better or size < _LOWER_OBJECTIVE * self.mark[2]:
            self.idle, self.mark, self.longest = 0, (products, residual, size), step
        # Steps that grow are on their way out of a corner, however short they are as yet.
        if self.is_best or step > _LONGER_STEP_FACTOR * self.longest:
            self.idle, self.longest = 0, max(step, self.longest)

    def fit_units(self) -> None:
        """Start again in larger units where coefficients have outgrown those of the program."""
        method = self.method.in_fitting_units()
        if method is not self.method:
            self.method, self.mark, self.longest, self.idle = method, _NO_MARK, 0.0, 0

    def round_off(self, target: float) -> bool:
        """Give the current pair exact zeros where it stays good enough for the target.

        Returns whether that is done; if not, a further step may help.
        """
        allowed = max(_ROUNDING_SAFETY * target, self.best_gap)
        found, done = rounded(self.method, self._own_pair(), allowed)
        if found is not None:
            self.best = self._of_all_columns(found)
        return done

    def _own_pair(self) -> FormPoint:
        """Return the current pair on the columns of the program."""
        return self.method.program.point(*self.method.core.point())

    def _of_all_columns(self, point: FormPoint) -> FormPoint:
        return point if self.working is None else self.working.spread(point)

    def pair(self) -> FormPoint:
        """Return the current pair."""
        return self._of_all_columns(self._own_pair())

    def point(self) -> FormPoint:
        """Return the best pair, within the bounds to the last digit."""
        columns = self.method.program.form.columns
        if not columns.has_bounds:
            return self.best
        return replace(self.best, coef=np.clip(self.best.coef, columns.lower, columns.upper))


@dataclass(frozen=True, slots=True)
class Interior:
    """Primal-dual interior point method, `solver="interior"`; its fields are options.

    Parameters
    ----------
    proximal : float, default=1e-12
        Weight of the proximal term in the linear systems, in units where columns have mean square
        1; raised when a factorisation fails. It steadies the steps and does not bias the answer.
    digits : {16, 32}, optional
        Digits of the numbers. 32 take some ten times as long, for problems of moderate size whose
        columns and constraints are too badly scaled for 16. By default 16, and 32 for small
        problems where these get no further.

    Examples
    --------
    >>> import numpy as np
    >>> import rectiline as rl
    >>> X, y = np.array([[0.0], [1.0], [2.0], [3.0]]), np.array([0.0, 1.0, 5.0, 3.0])
    >>> problem = rl.Problem(X, y, loss=rl.losses.Absolute(), penalty=None)
    >>> solution = rl.solve(problem, solver="interior", tol=1e-9)
    >>> round(solution.objective, 6), solution.coef.round(6)
    (3.0, array([1.]))
    >>> X = np.array([[1e-3, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1e3], [1e-3, 1.0, 1e3]])
    >>> problem = rl.Problem(
    ...     X, [1.0, 2.0, 3.0, 4.0], loss="squared_error", fit_intercept=False,
    ...     penalty=None, constraints=[rl.constraints.Monotone()],
    ... )
    >>> solution = rl.solve(problem, solver="interior", digits=32, tol=1e-10)
    >>> round(solution.objective, 6), solution.coef.round(5)
    (2.741257, array([0.0035, 0.0035, 0.0035]))
    """

    proximal: float = 1e-12
    digits: int | None = None

    name: ClassVar[str] = "interior"
    form: ClassVar[type[Any]] = EpigraphForm
    default_max_iter: ClassVar[int] = 300
    first_burst: ClassVar[int] = 100  # the certificate may cost as much as several steps

    def __post_init__(self) -> None:
        if self.digits not in (None, 16, 32):
            raise ValueError(f"digits={self.digits!r}: must be 16, 32 or None.")

    def refuses(self, problem: Problem) -> str | None:
        """Return why the linear systems cannot be set up, or None."""
        reason = EpigraphForm.accepts(problem)
        if reason is not None:
            return reason
        form = EpigraphForm.apply(problem)
        constant = not any(shapes_of(loss.curve) for loss in form.problem.losses)
        if constant and not form.linear_rows.size:
            return "the loss is constant"
        size = 0 if generates_columns(form) else n_unknowns(form)
        if size > largest_system(form):
            return (
                f"its linear systems would have {size} unknowns, more than the "
                f"{largest_system(form)} that it factorises"
            )
        if self.digits == 32 and step_work(form) > _MOST_PRODUCTS_OF_32_DIGITS:
            return f"a step takes {step_work(form):.0e} products, too many for 32 digits"
        return None

    def start(self, form: EpigraphForm, warm: FormPoint | None, seed: int) -> InteriorState:
        """Return the method at its start; a given point only says which columns come first.

        A start near that point takes as many steps (0.95 to 1.07 of the time where another solver
        went before).
        """
        working, digits = None, self.digits or 16
        if digits == 16 and generates_columns(form):
            working = WorkingColumns.first(form, warm, self.proximal)
        method = Method(working.part if working else form, digits, self.proximal)
        zero = FormPoint(np.zeros(0), 0.0, np.zeros(0), np.zeros(0))
        state = InteriorState(method, zero, working)
        state.best = state.pair()
        return state

    def advance(self, state: InteriorState, budget: Budget) -> Step:
        """Iterate until the gap estimate meets the target or the budget is spent."""
        step, polish = Step(0, False), 0
        for done in range(1, budget.iterations + 1):
            left = budget.left()
            if left <= 0.0:
                break
            state.fit_units()
            moved = state.method.step(left)
            verdict = state.evaluate()
            reached = verdict.meets(_safe(budget.relative_gap))
            reached = reached or is_nothing(state.method)
            if reached and not state.round_off(budget.relative_gap) and moved:
                polish += 1
                if polish <= _MOST_POLISHING_STEPS:
                    continue
            is_over = not reached and budget.is_over()
            stuck = not moved or state.idle >= _PATIENCE[self.digits or 16]
            step = Step(done, reached, exhausted=stuck and not reached and not is_over)
            if reached or stuck or budget.is_over():
                break
            if left < np.inf and budget.left() < left - budget.left():
                break  # the next step takes about as long as this one, longer than there is time
        return step

    def point(self, state: InteriorState) -> FormPoint:
        """Return the best pair so far."""
        return state.point()


def _safe(target: float) -> float:
    """Return the estimate at which the certificate is likely to meet the target."""
    return (_SAFETY_IF_LOOSE if target >= _LOOSE else _SAFETY) * target


# ---- exact zeros ---------------------------------------------------------------------------------


_NEGLIGIBLE_OBJECTIVE = 1e-9  # an objective so small that zero may be optimal
# Steps tried in turn, in units of the largest coefficient over what the penalty charges.
_ZEROING_STEPS = (1e3, 1.0, 1e-2, 1e-4)


def is_nothing(method: Method) -> bool:
    """Whether zero coefficients cost nothing: then no relative gap is small but theirs."""
    core, zeros = method.core, slice(0, method.program.form.n_columns)
    if Verdict.of(core).size > _NEGLIGIBLE_OBJECTIVE:
        return False
    x = core.point()[0].copy()
    x[zeros] = 0.0
    return Verdict(*core.evaluate(x)).meets(0.0)


def rounded(method: Method, pair: FormPoint, allowed: float) -> tuple[FormPoint | None, bool]:
    """Return the pair after a proximal step that leaves the gap estimate at most `allowed`.

    Near an optimum the step changes nothing but that coefficients on their way to zero, to the
    others of a cluster or to the cap of a group get there. The second value is False if there
    should be zeros but no step was good enough.
    """
    if is_nothing(method):
        return replace(pair, coef=np.zeros(pair.coef.size)), True
    program = method.program
    form, problem = program.form, program.form.problem
    if problem.is_separable and not form.columns.has_l1:
        return None, True
    q = problem.terms.region.combined(form.invert(pair)[2])
    q = q - form.linear - form.design.tdot(pair.sample)
    steps = [_proximal_step(program, pair.coef, q, share) for share in _ZEROING_STEPS]
    steps = [moved for moved in steps if ((moved == 0.0) & (pair.coef != 0.0)).any()]
    # Rows of constraints may ask that all others stay where they are.
    for coef in [*steps, *(np.where(moved == 0.0, 0.0, pair.coef) for moved in steps)]:
        x = program.with_coef(method.core.point()[0], coef)
        if Verdict(*method.core.evaluate(x)).meets(allowed):
            return replace(pair, coef=coef), True
    return None, not steps


def _proximal_step(program: UnitProgram, coef: Vector, q: Vector, share: float) -> Vector:
    """Return the proximal step of the penalty along q, within the bounds; coef if there is none."""
    problem, columns = program.form.problem, program.form.columns
    lower, upper = columns.lower, columns.upper
    if not problem.is_separable:
        assert problem.penalty is not None
        step = share * float(np.abs(coef).max()) / max(float(np.abs(q).max()), 1e-300)
        if not 0.0 < step < np.inf:  # nothing is charged, or too little for float64
            return coef
        moved = np.clip(coef + step * q, lower, upper)  # bounds bear what pulls against them
        return np.clip(problem.penalty.prox(moved, step), lower, upper)
    unit = program.scales.column[: q.size]
    top = share * float(np.abs(coef / unit).max())
    steps = np.divide(top * unit, columns.l1, out=np.zeros(q.size), where=columns.l1 > 0)
    moved, reach = coef + steps * q, steps * columns.l1
    moved = (moved - np.clip(moved, -reach, reach)) / (1.0 + steps * columns.rho)
    return np.clip(moved, lower, upper)
