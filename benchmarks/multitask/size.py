"""How large: memory and seconds for 200 tasks of 500 rows, in a process of its own each."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np

from .data import TASKS, synthetic
from .tables import Table

COLUMNS = {"dense": 1_000, "sparse": 20_000}


def size() -> Table:
    """Memory beyond X while solving, against X and one matrix of coefficients."""
    lines, measured = [], []
    root = Path(__file__).resolve().parents[2]
    for kind, d in COLUMNS.items():
        command = [sys.executable, "-W", "ignore", "-m", "benchmarks.multitask.size", kind]
        done = subprocess.run(command, cwd=root, capture_output=True, text=True, check=True)
        found = json.loads(done.stdout)
        coefficients, more = d * TASKS * 8 / 1e6, found["more_mb"]
        lines.append(
            (
                f"{kind}, d = {d:,}",
                f"{found['seconds']:.0f}",
                str(found["passes"]),
                f"{found['gap']:.0e}",
                f"{found['x_mb']:.0f}",
                f"{coefficients:.1f}",
                f"{more:.0f}",
                f"{more / (found['x_mb'] + coefficients):.2f}",
            )
        )
        measured.append({"kind": kind, "coef_mb": coefficients, **found})
    title = "200 tasks of 500 rows, rank 5, least squares, h = 5, certified 1e-6; memory in MB"
    header = ("problem", "CPU s", "passes", "gap", "X", "d x tasks", "more", "of X + d x tasks")
    return Table(title, header, lines, [], measured)


def _resident() -> float:
    """Memory of this process in MB (peak where the system does not say)."""
    status = Path("/proc/self/statm")
    if status.exists():
        return int(status.read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE") / 1e6
    return _peak()


def _peak() -> float:
    import resource

    unit = 1.0 if sys.platform == "darwin" else 1024.0
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit / 1e6


def _one(kind: str) -> dict[str, Any]:
    from rectiline.losses import SquaredError
    from rectiline.penalties import SharedSubspace
    from rectiline.problems import MultiTaskProblem
    from rectiline.solvers.multitask import solve_multitask

    X, y = map(list, zip(*synthetic(kind, COLUMNS[kind])))
    peak = _peak()
    np.linalg.qr(np.ones((300, 300)) @ np.ones((300, 300)))  # buffers of the linear algebra
    parts = [(one,) if kind == "dense" else (one.data, one.indices, one.indptr) for one in X]
    stored = sum(part.nbytes for some in parts for part in some) / 1e6
    before, began = _resident(), time.process_time()
    problem = MultiTaskProblem(X, y, SquaredError(), SharedSubspace(5, 1.0, 0.1))
    answer = solve_multitask(problem)
    return {
        "seconds": time.process_time() - began,
        "passes": answer.n_iter,
        "gap": answer.certificate.relative_gap,
        "x_mb": stored,
        "more_mb": _peak() - before,
        "peak_of_the_data_mb": peak - before,  # nothing below this can be seen
    }


if __name__ == "__main__":
    print(json.dumps(_one(*sys.argv[1:])))
