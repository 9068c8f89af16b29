"""Fitting, scoring and proving on tables; what the subcommands have in common."""

from __future__ import annotations

import os
import time
import warnings
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

import rectiline as rl
from rectiline.cli._model import Model, make_estimator
from rectiline.cli._table import Table
from rectiline.cli._terms import read_loss
from rectiline.problems.proofs import ProvedData, Statement, save_proofs

__all__ = [
    "Fitted",
    "checked_output",
    "fit_table",
    "prove_again",
    "save_certificate",
    "scores",
    "write_fit_report",
]

_MOST_CLASSES = 100
_MOST_COEFFICIENTS = 50  # rows of coefficients that are printed


@dataclass(frozen=True, eq=False)
class Fitted:
    """What a fit found: its model (None if infeasible), problems, solutions, and numbers."""

    model: Model | None
    problems: list[rl.Problem]
    solutions: list[rl.Solution]
    result: dict[str, Any]
    table: Table

    def text(self, data: Path) -> str:
        """Return what the command prints about the fit."""
        model, result = self.model, self.result
        assert model is not None
        table = self.table
        n, d = table.X.shape
        dropped = f" ({table.n_dropped} dropped)" if table.n_dropped else ""
        labels = "" if model.classes is None else ": " + ", ".join(map(str, model.classes[:8]))
        lines = [f"{data}: {n} rows{dropped}, {d} features; target {model.terms['target']}{labels}"]
        worst = max(self.solutions, key=lambda one: one.certificate.relative_gap)
        many = "" if len(self.solutions) == 1 else f"{len(self.solutions)} problems, the largest "
        lines.append(f"{result['status']}: {many}{worst.certificate}")
        lines.append(scores(model, table))
        lines.append(f"{result['seconds']:.3g} s with {result['solver']}")
        titles = [""] if len(model.coef) == 1 else list(map(str, model.classes or [""]))
        rows = [("intercept", model.intercept), *zip(model.names, zip(*model.coef, strict=True))]
        width = max(len(name) for name, _ in rows)
        if len(titles) > 1:
            lines.append(f"  {'':{width}}" + "".join(f"  {title:>12}" for title in titles))
        for name, values in rows[: _MOST_COEFFICIENTS + 1]:
            lines.append(f"  {name:{width}}" + "".join(f"  {value: 12.6g}" for value in values))
        if len(rows) > _MOST_COEFFICIENTS + 1:
            lines.append(f"  ... and {len(rows) - _MOST_COEFFICIENTS - 1} more")
        return "\n".join(lines)


def checked_output(path: Path | None) -> None:
    """Refuse a path that cannot be written, before any work."""
    if path is None or str(path) == "-":
        return
    folder = path.absolute().parent
    if path.is_dir() or not folder.is_dir() or not os.access(folder, os.W_OK):
        raise ValueError(f"{path}: no file can be written there.")


def fit_table(table: Table, terms: dict[str, Any], progress_bar: bool) -> Fitted:
    """Fit the estimator that the options describe."""
    y = _targets(table.y)
    is_classifier = _is_classifier(y, terms["loss"])
    if is_classifier and np.unique(y).size > _MOST_CLASSES:
        raise ValueError(
            f"column {terms['target']!r} holds {np.unique(y).size} distinct labels, at most "
            f"{_MOST_CLASSES} are taken as classes; for numbers use a loss such as huber."
        )
    estimator = make_estimator(terms, table.names, is_classifier)
    estimator.set_params(progress_bar=progress_bar)
    began = time.perf_counter()
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", rl.ConvergenceWarning)
            estimator.fit(table.X, y, table.weight)
    except rl.InfeasibleError:
        # No loss and no target makes the constraints feasible.
        rules = estimator.constraints
        problems = [rl.Problem(table.X, np.zeros(len(y)), "absolute", constraints=rules)]
        solutions = [rl.solve(problems[0])]
        return Fitted(None, problems, solutions, _result(solutions, began), table)
    solutions = _as_list(estimator.solution_)
    result = _result(solutions, began)
    coef, intercept = np.atleast_2d(estimator.coef_), np.atleast_1d(estimator.intercept_)
    result["intercept"], result["coef"] = (
        float(intercept[0]),
        dict(zip(table.names, coef[0].tolist())),
    )
    model = Model(
        names=table.names,
        coef=coef.tolist(),
        intercept=intercept.tolist(),
        classes=estimator.classes_.tolist() if is_classifier else None,
        terms=terms,
        result=result,
    )
    if len(coef) > 1:
        result["intercept"], result["coef"] = intercept.tolist(), model.coef
    result["score"] = float(estimator.score(table.X, y, table.weight))
    result["rows"] = int(table.X.shape[0])
    problems = _as_list(estimator.problem(table.X, y, table.weight))
    return Fitted(model, problems, solutions, result, table)


