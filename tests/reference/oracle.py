"""A problem for cvxpy and Clarabel: an optimum that nobody here had a hand in."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from functools import cache

import cvxpy as cp
import numpy as np
from combinations import Case

from rectiline import DualPoint


@dataclass(frozen=True)
class Reference:
    """The program of a case in cvxpy's words."""

    objective: cp.Expression
    constraints: list[cp.Constraint]
    scaled_coef: cp.Variable
    intercept: cp.Variable
    scale: np.ndarray
    mean: np.ndarray

    def evaluate(self, coef: np.ndarray, intercept: float) -> tuple[float, float]:
        """Return the objective and the worst violation at somebody's answer."""
        self.scaled_coef.value = coef * self.scale
        self.intercept.value = intercept + self.mean @ coef
        worst = [float(np.max(one.violation(), initial=0.0)) for one in self.constraints]
        return float(self.objective.value), max(worst, default=0.0)


def centre_and_scale(case: Case) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return X in columns of mean 0 (with an intercept) and size 1, the means and the sizes."""
    X = case.data[0]
    mean = X.mean(axis=0) if case.intercept else np.zeros(X.shape[1])
    scale = np.sqrt(np.mean((X - mean) ** 2, axis=0))
    scale = np.where(scale > 1e-12, scale, 1.0)
    return (X - mean) / scale, mean, scale


def objective(case: Case, z: cp.Expression, coef: cp.Expression) -> cp.Expression:
    _, y, weight = case.data
    t = {"margin": cp.multiply(y, z), "residual": y - z, "prediction": z}[case.of]
    weights = np.ones(y.size) if weight is None else weight
    keep = np.flatnonzero(weights)
    return weights[keep] @ case.loss.express(t[keep]) + case.penalty.express(coef)


@cache
def reference(case: Case) -> Reference:
    """Write the case down; columns are centred and scaled, which changes nothing but accuracy."""
    X, mean, scale = centre_and_scale(case)
    scaled_coef, intercept = cp.Variable(X.shape[1]), cp.Variable()
    coef = cp.multiply(1.0 / scale, scaled_coef)
    z = X @ scaled_coef + (intercept if case.intercept else 0.0)
    constraints = case.constraint.express(coef, case.data[0])
    return Reference(objective(case, z, coef), constraints, scaled_coef, intercept, scale, mean)


def solve(case: Case, problem: cp.Problem) -> None:
    for tol in (1e-11, 1e-10, 1e-9, 1e-8):  # the tightest one that Clarabel calls reached
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", message="Solution may be inaccurate")
            problem.solve(
                solver=cp.CLARABEL, tol_gap_abs=tol, tol_gap_rel=tol, tol_feas=tol, max_iter=200
            )
        if problem.status == "optimal":
            return
    raise AssertionError(f"the reference failed on {case.name}: {problem.status}")


@cache
def optimum(case: Case) -> float:
    """Return the optimal value, to eight digits or more."""
    program = reference(case)
    problem = cp.Problem(cp.Minimize(program.objective), program.constraints)
    solve(case, problem)
    return float(problem.value)


def slack(case: Case) -> float:
    """Return how far the reference itself may be off."""
    return 1e-7 * abs(optimum(case)) + 1e-9 * abs(case.problem.objective(np.zeros(case.n_features)))


@cache
def answer(case: Case) -> tuple[np.ndarray, float, DualPoint]:
    """Return Clarabel's coefficients and intercept with its multipliers."""
    X, mean, scale = centre_and_scale(case)
    n, d = X.shape
    scaled_coef, intercept, z = cp.Variable(d), cp.Variable(), cp.Variable(n)
    coef = cp.multiply(1.0 / scale, scaled_coef)
    rows = case.problem.constraint_rows
    low, high = np.isfinite(rows.lower), np.isfinite(rows.upper)
    prediction = X @ scaled_coef + (intercept if case.intercept else 0.0) == z
    constraints = [prediction]
    inequality = equality = None
    if rows.c.size:
        inequality = rows.A @ coef + rows.c >= 0
        constraints.append(inequality)
    if rows.f.size:
        equality = rows.E @ coef + rows.f == 0
        constraints.append(equality)
    if low.any():
        constraints.append(coef[low] >= rows.lower[low])
    if high.any():
        constraints.append(coef[high] <= rows.upper[high])
    solve(case, cp.Problem(cp.Minimize(objective(case, z, coef)), constraints))
    dual = DualPoint(
        prediction.dual_value,
        np.zeros(0) if inequality is None else np.ravel(inequality.dual_value),
        np.zeros(0) if equality is None else -np.ravel(equality.dual_value),
    )
    answered = scaled_coef.value / scale
    return answered, float(intercept.value - mean @ answered) if case.intercept else 0.0, dual
