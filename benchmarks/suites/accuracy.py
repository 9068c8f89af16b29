"""Time to accuracy: a few races in which every solver runs at many tolerances, 1e-1 to 1e-9."""

from __future__ import annotations

from ..cases import Case, Data, margin, residual

TARGETS = tuple(10.0**-k for k in range(1, 10))
COORDINATE = ("rehline", "rehline-plain", "liblinear")


def _case(data: Data, loss: str, parameter: float | None = None, **options: object) -> Case:
    rivals = options.pop("rivals", (*COORDINATE, "piqp"))
    return Case(
        data,
        loss,
        parameter,
        solvers=("rectiline", *rivals),  # type: ignore[misc]
        targets=TARGETS,
        repeats=3,
        time_limit=20.0,
        patience=100.0,
        **options,  # type: ignore[arg-type]
    )


CASES = [
    _case(Data("real", "spf", columns="standardised"), "hinge"),
    _case(Data("real", "kin8nm", task="residual", columns="standardised"), "pinball", 0.5, C=100.0),
    _case(Data("real", "cal_housing", task="residual"), "pinball", 0.5, C=100.0),
    _case(margin("good", 10_000, 50), "hinge", C=100.0, rivals=(*COORDINATE, "snapml")),
    _case(margin("bad", 100_000, 30), "hinge", C=100.0, rivals=(*COORDINATE, "snapml")),
    _case(residual("heavy", 100_000, 30), "huber", 1.0, rivals=("rehline", "skglm")),
    _case(
        Data("real", "reuters21578_modapte_tfidf"),
        "hinge",
        mean=False,
        rivals=("rehline", "liblinear", "snapml"),
    ),
    _case(
        Data("real", "a9a", form="csr"),
        "squared_hinge",
        mean=False,
        rivals=("rehline", "liblinear", "liblinear-primal"),
    ),
    _case(
        residual("good", 20_000, 20),
        "pinball",
        0.5,
        l2=0.0,
        intercept=True,
        rivals=("statsmodels", "pyfixest", "piqp"),
    ),
]
