"""Proofs of small problems in one compiled call against those that go step by step."""

import numpy as np
import pytest
from scipy import sparse as sp

import rectiline as rl
from rectiline.problems.proof import _gather

STORED = {
    "rows": np.ascontiguousarray,
    "columns": np.asfortranarray,
    "csr": sp.csr_array,
    "csc": sp.csc_array,
    "single": lambda X: np.asarray(X, dtype=np.float32),
}
PENALTIES = [
    rl.penalties.Ridge(0.5),
    rl.penalties.L1(2.0),
    rl.penalties.ElasticNet(1.0, 0.3),
    rl.penalties.L1(1e-3),
]
FREE = [None, rl.penalties.L1(1.0, weights=[0.0, 1.0, 0.0])]


def made(stored, penalty, intercept, constraints=()):
    rng = np.random.default_rng(8)
    X = rng.standard_normal((40, 3)) * (rng.random((40, 3)) < 0.7)
    y = X @ [1.0, -2.0, 0.5] + rng.standard_normal(40)
    weight = rng.integers(0, 3, 40) + 0.0
    return rl.Problem(
        STORED[stored](X),
        y,
        rl.losses.Pinball(0.3),
        penalty=penalty,
        sample_weight=weight,
        fit_intercept=intercept,
        constraints=constraints,
    )


@pytest.mark.parametrize("intercept", [True, False])
@pytest.mark.parametrize("penalty", PENALTIES + FREE, ids=repr)
@pytest.mark.parametrize("stored", STORED)
def test_small_problems_are_proved_alike(stored, penalty, intercept, monkeypatch):
    problem = made(stored, penalty, intercept)
    rng = np.random.default_rng(9)
    solution = rl.solve(problem, tol=1e-9)
    b0 = solution.intercept
    near = solution.dual.sample + 1e-3 * rng.standard_normal(40), solution.dual.sample
    for sample in (*near, np.zeros(40)):
        for tol in (None, 1e-3, 1e-8, 1e-13, 0.0):
            small = problem.prove(solution.coef, b0, sample, tol)
            with monkeypatch.context() as patch:
                patch.setattr(_gather, "_WORK_FOR_ONE_CALL", 0)
                general = problem.prove(solution.coef, b0, sample, tol)
            np.testing.assert_allclose(small.dual.sample, general.dual.sample, atol=1e-14)
            primal = general.certificate.primal
            assert small.certificate.primal == pytest.approx(primal, rel=1e-15)
            assert small.certificate.radius == general.certificate.radius
            gap, by = general.certificate.gap, general.certificate.rounding
            near = pytest.approx(gap, rel=1e-6, abs=max(1e-12 * primal, by))
            assert small.certificate.gap == near
