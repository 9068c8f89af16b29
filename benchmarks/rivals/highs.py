"""HiGHS on the full dual LP, presolve off (on this form presolve only costs time)."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse

from ..objective import Objective
from ._base import Answer, Rival, refuse


class HiGHS(Rival):
    """Rows are columns of X: ``-l1 <= X'g <= l1`` (and ``sum g = 0``); b is the rows' dual."""

    package = "highspy"
    tolerances = (1e-7, 1e-9)
    tight = 1e-10

    def skip(self, objective: Objective) -> str | None:
        if any(np.any(piece.quad) for piece in objective.pieces):
            return f"the dual of {objective.case.loss} is no LP"
        return refuse(objective, ridge=False)

    def prepare(self, objective: Objective) -> None:
        import highspy

        self.highspy, self.objective = highspy, objective
        blocks = [sparse.csc_matrix(objective.X.T) for _ in objective.pieces]
        matrix = sparse.hstack(blocks, format="csc")
        limit = np.full(objective.d, objective.l1)
        if objective.case.intercept:
            matrix = sparse.vstack([matrix, np.ones((1, matrix.shape[1]))], format="csc")
            limit = np.append(limit, 0.0)
        pieces = objective.pieces
        lp = highspy.HighsLp()
        lp.num_col_, lp.num_row_ = matrix.shape[1], matrix.shape[0]
        lp.col_cost_ = np.concatenate([piece.at for piece in pieces])
        lp.col_lower_ = np.concatenate([piece.lo for piece in pieces])
        lp.col_upper_ = np.concatenate([piece.hi for piece in pieces])
        lp.row_lower_, lp.row_upper_ = -limit, limit
        lp.a_matrix_.format_ = highspy.MatrixFormat.kColwise
        lp.a_matrix_.start_ = matrix.indptr
        lp.a_matrix_.index_ = matrix.indices
        lp.a_matrix_.value_ = matrix.data
        self.lp = lp

    def solve(self, tol: float, time_limit: float) -> Any:
        solver = self.highspy.Highs()
        solver.setOptionValue("output_flag", False)
        solver.setOptionValue("presolve", "off")
        solver.setOptionValue("threads", 1)
        solver.setOptionValue("time_limit", float(time_limit))
        solver.setOptionValue("primal_feasibility_tolerance", tol)
        solver.setOptionValue("dual_feasibility_tolerance", tol)
        solver.passModel(self.lp)
        solver.run()
        return solver

    def answer(self, raw: Any) -> Answer:
        objective = self.objective
        solution = raw.getSolution()
        count = len(objective.pieces)
        dual = np.array(solution.col_value).reshape(count, objective.n).sum(axis=0)
        rows = np.array(solution.row_dual)
        word = {
            "iterations": int(raw.getInfo().simplex_iteration_count),
            "status": raw.modelStatusToString(raw.getModelStatus()),
        }
        intercept = float(rows[objective.d]) if objective.case.intercept else 0.0
        return Answer(rows[: objective.d], intercept, dual, word=word)
