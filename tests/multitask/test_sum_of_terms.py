"""The penalty of the shared subspace with its conjugate, as a sum of terms."""

import numpy as np
import pytest

from rectiline.penalties import SharedSubspace


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
