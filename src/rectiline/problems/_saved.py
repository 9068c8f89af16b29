"""Write certificate files, which hold all that `rectiline.verify` needs to repeat a proof."""

from __future__ import annotations

import importlib
import io
import json
import os
import zipfile
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import numpy as np

from rectiline.constraints import ConstraintRows
from rectiline.losses import LinearTerm, Loss
from rectiline.penalties import GroupLinf, Slope, SparseGroupLinf

__all__ = ["save_infeasibility", "save_optimality"]

_MARGIN = 1.05  # of the gap: another machine adds the same numbers in another order
_NEAR = 1e-7  # relative distance from a knot below which a row's slope is written down
_SAME_SLOPE = 1e-10  # relative difference up to which a slope is that of the place on the loss
_WORSE = 1.02  # a list of fewer slopes may cost this factor of the gap


def save_optimality(
    path: str | os.PathLike[str],
    problem: Any,
    coef: Any,
    intercept: float,
    dual: Any,
    columns: Sequence[str] | None = None,
) -> None:
    """Write the proof that coefficients are nearly optimal, checked once before it is written.

    `problem` holds its rows in memory; `dual` is a repaired point, as solutions carry it.
    """
    header, arrays = _statement(problem, columns)
    free = int(problem.fit_intercept)
    with_intercept = np.append(coef, intercept) if free else np.asarray(coef, dtype=np.float64)
    arrays |= {"coef": with_intercept, "split_coef": with_intercept}
    arrays |= {"inequality": dual.inequality, "equality": dual.equality}
    blocks = [(problem.design.X, _targets(problem))]
    slopes = _slopes(problem, np.asarray(dual.sample))
    every = np.arange(slopes.size)
    found = None
    for rows in (every, _undecided(problem, with_intercept, slopes)):
        tried = arrays | {"slope_rows": rows.astype(np.int64), "slopes": slopes[rows]}
        verdict = _verdict(header, tried, blocks)
        if found is None or verdict.gap <= _WORSE * found[0].gap:
            found = verdict, tried
    assert found is not None
    verdict, arrays = found
    header["claim"] = {
        "objective": verdict.objective.hex(),
        "gap": float(_MARGIN * verdict.gap).hex(),
    }
    _write(path, header, arrays)


def save_infeasibility(path: str | os.PathLike[str], rows: ConstraintRows, proof: Any) -> None:
    """Write multipliers that prove that constraints contradict one another."""
    arrays = _constraint_arrays(rows, 0)
    arrays |= {"inequality": proof.inequality, "equality": proof.equality}
    _checker().check_infeasible(arrays)
    _write(path, {**_FORMAT, "kind": "infeasible"}, arrays)


def _checker() -> Any:
    # Not at the top: ``python -m rectiline.verify`` must not find itself already imported.
    return importlib.import_module("rectiline.verify")


_FORMAT = {"format": "rectiline-certificate", "version": 1}


