"""The words that solvers and the driver share."""

from __future__ import annotations

import math
import os
import weakref
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import TYPE_CHECKING, Any, ClassVar, Protocol

import numpy as np
from numpy.typing import NDArray

from rectiline._frames import coefficient_frame
from rectiline.problems import (
    Certificate,
    DualPoint,
    InfeasibilityCertificate,
    Problem,
    save_infeasibility,
    save_optimality,
)

if TYPE_CHECKING:
    import pandas as pd

Vector = NDArray[np.float64]
Pair = tuple[Vector, float, DualPoint]

__all__ = [
    "Budget",
    "Callback",
    "Pair",
    "Progress",
    "Solution",
    "Solver",
    "Stage",
    "Status",
    "Step",
    "infeasible_solution",
]


class Status(StrEnum):
    """How a solve ended. Members compare equal to plain strings."""

    SOLVED = "solved"
    ITERATION_LIMIT = "iteration_limit"
    TIME_LIMIT = "time_limit"
    INFEASIBLE = "infeasible"
    STOPPED = "stopped"


@dataclass(frozen=True, slots=True)
class Progress:
    """One certified point on the way, as callbacks and `Solution.history` see it."""

    solver: str
    n_iter: int
    seconds: float
    certificate: Certificate

    @property
    def relative_gap(self) -> float:
        """The certified relative gap."""
        return self.certificate.relative_gap


Callback = Callable[[Progress], Any]


@dataclass(frozen=True, slots=True)
class Budget:
    """What one burst of a solver may spend, and where it should stop by its own estimate."""

    iterations: int
    seconds: float
    relative_gap: float
    objective: float | None = None  # certified so far; None before the first certificate

    @property
    def absolute_gap(self) -> float:
        """The target in units of the objective, once that is known; 0 before."""
        return 0.0 if self.objective is None else self.relative_gap * abs(self.objective)


@dataclass(frozen=True, slots=True)
class Step:
    """What one burst did. ``reached``: the solver's own estimate met the target."""

    iterations: int
    reached: bool
    exhausted: bool = False  # the solver cannot get any further on its own


class Solver(Protocol):
    """A solver moves a primal-dual pair of a form; whether the pair is good is not its business.

    Concrete solvers are frozen dataclasses whose fields are their options.
    """

    name: ClassVar[str]
    form: ClassVar[type[Any]]  # a Form
    default_max_iter: ClassVar[int]
    first_burst: ClassVar[int]  # iterations until the first certificate; bursts double from there

    @staticmethod
    def refuses(problem: Problem) -> str | None:
        """Return why this solver cannot take the problem, or None if it can."""

    def start(self, form: Any, warm: Any | None, seed: int) -> Any:
        """Return the solver's state at a starting point (`warm` is a point of the form)."""

    def advance(self, state: Any, budget: Budget) -> Step:
        """Move the state within the budget."""

    def point(self, state: Any) -> Any:
        """Return the current primal-dual pair as a point of the form."""

    def learn(self, state: Any, certificate: Certificate) -> None:
        """Take note of what has been proved about the current pair."""


@dataclass(frozen=True, slots=True)
class Stage:
    """A configured solver and why it is its turn."""

    method: Solver
    reason: str


