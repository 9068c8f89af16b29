"""The sections of the HTML report, one function each; `write_report` puts them together."""

from __future__ import annotations

import base64
import datetime
import io
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from html import escape
from importlib.metadata import version
from importlib.resources import files
from string import Template
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.metrics import confusion_matrix

from rectiline._frames import html_row
from rectiline._typing import Vector
from rectiline.problems import Problem
from rectiline.reports._plots import picture, short
from rectiline.reports._quantiles import shares_below
from rectiline.reports._solving import ConvergenceDisplay, LossDisplay
from rectiline.solvers import Solution

_MOST_BARS = 30  # coefficients in the picture, the largest ones
_MOST_ROWS = 200  # rows of a table
_MOST_CLASSES = 12  # classes in the table of true and predicted ones
_MOST_LOSSES = 4  # losses with a picture
_HISTOGRAM_BINS = 40
_PENALTY_FORMULA = "<mo>+</mo><mi>&Omega;</mi><mo>(</mo><mi>b</mi><mo>)</mo>"
_MOST_ENTRIES_TO_CERTIFY = 10_000_000  # writing the certificate reads all entries of X twice


def section(title: str, content: str) -> str:
    """Return a titled section."""
    return f"<section><h2>{escape(title)}</h2>{content}</section>"


def _table(header: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    """Return a table whose first column holds words and whose others hold numbers."""
    head = html_row(header, "th") if header else ""
    body = "".join(map(html_row, rows))
    return f'<div class="wide"><table class="numbers">{head}{body}</table></div>'


def header(about: Mapping[str, Any], problem: Problem, y: Any = None) -> str:
    """Return what the page is about: data, target, rows, date, version."""
    rows = [(str(name), str(text)) for name, text in about.items()]
    if isinstance(y, list):
        rows.append(("tasks", f"{len(y)}"))
    n_rows = problem.n_samples if y is None else sum(map(len, y)) if isinstance(y, list) else len(y)
    rows.append(("rows and columns", f"{n_rows:,} × {problem.n_features:,}"))
    rows.append(("date", datetime.date.today().isoformat()))
    rows.append(("made with", f"rectiline {version('rectiline')}"))
    return f'<div class="words">{_table((), rows)}</div>'


def scores(y: Any, prediction: Any, problems: Sequence[Problem], titles: Sequence[str]) -> str:
    """Return how well predictions fit, beside what a constant would reach."""
    are_labels = problems[0].losses[0].of == "margin"
    if are_labels and not isinstance(y, list):
        return section("Score", _class_scores(np.asarray(y), np.asarray(prediction)))
    if isinstance(y, list):
        pairs = list(zip(titles, y, prediction, strict=True))
    else:
        targets = np.asarray(y).reshape(len(y), -1)
        columns = np.asarray(prediction).reshape(len(y), -1)
        levels = [getattr(loss, "quantile", None) for one in problems for loss in one.losses]
        if targets.shape[1] == 1 and levels[0] is not None and len(levels) >= columns.shape[1]:
            shares = shares_below(targets[:, 0], columns)
            rows = [(f"{one:g}", f"{share:.4f}") for one, share in zip(levels, shares)]
            return section("Score", _table(("quantile", "share of the targets below"), rows))
        pairs = [(f"{k}", *both) for k, both in enumerate(zip(targets.T, columns.T), 1)]
    if are_labels:
        header: tuple[str, ...] = ("task", "accuracy", "that of the most frequent class")
        scored = [(title, *map("{:.4f}".format, _accuracies(*pair))) for title, *pair in pairs]
    else:
        header = ("output", "R2", "mean absolute error", "that of the median alone")
        scored = [(title, *_fit_scores(*pair)) for title, *pair in pairs]
    return section("Score", _table(header, scored[:_MOST_ROWS]))


def _accuracies(y: NDArray[Any], prediction: NDArray[Any]) -> tuple[float, float]:
    """Return the share of labels that is right, and that of the most frequent label."""
    counts = np.unique(y, return_counts=True)[1]
    return float(np.mean(y == prediction)), float(counts.max() / y.size)


def _fit_scores(y: NDArray[Any], prediction: NDArray[Any]) -> tuple[str, ...]:
    y = y.astype(np.float64)
    spread = float(np.sum((y - y.mean()) ** 2))
    explained = 1.0 - float(np.sum((y - prediction) ** 2)) / spread if spread else np.nan
    errors = np.abs(y - prediction).mean(), np.abs(y - np.median(y)).mean()
    return (f"{explained:.4f}", *(f"{error:.6g}" for error in errors))


def _class_scores(y: NDArray[Any], prediction: NDArray[Any]) -> str:
    labels = np.unique(y)
    right, frequent = _accuracies(y, prediction)
    words = f"<p>Accuracy {right:.4f}; the most frequent class alone: {frequent:.4f}.</p>"
    if labels.size > _MOST_CLASSES:
        return words
    counts = confusion_matrix(y, prediction, labels=labels)
    rows = [(f"{label}", *row) for label, row in zip(labels, counts, strict=True)]
    return words + _table(("true \\ predicted", *map(str, labels)), rows)


def overview(titles: Sequence[str], solutions: Sequence[Solution], units: Sequence[float]) -> str:
    """Return a table with one line for each problem of a fit."""
    rows = []
    for title, one, unit in zip(titles, solutions, units, strict=True):
        proof = one.certificate.scaled(unit)
        numbers = f"{proof.primal:.8g}", f"{proof.relative_gap:.2e}", f"{proof.violation:.1e}"
        rows.append((title, str(one.status), *numbers))
    header = ("problem", "status", "objective", "relative gap", "violation")
    return section(f"{len(rows)} problems", _table(header, rows[:_MOST_ROWS]))


def proof(solution: Any, unit: float, details: str) -> str:
    """Return what is proved, in one sentence with what to do where the goal was missed; folded."""
    if getattr(solution, "infeasibility", None) is not None:
        text = "Infeasible: it is proved that no coefficients satisfy the constraints."
    else:
        text = f"{str(solution.status).capitalize()}: {solution.certificate.scaled(unit)}."
    kind = "verdict" if solution.status == "solved" else "verdict open"
    if solution.status != "solved":
        text += f" {solution.status.advice}"
    content = (
        f'<p class="{kind}">{escape(text)}</p>'
        f"<details><summary>Details of the proof</summary>{details}</details>"
    )
    return section("Proof", content)


def statement(problem: Problem, y: Any, unit: float = 1.0, joined: str = "") -> str:
    """Return the problem in words and as a formula (MathML, which browsers draw themselves).

    `joined` says how several problems like this one became one.
    """
    formula = template(
        "problem.html",
        rows=str(problem.n_samples),
        factor="" if unit == 1.0 else f"<mn>{unit:.6g}</mn><mo>·</mo><mo>(</mo>",
        intercept="<mo>+</mo><msub><mi>b</mi><mn>0</mn></msub>" if problem.fit_intercept else "",
        penalty="" if problem.penalty is None else _PENALTY_FORMULA,
        end="" if unit == 1.0 else "<mo>)</mo>",
    )
    weights = problem.weight if problem.is_in_memory else np.zeros(0)
    same = weights.size and (weights == weights[0]).all()
    rows = [
        ("rows and columns", f"{problem.n_samples:,} × {problem.n_features:,}"),
        ("loss L", ", ".join(map(repr, problem.losses))),
        ("penalty Ω", "none" if problem.penalty is None else repr(problem.penalty)),
        ("constraints", ", ".join(map(repr, problem.constraints)) or "none"),
        ("intercept", "yes" if problem.fit_intercept else "no"),
        ("weights w", f"all {weights[0]:.6g}" if same else "one for each row"),
    ]
    if y is not None and problem.losses[0].of == "margin":
        labels = np.unique(np.concatenate(y) if isinstance(y, list) else np.asarray(y))
        rows.append(("labels", ", ".join(map(str, labels.tolist()))))
    if joined:
        rows.append(("together", joined))
    rows = [(name, text.replace("float('inf')", "∞")) for name, text in rows]
    shown = [(name, text if len(text) <= 400 else text[:397] + "...") for name, text in rows]
    return section("The problem", f'{formula}<div class="words">{_table((), shown)}</div>')


def certificate(solution: Any, unit: float = 1.0) -> str:
    """Return the numbers of the certificate, in the unit of the formula."""
    proof = solution.certificate.scaled(unit)
    rows = [
        ("objective (the formula above)", f"{proof.primal:.12g}"),
        ("proved lower bound on the optimum", f"{proof.dual:.12g}"),
        ("relative gap", f"{proof.relative_gap:.2e}"),
        ("gap, rounding included", f"{proof.gap:.2e}"),
        ("part of the gap that bounds rounding", f"{proof.rounding:.1e}"),
        ("largest violation of a constraint", f"{proof.violation:.1e}"),
        ("solver", f"{solution.solver}, {solution.n_iter} iterations, {solution.seconds:.3g} s"),
    ]
    return section("The certificate", _table((), rows))


def coefficients(names: Sequence[str], solution: Solution) -> str:
    """Return a picture and a table of the coefficients."""
    coef = solution.coef
    order = np.argsort(-np.abs(coef), kind="stable")
    top = np.sort(order[:_MOST_BARS])
    rows: list[tuple[str, str]] = [("intercept", f"{solution.intercept:.8g}")]
    listed = np.arange(coef.size) if coef.size <= _MOST_ROWS else np.sort(order[:_MOST_ROWS])
    rows += [(names[j], f"{coef[j]:.8g}") for j in listed]
    used = int(np.count_nonzero(coef))
    note = f"<p>{used} of {coef.size} coefficients are not zero."
    if coef.size > _MOST_BARS:
        note += f" The picture shows the {_MOST_BARS} largest."
    inches = (5.8, 0.6 + 0.2 * top.size)
    drawn = picture(partial(_draw_bars, [names[j] for j in top], coef[top]), inches)
    return section("Coefficients", f"{note}</p>{drawn}{_table(('name', 'value'), rows)}")


def _draw_bars(names: Sequence[str], values: Vector, ax: Any) -> None:
    """Draw bars around zero, one for each name; the second colour stands for negative ones."""
    at = np.arange(values.size)
    for k, some in enumerate((values >= 0, values < 0)):
        ax.barh(at[some], values[some], color=f"C{k}")
    ax.set_yticks(at, list(map(short, names)))
    ax.invert_yaxis()
    ax.axvline(0.0, color=ax.spines["left"].get_edgecolor(), linewidth=0.8)


def fit(problem: Problem, solution: Solution) -> str:
    """Return a histogram of the residuals, margins or predictions."""
    state = (problem.samples, solution.coef, solution.intercept)
    t = np.concatenate(list(problem.blocks.map_blocks(_block_arguments, state)))
    kind = problem.losses[0].of
    title, axis = {
        "residual": ("Residuals", "y minus prediction"),
        "margin": ("Margins", "label times decision value"),
    }.get(kind, ("Predictions", "prediction"))
    low, middle, high = np.quantile(t, [0.05, 0.5, 0.95])
    words = f"<p>5 %, 50 % and 95 %: {low:.4g}, {middle:.4g}, {high:.4g}.</p>"
    if kind == "margin":
        words += f"<p>{np.mean(t > 0):.1%} of the rows are on the right side.</p>"

    def draw(ax: Any) -> None:
        ax.hist(t, bins=_HISTOGRAM_BINS, rwidth=0.95)
        ax.set(xlabel=axis, ylabel="rows")

    return section(title, picture(draw) + words)


def _block_arguments(block: Any, state: tuple[Any, Vector, float]) -> Vector:
    """Return the arguments of the losses of a block of rows, at a point."""
    samples, coef, intercept = state
    own = samples.of_block(block)
    return np.asarray(own.direction * (block.X @ coef + intercept) + own.offset)


def constraints(names: Sequence[str], problem: Problem, solution: Solution) -> str:
    """Return bounds, slacks and multipliers of the constraints, or nothing without constraints."""
    if not problem.is_constrained:
        return ""
    rows, coef, dual = problem.constraint_rows, solution.coef, solution.dual
    listed: list[tuple[str, str, str]] = []
    named = np.array(names, dtype=object)
    for equality, matrix, constant, multipliers in (
        (False, rows.A, rows.c, dual.inequality),
        (True, rows.E, rows.f, dual.equality),
    ):
        slack: Vector = np.asarray(matrix @ coef + constant)
        listed += [
            (rows.text(k, named, equality), f"{slack[k]:.4g}", f"{multipliers[k]:.4g}")
            for k in range(min(slack.size, _MOST_ROWS))
        ]
    bounded = np.flatnonzero(np.isfinite(rows.lower) | np.isfinite(rows.upper))
    content = ""
    if bounded.size:
        at_bound = np.count_nonzero((coef == rows.lower) | (coef == rows.upper))
        content += f"<p>Bounded coefficients: {bounded.size}, at a bound: {at_bound}.</p>"
        bounds = [
            (names[j], *(_bound(v[j]) for v in (rows.lower, coef, rows.upper)))
            for j in bounded[:_MOST_ROWS]
        ]
        content += _table(("column", "lower", "value", "upper"), bounds)
    if listed:
        content += _table(("constraint", "slack", "shadow price"), listed)
    if max(len(listed), bounded.size) > _MOST_ROWS:
        content += f"<p>The first {_MOST_ROWS} of each are shown.</p>"
    return section("Constraints", content)


def _bound(value: float) -> str:
    return f"{value:.6g}".replace("inf", "∞")


def search(table: Mapping[str, Any]) -> str:
    """Return the scores of a search against the strength, and what was chosen."""
    given = {key[6:]: np.asarray(one) for key, one in table.items() if key.startswith("param_")}
    mean, best = np.asarray(table["mean_test_score"]), int(np.argmin(table["rank_test_score"]))
    chosen = ", ".join(f"{name} = {_cell(one[best])}" for name, one in given.items())
    words = f"Chosen among {mean.size} candidates: {chosen}; mean score {mean[best]:.6g}."
    name = "C" if "C" in given else "alpha"
    strengths, shown = given.pop(name), np.isfinite(mean)

    def draw(ax: Any) -> None:
        others = list(zip(*given.values(), strict=True)) or [()] * mean.size
        for other in dict.fromkeys(others):
            some = shown & np.array([one == other for one in others])
            label = ", ".join(f"{key} = {_cell(one)}" for key, one in zip(given, other))
            ax.plot(strengths[some], mean[some], marker=".", label=label)
        ax.axvline(strengths[best], linestyle="--", color=ax.spines["left"].get_edgecolor())
        ax.set(xscale="log", xlabel=name, ylabel="mean score on the folds")
        if given:
            ax.legend()

    return section("Search", f"<p>{escape(words)}</p>{picture(draw)}")


def errors(inference: Any) -> str:
    """Return a table of standard errors."""
    return section("Standard errors", f'<div class="wide">{inference.to_html()}</div>')


def groups(table: Mapping[str, Any]) -> str:
    """Return what groups of samples get, one line each."""
    columns = [np.asarray(one) for one in table.values()]
    rows = [[_cell(one[k]) for one in columns] for k in range(columns[0].shape[0])]
    return section("Fairness", _table([name.replace("_", " ") for name in table], rows))


def _cell(value: Any) -> str:
    if np.ndim(value):
        return ", ".join(map(_cell, value))
    return f"{value:.4g}" if isinstance(value, float | np.floating) else str(value)


def convergence(solution: Any) -> str:
    """Return the certified gap against time, or nothing if it was proved once only."""
    if len(solution.history) < 2:
        return ""
    drawn = picture(partial(ConvergenceDisplay.from_solution, solution))
    return section("Convergence", f"{drawn}<p>{escape(solution.reason)}.</p>")


def loss_curve(problem: Problem) -> str:
    """Return a picture of each loss, the first few if there are many."""
    shown = problem.losses[:_MOST_LOSSES]
    pictures = [picture(partial(LossDisplay.from_losses, loss)) for loss in shown]
    return section("The loss", "".join(pictures))


def checker(save: Callable[[Any], None], n_entries: int) -> str:
    """Return the certificate with a form that checks it on data, or nothing if it has no file."""
    if n_entries > _MOST_ENTRIES_TO_CERTIFY:
        return ""
    file = io.BytesIO()
    try:
        save(file)
    except (AttributeError, RuntimeError, TypeError, ValueError):  # no proof that a file can hold
        return ""
    held = base64.b64encode(file.getvalue()).decode("ascii")
    return template("verify.html", certificate=held, checker=_text("checker.js"))


def template(name: str, **parts: str) -> str:
    """Return a file of this folder with its placeholders filled."""
    return Template(_text(name)).substitute(parts)


def _text(name: str) -> str:
    return files("rectiline.reports").joinpath(name).read_text("utf-8")
