"""The answer of a solve, its proof and how it was found."""

from __future__ import annotations

import math
import os
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Generic, TypeVar

import numpy as np
from numpy.typing import NDArray

from rectiline._frames import coefficient_frame, html_table
from rectiline._typing import Vector
from rectiline.problems import Certificate, DualPoint, InfeasibilityCertificate, Problem
from rectiline.problems.proofs import (
    ProvedData,
    Statement,
    contradiction_in_words,
    save_proofs,
    with_constraints,
)
from rectiline.solvers._base import Progress
from rectiline.solvers._status import Status

if TYPE_CHECKING:
    import pandas as pd


Coef = TypeVar("Coef")
Level = TypeVar("Level")
Dual = TypeVar("Dual")


@dataclass(frozen=True, eq=False)
class Answer(Generic[Coef, Level, Dual]):
    """What `Solution` and `MultiTaskSolution` have in common; see there."""

    coef: Coef
    intercept: Level
    status: Status
    solver: str
    n_iter: int
    seconds: float
    dual: Dual
    certificate: Certificate
    reason: str = ""
    history: tuple[Progress, ...] = ()

    @property
    def objective(self) -> float:
        """The primal objective at the answer."""
        return self.certificate.primal

    def __repr__(self) -> str:
        proof = self.certificate
        return (
            f"{type(self).__name__}({self.status.value}, objective={proof.primal:.10g}, "
            f"relative_gap={proof.relative_gap:.1e}, violation={proof.violation:.1e}, "
            f"solver={self.solver!r}, n_iter={self.n_iter}, seconds={self.seconds:.3g})"
        )


def fields_of(run: Any, status: Status) -> dict[str, Any]:
    """Return the fields of an answer that the run of its solvers knows."""
    assert run.best.pair is not None
    coef, intercept, dual = run.best.pair
    return {
        "coef": coef,
        "intercept": intercept,
        "status": status,
        "solver": run.best.author,
        "n_iter": run.n_iter,
        "seconds": run.clock.seconds,
        "dual": dual,
        "certificate": run.best.certificate,
        "reason": "; then ".join(run.reasons),
        "history": tuple(run.history),
    }


@dataclass(frozen=True, eq=False, repr=False)
class Solution(Answer[Vector, float, DualPoint]):
    """The answer, its proof and how it was found.

    Attributes
    ----------
    coef : ndarray of shape (n_features,)
    intercept : float
    status : Status
        How the solve ended; ``status.advice`` says what to do about it.
    solver : str
        Name of the solver that found the answer.
    n_iter : int
        Iterations of all solvers that ran, each in its own unit (sweeps, Newton steps).
    seconds : float
        Wall time of the whole call.
    dual : DualPoint
        Multipliers behind the certificate, repaired to be feasible.
    certificate : Certificate
        What is proved about the answer.
    reason : str
        Which solvers ran, in this order, and why.
    history : tuple of Progress
        The certified points met on the way.
    infeasibility : InfeasibilityCertificate or None
        The proof, when the status is "infeasible"; `coef` is then NaN.
    direction : ndarray of shape (n_features,) or None
        Along which the objective falls without end, when the status is "unbounded".
    feature_names : ndarray of str or None
        Names of the columns, where the problem was made from a data frame.
    passes : int or None
        Full passes over the rows of the solver "passes", the draw of its sample not counted.
    rows_kept : int or None
        Most rows that the solver "passes" kept from one pass to the next.
    problem : Problem or None
        What was solved, with its data. Pickles and fitted estimators do not keep it.
    """

    infeasibility: InfeasibilityCertificate | None = None
    passes: int | None = None
    rows_kept: int | None = None
    problem: Problem | None = field(default=None, repr=False)
    feature_names: NDArray[Any] | None = field(default=None, repr=False)
    direction: Vector | None = field(default=None, repr=False)

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "problem": None}

    def save(
        self,
        path: str | os.PathLike[str],
        problem: Problem | None = None,
        columns: Sequence[str] | None = None,
        target: str | None = None,
    ) -> None:
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
            The problem that was solved; needed if the solution comes from a pickle or from a
            fitted estimator.
        columns : sequence of str, optional
            Names of the columns of X, by which the checker finds them in a table.
        target : str, optional
            Name of the column of targets in that table.

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
        problem = self.problem if problem is None else problem
        if problem is None:
            raise ValueError(
                "save: this solution does not hold its problem; pass it: save(path, problem)."
            )
        data = ProvedData.of(problem, columns, target)
        save_proofs(path, [Statement(problem, self)], data)

    def to_frame(self, names: Sequence[Any] | None = None) -> pd.DataFrame:
        """Return the coefficients and the intercept as a pandas data frame.

        Parameters
        ----------
        names : sequence of str, optional
            Names of the columns of X; by default those of the data frame that the problem was
            made from, or positions.

        Returns
        -------
        pandas.DataFrame
            One row per column of X and a last row "(intercept)"; one column, "coef".
        """
        if names is None and self.feature_names is not None:
            names = list(self.feature_names)
        return coefficient_frame(
            self.coef, self.intercept, names, ["coef"], caller="Solution.to_frame"
        )

    def _repr_html_(self) -> str:
        rows = [
            ("status", self.status),
            ("objective", self.objective),
            ("relative gap", f"{self.certificate.relative_gap:.1e}"),
            ("violation", f"{self.certificate.violation:.1e}"),
            ("solver", f"{self.solver}, {self.n_iter} iterations, {self.seconds:.3g} s"),
        ]
        return html_table("Solution", rows)

    def __repr__(self) -> str:
        if self.infeasibility is not None:
            return f"Solution({self.status.value}: no coefficients satisfy the constraints)"
        return super().__repr__()


def answer_of(run: Any, status: Status, proof: InfeasibilityCertificate | None) -> Solution:
    """Return the answer of a run; `proof` says that there is no feasible point."""
    problem = run.problem if isinstance(run.problem, Problem) else run.problem.problem
    if proof is not None:
        proof = contradiction_in_words(proof, problem.constraint_rows, problem.feature_names)
        n = problem.n_samples if problem.is_in_memory else 0
        dual = DualPoint(np.zeros(n), proof.inequality, proof.equality)
        run.best.pair = np.full(problem.n_features, math.nan), math.nan, dual
        run.best.author, run.reasons = "none", ["the constraints contradict each other"]
    given = fields_of(run, status)
    if proof is None and isinstance(given["dual"], DualPoint):
        given["dual"] = with_constraints(problem, given["coef"], given["dual"])
    return Solution(
        **given,
        infeasibility=proof,
        problem=problem,
        feature_names=problem.feature_names,
        direction=run.direction,
        **run.counted(),
    )


def note_answers(stop: KeyboardInterrupt, runs: Sequence[Any]) -> None:
    """Give the exception the best answers so far, a list of them for several problems."""
    if all(run.best.pair is not None and np.any(run.best.pair[0]) for run in runs):
        found = [answer_of(run, Status.STOPPED, None) for run in runs]
        stop.solution = found[0] if len(found) == 1 else found  # type: ignore[attr-defined]
        stop.add_note("rectiline: the best answer so far is `solution` of this exception.")
