"""What `auto` looks at: the shape of a problem and what its numbers say at zero coefficients.

Everything is looked at once, and only if a rule asks for it.
"""

from __future__ import annotations

import numpy as np

from rectiline._lazy import cached_property
from rectiline._typing import Vector
from rectiline.problems import Problem
from rectiline.problems.forms import CompositeForm, EpigraphForm, RectifiedForm
from rectiline.solvers._screening import zero_dual
from rectiline.solvers.interior import Interior

_COLUMNS_TO_LOOK_AT_PRICES = 60
_COLUMNS_FOR_SPARSE_SQUARES = 250
_LARGE_BASIS_SIZE = 200  # a basis of this many rows and columns is slow to find
_PULL_OF_FEW_COLUMNS = 5.0  # up to which few of the columns that a strength asks for are left
_LARGE_BASIS_SHARE = 0.5  # share of the rows or columns that are expected in the basis
_CONSTRAINTS_PER_COLUMN_FOR_SLOW_SWEEPS = 0.1
_INTERIOR_STEPS = 25.0
_PRODUCTS_PER_LEVEL_AND_COLUMN = 2e4  # of generation in the time of one interior step, for Slope
_SMALL_SYSTEM_RATE = 0.25  # products of small systems in the time of one product of large matrices
_LEAST_PRODUCTS_FOR_A_TRY = 1e8  # about what the least time of interior allows
_LEAST_SHARE_OF_LARGEST_STRENGTH = 1e-9  # of a penalty; next to none counts as this
# Simplex budget in flops of interior steps: more than half of interior's time. Hinge with
# L1, 0.05 to 0.01 of the largest strength: 800 x 3,000 1.5 -> 0.46 s, 600 x 2,000 0.6 -> 0.3 s.
_SIMPLEX_SHARE = 2.0
_ENTRIES_WITHOUT_SWEEPS = 2000  # below, Newton's steps are faster than one more certificate
_ROWS_FOR_SAMPLES = 60_000  # beyond, Newton on working sets of rows beats coordinate ascent
_ROWS_PER_COLUMN_FOR_SAMPLES = 2000  # below, samples are too large a share to start Newton on
_EASY_DIFFICULTY_PER_SQUARED_COLUMN = 0.12  # up to which sweeps are faster than Newton's method
_LEAST_DIFFICULTY_SHARE = 0.125  # share of the difficulty that is left with rare classes
_ROWS_PER_COLUMN_NEARBY = 25  # up to which sweeps may do from a neighbouring solution
_WARM_DIFFICULTY_FACTOR = 10.0  # a warm start makes problems this much harder as easy
# More sweeps are tried on sparse data: other solvers gain less from zeros.
_SPARSE_SWEEPS_FACTOR = 3.0
_SWEEPS_OF_PRODUCTS = 60.0  # on sparse rows, of Newton's method on smooth losses


