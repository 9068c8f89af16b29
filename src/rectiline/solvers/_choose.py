"""`auto`: which solvers take a problem, in which order, and why.

Later stages only run when earlier ones give up, and start from the best pair found so far. Rules,
in the order in which they are asked, and what decided them (n rows, d columns; `benchmarks.regret`
measures all of them together):

=============================================== ================================= ===============
problem                                         first                             measured on
=============================================== ================================= ===============
dense, cold, n >= 200,000 and n >= 20,000 d,    passes, unless most rows are near benchmarks.
no constraint rows, no Slope or groups          a knot                            passes crossover
Slope or groups                                 generation, for as long as        regret
                                                interior would take
linear term and no samples                      interior                          benchmarks.qp
linear program, warm                            generation                        paths
linear program with L1, d >= 60                 smoothed if X is sparse; else     L1 suites, regret,
                                                generation, newton or interior    tf-idf text
squared error with constraint rows, d >= 30     newton if 2 d <= n, d <= 150 and  qp
                                                rows are few; interior
L1, d >= 200, sparse, n > 5 d                   newton; interior for squared      sparse lasso, qp
                                                error
L1, d >= 200, n <= 10 d                         generation for a while; interior  regret, lasso
                                                where half of the columns matter
L1, strong, d >= 200; d > max(n, 1000)          generation; interior where rows   L1 suites,
                                                constrain many columns, no L1     maros_meszaros
ridge alone, dense, d > 3 n                     reduced_newton                    arcene, leukemia
d > 3000                                        rehline; interior where rows      tf-idf text,
                                                constrain many columns            2,000 x 4,000
d > n, d >= 250                                 rehline for a while, interior;    regret
                                                newton under rows, dense, d <= 4n
sparse, without ridge, d >= 250, n <= 4 d       interior                          Fused signals
anything else                                   newton; before that rehline for a rehline,
                                                while if the dual is not stiff    foundation,
                                                and n d > 2,000                   small
=============================================== ================================= ===============
"""

from __future__ import annotations

import numpy as np

from rectiline._typing import Vector
from rectiline.exceptions import UnsupportedProblemError
from rectiline.problems import Problem
from rectiline.problems.forms import CompositeForm, EpigraphForm, RectifiedForm
from rectiline.solvers._base import Solver, Stage
from rectiline.solvers._names import SOLVERS
from rectiline.solvers._sweeps import first_try, is_easy, is_near, is_trivial
from rectiline.solvers.generation import Generation
from rectiline.solvers.interior import Interior
from rectiline.solvers.newton import Newton, ReducedNewton
from rectiline.solvers.rehline import Rehline
from rectiline.solvers.smoothed import Smoothed

__all__ = ["choose", "remaining"]

_MANY_ROWS = 60_000  # beyond, Newton on samples and working sets beats coordinate ascent
_ROWS_PER_COLUMN = 2000  # up to which samples of rows are too large a share to start Newton on
_TINY = 2000  # entries up to which Newton's steps take less time than one more certificate
_LARGEST_MATRIX = 3000  # columns up to which Newton's systems are always affordable
_MANY_CONSTRAINTS = 0.1  # rows per column
_MANY_COLUMNS = 200  # from here on generating columns can pay
_MANY_IN_PROGRAM = 60  # and in linear programs from here on
_FEW_IN_PROGRAM = 130  # of long ones, up to which Newton's method beats any basis
_SMALL_MATRIX = 250  # columns up to which Newton's method beats most bases
_FEW_COLUMNS = 100  # up to which Newton's systems cost less than interior's steps
_FEW_WITHOUT_BENDS = 30  # the same for quadratic programs: a few steps are enough
_FEW_IN_QUADRATIC, _FEW_ROWS = 150, 2  # columns, and constraint rows per column, up to which
# Newton's method beats them all the same
_LONG = 10  # rows per column from which on steps on a part of the rows pay
_SHORT = 4  # rows per column, differences included, up to which free columns are for interior
_LONG_AND_SPARSE = 5  # rows per column of sparse X from which on newton beats generation
_LARGE_BASIS = 200  # rows and columns from which on a basis of that size is slow to find
_WIDE = 4  # columns per row from which on a basis is soon found all the same
_LARGE_SHARE = 0.5  # of them that would be in it
_INTERIOR_STEPS = 25.0
_LEAST_INTERIOR = 6e-3  # seconds that interior takes on small problems, and more
_PER_LEVEL = 2e4  # products in the time that a step spends on each level of a Slope and column
_NEWTON_RATE = 0.25  # products of small systems in the time of one of a large matrix product
_LEAST_TRY = 5e6  # products: a few milliseconds
_TRY = 0.75  # products of the simplex method per product of one interior step: half of its time
_LAST_SWEEPS = 300.0  # over all rows, of coordinate ascent after everything else has failed
_STRONG_L1 = 30.0  # times weaker than the strength that leaves no column, at most
_STRONGEST_L1 = 3.0  # times weaker, of sparse columns: pivots soon find the few that matter
_ROUGH = 1e-3  # gap up to which a smoothed loss is enough

