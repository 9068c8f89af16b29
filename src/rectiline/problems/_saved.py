"""Write certificate files, which hold all that `rectiline.verify` needs to repeat proofs."""

from __future__ import annotations

import importlib
import io
import json
import os
import zipfile
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

import numpy as np

from rectiline._typing import Indices, Mask, Vector
from rectiline.constraints import ConstraintRows
from rectiline.losses import Loss
from rectiline.penalties import GroupedPenalty, Slope
from rectiline.problems._multipliers import slopes_in_blocks, slopes_of, undecided_rows
from rectiline.problems._problem import Problem
from rectiline.rows import Levels, RowBlocks, StackedRows

_GAP_MARGIN = 1.05  # factor: another machine adds the same numbers in another order
_SAME_WEIGHT = 1e-13  # relative difference up to which weights are those of the data times a factor
_LISTED_GAP_FACTOR = 1.02  # by which a list of fewer slopes may enlarge the gap
_UNREAD: dict[str, Any] = {"objective": (0.0).hex(), "gap": float(np.finfo(np.float64).max).hex()}


@dataclass(frozen=True, eq=False)
class ProvedData:
    """The data that a person who checks a file will hand over, and what their columns are called.

    Attributes
    ----------
    X, y : array-like, or RowBlocks and None
        As the user has them, labels included.
    labels : sequence or None
        The labels of a classification; None where targets are numbers.
    weight : ndarray or None
        Weights that the user gave.
    columns, targets : sequence of str or None
        Names of the features and of the targets.
    """

    X: Any
    y: Any = None
    labels: Sequence[Any] | None = None
    weight: Vector | None = None
    columns: Any = None
    targets: Sequence[str] | None = None

    @classmethod
    def of(cls, problem: Problem, columns: Any = None, target: str | None = None) -> ProvedData:
        """Return the data that a problem was made from."""
        names = problem.feature_names if columns is None else columns
        targets = None if target is None else [target]
        if not problem.is_in_memory:
            source: Any = problem.blocks
            source = source.source if isinstance(source, StackedRows) else source
            labels = problem.source.samples.encoding.labels
            return cls(source, labels=labels, columns=names, targets=targets)
        weight, labels = problem.weight, problem.data.samples.labels
        is_plain = not weight.size or bool((weight == weight[0]).all())
        y = problem.offset
        if labels is not None:
            y = np.array(labels)[(problem.direction > 0).astype(np.intp)]
        return cls(problem.design.X, y, labels, None if is_plain else weight, names, targets)

    def blocks(self) -> Iterator[tuple[Any, Any, Any]]:
        """Yield features, targets and weights of the rows."""
        if not isinstance(self.X, RowBlocks):
            yield self.X, np.asarray(self.y), self.weight
            return
        for block in self.X:
            yield tuple(_on_host(part) for part in (block.X, block.y, block.weight))

    @property
    def places(self) -> Indices:
        """The place of each row's label in the list; zeros where targets are numbers."""
        y = np.asarray(self.y)
        if self.labels is None:
            return np.zeros(y.shape[0], dtype=np.intp)
        return np.asarray(np.argmax(y[:, None] == np.array(self.labels), axis=1))


