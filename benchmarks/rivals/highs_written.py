"""HiGHS on programs as the column generation paper writes them: the full LP, and its group LP."""

from __future__ import annotations

import time
from typing import Any

import numpy as np
from scipy import sparse

from ..objective import Objective
from ._base import Answer, Rival, refuse

_FIRST_GROUPS = 50
_GROUPS_PER_ROUND = 50


def _program(highspy: Any, matrix: Any, cost: Any, free: Any, right: Any) -> Any:
    """``min cost'x`` with ``matrix x >= right`` and x >= 0 except where `free`."""
    matrix = sparse.csc_matrix(matrix)
    infinity = highspy.kHighsInf
    lp = highspy.HighsLp()
    lp.num_row_, lp.num_col_ = matrix.shape
    lp.col_cost_ = cost
    lp.col_lower_ = np.where(free, -infinity, 0.0)
    lp.col_upper_ = np.full(cost.size, infinity)
    lp.row_lower_, lp.row_upper_ = right, np.full(right.size, infinity)
    lp.a_matrix_.format_ = highspy.MatrixFormat.kColwise
    lp.a_matrix_.start_ = matrix.indptr
    lp.a_matrix_.index_ = matrix.indices
    lp.a_matrix_.value_ = matrix.data
    return lp


def _solver(highspy: Any, tol: float, time_limit: float) -> Any:
    solver = highspy.Highs()
    solver.setOptionValue("output_flag", False)
    solver.setOptionValue("threads", 1)
    solver.setOptionValue("time_limit", float(time_limit))
    solver.setOptionValue("primal_feasibility_tolerance", tol)
    solver.setOptionValue("dual_feasibility_tolerance", tol)
    return solver


class HiGHSPrimal(Rival):
    """The full L1-SVM LP: slacks, two parts of every coefficient, a free intercept."""

    package = "highspy"
    tolerances = (1e-7, 1e-9)
    tight = 1e-10

    def skip(self, objective: Objective) -> str | None:
        return refuse(objective, losses=("hinge",), ridge=False)

    def prepare(self, objective: Objective) -> None:
        import highspy

        self.highspy, self.objective = highspy, objective
        signed = sparse.csc_matrix(sparse.diags(objective.y) @ sparse.csc_matrix(objective.X))
        blocks = [sparse.identity(objective.n, format="csc"), signed, -signed]
        cost = [objective.weight, np.full(2 * objective.d, objective.l1)]
        if objective.case.intercept:
            blocks.append(sparse.csc_matrix(objective.y[:, None]))
            cost.append(np.zeros(1))
        costs = np.concatenate(cost)
        free = np.arange(costs.size) >= objective.n + 2 * objective.d
        ones = np.ones(objective.n)
        self.lp = _program(highspy, sparse.hstack(blocks, format="csc"), costs, free, ones)

    def solve(self, tol: float, time_limit: float) -> Any:
        solver = _solver(self.highspy, tol, time_limit)
        solver.setOptionValue("presolve", "off")  # on these programs it only costs time
        solver.passModel(self.lp)
        solver.run()
        return solver

    def answer(self, raw: Any) -> Answer:
        n, d = self.objective.n, self.objective.d
        solution = raw.getSolution()
        x = np.array(solution.col_value)
        dual = -self.objective.y * np.array(solution.row_dual)
        intercept = float(x[-1]) if self.objective.case.intercept else 0.0
        word = {
            "iterations": int(raw.getInfo().simplex_iteration_count),
            "status": raw.modelStatusToString(raw.getModelStatus()),
        }
        return Answer(x[n : n + d] - x[n + d : n + 2 * d], intercept, dual, word=word)


