"""Published and recomputed numbers for Engel's data: what R and Stata print for the same model."""

import numpy as np
import pytest

import rectiline as rl
from rectiline.inference import bofinger, covariance, equal_slopes, hall_sheather

X, Y = rl.datasets.load_engel(return_X_y=True)

COEF = {
    0.05: (124.88004, 0.34336),
    0.25: (95.48354, 0.47410),
    0.5: (81.48225, 0.56018),
    0.75: (62.39659, 0.64401),
    0.95: (64.10396, 0.70907),
}
NID = {
    0.05: (35.066732, 0.049935),
    0.1: (29.397679, 0.040240),
    0.25: (21.392370, 0.029055),
    0.5: (19.25066, 0.02827721),
    0.75: (16.305377, 0.023239),
    0.9: (22.395383, 0.028491),
    0.95: (16.853670, 0.017929),
}


def fitted(quantile=0.5, X=X, y=Y):
    return rl.QuantileRegressor(quantile=quantile, alpha=0).fit(X, y)


def assert_printed(found, printed):
    """The numbers agree to the last printed digit."""
    for value, text in zip(found, printed, strict=True):
        digits = len(str(text).split(".")[1])
        assert abs(value - float(text)) <= 0.51 * 10.0**-digits, (value, text)


@pytest.mark.parametrize("level", COEF)
def test_coefficients(level):
    assert_printed(fitted(level).summary(X, Y, kind="nid").coef, COEF[level])


@pytest.mark.parametrize("level", NID)
def test_nid_errors(level):
    assert_printed(fitted(level).summary(X, Y, kind="nid").std_error, NID[level])


# What pyfixest 0.60.0 reports for this model, clusters of five rows in their order.
PYFIXEST_NID = {0.02: (30.58699932, 0.04014189), 0.5: (19.33310457, 0.02839831)}
PYFIXEST_CRV1 = {0.02: (25.4493256, 0.03506537), 0.5: (31.41620538, 0.04016788)}


@pytest.mark.parametrize("level", PYFIXEST_NID)
def test_pyfixest_differs_by_factors_for_small_samples(level):
    model, groups = fitted(level), np.arange(235) // 5
    nid = np.sqrt(np.diag(covariance(model, X, Y, kind="nid")) * 235 / 233)
    np.testing.assert_allclose(nid, PYFIXEST_NID[level], rtol=1e-6)
    clustered = covariance(model, X, Y, kind="cluster", groups=groups)
    factor = 47 / 46 * 234 / 233
    np.testing.assert_allclose(
        np.sqrt(np.diag(clustered) * factor), PYFIXEST_CRV1[level], rtol=1e-6
    )


def test_nid_t_statistics():
    table = fitted().summary(X, Y, kind="nid")
    assert_printed(table.statistic, (4.23270, 19.81032))
    assert table.quantile == 0.5 and table.n_samples == 235 and table.df == 233


def test_kernel_errors():
    assert_printed(fitted().summary(X, Y, kind="kernel").std_error, (30.21532, 0.03731704))


def test_iid_errors():
    table = fitted().summary(X, Y, kind="iid")
    assert_printed(table.std_error, (13.23908, 0.0119193295))
    assert "sparsity 189.343" in table.note


def test_iid_errors_as_stata_prints_them():
    # Stata holds these data as single-precision numbers.
    single, target = X.astype(np.float32).astype(float), Y.astype(np.float32).astype(float)
    model = fitted(0.5, single, target)
    V = covariance(model, single, target, kind="iid", sparsity="epanechnikov")
    assert_printed(np.sqrt(np.diag(V)), (14.63518, 0.0131763))
    ones = np.column_stack([np.ones(235), single])
    sparsity = np.sqrt(V[0, 0] / np.linalg.inv(ones.T @ ones)[0, 0] / 0.25)
    np.testing.assert_allclose(sparsity, 209.3102085912557, rtol=1e-12)


def test_bandwidths():
    np.testing.assert_allclose(hall_sheather(0.5, 235), 0.1574393314202374, rtol=1e-14)
    np.testing.assert_allclose(bofinger(0.5, 235), 0.2173486679767846, rtol=1e-14)


def test_equal_slopes():
    test = equal_slopes(fitted([0.25, 0.5, 0.75]), X, Y)
    assert_printed([test.statistic], ["15.556701"])
    assert test.df == (2, 703)
    np.testing.assert_allclose(test.p_value, 2.449e-07, rtol=3e-4)


def test_pseudo_r1_as_stata_prints_it():
    tables = fitted([0.5, 0.75]).summary(X, Y, kind="nid")
    assert_printed([one.pseudo_r1 for one in tables], (0.6206, 0.6966))