def _statement(
    problem: Any, columns: Sequence[str] | None
) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return header and arrays that say what the problem is, without its rows."""
    free, rows = int(problem.fit_intercept), problem.constraint_rows
    d = problem.n_features
    weight = np.asarray(problem.weight)
    constant = bool(weight.size) and bool((weight == weight[0]).all())
    header = {
        **_FORMAT,
        "kind": "optimality",
        "radius": _checker().RADIUS,
        "n_samples": problem.n_samples,
        "n_columns": d + free,
        "n_inequalities": rows.c.size,
        "n_equalities": rows.f.size,
        "fit_intercept": bool(free),
        "columns": None if columns is None else [str(name) for name in columns],
        "of": problem.losses[0].of,
        "labels": _labels(problem),
        "losses": [_curve(one) for one in problem.losses],
        "penalty": repr(problem.penalty),
        "constraints": [repr(one) for one in problem.constraints],
        "weight_scale": float(weight[0] if constant else 1.0).hex(),
    }
    arrays = _constraint_arrays(rows, free)
    arrays["rho"] = np.append(problem.columns.rho, [0.0] * free)
    arrays["l1"] = np.append(problem.columns.l1, [0.0] * free)
    groups, strengths = np.full(d + free, -1, dtype=np.int64), np.zeros(d + free)
    penalty = problem.penalty
    if isinstance(penalty, Slope):
        groups[:d], strengths[:d] = 0, penalty.strengths
    elif isinstance(penalty, GroupLinf):
        for k, members in enumerate(penalty.groups):
            groups[members], strengths[members.min()] = k, penalty.strength
    elif isinstance(penalty, SparseGroupLinf):  # on its columns a group is a sorted norm
        arrays["l1"][:d] = penalty.l1
        for k, members in enumerate(penalty.groups):
            groups[members], strengths[members] = k, penalty.l1
            strengths[members.min()] += penalty.linf
            arrays["l1"][members] = 0.0
    elif not problem.is_separable:
        raise ValueError(f"Certificate files cannot hold the penalty {penalty!r}.")
    arrays |= {"groups": groups, "strengths": strengths}
    if not constant:
        arrays["weight"] = weight
    if problem.loss_index is not None:
        arrays["loss_index"] = problem.loss_index
    return header, arrays


def _constraint_arrays(rows: ConstraintRows, free: int) -> dict[str, Any]:
    d = rows.lower.size
    arrays = {"c": rows.c, "f": rows.f}
    for name, matrix, count in (("A", rows.A, rows.c.size), ("E", rows.E, rows.f.size)):
        arrays[name] = np.zeros((count, d + free))
        arrays[name][:, :d] = matrix.toarray() if hasattr(matrix, "toarray") else matrix
    arrays["lower"] = np.append(rows.lower, [-np.inf] * free)
    arrays["upper"] = np.append(rows.upper, [np.inf] * free)
    return arrays


def _curve(loss: Loss) -> dict[str, Any]:
    """Return the pieces of a loss, each anchored at a knot, numbers in hexadecimal."""
    curve = loss.curve
    anchor = curve.anchors
    table = np.column_stack([anchor.knot, anchor.value, anchor.slope, curve.curvature])
    return {
        "name": repr(loss),
        "knots": [float(v).hex() for v in curve.knots],
        "pieces": [[float(v).hex() for v in piece] for piece in table],
    }


def _labels(problem: Any) -> list[Any]:
    return list(problem.data.samples.labels or (-1.0, 1.0))


def _targets(problem: Any) -> Any:
    if problem.losses[0].of != "margin":
        return problem.offset
    return np.array(_labels(problem))[(problem.direction > 0).astype(np.intp)]


def _slopes(problem: Any, sample: Any) -> Any:
    """Return the slopes of the losses themselves behind multipliers of weighted losses."""
    used = problem.weight > 0
    slopes = np.where(used, problem.direction * sample / np.where(used, problem.weight, 1.0), 0.0)
    for mine, loss in _by_loss(problem):
        slopes[mine] = np.clip(slopes[mine], *loss.curve.domain())
    return slopes


def _undecided(problem: Any, coef: Any, slopes: Any) -> Any:
    """Return the rows whose slope does not follow from their place on the loss."""
    z = problem.design.dot(coef[: problem.n_features])
    t = problem.direction * (z + (coef[-1] if problem.fit_intercept else 0.0)) + problem.offset
    listed = np.zeros(t.size, dtype=bool)
    # A linear term cannot shrink with the other multipliers, so that they have to be exact.
    exact = any(isinstance(loss, LinearTerm) for loss in problem.losses)
    near = 0.0 if exact else _SAME_SLOPE
    for mine, loss in _by_loss(problem):
        curve, at, slope = loss.curve, t[mine], slopes[mine]
        here = curve.derivative(at)[1]
        size = np.abs(at) + np.abs(problem.offset[mine])
        listed[mine] = np.abs(here - slope) > near * (np.abs(here) + np.abs(slope))
        for knot in curve.knots[curve.right > curve.left]:
            listed[mine] |= np.abs(at - knot) <= _NEAR * (size + abs(knot))
    return np.flatnonzero(listed & (problem.weight > 0))


def _by_loss(problem: Any) -> Iterator[tuple[Any, Loss]]:
    for k, loss in enumerate(problem.losses):
        yield (slice(None) if problem.loss_index is None else problem.loss_index == k), loss


def _verdict(header: dict[str, Any], arrays: dict[str, Any], blocks: Iterable[Any]) -> Any:
    """Return what the checker proves, whatever it is, and enter the checksums of the rows."""
    generous = {"objective": (0.0).hex(), "gap": float(np.finfo(np.float64).max).hex()}
    checker = _checker().Checker({**header, "claim": generous}, arrays)
    for block in blocks:
        checker.add(*block)
    header["checksums"] = checker.header["checksums"] = [one.hexdigest() for one in checker.sums]
    return checker.verdict()


def _write(path: str | os.PathLike[str], header: dict[str, Any], arrays: dict[str, Any]) -> None:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        header = {**header, "arrays": sorted(arrays)}
        archive.writestr("header.json", json.dumps(header, indent=1))
        for name, array in sorted(arrays.items()):
            buffer = io.BytesIO()
            np.save(buffer, np.ascontiguousarray(array), allow_pickle=False)
            archive.writestr(f"{name}.npy", buffer.getvalue())
