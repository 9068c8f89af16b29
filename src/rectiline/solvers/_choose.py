"""`auto`: which solvers take a problem, in which order, and why.

The rules are one table, asked from the top. Later stages only run when earlier ones give up, and
start from the best pair found so far. `benchmarks.regret` measures all of them together; next to a
rule stands what it was measured on. A look at zero coefficients comes before.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from rectiline.exceptions import UnsupportedProblemError
from rectiline.problems import Problem
from rectiline.solvers._arguments import SOLVERS
from rectiline.solvers._base import Solver, Stage
from rectiline.solvers._facts import Facts
from rectiline.solvers._row_plan import RowPlan
from rectiline.solvers.generation import Generation
from rectiline.solvers.interior import Interior
from rectiline.solvers.newton import Newton, ReducedNewton
from rectiline.solvers.rehline import Rehline
from rectiline.solvers.rows.solver import RowsTrial
from rectiline.solvers.smoothed import Smoothed

_SWEEPS_OF_LAST_STAGE = 300.0  # over all rows, after all other solvers have failed
_MOST_DIGITS = Interior(digits=32)
# Below this many entries of X a solver is as fast as the test of zero.
_ENTRIES_TO_TRY_ZERO = 20_000
_ZERO_LOSS_SHARE = 1.0  # relative to the loss at zero: with a smaller bound zero may be optimal
_ZERO_GAIN_SHARE = 1e-6  # relative to the loss at zero: largest gain that is neglected
# With more columns, or below this gap, a few pivots are faster than Newton's steps.
_COLUMNS_WITHOUT_PIVOTS, _TOLERANCE_OF_PIVOTS = 25, 1e-7

# The solvers as the table calls them.
_SOLVERS: dict[str, Solver] = {
    "generation": Generation(),
    "interior": Interior(digits=16),
    "interior-32": _MOST_DIGITS,
    "newton": Newton(),
    "passes": RowsTrial(),
    "reduced_newton": ReducedNewton(),
    "rehline": Rehline(),
    "smoothed": Smoothed(hands_over=True),
}
# Those that run for as long as the next one would take.
_TRIES: dict[str, Callable[[Facts], Solver]] = {
    "generation-try": lambda f: Generation(patience=f.products_for_a_try),
    "rehline-try": lambda f: Rehline(patience=f.sweeps_for_a_try),
}


class Rule(NamedTuple):
    """When it holds, these solvers run in turn; `why` the first of them is the first."""

    holds: Callable[[Facts], bool]
    solvers: str
    why: str


def _may_leave_few_clusters(f: Facts) -> bool:
    """Whether columns are many more than rows, hardly any, or the penalty is strong.

    Under weaker ones the try is lost on kinks and on few rows: pinball, groups, 368 x 562, 0.63 ->
    0.05 s by interior; but squared error, OSCAR, 1,581 x 182, 0.22 against 0.008 s.
    """
    if f.d <= 8 or f.d > 2 * f.n:
        return True
    is_smooth_and_tall = not f.problem.slope_width[1] and f.n > 5 * f.d
    most = max(3.0, 0.2 * f.d)
    return f.largest_pull <= (most if is_smooth_and_tall else min(most, 15.0))


def _is_priced_program(f: Facts) -> bool:
    return f.has_prices and f.is_linear_program


def _has_large_basis(f: Facts) -> bool:
    """Whether slopes at zero say so; those of margins vanish on the way, those of residuals not."""
    return f.is_of_residuals and f.d <= 4 * f.n and f.has_large_basis


def _has_cheap_matrix(f: Facts) -> bool:
    """Whether Newton's steps cost less than those of others, which look at all rows.

    The steps of interior sum up the squares of every row, a sparse one with k entries for about
    ``1 + (k / 24)**2`` times the time per row; the matrix of Newton's method grows with d**3 and
    rows far from every knot are left out. w8a hinge 1.6 -> 0.2 s, census_kdd over 15 -> 2.6 s.
    """
    if f.is_sparse:
        entries = f.problem.design.n_stored / max(f.n, 1)
        return f.n * (1.0 + (entries / 24.0) ** 2) > 2e-4 * float(f.d) ** 3
    return f.d < 170 or (f.n >= 10 * f.d and not f.leaves_few_columns)


def _has_few_unknowns(f: Facts) -> bool:
    """Whether columns are few; or rows, of which most pairs share a column, and all may matter."""
    if f.problem.constraint_rows.f.size:  # a budget leaves few columns (669 x 1,024: 350 -> 8 ms)
        return False
    if f.d <= f.n:
        return f.d <= 3000
    shared = (f.problem.design.n_stored / f.n) ** 2 / f.d
    return f.n <= 3000 and shared > 0.1 and f.has_large_basis


def _can_skip_rows(f: Facts) -> bool:
    """Whether there are so many rows for each column that `passes` is tried first."""
    is_plain = not (f.warm or f.is_coupled or f.has_rows or f.is_sparse)
    return is_plain and RowPlan(f.n, f.d).is_first_choice


def _wants_columns(f: Facts) -> bool:
    """Whether generating columns may save time, without a neighbouring solution."""
    least = 170 if f.is_linear_program else 200  # with fewer a Newton matrix is cheap
    return f.has_prices and f.d >= least and not f.warm


def _is_constrained_quadratic(f: Facts) -> bool:
    """Whether it is one, and has more columns or constraint rows than Newton's steps like."""
    if f.warm or f.d < 30 or not f.has_rows or not f.is_quadratic:
        return False
    return f.n < 2 * f.d or f.rows_per_column > 2 or f.d > 150


