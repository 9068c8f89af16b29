"""Solvers of linear and quadratic programs, each on the form in which it is fastest.

The boxed dual has the variables x = (g per piece, h, e, xi):

    min  sum at g + quad g^2/2 + |h|^2/(2 l2) + c'xi
    s.t. X' sum g + h + e - A'xi = 0,   1' sum g = 0 (with an intercept),
         lo <= g <= hi,   |e| <= l1,   xi >= 0

so ``h + e = q`` of the dual. The multipliers of the equations are ``-(b, b0)``. The solver sees
``g / weight`` instead of ``g``: boxes of size one save all of them iterations.
"""

from __future__ import annotations

import time
from typing import Any

import numpy as np
from scipy import sparse as sp

from .. import quadratic
from ..objective import Objective
from ..quadratic import Program
from ._base import Answer, Rival, decades

Vector = np.ndarray


def boxed_dual(objective: Objective) -> Program:
    """Build the matrices."""
    d, unit = objective.d, objective.uniform_weight
    XT = sp.csc_matrix(unit * objective.X.T)
    ones, eye = np.ones(d), sp.eye(d, format="csc")
    parts: list[tuple[Any, ...]] = [
        (XT, unit**2 * piece.quad, unit * piece.at, piece.lo / unit, piece.hi / unit)
        for piece in objective.pieces
    ]
    if objective.l2 > 0:
        parts.append((eye, ones / objective.l2, 0.0 * ones, -np.inf * ones, np.inf * ones))
    if objective.l1 > 0:
        parts.append((eye, 0.0 * ones, 0.0 * ones, -objective.l1 * ones, objective.l1 * ones))
    if objective.A is not None and objective.c is not None:
        none = np.zeros(len(objective.c))
        parts.append((sp.csc_matrix(-objective.A.T), none, objective.c, none, none + np.inf))
    E = sp.hstack([part[0] for part in parts], format="csc")
    if objective.case.intercept:
        samples = objective.n * len(objective.pieces)
        row = np.concatenate([np.full(samples, unit), np.zeros(E.shape[1] - samples)])
        E = sp.vstack([E, sp.csr_matrix(row)], format="csc")
    P, q, lower, upper = (np.concatenate([part[k] for part in parts]) for k in range(1, 5))
    none = np.zeros(E.shape[0])
    return Program(P, q, E, none, none, lower, upper)


class BoxedDual(Rival):
    """A solver of quadratic programs on the boxed dual."""

    solver: Any
    options: dict[str, Any] = {}
    takes = {"constraints": True}

    def prepare(self, objective: Objective) -> None:
        self.objective = objective
        self.call = self.solver(boxed_dual(objective), **self.options)

    def solve(self, tol: float, time_limit: float) -> Any:
        return self.call.solve(tol, time_limit)

    def answer(self, raw: Any) -> Answer:
        """Coefficients from the multipliers or from h, whichever is better: a gift to the rival."""
        x, multipliers, word = self.call.read(raw)
        objective, count = self.objective, len(self.objective.pieces)
        n, d = objective.n, objective.d
        dual = objective.uniform_weight * x[: n * count].reshape(count, n).sum(axis=0)
        intercept = -float(multipliers[d]) if objective.case.intercept else 0.0
        candidates = [-multipliers[:d]]
        if objective.l2 > 0:
            candidates.append(x[n * count : n * count + d] / objective.l2)

        def badness(coef: Vector) -> tuple[float, float]:
            violation = objective.violation(coef)
            return (violation if violation > 1e-9 else 0.0, objective.value(coef, intercept))

        xi = None if objective.c is None else x[-len(objective.c) :]
        return Answer(min(candidates, key=badness), intercept, dual, xi, word)


class Clarabel(BoxedDual):
    package, solver = "clarabel", quadratic.Clarabel


class OSQP(BoxedDual):
    package, solver = "osqp", quadratic.OSQP
    options = {"polishing": True}


class PIQP(BoxedDual):
    package, solver = "piqp", quadratic.PIQP
    tolerances, tight = decades(1e-2, 1e-12), 1e-13


class HiGHS(Rival):
    """HiGHS on the full dual LP, presolve off (on this form presolve only costs time).

    Rows are columns of X: ``-l1 <= X'g <= l1`` (and ``sum g = 0``); b is the rows' dual.
    """

    package = "highspy"
    tolerances, tight = (1e-7, 1e-9), 1e-10
    takes: dict[str, Any] = {"ridge": False}

    def skip(self, objective: Objective) -> str | None:
        if any(np.any(piece.quad) for piece in objective.pieces):
            return f"the dual of {objective.case.loss} is no LP"
        return super().skip(objective)

    def program(self, objective: Objective) -> Program:
        pieces = objective.pieces
        matrix = sp.hstack([sp.csc_matrix(objective.X.T) for _ in pieces], format="csc")
        limit = np.full(objective.d, objective.l1)
        if objective.case.intercept:
            matrix = sp.vstack([matrix, np.ones((1, matrix.shape[1]))], format="csc")
            limit = np.append(limit, 0.0)
        at, lower, upper = (
            np.concatenate([getattr(piece, name) for piece in pieces])
            for name in ("at", "lo", "hi")
        )
        return Program(None, at, matrix, -limit, limit, lower, upper)

    def prepare(self, objective: Objective) -> None:
        self.objective = objective
        self.call = quadratic.HiGHS(self.program(objective), presolve="off")

    def solve(self, tol: float, time_limit: float) -> Any:
        return self.call.solve(tol, time_limit)

    def answer(self, raw: Any) -> Answer:
        x, rows, word = self.call.read(raw)
        n, d = self.objective.n, self.objective.d
        intercept = float(rows[d]) if self.objective.case.intercept else 0.0
        return Answer(rows[:d], intercept, x.reshape(-1, n).sum(axis=0), word=word)


