"""Tiny problems: what the call itself costs."""

from __future__ import annotations

from ..cases import Case, Data, margin, residual

BUNDLED = (
    (Data("sklearn", "breast_cancer"), "hinge", None),
    (Data("sklearn", "breast_cancer", columns="standardised"), "hinge", None),
    (Data("sklearn", "wine"), "squared_hinge", None),
    (Data("sklearn", "diabetes", task="residual"), "pinball", 0.5),
    (Data("sklearn", "diabetes", task="residual"), "huber", 1.0),
)
SYNTHETIC = (
    (margin("good", 50, 3), "hinge", None),
    (margin("good", 1000, 20), "smoothed_hinge", 1.0),
    (residual("good", 200, 5), "pinball", 0.9),
    (residual("good", 1000, 90), "huber", 1.0),
)

CASES = [
    Case(
        data,
        loss,
        parameter,
        C=C,
        solvers=("rectiline", "rehline", "liblinear"),
        time_limit=20.0,
        repeats=15,
    )
    for data, loss, parameter in (*BUNDLED, *SYNTHETIC)
    for C in (1.0, 100.0)
]