@dataclass(frozen=True, eq=False)
class Solution:
    """The answer, its proof and how it was found.

    Attributes
    ----------
    coef : ndarray of shape (n_features,)
    intercept : float
    status : Status
        "solved", "iteration_limit", "time_limit", "infeasible" or "stopped".
    solver : str
        Name of the solver that produced the answer.
    n_iter : int
        Iterations in that solver's own unit (sweeps, Newton steps).
    seconds : float
        Wall time of the whole call.
    dual : DualPoint
        Multipliers behind the certificate, repaired to be feasible.
    certificate : Certificate
        What is proved about the answer.
    reason : str
        Why this solver was used, and any switches on the way.
    history : tuple of Progress
        The certified points met on the way.
    infeasibility : InfeasibilityCertificate or None
        The proof, when the status is "infeasible"; `coef` is then NaN.
    """

    coef: Vector
    intercept: float
    status: Status
    solver: str
    n_iter: int
    seconds: float
    dual: DualPoint
    certificate: Certificate
    reason: str = ""
    history: tuple[Progress, ...] = ()
    infeasibility: InfeasibilityCertificate | None = None
    # Known while the caller keeps the problem alive; a solution alone does not hold the data.
    problem: weakref.ref[Problem] | None = field(default=None, repr=False)

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "problem": None}

    def save(self, path: str | os.PathLike[str], problem: Problem | None = None) -> None:
        """Write the proof of this answer to a file that ``rectiline verify`` checks.

        The file holds the coefficients, the multipliers, the problem without its data, and
        checksums of the data. It is checked once before it is written, by `rectiline.verify`, whose
        bounds on rounding are coarser than those of the certificate: the gap that it claims may be
        larger.

        Parameters
        ----------
        path : str or path
            By convention with the ending ``.rlcert``.
        problem : Problem, optional
            The problem that was solved; needed if it is not kept anywhere else, or if the solution
            comes from a pickle.

        Examples
        --------
        >>> import os, tempfile
        >>> import numpy as np
        >>> import rectiline as rl
        >>> problem = rl.Problem(np.eye(2), [1.0, 2.0], loss=rl.losses.SquaredError())
        >>> path = os.path.join(tempfile.mkdtemp(), "fit.rlcert")
        >>> rl.solve(problem).save(path)
        >>> round(rl.verify.check(path, [(np.eye(2), np.array([1.0, 2.0]))]).objective, 6)
        0.125
        """
        if problem is None:
            problem = self.problem() if self.problem is not None else None
        if problem is None:
            raise ValueError(
                "save: the problem of this solution is gone; pass it: save(path, problem)."
            )
        if self.infeasibility is not None:
            save_infeasibility(path, problem.constraint_rows, self.infeasibility)
        else:
            save_optimality(path, problem, self.coef, self.intercept, self.dual)

    @property
    def objective(self) -> float:
        """The primal objective at the answer."""
        return self.certificate.primal

    def to_frame(self, names: Sequence[Any] | None = None) -> pd.DataFrame:
        """Return the coefficients and the intercept as a pandas data frame.

        Parameters
        ----------
        names : sequence of str, optional
            Names of the columns of X; positions by default.

        Returns
        -------
        pandas.DataFrame
            One row per column of X and a last row "(intercept)"; one column, "coef".
        """
        return coefficient_frame(
            self.coef, self.intercept, names, ["coef"], caller="Solution.to_frame"
        )

    def __repr__(self) -> str:
        if self.infeasibility is not None:
            return f"Solution({self.status.value}: no coefficients satisfy the constraints)"
        proof = self.certificate
        return (
            f"Solution({self.status.value}, objective={proof.primal:.10g}, "
            f"relative_gap={proof.relative_gap:.1e}, violation={proof.violation:.1e}, "
            f"solver={self.solver!r}, n_iter={self.n_iter}, seconds={self.seconds:.3g})"
        )


def infeasible_solution(
    problem: Problem, proof: InfeasibilityCertificate, seconds: float
) -> Solution:
    """Return the answer to a problem without feasible points."""
    nothing = DualPoint(np.zeros(problem.n_samples), proof.inequality, proof.equality)
    return Solution(
        coef=np.full(problem.n_features, math.nan),
        intercept=math.nan,
        status=Status.INFEASIBLE,
        solver="none",
        n_iter=0,
        seconds=seconds,
        dual=nothing,
        certificate=Certificate(math.inf, math.inf, math.inf, math.inf),
        reason="the constraints contradict each other",
        infeasibility=proof,
        problem=weakref.ref(problem),
    )
