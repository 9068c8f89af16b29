"""Proofs for problems on blocks: frozen rows are summed in a pass, listed rows are in memory.

The dual point is repaired on the listed rows alone: they sit near kinks, where moving a multiplier
costs little. Frozen rows only set the target of the repair.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from rectiline import _core
from rectiline._typing import Indices, Vector
from rectiline.problems._certificate import Certificate, DualPoint
from rectiline.problems._close import Products, close
from rectiline.problems._problem import Problem
from rectiline.problems._repair import balance_free_columns
from rectiline.problems.blocks._dual import SplitDual
from rectiline.problems.blocks._pass import NearRows, PassState, Query, Totals, run_pass
from rectiline.problems.blocks._problem import BlockProblem

__all__ = ["BlockProof", "judge", "prove_blocks"]

_SIGN_ROUNDS = 4  # how often columns whose q has a forbidden sign are balanced
_SUMMED_TERMS = 512 * 2.0**-53  # bound on the relative error of a sum over rows, see pass.cpp


@dataclass(frozen=True, slots=True, eq=False)
class BlockProof:
    """A certificate and the repaired multipliers behind it."""

    certificate: Certificate
    dual: SplitDual


@dataclass(frozen=True, slots=True, eq=False)
class _Frozen:
    """What frozen rows add: their gradient, its size, their sum."""

    gradient: Vector
    size: Vector
    total: float
    total_size: float


def prove_blocks(
    problem: BlockProblem, coef: ArrayLike, intercept: float, dual: Any
) -> Certificate:
    """Return the certificate of a pair with one pass over the rows of a problem."""
    b, b0 = problem.checked_point(coef, intercept)
    if dual is None:
        dual = SplitDual(b, b0, np.zeros(0, dtype=np.int64), np.zeros(0))
    if not isinstance(dual, SplitDual):
        raise TypeError(
            "dual must be the SplitDual of a solution on rows in blocks; got "
            f"{type(dual).__name__}."
        )
    _checked_dual(problem, dual)
    query = Query(
        problem.curves,
        problem.targets,
        b,
        b0,
        split=(dual.split_coef, dual.split_intercept),
        listed=dual.rows,
        collect=True,
        measure=True,
    )
    totals = run_pass(problem.blocks, PassState((query,), problem.fit_intercept))
    assert totals is not None
    return judge(problem, b, b0, dual, totals[0], totals[0].near()).certificate


def _checked_dual(problem: BlockProblem, dual: SplitDual) -> None:
    rows = dual.rows
    if rows.size and (rows[0] < 0 or rows[-1] >= problem.n_samples or (np.diff(rows) <= 0).any()):
        raise ValueError(f"dual: listed rows must grow and lie in [0, {problem.n_samples}).")
    if dual.values.shape != rows.shape or not np.isfinite(dual.values).all():
        raise ValueError(f"dual: there must be {rows.size} finite multipliers of listed rows.")
    region = problem.terms.region.rows
    for name, part, size in (
        ("inequality", dual.inequality, region.c.size),
        ("equality", dual.equality, region.f.size),
    ):
        if part.size not in (0, size):
            raise ValueError(f"dual: the {name} part must hold {size} numbers; got {part.size}.")


def judge(
    problem: BlockProblem,
    coef: Vector,
    intercept: float,
    dual: SplitDual,
    totals: Totals,
    listed: NearRows,
) -> BlockProof:
    """Return the certificate of a pair from the sums of a pass and the listed rows."""
    near = problem.on_near_rows(listed)
    measures = problem.measures
    if not measures.is_known and totals.has("sizes"):
        measures.sizes = np.asarray(totals["sizes"])
        measures.loss_at_zero = totals.loss_at_zero
        measures.weight = float(totals["measured_weight"])
    sizes = np.zeros(problem.n_features) if measures.sizes is None else measures.sizes
    far = _Frozen(
        np.asarray(totals["gradient"]),
        totals.steepest * sizes,
        float(totals["total"]),
        float(totals["total_size"]),
    )
    region = problem.terms.region
    point = DualPoint(
        _clipped(near, dual.values),
        np.maximum(dual.inequality, 0.0) if dual.inequality.size else np.zeros(region.rows.c.size),
        dual.equality if dual.equality.size else np.zeros(region.rows.f.size),
    )
    point, sums, q, left = _repaired(problem, near, coef, intercept, point, far)
    share = problem.terms.shrink_factor(q)
    loss = float(totals["loss"]) + sums["loss"]
    gap = float(totals["gap"]) + sums["gap"]
    if share < 1.0:
        # Multipliers that are scaled down cost at most in proportion to what zero ones cost.
        gap = share * gap + (1.0 - share) * max(loss - problem.least_loss, 0.0)
        point, q = point.scaled(share), share * q
    total = share * (far.total + sums["total"]) if problem.fit_intercept else 0.0
    products = Products(loss, gap, total, q, left)
    certificate, by_zero = close(problem, coef, intercept, point, products)
    values = np.zeros_like(point.sample) if by_zero else point.sample / (share or 1.0)
    made = replace(
        dual,
        values=values,
        inequality=point.inequality,
        equality=point.equality,
        share=0.0 if by_zero else share,
    )
    return BlockProof(certificate, made)


def _clipped(near: Problem, values: Vector) -> Vector:
    sample = np.array(values, dtype=np.float64)
    if sample.size:
        near.rows.clip(sample)
    return sample


def _repaired(
    problem: BlockProblem,
    near: Problem,
    coef: Vector,
    intercept: float,
    point: DualPoint,
    far: _Frozen,
) -> tuple[DualPoint, dict[str, Any], Vector, float]:
    """Return the point moved so that q may be what it is, the listed rows' sums, q, and a rest."""
    terms = problem.terms
    free, left = terms.free_columns, 0.0
    if free.size or problem.fit_intercept:
        point, left = _balanced(problem, near, point, far, free)
    for _ in range(_SIGN_ROUNDS):
        sums = _near_sums(near, coef, intercept, point.sample)
        q = np.asarray(terms.region.combined(point) - far.gradient - sums["gradient"])
        q[free] = 0.0
        wrong = terms.wrong_signs(q)
        if not wrong.size:
            break
        free = np.union1d(free, wrong)
        point, left = _balanced(problem, near, point, far, free)
    return point, sums, q, left


