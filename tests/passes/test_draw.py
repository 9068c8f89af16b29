"""Samples that are drawn while rows are read: their sizes, and how many rows each stands for."""

import numpy as np
import pytest

import rectiline as rl
from rectiline.rows import Levels, StackedRows
from rectiline.solvers._row_plan import RowPlan
from rectiline.solvers.rows._draw import draw, sample_source

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


def test_rows_of_all_levels_remain_where_levels_take_turns():
    X = np.column_stack([np.arange(2_000.0), np.ones(2_000)])
    rows = rl.rows.from_stream(lambda: [(X, X[:, 0])])
    assert rows.n_rows == 2_000
    levels = StackedRows(rows, Levels(5, 2, shares_columns=True, has_indicators=True))
    sample = sample_source(levels, 10_000, seed=0)
    assert sample.is_quick is False and sample.rows.size == 10_000
    few = sample.cut(1_000)  # every tenth row would be of the first level
    count = np.bincount(few.rows % 5, minlength=5)
    assert abs(count - 200).max() < 5 * np.sqrt(200)
    assert (np.diff(few.rows) > 0).all()
    assert few.stands_for.sum() == pytest.approx(10_000)


def test_first_rows_that_all_lie_where_the_loss_is_flat_are_no_sample():
    """Their sum of slopes had no variance, so that no other sum was looked at."""
    first = 25_000
    y = np.where(np.arange(N) < first, 1.0, -1.0)
    X = np.random.default_rng(0).integers(0, 256, (N, D)) - 20 * y[:, None] * np.arange(D)
    parts = [slice(start, start + first) for start in range(0, N, first)]
    rows = rl.rows.from_stream(lambda: ((X[part], y[part]) for part in parts))
    assert rows.n_rows == N
    problem = rl.Problem(
        rows, loss=rl.losses.EpsilonInsensitive(0.1), penalty=rl.penalties.Ridge(60)
    )
    solution = rl.solve(problem, tol=1e-8)
    assert solution.certificate.holds(1e-8)
    assert solution.passes == 3  # one of them shows that the sample is not like the other rows
