"""Quantile regression with a free intercept: no penalty, ridge, L1."""

from __future__ import annotations

from ..cases import Case, Data, residual

TABLES = (
    Data("real", "engel", task="residual"),
    Data("real", "kin8nm", task="residual"),
    Data("real", "cal_housing", task="residual"),
    residual("good", 20_000, 20),
    residual("heavy", 100_000, 20),
    residual("good", 300_000, 50),
)
QUANTILES = (0.1, 0.5, 0.9)
RIVALS = ("statsmodels", "pyfixest", "sklearn-quantile")


def _case(data: Data, q: float, l1: float, l2: float, rivals: tuple[str, ...]) -> Case:
    return Case(
        data,
        "pinball",
        q,
        l1=l1,
        l2=l2,
        intercept=True,
        solvers=("rectiline", *rivals),
        repeats=3,
        time_limit=60.0,
    )


SMALL = tuple(data for data in TABLES if data.n <= 20_000)

CASES = [
    *(
        _case(data, q, 0.0, 0.0, (*RIVALS, "piqp") if data in SMALL else RIVALS)
        for data in TABLES
        for q in QUANTILES
    ),
    *(_case(data, 0.5, 0.0, 1e-3, ("piqp", "clarabel")) for data in SMALL),
    *(
        _case(data, q, l1, 0.0, ("sklearn-quantile", "highs", "piqp"))
        for data in SMALL
        for q in (0.5, 0.9)
        for l1 in (1e-3, 1e-2)
    ),
]
