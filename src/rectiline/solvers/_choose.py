"""`auto`: which solvers take a problem, in which order, and why.

The thresholds are measured (see ``benchmarks/``). Later stages only run when earlier ones give up,
and start from the best pair found so far.
"""

from __future__ import annotations

import numpy as np

from rectiline.exceptions import UnsupportedProblemError
from rectiline.problems import Problem
from rectiline.problems.forms import RectifiedForm
from rectiline.solvers._base import Solver, Stage
from rectiline.solvers.first_order import FirstOrder
from rectiline.solvers.generation import Generation
from rectiline.solvers.interior import Interior
from rectiline.solvers.newton import Newton, ReducedNewton
from rectiline.solvers.rehline import Rehline

__all__ = ["SOLVERS", "choose", "zero_may_do"]

SOLVERS: dict[str, type[Solver]] = {
    "first_order": FirstOrder,
    "generation": Generation,
    "interior": Interior,
    "newton": Newton,
    "reduced_newton": ReducedNewton,
    "rehline": Rehline,
}

_MANY_ROWS = 60_000  # beyond, Newton on samples and working sets beats coordinate ascent
_ROWS_PER_COLUMN = 2000  # up to which samples of rows are too large a share to start Newton on
_LARGEST_MATRIX = 3000  # columns up to which Newton's systems are always affordable
_ZERO_SIZE = 20_000  # entries of X from which on that look costs less than a solver
_ZERO_SHARE = 1.0  # of the loss at zero: a bound below this may turn out to be nothing at all
_ZERO_GAIN = 1e-6  # of the loss at zero: what could be gained, where it is known
_MANY_COLUMNS = 200  # from here on generating columns can pay
_LARGE_BASIS = 1000  # rows and columns from which on a basis of that size is slow to find
_STRONG_L1 = 30.0  # times weaker than the strength that leaves no column, at most


def choose(problem: Problem, warm: bool = False) -> list[Stage]:
    """Return the stages to run until one of them certifies the answer.

    `warm`: there is a pair to start from. The first stage takes the problem; whether a later one
    does is looked at when its turn comes.
    """
    stages = _coupled(problem) if not problem.is_separable else _separable(problem, warm)
    while stages and stages[0].method.refuses(problem) is not None:
        del stages[0]
    if stages:
        return stages
    reasons = "; ".join(f"{name}: {one.refuses(problem)}" for name, one in SOLVERS.items())
    raise UnsupportedProblemError(f"No solver takes this problem. {reasons}.")


def _coupled(problem: Problem) -> list[Stage]:
    large = problem.n_features > 500
    interior = Stage(Interior(), "interior: a penalty that couples columns, of moderate size")
    generation = Stage(Generation(), "generation: a penalty that couples many columns")
    return [generation, interior] if large else [interior, generation]


def _separable(problem: Problem, warm: bool) -> list[Stage]:
    n, d = problem.n_samples, problem.n_features
    form = RectifiedForm.apply(problem)
    newton = Stage(Newton(), f"newton: {d} columns, second order at any strength")
    interior = Stage(Interior(), "interior: the robust finish")
    sweeps = Stage(Rehline(), "rehline: more columns than a Newton matrix can hold")
    generation = Stage(Generation(), "generation: few of many columns matter under L1")
    if warm and _is_linear_program(problem):
        again = "generation: a basis that a neighbouring problem left is a few pivots away"
        return [Stage(Generation(), again), newton, interior]
    if min(n, d) > _LARGE_BASIS and _has_dense_vertex(problem):
        return [interior, generation, newton]
    if not problem.columns.strongly_convex and d > max(n, 1000):
        return [generation, interior, newton]
    if d >= _MANY_COLUMNS and _few_columns_matter(problem, _STRONG_L1):
        return [generation, interior, newton]
    if d > 3 * n and ReducedNewton.refuses(problem) is None and not problem.design.is_sparse:
        reduced = Stage(ReducedNewton(), f"reduced_newton: {d} columns but only {n} rows")
        return [reduced, interior, newton, sweeps]
    if d > _LARGEST_MATRIX:
        return [sweeps, generation, newton, interior]
    if d > n:
        return [_first_try(form), interior, newton, sweeps]
    stages = [newton, interior, sweeps]
    if warm or not problem.columns.strongly_convex:  # good multipliers are worth more to newton
        return stages
    if (n <= _MANY_ROWS or n < _ROWS_PER_COLUMN * d) and _is_easy(form):
        return [_first_try(form), *stages]
    return stages


