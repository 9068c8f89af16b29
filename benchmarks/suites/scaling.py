"""Time against n, d and C; the report fits an exponent to each line."""

from __future__ import annotations

from ..cases import Case, margin, residual

SOLVERS = ("rectiline", "rehline")


def _pair(tag: str, n: int, d: int, C: float) -> list[Case]:
    options = {"C": C, "tag": tag, "solvers": SOLVERS, "repeats": 3}
    return [
        Case(margin("good", n, d), "hinge", **options),  # type: ignore[arg-type]
        Case(residual("good", n, d), "pinball", 0.5, **options),  # type: ignore[arg-type]
    ]


CASES = [
    *(c for n in (1000, 10_000, 100_000, 1_000_000) for c in _pair("by-n", n, 20, 100.0)),
    *(c for d in (5, 20, 80, 320) for c in _pair("by-d", 20_000, d, 100.0)),
    *(c for C in (1.0, 1e2, 1e4, 1e6) for c in _pair("by-C", 20_000, 20, C)),
]
