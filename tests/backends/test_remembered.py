"""`Design.both` remembers its last answer and builds on it: the numbers must not notice."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse as sp

from rectiline.backends import Design


@pytest.mark.parametrize("kind", ["c", "f", "float32", "csr"])
def test_a_row_of_similar_points(kind):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((120, 400))
    stored = {
        "c": X,
        "f": np.asfortranarray(X),
        "float32": X.astype(np.float32),
        "csr": sp.csr_array(X),
    }[kind]
    exact = np.asarray(stored.toarray() if kind == "csr" else stored, dtype=np.float64)
    design = Design(stored)
    coef, weights = np.zeros(400), rng.standard_normal(120)
    for step in range(40):
        coef[rng.integers(0, 400, 2)] = rng.standard_normal(2) * (step % 7 > 0)
        weights[rng.integers(0, 120, 3)] = rng.standard_normal(3)
        for _ in range(2):  # the second time from memory
            z, q = design.both(coef, weights)
            np.testing.assert_allclose(z, exact @ coef, atol=1e-12)
            np.testing.assert_allclose(q, exact.T @ weights, atol=1e-12)
            z += 1.0  # answers belong to the caller
            q[:] = 0.0
