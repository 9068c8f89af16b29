"""One proof: a solution, its parts, and a batch of candidates give the same certificate."""

import dataclasses
from types import SimpleNamespace

import numpy as np
import pytest
from scipy import sparse

import rectiline as rl

RNG = np.random.default_rng(4)
X = RNG.standard_normal((40, 6))
Y = X[:, 0] - X[:, 1] + RNG.standard_normal(40)
LABELS = np.where(Y > 0, 1, -1)
GROUPS = [0, 0, 1, 1, 2, 2]
EQUALITY = rl.constraints.LinearEquality(np.ones((1, 6)), [-0.5])

KINDS = {
    "ridge": (rl.losses.Huber(), rl.penalties.Ridge(1.0), (), True),
    "hinge": (rl.losses.Hinge(), rl.penalties.Ridge(1.0), (), True),
    "l1": (rl.losses.Absolute(), rl.penalties.L1(2.0), (), True),
    "l1, a free column": (
        rl.losses.Absolute(),
        rl.penalties.L1(2.0, weights=[1, 0, 1, 1, 1, 1]),
        (),
        True,
    ),
    "no penalty": (rl.losses.Pinball(0.3), None, (), True),
    "one-sided bounds": (rl.losses.SquaredError(), None, (rl.constraints.Nonnegative(),), False),
    "rows": (rl.losses.Huber(), rl.penalties.Ridge(1.0), (EQUALITY,), True),
    "groups": (rl.losses.Huber(), rl.penalties.GroupLinf(1.0, GROUPS), (), True),
    "slope": (rl.losses.Absolute(), rl.penalties.Slope(np.arange(6.0, 0.0, -1.0)), (), False),
}
STORES = {"dense": np.asarray, "float32": np.float32, "csr": sparse.csr_array}


def made(kind, store=np.asarray):
    loss, penalty, constraints, intercept = KINDS[kind]
    y = LABELS if loss.of == "margin" else Y
    return rl.Problem(store(X), y, loss, penalty, constraints, fit_intercept=intercept)


def candidates(problem):
    """Return good, poor and arbitrary pairs; one comes without multipliers."""
    found = [rl.solve(problem, tol=tol) for tol in (1e-2, 1e-8)]
    anything = SimpleNamespace(
        coef=RNG.standard_normal(6),
        intercept=0.7 * problem.fit_intercept,
        dual=RNG.standard_normal(40),
    )
    slopes = SimpleNamespace(coef=found[0].coef, intercept=found[0].intercept, dual=None)
    return [*found, anything, slopes]


def assert_close(found, expected):
    assert dataclasses.astuple(found) == pytest.approx(
        dataclasses.astuple(expected), rel=1e-6, abs=1e-10
    )


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("store", STORES)
def test_a_batch_proves_what_single_pairs_prove(kind, store):
    problem = made(kind, STORES[store])
    pairs = candidates(problem)
    proofs = problem.certify_many(pairs)
    assert len(proofs) == len(pairs)
    for proof, pair in zip(proofs, pairs):
        assert_close(proof, problem.certify(pair.coef, pair.intercept, pair.dual))
        assert_close(proof, problem.certify(pair))
    assert proofs[1].relative_gap <= 1e-7


def test_nothing_to_certify():
    assert made("ridge").certify_many([]) == []


def test_a_batch_leaves_the_candidates_as_they_were():
    problem = made("l1")
    pairs = candidates(problem)
    before = [np.array(getattr(pair.dual, "sample", pair.dual), copy=True) for pair in pairs[:3]]
    problem.certify_many(pairs)
    for pair, kept in zip(pairs, before):
        np.testing.assert_array_equal(getattr(pair.dual, "sample", pair.dual), kept)


def test_a_solution_is_certified_alone():
    problem = made("ridge")
    solution = rl.solve(problem)
    proof = problem.certify(solution)
    assert proof == problem.certify(solution.coef, solution.intercept, solution.dual)
    # A solve proves in plain doubles, a look at its answer in twofold arithmetic.
    assert abs(proof.primal - solution.objective) <= 2**-52 * proof.primal and proof.holds(1e-6)
    with pytest.raises(TypeError, match="a solution alone"):
        problem.certify(solution, 1.0)
    with pytest.raises(TypeError, match="a solution alone"):
        problem.certify(solution, dual=solution.dual)


def test_a_wrong_candidate_is_named():
    problem = made("ridge")
    wrong = SimpleNamespace(coef=np.zeros(5), intercept=0.0, dual=None)
    with pytest.raises(ValueError, match="coef must have shape"):
        problem.certify_many([rl.solve(problem), wrong])
