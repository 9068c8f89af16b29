"""The picture of the README: packages that people know, on three tables that people know."""

from __future__ import annotations

from ..cases import Case, Data

QUANTILES = ("rectiline", "statsmodels", "sklearn-quantile", "cvxpy")


def _case(data: Data, loss: str, parameter: float | None, **options: object) -> Case:
    return Case(data, loss, parameter, repeats=3, patience=30_000.0, **options)  # type: ignore[arg-type]


CASES = [
    _case(
        Data("real", "adult", columns="standardised"),
        "hinge",
        None,
        mean=False,
        solvers=("rectiline", "liblinear", "rehline", "cvxpy"),
    ),
    _case(
        Data("real", "cal_housing", task="residual", columns="standardised"),
        "pinball",
        0.5,
        l2=0.0,
        intercept=True,
        solvers=QUANTILES,
    ),
    _case(
        Data("real", "diamonds", task="residual", columns="standardised"),
        "pinball",
        0.9,
        l2=0.0,
        intercept=True,
        solvers=QUANTILES,
    ),
]