def _balanced(
    problem: BlockProblem, near: Problem, point: DualPoint, far: _Frozen, free: Indices
) -> tuple[DualPoint, float]:
    """Return the point with listed multipliers moved so that q is zero on the columns `free`."""
    region = problem.terms.region
    target, size = np.zeros((2, free.size + problem.fit_intercept))
    target[: free.size], size[: free.size] = -far.gradient[free], far.size[free]
    if region.has_rows:
        target[: free.size] += np.asarray(region.combined(point))[free]
        size[: free.size] += region.combined_size(point)[free]
    if problem.fit_intercept:
        target[-1], size[-1] = -far.total, far.total_size
    if not point.sample.size:
        left = float(np.max(np.abs(target) / np.maximum(size, 1e-300), initial=0.0))
        return point, left
    low, high = near.dual_boxes
    sample, left = balance_free_columns(
        near.design, free, problem.fit_intercept, point.sample, low, high, target, size
    )
    return replace(point, sample=sample), left


def _near_sums(near: Problem, coef: Vector, intercept: float, sample: Vector) -> dict[str, Any]:
    """Return loss, gap, total and gradient of the listed rows with their multipliers."""
    if not sample.size:
        return {"loss": 0.0, "gap": 0.0, "total": 0.0, "gradient": np.zeros(near.n_features)}
    member = _core.PassMember(near.rows, coef, intercept, near.fit_intercept)
    member.judge_given(sample)
    found = _core.run_pass(near.design.by_rows.view, [member], near.fit_intercept, 1, np.inf)
    assert found is not None
    sums: dict[str, Any] = found[0]
    return sums
