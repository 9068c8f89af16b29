"""Sources of rows: what they yield, that they can be read again, and that changes are noticed."""

import tracemalloc

import numpy as np
import pytest
import scipy.sparse as sp

import rectiline as rl
from rectiline.rows import Block, RowBlocks


def data(n=23, d=4, seed=0):
    rng = np.random.default_rng(seed)
    return rng.standard_normal((n, d)), rng.standard_normal(n), rng.uniform(0, 2, n)


def matrices():
    X, _, _ = data()
    strided = np.zeros((46, 8))
    strided[::2, ::2] = X
    return {
        "C": X,
        "F": np.asfortranarray(X),
        "float32": X.astype(np.float32),
        "strided": strided[::2, ::2],
        "int": (10 * X).astype(np.int32),
        "csr": sp.csr_array(np.where(X > 0, X, 0)),
        "csc": sp.csc_array(np.where(X > 0, X, 0)),
    }


def dense(X):
    return X.toarray() if sp.issparse(X) else np.asarray(X)


@pytest.mark.parametrize("kind", matrices())
@pytest.mark.parametrize("block_rows", [1, 5, 23, 100, None])
def test_blocks_put_together_are_the_arrays(kind, block_rows):
    X, (_, y, weight) = matrices()[kind], data()
    rows = rl.rows.from_arrays(X, y, weight, block_rows=block_rows)
    for _ in range(2):  # a source can be read again
        blocks = list(rows)
        np.testing.assert_array_equal(np.vstack([dense(b.X) for b in blocks]), dense(X))
        np.testing.assert_array_equal(np.concatenate([b.y for b in blocks]), y)
        np.testing.assert_array_equal(np.concatenate([b.weight for b in blocks]), weight)
        sizes = [b.n_rows for b in blocks]
        assert [b.start for b in blocks] == [sum(sizes[:k]) for k in range(len(sizes))]
    assert (rows.n_rows, rows.n_features) == X.shape
    assert rows.dtype == (np.float32 if kind == "float32" else np.float64)


@pytest.mark.parametrize("kind", ["C", "F", "float32", "strided", "csr"])
def test_blocks_are_views(kind):
    X, (_, y, _) = matrices()[kind], data()
    for block in rl.rows.from_arrays(X, y, block_rows=4):
        for name in ("data", "indices") if sp.issparse(X) else ("T",):
            assert np.shares_memory(getattr(block.X, name), getattr(X, name))
        assert np.shares_memory(block.y, y)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_fits_make_no_copy_of_X(dtype):
    X, y, _ = data(200_000, 20)
    X = np.asfortranarray(X, dtype=dtype)
    # A strong ridge: few rows are near a knot, so that few of them are copied.
    problem = rl.Problem(rl.rows.from_arrays(X, y), "absolute", rl.penalties.Ridge(2e5))
    tracemalloc.start()
    try:
        assert rl.solve(problem).passes == 2
        assert tracemalloc.get_traced_memory()[1] < 0.7 * X.nbytes
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize("kind", matrices())
def test_take_returns_the_rows_asked_for(kind):
    X, (_, y, weight) = matrices()[kind], data()
    rows = rl.rows.from_arrays(X, y, weight, block_rows=4)
    some = np.array([0, 3, 4, 5, 22])
    for block in (rows.take(some), RowBlocks.take(rows, some)):  # at once, and block by block
        np.testing.assert_array_equal(dense(block.X), dense(X)[some])
        np.testing.assert_array_equal(block.y, y[some])
        np.testing.assert_array_equal(block.weight, weight[some])


def test_a_stream_yields_its_blocks_again():
    X, y, weight = data()

    def blocks():
        for start, end in ((0, 7), (7, 7), (7, 23)):  # one of them is empty
            yield X[start:end], y[start:end], weight[start:end]

    rows = rl.rows.from_stream(blocks, n_features=4)
    assert rows.n_rows == 23
    for _ in range(2):
        np.testing.assert_array_equal(np.vstack([b.X for b in rows]), X)
    np.testing.assert_array_equal(rows.take(np.array([6, 7])).y, y[6:8])
    assert rows.has_weight and not rows.has_random_access


