"""Samples that are drawn while rows are read: their sizes, and how many rows each stands for."""

import numpy as np
import pytest

import rectiline as rl
from rectiline.solvers._row_plan import RowPlan
from rectiline.solvers.rows._draw import draw

N, D, BLOCK = 60_000, 3, 5_000


def drawn(y, loss, known=True):
    """Return the sample of rows whose first column is their number, read block by block."""
    X = np.column_stack([np.arange(N), np.ones((N, D - 1))])
    parts = [slice(start, start + BLOCK) for start in range(0, N, BLOCK)]
    rows = rl.rows.from_stream(lambda: ((X[part], y[part]) for part in parts))
    plan = RowPlan(N if known else None, D)
    rows.quick_rows = lambda size: None  # the first rows, where the number of rows is known
    if known:
        assert rows.n_rows == N
    sample = draw(rl.Problem(rows, loss=loss), plan.sampled_rows, seed=0)
    np.testing.assert_array_equal(sample.block.X[:, 0], sample.rows)
    return sample


@pytest.mark.parametrize("known", [True, False])
def test_rows_of_every_block_stand_for_equally_many(known):
    sample = drawn(np.arange(N) % 7.0, rl.losses.Absolute(), known)
    size = RowPlan(N, D).sampled_rows
    assert sample.rows.size == size
    np.testing.assert_allclose(sample.stands_for, N / size)
    found = np.bincount(sample.rows // BLOCK, minlength=N // BLOCK)
    share = size * BLOCK / N
    assert np.all(abs(found - share) < 5 * np.sqrt(share))


def test_classes_in_few_blocks_keep_their_weight():
    # 4,800 rows of a class in the first block, and 200 in each of the others.
    y = np.where(np.arange(N) < BLOCK, np.arange(N) % 25 != 0, np.arange(N) % 25 == 0)
    sample = drawn(y.astype(float), rl.losses.Hinge())
    rows, each = sample.rows, sample.stands_for
    for label in (0.0, 1.0):
        assert each[y[rows] == label].sum() == pytest.approx((y == label).sum())
    here, rare = rows < BLOCK, y[rows] == 1
    assert 0 < (here & rare).sum() < 4_800
    assert each[here & rare].sum() == pytest.approx(4_800, rel=0.1)
    assert each[~here & rare].sum() == pytest.approx(2_200, rel=0.1)
