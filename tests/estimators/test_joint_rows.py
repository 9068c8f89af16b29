"""Joint fits of quantiles on rows in blocks: the answers of arrays in memory, and of an oracle."""

from itertools import product

import numpy as np
import pytest
from scipy import sparse as sp
from sklearn.base import clone
from sklearn.datasets import load_diabetes

import rectiline as rl
from rectiline.rows import Levels, StackedRows

LEVELS = [0.9, 0.2, 0.5]
RNG = np.random.default_rng(5)
X = RNG.standard_normal((3000, 3))
Y = X @ [1.0, -1.0, 0.5] + RNG.standard_t(3, 3000) * (1.0 + 0.8 * np.abs(X[:, 0]))
WEIGHT = RNG.uniform(0.5, 2.0, 3000)


def stream():
    for part in np.array_split(np.arange(3000), 4):
        yield X[part], Y[part], WEIGHT[part]


def parquet(folder):
    pa = pytest.importorskip("pyarrow")
    from pyarrow import parquet as pq

    columns = {f"x{j}": X[:, j] for j in range(3)} | {"y": Y, "w": WEIGHT}
    pq.write_table(pa.table(columns), folder / "rows.parquet", row_group_size=1000)
    return rl.rows.from_parquet(folder / "rows.parquet", target="y", weight="w")


SOURCES = {
    "arrays": lambda folder: rl.rows.from_arrays(X, Y, WEIGHT, block_rows=700),
    "sparse": lambda folder: rl.rows.from_arrays(sp.csr_matrix(X), Y, WEIGHT, block_rows=700),
    "stream": lambda folder: rl.rows.from_stream(stream),
    "parquet": parquet,
}


def quantiles(tol=1e-8, **given):
    return rl.QuantileRegressor(quantile=LEVELS, tol=tol, **given)


@pytest.mark.parametrize("region", [True, "box"])
def test_non_crossing_of_real_rows_is_proved_to_nine_digits(region):
    X, y = load_diabetes(return_X_y=True)
    model = rl.QuantileRegressor(quantile=[0.1, 0.5, 0.9], alpha=0, non_crossing=region, tol=1e-9)
    memory = clone(model).fit(X, y)
    model.fit(rl.rows.from_arrays(X, y, block_rows=64))
    assert model.solution_.status == "solved" and model.solution_.passes <= 3
    assert model.solution_.objective == pytest.approx(memory.solution_.objective, rel=1e-8)


@pytest.mark.parametrize("source", SOURCES)
@pytest.mark.parametrize("kind", ["non_crossing", "shared_slopes"])
def test_rows_have_the_answer_of_arrays(source, kind, tmp_path):
    settings = {kind: True, "alpha": 0.01, "l1_ratio": 0.5}
    held = quantiles(**settings).fit(X, Y, WEIGHT)
    rows = SOURCES[source](tmp_path)
    model = quantiles(**settings).fit(rows)
    assert model.status_ == "solved" and model.certificate_.holds(1e-8)
    assert model.certificate_.primal == pytest.approx(held.certificate_.primal, rel=2e-8)
    np.testing.assert_allclose(model.coef_, held.coef_, atol=1e-3)
    np.testing.assert_allclose(model.intercept_, held.intercept_, atol=1e-3)
    assert model.verify(rows).holds(1e-8)
    assert not hasattr(model, "dual_coef_")  # multipliers are by exception, in solution_


@pytest.mark.parametrize("region", [True, "box"])
def test_non_crossing_holds_where_it_should_and_agrees_with_cvxpy(region):
    cp = pytest.importorskip("cvxpy")
    x = X[:200, :2]
    y = (1.0 + 0.6 * x[:, 0]) * np.random.default_rng(0).standard_normal(200)
    rows = rl.rows.from_arrays(x, y, block_rows=60)
    free = quantiles(1e-6, alpha=0.0).fit(rows)
    model = quantiles(1e-6, alpha=0.0, non_crossing=region).fit(rows)
    corners = (
        x
        if region is True
        else np.array(list(product(*zip(x.min(axis=0), x.max(axis=0), strict=True))))
    )
    up = np.argsort(LEVELS)

    def steps(fitted):
        return np.diff((corners @ fitted.coef_.T + fitted.intercept_)[:, up], axis=1)

    assert steps(free).min() < -1e-3  # otherwise the test shows nothing
    assert steps(model).min() >= 0
    coef, intercept = cp.Variable((3, 2)), cp.Variable(3)
    loss, within = 0.0, []
    for k, q in enumerate(np.sort(LEVELS)):
        r = y - x @ coef[k] - intercept[k]
        loss += cp.sum(cp.maximum(q * r, (q - 1) * r)) / y.size
        if k:
            within.append(corners @ (coef[k] - coef[k - 1]) + intercept[k] - intercept[k - 1] >= 0)
    best = cp.Problem(cp.Minimize(loss), within).solve(solver="CLARABEL")
    assert model.certificate_.primal == pytest.approx(best, rel=1e-6)


