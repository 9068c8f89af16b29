"""`generation`: column and constraint generation.

Piecewise-linear losses: a linear program whose restricted dual is kept alive, in the compiled
simplex method where X is dense and all columns are boxed and in HiGHS otherwise (`_programs.py`),
see `_master.py` and `_linear.py`. Losses with curvature, and sorted penalties with many distinct
strengths: the same working set with a second-order master, see `_curved.py`. Groups with too many
sign vectors for a linear program are left to the interior point method.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import ClassVar

import numpy as np

from rectiline.exceptions import UnsupportedProblemError
from rectiline.problems import Problem
from rectiline.problems.forms import CompositeForm, FormPoint, LinearProgramForm
from rectiline.solvers._base import Budget, Step
from rectiline.solvers.generation._curved import CurvedState, advance_curved, start_curved
from rectiline.solvers.generation._linear import (
    LinearState,
    advance_linear,
    restart_linear,
    start_linear,
)
from rectiline.solvers.generation._programs import highs_refusal, is_boxed, is_mostly_zeros

# Relative gap of a solution that only serves as a start, and most rounds until then.
_START_GAP, _START_ROUNDS = 1e-3, 50
_ROWS_PER_COLUMN_FOR_SUBSAMPLE = 50  # with more rows, a subsample is a good start
_COLUMNS_PER_ROW_OF_WIDE_SLOPE = 10  # with more, long levels of a Slope make the program too large
# 100 x 20,000 with 10 in a level is still solved as a linear program.
_COEFFICIENTS_PER_ROW_OF_LONG_LEVEL = 0.2
_MASTERS = ("auto", "linear", "second_order")
_STARTS = ("auto", "path", "subsample")


@dataclass(slots=True, eq=False)
class GenerationState:
    """The restricted problem with its master, which may change on the way.

    While it `is_rough` it is a program that is soon solved, whose solution is only a start.
    """

    form: CompositeForm
    engine: LinearState | CurvedState
    is_rough: bool = False


@dataclass(frozen=True, slots=True)
class Generation:
    """Column and constraint generation, `solver="generation"`; its fields are options.

    Parameters
    ----------
    start_with : {"auto", "path", "subsample"}, default="auto"
        First guess: a path of decreasing strengths, from columns most correlated with the slopes
        at zero on; the program on an eighth of the samples, started the same way. A `warm_start`,
        such as an answer of the solver "smoothed", takes its place.
    columns, samples : bool, optional
        Whether columns and samples are generated; by default where there are many of them.
    columns_per_round : int, default=200
        Most columns, or sign vectors of groups, that one round adds.
    samples_per_round : int, optional
        Most samples that one round adds; by default a tenth of them if X is sparse and a fiftieth
        if it is dense, but at least 400.
    master : {"auto", "linear", "second_order"}, default="auto"
        What solves the restricted problem: the linear program where there is one, or the proximal
        method of multipliers. By default an interior point method takes over when the sign vectors
        of groups are too many.
    patience : float, default=inf
        Products that the simplex method, or the Newton steps of the proximal method, may take
        before the problem is left to another solver.

    Examples
    --------
    >>> import numpy as np
    >>> import rectiline as rl
    >>> problem = rl.Problem(np.eye(3), [1.0, 2.0, 3.0], "absolute", "l1")
    >>> rl.solve(problem, "generation", columns_per_round=50).solver
    'generation'
    """

    start_with: str = "auto"
    columns: bool | None = None
    samples: bool | None = None
    columns_per_round: int = 200
    samples_per_round: int | None = None
    master: str = "auto"
    # No part of what it is: a session goes on with more of it.
    patience: float = field(default=np.inf, compare=False)

    name: ClassVar[str] = "generation"
    form: ClassVar[type[CompositeForm]] = CompositeForm
    default_max_iter: ClassVar[int] = 500
    first_burst: ClassVar[int] = 64

    def __post_init__(self) -> None:
        for name, words in (("start_with", _STARTS), ("master", _MASTERS)):
            value, allowed = getattr(self, name), ", ".join(map(repr, words))
            if value not in words:
                raise ValueError(f"{name}={value!r}: must be one of {allowed}.")
        if not self.patience > 0:
            raise ValueError(f"patience={self.patience!r}: must be positive.")
        for name in ("columns_per_round", "samples_per_round"):
            value = getattr(self, name)
            if value is not None and not value >= 1:
                raise ValueError(f"{name}={value!r}: must be a positive integer.")

    @staticmethod
    def refuses(problem: Problem) -> str | None:
        """Return why generation does not apply, or None."""
        if problem.is_separable and problem.columns.rho.any():
            return "the penalty has a ridge part, so there is nothing to generate"
        reason = highs_refusal()
        if reason is None or LinearProgramForm.accepts(problem) is not None:
            return None
        return None if is_boxed(LinearProgramForm(problem)) else reason

    def start(self, form: CompositeForm, warm: FormPoint | None, seed: int) -> GenerationState:
        """Return the first restricted problem."""
        if self._is_linear(form.problem):
            linear = LinearProgramForm(form.problem)
            return GenerationState(form, start_linear(linear, warm, self.plan(linear), seed))
        if warm is None and self.master == "auto" and form.sorted_strengths is not None:
            unsorted = self._unsorted(form, seed)
            if unsorted is not None:
                return GenerationState(form, unsorted, is_rough=True)
        return GenerationState(form, self._second_order(form, warm))

    def _unsorted(self, form: CompositeForm, seed: int) -> LinearState | None:
        """Return the program for equal strengths."""
        assert form.sorted_strengths is not None
        few = min(2 * form.design.n_samples, form.sorted_strengths.size)
        equal = np.full(form.sorted_strengths.size, form.sorted_strengths[:few].mean())
        problem = form.problem.with_penalty(type(form.penalty)(equal))  # type: ignore[call-arg]
        if form.n_constraints or LinearProgramForm.accepts(problem) is not None:
            return None
        linear = LinearProgramForm(problem)
        return start_linear(linear, None, self.plan(linear), seed)

    def restart(self, state: GenerationState, form: CompositeForm) -> GenerationState | None:
        """Go on with the program, its basis and its columns at another strength."""
        engine = state.engine
        if not isinstance(engine, LinearState) or not _differ_in_strength(form, state.form):
            return None
        restart_linear(engine, LinearProgramForm(form.problem), self.patience)
        return GenerationState(form, engine)

    def _second_order(self, form: CompositeForm, warm: FormPoint | None) -> CurvedState:
        return start_curved(
            form, warm, 2 * self.columns_per_round, self.columns is False, self.patience
        )

    def _is_linear(self, problem: Problem) -> bool:
        if self.master == "second_order":
            return False
        reason = LinearProgramForm.accepts(problem)
        if self.master == "linear" and reason is not None:
            raise UnsupportedProblemError(f"master='linear': {reason}.")
        if reason is None and self.master == "auto" and not problem.is_separable:
            return not _has_long_levels(LinearProgramForm(problem))
        return reason is None

    def plan(self, form: LinearProgramForm) -> Generation:
        """Return these options with what is generated, and from which start, filled in."""
        n, d = form.design.n_samples, form.design.n_features
        n_units = form.units.sample.size
        columns = d > 60 if self.columns is None else self.columns
        samples = n_units > 1000 if self.samples is None else self.samples
        start = self.start_with
        if start == "auto":
            start = "subsample" if n > max(_ROWS_PER_COLUMN_FOR_SUBSAMPLE * d, 2000) else "path"
        units = self.samples_per_round
        if units is None:
            units = max(n_units // (10 if is_mostly_zeros(form.design) else 50), 400)
        return replace(
            self, start_with=start, columns=columns, samples=samples, samples_per_round=units
        )

    def advance(self, state: GenerationState, budget: Budget) -> Step:
        """Do rounds of pricing; programs of groups that are lost are left to other solvers."""
        if state.is_rough:
            assert isinstance(state.engine, LinearState)
            rough = replace(budget, iterations=_START_ROUNDS, relative_gap=_START_GAP)
            advance_linear(state.engine, rough)
            state.engine = self._second_order(state.form, state.engine.point)
            state.is_rough = False
        engine = state.engine
        if isinstance(engine, CurvedState):
            return advance_curved(engine, budget)
        return advance_linear(engine, budget)

    def point(self, state: GenerationState) -> FormPoint:
        """Return the best pair so far."""
        return state.engine.point


def _has_long_levels(form: LinearProgramForm) -> bool:
    """Whether X is wide and the larger strengths of a Slope fall on many coefficients."""
    n = form.design.n_samples
    if form.levels is None or form.design.n_features <= _COLUMNS_PER_ROW_OF_WIDE_SLOPE * n:
        return False
    return bool((form.levels.n_largest > _COEFFICIENTS_PER_ROW_OF_LONG_LEVEL * n).any())


def _differ_in_strength(new: CompositeForm, old: CompositeForm) -> bool:
    """Whether two forms share everything but the strength of their penalty, which is not zero."""
    a, b = new.problem, old.problem
    if a.data is not b.data or a.constraints is not b.constraints:
        return False
    if a.penalty is None or b.penalty is None or a.penalty.is_zero or b.penalty.is_zero:
        return False
    return bool(b.penalty.with_strength(a.penalty.strength) == a.penalty)
