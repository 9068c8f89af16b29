"""The stage of `solve` that makes a nearly optimal pair exact up to rounding.

`Polish` is a solver whose step is `optimality_step`; the driver keeps a step only if it certifies
better. `polish_answer` is what ``solve(..., polish=True)`` adds.

Near the optimum the pair says on which piece or knot of its loss each sample sits, which
coefficients are held at zero or at a bound and which constraint rows are tight. With that known,
optimality is a linear system in the free coefficients, the multipliers of samples on knots and
those of tight rows:

    h_j'(b_j) = (A'xi + E'nu - X'g)_j   for free j,     sum g = 0,
    x_i'b + b0 = the knot               for samples on a knot,
    A b + c = 0, E b + f = 0            for tight rows.

States are read off sums such as ``t + sigma * slope``, which order them without ties, so that
repeating the step is Newton's method on the optimality conditions.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from scipy import sparse as sp
from scipy.linalg import lapack

from rectiline import _core
from rectiline._typing import Vector
from rectiline.problems import Certificate, DualPoint, Problem
from rectiline.problems.forms import FormPoint, ProblemForm
from rectiline.problems.intercepts import middle_intercept
from rectiline.solvers._base import Budget, Pair, Stage, Step
from rectiline.solvers._run import Run

_MOST_POLISH_STEPS = 4
_MOST_FAILURES = 2  # steps that did not improve the certificate
_MOST_ENTRIES_TO_POLISH = 200_000  # stored entries of X; beyond, a step costs more than it gains
# Stored entries of X up to which solving further takes milliseconds.
_MOST_ENTRIES_TO_SOLVE_ON = 50_000
_MOST_COLUMNS_TO_SOLVE_ON = 100
_MOST_STEPS_TO_SOLVE_ON = 100  # by each solver
_MOST_SAMPLES_TO_CENTRE = 100_000  # the search of the central intercept sorts them
_POLISHED_GAP = 1e-14  # relative gap, rounding included, at which polishing ends
_EXACT_GAP = 1e-12  # relative gap down to which the solvers go on
_CENTRING_GAP = 1e-14  # relative gap that a central intercept may cost
_INSIDE_SHARE = 1e-9  # a multiplier this share of its range from both ends determines the intercept


@dataclass(slots=True, eq=False)
class PolishState:
    """The pair at hand, the best certificate seen and how many steps did not improve it."""

    form: ProblemForm
    pair: Pair | None
    best: float = np.inf
    steps: int = 0
    failures: int = 0


@dataclass(frozen=True, slots=True)
class Polish:
    """Newton's method on the optimality conditions, as a solver without options."""

    name: ClassVar[str] = "polish"
    form: ClassVar[type[Any]] = ProblemForm
    default_max_iter: ClassVar[int] = 100  # never reached: it gives up after a few steps
    first_burst: ClassVar[int] = 1

    @staticmethod
    def refuses(problem: Problem) -> str | None:
        """Return why there is no such step, or None."""
        if not problem.is_separable:
            return "the penalty couples columns"
        if problem.design.n_stored > _MOST_ENTRIES_TO_POLISH:
            return f"X has more than {_MOST_ENTRIES_TO_POLISH} entries"
        return None

    def start(self, form: ProblemForm, warm: FormPoint | None, seed: int) -> PolishState:
        """Return the state at the best pair; without one there is nothing to polish."""
        return PolishState(form, None if warm is None else Pair(*form.invert(warm)))

    def advance(self, state: PolishState, budget: Budget) -> Step:
        """Take one step; after a wrong guess of the pieces the next one starts nearer."""
        moved = None
        if (
            state.pair is not None
            and state.steps < _MOST_POLISH_STEPS
            and state.failures < _MOST_FAILURES
        ):
            moved = optimality_step(state.form.problem, state.pair)
        if moved is None:
            return Step(0, False, exhausted=True)
        state.pair, state.steps = moved, state.steps + 1
        return Step(1, False)

    def point(self, state: PolishState) -> FormPoint:
        """Return the pair at hand."""
        assert state.pair is not None
        return state.form.point_of(*state.pair)

    def learn(self, state: PolishState, certificate: Certificate) -> None:
        """Count the steps that did not help."""
        worst = max(certificate.relative_gap, certificate.relative_violation)
        if worst >= 0.5 * state.best:  # of an exact answer only the bound on rounding is left
            state.failures += _MOST_FAILURES if state.best <= _EXACT_GAP else 1
        state.best = min(worst, state.best)


POLISH_STAGE = Stage(Polish(), "polish: one linear system for the pieces that the pair lies on")


