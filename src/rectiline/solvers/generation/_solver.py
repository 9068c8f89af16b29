"""`generation`: column and constraint generation.

Piecewise-linear losses: a linear program whose restricted dual lives in HiGHS, see `_master.py` and
`_linear.py`. Losses with curvature, and sorted penalties with many distinct strengths: the same working
set with a second-order master, see `_curved.py`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from rectiline.problems import Certificate, Problem
from rectiline.problems.forms import CompositeForm, Form, FormPoint, LinearProgramForm
from rectiline.solvers._base import Budget, Step
from rectiline.solvers.generation._highs import highs_refusal
from rectiline.solvers.generation._linear import LinearState, advance_linear
from rectiline.solvers.generation._start import Plan, start_linear

__all__ = ["Generation"]

_MANY_SAMPLES = 8  # times the columns: then a subsample is a good start
_STARTS = ("auto", "screening", "smoothed", "averaged", "subsample", "path")


@dataclass(frozen=True, slots=True)
class Generation:
    """Options of the solver.

    Parameters
    ----------
    start : {"auto", "screening", "smoothed", "averaged", "subsample"}, default="auto"
        First guess: columns most correlated with the slopes at zero; the smoothed problem on
        screened columns; the same averaged over subsamples; the exact program on a subsample.
    columns, samples : bool, optional
        Whether columns and samples are generated; by default where there are many of them.
    columns_per_round, samples_per_round : int
        Most that one round adds.
    """

    start_with: str = "auto"
    columns: bool | None = None
    samples: bool | None = None
    columns_per_round: int = 200
    samples_per_round: int = 400

    name: ClassVar[str] = "generation"
    form: ClassVar[type[Form]] = CompositeForm
    default_max_iter: ClassVar[int] = 500
    first_burst: ClassVar[int] = 64

    def __post_init__(self) -> None:
        if self.start_with not in _STARTS:
            allowed = ", ".join(map(repr, _STARTS))
            raise ValueError(f"start_with={self.start_with!r}: must be one of {allowed}.")
        for name in ("columns_per_round", "samples_per_round"):
            if not getattr(self, name) >= 1:
                raise ValueError(f"{name}={getattr(self, name)!r}: must be a positive integer.")

    @staticmethod
    def refuses(problem: Problem) -> str | None:
        """Return why generation does not apply, or None."""
        reason = LinearProgramForm.accepts(problem)
        return reason if reason is not None else highs_refusal()

    def start(self, form: CompositeForm, warm: FormPoint | None, seed: int) -> LinearState:
        """Return the first restricted problem."""
        linear = LinearProgramForm.apply(form.problem)
        return start_linear(linear, warm, self._plan(linear), seed)

    def _plan(self, form: LinearProgramForm) -> Plan:
        n, d = form.design.n_samples, form.design.n_features
        n_units = form.units.sample.size
        columns = d > 60 if self.columns is None else self.columns
        samples = n_units > 1000 if self.samples is None else self.samples
        start = self.start_with
        if start == "auto":
            start = "subsample" if n > max(_MANY_SAMPLES * d, 2000) else "path"
        return Plan(start, columns, samples, self.columns_per_round, self.samples_per_round)

    def advance(self, state: LinearState, budget: Budget) -> Step:
        """Do rounds of pricing."""
        return advance_linear(state, budget)

    def point(self, state: LinearState) -> FormPoint:
        """Return the best pair so far."""
        return state.point

    def learn(self, state: LinearState, certificate: Certificate) -> None:
        """Nothing to learn: every round computes its own gap."""
