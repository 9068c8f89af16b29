"""Tell users which constraints contradict each other, in the names of their columns."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse as sp

from rectiline.constraints import ConstraintRows
from rectiline.exceptions import InfeasibleError
from rectiline.problems import InfeasibilityCertificate
from rectiline.solvers import Solution, Status

__all__ = ["raise_if_infeasible"]

_MOST = 6  # constraints listed
_TERMS = 4  # columns of a row written out


def raise_if_infeasible(
    solution: Solution, rows: ConstraintRows | None = None, names: NDArray[Any] | None = None
) -> None:
    """Raise InfeasibleError, with the proof, if no coefficients satisfy the constraints.

    Parameters
    ----------
    solution : Solution
    rows : ConstraintRows, optional
        The constraints that the proof is about, to write them out.
    names : ndarray of str, optional
        Names of the columns.
    """
    if solution.status != Status.INFEASIBLE:
        return
    proof = solution.infeasibility
    listed = [] if proof is None else _listed(proof, rows, names)
    named = f": {'; '.join(listed)} cannot hold together" if listed else ""
    raise InfeasibleError(
        f"No coefficients satisfy the constraints{named}. Loosen one of them; the proof is in the "
        "`certificate` attribute of this error.",
        proof,
    )


def _listed(
    proof: InfeasibilityCertificate, rows: ConstraintRows | None, names: NDArray[Any] | None
) -> list[str]:
    """Return the constraints with a multiplier, then the bounds that the proof uses."""
    used = np.flatnonzero(proof.inequality)
    equal = np.flatnonzero(proof.equality)
    if rows is None or (rows.c.size, rows.f.size) != (proof.inequality.size, proof.equality.size):
        texts = [f"inequality row {i}" for i in used] + [f"equality row {i}" for i in equal]
        return _cut(texts)
    texts = [_written(rows.A[[i]], -rows.c[i], ">=", names) for i in used]
    texts += [_written(rows.E[[i]], -rows.f[i], "==", names) for i in equal]
    combined = proof.inequality @ rows.A + proof.equality @ rows.E
    size = np.abs(combined).max(initial=0.0)
    for j in np.flatnonzero(np.abs(combined) > 1e-9 * size):
        # What the rows add up to is pushed against one of the two bounds.
        bound = rows.upper[j] if combined[j] > 0 else rows.lower[j]
        if np.isfinite(bound):
            sign = "<=" if combined[j] > 0 else ">="
            texts.append(f"{_name(int(j), names)} {sign} {bound:g}")
    return _cut(texts)


def _cut(texts: list[str]) -> list[str]:
    left = len(texts) - _MOST
    return texts if left <= 0 else [*texts[:_MOST], f"{left} more"]


def _written(row: Any, value: float, sign: str, names: NDArray[Any] | None) -> str:
    numbers = np.asarray(row.toarray() if sp.issparse(row) else row, dtype=np.float64).ravel()
    if sign == ">=" and (numbers <= 0).all():  # read better the other way round
        numbers, value, sign = -numbers, -value, "<="
    text = ""
    columns = np.flatnonzero(numbers)
    for j in columns[:_TERMS]:
        size = abs(numbers[j])
        factor = "" if size == 1.0 else f"{size:g} "
        lead = "-" if numbers[j] < 0 else ""
        if text:
            lead = " - " if numbers[j] < 0 else " + "
        text += f"{lead}{factor}{_name(int(j), names)}"
    if columns.size > _TERMS:
        text += f" + {columns.size - _TERMS} more terms"
    return f"{text or '0'} {sign} {value + 0.0:g}"


def _name(j: int, names: NDArray[Any] | None) -> str:
    return f"b[{j}]" if names is None else str(names[j])
