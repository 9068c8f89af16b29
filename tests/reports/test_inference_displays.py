"""Displays of coefficients across quantiles and of coverage."""

import matplotlib

matplotlib.use("Agg")

import matplotlib.pyplot as plt
import numpy as np
import pytest

import rectiline as rl
from rectiline.reports import CoefficientDisplay, CoverageDisplay

X, Y = rl.datasets.load_engel(return_X_y=True, as_frame=True)
MODEL = rl.QuantileRegressor(quantile=[0.9, 0.1, 0.5], alpha=0).fit(X, Y)


@pytest.fixture(autouse=True)
def close_figures():
    yield
    plt.close("all")


def test_coefficients_with_bands():
    display = CoefficientDisplay.from_estimator(MODEL, X, Y, kind="nid", level=0.9)
    np.testing.assert_array_equal(display.quantiles, [0.1, 0.5, 0.9])
    table = MODEL.summary(X, Y, kind="nid", level=0.9)
    np.testing.assert_array_equal(display.interval[2, 1], table[0].interval[1])
    drawn = display.lines_[1].get_ydata()
    np.testing.assert_array_equal(drawn, MODEL.coef_[[1, 2, 0], 0])
    assert display.axes_[0].get_title() == "(intercept)" and len(display.bands_) == 2
    one = CoefficientDisplay.from_estimator(
        MODEL, X, Y, columns=["income"], kind="rank", style={"color": "C3"}
    )
    assert one.names == ("income",) and len(one.axes_) == 1


def test_coefficients_need_several_quantiles_and_known_names():
    with pytest.raises(ValueError, match="two or more quantiles"):
        CoefficientDisplay.from_estimator(
            rl.QuantileRegressor(quantile=0.5, alpha=0).fit(X, Y), X, Y
        )
    with pytest.raises(ValueError, match="no coefficient 'age'"):
        CoefficientDisplay.from_estimator(MODEL, X, Y, columns=["age"], kind="nid")


def test_coverage():
    display = CoverageDisplay.from_estimator(MODEL, X, Y)
    np.testing.assert_array_equal(display.nominal, [0.1, 0.5, 0.9])
    # A quantile of n samples with p coefficients holds at level n - p .. n + p out of n.
    assert (np.abs(display.observed - display.nominal) <= 2 / 235).all()
    assert (display.band[:, 0] < display.nominal).all()
    assert (display.nominal < display.band[:, 1]).all()
    off = CoverageDisplay.from_predictions(Y, MODEL.predict(X) + 200, MODEL.quantiles_)
    assert (off.observed > off.band[:, 1])[:2].all()
    with pytest.raises(ValueError, match="3 columns, but there are 2 quantiles"):
        CoverageDisplay.from_predictions(Y, MODEL.predict(X), [0.1, 0.9])


def test_many_coefficients_stand_three_in_a_row():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((200, 6))
    y = X @ np.ones(6) + rng.standard_normal(200)
    model = rl.QuantileRegressor(quantile=[0.2, 0.5, 0.8], alpha=0).fit(X, y)
    display = CoefficientDisplay.from_estimator(model, X, y, kind="nid")
    assert len(display.axes_) == 7 and len(display.figure_.axes) == 7
    width, height = display.figure_.get_size_inches()
    assert width <= 14 and height >= 9


def test_least_squares_is_drawn_beside_the_quantiles():
    display = CoefficientDisplay.from_estimator(MODEL, X, Y, columns=["income"], kind="nid")
    rows = np.column_stack([np.ones(len(Y)), X])
    best = np.linalg.lstsq(rows, Y)[0]
    np.testing.assert_allclose(display.least_squares, best[1:], rtol=1e-5)
    dashed = [line for line in display.axes_[0].lines if line.get_linestyle() == "--"]
    assert [line.get_ydata()[0] for line in dashed] == list(display.least_squares)
    weight = np.arange(len(Y)) % 2.0
    model = rl.QuantileRegressor(quantile=[0.2, 0.8], alpha=0, fit_intercept=False)
    model.fit(X, Y, sample_weight=weight)
    display = CoefficientDisplay.from_estimator(model, X, Y, kind="nid", sample_weight=weight)
    half = weight > 0
    np.testing.assert_allclose(display.least_squares, np.linalg.lstsq(X[half], Y[half])[0], 1e-5)


def test_a_fitted_formula_brings_its_data():
    pd = pytest.importorskip("pandas")
    rng = np.random.default_rng(0)
    data = pd.DataFrame({"x": rng.standard_normal(200), "y": rng.standard_normal(200)})
    model = rl.formula("y ~ x", data).fit(rl.QuantileRegressor(quantile=[0.3, 0.6], alpha=0))
    display = CoefficientDisplay.from_estimator(model, columns=["x"], kind="nid")
    assert display.names == ("x",) and len(display.bands_) == 1
