"""Lists of races as data: products of tables, losses and strengths, with the solvers invited.

door         the picture of the README: packages and tables that people know
foundation   our coordinate descent against the package of the paper, at equal certified gap
second_order any strength and scaling: large, badly scaled, sparse and wide tables
rehline      Table 5 of the ReHLine paper, on its data and larger ones, at its strength and weaker
quantile     quantile regression with a free intercept: no penalty, ridge, L1
sparse_data  sparse tables at C = 0.01 .. 100 (weight C on every sample)
generation   the tables of the column generation paper at its sizes, and harder families
scaling      time against n, d and C; the report fits an exponent to each line
accuracy     every solver at many tolerances, 1e-1 to 1e-9
small        tiny problems: what the call itself costs
estimators   scikit-learn's ``QuantileRegressor`` and ``LinearSVC`` and ours, all through ``fit``
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import replace
from functools import cache
from typing import Any

from .cases import Case, Data, margin, real, residual

Loss = tuple[str, float | None]
HINGE, SMOOTHED, SQUARED = ("hinge", None), ("smoothed_hinge", 1.0), ("squared_hinge", None)
MEDIAN, HUBER, EPSILON = ("pinball", 0.5), ("huber", 1.0), ("epsilon_insensitive", 0.1)
REHLINE = ("rehline", "rehline-plain")  # with and without its shrinking
NOT_PENALISED = {"l2": 0.0, "intercept": True}


def races(
    tables: Iterable[Data],
    losses: Iterable[Loss],
    solvers: Iterable[str],
    C: Iterable[float] = (1.0,),
    **same: Any,
) -> list[Case]:
    """Every table with every loss and every strength; what else is given is the same for all."""
    invited, strengths, losses = tuple(solvers), tuple(C), tuple(losses)
    return [
        Case(table, loss, parameter, C=one, solvers=invited, **same)
        for table in tables
        for loss, parameter in losses
        for one in strengths
    ]


def made(profile: str, losses: Iterable[Loss], *sizes: tuple[int, int]) -> list[tuple[Data, Loss]]:
    """Synthetic tables whose targets suit the losses."""
    return [
        ((margin if "hinge" in loss[0] else residual)(profile, n, d), loss)
        for n, d in sizes
        for loss in losses
    ]


def paired(pairs: Iterable[tuple[Data, Loss]], solvers: Iterable[str], **same: Any) -> list[Case]:
    """Each table with its own loss."""
    invited = tuple(solvers)
    return [case for table, loss in pairs for case in races([table], [loss], invited, **same)]


def door() -> list[Case]:
    quantiles = ("rectiline", "statsmodels", "sklearn-quantile", "cvxpy")
    svm = ("rectiline", "liblinear", "rehline", "cvxpy")
    same: dict[str, Any] = {"repeats": 3, "patience": 30_000.0}
    adult, housing, diamonds = (
        real(name, task, columns="standardised")
        for name, task in (
            ("adult", "margin"),
            ("cal_housing", "residual"),
            ("diamonds", "residual"),
        )
    )
    return [
        *races([adult], [HINGE], svm, mean=False, **same),
        *races([housing], [MEDIAN], quantiles, **NOT_PENALISED, **same),
        *races([diamonds], [("pinball", 0.9)], quantiles, **NOT_PENALISED, **same),
    ]


def foundation() -> list[Case]:
    losses = (HINGE, SMOOTHED, SQUARED, MEDIAN, HUBER)
    pairs = made("good", losses, (10_000, 50), (100_000, 30), (5_000, 300))
    return paired(pairs, ("rectiline:rehline", *REHLINE), measure="gap")


def second_order() -> list[Case]:
    special = ("liblinear", "snapml")
    some, forms = ("rectiline", "rehline", *special), ("rectiline", *REHLINE, *special)
    every = (HINGE, SMOOTHED, SQUARED, MEDIAN, HUBER, EPSILON)
    fine, few = (1e-6, 1e-9), {"repeats": 3}
    rough = (1e-1, 1e-2, 1e-3, 1e-4, *fine)
    large = [*made("good", every, (100_000, 30)), *made("heavy", every, (300_000, 30))]
    bad = made("bad", (HINGE, ("pinball", 0.9)), (100_000, 30))
    strengths = (100.0, 10_000.0)
    paper = [
        (real(name, task, columns="standardised"), loss)
        for name, task in (
            ("spf", "margin"),
            ("sylva_prior", "margin"),
            ("kin8nm", "residual"),
            ("house_8L", "residual"),
        )
        for loss in ((HINGE, SMOOTHED) if task == "margin" else (MEDIAN, HUBER))
    ]
    found = [
        *paired(large, forms, targets=fine),
        *paired(made("good", (HINGE, MEDIAN), (10_000, 50)), forms, C=[100.0], targets=fine),
        *paired(bad, some, C=strengths, targets=rough, time_limit=20.0, patience=100.0, **few),
        *paired(made("good", every, (10_000, 50)), some, C=[10_000.0]),
    ]
    for loss, other in ((MEDIAN, "liblinear"), (HUBER, "skglm")):
        solvers, same = ("rectiline", *REHLINE, other), {"targets": fine, "patience": 15.0, **few}
        heavy = [residual("heavy", 580_000, 77)]
        found += races(heavy, [loss], solvers, C=(1.0, 10_000.0), **same)
    found += paired(paper, forms)
    for name, task, loss, fairness in (
        ("adult", "margin", HINGE, None),
        ("adult", "margin", HINGE, 0.01),
        ("census_kdd", "margin", HINGE, None),
        ("cal_housing", "residual", MEDIAN, None),
        ("house_8L", "residual", MEDIAN, None),
    ):
        table = real(name, task, form="csr" if name == "census_kdd" else "stored")
        same = {"fairness": fairness, "targets": (1e-3, *fine), "patience": 10.0, **few}
        solvers = ("rectiline", "rehline", "liblinear", "piqp")
        found += races([table], [loss], solvers, C=strengths, **same)
    text = [real(f"{name}_tfidf") for name in ("news20_bydate", "imdb", "reuters21578_modapte")]
    found += races(text, [HINGE], some, C=(0.01, 0.1, 1.0, 100.0), mean=False, patience=10.0, **few)
    for name in ("a9a", "w8a", "connect4"):
        solvers = ("rectiline", "rehline", "liblinear", "liblinear-primal", "snapml")
        same = {"mean": False, "patience": 30.0, **few}
        table = [real(name, form="csr")]
        found += races(table, [HINGE, SQUARED], solvers, **same)
        found += races(table, [HINGE], solvers, C=[100.0], targets=fine, **same)
    generic = ("rectiline", "piqp", "clarabel", "osqp")
    pairs = made("good", (HINGE, MEDIAN), (100_000, 30))
    found += paired(pairs, generic, C=[100.0], tag="generic", patience=60.0, **few)
    same = {"time_limit": 180.0, "patience": 400.0, **NOT_PENALISED, **few}
    pairs = made("good", [MEDIAN], (20_000, 20), (300_000, 50))
    return found + paired(pairs, ("rectiline", "pyfixest", "sklearn-quantile"), **same)


def rehline() -> list[Case]:
    """Tables that the paper has and we do not are replaced by heavy-tailed ones of their sizes."""
    sparse = ("census_kdd", "kddcup99_10pc")  # kept sparse: "maxabs" stands for "standardised"
    classification = ("spf", "sylva_prior", "creditcard_subset14240", "adult")
    regression = ("liver_disorders", "kin8nm", "house_8L", "cal_housing", "diamonds")
    regression += ("keggundirected",)
    two = ("standardised", "raw")
    labels = [real(name, columns=how) for name in classification for how in two]
    labels += [real(name, columns=how, form="csr") for name in sparse for how in ("maxabs", "raw")]
    labels += [margin("heavy", 5832, 309), margin("heavy", 284_807, 31)]
    values, with_ones = (
        [
            *(real(name, "residual", columns=how, ones=ones) for name in regression for how in two),
            *(residual("heavy", n, d, ones=ones) for n, d in ((8885, 267), (583_250, 78))),
        ]
        for ones in (False, True)
    )
    special = {"SVM": ("liblinear", "snapml"), "RidgeHuber": ("skglm",)}
    found = []
    for tag, tables, loss, more in (
        ("SVM", labels, HINGE, {}),
        ("sSVM", labels, SMOOTHED, {}),
        ("FairSVM", labels, HINGE, {"fairness": 0.01}),
        ("ElasticQR", with_ones, ("pinball", 0.1), {"l1": 1.0}),  # b = 0 solves several at C = 1
        ("RidgeHuber", values, HUBER, {}),
    ):
        for table in tables:
            generic = ("piqp",) if table.name not in sparse and table.n < 100_000 else ()
            for C in (1.0, 100.0, 10_000.0):
                # Without shrinking it is sometimes faster, and stalls sooner at weak penalties.
                forms = REHLINE if C <= 100.0 else REHLINE[:1]
                solvers = ("rectiline", *forms, *special.get(tag, ()), *generic)
                same = {"tag": tag, "repeats": 3, "time_limit": 30.0, "patience": 20.0, **more}
                found += races([table], [loss], solvers, C=[C], **same)
    return found


def quantile() -> list[Case]:
    small = [real(name, "residual") for name in ("engel", "kin8nm", "cal_housing")]
    small.append(residual("good", 20_000, 20))
    large = [residual("heavy", 100_000, 20), residual("good", 300_000, 50)]
    rivals = ("rectiline", "statsmodels", "pyfixest", "sklearn-quantile")
    same: dict[str, Any] = {"intercept": True, "repeats": 3}
    levels = [("pinball", q) for q in (0.1, 0.5, 0.9)]
    lp = ("rectiline", "sklearn-quantile", "highs", "piqp")
    found = races(small, levels, (*rivals, "piqp"), l2=0.0, **same)
    found += races(large, levels, rivals, l2=0.0, **same)
    found += races(small, [MEDIAN], ("rectiline", "piqp", "clarabel"), l2=1e-3, **same)
    for table in small:
        for loss in levels[1:]:
            for l1 in (1e-3, 1e-2):
                found += races([table], [loss], lp, l1=l1, l2=0.0, **same)
    return found


def sparse_data() -> list[Case]:
    same: dict[str, Any] = {"mean": False, "repeats": 3, "patience": 10.0}
    hinge = ("rectiline", "rehline", "liblinear", "snapml")
    squared = ("rectiline", "rehline", "liblinear", "liblinear-primal")
    strengths = (0.01, 0.1, 1.0, 10.0, 100.0)
    # Images as an array of which four fifths are zero.
    found = races([real("mnist_5k", form="dense")], [SQUARED], squared, **same)
    for name in ("w8a", "a9a", "reuters21578_modapte_tfidf", "news20_bydate_tfidf", "imdb_tfidf"):
        table = [real(name, form="csr")]
        found += races(table, [HINGE], hinge, C=strengths, **same)
        found += races(table, [SQUARED], squared, C=strengths, **same)
    for name, target, delta in (
        ("w8a", "y", 0.5),
        ("a9a", "y", 0.5),
        ("imdb_tfidf", "rating", 1.0),
    ):
        table = [real(name, "residual", form="csr", target=target)]
        solvers = ("rectiline", "rehline", "skglm")
        found += races(table, [("huber", delta)], solvers, C=strengths, **same)
    return found


def generation() -> list[Case]:
    """Strengths are fractions of ``max_j sum_i |x_ij|`` (of its group and sorted analogues).

    Weight 1 on every sample, free intercept. The full LP goes to HiGHS in its dual form (its best)
    and as the paper writes it.
    """
    ours = "rectiline:generation"
    both = ("rectiline", ours, "highs", "highs-primal")

    def cases(
        profile: str,
        sizes: Iterable[tuple[int, int]],
        shares: Iterable[float],
        solvers: tuple[str, ...],
        penalty: str = "elastic",
        **more: Any,
    ) -> list[Case]:
        tables = [margin(profile, n, p) for n, p in sizes]
        return [
            case for t in tables for f in shares for case in one(t, f, solvers, penalty, **more)
        ]

    def one(
        table: Data, share: float, solvers: tuple[str, ...], penalty: str = "elastic", **more: Any
    ) -> list[Case]:
        same = {"mean": False, "penalty": penalty, "l1_relative": True, **NOT_PENALISED}
        same |= {"l1": float(f"{share:.3g}"), "repeats": 3, "time_limit": 300.0, **more}
        return races([table], [HINGE], solvers, **same)

    wide, long = ((100, 10_000), (300, 10_000), (100, 50_000)), ((10_000, 100), (10_000, 300))
    square = ((3000, 3000), (2000, 5000), (5000, 2000))
    groups, hard = (ours, "highs-groups"), ((1000, 2000), (1000, 5000))
    growing = [(100, p) for p in (1000, 20_000, 100_000, 500_000)]
    two_level = [(100, p) for p in (10_000, 20_000, 50_000, 100_000)]
    found = [
        *cases("l1svm", wide, (0.05, 0.2), both),
        *cases("l1svm", (*long, (50_000, 100)), (0.001, 0.01), both),
        *cases("l1svm", square, (0.01, 0.1), both),
        *cases("l1svm", growing, [0.05], (ours,), tag="Figure 1"),
        *cases("groupsvm", (*wide[:2], (100, 30_000)), [0.1], groups, "group_linf"),
        *cases("correlated_groups", hard, [0.02], groups, "group_linf"),
        # Next to no signal: nearly all groups move, each with many sign vectors.
        *cases("weak_groups", hard, (0.02, 0.01, 0.005), groups, "group_linf", repeats=1),
        *cases("l1svm", two_level, [0.01], (ours,), "slope_two_level"),
        *cases("l1svm", two_level[:3], [0.01], (ours,), "slope_sqrt_log"),
    ]
    dense = ("leukemia_allaml", "prostate_ge", "colon", "arcene", "glioma")
    sparse = ("reuters21578_modapte_tfidf", "news20_bydate_tfidf", "imdb_tfidf")
    for name in (*dense, *sparse):
        solvers = (ours, "sgd", "highs") if name in dense else ("rectiline", "sgd")
        table = real(name, columns="standardised" if name in dense else "raw")
        same = {"targets": (1e-1, 1e-2, 1e-3, 1e-6), "time_limit": 120.0}
        for k in range(11):
            found += one(table, 0.3 * 0.01 ** (k / 10), solvers, **same)
    # Sparse tables with many entries, whose masters are kept dense.
    found += cases("quarter", ((3000, 300), (500, 3000)), [0.1], (ours, "sgd"), repeats=2)
    table, solvers = residual("sparse_model", 2000, 5000), (*both[:2], "sklearn-quantile")
    for alpha in (0.01, 0.02, 0.05, 0.1):
        same = {"l1": alpha, "repeats": 1, "time_limit": 900.0, **NOT_PENALISED}
        found += races([table], [MEDIAN], solvers, **same)
    return found


def scaling() -> list[Case]:
    lines = [
        *(("by-n", n, 20, 100.0) for n in (1000, 10_000, 100_000, 1_000_000)),
        *(("by-d", 20_000, d, 100.0) for d in (5, 20, 80, 320)),
        *(("by-C", 20_000, 20, C) for C in (1.0, 1e2, 1e4, 1e6)),
    ]
    return [
        case
        for tag, n, d, C in lines
        for case in paired(
            made("good", (HINGE, MEDIAN), (n, d)),
            ("rectiline", "rehline"),
            C=[C],
            tag=tag,
            repeats=3,
        )
    ]


def accuracy() -> list[Case]:
    targets = tuple(10.0**-k for k in range(1, 10))
    same: dict[str, Any] = {"targets": targets, "repeats": 3, "time_limit": 20.0, "patience": 100.0}
    plain = ("rectiline", *REHLINE, "liblinear", "piqp")
    svm = ("rectiline", *REHLINE, "liblinear", "snapml")
    kin8nm = real("kin8nm", "residual", columns="standardised")
    housing = real("cal_housing", "residual")
    text, a9a = real("reuters21578_modapte_tfidf"), real("a9a", form="csr")
    primal = ("rectiline", "rehline", "liblinear", "liblinear-primal")
    free = ("rectiline", "statsmodels", "pyfixest", "piqp")
    return [
        *races([real("spf", columns="standardised")], [HINGE], plain, **same),
        *races([kin8nm, housing], [MEDIAN], plain, C=[100.0], **same),
        *races([margin("good", 10_000, 50)], [HINGE], svm, C=[100.0], **same),
        *races([margin("bad", 100_000, 30)], [HINGE], svm, C=[100.0], **same),
        *races(
            [residual("heavy", 100_000, 30)], [HUBER], ("rectiline", "rehline", "skglm"), **same
        ),
        *races([text], [HINGE], ("rectiline", "rehline", *svm[3:]), mean=False, **same),
        *races([a9a], [SQUARED], primal, mean=False, **same),
        *races([residual("good", 20_000, 20)], [MEDIAN], free, **NOT_PENALISED, **same),
    ]


def small() -> list[Case]:
    cancer = Data("sklearn", "breast_cancer")
    diabetes = Data("sklearn", "diabetes", task="residual")
    pairs = [
        (cancer, HINGE),
        (replace(cancer, columns="standardised"), HINGE),
        (Data("sklearn", "wine"), SQUARED),
        (diabetes, MEDIAN),
        (diabetes, HUBER),
        (margin("good", 50, 3), HINGE),
        (margin("good", 1000, 20), SMOOTHED),
        (residual("good", 200, 5), ("pinball", 0.9)),
        (residual("good", 1000, 90), HUBER),
    ]
    solvers = ("rectiline", "rehline", "liblinear")
    return paired(pairs, solvers, C=(1.0, 100.0), time_limit=20.0, repeats=15)


def estimators() -> list[Case]:
    same = {"l1": 0.01, "targets": (1e-8,), "repeats": 3, "time_limit": 300.0, "patience": 3000.0}
    tables = [residual("good", n, d) for n, d in ((10_000, 50), (1_000, 1_000))]
    solvers = ("rectiline-quantile", "sklearn-quantile")
    found = races(tables, [MEDIAN, ("pinball", 0.9)], solvers, **NOT_PENALISED, **same)
    found += races([residual("good", 1_000_000, 20)], [MEDIAN], solvers, **NOT_PENALISED, **same)
    # Images of which four fifths are zero: each digit against the others.
    solvers = ("rectiline-classifier", "liblinear", "liblinear-primal")
    for form in ("dense", "csr"):
        for digit in range(10):
            table = real("mnist_5k", form=form, target=f"y={digit}", n=4000, columns="unit")
            same = {"mean": False, "repeats": 3, "tag": f"{form} {digit}"}
            found += races([table], [SQUARED], solvers, **same)
    return found


def quick() -> list[Case]:
    """One or two representative races of every suite, with small limits: five minutes in all."""
    found = []
    for suite, name in (
        ("foundation", "good 10000x50 hinge C=1/n"),
        ("foundation", "good 10000x50 pinball(0.5) C=1/n"),
        ("foundation", "good 10000x50 huber(1) C=1/n"),
        ("second_order", "good 10000x50 pinball(0.5) C=100/n"),
        ("rehline", "FairSVM spf standardised hinge C=1/n fair=0.01"),
        ("quantile", "kin8nm raw pinball(0.5) C=1/n l1=0 l2=0 +b0"),
        ("sparse_data", "reuters21578_modapte_tfidf raw hinge C=1"),
        ("generation", "l1svm 300x10000 hinge C=1 l1=0.2max l2=0 +b0"),
        ("scaling", "by-n good 10000x20 hinge C=100/n"),
        ("small", "breast_cancer standardised hinge C=1/n"),
    ):
        case = next(one for one in cases(suite) if one.name == name).trimmed(10.0, 3)
        found.append(replace(case, tag=f"{suite}:{case.tag}"))
    return found


NAMES = ("door", "foundation", "second_order", "rehline", "quantile", "sparse_data", "generation")
NAMES += ("scaling", "accuracy", "small", "estimators")


@cache
def cases(name: str) -> tuple[Case, ...]:
    """The races of a suite; names may be written with ``-`` or ``_``."""
    name = name.replace("-", "_")
    if name not in (*NAMES, "quick"):
        raise KeyError(f"suite {name!r}: known are {', '.join(NAMES)}, quick")
    found = tuple(globals()[name]())
    first, count = Counter(case.name for case in found).most_common(1)[0]
    if count > 1:
        raise ValueError(f"suite {name!r} has {count} cases called {first!r}")
    return found
