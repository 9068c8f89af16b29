"""Products for certificates depend on their arguments alone, not on what was multiplied before."""

from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from scipy import sparse

from rectiline.backends import Design

RNG = np.random.default_rng(0)
X = RNG.standard_normal((120, 200))
STORES = [np.ascontiguousarray, np.asfortranarray, np.float32, sparse.csr_array, sparse.csc_array]


def arguments(count=12):
    """Pairs of vectors that change little from one to the next, with few columns in use."""
    coef, weights = np.zeros(200), RNG.standard_normal(120)
    for k in range(count):
        coef[k % 3] += RNG.standard_normal()
        weights[k] += 1e-3
        yield coef.copy(), weights.copy()


@pytest.mark.parametrize("store", STORES)
def test_equal_bits_whatever_was_asked_before(store):
    matrix = store(X)
    used = Design(matrix)
    for coef, weights in arguments():
        for found, fresh in zip(used.both(coef, weights), Design(matrix).both(coef, weights)):
            np.testing.assert_array_equal(found, fresh)
        np.testing.assert_allclose(used.both(coef, weights)[0], matrix @ coef, rtol=1e-5, atol=1e-5)
        np.testing.assert_allclose(
            used.both(coef, weights)[1], matrix.T @ weights, rtol=1e-4, atol=1e-4
        )


def test_equal_bits_from_many_threads():
    design, pairs = Design(X), list(arguments(40))
    alone = [design.both(*pair) for pair in pairs]
    with ThreadPoolExecutor(4) as pool:
        for _ in range(5):
            for found, expected in zip(pool.map(lambda pair: design.both(*pair), pairs), alone):
                np.testing.assert_array_equal(found[0], expected[0])
                np.testing.assert_array_equal(found[1], expected[1])
