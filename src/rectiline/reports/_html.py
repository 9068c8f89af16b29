"""One self-contained HTML page about a fit: what was asked, the answer, and its proof.

Called by ``rectiline report`` and by the estimators' ``report``. The page needs no network, follows
the reader's light or dark setting, and prints.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from html import escape
from pathlib import Path
from typing import Any

from rectiline.problems import Problem
from rectiline.reports import _sections as sections
from rectiline.solvers import Solution

_MOST_PROBLEMS = 12  # problems with sections of their own


def write_report(
    path: str | os.PathLike[str],
    problem: Problem | Sequence[Problem],
    solution: Solution | Sequence[Solution],
    y: Any = None,
    feature_names: Any = None,
    inference: Any = None,
    titles: Sequence[str] | None = None,
    fairness: Mapping[str, Any] | None = None,
    about: Mapping[str, Any] | None = None,
    prediction: Any = None,
    units: Sequence[float] | None = None,
    certificate: Callable[[Any], None] | None = None,
    search: Mapping[str, Any] | None = None,
    joint: tuple[str, Any] | None = None,
) -> None:
    """Write one self-contained HTML page about a solution, or about several.

    Parameters
    ----------
    path : str or path
    problem : Problem or sequence of Problem
    solution : Solution or sequence of Solution
        The answer to `problem`, or one for each.
    y : array-like, optional
        The targets as they were given, or a list with those of each problem.
    feature_names : sequence of str, optional
        Names of the columns of X; by default those of the problem.
    inference : object with ``to_html``, optional
        A table of standard errors, see `rectiline.inference`.
    titles : sequence of str, optional
        What each of several problems is about, say a class or a quantile.
    fairness : mapping of column names to columns, optional
        What groups of samples get: ``fairness_`` of an estimator.
    about : mapping of str, optional
        What the page is about, such as ``{"data": "prices.csv", "target": "price"}``; the date and
        the version are added.
    prediction : array-like, optional
        What the model predicts for the rows of `y`, in the form of `y`; a score beside that of a
        constant is then shown, and for labels a table of true and predicted classes.
    units : sequence of float, optional
        Factors from the sums of the problems to the objective of the model, one for each problem.
    certificate : callable, optional
        Writes the proofs to a file, which the page then holds with a checker; by default those of
        one problem.
    search : mapping of column names to columns, optional
        The candidates of a search and their scores: ``cv_results_`` of an estimator.
    joint : tuple of str and Solution, optional
        Where the problems were solved as one: how they are joined, in words, and its answer, whose
        proof is then shown once for all.

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
    problems = [problem] if isinstance(problem, Problem) else list(problem)
    solutions = [solution] if isinstance(solution, Solution) else list(solution)
    if len(problems) != len(solutions) or not problems:
        raise ValueError(
            f"There are {len(problems)} problems but {len(solutions)} solutions; each problem "
            "needs its own."
        )
    named = [str(k + 1) for k in range(len(problems))] if titles is None else list(map(str, titles))
    if len(named) != len(problems):
        raise ValueError(f"titles has {len(named)} entries for {len(problems)} problems.")
    factors = [1.0] * len(problems) if units is None else list(units)
    names = [_names(one, feature_names) for one in problems]
    content = sections.header(about or {}, problems[0], y)
    if prediction is not None and y is not None:
        content += sections.scores(y, prediction, problems, named)
    if search is not None:
        content += sections.search(search)
    whole = sections.errors(inference) if inference is not None else ""
    whole += sections.groups(fairness) if fairness else ""
    if len(problems) == 1:
        content += _answer(problems[0], solutions[0], names[0], whole)
        joint = ("", solutions[0]) if joint is None else joint
    else:
        content += sections.overview(named, solutions, factors) if joint is None else ""
        content += whole
        for k in range(min(len(problems), _MOST_PROBLEMS)):
            content += f'<h1 class="part">{escape(named[k])}</h1>'
            content += _answer(problems[k], solutions[k], names[k])
            if joint is None:
                content += _proof(problems[k], solutions[k], y, factors[k])
        if len(problems) > _MOST_PROBLEMS:
            content += f"<p>Shown are the first {_MOST_PROBLEMS} of {len(problems)} problems.</p>"
    if joint is not None:
        content += _proof(problems[0], joint[1], y, factors[0], joint[0])
    if certificate is None and len(problems) == 1:
        known = None if names[0][:1] == ["x0"] else names[0]
        certificate = partial(solutions[0].save, problem=problems[0], columns=known)
    if certificate is not None:
        content += sections.checker(certificate, problems[0].n_samples * problems[0].n_features)
    Path(path).write_text(sections.template("page.html", content=content), "utf-8")


def _names(problem: Problem, given: Any) -> list[str]:
    d = problem.n_features
    known = problem.feature_names if given is None else given
    names = [f"x{k}" for k in range(d)] if known is None else list(map(str, known))
    if len(names) != d:
        raise ValueError(f"feature_names has {len(names)} entries but X has {d} columns.")
    return names


def _answer(problem: Problem, solution: Any, names: list[str], whole: str = "") -> str:
    """Return the sections about the coefficients of one problem, and `whole` among them."""
    if getattr(solution, "infeasibility", None) is not None:
        return ""
    parts = [
        sections.coefficients(names, solution),
        whole,
        sections.fit(problem, solution),
        sections.constraints(names, problem, solution),
    ]
    return "".join(parts)


def _proof(problem: Problem, solution: Any, y: Any, unit: float, joined: str = "") -> str:
    """Return the sections about a proof; `joined` says how several problems became one."""
    details = [sections.statement(problem, y, unit, joined)]
    if getattr(solution, "infeasibility", None) is None:
        details += [sections.certificate(solution, unit), sections.convergence(solution)]
    details.append(sections.loss_curve(problem))
    return sections.proof(solution, unit, "".join(details))
