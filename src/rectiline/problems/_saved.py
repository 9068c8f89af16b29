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
from rectiline.rows import pick

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

    `dual` is a repaired point, as solutions carry it. Rows in blocks are read twice: once for the
    slopes of the listed rows, once to check the proof.
    """
    header, arrays = _statement(problem, columns)

    def extended(b: Any, b0: float) -> Any:
        return np.append(b, b0) if problem.fit_intercept else np.asarray(b, dtype=np.float64)

    answer = extended(coef, intercept)
    d = problem.terms.region.rows
    arrays |= {"coef": answer, "split_coef": answer}
    arrays["inequality"] = dual.inequality if dual.inequality.size else np.zeros(d.c.size)
    arrays["equality"] = dual.equality if dual.equality.size else np.zeros(d.f.size)
    if problem.is_in_memory:
        slopes = _slopes(problem, np.asarray(dual.sample))
        listed = (np.arange(slopes.size), _undecided(problem, answer, slopes))
        tries = [_answers(rows, slopes[rows]) for rows in listed]
        blocks: Iterable[Any] = [(problem.design.X, _targets(problem))]
    else:
        listed_slopes = _answers(dual.rows, _slopes_in_blocks(problem, dual))
        split = extended(dual.split_coef, dual.split_intercept)
        tries = [listed_slopes, listed_slopes | {"split_coef": split}]
        blocks = (
            tuple(_on_host(part) for part in (block.X, block.y, block.weight))
            for block in problem.source.blocks
        )
    tried = [arrays | one for one in tries]
    verdicts = _verdicts(header, tried, blocks)
    best = min(range(len(tried)), key=lambda k: verdicts[k].gap)
    if problem.is_in_memory and verdicts[1].gap <= _WORSE * verdicts[0].gap:
        best = 1  # fewer slopes
    header["claim"] = {
        "objective": verdicts[best].objective.hex(),
        "gap": float(_MARGIN * verdicts[best].gap).hex(),
    }
    _write(path, header, tried[best])


def _answers(rows: Any, slopes: Any) -> dict[str, Any]:
    return {"slope_rows": rows.astype(np.int64), "slopes": slopes}


def _on_host(part: Any) -> Any:
    return part.cpu().numpy() if hasattr(part, "cpu") else part


def _slopes_in_blocks(problem: Any, dual: Any) -> Any:
    """Return the slopes of the losses behind the multipliers of listed rows, with one pass."""
    slopes, (low, high) = np.zeros(dual.rows.size), problem.losses[0].curve.domain()
    for block in problem.source.blocks:
        ends = np.searchsorted(dual.rows, (block.start, block.start + block.n_rows))
        mine = slice(*ends)
        if ends[0] == ends[1]:
            continue
        samples = problem.source.samples.of_block(pick(block, dual.rows), dual.rows[mine])
        used = samples.weight > 0
        slope = samples.direction * dual.values[mine] / np.where(used, samples.weight, 1.0)
        slopes[mine] = np.clip(np.where(used, slope, 0.0), low, high)
    return slopes


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
    free, rows = int(problem.fit_intercept), problem.terms.region.rows
    d = problem.n_features
    weight, index = np.ones(1), None  # those of rows in blocks come with the data
    if problem.is_in_memory:
        weight, index = np.asarray(problem.weight), problem.loss_index
    elif not problem.source.samples.encoding.is_plain:
        raise ValueError(
            "Certificate files of rows in blocks hold one loss and the rows' own weights; this "
            "problem has several losses, folds, or weights of classes."
        )
    constant = bool(weight.size) and bool((weight == weight[0]).all())
    columns = problem.feature_names if columns is None else columns
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
    if index is not None:
        arrays["loss_index"] = index
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
    samples = problem.source.samples
    labels = samples.labels if problem.is_in_memory else samples.encoding.labels
    return list(labels or (-1.0, 1.0))


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


def _verdicts(header: dict[str, Any], tried: list[dict[str, Any]], blocks: Iterable[Any]) -> Any:
    """Return what the checker proves by each try, and enter the checksums of the rows."""
    generous = {"objective": (0.0).hex(), "gap": float(np.finfo(np.float64).max).hex()}
    made = [_checker().Checker({**header, "claim": generous}, arrays) for arrays in tried]
    for block in blocks:
        for checker in made:
            checker.add(*block)
    header["checksums"] = [one.hexdigest() for one in made[0].sums]
    for checker in made:
        checker.header["checksums"] = header["checksums"]
    return [checker.verdict() for checker in made]


def _write(path: str | os.PathLike[str], header: dict[str, Any], arrays: dict[str, Any]) -> None:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        header = {**header, "arrays": sorted(arrays)}
        archive.writestr("header.json", json.dumps(header, indent=1))
        for name, array in sorted(arrays.items()):
            buffer = io.BytesIO()
            np.save(buffer, np.ascontiguousarray(array), allow_pickle=False)
            archive.writestr(f"{name}.npy", buffer.getvalue())
