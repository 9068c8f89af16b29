"""`first_order`: rough answers from the Nesterov-smoothed loss.

The smoothing shrinks as the method goes on, and each certificate is taken at the exact
intercept and the smoothed slopes. Gaps of 1e-2 to 1e-4 are what to expect: the method is made
for initialising.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from rectiline.exceptions import UnsupportedProblemError
from rectiline.problems import Certificate, Problem
from rectiline.problems.forms import CompositeForm, FormPoint
from rectiline.solvers._base import Budget, Step
from rectiline.solvers.first_order._blocks import BlockDescent
from rectiline.solvers.first_order._smooth import SmoothedDescent, spread_of_arguments

Vector = NDArray[np.float64]

__all__ = ["FirstOrder"]

_METHODS = ("gradient", "blocks")
_LEAST_SMOOTHING = 1e-4
_AT_REST = 1e-4  # steps of this length, relative to the point, mean that it is time to smooth less
_SHRINK = 0.5


@dataclass(slots=True, eq=False)
class FirstOrderState:
    """The running method and its smoothing."""

    form: CompositeForm
    method: SmoothedDescent
    mu: float


@dataclass(frozen=True, slots=True)
class FirstOrder:
    """Options of the solver.

    Parameters
    ----------
    method : {"gradient", "blocks"}, default="gradient"
        Accelerated proximal gradient, or block coordinate descent over the groups of the penalty.
    smoothing : float, default=0.3
        First smoothing width, in units of the margin or of the spread of y.
    """

    method: str = "gradient"
    smoothing: float = 0.3

    name: ClassVar[str] = "first_order"
    form: ClassVar[type[CompositeForm]] = CompositeForm
    default_max_iter: ClassVar[int] = 5000
    first_burst: ClassVar[int] = 50

    def __post_init__(self) -> None:
        if self.method not in _METHODS:
            allowed = ", ".join(map(repr, _METHODS))
            raise ValueError(f"method={self.method!r}: must be one of {allowed}.")
        if not 0.0 < self.smoothing < np.inf:
            raise ValueError(f"smoothing={self.smoothing!r}: must be a finite number > 0.")

    @staticmethod
    def refuses(problem: Problem) -> str | None:
        """Return why proximal steps do not apply, or None."""
        if problem.has_constraint_rows:
            return "it has no proximal step for constraints that couple coefficients"
        return None

    def start(self, form: CompositeForm, warm: FormPoint | None, seed: int) -> FirstOrderState:
        """Return the method at zero, or at `warm`."""
        if self.method == "blocks":
            if form.sorted_strengths is not None:
                raise UnsupportedProblemError(
                    "method='blocks': a sorted penalty has no blocks; use method='gradient'."
                )
            method: SmoothedDescent = BlockDescent(form, seed)
        else:
            method = SmoothedDescent(form, form.design, None, form.prox, form.weight, seed)
        if warm is not None:
            method.start_at(warm.coef, warm.intercept)
        else:
            zero = np.zeros(form.design.n_features)
            method.start_at(zero, form.best_intercept(np.zeros(form.design.n_samples)))
        return FirstOrderState(form, method, self.smoothing * spread_of_arguments(form))

    def advance(self, state: FirstOrderState, budget: Budget) -> Step:
        """Take steps at the current smoothing, a few at a time."""
        done = 0
        while done < budget.iterations:
            share = min(25, budget.iterations - done)
            taken = state.method.run(share, state.mu, _AT_REST, budget.is_over)
            done += taken
            if budget.is_over():
                break
            if taken < share:
                self._smooth_less(state)
        return Step(done, False)

    def _smooth_less(self, state: FirstOrderState) -> None:
        floor = _LEAST_SMOOTHING * spread_of_arguments(state.form)
        state.mu = max(_SHRINK * state.mu, floor)

    def point(self, state: FirstOrderState) -> FormPoint:
        """Return the current pair, at the exact intercept."""
        form, method = state.form, state.method
        z = form.design.dot(method.coef)
        g = method.slopes(z + method.intercept, state.mu)
        return FormPoint(method.coef, form.best_intercept(z), g, np.zeros(form.n_constraints))

    def learn(self, state: FirstOrderState, certificate: Certificate) -> None:
        """Nothing to learn: the smoothing follows the length of the steps."""