_INTERIOR = Stage(Interior(digits=16), "interior: the robust finish")
_MOST_DIGITS = Interior(digits=32)
_SWEEPS = Stage(Rehline(), "rehline: more columns than a Newton matrix can hold")
_GENERATION = Stage(Generation(), "generation: few of many columns matter under L1")


def choose(problem: Problem, warm: bool = False, tol: float = 1e-6) -> list[Stage]:
    """Return the stages to run until one of them certifies the answer.

    `warm`: there is a pair to start from. `tol` is the gap that is asked for. The first stage takes
    the problem; whether a later one does is looked at when its turn comes.
    """
    separable = problem.is_separable
    stages = _separable(problem, warm, tol) if separable else _coupled(problem, warm)
    while stages and stages[0].method.refuses(problem) is not None:
        del stages[0]
    if stages:
        return stages
    reasons = "; ".join(f"{name}: {one().refuses(problem)}" for name, one in SOLVERS.items())
    raise UnsupportedProblemError(f"No solver takes this problem. {reasons}.")


def remaining(plan: list[Stage]) -> list[Stage]:
    """Return what is left to try when all solvers of a plan have given up.

    Small problems go to the interior point method in numbers of 32 digits. Then come those that are
    not in the plan, coordinate ascent with limited patience, and those that ran after another one.
    All start anew: from the pair that the others left, some go where they had gone.
    """
    others: list[Solver] = [
        Newton(),
        Interior(digits=16),
        Generation(),
        ReducedNewton(),
        Rehline(patience=_LAST_SWEEPS),
    ]
    tried = {stage.method.name for stage in plan}
    left = [one for one in others if one.name not in tried]
    if _MOST_DIGITS not in [stage.method for stage in plan]:
        left.insert(0, _MOST_DIGITS)
    reason = "{}: the solvers before have given up"
    fresh = [Stage(one, reason.format(one.name), is_cold=True) for one in left]
    again = "{}: once more, from its own start"
    return fresh + [
        Stage(stage.method, again.format(stage.method.name), is_cold=True) for stage in plan[1:]
    ]


def _coupled(problem: Problem, warm: bool) -> list[Stage]:
    """Return the stages for Slope and groups."""
    reason = "generation: a penalty that couples columns leaves few clusters"
    interior = Stage(
        Interior(digits=16), "interior: a penalty that couples columns, of moderate size"
    )
    more_digits = Stage(
        _MOST_DIGITS, "interior: 32 digits for a small problem that is badly scaled"
    )
    again = Stage(Generation(), "generation: once more, with all the time it needs")
    if warm:  # generation goes on from a neighbouring solution; an interior method begins anew
        return [Stage(Generation(), reason), interior]
    return [
        Stage(Generation(patience=_as_long_as_interior(problem)), reason),
        interior,
        more_digits,
        again,
    ]