def polish_answer(run: Run, plan: Callable[[], Sequence[Stage]]) -> None:
    """Make a solved pair exact up to rounding where that is cheap; part of `solve`.

    Where the pieces are still undecided, the solvers of `plan()` go on for a few steps. Of several
    best intercepts the middle one is taken, so that a sample of weight two and the same sample
    twice give equal models.
    """
    problem: Problem = run.problem
    run.run_stages([POLISH_STAGE], _POLISHED_GAP)
    small = (
        problem.design.n_stored <= _MOST_ENTRIES_TO_SOLVE_ON
        and problem.n_features <= _MOST_COLUMNS_TO_SOLVE_ON
    )
    if small and problem.is_separable and run.verdict(_EXACT_GAP) is None:
        run.run_stages(plan(), _EXACT_GAP, _MOST_STEPS_TO_SOLVE_ON)
        if run.verdict(_POLISHED_GAP) is None:
            run.run_stages([POLISH_STAGE], _POLISHED_GAP)
    if run.clock.left() > 0.0:
        _centre_intercept(run)


def _centre_intercept(run: Run) -> None:
    best = run.best
    assert best.pair is not None
    coef, intercept, dual = best.pair
    central = central_intercept(run.problem, coef, intercept, dual)
    if central != intercept:
        best.replace(coef, central, dual, max(best.certificate.relative_gap, _CENTRING_GAP))


def central_intercept(problem: Problem, coef: Vector, intercept: float, dual: DualPoint) -> float:
    """Return the middle one of several best intercepts, where there are several."""
    if not problem.fit_intercept or problem.n_samples > _MOST_SAMPLES_TO_CENTRE:
        return intercept
    # A multiplier inside its box leaves one best intercept only.
    low, high = problem.dual_boxes
    room, width = np.minimum(dual.sample - low, high - dual.sample), high - low
    if ((room > _INSIDE_SHARE * width) | np.isinf(width)).any():
        return intercept
    return middle_intercept(problem, coef)


# ---- one Newton step on the optimality conditions ------------------------------------------------


_MOST_UNKNOWNS = 400  # the linear system is dense
_MOST_SINGULAR = 150  # up to this order the shortest answer of a singular system is sought


def optimality_step(problem: Problem, pair: Pair, beside: Any = None) -> Pair | None:
    """Return the pair that solves the optimality conditions of the pieces at hand, or None.

    `beside` is the quadratic function of the coefficients that frozen rows add.
    """
    _, intercept, dual = pair
    coef, free = _columns(problem, pair, beside)
    z = problem.design.dot(coef) + intercept
    matrix, constant, multiplier, tight = _tight_rows(problem, coef, dual)
    spare = max(free.size + int(problem.fit_intercept) - tight.size, 0)
    # There are at most as many samples on knots as unknowns to put them there.
    sample, bend, target, on_knot = problem.rows.states(z, dual.sample, spare)
    near = on_knot | (bend > 0)
    knots = np.flatnonzero(on_knot[near])
    has_b0 = int(problem.fit_intercept)
    n_free, n_knots = free.size, knots.size
    if n_free + has_b0 + n_knots + tight.size > _MOST_UNKNOWNS:
        return None

    part = problem.design.X[near]
    part = part if n_free == coef.size else part[:, free]
    n_primal = n_free + has_b0
    block = np.ones((part.shape[0], n_primal))
    block[:, :n_free] = part.toarray() if sp.issparse(part) else part
    size = n_primal + n_knots + tight.size
    system, left = np.zeros((size, size)), np.zeros(size)
    system[:n_primal, :n_primal] = block.T @ (bend[near][:, None] * block)
    system.flat[: n_free * (size + 1) : size + 1] += problem.columns.rho[free]
    system[n_primal : n_primal + n_knots, :n_primal] = block[knots]
    slope = problem.columns.rho * coef + problem.design.tdot(sample)
    if problem.columns.has_l1:
        slope += problem.columns.l1 * np.sign(coef)
    system[n_primal + n_knots :, :n_free] = -matrix[:, free]
    slope -= matrix.T @ multiplier
    left[n_primal + n_knots :] = matrix @ coef + constant
    system[:n_primal, n_primal:] = system[n_primal:, :n_primal].T
    total = sample.sum()
    if beside is not None:
        here = beside.moved_to(coef, intercept)
        slope, total = slope + here.gradient, total + here.total
        if here.curvature is not None:
            at = np.append(free, coef.size)[:n_primal]
            system[:n_primal, :n_primal] += here.curvature[np.ix_(at, at)]
    left[:n_free] = -slope[free]
    if has_b0:
        left[n_free] = -total
    left[n_primal : n_primal + n_knots] = (target - z)[on_knot]
    move = _solve(system, left)
    if move is None:
        return None
    change = np.zeros(coef.size)
    change[free] = move[:n_free]
    shift = float(move[n_free]) if has_b0 else 0.0
    sample += bend * (problem.design.dot(change) + shift)
    sample[on_knot] += move[n_primal : n_primal + n_knots]
    multiplier = multiplier + move[n_primal + n_knots :]
    new, intercept = coef + change, intercept + shift
    if not (_core.all_finite(new) and math.isfinite(intercept)):
        return None
    new = problem.clip_to_bounds(new)
    return Pair(new, intercept, _dual(problem, sample, multiplier, tight))