def _has_few_rows_per_column(f: Facts) -> bool:
    """Whether columns are many, and rows too few for Newton's method to leave most of them out.

    Without kinks a ridge part is enough for it to take few steps at any size.
    """
    if f.has_ridge and not f.has_kinks:
        return False
    least, most = (250, 10) if f.is_sparse else (400, 2)
    return f.d >= least and f.n <= most * f.d


def _has_free_columns(f: Facts) -> bool:
    """Whether there are more columns than rows, without a ridge part."""
    return not f.has_ridge and f.d > max(f.n, 1000)


RULES = (
    # Many rows. Measured by passes.
    Rule(
        _can_skip_rows,
        "passes newton interior interior-32 rehline",
        "many rows for each column, few of them near a knot",
    ),
    # Slope and groups. Measured by regret.
    Rule(
        lambda f: f.is_coupled and (f.warm or _may_leave_few_clusters(f)),
        "generation-try interior interior-32 generation",
        "a penalty that couples columns leaves few clusters",
    ),
    Rule(
        lambda f: f.is_coupled,
        "interior interior-32 generation",
        "many clusters are left of few columns",
    ),
    # Fixed effects, trends and graphs. Measured on panels and trend filters.
    Rule(
        lambda f: f.is_sparse and not f.warm and not f.has_ridge and f.has_sparse_squares,
        "interior newton generation rehline",
        "sums of squares have few entries",
    ),
    # Orders and other constraint rows for many columns. Measured on maros_meszaros, regret: pinball
    # under L1, monotone, 64 x 161, 25 -> 6 ms, but 2,033 x 379 epsilon-insensitive 229 against 155.
    Rule(
        lambda f: not f.warm and f.has_many_rows and f.d >= 100 and f.n <= 5 * f.d,
        "interior generation newton rehline",
        "constraint rows for many of the columns",
    ),
    # Linear programs. Measured on qp, paths, L1 suites, tf-idf text, regret.
    Rule(
        lambda f: f.has_no_samples,
        "interior generation newton rehline",
        "a linear term and no samples",
    ),
    # But not few columns (sweeps of quantile levels: 1.9 times the time of cold solves at 100 x 3),
    # nor sparse rows for a few hundred columns: w8a, six strengths 22 -> 1.1 s by newton.
    Rule(
        lambda f: (
            f.warm
            and f.is_linear_program
            and (f.d > _COLUMNS_WITHOUT_PIVOTS or f.tol < _TOLERANCE_OF_PIVOTS)
            and not (f.is_sparse and _has_cheap_matrix(f))
        ),
        "generation newton interior",
        "a basis that a neighbouring problem left is a few pivots away",
    ),
    Rule(
        lambda f: _is_priced_program(f) and _has_cheap_matrix(f),
        "newton generation interior",
        "few columns, or about as many as matter of many rows",
    ),
    Rule(
        lambda f: f.is_sparse and _is_priced_program(f) and f.tol < 1e-3 and f.largest_pull <= 3.0,
        "generation interior newton",
        "pivots soon find the few columns that matter under a strong L1",
    ),
    # Random numbers: 5,000 x 1,000 0.9-8 -> 0.3-0.4 s, 2,000 x 5,000 with 50 entries a row over
    # 7 -> 2-6 s, but with 10 entries a row 2.4 against 5.8 s. a9a and w8a: 1-4 -> 0.5-1.1 s.
    Rule(
        lambda f: f.is_sparse and _is_priced_program(f) and _has_few_unknowns(f),
        "interior generation newton",
        "many columns matter, and its systems are small",
    ),
    Rule(
        lambda f: f.is_sparse and _is_priced_program(f),
        "smoothed generation interior newton",
        "a first answer; generation makes it exact",
    ),
    Rule(
        lambda f: _is_priced_program(f) and _has_large_basis(f),
        "interior generation-try newton",
        "about as many columns as rows matter",
    ),
    Rule(
        _is_priced_program,
        "generation-try interior newton",
        "few of many columns matter under L1",
    ),
    # Quadratic programs with constraint rows. Measured by qp.
    Rule(
        _is_constrained_quadratic,
        "interior newton rehline",
        "a quadratic program takes few steps",
    ),
    # Curved losses under L1. Measured on sparse lasso, qp, lasso, regret.
    # 20,000 x 1,000 squared hinge: 0.30 -> 0.09 s, but 50,000 x 300 Huber 47 against 81 ms.
    Rule(
        lambda f: (
            _wants_columns(f) and f.is_sparse and f.n > 5 * f.d and (f.is_quadratic or f.d >= 500)
        ),
        "interior newton generation",
        "columns that are few in the end, or whose squares are summed up once",
    ),
    # Under a strong L1 few columns are left of those (lasso 300 x 1,000, a tenth of the largest
    # strength: 57 -> 12 ms by generation).
    Rule(
        lambda f: (
            _wants_columns(f) and f.n <= 10 * f.d and f.has_large_basis and f.largest_pull > 15.0
        ),
        "interior generation newton",
        "about as many columns as rows matter",
    ),
    Rule(
        lambda f: _wants_columns(f) and f.n <= 10 * f.d,
        "generation-try interior newton",
        "few of many columns matter under L1",
    ),
    # More columns than rows. Measured on L1 suites.
    Rule(
        lambda f: _has_free_columns(f) or (f.d >= 200 and f.largest_pull <= 30.0),
        "generation interior newton",
        "few of many columns matter",
    ),
    # Many columns. Measured on arcene, leukemia, tf-idf text, 2,000 x 4,000, regret.
    Rule(
        lambda f: f.d > 3 * f.n and not f.is_sparse and ReducedNewton.refuses(f.problem) is None,
        "reduced_newton interior newton rehline",
        "many columns but few rows",
    ),
    # An elastic net: sweeps over columns under L1 are many (hinge, 200 x 4,000: 12 -> 0.15 s).
    Rule(
        lambda f: 3000 < f.d > f.n and not f.is_sparse and bool(f.problem.columns.l1.any()),
        "interior newton rehline",
        "systems of the size of the rows",
    ),
    Rule(
        lambda f: f.d > 3000,
        "rehline generation newton interior",
        "more columns than a Newton matrix can hold",
    ),
    Rule(
        lambda f: f.d > f.n and f.d >= 250 and not f.has_prices,
        "rehline-try interior newton rehline",
        "a try, as the penalty may be strong",
    ),
    # Anything else. Measured on rehline, foundation, small, regret.
    Rule(
        lambda f: f.sweeps_pay,
        "rehline-try newton interior rehline",
        "a try, as the penalty looks strong",
    ),
    Rule(
        lambda f: not f.warm and _has_few_rows_per_column(f),
        "interior newton rehline",
        "many columns, and few rows for each of them",
    ),
    # Sweeps come last: they have no end where columns are badly scaled (FairSVM on spf: both others
    # end at 3e-6 on some processors, and 30 s of sweeps stood before the 0.3 s of 32 digits).
    Rule(
        lambda f: True,
        "newton interior interior-32 rehline",
        "second order at any strength",
    ),
)


