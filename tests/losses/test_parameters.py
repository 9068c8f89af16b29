"""Parameters of the losses, and looking losses up by name."""

from __future__ import annotations

import builtins
import sys

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from rectiline.estimators import PLQRegressor
from rectiline.losses import (
    EpsilonInsensitive,
    Expectile,
    Hinge,
    Huber,
    Pinball,
    SmoothedHinge,
    SquaredEpsilonInsensitive,
    get,
)


@pytest.mark.parametrize("loss", [Pinball, Expectile])
@pytest.mark.parametrize("quantile", [0.0, 1.0, 1.2, -0.1])
def test_quantile_lies_strictly_between_0_and_1(loss, quantile):
    message = rf"{loss.__name__}\(quantile={quantile}\): quantile must lie strictly between 0 and 1"
    with pytest.raises(ValueError, match=message):
        loss(quantile)


@pytest.mark.parametrize("loss", [EpsilonInsensitive, SquaredEpsilonInsensitive])
def test_epsilon_is_not_negative(loss):
    assert loss(0).epsilon == 0.0
    with pytest.raises(ValueError, match=r"\(epsilon=-0.1\): epsilon must be a finite number >= 0"):
        loss(-0.1)


@pytest.mark.parametrize("value", [0.0, -1.0])
def test_delta_and_width_are_positive(value):
    message = rf"Huber\(delta={value}\): delta must be a finite number > 0"
    with pytest.raises(ValueError, match=message):
        Huber(value)
    with pytest.raises(ValueError, match="width must be a finite number > 0"):
        SmoothedHinge(value)


@pytest.mark.parametrize(
    "loss",
    [Pinball, Expectile, EpsilonInsensitive, SquaredEpsilonInsensitive, Huber, SmoothedHinge],
)
def test_parameters_are_finite_numbers(loss):
    for value in (np.nan, np.inf):
        with pytest.raises(ValueError, match=r"must (be a finite number|lie strictly between)"):
            loss(value)
    for value in ("0.5", None, True, [0.5], 1j):
        with pytest.raises(TypeError, match="must be a number"):
            loss(value)
    assert loss(np.float32(0.5)) == loss(0.5)
    assert repr(loss(np.float64(0.5))) == repr(loss(0.5))


def test_whole_numbers_become_floats():
    assert Huber(2) == Huber(2.0) and repr(Huber(2)) == "Huber(delta=2.0)"
    assert hash(Huber(2)) == hash(Huber(2.0))
    assert Huber(2) != Huber(3) and Huber(1) != SmoothedHinge(1)


@pytest.mark.parametrize("width", [1e-3, 1e-9, 1e-15, 1e6])
def test_a_narrow_smoothed_hinge_is_a_hinge(width):
    z = np.linspace(-3, 3, 61)
    z = z[np.abs(z - 1) > 1e-2] if width < 1 else -width * np.ones(1)
    expected = Hinge().value(1, z) - np.where(z < 1, width / 2, 0.0)
    np.testing.assert_allclose(SmoothedHinge(width).value(1, z), expected, rtol=1e-12, atol=1e-15)


def test_a_width_below_rounding_is_refused():
    with pytest.raises(ValueError, match="use Hinge"):
        SmoothedHinge(1e-17)


@pytest.mark.parametrize(
    "name",
    [
        "hinge",
        "squared_hinge",
        "smoothed_hinge",
        "modified_huber",
        "absolute",
        "epsilon_insensitive",
        "squared_epsilon_insensitive",
        "pinball",
        "quantile",
        "huber",
        "squared_error",
        "expectile",
    ],
)
def test_get_by_name(name):
    is_pinball = name in ("pinball", "quantile")
    if is_pinball:
        with pytest.raises(ValueError, match=f"loss='{name}' needs its quantile"):
            get(name)
    loss = get(name, **({"quantile": 0.9} if is_pinball else {}))
    assert loss.name == name.replace("quantile", "pinball")
    assert get(loss) is loss


def test_get_with_parameters_and_errors():
    assert get("quantile", quantile=0.9) == Pinball(0.9)
    with pytest.raises(ValueError, match=r"loss='hubber' is not one of .* Did you mean 'huber'\?"):
        get("hubber")
    with pytest.raises(ValueError, match=r"with its own parameters; \['delta'\] go with"):
        get(Huber(), delta=2)
    with pytest.raises(TypeError, match=r"must be a Loss such as .*, or the name of one; got 3"):
        get(3)
    with pytest.raises(TypeError, match="loss='huber' takes 'delta'; got 'width'"):
        get("huber", width=1)


def test_a_plot_without_matplotlib_names_the_extra(monkeypatch):
    real = builtins.__import__

    def without(name, *args, **kwargs):
        if name.startswith("matplotlib"):
            raise ImportError(name)
        return real(name, *args, **kwargs)

    for module in [m for m in sys.modules if m.startswith("matplotlib")]:
        monkeypatch.delitem(sys.modules, module)
    monkeypatch.setattr(builtins, "__import__", without)
    with pytest.raises(ImportError, match="pip install matplotlib"):
        Hinge().plot()


def test_losses_have_the_parameters_of_scikit_learn():
    assert Huber(2.0).get_params() == {"delta": 2.0}
    loss = Huber(2.0)
    assert loss.set_params(delta=3.0) == Huber(3.0) and loss == Huber(2.0)
    assert clone(loss) is loss and loss.set_params() is loss
    with pytest.raises(ValueError, match=r"has \['delta'\]; got \['epsilon'\]"):
        loss.set_params(epsilon=1.0)


def test_grids_of_the_parameters_of_a_loss():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((60, 2))
    y = X[:, 0] + rng.standard_t(2, 60)
    model = PLQRegressor(Huber(1.0), C=1.0)
    assert model.get_params()["loss__delta"] == 1.0
    search = GridSearchCV(model, {"loss__delta": [0.1, 0.5, 1e3]}, cv=3).fit(X, y)
    assert model.loss == Huber(1.0)
    assert search.best_estimator_.loss == Huber(search.best_params_["loss__delta"])
    piped = make_pipeline(StandardScaler(), model).set_params(plqregressor__loss__delta=7.0)
    assert piped[-1].loss == Huber(7.0)
    with pytest.raises(ValueError, match="loss__delta: loss='huber' is no object"):
        PLQRegressor("huber").set_params(loss__delta=1.0)
