"""Races against scikit-learn's ``QuantileRegressor``, both through ``fit``."""

from __future__ import annotations

from ..cases import Case, residual

OURS, THEIRS = "rectiline-quantile", "sklearn-quantile"
TARGET = 1e-8  # relative accuracy of the objective


def _case(n: int, d: int, quantile: float, alpha: float) -> Case:
    return Case(
        residual("good", n, d),
        "pinball",
        quantile,
        l1=alpha,
        l2=0.0,
        intercept=True,
        solvers=(OURS, THEIRS),
        targets=(TARGET,),
        repeats=3,
        time_limit=300.0,
        patience=3000.0,
    )


CASES = [
    *(_case(10_000, 50, quantile, 0.01) for quantile in (0.5, 0.9)),
    *(_case(1_000, 1_000, quantile, 0.01) for quantile in (0.5, 0.9)),
    _case(1_000_000, 20, 0.5, 0.01),
]