def choose(problem: Problem, warm: bool = False, tol: float = 1e-6) -> list[Stage]:
    """Return the stages to run until one of them certifies the answer.

    `warm`: there is a pair to start from. `tol` is the gap that is asked for. The first stage takes
    the problem; whether a later one does is looked at when its turn comes.
    """
    facts = Facts(problem, warm, tol)
    rule = next(rule for rule in RULES if rule.holds(facts))
    methods = [_SOLVERS.get(name) or _TRIES[name](facts) for name in rule.solvers.split()]
    while methods and methods[0].refuses(problem) is not None:
        del methods[0]
    if not methods:
        reasons = "; ".join(f"{name}: {one().refuses(problem)}" for name, one in SOLVERS.items())
        raise UnsupportedProblemError(f"No solver takes this problem. {reasons}.")
    first = Stage(methods[0], f"{methods[0].name}: {rule.why}")
    return [first, *(_after_others(one) for one in methods[1:])]


def _after_others(method: Solver, is_cold: bool = False) -> Stage:
    return Stage(method, f"{method.name}: the solvers before have given up", is_cold)


def followers(method: Solver, problem: Problem) -> list[Stage]:
    """Return what follows when a solver that was asked for by name gives up.

    The interior point method, named without its digits, goes on with more of them. It also takes
    groups whose sign vectors are too many for the linear programs of generation.
    """
    later: list[Solver] = []
    if isinstance(method, Interior) and method.digits is None:
        later = [_MOST_DIGITS]
    elif (
        isinstance(method, Generation)
        and method.master == "auto"
        and method.patience == np.inf
        and not problem.is_separable
    ):
        later = [Interior(digits=16), replace(method, master="second_order")]
    return [_after_others(one, is_cold=True) for one in later]


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
        Rehline(patience=_SWEEPS_OF_LAST_STAGE),
    ]
    tried = {stage.method.name for stage in plan}
    left = [one for one in others if one.name not in tried]
    if _MOST_DIGITS not in [stage.method for stage in plan]:
        left.insert(0, _MOST_DIGITS)
    again = "{}: once more, from its own start"
    return [_after_others(one, is_cold=True) for one in left] + [
        Stage(stage.method, again.format(stage.method.name), is_cold=True) for stage in plan[1:]
    ]


def zero_may_be_optimal(problem: Problem) -> bool:
    """Whether zero coefficients may be good enough, so that trying them first can save time.

    The slopes at zero can gain no more than their square over the ridge part. Losses with bounded
    slopes on targets far from zero (prices under a Huber loss) gain next to nothing. Where all
    slopes are the same, their sum over the rows is known: centred columns leave nothing of it.
    """
    if problem.fit_intercept or problem.has_constraint_rows or not problem.is_separable:
        return False
    if problem.design.n_stored < _ENTRIES_TO_TRY_ZERO:  # solved about as fast as looked at
        return False
    columns = problem.columns
    if not columns.strongly_convex or columns.has_bounds:
        return False
    total = problem.total_weight * problem.slope_width[0]
    most = 0.5 * total**2 * problem.design.mean_row_square(1.0 / columns.rho)
    if most <= _ZERO_LOSS_SHARE * problem.loss_at_zero:
        return True
    slopes = problem.rows.slopes(np.zeros(problem.n_samples))
    if slopes[0] == 0 or (slopes != slopes[0]).any():
        return False
    pull = slopes[0] * problem.design.column_sums
    return float(0.5 * (pull * pull / columns.rho).sum()) <= _ZERO_GAIN_SHARE * problem.loss_at_zero