def zero_may_do(problem: Problem) -> bool:
    """Whether zero coefficients may be good enough, so that looking at them first can pay.

    The slopes at zero can gain no more than their square over the ridge part. Losses with bounded
    slopes on targets far from zero (prices under a Huber loss) gain next to nothing. Where all
    slopes are the same, their sum over the rows is known: centred columns leave nothing of it.
    """
    if problem.fit_intercept or problem.has_constraint_rows or not problem.is_separable:
        return False
    if problem.design.n_stored < _ZERO_SIZE:  # solved about as fast as looked at
        return False
    columns = problem.columns
    if not columns.strongly_convex or columns.has_bounds:
        return False
    total = float(problem.weight.sum()) * problem.slope_width[0]
    most = 0.5 * total**2 * problem.design.mean_row_square(1.0 / columns.rho)
    if most <= _ZERO_SHARE * problem.loss_at_zero:
        return True
    slopes = problem.rows.slopes(np.zeros(problem.n_samples))
    if slopes[0] == 0 or (slopes != slopes[0]).any():
        return False
    pull = slopes[0] * problem.design.column_sums
    return float(0.5 * (pull * pull / columns.rho).sum()) <= _ZERO_GAIN * problem.loss_at_zero


def _is_linear_program(problem: Problem) -> bool:
    """Whether losses and penalty are piecewise linear, with a price on every column."""
    columns = problem.columns
    straight = not any(one.curve.curvature.any() for one in problem.losses)
    return straight and not columns.rho.any() and bool((columns.l1 > 0).all())


def _has_dense_vertex(problem: Problem) -> bool:
    """Whether a linear program seems to end where about as many columns as rows matter."""
    linear = _is_linear_program(problem)
    return linear and not _few_columns_matter(problem, 0.5 * _STRONG_L1)


def _few_columns_matter(problem: Problem, times: float) -> bool:
    """Whether an L1 term looks strong: at most so many times below what leaves no column."""
    columns = problem.columns
    if columns.rho.any() or not (columns.l1 > 0).all():
        return False
    residual = problem.losses[0].of == "residual" and problem.fit_intercept
    level = float(np.median(problem.offset)) if residual else 0.0
    slopes = problem.rows.slopes(np.full(problem.n_samples, level))
    if problem.fit_intercept:
        problem.rows.balance(slopes)
    return bool(np.max(np.abs(problem.design.tdot(slopes)) / columns.l1) <= times)


def _is_easy(form: RectifiedForm) -> bool:
    """Whether coordinate ascent is worth a try before a Newton matrix of `d` columns.

    Measured. On losses with kinks a Newton method takes many steps, most on few rows; on others it
    takes few steps, each with the squares of all rows. Either way its steps grow with d squared,
    sweeps with d.
    """
    squared = 0.1 * form.design.n_features**2
    return _difficulty(form) <= (max(200.0, squared) if form.slope_width()[1] else squared - 200.0)


def _first_try(form: RectifiedForm) -> Stage:
    d = form.design.n_features
    # What a Newton method costs, in sweeps.
    patience = 10.0 + 0.5 * d if form.slope_width()[1] else 4.0 + d / 12.0
    return Stage(Rehline(patience=patience), "rehline: a try, as the penalty looks strong")


def _difficulty(form: RectifiedForm) -> float:
    """Return how stiff the dual is: total weight times squared row length over the ridge part.

    Judged on a sample of rows; sweeps of coordinate ascent grow with it.
    """
    width, _ = form.slope_width()
    total = float(form.weight.sum()) * width / form.argument_scale()
    return total * form.design.mean_row_square(1.0 / np.maximum(form.columns.rho, 1e-300))