@dataclass(frozen=True, eq=False)
class Statement:
    """A problem on such data, and the answer that a file proves to be optimal.

    Attributes
    ----------
    problem : Problem
    solution : Solution
        Anything with `coef`, `intercept`, a repaired `dual`, `infeasibility` and `direction`.
    samples : ndarray of int or None
        Which rows of the data the problem has, if not all.
    output : int
        Which of the targets it is about.
    levels : Levels or None
        How the problem repeats the rows, all of them for the first level, then for the next.
    kept : ndarray of bool or None
        The rows that have a weight, if a fold leaves some out.
    """

    problem: Problem
    solution: Any
    samples: Indices | None = None
    output: int = 0
    levels: Levels | None = None
    kept: Mask | None = None

    @property
    def kind(self) -> str:
        """What is proved."""
        if self.solution.infeasibility is not None:
            return "infeasible"
        return "optimality" if self.solution.direction is None else "unbounded"

    def tries(self, data: ProvedData) -> list[tuple[dict[str, Any], dict[str, Any]]]:
        """Return header and arrays, with longer and shorter lists of slopes."""
        problem, solution = self.problem, self.solution
        free, rows = int(problem.fit_intercept), problem.terms.region.rows
        header: dict[str, Any] = {"kind": self.kind}
        arrays = constraint_arrays(rows, 0 if self.kind == "infeasible" else free)
        if self.kind == "infeasible":
            proof = solution.infeasibility
            return [(header, arrays | {"inequality": proof.inequality, "equality": proof.equality})]
        more_header, more_arrays = _terms(self, free)
        weights, own = _weights(self, data)
        header, arrays = header | more_header | weights, arrays | more_arrays | own
        if self.kind == "unbounded":
            # The proof is far from where the direction starts: from an answer that is far itself,
            # rounding may hide the fall.
            zero = np.clip(np.zeros(solution.coef.size), rows.lower, rows.upper)
            return [
                (header | {"claim": {}}, arrays | {"coef": start, "direction": solution.direction})
                for start in (solution.coef, zero)
            ]
        dual = solution.dual
        answer = np.append(solution.coef, [solution.intercept] * free)
        arrays |= {"coef": answer, "split_coef": answer}
        arrays["inequality"] = dual.inequality if dual.inequality.size else np.zeros(rows.c.size)
        arrays["equality"] = dual.equality if dual.equality.size else np.zeros(rows.f.size)
        if not problem.is_in_memory:
            arrays |= {"slope_rows": dual.rows, "slopes": slopes_in_blocks(problem, dual)}
            return [(header, arrays)]
        if dual.sample.size != problem.n_samples:
            raise ValueError(
                f"save: the problem has {problem.n_samples} rows, but the solution holds "
                f"{dual.sample.size} multipliers; one from a pickle holds none. A fitted model can "
                "find them again: model.save_certificate(path, X, y)."
            )
        slopes, tries = slopes_of(problem.data.samples, np.asarray(dual.sample)), []
        for listed in (np.arange(slopes.size), undecided_rows(problem, answer, slopes)):
            numbers = listed
            if self.levels is not None:  # level by level here, row by row in the file
                level, row = np.divmod(listed, slopes.size // self.levels.count)
                numbers = row * self.levels.count + level
            elif self.samples is not None:
                numbers = self.samples[listed]
            order = np.argsort(numbers)
            found = {"slope_rows": numbers[order].astype(np.int64), "slopes": slopes[listed][order]}
            tries.append((dict(header), arrays | found))
        return tries


def save_proofs(path: str | os.PathLike[str], statements: Sequence[Any], data: ProvedData) -> None:
    """Write the proofs of answers, which are checked once before they are written.

    Each is a `Statement` or a `TaskStatement`; its `tries` are headers and arrays to choose from.
    Rows in blocks are read twice: once for the slopes of the listed rows, once to check the proof.
    """
    checker: Any = _checker()
    on_rows = isinstance(data.X, RowBlocks)
    file: dict[str, Any] = {
        "format": "rectiline-certificate",
        "version": 2,
        "library": f"rectiline {importlib.import_module('rectiline').__version__}",
        "source": getattr(data.X, "snapshot", None) if on_rows else None,
        "columns": None if data.columns is None else [str(name) for name in data.columns],
        "targets": None if data.targets is None else [str(name) for name in data.targets],
        "labels": None if data.labels is None else [_plain(one) for one in data.labels],
        "n_samples": int(data.X.n_rows if on_rows else data.X.shape[0]),
    }
    tried = [one.tries(data) for one in statements]
    checkers = [
        [checker.Checker(file, header | {"claim": _UNREAD}, arrays) for header, arrays in tries]
        for tries in tried
    ]
    shown = [one for some in checkers for one in some if one.kind != "infeasible"]
    if shown:
        file["checksums"] = checker.show_rows(shown, data.blocks())
    chosen = []
    for tries, some in zip(tried, checkers, strict=True):
        found, (header, arrays) = _best(some, tries)
        if header["kind"] == "optimality":
            gap = float(_GAP_MARGIN * found.gap + found.rounding)  # blocks may be cut otherwise
            header |= {"claim": {"objective": found.objective.hex(), "gap": gap.hex()}}
        chosen.append((header, arrays))
    _write(path, file, chosen)


def _best(checkers: Sequence[Any], tries: Sequence[Any]) -> tuple[Any, Any]:
    """Return a verdict and its file: of the last, which has fewer slopes, if it proves as much."""
    found = []
    for one, parts in zip(checkers, tries, strict=True):
        with suppress(_checker().Refused):
            found.append((one.verdict(), parts))
    if not found:
        checkers[0].verdict()  # says why
    first, last = found[0], found[-1]
    return first if first[0].gap * _LISTED_GAP_FACTOR < last[0].gap else last


def _plain(label: Any) -> Any:
    return label.item() if hasattr(label, "item") else label


def _on_host(part: Any) -> Any:
    return part.cpu().numpy() if hasattr(part, "cpu") else part


def _checker() -> Any:
    # Not at the top: ``python -m rectiline.verify`` must not find itself already imported.
    return importlib.import_module("rectiline.verify")


# ---- what is stated ------------------------------------------------------------------------------


def _terms(one: Statement, free: int) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return losses, penalty and columns of a problem."""
    problem, penalty, d = one.problem, one.problem.penalty, one.problem.n_features
    header = {
        "losses": [curve_of(loss) for loss in problem.losses],
        "penalty": repr(penalty),
        "constraints": [repr(each) for each in problem.constraints],
    }
    costs = {"rho": problem.columns.rho, "l1": problem.columns.l1}
    arrays = {name: np.append(cost, [0.0] * free) for name, cost in costs.items()}
    groups, strengths = np.full(d + free, -1, dtype=np.int64), np.zeros(d + free)
    if isinstance(penalty, Slope):
        groups[:d], strengths[:d] = 0, penalty.strengths
    elif isinstance(penalty, GroupedPenalty):  # on its columns a group is a sorted norm
        arrays["l1"][:d] = penalty.l1
        for k, members in enumerate(penalty.groups):
            groups[members], strengths[members] = k, penalty.l1
            strengths[members.min()] += penalty.linf
            arrays["l1"][members] = 0.0
    elif not problem.is_separable:
        raise ValueError(f"Certificate files cannot hold the penalty {penalty!r}.")
    arrays |= {"groups": groups, "strengths": strengths}
    return header, arrays | _copies(one, d, free)


def _copies(one: Statement, d: int, free: int) -> dict[str, Any]:
    """Return the loss and the target of every copy of the rows, and the places of its columns."""
    problem, levels, arrays = one.problem, _levels(one), dict[str, Any]()
    output = -1 if problem.losses[0].of == "prediction" else one.output
    if levels is None:
        copies, columns = [[0, output]], [[*range(d), d if free else -1]]
        if problem.is_in_memory and problem.loss_index is not None:
            copies, arrays = [[-1, output]], {"loss_index": problem.loss_index}
    else:
        m, p = levels.count, levels.n_features
        starts = [0 if levels.shares_columns else k * p for k in range(m)]
        ones = [starts[-1] + p + k if levels.has_indicators else -1 for k in range(m)]
        copies = [[k, output] for k in range(m)]
        columns = [[*range(start, start + p), free] for start, free in zip(starts, ones)]
    table = {"copies": copies, "columns": columns}
    return arrays | {name: np.array(rows, dtype=np.int64) for name, rows in table.items()}


def _levels(one: Statement) -> Levels | None:
    if one.problem.is_in_memory or not isinstance(one.problem.blocks, StackedRows):
        return one.levels
    return one.problem.blocks.levels


def _weights(one: Statement, data: ProvedData) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return how rows are encoded, and how their weights follow from those of the data."""
    problem, count = one.problem, 1 if data.labels is None else len(data.labels)
    own, levels = None, _levels(one)
    if problem.is_in_memory:
        factors, signs, own = _weights_in_memory(one, data, count)
    else:
        encoding: Any = problem.source.samples.encoding
        if encoding.fold is not None:
            raise ValueError("Certificate files of rows in blocks cannot leave out a fold.")
        scale = 1.0 if levels is None else levels.factor
        factors = [scale * encoding.factor(k) * encoding.is_used(k) for k in range(count)]
        signs = [1 if k == encoding.positive else -1 for k in range(count)]
    of, is_labelled = problem.losses[0].of, data.labels is not None
    plain = {"margin": (signs, [0.0] * count), "prediction": ([1.0] * count, [0.0] * count)}
    targets = signs if is_labelled else [0.0]  # of a residual
    table = [*plain.get(of, ([-1.0] * count, targets)), factors]
    arrays = {"encoding": np.array(table, dtype=np.float64).T}
    if own is not None:
        arrays["weight"] = np.repeat(own[:, None], 1 if levels is None else levels.count, axis=1)
    return {"weights": "file" if problem.is_in_memory else "data"}, arrays


def _weights_in_memory(
    one: Statement, data: ProvedData, count: int
) -> tuple[list[float], list[int], Vector | None]:
    """Return the factor and the sign of each label, and the weights of rows if they differ."""
    problem, places = one.problem, data.places
    at = slice(None) if one.samples is None else one.samples
    mine, sign = np.zeros((2, places.size))
    mine[at] = problem.weight[: places.size]
    is_margin = problem.losses[0].of == "margin"
    sign[at] = (problem.direction if is_margin else problem.offset)[: places.size]
    given = np.ones(places.size) if data.weight is None else np.asarray(data.weight)
    given = given if one.kept is None else np.where(one.kept, given, 0.0)
    factors, signs = np.zeros(count), [1] * count
    for k in range(count):
        rows = np.flatnonzero((mine > 0) & (given > 0) & (places == k))
        if rows.size:
            factors[k], signs[k] = mine[rows[0]] / given[rows[0]], int(np.sign(sign[rows[0]]))
    if (abs(factors[places] * given - mine) > _SAME_WEIGHT * mine).any():
        return [1.0] * count, signs, mine
    is_plain = data.weight is None and one.kept is None
    return factors.tolist(), signs, None if is_plain else given


def constraint_arrays(rows: ConstraintRows, free: int) -> dict[str, Any]:
    d = rows.lower.size
    arrays = {"c": rows.c, "f": rows.f}
    for name, matrix, count in (("A", rows.A, rows.c.size), ("E", rows.E, rows.f.size)):
        arrays[name] = np.zeros((count, d + free))
        arrays[name][:, :d] = matrix.toarray() if hasattr(matrix, "toarray") else matrix
    arrays["lower"] = np.append(rows.lower, [-np.inf] * free)
    arrays["upper"] = np.append(rows.upper, [np.inf] * free)
    return arrays


def curve_of(loss: Loss) -> dict[str, Any]:
    """Return the pieces of a loss, each anchored at a knot, numbers in hexadecimal."""
    curve = loss.curve
    anchor = curve.anchors
    table = np.column_stack([anchor.knot, anchor.value, anchor.slope, curve.curvature])
    return {
        "name": repr(loss),
        "knots": [float(v).hex() for v in curve.knots],
        "pieces": [[float(v).hex() for v in piece] for piece in table],
    }


# ---- the file ------------------------------------------------------------------------------------


def _write(
    path: str | os.PathLike[str],
    file: dict[str, Any],
    stated: list[tuple[dict[str, Any], dict[str, Any]]],
) -> None:
    """Write the problems, the arrays of each in a folder with its number."""
    header = {**file, "problems": [header for header, _ in stated]}
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("header.json", json.dumps(header, indent=1))
        for k, (_, arrays) in enumerate(stated):
            for name, array in sorted(arrays.items()):
                buffer = io.BytesIO()
                np.save(buffer, np.ascontiguousarray(array), allow_pickle=False)
                archive.writestr(f"{k}/{name}.npy", buffer.getvalue())
