"""Table 5 of the ReHLine paper, on its data sets and larger ones, at its strength and weaker.

The paper's tasks: FairSVM and SVM (hinge), sSVM (smoothed hinge), ElasticQR (pinball at 0.1 with
l1 = l2 = 1 and a penalised constant column), RidgeHuber. The loss has weight C/n with C = 1 in the
paper; 100 and 10,000 weaken the penalty. At C = 1, ElasticQR is solved by b = 0 on several sets:
the report shows the error of b = 0 beside each case.
"""

from __future__ import annotations

from ..cases import Case, Data, margin, residual

CLASSIFICATION = ("spf", "sylva_prior", "creditcard_subset14240", "adult")
SPARSE = ("census_kdd", "kddcup99_10pc")  # kept sparse: "maxabs" stands for "standardised"
REGRESSION = (
    "liver_disorders",
    "kin8nm",
    "house_8L",
    "cal_housing",
    "diamonds",
    "keggundirected",
)
STRENGTHS = (1.0, 100.0, 10_000.0)
MISSING_MARGIN = (margin("heavy", 5832, 309), margin("heavy", 284_807, 31))
MISSING_RESIDUAL = (residual("heavy", 8885, 267), residual("heavy", 583_250, 78))


def _tables(names: tuple[str, ...], task: str, ones: bool = False) -> list[Data]:
    return [
        Data("real", name, task=task, columns=columns, ones=ones)
        for name in names
        for columns in ("standardised", "raw")
    ]


def _sparse_tables() -> list[Data]:
    return [
        Data("real", name, columns=columns, form="csr")
        for name in SPARSE
        for columns in ("maxabs", "raw")
    ]


def _case(
    tag: str, data: Data, loss: str, parameter: float | None, C: float, **more: object
) -> Case:
    generic = ("piqp",) if data.name not in SPARSE and data.n < 100_000 else ()
    special = {"SVM": ("liblinear", "snapml"), "RidgeHuber": ("skglm",)}.get(tag, ())
    # Without shrinking it is sometimes faster at strong penalties and stalls sooner at weak ones.
    forms = ("rehline", "rehline-plain") if C <= 100.0 else ("rehline",)
    rivals = (*forms, *special, *generic)
    return Case(
        data,
        loss,
        parameter,
        C=C,
        tag=tag,
        solvers=("rectiline", *rivals),
        repeats=3,
        time_limit=30.0,
        patience=20.0,
        **more,  # type: ignore[arg-type]
    )


_MARGIN = [*_tables(CLASSIFICATION, "margin"), *_sparse_tables(), *MISSING_MARGIN]
_RESIDUAL = [*_tables(REGRESSION, "residual"), *MISSING_RESIDUAL]
_WITH_ONES = [
    *_tables(REGRESSION, "residual", ones=True),
    *(residual(m.name, m.n, m.d, ones=True) for m in MISSING_RESIDUAL),
]

CASES = [
    *(_case("SVM", data, "hinge", None, C) for data in _MARGIN for C in STRENGTHS),
    *(_case("sSVM", data, "smoothed_hinge", 1.0, C) for data in _MARGIN for C in STRENGTHS),
    *(
        _case("FairSVM", data, "hinge", None, C, fairness=0.01)
        for data in _MARGIN
        for C in STRENGTHS
    ),
    *(
        _case("ElasticQR", data, "pinball", 0.1, C, l1=1.0)
        for data in _WITH_ONES
        for C in STRENGTHS
    ),
    *(_case("RidgeHuber", data, "huber", 1.0, C) for data in _RESIDUAL for C in STRENGTHS),
]
