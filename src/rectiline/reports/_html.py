"""One self-contained HTML page about a fit: what was asked, the answer, and its proof.

Called by ``rectiline report`` and by the estimators' ``report``. The page needs no network, follows
the reader's light or dark setting, and prints.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from html import escape
from pathlib import Path
from typing import Any

import numpy as np

from rectiline._typing import Vector
from rectiline.problems import Problem
from rectiline.reports._svg import bars, histogram, line
from rectiline.solvers import Solution

__all__ = ["write_report"]

_MOST_BARS = 30  # coefficients in the picture, the largest ones
_MOST_ROWS = 200  # rows of a table
_STYLE = """
:root { color-scheme: light dark; --ink: #1b1f24; --paper: #ffffff; --line: #c9d1d9;
  --mark: #0b63c5; --minus: #b3421b; --good: #12743b; --bad: #b3261e; --soft: #f3f5f8; }
@media (prefers-color-scheme: dark) { :root { --ink: #e6e9ee; --paper: #14171b; --line: #3a424d;
  --mark: #6cb0ff; --minus: #ff9b73; --good: #5fd38d; --bad: #ff8a80; --soft: #1d2228; } }
body { background: var(--paper); color: var(--ink); margin: 2rem auto; max-width: 46rem;
  padding: 0 1rem; font: 16px/1.5 system-ui, sans-serif; }
h1 { font-size: 1.6rem; margin-bottom: 0; } h2 { font-size: 1.15rem; margin-top: 2rem; }
.verdict { background: var(--soft); border-left: 4px solid var(--good); padding: .6rem 1rem; }
.verdict.open { border-color: var(--bad); }
table { border-collapse: collapse; font-variant-numeric: tabular-nums; }
td, th { border-bottom: 1px solid var(--line); padding: .2rem .8rem .2rem 0; text-align: left; }
td.n, th.n { text-align: right; } pre { background: var(--soft); overflow-x: auto; padding: .6rem; }
svg { max-width: 100%; height: auto; } svg text { fill: var(--ink); font-size: 12px; }
.axis { fill: none; stroke: var(--line); }
.curve { fill: none; stroke: var(--mark); stroke-width: 2; }
.mark, .bar { fill: var(--mark); } .bar.negative { fill: var(--minus); }
.wide { overflow-x: auto; } @media print { body { margin: 0; max-width: none; } }
"""


def write_report(
    path: str | os.PathLike[str],
    problem: Problem,
    solution: Solution,
    y: Any = None,
    feature_names: Sequence[str] | None = None,
    inference: Any = None,
) -> None:
    """Write one self-contained HTML page about a solution.

    Parameters
    ----------
    path : str or path
    problem : Problem
    solution : Solution
        The answer to `problem`.
    y : array-like, optional
        The targets as they were given; only their number of distinct values is shown for labels.
    feature_names : sequence of str, optional
        Names of the columns of X.
    inference : object with ``to_html``, optional
        A table of standard errors, see `rectiline.inference`.

    Examples
    --------
    >>> import os, tempfile
    >>> from pathlib import Path
    >>> import numpy as np
    >>> import rectiline as rl
    >>> problem = rl.Problem(np.eye(3), [1.0, 2.0, 3.0], loss=rl.losses.Absolute())
    >>> path = os.path.join(tempfile.mkdtemp(), "fit.html")
    >>> rl.reports.write_report(path, problem, rl.solve(problem))
    >>> "relative gap" in Path(path).read_text("utf-8")
    True
    """
    d = problem.n_features
    names = [f"x{k}" for k in range(d)] if feature_names is None else list(map(str, feature_names))
    if len(names) != d:
        raise ValueError(f"feature_names has {len(names)} entries but X has {d} columns.")
    sections = [_verdict(solution), _statement(problem, y)]
    if solution.infeasibility is None:
        sections += [
            _certificate(solution),
            _coefficients(names, solution),
            _section("Standard errors", inference.to_html()) if inference is not None else "",
            _fit(problem, solution),
            _constraints(problem, solution),
            _convergence(solution),
        ]
    sections += [_loss(problem), _how_to_verify()]
    title = "Rectiline: report of a fit"
    page = (
        f'<!doctype html><html lang="en"><head><meta charset="utf-8"><title>{title}</title>'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<style>{_STYLE}</style></head><body><h1>{title}</h1>{''.join(sections)}</body></html>\n"
    )
    Path(path).write_text(page, "utf-8")


def _section(title: str, content: str) -> str:
    return f"<section><h2>{escape(title)}</h2>{content}</section>"


def _table(header: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    """Return a table whose first column holds words and whose others hold numbers."""

    def cells(row: Sequence[object], tag: str) -> str:
        return "".join(
            f"<{tag}{'' if k == 0 else ' class=n'}>{escape(str(one))}</{tag}>"
            for k, one in enumerate(row)
        )

    head = f"<tr>{cells(header, 'th')}</tr>" if header else ""
    body = "".join(f"<tr>{cells(row, 'td')}</tr>" for row in rows)
    return f'<div class="wide"><table>{head}{body}</table></div>'


def _verdict(solution: Solution) -> str:
    if solution.infeasibility is not None:
        text = "Infeasible: it is proved that no coefficients satisfy the constraints."
    else:
        text = f"{str(solution.status).capitalize()}: {solution.certificate}."
    kind = "verdict" if solution.status == "solved" else "verdict open"
    if solution.status != "solved":
        text += f" {solution.status.advice}"
    return f'<p class="{kind}">{escape(text)}</p>'


def _statement(problem: Problem, y: Any) -> str:
    """Return the problem in words and as a formula (MathML, which browsers draw themselves)."""
    intercept = "<mo>+</mo><msub><mi>b</mi><mn>0</mn></msub>" if problem.fit_intercept else ""
    penalty = (
        ""
        if problem.penalty is None
        else "<mo>+</mo><mi>&Omega;</mi><mo>(</mo><mi>b</mi><mo>)</mo>"
    )
    formula = (
        '<math display="block"><munder><mi>minimise</mi><mi>b</mi></munder>'
        "<munderover><mo>&sum;</mo>"
        f"<mrow><mi>i</mi><mo>=</mo><mn>1</mn></mrow><mn>{problem.n_samples}</mn></munderover>"
        "<msub><mi>w</mi><mi>i</mi></msub><mi>L</mi><mo>(</mo><msub><mi>y</mi><mi>i</mi></msub>"
        "<mo>,</mo><msubsup><mi>x</mi><mi>i</mi><mo>&prime;</mo></msubsup><mi>b</mi>"
        f"{intercept}<mo>)</mo>{'' if problem.penalty is None else penalty}</math>"
    )
    weights = problem.weight
    same = weights.size and (weights == weights[0]).all()
    rows = [
        ("rows and columns", f"{problem.n_samples:,} × {problem.n_features:,}"),
        ("loss L", repr(problem.loss)),
        ("penalty Ω", "none" if problem.penalty is None else repr(problem.penalty)),
        ("constraints", ", ".join(map(repr, problem.constraints)) or "none"),
        ("intercept", "yes" if problem.fit_intercept else "no"),
        ("weights w", f"all {weights[0]:.6g}" if same else "one for each row"),
    ]
    if y is not None and problem.losses[0].of == "margin":
        rows.append(("labels", ", ".join(map(str, np.unique(np.asarray(y)).tolist()))))
    shown = [(name, text if len(text) <= 400 else text[:397] + "...") for name, text in rows]
    return _section("The problem", formula + _table((), shown))


def _certificate(solution: Solution) -> str:
    proof = solution.certificate
    rows = [
        ("objective", f"{proof.primal:.12g}"),
        ("proved lower bound on the optimum", f"{proof.dual:.12g}"),
        ("relative gap", f"{proof.relative_gap:.2e}"),
        ("gap, rounding included", f"{proof.gap:.2e}"),
        ("part of the gap that bounds rounding", f"{proof.rounding:.1e}"),
        ("largest violation of a constraint", f"{proof.violation:.1e}"),
        ("solver", f"{solution.solver}, {solution.n_iter} iterations, {solution.seconds:.3g} s"),
    ]
    return _section("The certificate", _table((), rows))


def _coefficients(names: Sequence[str], solution: Solution) -> str:
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
    picture = bars([names[j] for j in top], coef[top])
    return _section("Coefficients", f"{note}</p>{picture}{_table(('name', 'value'), rows)}")


def _fit(problem: Problem, solution: Solution) -> str:
    z = problem.design.dot(solution.coef) + solution.intercept
    t = problem.direction * z + problem.offset
    kind = problem.losses[0].of
    title, axis = {
        "residual": ("Residuals", "y minus prediction"),
        "margin": ("Margins", "label times decision value"),
    }.get(kind, ("Predictions", "prediction"))
    low, middle, high = np.quantile(t, [0.05, 0.5, 0.95])
    words = f"<p>5 %, 50 % and 95 %: {low:.4g}, {middle:.4g}, {high:.4g}.</p>"
    if kind == "margin":
        words += f"<p>{np.mean(t > 0):.1%} of the rows are on the right side.</p>"
    return _section(title, histogram(t, (axis, "rows")) + words)


def _constraints(problem: Problem, solution: Solution) -> str:
    if not problem.is_constrained:
        return ""
    rows, coef, dual = problem.constraint_rows, solution.coef, solution.dual
    listed: list[tuple[str, str, str]] = []
    for kind, matrix, constant, multipliers in (
        ("inequality", rows.A, rows.c, dual.inequality),
        ("equality", rows.E, rows.f, dual.equality),
    ):
        slack: Vector = np.asarray(matrix @ coef + constant)
        listed += [
            (f"{kind} {k}", f"{slack[k]:.4g}", f"{multipliers[k]:.4g}") for k in range(slack.size)
        ]
    at_bound = int(np.count_nonzero((coef == rows.lower) | (coef == rows.upper)))
    words = f"<p>{at_bound} coefficients are at a bound."
    if len(listed) > _MOST_ROWS:
        words += f" The first {_MOST_ROWS} of {len(listed)} rows are shown."
    table = _table(("row", "slack", "multiplier"), listed[:_MOST_ROWS]) if listed else ""
    return _section("Constraints", f"{words}</p>{table}")


def _convergence(solution: Solution) -> str:
    points = [(one.seconds, one.relative_gap) for one in solution.history]
    shown = [(at, gap) for at, gap in points if 0.0 < gap < np.inf]
    if len(shown) < 2:
        return ""
    seconds, gaps = zip(*shown, strict=True)
    axes = ("seconds", "certified relative gap")
    words = f"<p>{escape(solution.reason)}.</p>"
    return _section("Convergence", line(seconds, gaps, axes, log=True, dots=True) + words)


def _loss(problem: Problem) -> str:
    loss = problem.losses[0]
    knots = loss.curve.knots
    reach = max(float(np.ptp(knots)), 1.0)
    t = np.linspace(knots[0] - reach, knots[-1] + reach, 241)
    axis = {"residual": "y minus prediction", "margin": "label times decision value"}
    return _section(
        "The loss", line(t, loss.curve.value(t), (axis.get(loss.of, "prediction"), repr(loss)))
    )


def _how_to_verify() -> str:
    commands = (
        'solution.save("fit.rlcert")          # in Python\n'
        "rectiline verify fit.rlcert DATA --target y"
    )
    return _section(
        "How to verify",
        f"<pre>{escape(commands)}</pre><p>The checker is one file on NumPy alone. It contains no "
        "solver and proves the gap again from the data.</p>",
    )
