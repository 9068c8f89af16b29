"""`interior`: a primal-dual interior point method with predictor and corrector.

    min over x   sum_j rho_j/2 x_j^2 + linear'x + sum over units of phi(row x + shift)

Any problem is such a program (`program`): losses, constraints, bounds and prices are boxed dual
variables on rows. The steps are compiled, for numbers of 16 and of 32 digits (room `interior` of
the core, whose header says what a step does); they leave linear systems of the size of the columns,
or of the rows where they are fewer (`systems`). So a step costs one weighted sum of squared rows,
one factor and a few products with X; ten to thirty steps are enough whatever the loss, the strength
or the scaling of the columns.

The iteration stops when its own estimate of the certificate meets the target. Coefficients that
approach zero are made zero where the pair stays good enough; of many sparse columns
under L1 only those that the multipliers ask for take part. 32 digits bear columns and
constraint rows that are too badly scaled for doubles, and cost some ten times as much.

An interior point method approaches zeros and bounds without ever reaching them. Which coefficients
are on their way to zero shows in the duals: their pull is clearly below the strength of the
penalty.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np

from rectiline._typing import Vector
from rectiline.problems import Problem
from rectiline.problems.forms import EpigraphForm, FormPoint
from rectiline.solvers._base import Budget, Step
from rectiline.solvers.interior.method import (
    LARGEST_SYSTEM,
    Method,
    Verdict,
    WorkingColumns,
    generates_columns,
    largest_system,
    n_unknowns,
    step_work,
)
from rectiline.solvers.interior.program import UnitProgram
from rectiline.solvers.interior.scaling import shapes_of
from rectiline.solvers.interior.systems import Arrows

_SAFETY = 0.3  # the certificate may say a little more than the estimate,
_LOOSE, _SAFETY_IF_LOOSE = 1e-4, 0.8  # the less so the larger it is
_ROUNDING_SAFETY = 0.7  # share of the target that exact zeros may use up
_MOST_POLISHING_STEPS = 3  # further ones for the sake of exact zeros
_PATIENCE = {16: 8, 32: 30}  # steps without progress, by digits
_LONGER_STEP_FACTOR = 1.5  # a step this much longer than the longest before counts as progress
_LEAST_PRODUCT = 1e-20  # mean products below this cannot make the gap smaller
_MOST_PRODUCTS_OF_32_DIGITS = 2.5e7  # per step: a few tenths of a second


@dataclass(slots=True, eq=False)
class InteriorState:
    """The method on its program, and the best pair met."""

    method: Method
    best: FormPoint
    working: WorkingColumns | None  # None where all columns are in the program
    digits: int
    may_raise_digits: bool
    best_gap: float = np.inf
    is_best: bool = True  # whether the present pair is the best one
    mark: tuple[float, float] = (np.inf, np.inf)  # products and residual at the last progress
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
        products, residual = verdict.mean_product, verdict.residual
        if _LEAST_PRODUCT < products < 0.5 * self.mark[0] or residual < 0.5 * self.mark[1]:
            self.idle, self.mark, self.longest = 0, (products, residual), step
        # Steps that grow are on their way out of a corner, however short they are as yet.
        if self.is_best or step > _LONGER_STEP_FACTOR * self.longest:
            self.idle, self.longest = 0, max(step, self.longest)

    def is_stuck(self, moved: bool) -> bool:
        """Whether there is no progress, not even with more digits."""
        if moved and self.idle < _PATIENCE[self.digits]:
            return False
        if not self.may_raise_digits:
            return True
        self.digits, self.may_raise_digits = 32, False
        self.idle, self.mark, self.longest = 0, (np.inf, np.inf), 0.0
        self.method = Method(self.method.program.form, 32, 0.0)
        return False

    def round_off(self, target: float) -> bool:
        """Give the current pair exact zeros where it stays good enough for the target.

        Returns whether that is done; if not, a further step may help.
        """
        program, core = self.method.program, self.method.core
        x, done = rounded(program, core, max(_ROUNDING_SAFETY * target, self.best_gap))
        if x is not None:
            self.best = self.pair(x)
        return done

    def pair(self, x: Vector | None = None) -> FormPoint:
        """Return the current pair, with other coefficients of the program if these are given."""
        own, y = self.method.core.point()
        slack = self.method.core.sides()[3]
        point = self.method.program.point(own if x is None else x, y, slack)
        return point if self.working is None else self.working.spread(point)

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
        may_raise = self.digits is None and step_work(form) <= _MOST_PRODUCTS_OF_32_DIGITS
        if digits == 16 and generates_columns(form):
            working = WorkingColumns.first(form, warm, LARGEST_SYSTEM, self.proximal)
            form, may_raise = working.part, False
        method = Method(form, digits, self.proximal)
        zero = FormPoint(np.zeros(0), 0.0, np.zeros(0), np.zeros(0))
        state = InteriorState(method, zero, working, digits, may_raise)
        state.best = state.pair()
        return state

    def advance(self, state: InteriorState, budget: Budget) -> Step:
        """Iterate until the gap estimate meets the target or the budget is spent."""
        step, polish = Step(0, False), 0
        for done in range(1, budget.iterations + 1):
            left = budget.left()
            if left <= 0.0:
                break
            moved = state.method.step(left)
            verdict = state.evaluate()
            reached = verdict.meets(_safe(budget.relative_gap))
            reached = reached or is_nothing(state.method.program, state.method.core) is not None
            if reached and not state.round_off(budget.relative_gap) and moved:
                polish += 1
                if polish <= _MOST_POLISHING_STEPS:
                    continue
            is_over = not reached and budget.is_over()
            stuck = not reached and not is_over and state.is_stuck(moved)
            step = Step(done, reached, exhausted=stuck)
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
_CLARITY_SHARES = (1.0, 1e-2, 1e-4)  # how clear the duals have to be, tried in turn
_VISIBLE_COEFFICIENT = 1e-2  # in units of the program; if all are smaller, zeros are tried
_NEGLIGIBLE_SHARES = (1e-4, 1e-5, 1e-7, 1e-9)  # relative to the largest coefficient, tried in turn


def is_nothing(program: UnitProgram, core: Any) -> Vector | None:
    """Return zero coefficients if they cost nothing: then no relative gap is small but theirs."""
    if Verdict.of(core).size > _NEGLIGIBLE_OBJECTIVE:
        return None
    x = _without(core.point()[0], slice(0, program.form.n_columns))
    return x if Verdict(*core.evaluate(x)).meets(0.0) else None


def rounded(program: UnitProgram, core: Any, allowed: float) -> tuple[Vector | None, bool]:
    """Return coefficients with exact zeros whose gap estimate is at most `allowed`, if any.

    The second value is False if there should be zeros but none of the attempts was good enough.
    """
    x = is_nothing(program, core)
    if x is not None:
        return x, True
    tried = False
    for candidate in _candidates(program, core):
        tried = True
        if Verdict(*core.evaluate(candidate)).meets(allowed):
            return candidate, True
    return None, not tried


def _candidates(program: UnitProgram, core: Any) -> Iterator[Vector]:
    """Yield coefficients with exact zeros, bold ones first."""
    x = core.point()[0]
    priced = np.flatnonzero(program.price >= 0)
    if priced.size:
        sides, units = core.sides(), program.price[priced]
        size = np.abs(x[priced])
        size = size / max(float(size.max()), np.finfo(float).tiny)
        room = np.minimum(sides[0][units], sides[2][units]) / program.units[2][units]
        for share in _CLARITY_SHARES:
            zero = priced[size < share * room]
            if zero.size:
                yield _without(x, zero)
        return
    d, width = program.form.design.n_features, program.form.epigraph.n_columns
    if width == d:
        return
    arrows = Arrows.of(program)
    if arrows is not None:
        x = arrows.snapped(x, core.sides(), Verdict.of(core).mean_product)
    for share in _NEGLIGIBLE_SHARES:
        zero = np.zeros(x.size, dtype=bool)
        for part in (slice(0, d), slice(d, width)):
            size = np.abs(x[part])
            zero[part] = size <= share * max(float(np.max(size)), _VISIBLE_COEFFICIENT)
        if zero.any():
            yield _without(x, zero)


def _without(x: Vector, zero: Any) -> Vector:
    found = x.copy()
    found[zero] = 0.0
    return found