def _as_long_as_interior(problem: Problem) -> float:
    """Return about how many products Newton steps take in the time of `interior`."""
    if Interior().refuses(problem) is not None:
        return np.inf
    n, width = problem.n_samples, EpigraphForm.apply(problem).n_columns
    density = problem.design.n_stored / max(n * problem.n_features, 1)
    size, many = sorted((n, width)) if width == problem.n_features else (width, n)
    step = float(size) ** 2 * (0.5 * many * density + size / 3.0)
    strengths = CompositeForm.apply(problem).sorted_strengths
    levels = 0 if strengths is None else np.count_nonzero(np.diff(strengths))
    step += _PER_LEVEL * float(levels) * problem.n_features
    return max(_LEAST_TRY, _NEWTON_RATE * _INTERIOR_STEPS * step)


def _separable(problem: Problem, warm: bool, tol: float) -> list[Stage]:
    n, d = problem.n_samples, problem.n_features
    form = RectifiedForm.apply(problem)
    newton = Stage(Newton(), f"newton: {d} columns, second order at any strength")
    interior, sweeps, generation = _INTERIOR, _SWEEPS, _GENERATION
    is_dense = not problem.design.is_sparse
    if problem.data.samples.linear_rows.size == n:
        return [interior, generation, newton, sweeps]
    if warm and _is_linear_program(problem):
        again = "generation: a basis that a neighbouring problem left is a few pivots away"
        return [Stage(Generation(), again), newton, interior]
    pull = _pull_at_zero(problem) if d >= _MANY_IN_PROGRAM else None  # few columns: not asked for
    if pull is not None and _is_linear_program(problem):
        return _linear_program(problem, pull, tol)
    quadratic = not warm and d >= _FEW_WITHOUT_BENDS and _is_quadratic(problem)
    if quadratic and problem.has_constraint_rows:
        if _is_for_newton(problem):
            return [newton, interior, sweeps]
        reason = f"interior: a quadratic program of {d} columns, few steps"
        return [Stage(Interior(digits=16), reason), newton, sweeps]
    if pull is not None and d >= _MANY_COLUMNS and not warm:
        if quadratic and not is_dense and n > _LONG_AND_SPARSE * d:
            reason = f"interior: {d} columns whose squares are summed up once"
            return [Stage(Interior(digits=16), reason), newton, generation]
        if not is_dense and n > _LONG_AND_SPARSE * d:
            return [newton, generation, interior]
        if n <= _LONG * d:
            if _has_large_basis(problem, pull):
                return [interior, generation, newton]
            trial = Generation(patience=_as_long_as_interior(problem))
            return [Stage(trial, generation.reason), interior, newton]
    if not problem.columns.strongly_convex and d > max(n, 1000):
        if pull is None and _has_many_rows(problem):
            return [interior, generation, newton]
        return [generation, interior, newton]
    if d >= _MANY_COLUMNS and pull is not None and pull.max() <= _STRONG_L1:
        return [generation, interior, newton]
    if d > 3 * n and ReducedNewton.refuses(problem) is None and is_dense:
        reduced = Stage(ReducedNewton(), f"reduced_newton: {d} columns but only {n} rows")
        return [reduced, interior, newton, sweeps]
    if d > _LARGEST_MATRIX and _has_many_rows(problem):
        return [interior, sweeps, newton]
    if d > _LARGEST_MATRIX:
        return [sweeps, generation, newton, interior]
    if d > n and d >= _SMALL_MATRIX and pull is None:
        few_rows = not (problem.has_constraint_rows and is_dense and d <= _WIDE * n)
        then = [interior, newton] if few_rows else [newton, interior]
        return [first_try(form, least=_LEAST_INTERIOR), *then, sweeps]
    stages = [newton, interior, sweeps]
    has_ridge = problem.columns.strongly_convex
    if not (is_dense or warm or has_ridge) and d >= _SMALL_MATRIX and n <= _SHORT * d:
        stages = [interior, newton, sweeps]
    if warm and is_near(form):
        return [first_try(form), *stages]
    if warm or not problem.columns.strongly_convex:  # good multipliers are worth more to newton
        return stages
    if n * d <= _TINY:
        return stages
    few_rows = n <= _MANY_ROWS or n < _ROWS_PER_COLUMN * d
    if is_easy(form) if few_rows else is_trivial(form):
        return [first_try(form), *stages]
    return stages