def _targets(y: Any) -> Any:
    """Return targets whose labels are whole numbers as such."""
    if y.dtype != object and np.unique(y).size == 2 and (y == np.round(y)).all():
        return y.astype(np.int64)
    return y.astype(str) if y.dtype == object else y


def _is_classifier(y: Any, loss: str | None) -> bool:
    """Without a loss, texts or two numbers are labels; a loss of the margin needs labels."""
    if loss is not None:
        return read_loss(loss).of == "margin"
    return y.dtype.kind in "UO" or np.unique(y).size == 2


def _as_list(one: Any) -> list[Any]:
    return list(one) if isinstance(one, tuple | list) else [one]


def _result(solutions: list[rl.Solution], began: float) -> dict[str, Any]:
    """Return the numbers of a fit: those of the problem with the largest gap."""
    worst = max(solutions, key=lambda one: one.certificate.relative_gap)
    proof = worst.certificate
    numbers = {
        "objective": sum(one.certificate.primal for one in solutions),
        "relative_gap": proof.relative_gap,
        "gap": proof.gap,
        "violation": max(one.certificate.violation for one in solutions),
    }
    finite = {k: v if abs(v) < float("inf") else None for k, v in numbers.items()}
    return {
        "status": str(next((s.status for s in solutions if s.status != "solved"), worst.status)),
        **finite,
        "solver": ", ".join(sorted({one.solver for one in solutions})),
        "n_iter": sum(one.n_iter for one in solutions),
        "seconds": time.perf_counter() - began,
    }


def scores(model: Model, table: Table) -> str:
    """Return how well the model fits the table, beside what a constant would reach."""
    y, found = _targets(table.y), model.predict(table.X)["prediction"]
    weight = np.ones(len(y)) if table.weight is None else table.weight
    if model.classes is not None:
        shares = [float(np.average(y == label, weights=weight)) for label in model.classes]
        right = float(np.average(y == found, weights=weight))
        return f"accuracy {right:.4f} (the most frequent class alone: {max(shares):.4f})"
    loss = model.terms["loss"] or "huber"
    if loss.startswith(("pinball", "expectile")):
        rounding = 1e-9 * float(np.abs(y).max())  # quantiles go through some of the targets
        below = float(np.average(y <= found + rounding, weights=weight))
        return f"{below:.4f} of the targets are at most as large as predicted"
    rest = np.average((y - found) ** 2, weights=weight)
    spread = np.average((y - np.average(y, weights=weight)) ** 2, weights=weight)
    return f"R2 {1.0 - rest / spread:.4f} (a constant alone: 0)" if spread else "R2 is not defined"


def prove_again(
    model: Model, table: Table
) -> tuple[list[rl.Certificate], list[rl.Problem], list[rl.Solution]]:
    """Return what the data prove about the coefficients of a model file: proofs with problems.

    A solver is used to find multipliers only; any multipliers prove something.
    """
    if "from" in model.terms:
        raise ValueError(
            f"the model is a {model.terms['from']}; only fits of the command are proved."
        )
    estimator = model.estimator()
    problems = _as_list(estimator.problem(table.X, _targets(table.y), table.weight))
    if len(problems) != len(model.coef):
        raise ValueError(
            f"the model has {len(model.coef)} rows of coefficients, a fit of these data "
            f"{len(problems)}."
        )
    solutions = []
    for problem, coef, intercept in zip(problems, model.coef, model.intercept, strict=True):
        found = rl.solve(problem, tol=model.terms["tol"])
        point, shift = np.array(coef), float(intercept)
        proof = problem.certify(point, shift, found.dual)
        solutions.append(replace(found, coef=point, intercept=shift, certificate=proof))
    return [one.certificate for one in solutions], problems, solutions


def write_fit_report(path: Path, model: Model, table: Table) -> None:
    """Write the HTML page about a model file, proved again on its data."""
    _, problems, solutions = prove_again(model, table)
    titles = None if len(problems) == 1 else list(map(str, model.classes or []))
    terms = model.terms
    classes = ", ".join(map(str, model.classes or []))
    about = {"data": terms.get("data"), "target": terms["target"], "classes": classes}
    fitted = Fitted(model, problems, solutions, {}, table)
    rl.reports.write_report(
        path,
        problems,
        solutions,
        y=_targets(table.y),
        feature_names=table.names,
        titles=titles,
        about={name: text for name, text in about.items() if text},
        prediction=model.predict(table.X)["prediction"],
        certificate=partial(save_certificate, fitted=fitted),
    )


def save_certificate(path: Any, fitted: Fitted) -> None:
    """Write the certificate of a fit, about the targets as they are written."""
    model, table = fitted.model, fitted.table
    y = _targets(table.y)
    labels = np.unique(y).tolist() if model and model.classes is not None else None
    targets = None if model is None else [model.terms["target"]]
    data = ProvedData(table.X, y, labels, table.weight, table.names, targets)
    pairs = zip(fitted.problems, fitted.solutions, strict=True)
    save_proofs(path, [Statement(problem, solution) for problem, solution in pairs], data)
