"""Linear programs with many bounded variables: the working set ends at the optimum over all."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import linprog

from rectiline.paths._bounded_program import BoundedProgram

FEW = 30  # variables of a working set


def whole(lines, right, low, high, owed, more):
    sums = np.concatenate([[0.0], np.ones(low.size), np.zeros(len(more))])
    return linprog(
        np.eye(1, sums.size)[0],
        A_ub=lines,
        b_ub=right,
        A_eq=None if owed is None else sums[None],
        b_eq=None if owed is None else [owed],
        bounds=[(0.0, None), *zip(low, high, strict=True), *more],
        method="highs",
    )


@pytest.mark.parametrize("seed", range(8))
@pytest.mark.parametrize("balanced", [True, False])
def test_optimum_is_that_over_all_variables(seed, balanced):
    rng = np.random.default_rng(seed)
    m, k = 400, 6
    low = -rng.uniform(0, 1, m) * (rng.random(m) < 0.5)
    high = low + rng.uniform(0.1, 1, m)
    pays = rng.normal(size=(k, m)) + rng.normal(size=(k, 1))
    extra = rng.normal(size=(k, 1))
    lines = np.hstack([-np.ones((k, 1)), pays, extra])
    right = rng.normal(size=k) - 5.0
    owed = float(low.sum() + rng.uniform(0.05, 0.95) * (high - low).sum()) if balanced else None
    more = [(0.0, None)]
    program = BoundedProgram(low, high, owed, more, FEW)
    for count in (2, 4, k):  # lines join from call to call
        optimum, point = program.solve(lines[:count], right[:count])
        known = whole(lines[:count], right[:count], low, high, owed, more)
        assert optimum == pytest.approx(known.fun, rel=1e-7, abs=1e-9)
        g = point[:m]
        assert (g >= low - 1e-9).all() and (g <= high + 1e-9).all()
        assert owed is None or g.sum() == pytest.approx(owed, abs=1e-6)
        assert (lines[:count] @ np.append(optimum, point) <= right[:count] + 1e-7).all()


def test_a_sum_out_of_reach_has_no_optimum():
    m = 100
    program = BoundedProgram(np.zeros(m), np.ones(m), 2.0 * m, [], FEW)
    assert program.solve(np.hstack([[[-1.0]], np.ones((1, m))]), np.zeros(1)) is None
