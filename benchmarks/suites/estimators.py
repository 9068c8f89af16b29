"""What the scikit-learn face promises: races against scikit-learn's ``QuantileRegressor``.

The other promises of the estimators (first call, overhead, memory, cost of cross-validation) are
not races; they are in ``benchmarks/measures.py``.
"""

from __future__ import annotations

from ..cases import Case, Need, residual

OURS, THEIRS = "rectiline-quantile", "sklearn-quantile"
TARGET = 1e-8  # relative accuracy of the objective


def _case(n: int, d: int, quantile: float, alpha: float, promised: bool = True) -> Case:
    return Case(
        residual("good", n, d),
        "pinball",
        quantile,
        l1=alpha,
        l2=0.0,
        intercept=True,
        solvers=(OURS, THEIRS),
        targets=(TARGET,),
        needs=(Need((THEIRS,), 30.0, TARGET),) if promised else (),
        repeats=3,
        time_limit=300.0,
        patience=3000.0,
        how_far=False,
    )


CASES = [
    *(_case(10_000, 50, quantile, 0.01) for quantile in (0.5, 0.9)),
    *(_case(1_000, 1_000, quantile, 0.01) for quantile in (0.5, 0.9)),
    _case(1_000_000, 20, 0.5, 0.01, promised=False),
]