def as_written(cost: Vector, matrix: Any, right: Vector, free: Vector) -> Program:
    """``min cost'x`` with ``matrix x >= right`` and x >= 0 except where `free`."""
    lower = np.where(free, -np.inf, 0.0)
    return Program(None, cost, matrix, right, np.full(right.size, np.inf), lower)


class HiGHSPrimal(HiGHS):
    """The full L1-SVM LP as its paper writes it: slacks, two parts of every coefficient."""

    takes = {"losses": ("hinge",), "ridge": False}

    def program(self, objective: Objective) -> Program:
        signed = sp.csc_matrix(sp.diags(objective.y) @ sp.csc_matrix(objective.X))
        blocks = [sp.identity(objective.n, format="csc"), signed, -signed]
        cost = [objective.weight, np.full(2 * objective.d, objective.l1)]
        if objective.case.intercept:
            blocks.append(sp.csc_matrix(objective.y[:, None]))
            cost.append(np.zeros(1))
        costs = np.concatenate(cost)
        free = np.arange(costs.size) >= objective.n + 2 * objective.d
        return as_written(costs, sp.hstack(blocks), np.ones(objective.n), free)

    def answer(self, raw: Any) -> Answer:
        x, rows, word = self.call.read(raw)
        n, d = self.objective.n, self.objective.d
        intercept = float(x[-1]) if self.objective.case.intercept else 0.0
        coef = x[n : n + d] - x[n + d : n + 2 * d]
        return Answer(coef, intercept, -self.objective.y * rows, word=word)


class HiGHSGroups(Rival):
    """The paper's column generation for groups: v_g above every |b_j| of a group that is in.

    Groups enter by their reduced cost, ``strength - sum_j |sum_i y_i x_ij pi_i|``, from those most
    correlated with y; the basis is kept. The paper stops at a reduced cost of 0.01: here the
    tolerance, relative to the strength, says where.
    """

    package = "highspy"
    tolerances, tight = (1e-2, 1e-4, 1e-6, 1e-8), 1e-9
    groups_per_round = 50

    def skip(self, objective: Objective) -> str | None:
        if objective.groups is None or objective.case.loss != "hinge":
            return "for hinge with group_linf only"
        return None

    def prepare(self, objective: Objective) -> None:
        self.objective, n = objective, objective.n
        self.signed = np.asarray(objective.X) * objective.y[:, None]
        order = np.argsort(objective.groups, kind="stable")
        self.groups = np.split(order, np.cumsum(np.bincount(objective.groups))[:-1])
        intercept = int(objective.case.intercept)
        first = sp.identity(n, format="csc")
        if intercept:
            first = sp.hstack([first, sp.csc_matrix(objective.y[:, None])])
        cost = np.concatenate([objective.weight, np.zeros(intercept)])
        free = np.arange(n + intercept) >= n
        program = as_written(cost, first, np.ones(n), free)
        self.call = quadratic.HiGHS(program, presolve="off")

    def _totals(self, pi: Any) -> Any:
        return np.bincount(self.objective.groups, weights=np.abs(self.signed.T @ pi))

    def solve(self, tol: float, time_limit: float) -> Any:
        ends = time.perf_counter() + time_limit
        objective, n = self.objective, self.objective.n
        solver = self.call.solver(1e-9, time_limit)
        self.places, self.start = [], n + int(objective.case.intercept)
        new = np.argsort(-self._totals(objective.weight))[: self.groups_per_round]
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
            new = new[np.argsort(-excess[new])][: self.groups_per_round]
            if time.perf_counter() >= ends:
                break
        return solver

    def _add(self, solver: Any, columns: Any) -> None:
        """Add v_g, the parts of its coefficients and the rows ``v_g - b+ - b- >= 0``."""
        n, k, infinity = self.objective.n, columns.size, np.inf
        block = self.signed[:, columns]
        parts = sp.csc_matrix(np.hstack([np.zeros((n, 1)), block, -block]))
        count = 2 * k + 1
        cost = np.zeros(count)
        cost[0] = self.objective.l1
        ends = np.zeros(count), np.full(count, infinity)
        entries = parts.indptr[:-1].astype(np.int32), parts.indices.astype(np.int32), parts.data
        solver.addCols(count, cost, *ends, parts.nnz, *entries)
        places, first = np.arange(k, dtype=np.int32), self.start
        index = np.column_stack([np.full(k, first), first + 1 + places, first + 1 + k + places])
        rows = 3 * places, index.ravel().astype(np.int32), np.tile([1.0, -1.0, -1.0], k)
        solver.addRows(k, np.zeros(k), np.full(k, infinity), 3 * k, *rows)
        self.places.append((columns, first + 1))
        self.start += count

    def answer(self, raw: Any) -> Answer:
        objective, n = self.objective, self.objective.n
        x, rows, word = self.call.read(raw)
        coef = np.zeros(objective.d)
        for columns, first in self.places:
            k = columns.size
            coef[columns] = x[first : first + k] - x[first + k : first + 2 * k]
        intercept = float(x[n]) if objective.case.intercept else 0.0
        return Answer(coef, intercept, -objective.y * rows[:n], word=word)
