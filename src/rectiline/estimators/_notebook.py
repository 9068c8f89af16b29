"""How a fitted estimator shows its proof in a notebook."""

from __future__ import annotations

from html import escape
from inspect import signature
from typing import Any

import numpy as np

from rectiline.problems import Certificate

try:  # scikit-learn 1.7 and later
    from sklearn.utils._repr_html.estimator import _VisualBlock
except ImportError:
    from sklearn.utils._estimator_html_repr import _VisualBlock

__all__ = ["certificate_html", "visual_block"]

_SHOWN = 12  # problems listed before the rest is summed up


def visual_block(estimator: Any) -> Any:
    """Return the block of an estimator in scikit-learn's diagrams.

    A line under the name says what is proved, also inside a Pipeline; the diagram of the estimator
    itself ends with the table of `certificate_html`.
    """
    summary = certificate_line(estimator)
    details = f"{estimator}\n{summary}" if summary else str(estimator)
    given: dict[str, Any] = {"names": type(estimator).__name__, "name_details": details}
    if summary and "name_caption" in signature(_VisualBlock).parameters:
        given["name_caption"] = summary
    return _VisualBlock("single", estimator, **given)


def certificate_line(estimator: Any) -> str:
    """Return the worst status and the largest relative gap of the fit; nothing before the fit."""
    proofs = getattr(estimator, "certificate_", None)
    if proofs is None:
        return ""
    listed = [proofs] if isinstance(proofs, Certificate) else list(proofs)
    states = getattr(estimator, "status_", "solved")
    unsolved = [one for one in np.atleast_1d(states) if one != "solved"]
    gap = max(proof.relative_gap for proof in listed)
    return f"{unsolved[0] if unsolved else 'solved'}, relative gap {gap:.1e}"


def certificate_html(estimator: Any) -> str:
    """Return a small table with one line per problem of the fit; nothing before the fit."""
    proofs = getattr(estimator, "certificate_", None)
    if proofs is None:
        return ""
    single = isinstance(proofs, Certificate)
    listed = [proofs] if single else list(proofs)
    solvers = [estimator.solver_] if single else list(estimator.solver_)
    states = [estimator.status_] if single else list(estimator.status_)
    lines = [_line(*entry) for entry in zip(states, listed, solvers, strict=True)]
    if len(lines) > _SHOWN:
        worst = max(listed, key=lambda proof: proof.relative_gap)
        lines = [
            *lines[: _SHOWN - 1],
            f"<tr><td colspan='5'>{len(listed) - _SHOWN + 1} more; largest relative gap "
            f"{worst.relative_gap:.1e}</td></tr>",
        ]
    head = "".join(
        f"<th>{name}</th>"
        for name in ("status", "objective", "relative gap", "violation", "solver")
    )
    return (
        "<table class='rectiline-certificate'><caption>certificate</caption>"
        f"<thead><tr>{head}</tr></thead><tbody>{''.join(lines)}</tbody></table>"
    )


def _line(status: str, proof: Certificate, solver: str) -> str:
    cells = (
        escape(str(status)),
        f"{proof.primal:.8g}",
        f"{proof.relative_gap:.1e}",
        f"{proof.violation:.1e}",
        escape(solver),
    )
    return "<tr>" + "".join(f"<td>{cell}</td>" for cell in cells) + "</tr>"