def test_constraints_of_the_slopes_hold_for_every_quantile():
    model = quantiles(alpha=0.0, non_crossing=True, constraints=[rl.constraints.Nonnegative()])
    held = clone(model).fit(X, Y, WEIGHT)
    model.fit(rl.rows.from_arrays(X, Y, WEIGHT, block_rows=1000))
    assert (model.coef_ >= 0).all() and (model.coef_[:, 1] == 0).any()
    assert model.certificate_.primal == pytest.approx(held.certificate_.primal, rel=2e-8)


@pytest.mark.parametrize("make", [np.asarray, sp.csr_matrix], ids=["dense", "sparse"])
@pytest.mark.parametrize("shares", [True, False])
def test_stacked_rows_are_the_rows_in_turn(make, shares):
    x = make(np.round(X[:11], 3).astype(np.float32))
    levels = Levels(2, 3, shares, has_indicators=True, factor=0.5)
    rows = StackedRows(rl.rows.from_arrays(x, Y[:11], WEIGHT[:11], block_rows=4), levels)
    dense = x.toarray() if sp.issparse(x) else x
    expected = np.zeros((22, levels.n_columns), np.float32)
    for i, k in product(range(11), range(2)):
        first = 0 if shares else 3 * k
        expected[2 * i + k, first : first + 3] = dense[i]
        expected[2 * i + k, (3 if shares else 6) + k] = 1.0
    blocks = list(rows)
    assert [block.start for block in blocks] == [0, 8, 16] and rows.n_rows == 22
    np.testing.assert_array_equal(np.vstack([b.X.toarray() for b in blocks]), expected)
    np.testing.assert_array_equal(np.concatenate([b.y for b in blocks]), np.repeat(Y[:11], 2))
    weight = np.concatenate([block.weight for block in blocks])
    np.testing.assert_array_equal(weight, np.repeat(0.5 * WEIGHT[:11], 2))
    some = np.array([0, 3, 4, 5, 21])
    taken = rows.take(some)
    np.testing.assert_array_equal(taken.X.toarray(), expected[some])
    np.testing.assert_array_equal(taken.weight, weight[some])


def test_penalties_that_joint_fits_do_not_take_are_refused_before_a_pass():
    reads = []

    def watched():
        reads.append(1)
        return stream()

    rows = rl.rows.from_stream(watched)
    rows.n_rows  # noqa: B018  (a stream is read for that)
    before = len(reads)
    with pytest.raises(ValueError, match="jointly"):
        quantiles(penalty="slope", non_crossing=True).fit(rows)
    assert len(reads) <= before + 1  # for the weights


@pytest.mark.parametrize(("columns", "spread"), [(4, 1.0), (4, 0.0), (8, 3.0)])
def test_quantiles_that_must_not_cross_take_few_more_passes_than_single_ones(columns, spread):
    rng = np.random.default_rng(0)
    many = rng.standard_normal((40_000, columns))
    y = many.sum(axis=1) + (1 + spread * np.abs(many[:, 0])) * rng.standard_normal(40_000)
    opened = []

    def blocks():
        for first in range(0, 40_000, 9000):
            yield many[first : first + 9000], y[first : first + 9000]
        opened.append(1)  # and read to the end

    counts = []
    for joint in (False, True):
        rows = rl.rows.from_stream(blocks)
        opened.clear()
        levels = [0.02, 0.05, 0.5, 0.52, 0.55, 0.95]
        given = {"alpha": 0, "tol": 1e-6, "non_crossing": joint}
        model = rl.QuantileRegressor(quantile=levels, **given).fit(rows)
        assert model.status_ == "solved" or set(model.status_) == {"solved"}
        counts.append(len(opened))
    # The ends of the columns, the check of the answer, and one more round: the first rows of the
    # stream, each for six levels, are a smaller sample than as many different rows.
    assert counts[0] == 3 and counts[1] <= 6 + (spread > 1)


def test_quick_rows_of_stacked_rows_are_of_all_levels_and_of_different_rows():
    """Levels in turn would leave out one of two where a sample takes every second row."""
    pa = pytest.importorskip("pyarrow")
    table = pa.table({"x": np.arange(400_000.0), "y": np.zeros(400_000)})
    source = rl.rows.of(table, target="y", block_rows=50_000)
    rows = StackedRows(source, Levels(2, 1, shares_columns=True, has_indicators=True))
    block, numbers = rows.quick_rows(20_000)
    assert np.unique(numbers // 2).size == numbers.size >= 20_000
    for some in (numbers, numbers[::2], numbers[1::2]):
        assert 0.45 < (some % 2).mean() < 0.55
    np.testing.assert_array_equal(block.X.toarray(), rows.take(numbers).X.toarray())
