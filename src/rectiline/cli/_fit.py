"""Fitting and scoring of tables; what the subcommands have in common."""

from __future__ import annotations

import csv
import os
import sys
import time
import warnings
from contextlib import nullcontext
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

import rectiline as rl
from rectiline.cli._model import Model, make_estimator, read_loss
from rectiline.cli._table import Table

_MOST_CLASSES = 100
_MOST_COEFFICIENTS = 50  # rows of coefficients that are printed


class NamedVector(np.ndarray[Any, Any]):
    """Targets that have a name, as a column of a data frame has."""

    name: str


def checked_output(path: Path | None) -> None:
    """Refuse a path that cannot be written, before any work."""
    if path is None or str(path) == "-":
        return
    folder = path.absolute().parent
    if path.is_dir() or not folder.is_dir() or not os.access(folder, os.W_OK):
        raise ValueError(f"{path}: no file can be written there.")


def fit_table(table: Table, terms: dict[str, Any], progress_bar: bool) -> tuple[Any, Model]:
    """Return the estimator that the options describe, fitted, and its model file."""
    y = targets(table.y)
    is_classifier = _is_classifier(y, terms["loss"])
    if is_classifier and np.unique(y).size > _MOST_CLASSES:
        raise ValueError(
            f"column {terms['target']!r} holds {np.unique(y).size} distinct labels, at most "
            f"{_MOST_CLASSES} are taken as classes; for numbers use a loss such as huber."
        )
    estimator = make_estimator(terms, table.names, is_classifier)
    estimator.set_params(progress_bar=progress_bar)
    began = time.perf_counter()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", rl.ConvergenceWarning)
        estimator.fit(table.X, y, table.weight)
    result = _result(as_list(estimator.solution_), began)
    model = Model.of(estimator, table.names, terms)
    one = len(model.coef) == 1
    result["intercept"] = model.intercept[0] if one else model.intercept
    result["coef"] = dict(zip(model.names, model.coef[0])) if one else model.coef
    result["score"] = float(estimator.score(table.X, y, table.weight))
    result["rows"] = int(table.X.shape[0])
    if hasattr(table.X, "column_names"):
        terms = terms | {"features": table.X.column_names}
    return estimator, replace(model, terms=terms, result=result)


def infeasible(table: Table, terms: dict[str, Any]) -> tuple[rl.Problem, rl.Solution]:
    """Return a problem under constraints that contradict one another, and the proof of it."""
    X, rules = table.numbers, make_estimator(terms, table.names, False).constraints
    problem = rl.Problem(X, np.zeros(X.shape[0]), "absolute", constraints=rules)
    return problem, rl.solve(problem)


def targets(y: Any) -> Any:
    """Return targets whose labels are whole numbers as such, and texts as texts."""
    if y.dtype != object and np.unique(y).size == 2 and (y == np.round(y)).all():
        return y.astype(np.int64)
    return y.astype(str) if y.dtype == object else y


def _is_classifier(y: Any, loss: str | None) -> bool:
    """Without a loss, texts or two numbers are labels; a loss of the margin needs labels."""
    if loss is not None:
        return read_loss(loss).of == "margin"
    return y.dtype.kind == "U" or np.unique(y).size == 2


def as_list(one: Any) -> list[Any]:
    """Return what a fit of one or several problems has, as a list."""
    return list(one) if isinstance(one, tuple | list) else [one]


def _result(solutions: list[rl.Solution], began: float) -> dict[str, Any]:
    """Return the numbers of a fit: those of the problem with the largest gap."""
    proofs = [one.certificate for one in solutions]
    worst = max(proofs, key=lambda proof: proof.relative_gap)
    unsolved = [one.status for one in solutions if one.status != "solved"]
    return {
        "status": str(unsolved[0] if unsolved else "solved"),
        "objective": sum(proof.primal for proof in proofs),
        "relative_gap": worst.relative_gap if np.isfinite(worst.relative_gap) else None,
        "gap": worst.gap if np.isfinite(worst.gap) else None,
        "violation": max(proof.violation for proof in proofs),
        "solver": ", ".join(sorted({one.solver for one in solutions})),
        "n_iter": sum(one.n_iter for one in solutions),
        "seconds": time.perf_counter() - began,
    }


def fit_text(data: Path, table: Table, estimator: Any, model: Model) -> str:
    """Return what the command prints about a fit."""
    result = model.result
    dropped = f" ({table.n_dropped} dropped)" if table.n_dropped else ""
    labels = "" if model.classes is None else ": " + ", ".join(map(str, model.classes[:8]))
    size = f"{table.X.shape[0]} rows{dropped}, {len(model.names)} features"
    proofs = as_list(estimator.certificate_)
    lines = [
        f"{data}: {size}; target {model.terms['target']}{labels}",
        f"{result['status']}: {proof_words(proofs)}",
        scores(estimator, table),
        f"{result['seconds']:.3g} s with {result['solver']}",
    ]
    rows = [("intercept", model.intercept), *zip(model.names, zip(*model.coef, strict=True))]
    width = max(len(name) for name, _ in rows)
    if len(model.coef) > 1:
        titles = "".join(f"  {label!s:>12}" for label in model.classes or ())
        lines.append(f"  {'':{width}}{titles}")
    for name, values in rows[: _MOST_COEFFICIENTS + 1]:
        lines.append(f"  {name:{width}}" + "".join(f"  {value: 12.6g}" for value in values))
    if len(rows) > _MOST_COEFFICIENTS + 1:
        lines.append(f"  ... and {len(rows) - _MOST_COEFFICIENTS - 1} more")
    return "\n".join(lines)


def proof_words(proofs: list[rl.Certificate]) -> str:
    """Return what is proved about one problem or, of several, about the worst."""
    worst = max(proofs, key=lambda proof: proof.relative_gap)
    return str(worst) if len(proofs) == 1 else f"{len(proofs)} problems, the largest {worst}"


def scores(estimator: Any, table: Table) -> str:
    """Return how well the model fits the table, beside what a constant would reach."""
    y, weight = targets(table.y), table.weight
    score = estimator.score(table.X, y, weight)
    if hasattr(estimator, "classes_"):
        alone = max(np.average(y == label, weights=weight) for label in estimator.classes_)
        return f"accuracy {score:.4f} (the most frequent class alone: {alone:.4f})"
    if hasattr(estimator.loss, "quantile"):
        rounding = 1e-9 * float(np.abs(y).max())  # quantiles go through some of the targets
        below = np.average(y <= estimator.predict(table.X) + rounding, weights=weight)
        return f"{below:.4f} of the targets are at most as large as predicted"
    return f"R2 {score:.4f} (a constant alone: 0)"


def write_columns(path: Path, columns: dict[str, Any]) -> None:
    """Write columns of equal length as CSV with a header line; "-" is the standard output."""
    is_printed = str(path) == "-"
    opened = nullcontext(sys.stdout) if is_printed else path.open("w", newline="", encoding="utf-8")
    with opened as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(columns)
        writer.writerows(zip(*(np.asarray(one).tolist() for one in columns.values()), strict=True))
