"""Our coordinate descent against the package of the paper, at equal certified gap.

Well-scaled data at the paper's strength (weight 1/n, ridge 1, no intercept). Both solvers bring a
dual point, so both are held to the gap which that point proves, not only to the true error.
"""

from __future__ import annotations

from ..cases import Case, margin, residual

SIZES = ((10_000, 50), (100_000, 30), (5_000, 300))
LOSSES = (
    ("hinge", None),
    ("smoothed_hinge", 1.0),
    ("squared_hinge", None),
    ("pinball", 0.5),
    ("huber", 1.0),
)

CASES = [
    Case(
        margin("good", n, d) if "hinge" in loss else residual("good", n, d),
        loss,
        parameter,
        solvers=("rectiline:rehline", "rehline", "rehline-plain"),
        measure="gap",
    )
    for n, d in SIZES
    for loss, parameter in LOSSES
]
