"""Answers of a guide that may do for a part of its samples.

Strong penalties leave little to the samples: what all of them say at one strength is what most of
them say at another. The first moves are the dear ones, as nearly all rows take part in them.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from rectiline.paths._answers import Answer, judged_answers
from rectiline.paths._chain import ANCHORED
from rectiline.paths._guide import Guide
from rectiline.problems import Problem, SlopeMultipliers

Vector = NDArray[np.float64]
Index = NDArray[np.int64]
Lent = dict[int, tuple[Answer, tuple[Vector, Index, Vector]]]

__all__ = ["LENT", "Lent", "lent_answers"]

LENT = "newton: on more samples"
_COUNT, _APART = 2, 4  # answers, and least strengths from one to the other


def lent_answers(problem: Problem, guide: Guide, tol: float) -> Lent:
    """Return the first answers to look for by their places, with multipliers by exceptions.

    None if those of the guide will not do. The first part that asks finds out.
    """
    places = guide.anchors(tol)[: _COUNT + 1]
    if guide.may_lend is False or len(places) <= _COUNT or places[1] < _APART:
        return {}
    some = SlopeMultipliers.balancing(problem)
    lent: Lent = {}
    for place in places[:_COUNT]:
        coef, intercept, slopes = guide.lent(problem, place)
        answer = Answer(float(guide.strengths[place]), coef, intercept, 0, 0.0, LENT)
        lent[place] = answer, (slopes, *some)
    if guide.may_lend is None:
        answers, exceptions = zip(*lent.values(), strict=True)
        multipliers = SlopeMultipliers.of(list(exceptions))
        proofs = judged_answers(problem, answers, multipliers).proofs
        guide.may_lend = all(proof.holds(ANCHORED * tol) for proof, _ in proofs)
    return lent if guide.may_lend else {}