def _is_quadratic(problem: Problem) -> bool:
    """Whether all losses are parabolas, whose squares are summed once, or straight; some curved."""
    bent = [one.curve for one in problem.losses if one.curve.curvature.any()]
    return bool(bent) and all(curve.is_parabola for curve in bent)


def _is_for_newton(problem: Problem) -> bool:
    """Whether a quadratic program has few constraint rows, few columns and surely one answer."""
    n, d, rows = problem.n_samples, problem.n_features, problem.constraint_rows
    few_rows = rows.c.size + rows.f.size <= _FEW_ROWS * d
    return n >= 2 * d and few_rows and d <= _FEW_IN_QUADRATIC


def _has_many_rows(problem: Problem) -> bool:
    """Whether there are constraint rows for many of the columns: sweeps over them take long."""
    rows = problem.constraint_rows
    return int(rows.c.size + rows.f.size) >= _MANY_CONSTRAINTS * problem.n_features


def _is_linear_program(problem: Problem) -> bool:
    """Whether losses and penalty are piecewise linear, with a price on every column."""
    columns = problem.columns
    straight = not any(one.curve.curvature.any() for one in problem.losses)
    return straight and not columns.rho.any() and bool((columns.l1 > 0).all())


def _linear_program(problem: Problem, pull: Vector, tol: float) -> list[Stage]:
    """Return the stages for a linear program with a price on every one of many columns."""
    n, d = problem.n_samples, problem.n_features
    newton = Stage(Newton(), f"newton: {d} columns, second order at any strength")
    interior = Stage(Interior(digits=16), "interior: about as many columns as rows matter")
    reason = "generation: few of many columns matter under L1"
    if problem.design.is_sparse:
        rough = "smoothed: a first answer; generation makes it exact"
        exact = [Stage(Generation(), reason), interior, newton]
        if pull.max() <= _STRONGEST_L1 and tol < _ROUGH:
            return exact
        return [Stage(Smoothed(hands_over=True), rough), *exact]
    if d < _SMALL_MATRIX:
        generation = Stage(Generation(), reason)
        weak = n >= 4 * d and pull.max() > 2.0 * _STRONG_L1
        long = n >= _LONG * d and d <= _FEW_IN_PROGRAM
        return [newton, generation, interior] if weak or long else [generation, newton, interior]
    # With a large basis the simplex method takes longer than a few steps on everything.
    few, many = sorted((n, d))
    patience = _TRY * float(few) ** 2 * (few + many)
    generation = Stage(Generation(patience=patience), reason)
    by_parts = n > _LONG * d or d < _FEW_COLUMNS
    first, last = (newton, interior) if by_parts else (interior, newton)
    # Slopes of margins become zero on the way, so that fewer columns stay than the start asks for.
    residual = problem.losses[0].of == "residual" and d <= _WIDE * n
    if residual and _has_large_basis(problem, pull):
        return [first, generation, last]
    return [generation, first, last]


def _has_large_basis(problem: Problem, pull: Vector) -> bool:
    """Whether about as many columns as rows matter in the end, by what slopes at zero ask for."""
    least = min(problem.n_samples, problem.n_features)
    asked = int(np.count_nonzero(pull > 1.0))
    return least >= _LARGE_BASIS and asked >= _LARGE_SHARE * least


def _pull_at_zero(problem: Problem) -> Vector | None:
    """Return the pull on each column at zero coefficients, in its L1 strength, if all have one."""
    columns = problem.columns
    if columns.strongly_convex or columns.rho.any() or not (columns.l1 > 0).all():
        return None
    residual = problem.losses[0].of == "residual" and problem.fit_intercept
    level = float(np.median(problem.offset)) if residual else 0.0
    slopes = problem.rows.slopes(np.full(problem.n_samples, level))
    if problem.fit_intercept:
        problem.rows.balance(slopes)
    gradient = problem.design.tdot(slopes)
    held = ((gradient > 0) & (columns.lower >= 0)) | ((gradient < 0) & (columns.upper <= 0))
    return np.where(held, 0.0, np.abs(gradient)) / columns.l1
