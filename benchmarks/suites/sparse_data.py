"""Sparse tables at C = 0.01 .. 100 (weight C on every sample): hinge, squared hinge, Huber."""

from __future__ import annotations

from ..cases import Case, Data

NAMES = ("w8a", "a9a", "reuters21578_modapte_tfidf", "news20_bydate_tfidf", "imdb_tfidf")
STRENGTHS = (0.01, 0.1, 1.0, 10.0, 100.0)
RIVALS = {
    "hinge": ("rehline", "liblinear", "snapml"),
    "squared_hinge": ("rehline", "liblinear", "liblinear-primal"),
    "huber": ("rehline", "skglm"),
}


def _case(data: Data, loss: str, parameter: float | None, C: float) -> Case:
    solvers = ("rectiline", *RIVALS[loss])
    return Case(
        data,
        loss,
        parameter,
        C=C,
        mean=False,
        solvers=solvers,
        repeats=3,
        patience=10.0,
    )


CASES = [
    # Images as an array of which four fifths are zero.
    _case(Data("real", "mnist_5k", form="dense"), "squared_hinge", None, 1.0),
    *(
        _case(Data("real", name, form="csr"), loss, None, C)
        for name in NAMES
        for loss in ("hinge", "squared_hinge")
        for C in STRENGTHS
    ),
    *(
        _case(Data("real", name, form="csr", task="residual", target=target), "huber", delta, C)
        for name, target, delta in (
            ("w8a", "y", 0.5),
            ("a9a", "y", 0.5),
            ("imdb_tfidf", "rating", 1.0),
        )
        for C in STRENGTHS
    ),
]
