"""Sup-t bands of several quantiles: their construction, and their coverage of known processes."""

import numpy as np
import pytest
from scipy.stats import norm

import rectiline as rl
from rectiline.inference import bootstrap, simultaneous_bands

RNG = np.random.default_rng(0)
N = 400
X = RNG.uniform(0, 2, (N, 2))
Y = 1 + X @ [2.0, -1.0] + (0.5 + X[:, 0]) * RNG.standard_normal(N)
TAUS = np.array([0.8, 0.2, 0.4, 0.6])


def test_the_share_of_replicates_inside_is_the_level():
    model = rl.QuantileRegressor(quantile=TAUS, alpha=0).fit(X, Y)
    bands = simultaneous_bands(model, X, Y, level=0.9, n_boot=300, random_state=1)
    draws = bootstrap(model, X, Y, n_boot=300, random_state=1)[:, np.argsort(TAUS)]
    np.testing.assert_array_equal(bands.quantiles, np.sort(TAUS))
    assert bands.names == ("(intercept)", "x0", "x1")
    for j in range(3):
        inside = (draws[:, :, j] >= bands.lower[j]) & (draws[:, :, j] <= bands.upper[j])
        assert inside.all(axis=1).mean() == pytest.approx(0.9, abs=0.004)
        assert bands.critical[j] > norm.ppf(0.95)
    coef = np.column_stack([model.intercept_, model.coef_])[np.argsort(TAUS)]
    np.testing.assert_array_equal(bands.value, coef.T)


def test_conditional_quantiles_of_a_distribution_are_in_order():
    model = rl.DistributionRegressor(levels=19).fit(X, Y)
    at = [[0.1, 0.5], [1.9, 1.0]]
    bands = simultaneous_bands(model, X, Y, at, n_boot=100)
    assert bands.value.shape == (2, 19) and bands.names == ("row 0", "row 1")
    np.testing.assert_allclose(bands.value, model.quantile(at, bands.quantiles))
    for one in (bands.value, bands.lower, bands.upper):
        assert (np.diff(one, axis=1) >= 0).all()
    assert (bands.lower <= bands.value).all() and (bands.value <= bands.upper).all()


def test_bands_cover_the_process():
    taus = np.arange(1, 10) / 10
    rng = np.random.default_rng(3)
    covered = np.zeros((40, 2), dtype=bool)
    for k in range(40):
        x = rng.uniform(0, 2, (300, 1))
        y = 1 + 2 * x[:, 0] + (1 + 0.5 * x[:, 0]) * rng.standard_normal(300)
        model = rl.QuantileRegressor(quantile=taus, alpha=0).fit(x, y)
        bands = simultaneous_bands(model, x, y, level=0.9, n_boot=100)
        truth = np.array([1 + norm.ppf(taus), 2 + 0.5 * norm.ppf(taus)])
        covered[k] = ((bands.lower <= truth) & (truth <= bands.upper)).all(axis=1)
    assert (covered.mean(axis=0) >= 0.78).all()  # 0.9 less 2.5 standard errors


def test_rows_in_blocks_and_refusals():
    model = rl.QuantileRegressor(quantile=[0.3, 0.6], alpha=0)
    rows = rl.rows.from_arrays(X, Y, block_rows=150)
    found = simultaneous_bands(model.fit(rows), rows, n_boot=50)
    expected = simultaneous_bands(model.fit(X, Y), X, Y, n_boot=50)
    np.testing.assert_allclose(found.upper, expected.upper, rtol=1e-6)
    with pytest.raises(ValueError, match="at must have 2 columns"):
        simultaneous_bands(model, X, Y, [[1.0]])
    with pytest.raises(ValueError, match="several quantiles"):
        simultaneous_bands(rl.QuantileRegressor(alpha=0).fit(X, Y), X, Y)