class HiGHSGroups(Rival):
    """The paper's column generation for groups: v_g above every |b_j| of a group that is in.

    Groups enter by their reduced cost, ``strength - sum_j |sum_i y_i x_ij pi_i|``, from those most
    correlated with y; the basis is kept. The paper stops at a reduced cost of 0.01: here the
    tolerance, relative to the strength, says where.
    """

    package = "highspy"
    tolerances = (1e-2, 1e-4, 1e-6, 1e-8)
    tight = 1e-9

    def skip(self, objective: Objective) -> str | None:
        if objective.groups is None or objective.case.loss != "hinge":
            return "for hinge with group_linf only"
        return None

    def prepare(self, objective: Objective) -> None:
        import highspy

        self.highspy, self.objective = highspy, objective
        self.signed = np.asarray(objective.X) * objective.y[:, None]
        order = np.argsort(objective.groups, kind="stable")
        sizes = np.bincount(objective.groups)
        self.groups = np.split(order, np.cumsum(sizes)[:-1])

    def _totals(self, pi: Any) -> Any:
        size = np.abs(self.signed.T @ pi)
        return np.bincount(self.objective.groups, weights=size)

    def solve(self, tol: float, time_limit: float) -> Any:
        ends = time.perf_counter() + time_limit
        objective, n = self.objective, self.objective.n
        solver = _solver(self.highspy, 1e-9, time_limit)
        solver.setOptionValue("presolve", "off")
        intercept = int(objective.case.intercept)
        first = sparse.identity(n, format="csc")
        if intercept:
            first = sparse.hstack([first, sparse.csc_matrix(objective.y[:, None])])
        cost = np.concatenate([objective.weight, np.zeros(intercept)])
        free = np.arange(n + intercept) >= n
        solver.passModel(_program(self.highspy, first, cost, free, np.ones(n)))
        self.places, self.start, self.rows = [], n + intercept, n
        new = np.argsort(-self._totals(objective.weight))[:_FIRST_GROUPS]
        inside = np.zeros(len(self.groups), dtype=bool)
        while new.size:
            inside[new] = True
            for g in new:
                self._add(solver, self.groups[g])
            solver.setOptionValue("time_limit", max(ends - time.perf_counter(), 0.0))
            solver.run()
            pi = np.array(solver.getSolution().row_dual)[:n]
            excess = self._totals(pi) - objective.l1
            excess[inside] = -np.inf
            new = np.flatnonzero(excess > tol * objective.l1)
            new = new[np.argsort(-excess[new])][:_GROUPS_PER_ROUND]
            if time.perf_counter() >= ends:
                break
        return solver

    def _add(self, solver: Any, columns: Any) -> None:
        """Add v_g, the parts of its coefficients and the rows ``v_g - b+ - b- >= 0``."""
        n, k, infinity = self.objective.n, columns.size, self.highspy.kHighsInf
        block = self.signed[:, columns]
        values = np.hstack([np.zeros((n, 1)), block, -block])
        parts = sparse.csc_matrix(values)
        count = 2 * k + 1
        cost = np.zeros(count)
        cost[0] = self.objective.l1
        solver.addCols(
            count,
            cost,
            np.zeros(count),
            np.full(count, infinity),
            parts.nnz,
            parts.indptr[:-1].astype(np.int32),
            parts.indices.astype(np.int32),
            parts.data,
        )
        places = np.arange(k, dtype=np.int32)
        index = np.column_stack(
            [np.full(k, self.start), self.start + 1 + places, self.start + 1 + k + places]
        )
        solver.addRows(
            k,
            np.zeros(k),
            np.full(k, infinity),
            3 * k,
            3 * places,
            index.ravel().astype(np.int32),
            np.tile([1.0, -1.0, -1.0], k),
        )
        self.places.append((columns, self.start + 1))
        self.start += count

    def answer(self, raw: Any) -> Answer:
        objective, n = self.objective, self.objective.n
        solution = raw.getSolution()
        x, coef = np.array(solution.col_value), np.zeros(objective.d)
        for columns, first in self.places:
            k = columns.size
            coef[columns] = x[first : first + k] - x[first + k : first + 2 * k]
        intercept = float(x[n]) if objective.case.intercept else 0.0
        dual = -objective.y * np.array(solution.row_dual)[:n]
        word = {"status": raw.modelStatusToString(raw.getModelStatus())}
        return Answer(coef, intercept, dual, word=word)