def test_map_blocks_runs_in_order():
    X, y, _ = data()
    rows = rl.rows.from_arrays(X, y, block_rows=10)
    assert list(rows.map_blocks(lambda block, state: block.start + state, 1)) == [1, 11, 21]


def test_a_source_that_changes_is_refused():
    X, y, _ = data()
    rows = rl.rows.from_arrays(X, y, block_rows=10)
    list(rows)
    X[22, 1] += 1.0
    with pytest.raises(RuntimeError, match=r"changed between two passes: block 2 \(from row 20 on"):
        list(rows)


@pytest.mark.parametrize(
    ("second", "message"),
    [([10, 20], "end after 2 blocks"), ([10, 20, 23, 24], "there is a block 3")],
)
def test_a_stream_that_changes_its_length_is_refused(second, message):
    X, y, _ = data(30)
    ends = [[10, 20, 23]]

    def blocks():
        start = 0
        for end in ends[-1]:
            yield X[start:end], y[start:end]
            start = end

    rows = rl.rows.from_stream(blocks)
    list(rows)
    ends.append(second)
    with pytest.raises(RuntimeError, match=message):
        list(rows)


def test_an_iterator_that_can_be_read_once_is_refused():
    X, y, _ = data()
    with pytest.raises(TypeError, match="an iterator that can be read once is not enough"):
        rl.rows.from_stream(iter([(X, y)]))
    once = iter([(X, y), (X, y)])
    with pytest.raises(ValueError, match="fresh one each time"):
        list(rl.rows.from_stream(lambda: once))


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda X, y: rl.rows.from_arrays(X[0], y), "2-D"),
        (lambda X, y: rl.rows.from_arrays(X, y[:3]), r"y must have one entry .* 23 rows"),
        (lambda X, y: rl.rows.from_arrays(X, y, y[:2]), "sample_weight must have one entry"),
        (lambda X, y: rl.rows.from_arrays(X.astype(str), y), "must hold real numbers"),
        (lambda X, y: rl.rows.from_arrays(X[:0], y[:0]), "at least one row"),
        (lambda X, y: rl.rows.from_arrays(X, y, block_rows=0), "block_rows=0: must be a positive"),
        (lambda X, y: rl.rows.from_stream(list), "yields no block"),
        (lambda X, y: rl.rows.from_stream(lambda: [X]), r"Block 0 .* must be a tuple"),
        (lambda X, y: rl.rows.from_stream(lambda: [(X, y)], 3), "n_features=3"),
        (lambda X, y: rl.rows.of(rl.rows.of(X, y), y), "hold their own y"),
    ],
)
def test_bad_input_is_named(make, message):
    X, y, _ = data()
    with pytest.raises(ValueError, match=message):
        make(X, y)


def test_of_recognises_sources():
    X, y, _ = data()
    rows = rl.rows.of(X, y, block_rows=3)
    assert rl.rows.of(rows) is rows
    assert rl.rows.of(lambda: [(X, y)]).n_rows == 23
    with pytest.raises(TypeError, match="cannot be read from set"):
        rl.rows.of({1, 2})


def test_blocks_of_other_widths_are_refused():
    X, y, _ = data()
    rows = rl.rows.from_stream(lambda: [(X, y), (X[:, :3], y)])
    with pytest.raises(ValueError, match=r"4 columns; the one .* row 23 has shape \(23, 3\)"):
        list(rows)


def test_fingerprints_depend_on_the_data():
    X, y, weight = data()
    block = Block(X, y, weight, 0)
    other = X.copy()
    other[0, 0] += 1
    assert block.fingerprint() == Block(X.copy(), y, weight, 0).fingerprint()
    assert block.fingerprint() != Block(other, y, weight, 0).fingerprint()
    assert block.fingerprint() != Block(X, y, 2 * weight, 0).fingerprint()
