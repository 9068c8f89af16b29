"""Accelerated proximal gradients on the coefficients alone, an oracle for tests.

The penalty Omega(U) is differentiable with Lipschitz constant ``L = 2 (alpha + beta)``, known in
advance, so there is no line search. A step is

    U+ = argmin over U, b    sum_t loss_t(u_t, b_t) + (L/2) |U - (S - grad Omega(S) / L)|^2

one rectified program per task without any subspace; the shift is an offset of its units. Momentum
as by Nesterov, dropped whenever it points uphill (the restart by gradient of O'Donoghue and
Candes). The multipliers of a step prove its answer.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import ClassVar

import numpy as np

from rectiline._typing import Matrix
from rectiline.problems import MultiTaskProblem
from rectiline.solvers._base import Budget, Step
from rectiline.solvers.multitask._blocks import Block, InnerAccuracy, Steps
from rectiline.solvers.multitask._held import Held
from rectiline.solvers.multitask.bcd import BCD, MultiTaskForm, make_steps, passes

__all__ = ["APG"]


@dataclass(slots=True, eq=False)
class APGState:
    """The last two points and the momentum."""

    problem: MultiTaskProblem
    steps: Steps
    answer: Block
    search: Matrix
    momentum: float = 1.0
    accuracy: InnerAccuracy = field(default_factory=InnerAccuracy)


@dataclass(frozen=True, slots=True)
class APG:
    """Accelerated proximal gradient method; its fields are options.

    Parameters
    ----------
    n_threads : int, default=1
        Threads that share the tasks.
    """

    n_threads: int = 1

    name: ClassVar[str] = "proximal"
    form: ClassVar[type] = MultiTaskForm
    first_burst: ClassVar[int] = 1
    default_max_iter: ClassVar[int] = 20_000

    def start(self, form: MultiTaskForm, warm: Block | None, seed: int) -> APGState:
        """Return the state at a given point."""
        near, steps = (
            warm or Block.zeros(form.problem.n_features, form.problem.n_tasks),
            make_steps(form.problem, seed, self.n_threads),
        )
        return APGState(form.problem, steps, near, near.coef)

    def advance(self, state: APGState, budget: Budget) -> Step:
        """Make some steps."""
        problem, done = state.problem, 0
        eta, lipschitz = problem.penalty.eta, problem.penalty.lipschitz
        # The program of a task charges (strength/2) u'(eta I)^-1 u: strength = eta L.
        held = Held(problem.even_subspace(0.0), eta, eta * lipschitz)
        for gap in passes(problem, state.steps, budget):
            before = state.answer
            slope = problem.charged(problem.penalty.gradient(problem.charged(state.search)))
            centre = state.search - slope / lipschitz
            inner = state.accuracy.next(gap, abs(problem.loss_at_zero))
            answer = state.steps.step(before, held, centre, inner)
            change = answer.coef - before.coef
            if float(np.sum((state.search - answer.coef) * change)) > 0.0:
                state.momentum = 1.0
            after = 0.5 * (1.0 + np.sqrt(1.0 + 4.0 * state.momentum**2))
            state.search = answer.coef + (state.momentum - 1.0) / after * change
            state.momentum, state.answer = after, answer
            done += 1
        return Step(done, False)

    refuses = staticmethod(BCD.refuses)
    point = BCD.point
