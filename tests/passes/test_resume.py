"""Where a solve on rows goes on: warm starts, files after a pass, and early stops."""

import pickle
import time

import numpy as np
import pytest

import rectiline as rl
from rectiline.solvers.rows._row_run import RowRun


class Stream:
    """Rows in blocks that count how often they are opened."""

    def __init__(self, n=40_000, seconds=0.0):
        rng = np.random.default_rng(8)
        self.X = rng.standard_normal((n, 4))
        self.y = self.X.sum(axis=1) + rng.standard_t(3, n)
        self.opened, self.seconds = 0, seconds

    def blocks(self):
        self.opened += 1
        for k in range(0, len(self.y), 4000):
            time.sleep(self.seconds)
            yield self.X[k : k + 4000], self.y[k : k + 4000]

    def problem(self, quantile=0.5):
        rows = rl.rows.from_stream(self.blocks)  # looks at the first block
        self.opened = 0
        return rl.Problem(rows, loss=rl.losses.Pinball(quantile))


def test_a_warm_start_that_holds_takes_one_pass_and_another_one_more():
    stream = Stream()
    cold = rl.solve(stream.problem())
    assert stream.opened == 3 and cold.passes == 2  # the sample is drawn by reading all rows
    warm = rl.solve(stream.problem(), warm_start=pickle.loads(pickle.dumps(cold)))
    assert stream.opened == 1 and (warm.status, warm.passes) == ("solved", 1)
    np.testing.assert_array_equal(warm.coef, cold.coef)
    assert warm.certificate.relative_gap == pytest.approx(cold.certificate.relative_gap, rel=0.5)
    other = rl.solve(stream.problem(0.52), warm_start=cold)
    assert stream.opened == 4 and other.status == "solved"
    assert other.certificate.holds(1e-6)
    short = Stream(8000)
    assert rl.solve(short.problem(), warm_start=cold).status == "solved"
    model = rl.QuantileRegressor(quantile=[0.2, 0.8], alpha=0, warm_start=True)
    model.fit(stream.problem().blocks)
    stream.opened = 0
    assert [one.passes for one in model.fit(stream.problem().blocks).solution_] == [1, 1]


def test_a_checkpoint_saves_the_first_pass(tmp_path, monkeypatch):
    stream, path = Stream(), tmp_path / "fit.checkpoint"
    expected = rl.solve(stream.problem())
    with monkeypatch.context() as patch:
        patch.setattr(RowRun, "resolve", _interrupt)
        with pytest.raises(KeyboardInterrupt):
            rl.solve(stream.problem(), checkpoint=path)
    changed = Stream()
    changed.y[20_001] += 1.0
    with pytest.raises(RuntimeError, match=r"block 5 \(from row 20000 on\) is not what it was"):
        rl.solve(changed.problem(), checkpoint=path)
    found = rl.solve(stream.problem(), checkpoint=path)
    assert stream.opened == 1 and not path.exists()
    np.testing.assert_array_equal(found.coef, expected.coef)
    assert found.certificate == expected.certificate
    path.write_bytes(pickle.dumps("about another problem"))
    assert rl.solve(stream.problem(0.3), checkpoint=path).status == "solved"
    with pytest.raises(TypeError, match="checkpoint=3: must be the path of a file"):
        rl.solve(stream.problem(), checkpoint=3)


@pytest.mark.parametrize("content", [b"", b"another file"])
def test_a_damaged_checkpoint_is_refused_by_name(tmp_path, content):
    path = tmp_path / "fit.checkpoint"
    path.write_bytes(content)
    with pytest.raises(ValueError, match="checkpoint' is not a file that a solve has written"):
        rl.solve(Stream().problem(), checkpoint=path)
    assert path.read_bytes() == content


def _interrupt(run):
    raise KeyboardInterrupt


def test_time_that_runs_out_while_a_sample_is_drawn_leaves_what_was_drawn():
    calls = []

    def stop(progress):
        calls.append(progress)
        return True

    found = rl.solve(Stream(seconds=0.1).problem(), callback=stop)
    assert found.status == "stopped" and len(calls) == 1
    np.testing.assert_allclose(found.coef, 1.0, atol=0.2)


def test_dependent_columns_without_penalty_are_certified_by_precise_sums():
    rng = np.random.default_rng(4)
    n = 60_000
    kind = rng.integers(0, 4, n)
    X = np.column_stack([rng.standard_normal((n, 3)), kind[:, None] == np.arange(4)])
    y = X @ rng.standard_normal(7) + rng.standard_t(3, n)
    rows = rl.rows.from_arrays(X, y, block_rows=9000)
    found = rl.solve(rl.Problem(rows, loss="absolute", penalty=None), tol=1e-10)
    assert found.status == "solved" and found.passes <= 4
    again = rl.Problem(X, y, loss="absolute", penalty=None)
    assert found.certificate.primal == pytest.approx(rl.solve(again).certificate.primal, rel=1e-6)
