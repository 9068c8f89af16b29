"""Certificates in the span of the rows against those of the pairs written out."""

import numpy as np
import pytest
from cases import LOSSES
from scipy import sparse

import rectiline as rl
from rectiline.penalties import L1, ElasticNet, Ridge
from rectiline.problems import certify_span

RNG = np.random.default_rng(21)
N, D, K = 24, 70, 9
X = RNG.standard_normal((N, D)) * RNG.choice([1.0, 50.0, 0.02], D) + 0.4
X[5], X[6] = X[4], 0.0  # a duplicated row, and one of zeros
TARGETS = X[:, 0] + RNG.standard_normal(N)
LABELS = np.where(TARGETS > 0.2, 1, -1)
WEIGHT = RNG.uniform(0.5, 2.0, N) * (np.arange(N) % 5 > 0)
LAYOUTS = [np.ascontiguousarray, np.asfortranarray, np.float32, sparse.csr_array]
every_loss = pytest.mark.parametrize("case", LOSSES, ids=[case.name for case in LOSSES])


def problem(loss, layout=np.ascontiguousarray, **more):
    y = LABELS if loss.of == "margin" else TARGETS
    return rl.Problem(layout(X), y, loss, Ridge(2.0), sample_weight=WEIGHT, **more)


@every_loss
@pytest.mark.parametrize("fit_intercept", [True, False])
@pytest.mark.parametrize("layout", LAYOUTS)
def test_proofs_are_those_of_the_pairs(case, fit_intercept, layout):
    one = problem(case.loss, layout, fit_intercept=fit_intercept)
    strengths = np.geomspace(1e6, 0.1, K)
    intercepts = RNG.standard_normal(K) if fit_intercept else np.zeros(K)
    samples = RNG.standard_normal((K, N))  # many of them out of range, none balanced
    coefs, proofs = certify_span(one, strengths, intercepts, samples)
    assert coefs.shape == (K, D)
    for k, (proof, dual) in enumerate(proofs):
        alone = one.with_penalty(Ridge(float(strengths[k])))
        np.testing.assert_allclose(
            strengths[k] * coefs[k], -one.design.tdot(samples[k]), rtol=1e-9, atol=1e-9
        )
        written = alone.certify(coefs[k], intercepts[k], np.array(dual.sample))
        assert proof.primal == pytest.approx(written.primal, rel=1e-10)
        assert written.gap == pytest.approx(proof.gap, rel=1e-8, abs=1e-10 * abs(proof.primal))


@every_loss
@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("strength", [1e4, 1.0, 1e-3])
def test_multipliers_of_an_optimum_are_enough(case, layout, strength):
    one = problem(case.loss, layout)
    best = rl.solve(one.with_penalty(Ridge(strength)), tol=1e-9)
    pair = np.array([strength]), np.array([best.intercept]), best.dual.sample[None].copy()
    coefs, [(proof, _)] = certify_span(one, *pair)
    level = best.certificate.primal
    assert proof.primal - proof.gap <= level * (1 + 1e-8) + 1e-12
    assert proof.primal == pytest.approx(level, rel=1e-3, abs=1e-8)
    np.testing.assert_allclose(coefs[0], best.coef, atol=1e-3 * abs(best.coef).max() + 1e-9)


@pytest.mark.parametrize(
    "more",
    [
        {"penalty": L1(1.0)},
        {"penalty": ElasticNet(0.5, 0.5)},
        {"penalty": None},
        {"constraints": rl.constraints.Nonnegative()},
    ],
    ids=repr,
)
def test_what_has_other_costs_is_refused(more):
    one = rl.Problem(X, TARGETS, rl.losses.Huber(), **more)
    with pytest.raises(ValueError, match="needs a ridge penalty, the same for all columns"):
        certify_span(one, np.ones(1), np.zeros(1), np.zeros((1, N)))
