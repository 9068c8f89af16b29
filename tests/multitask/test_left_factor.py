"""Singular values and left vectors against a plain decomposition."""

import numpy as np
import pytest

from rectiline.penalties import SharedSubspace
from rectiline.penalties._shared_subspace import LeftFactor


def matrices():
    rng = np.random.default_rng(0)
    for d, m in ((40, 6), (6, 40), (7, 7), (9, 1), (1, 9), (500, 5)):
        yield rng.normal(size=(d, m))
    graded = np.linalg.qr(rng.normal(size=(60, 8)))[0] * 10.0 ** -np.arange(8)
    yield graded @ np.linalg.qr(rng.normal(size=(8, 8)))[0]
    yield np.outer(rng.normal(size=50), rng.normal(size=6))  # rank one
    yield np.zeros((20, 3))
    yield rng.normal(size=(70_000, 4))  # read in blocks of rows


@pytest.mark.parametrize("A", list(matrices()), ids=lambda A: f"{A.shape[0]}x{A.shape[1]}")
def test_sizes_and_vectors(A):
    left, sizes, _ = np.linalg.svd(A, full_matrices=False)
    for order in ("C", "F"):
        factor = LeftFactor(np.array(A, order=order))
        np.testing.assert_allclose(factor.sizes, sizes, atol=1e-14 * max(1.0, sizes[0]))
        known = sizes > 1e-9 * max(sizes[0], 1e-300)
        V = factor.vectors(known)
        np.testing.assert_allclose(V.T @ V, np.eye(known.sum()), atol=1e-13)
        np.testing.assert_allclose(np.abs(np.sum(V * left[:, known], axis=0)), 1.0, atol=1e-10)


@pytest.mark.parametrize("h", [1, 2, 4, 6])
def test_the_sum_of_terms_is_the_definition(h):
    """Omega(U) + Omega*(Q) - <Q, U>, also where Q nearly vanishes in some directions."""
    rng = np.random.default_rng(h)
    penalty = SharedSubspace(h, 0.7, 0.2)
    for decay in (0.0, 2.0, 9.0):
        for d, m in ((12, 6), (6, 12)):
            spread = 10.0 ** (-decay * np.arange(6) / 5)
            frame = np.linalg.qr(rng.normal(size=(d, 6)))[0] * spread
            Q = frame @ np.linalg.qr(rng.normal(size=(m, 6)))[0].T
            U = rng.normal(size=(d, m))
            direct = penalty.value(U) + penalty.conjugate(Q) - np.sum(Q * U)
            assert penalty.fenchel_young(U, Q) == pytest.approx(direct, rel=1e-10)
