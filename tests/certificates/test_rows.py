"""Proofs about rows in blocks are saved, and checked by reading the blocks once."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import rectiline as rl
from rectiline import verify

RNG = np.random.default_rng(4)
X = RNG.standard_normal((20_000, 3))
Y = X @ [1.0, 0.0, -1.0] + RNG.standard_t(3, size=20_000)
WEIGHT = RNG.uniform(0.5, 2.0, size=20_000)


def parts(y: np.ndarray, weight: np.ndarray | None) -> list[Any]:
    """Return the rows in blocks that are cut otherwise than those of the fit."""
    cuts = np.split(np.arange(20_000), [3_000, 11_111])
    return [(X[k], y[k]) if weight is None else (X[k], y[k], weight[k]) for k in cuts]


@pytest.mark.parametrize("weight", [None, WEIGHT], ids=["", "weights"])
@pytest.mark.parametrize("penalty", [rl.penalties.Ridge(1.0), rl.penalties.L1(3.0)], ids=repr)
@pytest.mark.parametrize("loss", ["absolute", "huber", "squared_error", "hinge"])
def test_rows_in_blocks_are_saved_and_verified(
    tmp_path: Path, loss: str, penalty: rl.penalties.Penalty, weight: np.ndarray | None
) -> None:
    y = np.where(Y > 0, "yes", "no") if loss == "hinge" else Y
    rows = rl.rows.from_arrays(X, y, weight, block_rows=2_500)
    solution = rl.solve(rl.Problem(rows, loss=loss, penalty=penalty))
    solution.save(tmp_path / "fit.rlcert")
    found = verify.check(tmp_path / "fit.rlcert", parts(y, weight))
    assert found is not None
    assert found.objective == pytest.approx(solution.objective, rel=1e-12)
    assert found.gap <= 2e-6 * found.objective
    arrays = verify.read(tmp_path / "fit.rlcert")[1]
    assert arrays["0/slopes"].size < 20_000 and "0/weight" not in arrays
    with pytest.raises(verify.Refused, match="not those of the certificate"):
        verify.check(
            tmp_path / "fit.rlcert", [(X[::-1], y) if weight is None else (X[::-1], y, weight)]
        )


def test_other_weights_prove_nothing(tmp_path: Path) -> None:
    rows = rl.rows.from_arrays(X, Y, WEIGHT, block_rows=2_500)
    rl.solve(rl.Problem(rows, loss="absolute")).save(tmp_path / "fit.rlcert")
    with pytest.raises(verify.Refused, match="objective"):
        verify.check(tmp_path / "fit.rlcert", parts(Y, None))


def test_names_of_columns_are_saved(tmp_path: Path) -> None:
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame(X[:50], columns=["a", "b", "c"])
    rl.solve(rl.Problem(frame, Y[:50], "absolute")).save(tmp_path / "fit.rlcert")
    assert verify.read(tmp_path / "fit.rlcert")[0]["columns"] == ["a", "b", "c"]
    frame.assign(y=Y[:50])[["c", "y", "a", "b"]].to_csv(tmp_path / "data.csv", index=False)
    assert verify.main([str(tmp_path / "fit.rlcert"), str(tmp_path / "data.csv")]) == 0


class DeltaLike:
    """A table with the two methods by which tables of Delta Lake are known."""

    def __init__(self, frame: Any) -> None:
        self.frame = frame

    def to_pyarrow_dataset(self) -> Any:
        arrow = pytest.importorskip("pyarrow")
        return pytest.importorskip("pyarrow.dataset").dataset(arrow.Table.from_pandas(self.frame))

    def version(self) -> int:
        return 3


@pytest.mark.parametrize("quantile", [0.5, [0.2, 0.8]])
def test_the_snapshot_of_a_table_is_saved_and_said(tmp_path: Path, quantile: Any) -> None:
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame(X[:50], columns=["a", "b", "c"]).assign(y=Y[:50])
    rows = rl.rows.of(DeltaLike(frame), target="y")
    model = rl.QuantileRegressor(quantile=quantile, alpha=0.1)
    model.fit(rows).save_certificate(tmp_path / "fit.rlcert", rows)
    assert verify.check_all(tmp_path / "fit.rlcert", [(X[:50], Y[:50])])
    header = verify.read(tmp_path / "fit.rlcert")[0]
    assert header["source"] == "delta version 3"
    (said,) = verify.stated(header)
    assert said.startswith("The file says, without a proof: ")
    assert "snapshot 'delta version 3'" in said
