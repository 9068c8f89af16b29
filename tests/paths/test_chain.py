"""Answers at some strengths, and those that lie between them."""

import numpy as np
import pytest

import rectiline as rl
from rectiline.paths import _chain
from rectiline.paths._answers import Answer, Kept
from rectiline.paths._chain import Chain
from rectiline.penalties import L1, Ridge

RNG = np.random.default_rng(3)
X = RNG.standard_normal((150, 4)) * [1, 20, 0.1, 1]
Y = X[:, 0] + 0.1 * X[:, 1] + RNG.standard_t(3, 150)
STRENGTHS = np.geomspace(20.0, 0.5, 17)
TOL = 1e-3


def answers(problem, places):
    """Exact answers, and their multipliers."""
    found = []
    for place in places:
        penalty = problem.penalty.with_strength(float(STRENGTHS[place]))
        found.append(rl.solve(problem.with_penalty(penalty), tol=1e-9))
    return [
        Answer(float(STRENGTHS[place]), one.coef, one.intercept, 1, 0.0, "newton: exact")
        for place, one in zip(places, found, strict=True)
    ], np.array([one.dual.sample for one in found])


@pytest.mark.parametrize("penalty", [Ridge(1.0), L1(1.0)], ids=repr)
def test_middles_are_asked_for_until_all_answers_hold(penalty, monkeypatch):
    asked = []

    def counted(pairs, strengths):
        asked.append(len(strengths))
        return certify_between(pairs, strengths)

    certify_between = _chain.certify_between
    monkeypatch.setattr(_chain, "certify_between", counted)
    problem = rl.Problem(X, Y, rl.losses.Absolute(), penalty)
    chain = Chain(problem, STRENGTHS, TOL)
    chain.add([0, 16], *answers(problem, [0, 16]))
    known = {0, 16}
    while missing := chain.middles():
        assert not known & set(missing)
        known |= set(missing)
        chain.add(missing, *answers(problem, missing))
    # Nothing is worked out twice: an interval is looked at once, then its halves.
    assert asked[0] == 15 and sum(asked) <= 15 * len(asked)
    kept = Kept(None)
    everyone, solutions = chain.solutions(kept)
    assert [one.strength for one in everyone] == STRENGTHS.tolist()
    assert 2 < len(known) < 17
    for place, solution in enumerate(solutions):
        assert solution.status == "solved"
        assert (solution.solver == "newton") == (place in known)
        here = problem.with_penalty(problem.penalty.with_strength(float(STRENGTHS[place])))
        proof = here.certify(solution.coef, solution.intercept, solution.dual)
        assert proof.relative_gap <= TOL
        assert proof.primal <= solution.certificate.primal * (1 + 1e-12)
    before = len(asked)
    assert chain.middles() == [] and len(asked) == before


def test_order_of_adding_does_not_matter():
    problem = rl.Problem(X, Y, rl.losses.Absolute(), Ridge(1.0))
    forth, back = Chain(problem, STRENGTHS, TOL), Chain(problem, STRENGTHS, TOL)
    forth.add([0, 8, 16], *answers(problem, [0, 8, 16]))
    back.add([16, 8], *answers(problem, [16, 8]))
    back.add([0], *answers(problem, [0]))
    for one, other in zip(forth.solutions()[1], back.solutions()[1], strict=True):
        assert np.allclose(one.coef, other.coef, rtol=1e-12)
        assert one.certificate.gap == pytest.approx(other.certificate.gap, rel=1e-6, abs=1e-12)


def test_fewer_answers_than_places():
    """Who gets lost on the way hands over what there is."""
    problem = rl.Problem(X, Y, rl.losses.Absolute(), Ridge(1.0))
    chain = Chain(problem, STRENGTHS, TOL)
    found = chain.add([0, 4, 9], *answers(problem, [0, 4]))
    assert len(found) == 2 and len(chain.solutions()[0]) == 5
