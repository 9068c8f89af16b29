"""The tables of the column-and-constraint generation paper, at its sizes, and harder families.

Strengths are fractions of ``max_j sum_i |x_ij|`` (of its group and sorted analogues), as there.
Weight 1 on every sample, free intercept. The full LP goes to HiGHS in its dual form (its best) and
as the paper writes it.
"""

from __future__ import annotations

from ..cases import Case, Data, margin, residual

OURS = "rectiline:generation"
BOTH = ("rectiline", OURS)  # what users call, and the solver itself
FULL = ("highs", "highs-primal")


def _case(
    data: Data,
    fraction: float,
    penalty: str = "elastic",
    solvers: tuple[str, ...] = (OURS, *FULL),
    **options: object,
) -> Case:
    settings: dict[str, object] = {"repeats": 3, "time_limit": 300.0, **options}
    return Case(
        data,
        "hinge",
        mean=False,
        penalty=penalty,
        l1=float(f"{fraction:.3g}"),
        l1_relative=True,
        l2=0.0,
        intercept=True,
        solvers=solvers,
        **settings,  # type: ignore[arg-type]
    )


TABLE_1 = [
    _case(margin("l1svm", n, p), fraction, solvers=(*BOTH, *FULL))
    for n, p in ((100, 10_000), (300, 10_000), (100, 50_000))
    for fraction in (0.05, 0.2)
]
TABLE_2 = [
    _case(margin("l1svm", n, p), fraction, solvers=(*BOTH, *FULL))
    for n, p in ((10_000, 100), (10_000, 300), (50_000, 100))
    for fraction in (0.001, 0.01)
]
TABLE_3 = [
    _case(margin("l1svm", n, p), fraction, solvers=(*BOTH, *FULL))
    for n, p in ((3000, 3000), (2000, 5000), (5000, 2000))
    for fraction in (0.01, 0.1)
]
FIGURE_1 = [
    _case(margin("l1svm", 100, p), 0.05, solvers=(OURS,), tag="Figure 1")
    for p in (1000, 20_000, 100_000, 500_000)
]
GROUPS = (OURS, "highs-groups")
TABLE_5 = [
    _case(margin("groupsvm", n, p), 0.1, "group_linf", GROUPS)
    for n, p in ((100, 10_000), (300, 10_000), (100, 30_000))
]
HARD_GROUPS = [
    _case(margin("correlated_groups", 1000, p), 0.02, "group_linf", GROUPS) for p in (2000, 5000)
]
# Next to no signal: nearly all groups move, each with many sign vectors.
WEAK_GROUPS = [
    _case(margin("weak_groups", 1000, p), fraction, "group_linf", GROUPS, repeats=1)
    for p in (2000, 5000)
    for fraction in (0.02, 0.01, 0.005)
]
TABLE_6 = [
    _case(margin("l1svm", 100, p), 0.01, "slope_two_level", (OURS,))
    for p in (10_000, 20_000, 50_000, 100_000)
]
TABLE_7 = [
    _case(margin("l1svm", 100, p), 0.01, "slope_sqrt_log", (OURS,))
    for p in (10_000, 20_000, 50_000)
]

DENSE = ("leukemia_allaml", "prostate_ge", "colon", "arcene", "glioma")
SPARSE = ("reuters21578_modapte_tfidf", "news20_bydate_tfidf", "imdb_tfidf")
SHARES = [0.3 * 0.01 ** (k / 10) for k in range(11)]
REAL = [
    _case(
        Data("real", name, columns="standardised" if name in DENSE else "raw"),
        share,
        solvers=(OURS, "sgd", "highs") if name in DENSE else ("rectiline", "sgd"),
        targets=(1e-1, 1e-2, 1e-3, 1e-6),
        time_limit=120.0,
    )
    for name in (*DENSE, *SPARSE)
    for share in SHARES
]

# Sparse tables with many entries, whose masters are kept dense.
QUARTER = [
    _case(margin("quarter", n, p), 0.1, solvers=(OURS, "sgd"), repeats=2)
    for n, p in ((3000, 300), (500, 3000))
]

QUANTILE = [
    Case(
        residual("sparse_model", 2000, 5000),
        "pinball",
        0.5,
        l1=alpha,
        l2=0.0,
        intercept=True,
        solvers=(*BOTH, "sklearn-quantile"),
        repeats=1,
        time_limit=900.0,
    )
    for alpha in (0.01, 0.02, 0.05, 0.1)
]

CASES = [
    *TABLE_1,
    *TABLE_2,
    *TABLE_3,
    *FIGURE_1,
    *TABLE_5,
    *HARD_GROUPS,
    *WEAK_GROUPS,
    *TABLE_6,
    *TABLE_7,
    *REAL,
    *QUARTER,
    *QUANTILE,
]
