"""Write the proofs of tasks that share a subspace, whose penalty is that of all coefficients."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import linalg

from rectiline._typing import Indices, Matrix
from rectiline.problems._multipliers import slopes_of
from rectiline.problems._multitask import MultiTaskProblem
from rectiline.problems._saved import ProvedData, constraint_arrays, curve_of

_ALLOWED = 1.0 - 2.0**-50  # the shares of directions must add up to their number or less


@dataclass(frozen=True, eq=False)
class TaskStatement:
    """A problem of several tasks on such data, and the answer that a file proves to be optimal.

    Attributes
    ----------
    problem : MultiTaskProblem
    solution : MultiTaskSolution
        Anything with `coef`, `intercept` and repaired multipliers `dual` of each task.
    rows : sequence of ndarray of int
        Which rows of the data each task has.
    outputs : sequence of int
        Which of the targets each task is about.
    """

    problem: MultiTaskProblem
    solution: Any
    rows: Sequence[Indices]
    outputs: Sequence[int]

    def tries(self, data: ProvedData) -> list[tuple[dict[str, Any], dict[str, Any]]]:
        """Return header and arrays of the problem; all slopes are listed."""
        problem, tasks, penalty = self.problem, self.problem.tasks, self.problem.penalty
        (p, m), free = self.solution.coef.shape, int(problem.fit_intercept)
        n, d = np.shape(data.X)[0], m * (p + free)
        header = {
            "kind": "optimality",
            "weights": "file",
            "losses": [curve_of(problem.loss)],
            "penalty": repr(penalty),
            "constraints": [repr(one) for one in tasks[0].constraints],
        }
        none = np.zeros(d)
        coef = np.append(self.solution.coef.T.ravel(), self.solution.intercept if free else [])
        places = [[*range(t * p, t * p + p), m * p + t if free else -1] for t in range(m)]
        arrays = {"coef": coef, "split_coef": coef, "rho": none, "l1": none, "strengths": none}
        arrays |= {"groups": np.full(d, -1), "columns": np.array(places)}
        arrays["copies"] = np.column_stack([np.zeros(m, dtype=np.int64), self.outputs])
        arrays["encoding"] = _encoding(problem.loss.of, data.labels)
        weight, slopes = np.zeros((n, m)), np.zeros((n, m))
        for t, (task, rows, dual) in enumerate(zip(tasks, self.rows, self.solution.dual)):
            weight[rows, t] = task.weight
            slopes[rows, t] = slopes_of(task.data.samples, np.asarray(dual.sample))
        listed = np.flatnonzero(weight)
        arrays |= {"weight": weight, "slope_rows": listed, "slopes": slopes.ravel()[listed]}
        blocks = [constraint_arrays(task.terms.region.rows, 0) for task in tasks]
        for name in ("A", "E"):
            block = linalg.block_diag(*(one[name] for one in blocks))
            arrays[name] = np.hstack([block, np.zeros((len(block), m * free))])
        for name in ("c", "f"):
            arrays[name] = np.concatenate([one[name] for one in blocks])
        for name, sizes in (("inequality", "c"), ("equality", "f")):
            found = [getattr(dual, name) for dual in self.solution.dual]
            full = [y if y.size else 0 * one[sizes] for y, one in zip(found, blocks)]
            arrays[name] = np.concatenate(full)
        arrays |= {"lower": np.full(d, -np.inf), "upper": np.full(d, np.inf)}
        return [(header, arrays | self._witnesses())]

    def _witnesses(self) -> dict[str, Any]:
        """Return the penalty, and what makes the bounds on it products of matrices."""
        problem, penalty, U = self.problem, self.problem.penalty, self.solution.coef
        (p, m), centred = U.shape, problem.center
        q = [
            task.terms.region.combined(dual) - task.design.tdot(np.asarray(dual.sample))
            for task, dual in zip(problem.tasks, self.solution.dual)
        ]
        Q = np.column_stack(q)
        Q = Q - Q.mean(axis=1, keepdims=True) if centred else Q
        weights = np.sort(problem.subspace(U).weights)[::-1][:m]
        shares = np.zeros(m)
        shares[: weights.size] = np.clip(weights, 0.0, 1.0) * _ALLOWED
        return {
            "tasks": np.arange(m * p).reshape(m, p).T,
            "shared": np.array([penalty.scale, penalty.eta, penalty.shared_dim, float(centred)]),
            "shares": shares,
            "turns": np.stack([_turn(problem.charged(U)), _turn(Q)]),
        }


def _turn(M: Matrix) -> Matrix:
    """Return eigenvectors of ``M'M``; the checker trusts them in nothing."""
    size = np.abs(M).max(initial=0.0) or 1.0
    return np.asarray(np.linalg.eigh((M / size).T @ (M / size))[1])


def _encoding(of: str, labels: Sequence[Any] | None) -> Matrix:
    """Return p, o and the factor of each label, or of all targets."""
    if labels is None:
        return np.array([[1.0 if of == "prediction" else -1.0, 0.0, 1.0]])
    return np.array([[-1.0, 0.0, 1.0], [1.0, 0.0, 1.0]])[-len(labels) :]
