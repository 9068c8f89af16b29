"""One entry that dwarfs its column: rows in blocks find it, or say where it is."""

import numpy as np
import pytest

import rectiline as rl

N, ROW, COLUMN = 50_000, 30_001, 2


def rows_with(entry, as_tensors=False):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((N, 4))
    y = X.sum(axis=1) + rng.standard_normal(N)
    X[ROW, COLUMN] = entry
    if as_tensors:
        torch = pytest.importorskip("torch")
        return rl.rows.from_arrays(torch.as_tensor(X), torch.as_tensor(y), block_rows=9_000)
    return rl.rows.from_stream(
        lambda: ((X[k : k + 9_000], y[k : k + 9_000]) for k in range(0, N, 9_000)),
        feature_names=list("abcd"),
    )


@pytest.mark.parametrize("as_tensors", [False, True])
@pytest.mark.parametrize("loss", ["absolute", "huber"])
@pytest.mark.parametrize("entry", [1e6, -1e8, 1e12])
def test_a_row_that_determines_a_coefficient_alone_is_found(entry, loss, as_tensors):
    problem = rl.Problem(rows_with(entry, as_tensors), loss=loss)
    found = rl.solve(problem, max_iter=10)  # a sample that does not know the row needs many more
    assert found.status == "solved"
    assert abs(found.coef[COLUMN] * entry) < 50.0


@pytest.mark.parametrize("entry", [1e38, -1e300])
@pytest.mark.parametrize(
    "fit",
    [
        lambda rows: rl.solve(rl.Problem(rows, loss="absolute")),
        lambda rows: rl.PLQRegressor("huber").fit(rows),
        lambda rows: rl.QuantileRegressor(alpha=0.1).fit(rows),
    ],
    ids=["problem", "huber", "quantile"],
)
def test_an_entry_beside_which_all_others_are_rounding_is_named(entry, fit):
    with pytest.raises(ValueError, match=f"row {ROW}, column 'c' is {entry:.3g}".replace("+", ".")):
        fit(rows_with(entry))
