"""Prove again, from the data of a fit alone, how good its coefficients are."""

from __future__ import annotations

import copy
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from rectiline._numbers import seed_of
from rectiline.problems import DualPoint, Problem
from rectiline.problems.blocks import SplitDual
from rectiline.solvers import solve
from rectiline.solvers.multitask import solve_multitask


@dataclass(frozen=True, eq=False)
class ProvedAgain:
    """A copy of a model with the problems of its fit, its answers certified anew, and their units.

    What the fit noted about the data is noted on the copy again. Where several models were solved
    as one problem, `joint` says how, in words, and holds its answer.
    """

    model: Any
    problems: list[Any]
    solutions: list[Any]
    units: list[float]
    data: Any
    joint: tuple[str, Any] | None = None


def proved_again(
    estimator: Any, caller: str, X: Any, y: Any, *given: Any, **named: Any
) -> ProvedAgain:
    """Return what the data of a fit prove about its coefficients; `caller` is for messages."""
    check_is_fitted(estimator)
    model = copy.copy(estimator)
    data = model._read(X, y, *given, **named)
    problems = model._problems(data)
    kept = estimator.solution_
    listed = list(kept) if isinstance(kept, list | tuple) else [kept]
    pairs = zip(problems, listed, strict=True)
    solutions = [_proved(model, caller, problem, solution) for problem, solution in pairs]
    return ProvedAgain(model, problems, solutions, model._objective_units(data), data)


def _proved(model: Any, caller: str, problem: Any, solution: Any) -> Any:
    """Return a solution with the certificate that these data prove."""
    needs = f"{caller} needs the data of the fit:"
    if isinstance(problem, Problem) and not problem.is_in_memory:
        if not isinstance(solution.dual, SplitDual):
            raise ValueError(f"{needs} that was arrays, these are rows.")
        if solution.coef.size != problem.n_features:
            raise ValueError(
                f"{needs} it had {solution.coef.size} columns, these rows have "
                f"{problem.n_features}."
            )
        return replace(solution, certificate=problem.certify(solution))
    if isinstance(solution.dual, SplitDual):
        raise ValueError(f"{needs} that was rows in blocks.")
    duals = solution.dual if isinstance(solution.dual, list) else [solution.dual]
    had, size = sum(one.sample.size for one in duals), solution.coef.size
    sizes = problem.n_samples, problem.n_features * getattr(problem, "n_tasks", 1)
    if had == 0 and size == sizes[1]:
        # A pickle does not hold the multipliers of a fit. Any multipliers prove something about
        # the fitted coefficients, whoever found them.
        solve_again = solve if isinstance(problem, Problem) else solve_multitask
        seed = seed_of(model.random_state)
        found = solve_again(problem, tol=model.tol, random_state=seed, polish=True)
        solution, had = replace(solution, dual=found.dual), problem.n_samples
    if (had, size) != sizes:
        raise ValueError(
            f"{needs} it had {had} samples and {size} coefficients, these data have "
            f"{sizes[0]} and {sizes[1]}."
        )
    proof = problem.certify(solution.coef, solution.intercept, solution.dual)
    return replace(solution, certificate=proof)


def without_multipliers(state: dict[str, Any]) -> dict[str, Any]:
    """Return the attributes for a pickle: those of the model, and nothing that grows with the data.

    The multipliers of the samples prove the certificate of the fit; predictions need none of them.
    """
    kept = {name: value for name, value in state.items() if name != "dual_coef_"}
    if "solution_" in kept:
        kept["solution_"] = _light(kept["solution_"])
    return kept


def _light(value: Any) -> Any:
    """Return solutions, of one problem or several tasks, or duals, without rows' multipliers."""
    if isinstance(value, list | tuple):
        return type(value)(map(_light, value))
    if isinstance(value, SplitDual):
        return replace(value, rows=np.zeros(0, dtype=np.int64), values=np.zeros(0))
    if isinstance(value, DualPoint):
        return replace(value, sample=np.zeros(0))
    return replace(value, dual=_light(value.dual))
