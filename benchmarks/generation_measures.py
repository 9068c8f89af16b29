"""What ``measures.py`` asks of generation: paths, products, real data, sorted penalties."""

from __future__ import annotations

import json
import resource
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np


def _paper(n: int, d: int) -> tuple[np.ndarray, np.ndarray, float]:
    """Return the paper's two classes and its largest strength."""
    from .datasets._synthetic import two_gaussians

    X, y = two_gaussians(n, d, seed=3)
    return X, y, float(np.abs(X).sum(axis=0).max())


def path_cost(n: int, d: int) -> dict[str, Any]:
    """CPU time of the path of Figure 3 over that of its last point alone; both certified."""
    import rectiline as rl
    from rectiline.paths import path

    X, y, top = _paper(n, d)
    problem = rl.Problem(X, y, rl.losses.Hinge(), rl.penalties.L1(top))
    grid = top * np.arange(50, 0, -1) / 100
    last = problem.with_penalty(rl.penalties.L1(float(grid[-1])))
    alone = min(_cpu(lambda: _certified(rl.solve(last, solver="generation"))) for _ in range(3))
    found: Any = None

    def whole() -> None:
        nonlocal found
        found = path(problem, grid, solver="generation")

    seconds = _cpu(whole)
    if found.relative_gaps.max() > 1e-6:
        raise RuntimeError(f"a point of the path is not certified: {found!r}")
    return {"value": seconds / alone, "path_cpu_seconds": seconds, "last_cpu_seconds": alone}


def products(n: int, d: int, fraction: float) -> dict[str, Any]:
    """CPU time of an L1-SVM, in products ``X'v``."""
    import rectiline as rl

    X, y, top = _paper(n, d)
    problem = rl.Problem(X, y, rl.losses.Hinge(), rl.penalties.L1(fraction * top))
    v = np.random.default_rng(0).standard_normal(n)
    product = min(_cpu(lambda: [X.T @ v for _ in range(20)]) for _ in range(3)) / 20
    fit = min(_cpu(lambda: _certified(rl.solve(problem, solver="generation"))) for _ in range(3))
    return {"value": fit / product, "fit_cpu_seconds": fit, "product_cpu_seconds": product}


def real_path(name: str) -> dict[str, Any]:
    """Largest certified gap of 11 strengths in [0.003, 0.3], each solved alone."""
    import rectiline as rl

    from .datasets._real import load

    X, y, _, origin = load(name, "margin", "y", 3)
    size = X.data.nbytes + X.indices.nbytes + X.indptr.nbytes if hasattr(X, "indptr") else X.nbytes
    top = float(np.asarray(abs(X).sum(axis=0)).max())
    problem = rl.Problem(X, y, rl.losses.Hinge(), rl.penalties.L1(top))
    _import_everything(type(X))
    before = _resident()
    gaps, seconds = [], []
    for share in np.geomspace(0.3, 0.003, 11):
        one = problem.with_penalty(rl.penalties.L1(float(share * top)))
        began = time.process_time()
        gaps.append(rl.solve(one, solver="generation").certificate.relative_gap)
        seconds.append(round(time.process_time() - began, 3))
    grown = 1024 * resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before
    return {
        "value": max(gaps),
        "cpu_seconds": seconds,
        "memory_over_X": grown / size,
        "X_megabytes": size / 1e6,
        "origin": origin,
    }


def _import_everything(storage: Any) -> None:
    """Solve something tiny, so that modules do not count as memory of the solver."""
    import rectiline as rl

    X = np.random.default_rng(0).standard_normal((50, 300))
    X = X if storage is np.ndarray else storage(X)
    tiny = rl.Problem(X, np.tile([1.0, -1.0], 25), rl.losses.Hinge(), rl.penalties.L1(1.0))
    rl.solve(tiny, solver="generation")


def _resident() -> int:
    """Bytes in memory now, or the most so far where the system does not say."""
    try:
        pages = int(Path("/proc/self/statm").read_text().split()[1])
    except OSError:
        return 1024 * resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return pages * resource.getpagesize()


def slope_over_l1(d: int) -> dict[str, Any]:
    """CPU time of Table 7 at ``d`` columns over that of the L1 problem of the same size."""
    import rectiline as rl

    X, y, top = _paper(100, d)
    strengths = 0.01 * top * np.sqrt(np.log(2.0 * d / np.arange(1, d + 1)))
    penalties = {"slope": rl.penalties.Slope(strengths), "l1": rl.penalties.L1(0.01 * top)}
    spent = {}
    for name, penalty in penalties.items():
        problem = rl.Problem(X, y, rl.losses.Hinge(), penalty)
        spent[name] = min(
            _cpu(lambda p=problem: _certified(rl.solve(p, solver="generation"))) for _ in range(3)
        )
    return {"value": spent["slope"] / spent["l1"], "cpu_seconds": spent}


def _certified(solution: Any) -> None:
    if solution.certificate.relative_gap > 1e-6:
        raise RuntimeError(f"not certified: {solution!r}")


def _cpu(call: Callable[[], Any]) -> float:
    began = time.process_time()
    call()
    return time.process_time() - began


if __name__ == "__main__":
    name, arguments = json.loads(sys.argv[1])
    print(json.dumps(globals()[name](*arguments)))
