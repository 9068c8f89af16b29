"""The tables of the column-and-constraint generation paper, at its sizes.

Strengths are fractions of ``max_j sum_i |x_ij|`` (of its group and sorted analogues), as there.
Weight 1 on every sample, free intercept. The full LP goes to HiGHS in its dual form.
"""

from __future__ import annotations

from ..cases import Case, Data, margin

SOLVERS = ("rectiline", "highs")


def _case(
    data: Data, fraction: float, penalty: str = "elastic", solvers: tuple[str, ...] = SOLVERS
) -> Case:
    return Case(
        data,
        "hinge",
        mean=False,
        penalty=penalty,
        l1=fraction,
        l1_relative=True,
        l2=0.0,
        intercept=True,
        solvers=solvers,
        repeats=3,
        time_limit=300.0,
    )


TABLE_1 = [
    _case(margin("l1svm", n, p), fraction)
    for n, p in ((100, 10_000), (300, 10_000), (100, 50_000))
    for fraction in (0.05, 0.2)
]
TABLE_2 = [
    _case(margin("l1svm", n, p), fraction)
    for n, p in ((10_000, 100), (10_000, 300), (50_000, 100))
    for fraction in (0.001, 0.01)
]
TABLE_3 = [
    _case(margin("l1svm", n, p), fraction)
    for n, p in ((3000, 3000), (2000, 5000), (5000, 2000))
    for fraction in (0.01, 0.1)
]
TABLE_5 = [
    _case(margin("groupsvm", n, p), 0.1, "group_linf", ("rectiline",))
    for n, p in ((100, 10_000), (300, 10_000), (100, 30_000))
]
TABLE_6 = [
    _case(margin("l1svm", 100, p), 0.01, "slope_two_level", ("rectiline",))
    for p in (10_000, 20_000, 50_000)
]
TABLE_7 = [
    _case(margin("l1svm", 100, p), 0.01, "slope_sqrt_log", ("rectiline",))
    for p in (10_000, 20_000, 50_000)
]

CASES = [*TABLE_1, *TABLE_2, *TABLE_3, *TABLE_5, *TABLE_6, *TABLE_7]