def _solve(system: NDArray[np.float64], right: Vector) -> Vector | None:
    """Solve a symmetric system after equilibration; the shortest answer if it is singular."""
    if not right.size:  # every coefficient is held
        return right
    sizes, scale = np.abs(system), np.ones(right.size)
    for _ in range(3):
        top = (sizes * scale * scale[:, None]).max(axis=0)
        top[top == 0] = 1.0
        scale /= np.sqrt(top)
    scaled, wanted = system * scale * scale[:, None], scale * right
    if not (_core.all_finite(scaled.ravel()) and _core.all_finite(wanted)):
        return None  # LAPACK may never come back from such numbers
    factors, pivots, info = lapack.dgetrf(scaled)
    if info == 0:
        move = lapack.dgetrs(factors, pivots, wanted)[0]
        move = move + lapack.dgetrs(factors, pivots, wanted - scaled @ move)[0]
        missed = np.abs(scaled @ move - wanted).max(initial=0.0)
        size = np.abs(move).max(initial=0.0)
        if missed <= 1e-12 * size and size <= 1e12 * np.abs(wanted).max(initial=0.0):
            return np.asarray(scale * move)
    if right.size > _MOST_SINGULAR:
        return None
    try:
        return np.asarray(scale * np.linalg.lstsq(scaled, wanted, rcond=1e-13)[0])
    except np.linalg.LinAlgError:
        return None


def _columns(problem: Problem, pair: Pair, beside: Any) -> tuple[Vector, NDArray[np.intp]]:
    """Return coefficients with those that are held put in place, and the free ones."""
    given, intercept, dual = pair
    columns, coef = problem.columns, given.copy()
    if not (columns.has_l1 or columns.has_bounds):
        return coef, np.arange(coef.size)
    lower, upper = columns.lower, columns.upper
    q = problem.terms.region.combined(dual) - problem.design.tdot(dual.sample)
    if beside is not None:
        q = q - beside.moved_to(coef, intercept).gradient
    size = np.abs(coef[coef != 0])
    scale = (float(np.median(size)) if size.size else 1.0) / max(
        float(np.median(np.abs(q))), 1e-300
    )
    reach = coef + scale * q
    held = np.zeros(coef.size, dtype=bool)
    if columns.has_l1:
        zero = (columns.l1 > 0) & (np.abs(reach) <= scale * columns.l1)
        zero &= (lower <= 0) & (upper >= 0)
        coef[zero] = 0.0
        held |= zero
    if columns.has_bounds:
        with np.errstate(invalid="ignore"):  # infinite bounds times no ridge
            least, most = columns.slopes(lower)[1], columns.slopes(upper)[0]  # towards the inside
            at_low = np.isfinite(lower) & (reach <= lower + scale * least) & ~held
            at_up = np.isfinite(upper) & (reach >= upper + scale * most) & ~held
        coef[at_low], coef[at_up] = lower[at_low], upper[at_up]
        held |= at_low | at_up
    return coef, np.flatnonzero(~held)


def _tight_rows(
    problem: Problem, coef: Vector, dual: DualPoint
) -> tuple[NDArray[np.float64], Vector, Vector, NDArray[np.intp]]:
    """Return the rows that hold with equality, their constants, multipliers and positions."""
    rows = problem.terms.region.stacked
    multiplier, is_equality = dual.constraints, rows.is_equality > 0
    slack = np.where(is_equality, 0.0, rows.values(coef))
    top = float(np.max(dual.inequality, initial=0.0))
    scale = float(np.max(np.abs(slack), initial=0.0)) / top if top > 0 else 0.0
    tight = np.flatnonzero(is_equality | (scale * multiplier > slack))
    part = rows.design.X[tight]
    matrix = np.asarray(part.toarray() if sp.issparse(part) else part)
    return matrix, rows.offset[tight], multiplier[tight], tight


def _dual(
    problem: Problem, sample: Vector, multiplier: Vector, tight: NDArray[np.intp]
) -> DualPoint:
    m, every = problem.constraint_rows.c.size, problem.terms.region.zero_dual(0).constraints
    every[tight] = multiplier
    return DualPoint(sample, np.maximum(every[:m], 0.0), every[m:])