class Facts:
    """A problem as `auto` sees it.

    Attributes
    ----------
    problem : Problem
    warm : bool
        Whether there is a pair to start from.
    tol : float
        The gap that is asked for.
    n, d : int
        Rows and columns.
    is_sparse : bool
        Whether X is stored without its zeros.
    is_coupled : bool
        Whether the penalty is one of groups or sorted.
    has_ridge : bool
        Whether every column has a ridge part.
    has_rows : bool
        Whether there are constraint rows.
    """

    def __init__(self, problem: Problem, warm: bool, tol: float) -> None:
        self.problem, self.warm, self.tol = problem, warm, tol
        self.n, self.d = problem.n_samples, problem.n_features
        self.is_sparse = problem.design.is_sparse
        self.is_coupled = not problem.is_separable
        self.has_ridge = not self.is_coupled and problem.columns.strongly_convex
        self.has_rows = problem.has_constraint_rows

    @property
    def has_sparse_squares(self) -> bool:
        """Whether X'X has few entries for each of many columns."""
        return self.d >= _COLUMNS_FOR_SPARSE_SQUARES and self.problem.design.has_sparse_squares

    @cached_property
    def rows_per_column(self) -> float:
        """Constraint rows for each column."""
        rows = self.problem.constraint_rows
        return int(rows.c.size + rows.f.size) / self.d

    @property
    def has_many_rows(self) -> bool:
        """Whether there are constraint rows for many of the columns."""
        return self.rows_per_column >= _CONSTRAINTS_PER_COLUMN_FOR_SLOW_SWEEPS

    @property
    def has_no_samples(self) -> bool:
        """Whether a linear term is all there is besides the penalty."""
        return self.problem.data.samples.linear_rows.size == self.n

    @cached_property
    def is_linear_program(self) -> bool:
        """Whether losses and penalty are piecewise linear, with a price on every column."""
        if self.is_coupled:
            return False
        columns = self.problem.columns
        straight = not any(one.curve.curvature.any() for one in self.problem.losses)
        return straight and not columns.rho.any() and bool((columns.l1 > 0).all())

    @cached_property
    def is_quadratic(self) -> bool:
        """Whether losses are parabolas, whose squares are summed once, or straight; some curved."""
        bent = [one.curve for one in self.problem.losses if one.curve.curvature.any()]
        return bool(bent) and all(curve.is_parabola for curve in bent)

    @property
    def is_of_residuals(self) -> bool:
        """Whether the first loss is one of residuals, whose slopes do not vanish on the way."""
        return self.problem.losses[0].of == "residual"

    # ---- prices of columns --------------------------------------------------------------------

    @cached_property
    def pull(self) -> Vector | None:
        """The pull on each column at zero coefficients, in its L1 strength.

        None if there are few columns, or if not all of them have a price and nothing else.
        """
        problem, columns = self.problem, self.problem.columns
        if self.d < _COLUMNS_TO_LOOK_AT_PRICES:
            return None
        if columns.rho.any() or not (columns.l1 > 0).all():
            return None
        level = 0.0
        if self.is_of_residuals and problem.fit_intercept:
            level = float(np.median(problem.offset))
        slopes = problem.rows.slopes(np.full(self.n, level))
        if problem.fit_intercept:
            problem.rows.balance(slopes)
        gradient = problem.design.tdot(slopes)
        held = ((gradient > 0) & (columns.lower >= 0)) | ((gradient < 0) & (columns.upper <= 0))
        return np.where(held, 0.0, np.abs(gradient)) / columns.l1

    @property
    def has_prices(self) -> bool:
        """Whether `pull` is known."""
        return self.pull is not None

    @cached_property
    def largest_pull(self) -> float:
        """How many times weaker the penalty is than one that leaves no column."""
        if self.is_coupled:
            form = CompositeForm.apply(self.problem)
            q = np.where(form.free_mask, 0.0, form.design.tdot(zero_dual(form)[1]))
            return 1.0 / max(form.shrink_factor(q), _LEAST_SHARE_OF_LARGEST_STRENGTH)
        return np.inf if self.pull is None else float(self.pull.max())

    @property
    def leaves_few_columns(self) -> bool:
        """Whether the penalty is strong."""
        return self.largest_pull <= _PULL_OF_FEW_COLUMNS

    @property
    def has_large_basis(self) -> bool:
        """Whether about as many columns as rows matter in the end, by what `pull` asks for."""
        if self.pull is None or self.leaves_few_columns:
            return False
        least = min(self.n, self.d)
        asked = int(np.count_nonzero(self.pull > 1.0))
        return least >= _LARGE_BASIS_SIZE and asked >= _LARGE_BASIS_SHARE * least

    @property
    def products_for_a_try(self) -> float:
        """About how many products generation takes in the time of `interior`."""
        if self.is_linear_program:
            # With a large basis the simplex method takes longer than a few steps on everything.
            few, many = sorted((self.n, self.d))
            return _SIMPLEX_SHARE * float(few) ** 2 * (few + many)
        problem = self.problem
        if Interior().refuses(problem) is not None:
            return np.inf
        n, width = self.n, EpigraphForm.apply(problem).n_columns
        density = problem.design.n_stored / max(n * self.d, 1)
        size, many = sorted((n, width)) if width == self.d else (width, n)
        step = float(size) ** 2 * (0.5 * many * density + size / 3.0)
        strengths = CompositeForm.apply(problem).sorted_strengths
        levels = 0 if strengths is None else np.count_nonzero(np.diff(strengths))
        step += _PRODUCTS_PER_LEVEL_AND_COLUMN * float(levels) * self.d
        return max(_LEAST_PRODUCTS_FOR_A_TRY, _SMALL_SYSTEM_RATE * _INTERIOR_STEPS * step)

    # ---- coordinate ascent --------------------------------------------------------------------

    @cached_property
    def form(self) -> RectifiedForm:
        """The problem as coordinate ascent sees it."""
        return RectifiedForm.apply(self.problem)

    @property
    def has_kinks(self) -> bool:
        """Whether any loss has a kink, or a bend as sharp as one."""
        return bool(self.form.slope_width()[1])

    @cached_property
    def difficulty(self) -> float:
        """How stiff the dual is: total weight times squared row length over the ridge part.

        Sweeps of coordinate ascent grow with it. Where one class is rare, most rows of the other
        are beyond the kink: what counts is about twice the weight of the rare one. An eighth at
        least: from there on sweeps grow all the same (sylva_prior, creditcard, normal numbers).
        """
        form = self.form
        total = form.total_weight * form.slope_width()[0] / form.argument_scale()
        rare = 1.0 - abs(float(form.weight @ form.direction)) / form.total_weight
        if rare > 1e-12:  # residuals have one direction
            total *= max(rare, _LEAST_DIFFICULTY_SHARE)
        return total * form.design.mean_row_square(1.0 / np.maximum(form.columns.rho, 1e-300))

    @property
    def sweeps_pay(self) -> bool:
        """Whether coordinate ascent is worth a try before a Newton matrix.

        On losses with kinks a Newton method takes many steps, most on few rows; on others it takes
        few steps, each with the squares of all rows. Either way its steps grow with d squared,
        sweeps with d. With very many rows only a handful of sweeps on margins beats Newton on
        samples (kddcup99, 494,020 x 116: a quarter of the time; 100,000 x 40, twice as difficult:
        not; pinball losses on 100,000 to 300,000 rows: 3 to 18 times the time at any strength). A
        warm start makes up for much of the difficulty (paths of 3,000 x 200).
        """
        if not self.has_ridge:
            return False
        n, d = self.n, self.d
        if not self.warm and n * d <= _ENTRIES_WITHOUT_SWEEPS:
            return False
        squared = _EASY_DIFFICULTY_PER_SQUARED_COLUMN * d**2
        if self.warm:
            few = d <= n < _ROWS_PER_COLUMN_NEARBY * d
            return (
                few
                and self.has_kinks
                and self.difficulty <= _WARM_DIFFICULTY_FACTOR * max(200.0, squared)
            )
        if n > _ROWS_FOR_SAMPLES and n >= _ROWS_PER_COLUMN_FOR_SAMPLES * d:
            is_margin = self.problem.losses[0].of == "margin"
            return self.has_kinks and is_margin and self.difficulty <= 0.5 * d
        most = max(200.0, squared) if self.has_kinks else squared - 200.0
        return most > 0 and self.difficulty <= most

    @property
    def sweeps_for_a_try(self) -> float:
        """About how many sweeps take as long as Newton's method, or with more columns as others.

        Those of wide problems solve most of what was left to `interior` after fewer (500 x 1,500
        of 75,000 entries, hinge, weak ridge: 81 -> 8 ms); where they fail, 300 x 800, absolute:
        21 -> 37 ms.
        """
        design = self.problem.design.without_zeros
        if self.has_kinks or self.d > self.n:
            sweeps = 10.0 + 0.5 * min(self.n, self.d)
            return sweeps * (_SPARSE_SWEEPS_FACTOR if design.is_sparse else 1.0)
        return _SWEEPS_OF_PRODUCTS if design.is_sparse else 4.0 + self.d / 12.0
