"""Prove again, from the data of a fit alone, how good its coefficients are; save and show it."""

from __future__ import annotations

import copy
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy import sparse as sp
from sklearn.utils.validation import check_is_fitted

from rectiline._numbers import seed_of
from rectiline._polling import Clock
from rectiline.estimators._check import as_numpy, column_names, own_names
from rectiline.estimators._quantile_problems import StackedQuantiles
from rectiline.estimators._run import RunOptions, solve_all
from rectiline.problems import DualPoint, Problem
from rectiline.problems.blocks import SplitDual
from rectiline.problems.proofs import ProvedData, Statement, TaskStatement, prove_tasks, save_proofs
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

    def one_by_one(self, problems: list[Any], answers: Iterable[Any], words: str) -> ProvedAgain:
        """Return the models of one joint answer, each with its part: slopes, intercept and dual."""
        (found,) = self.solutions
        parts = [replace(found, coef=b, intercept=b0, dual=dual) for b, b0, dual in answers]
        return replace(self, problems=problems, solutions=parts, joint=(words, found))


def proved_again(
    estimator: Any, caller: str, X: Any, y: Any, *given: Any, **named: Any
) -> ProvedAgain:
    """Return what the data of a fit prove about its coefficients; `caller` is for messages."""
    check_is_fitted(estimator)
    model = copy.copy(estimator)
    data = model._read(X, y, *given, **named)
    if getattr(model, "C", None) == "auto" and hasattr(model, "C_"):  # as it was at the fit
        strengths = np.atleast_1d(model.C_).tolist()
        tasks = [replace(task, C=C) for task, C in zip(data.tasks, strengths, strict=True)]
        data = replace(data, tasks=tasks)
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


# ---- pages that show quantiles of a joint fit one by one ----


def shown_one_by_one(model: Any, again: ProvedAgain, singles: list[Problem]) -> ProvedAgain:
    """Return the quantiles of a joint fit with problems of their own, for a page about it."""
    rows, dual = singles[0].constraint_rows, again.solutions[0].dual
    copies = 1 if model.shared_slopes else len(singles)
    n_points = dual.inequality.size - copies * rows.A.shape[0]
    own = dual.inequality[n_points:].reshape(copies, -1)
    exact = dual.equality.reshape(copies, -1)
    places = np.argsort(np.argsort(model.quantiles_)) % copies  # multipliers go up the levels
    duals = [replace(dual, inequality=own[place], equality=exact[place]) for place in places]
    found = zip(as_numpy(model.coef_), as_numpy(model.intercept_).tolist(), duals, strict=True)
    words = f"The {len(singles)} quantiles are fitted together: " + (
        "they share their slopes, and the mean of their losses is minimised."
        if model.shared_slopes
        else "the sum of their objectives is minimised, and none may cross the next one, which "
        f"takes constraints at {n_points} points."
    )
    return again.one_by_one(singles, found, words)


# ---- files of proofs, in the terms of the user's data: `save_certificate` ----


def save_fit(path: Any, again: Any, y: Any, folds: Sequence[Statement] = ()) -> None:
    """Write the proofs of all problems of a fit, and of folds; `y` is what the user gave."""
    if not isinstance(again.problems[0], Problem):
        save_tasks(path, again, y)
        return
    save_proofs(path, [*_statements(again), *folds], _proved_data(again, y))


def save_tasks(path: Any, again: Any, y: Any) -> None:
    """Write the proof of tasks that share a penalty; rows of their own are in the user's order."""
    data, (problem,), (solution,) = again.data, again.problems, again.solutions
    labels, sizes = getattr(again.model, "classes_", None), [one.size for one in data.y]
    if isinstance(labels, list):
        raise ValueError("save_certificate: the tasks have different labels; a file has one list.")
    if data.form == "shared":
        if min(sizes) < np.shape(y)[0]:
            raise ValueError("save_certificate: a file cannot hold tasks with missing targets.")
        rows, outputs = [np.arange(sizes[0])] * len(sizes), list(range(len(sizes)))
        X, target = data.X[0], np.column_stack(data.y)
    else:
        rows = data.places or np.split(np.arange(sum(sizes)), np.cumsum(sizes)[:-1])
        order, outputs = np.argsort(np.concatenate(rows)), [0] * len(sizes)
        stack = sp.vstack(data.X, format="csr") if sp.issparse(data.X[0]) else np.vstack(data.X)
        X, target = stack[order], np.concatenate(data.y)[order]
    dual = prove_tasks(problem, solution.coef, solution.intercept, solution.dual).dual
    statement = TaskStatement(problem, replace(solution, dual=dual), rows, outputs)
    known = None if labels is None else labels.tolist()
    names = column_names(again.model), own_names(y)
    save_proofs(path, [statement], ProvedData(X, target, known, None, *names))


def save_steps(path: Any, steps: Sequence[Any], y: Any) -> None:
    """Write the proofs of fits on the same rows, each with a target of its own; y is the first."""
    first = _proved_data(steps[0], y)
    columns = np.column_stack([again.data.y for again in steps])
    made = [f"target of step {k}" for k in range(2, len(steps) + 1)]
    names = [*(first.targets or ["y"]), *made]
    found = [replace(_statements(again)[0], output=k) for k, again in enumerate(steps)]
    save_proofs(path, found, replace(first, y=columns, targets=names))


def _proved_data(again: Any, y: Any) -> ProvedData:
    """Return the data of a fit as the user has them."""
    data, names = again.data, column_names(again.model)
    if data.rows is not None:
        return ProvedData.of(again.problems[0], names)
    labels = None if data.classes is None else np.unique(data.y).tolist()
    weight = data.weight if data.is_weighted else None
    return ProvedData(data.X, data.y, labels, weight, names, own_names(y))


def _statements(again: Any) -> list[Statement]:
    """Return the problems of a fit and their answers."""
    data, levels = again.data, None
    if data.rows is None and getattr(again.model, "_is_joint", False):
        levels = StackedQuantiles.of(again.model, data).shape
    found = zip(again.problems, again.solutions, data.tasks, strict=False)
    return [
        Statement(problem, solution, task.samples, task.output, levels)
        for problem, solution, task in found
    ]


def fold_statements(again: Any) -> list[Statement]:
    """Return the problems of a search on the training part of every fold at the chosen strength.

    Their solutions are not kept, so that they are solved again.
    """
    model, data, found = again.model, again.data, []
    if data.rows is not None:
        raise ValueError("save_certificate: folds=True needs arrays; these are rows in blocks.")
    unit = model._penalty(l1_ratio=model.l1_ratio_).strength
    strength = float(model._exchanged(getattr(model, f"{model._searched}_"), unit))
    for train, _ in model._folds(data):
        kept = np.zeros(data.n_samples, dtype=bool)
        kept[train] = True
        paths = [model._path_problem(data, task, model.l1_ratio_, kept) for task in data.tasks]
        problems = [one.with_penalty(one.penalty.with_strength(strength)) for one in paths]
        solutions = solve_all(problems, RunOptions.of(model, Clock()))
        for task, problem, one in zip(data.tasks, problems, solutions, strict=True):
            found.append(Statement(problem, one, task.samples, task.output, kept=kept))
    return found
