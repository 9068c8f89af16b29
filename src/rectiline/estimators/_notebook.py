"""How a fitted estimator shows its proof in a notebook."""

from __future__ import annotations

from html import escape
from typing import Any

from rectiline.problems import Certificate

__all__ = ["ShowsCertificate", "certificate_html"]

_SHOWN = 12  # problems listed before the rest is summed up


class ShowsCertificate:
    """Append the certificate to scikit-learn's diagram of the estimator."""

    def _repr_html_inner(self) -> str:
        return str(super()._repr_html_inner()) + certificate_html(self)  # type: ignore[misc]

    def _repr_mimebundle_(self, **kwargs: Any) -> dict[str, str]:
        bundle: dict[str, str] = super()._repr_mimebundle_(**kwargs)  # type: ignore[misc]
        if "text/html" in bundle:
            bundle["text/html"] += certificate_html(self)
        return bundle


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
