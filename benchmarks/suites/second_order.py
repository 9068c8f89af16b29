"""The promises of the second-order solvers: any strength, any scaling, certified.

Each block is one row of the table of promises; `Need` holds the factor.
"""

from __future__ import annotations

from ..cases import Case, Data, Need, margin, residual

SPECIAL = ("liblinear", "snapml")
REHLINE = ("rehline",)  # as it runs by default, which is what is promised about
FORMS = ("rectiline", "rehline", "rehline-plain", *SPECIAL)  # without shrinking it races as well


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
    _race(
        _both(n, 30, profile, loss),
        loss,
        parameter,
        targets=(1e-6, 1e-9),
        solvers=FORMS,
        needs=(
            Need(REHLINE, 3.0, 1e-6),
            Need(REHLINE, 5.0, 1e-9),
            Need(SPECIAL, 3.0, 1e-6),
            Need(SPECIAL, 3.0, 1e-9),
        ),
    )
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
        needs=(Need(REHLINE, factor, 1e-9), Need(SPECIAL, 3.0, 1e-9)),
    )
    for loss, parameter, factor in (("hinge", None, 2.0), ("pinball", 0.5, 6.0))
]

BADLY_SCALED = [
    _race(
        _both(100_000, 30, "bad", loss),
        loss,
        parameter,
        C=C,
        targets=(1e-1, 1e-2, 1e-3, 1e-4, 1e-6, 1e-9),
        needs=(Need(REHLINE, 20.0), Need(SPECIAL, 20.0)),
        repeats=3,
        time_limit=20.0,
        patience=100.0,
    )
    for loss, parameter in (("hinge", None), ("pinball", 0.9))
    for C in (100.0, 10_000.0)
]

WEAK = [
    _race(
        _both(10_000, 50, "good", loss),
        loss,
        parameter,
        C=10_000.0,
        needs=(Need(REHLINE, 6.0 if loss == "hinge" else 25.0, 1e-6), Need(SPECIAL, 8.0, 1e-6)),
    )
    for loss, parameter in ALL
]

HEAVY = [
    _race(
        residual("heavy", 580_000, 77),
        loss,
        parameter,
        C=C,
        targets=(1e-6, 1e-9),
        solvers=("rectiline", "rehline", "rehline-plain", other),
        needs=(Need(REHLINE, factor, 1e-9), Need((other,), factor, 1e-9)),
        repeats=3,
        time_limit=60.0,
        patience=15.0,
    )
    for loss, parameter, other, factor in (
        ("pinball", 0.5, "liblinear", 10.0),
        ("huber", 1.0, "skglm", 4.0),
    )
    for C in (1.0, 10_000.0)
]

PAPER_SMALL = [
    _race(
        Data("real", name, task=task, columns="standardised"),
        loss,
        parameter,
        solvers=FORMS,
        needs=(Need(REHLINE, 1.0, 1e-6), Need(SPECIAL, 1.0, 1e-6)),
    )
    for name, task, losses in (
        ("spf", "margin", (("hinge", None), ("smoothed_hinge", 1.0))),
        ("sylva_prior", "margin", (("hinge", None), ("smoothed_hinge", 1.0))),
        ("kin8nm", "residual", (("pinball", 0.5), ("huber", 1.0))),
        ("house_8L", "residual", (("pinball", 0.5), ("huber", 1.0))),
    )
    for loss, parameter in losses
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
        needs=(Need(("piqp",), 5.0, 1e-9),),
        repeats=3,
        time_limit=60.0,
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
    _race(
        Data("real", name),
        "hinge",
        C=C,
        mean=False,
        needs=(Need(REHLINE, ours, 1e-6), Need(SPECIAL, special, 1e-6)),
        repeats=3,
        patience=10.0,
    )
    for name in ("news20_bydate_tfidf", "imdb_tfidf", "reuters21578_modapte_tfidf")
    for C, ours, special in ((0.01, 1.5, 1.0), (0.1, 1.5, 1.0), (1.0, 2.0, 1.3), (100.0, 4.0, 5.0))
]

ONE_HOT = [
    _race(
        Data("real", name, form="csr"),
        loss,
        C=C,
        mean=False,
        targets=(1e-6, 1e-9) if C == 100.0 else (1e-6,),
        solvers=("rectiline", "rehline", "liblinear", "liblinear-primal", "snapml"),
        needs=needs,
        repeats=3,
        patience=30.0,
    )
    for name in ("a9a", "w8a", "connect4")
    for loss, C, needs in (
        ("hinge", 1.0, (Need(REHLINE, 3.0, 1e-6), Need(SPECIAL, 2.0, 1e-6))),
        ("squared_hinge", 1.0, (Need(REHLINE, 25.0, 1e-6), Need(("liblinear-primal",), 8.0, 1e-6))),
        ("hinge", 100.0, (Need((*REHLINE, *SPECIAL), 1.0, 1e-9),)),
    )
]

GENERIC = [
    _race(
        _both(100_000, 30, "good", loss),
        loss,
        parameter,
        C=100.0,
        tag="generic",
        solvers=("rectiline", "piqp", "clarabel", "osqp"),
        needs=(Need(("piqp",), 15.0, 1e-6), Need(("clarabel",), 40.0, 1e-6)),
        repeats=3,
        time_limit=60.0,
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
        needs=(Need(("pyfixest",), 5.0, 1e-6), Need(("sklearn-quantile",), 300.0, 1e-6)),
        repeats=3,
        time_limit=180.0,
        patience=400.0,  # to see 300x
    )
    for n, d in ((20_000, 20), (300_000, 50))
]

THREADS = [
    _race(
        _both(580_000, 77, "heavy", loss),
        loss,
        parameter,
        C=10_000.0,
        tag="threads",
        targets=(1e-9,),
        solvers=("rectiline@2", "rectiline"),
        needs=(Need(("rectiline",), 1.5, 1e-9),),
    )
    for loss, parameter in (("pinball", 0.5), ("huber", 1.0))
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
    *THREADS,
]
