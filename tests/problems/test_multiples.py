"""Columns under several multiples of their penalty against one multiple at a time."""

import numpy as np
import pytest

from rectiline.problems._columns import Columns
from rectiline.problems._multiples import Multiples

FACTORS = np.array([1.0, 0.03, 7.0])
RNG = np.random.default_rng(3)
COEFS = RNG.standard_normal((3, 6)) * (RNG.random((3, 6)) > 0.4)
Q = RNG.standard_normal((3, 6))


@pytest.mark.parametrize(
    ("rho", "l1"),
    [
        ([1.0, 2.0, 0.5, 1.0, 3.0, 1e-3], np.zeros(6)),
        (np.zeros(6), [1.0, 0.2, 3.0, 1.0, 1.0, 0.7]),
        ([1.0, 0.0, 0.5, 0.0, 3.0, 1.0], [0.0, 0.2, 3.0, 1.0, 0.0, 0.7]),
    ],
    ids=["ridge", "l1", "both"],
)
def test_values_gaps_and_shares(rho, l1):
    ends = np.full(6, np.inf)
    columns = Columns(np.asarray(rho, float), np.asarray(l1, float), -ends, ends)
    many = Multiples(columns, FACTORS)
    shares = many.shares_allowed(Q)
    q = shares[:, None] * Q
    values, gaps = many.values(COEFS), many.gaps(COEFS, q)
    few = many.some(np.array([2, 0]))
    np.testing.assert_array_equal(few.gaps(COEFS[[2, 0]], q[[2, 0]]), gaps[[2, 0]])
    for k, factor in enumerate(FACTORS):
        one = Columns(factor * columns.rho, factor * columns.l1, -ends, ends)
        low, high = one.dual_range
        room = [
            h / x if x > h else lo / x if x < lo else 1.0
            for x, lo, h in zip(Q[k], low, high, strict=True)
        ]
        assert shares[k] == pytest.approx(min(room), rel=1e-14)
        assert values[k] == pytest.approx(one.value(COEFS[k]), rel=1e-14)
        # Written from the minimiser, whatever the columns.
        best = one.minimiser(q[k])
        direct = [
            one.rho[j] / 2 * (COEFS[k, j] ** 2 - best[j] ** 2)
            + one.l1[j] * (abs(COEFS[k, j]) - abs(best[j]))
            - q[k, j] * (COEFS[k, j] - best[j])
            for j in range(6)
        ]
        assert gaps[k] == pytest.approx(sum(direct), rel=1e-12, abs=1e-14)
        assert one.fenchel_young(COEFS[k], q[k]).sum() == pytest.approx(gaps[k], rel=1e-12)
