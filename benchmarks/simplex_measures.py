"""What ``measures.py`` asks of the compiled simplex method: its time against HiGHS.

Both solve the dual of an L1 support vector machine,

    maximise  sum_i v_i   subject to   |sum_i y_i x_ij v_i| <= strength,  y'v = 0,  0 <= v <= 1,

to the same feasibility of 1e-9, first from scratch and then at nine falling strengths from the
basis of the last one, as the solver `generation` uses them.
"""

from __future__ import annotations

import json
import sys
import time
from typing import Any

import numpy as np

from rectiline.solvers.generation._boxed import BoxedProgram
from rectiline.solvers.generation._highs import LinearProgram

_STRENGTHS = 0.3 * 0.7 ** np.arange(10)  # of the largest sum of |x_ij| over a column
_AGREE = 1e-8  # relative difference of the optimal values


def simplex_over_highs(n: int, d: int) -> dict[str, Any]:
    """CPU time of the compiled simplex method over that of HiGHS, least of three runs each."""
    rng = np.random.default_rng(5)
    X = rng.standard_normal((n, d))
    y = np.where(X[:, : max(d // 20, 1)].sum(axis=1) + rng.standard_normal(n) > 0, 1.0, -1.0)
    A = np.vstack([y[None, :], (X * y[:, None]).T])
    runs = {
        name: [_follow(program, A) for _ in range(3)]
        for name, program in (("compiled", BoxedProgram), ("highs", LinearProgram))
    }
    for one in runs["compiled"]:
        np.testing.assert_allclose(one[0], runs["highs"][0][0], rtol=_AGREE)
    seconds = {name: min(one[1] for one in found) for name, found in runs.items()}
    return {
        "value": seconds["compiled"] / seconds["highs"],
        "cpu_seconds": seconds,
        "steps": {name: found[0][2] for name, found in runs.items()},
    }


def _follow(kind: type[Any], A: np.ndarray) -> tuple[list[float], float, int]:
    """Return the optimal values at all strengths, the CPU time and the simplex steps."""
    m, n = A.shape
    program = kind()
    columns = program.add_columns(
        np.ones(n), np.zeros(n), np.ones(n), np.zeros(0, np.int32), np.zeros((0, n))
    )
    bound = np.abs(A).sum(axis=1).max() * np.append(0.0, np.ones(m - 1))
    rows = program.add_rows(-_STRENGTHS[0] * bound, _STRENGTHS[0] * bound, columns, A)
    values, began = [], time.process_time()
    for strength in _STRENGTHS:
        program.change_row_bounds(rows, -strength * bound, strength * bound)
        status = program.solve(np.inf)
        if status != "optimal":
            raise RuntimeError(f"{kind.__name__} ends with {status!r} at {strength:g}")
        values.append(float(program.solution()[0].sum()))
    return values, time.process_time() - began, program.n_steps


if __name__ == "__main__":
    name, arguments = json.loads(sys.argv[1])
    print(json.dumps(globals()[name](*arguments)))
