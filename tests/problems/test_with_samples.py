"""A problem on some of its samples is the one made from them."""

import numpy as np
import pytest
from scipy import sparse

import rectiline as rl

RNG = np.random.default_rng(2)
X = RNG.standard_normal((60, 4))
Y = X[:, 0] + RNG.standard_normal(60)
CHOSEN = np.array([3, 7, 8, 20, 41, 59])
WEIGHT = RNG.uniform(0.5, 2.0, CHOSEN.size)


@pytest.mark.parametrize("layout", [np.asarray, np.asfortranarray, sparse.csr_array])
@pytest.mark.parametrize("several", [False, True])
def test_the_same_objective_and_certificate(layout, several):
    loss, index = rl.losses.Absolute(), None
    if several:
        loss, index = [rl.losses.Absolute(), rl.losses.Pinball(0.2)], np.arange(60) % 2
    bound = rl.constraints.Nonnegative()
    whole = rl.Problem(layout(X), Y, loss, rl.penalties.Ridge(2.0), bound, loss_index=index)
    part = whole.with_samples(CHOSEN, WEIGHT)
    own = rl.Problem(
        layout(X)[CHOSEN],
        Y[CHOSEN],
        loss,
        rl.penalties.Ridge(2.0),
        bound,
        sample_weight=WEIGHT,
        loss_index=None if index is None else index[CHOSEN],
    )
    found, expected = rl.solve(part, tol=1e-9), rl.solve(own, tol=1e-9)
    np.testing.assert_allclose(found.coef, expected.coef, atol=1e-7)
    np.testing.assert_allclose(part.objective(X[0], 0.3), own.objective(X[0], 0.3))
    assert part.n_samples == CHOSEN.size and whole.n_samples == 60


def test_weights_are_checked():
    with pytest.raises(ValueError, match="sample_weight"):
        rl.Problem(X, Y, rl.losses.Absolute()).with_samples(CHOSEN, -WEIGHT)
