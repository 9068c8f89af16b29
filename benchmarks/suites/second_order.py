"""Second-order methods at any strength and scaling: large, badly scaled, sparse and wide tables."""

from __future__ import annotations

from ..cases import Case, Data, margin, residual

SPECIAL = ("liblinear", "snapml")
FORMS = ("rectiline", "rehline", "rehline-plain", *SPECIAL)  # with and without its shrinking


def _race(data: Data, loss: str, parameter: float | None = None, **options: object) -> Case:
    solvers = options.pop("solvers", ("rectiline", "rehline", *SPECIAL))
    return Case(data, loss, parameter, solvers=solvers, **options)  # type: ignore[arg-type]


def _both(n: int, d: int, profile: str, loss: str) -> Data:
    return (margin if "hinge" in loss else residual)(profile, n, d)


ALL = (
    ("hinge", None),
    ("smoothed_hinge", 1.0),
    ("squared_hinge", None),
    ("pinball", 0.5),
    ("huber", 1.0),
    ("epsilon_insensitive", 0.1),
)
LARGE_STRONG = [
    _race(_both(n, 30, profile, loss), loss, parameter, targets=(1e-6, 1e-9), solvers=FORMS)
    for n, profile in ((100_000, "good"), (300_000, "heavy"))
    for loss, parameter in ALL
]
MEDIUM = [
    _race(
        _both(10_000, 50, "good", loss),
        loss,
        parameter,
        C=100.0,
        targets=(1e-6, 1e-9),
        solvers=FORMS,
    )
    for loss, parameter in (("hinge", None), ("pinball", 0.5))
]
BADLY_SCALED = [
    _race(
        _both(100_000, 30, "bad", loss),
        loss,
        parameter,
        C=C,
        targets=(1e-1, 1e-2, 1e-3, 1e-4, 1e-6, 1e-9),
        repeats=3,
        time_limit=20.0,
        patience=100.0,
    )
    for loss, parameter in (("hinge", None), ("pinball", 0.9))
    for C in (100.0, 10_000.0)
]
WEAK = [
    _race(_both(10_000, 50, "good", loss), loss, parameter, C=10_000.0) for loss, parameter in ALL
]
HEAVY = [
    _race(
        residual("heavy", 580_000, 77),
        loss,
        parameter,
        C=C,
        targets=(1e-6, 1e-9),
        solvers=("rectiline", "rehline", "rehline-plain", other),
        repeats=3,
        patience=15.0,
    )
    for loss, parameter, other in (("pinball", 0.5, "liblinear"), ("huber", 1.0, "skglm"))
    for C in (1.0, 10_000.0)
]
PAPER_SMALL = [
    _race(Data("real", name, task=task, columns="standardised"), loss, parameter, solvers=FORMS)
    for name, task in (
        ("spf", "margin"),
        ("sylva_prior", "margin"),
        ("kin8nm", "residual"),
        ("house_8L", "residual"),
    )
    for loss, parameter in (
        (("hinge", None), ("smoothed_hinge", 1.0))
        if task == "margin"
        else (("pinball", 0.5), ("huber", 1.0))
    )
]
RAW = [
    _race(
        Data("real", name, task=task, form="csr" if name == "census_kdd" else "stored"),
        loss,
        parameter,
        C=C,
        fairness=fairness,
        targets=(1e-3, 1e-6, 1e-9),
        solvers=("rectiline", "rehline", "liblinear", "piqp"),
        repeats=3,
        patience=10.0,
    )
    for name, task, loss, parameter, fairness in (
        ("adult", "margin", "hinge", None, None),
        ("adult", "margin", "hinge", None, 0.01),
        ("census_kdd", "margin", "hinge", None, None),
        ("cal_housing", "residual", "pinball", 0.5, None),
        ("house_8L", "residual", "pinball", 0.5, None),
    )
    for C in (100.0, 10_000.0)
]
TEXT = [
    _race(Data("real", name), "hinge", C=C, mean=False, repeats=3, patience=10.0)
    for name in ("news20_bydate_tfidf", "imdb_tfidf", "reuters21578_modapte_tfidf")
    for C in (0.01, 0.1, 1.0, 100.0)
]
ONE_HOT = [
    _race(
        Data("real", name, form="csr"),
        loss,
        C=C,
        mean=False,
        targets=(1e-6, 1e-9) if C == 100.0 else (1e-6,),
        solvers=("rectiline", "rehline", "liblinear", "liblinear-primal", "snapml"),
        repeats=3,
        patience=30.0,
    )
    for name in ("a9a", "w8a", "connect4")
    for loss, C in (("hinge", 1.0), ("squared_hinge", 1.0), ("hinge", 100.0))
]
GENERIC = [
    _race(
        _both(100_000, 30, "good", loss),
        loss,
        parameter,
        C=100.0,
        tag="generic",
        solvers=("rectiline", "piqp", "clarabel", "osqp"),
        repeats=3,
        patience=60.0,
    )
    for loss, parameter in (("hinge", None), ("pinball", 0.5))
]
UNPENALISED = [
    _race(
        residual("good", n, d),
        "pinball",
        0.5,
        l2=0.0,
        intercept=True,
        solvers=("rectiline", "pyfixest", "sklearn-quantile"),
        repeats=3,
        time_limit=180.0,
        patience=400.0,
    )
    for n, d in ((20_000, 20), (300_000, 50))
]

CASES = [
    *LARGE_STRONG,
    *MEDIUM,
    *BADLY_SCALED,
    *WEAK,
    *HEAVY,
    *PAPER_SMALL,
    *RAW,
    *TEXT,
    *ONE_HOT,
    *GENERIC,
    *UNPENALISED,
]
