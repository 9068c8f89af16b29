"""Standard errors of fits on rows in blocks are those of the arrays behind them."""

import numpy as np
import pytest
from scipy import sparse as sp

import rectiline as rl

N, D = 4_000, 3
RNG = np.random.default_rng(5)
X = RNG.standard_normal((N, D))
Y = X @ [1.0, -2.0, 0.5] + (1 + 0.4 * np.abs(X[:, 0])) * RNG.standard_t(4, N)
LABELS = np.where(Y + RNG.standard_normal(N) > 0, "up", "down")
WEIGHT = RNG.integers(0, 3, N).astype(float)
GROUPS = RNG.integers(0, 60, N)
QUANTILE = {"quantile": 0.4, "alpha": 0.0}
CASES = {
    "iid": (rl.QuantileRegressor(**QUANTILE), Y, {"kind": "iid"}),
    "nid": (rl.QuantileRegressor(**QUANTILE), Y, {"kind": "nid"}),
    "nid of two": (rl.QuantileRegressor(quantile=[0.2, 0.7], alpha=0), Y, {"kind": "nid"}),
    "kernel": (rl.QuantileRegressor(**QUANTILE), Y, {"kind": "kernel"}),
    "rank": (rl.QuantileRegressor(**QUANTILE), Y, {"kind": "rank"}),
    "cluster": (rl.QuantileRegressor(**QUANTILE), Y, {"kind": "cluster", "groups": GROUPS}),
    "pairs": (rl.QuantileRegressor(**QUANTILE), Y, {"kind": "bootstrap", "n_boot": 20}),
    "weights": (
        rl.QuantileRegressor(**QUANTILE),
        Y,
        {"kind": "bootstrap", "method": "weights", "n_boot": 20},
    ),
    "probability": (
        rl.QuantileRegressor(**QUANTILE),
        Y,
        {"kind": "nid", "weights_are": "probability"},
    ),
    "sandwich": (
        rl.PLQRegressor("huber", loss_params={"delta": 1.0}, penalty=None, tol=1e-10),
        Y,
        {"kind": "sandwich"},
    ),
    "hinge": (rl.PLQClassifier(penalty=None, tol=1e-10), LABELS, {}),
}


@pytest.mark.parametrize("weight", [None, WEIGHT], ids=["unweighted", "weighted"])
@pytest.mark.parametrize("name", CASES)
def test_tables_are_those_of_the_arrays(name, weight):
    model, y, options = CASES[name]
    make = type(model)
    known = {} if weight is None else {"weights_are": "frequency"} | options
    expected = make(**model.get_params()).fit(X, y, weight)
    table = expected.summary(X, y, sample_weight=weight, **(options | known))
    rows = rl.rows.from_arrays(X, y, weight, block_rows=1001)
    fitted = make(**model.get_params()).fit(rows)
    found = fitted.summary(rows, **(options | known))
    np.testing.assert_allclose(found.coef, table.coef, rtol=1e-5, atol=1e-7)
    np.testing.assert_allclose(found.std_error, table.std_error, rtol=1e-5)
    np.testing.assert_allclose(found.interval, table.interval, rtol=1e-5, atol=1e-6)
    first, other = (one if hasattr(one, "unique") else one[0] for one in (found, table))
    assert first.n_samples == other.n_samples and first.unique and first.note == other.note


def test_other_methods_take_rows_too():
    rows = rl.rows.from_arrays(X, Y, block_rows=1001)
    model = rl.QuantileRegressor(quantile=[0.3, 0.6], alpha=0, inference="nid").fit(rows)
    arrays = rl.QuantileRegressor(quantile=[0.3, 0.6], alpha=0).fit(X, Y)
    for found, expected in (
        (model.summary().std_error, arrays.summary(X, Y, "nid").std_error),
        (model.conf_int(rows, None, "nid"), arrays.conf_int(X, Y, "nid")),
        (model.wald_test(rows, None, "x1").statistic, arrays.wald_test(X, Y, "x1").statistic),
        (
            rl.inference.equal_slopes(model, rows, None).statistic,
            rl.inference.equal_slopes(arrays, X, Y).statistic,
        ),
    ):
        np.testing.assert_allclose(found, expected, rtol=1e-6)


def test_sparse_blocks_give_the_errors_of_the_dense_ones():
    filled = np.where(np.abs(X) > 0.5, X, 0.0)
    y = filled @ [1.0, 2.0, 3.0] + RNG.standard_normal(N)
    rows = rl.rows.from_arrays(sp.csr_array(filled), y, block_rows=700)
    model = rl.QuantileRegressor(quantile=0.5, alpha=0).fit(rows)
    dense = rl.QuantileRegressor(quantile=0.5, alpha=0).fit(filled, y)
    for kind in ("nid", "rank"):
        found, expected = model.summary(rows, kind=kind), dense.summary(filled, y, kind)
        np.testing.assert_allclose(found.interval, expected.interval, rtol=1e-6)


@pytest.mark.parametrize(
    ("options", "most"),
    [({"kind": "nid"}, 12), ({"kind": "bootstrap", "method": "weights", "n_boot": 50}, 14)],
)
def test_passes_are_counted(monkeypatch, options, most):
    rows = rl.rows.from_arrays(X, Y, block_rows=1001)
    model = rl.QuantileRegressor(**QUANTILE).fit(rows)
    passes = []
    original = type(rows).map_blocks

    def counted(self, function, state):
        passes.append(function.__name__)
        return original(self, function, state)

    monkeypatch.setattr(type(rows), "map_blocks", counted)
    model.summary(rows, **options)
    assert 5 <= len(passes) <= most


def test_what_is_refused_says_what_to_do():
    rows = rl.rows.from_arrays(X, Y, block_rows=1001)
    model = rl.PLQRegressor("huber", loss_params={"delta": 1.0}, C=1.0).fit(rows)
    with pytest.raises(ValueError, match=r"again for each replicate.*sample of the rows as arrays"):
        model.summary(rows, kind="bootstrap")
    with pytest.raises(ValueError, match="penalty"):
        model.summary(rows)
    plain = rl.QuantileRegressor(**QUANTILE).fit(rows)
    with pytest.raises(ValueError, match="rank_test leaves columns out"):
        rl.inference.rank_test(plain, rows, None, "x0")
    with pytest.raises(ValueError, match="those that the model was fitted on"):
        plain.summary(rl.rows.from_arrays(X, Y + 1.0), kind="nid")
    weighted = rl.rows.from_arrays(X, Y, WEIGHT)
    with pytest.raises(ValueError, match="method='weights' with rows in blocks"):
        rl.QuantileRegressor(**QUANTILE).fit(weighted).summary(
            weighted, kind="bootstrap", method="wild", weights_are="frequency"
        )
