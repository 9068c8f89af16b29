"""One or two representative races of every suite, with small limits: under five minutes in all."""

from __future__ import annotations

from dataclasses import replace

from ..cases import Case
from . import cases

PICKS = (
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
)


def _pick(suite: str, name: str) -> Case:
    found = {case.name: case for case in cases(suite)}
    case = found[name].trimmed(time_limit=10.0, repeats=3)
    return replace(case, tag=f"{suite}:{case.tag}" if case.tag else f"{suite}:")


CASES = [_pick(suite, name) for suite, name in PICKS]
