"""Displays draw what they are given, on the axes they are given."""

from __future__ import annotations

import builtins

import matplotlib
import numpy as np
import pytest
from sklearn.exceptions import NotFittedError

import rectiline as rl
from rectiline.estimators import PLQClassifier, PLQClassifierCV, QuantileRegressor
from rectiline.paths import path
from rectiline.reports import (
    ConvergenceDisplay,
    FairnessDisplay,
    LossDisplay,
    PathDisplay,
    QuantileDisplay,
    solution_table,
)

matplotlib.use("Agg")
import matplotlib.pyplot as plt

RNG = np.random.default_rng(0)
X = RNG.normal(size=(80, 3))
LABELS = np.where(X[:, 0] + RNG.normal(size=80) > 0, 1, 0)
PROBLEM = rl.Problem(X, LABELS, rl.losses.SquaredHinge(), rl.penalties.L1(1.0))


@pytest.fixture(autouse=True)
def close():
    yield
    plt.close("all")


def test_convergence():
    display = ConvergenceDisplay.from_solution(rl.solve(PROBLEM), against="n_iter")
    assert display.ax_.get_yscale() == "log" and display.figure_ is display.ax_.figure
    several = PLQClassifier().fit(X, np.digitize(X[:, 0], [-0.5, 0.5]))
    _, ax = plt.subplots()
    drawn = ConvergenceDisplay.from_estimator(several, ax=ax)
    assert drawn.ax_ is ax and len(drawn.lines_) == 3
    with pytest.raises(ValueError, match="against"):
        display.plot(against="moons")


def test_path():
    found = path(PROBLEM, n_strengths=4)
    display = PathDisplay.from_path(found, feature_names=["a", "b", "c"], chosen=1.0)
    np.testing.assert_allclose(display.lines_[1].get_ydata(), found.coefs[:, 1])
    model = PLQClassifierCV(Cs=3, cv=3).fit(X, LABELS)
    assert len(PathDisplay.from_estimator(model).lines_) == 3
    table = solution_table(found)
    assert table["strength"].size == 4 and (table["status"] == "solved").all()


def test_loss():
    display = LossDisplay.from_losses([rl.losses.Hinge(), rl.losses.ModifiedHuber()])
    assert [line.get_label() for line in display.lines_] == ["Hinge()", "ModifiedHuber()"]
    assert len(LossDisplay.from_estimator(PLQClassifier()).lines_) == 1
    with pytest.raises(ValueError, match="one kind"):
        LossDisplay.from_losses([rl.losses.Hinge(), rl.losses.Huber()])
    named = LossDisplay.from_losses({"wide": rl.losses.Huber(3.0), "narrow": "absolute"})
    assert [line.get_label() for line in named.lines_] == ["wide", "narrow"]


def test_quantile():
    y = X[:, 0] + RNG.normal(size=80)
    model = QuantileRegressor(quantile=[0.1, 0.25, 0.5, 0.75, 0.9], alpha=0.01).fit(X, y)
    display = QuantileDisplay.from_estimator(model, X, y, feature=0)
    assert len(display.bands_) == 2 and len(display.lines_) == 1
    with pytest.raises(ValueError, match=r"column .age. is given by name"):
        QuantileDisplay.from_estimator(model, X, feature="age")


@pytest.mark.parametrize("form", ["covariance", "demographic_parity", "equal_opportunity"])
def test_fairness(form):
    group = (X[:, 1] > 0).astype(int)
    display = FairnessDisplay.from_estimator(
        PLQClassifier(), X, LABELS, group, tolerances=[0.001, 0.1], form=form
    )
    assert display.scores.shape == display.differences.shape == (2,)


def test_a_missing_matplotlib_is_named(monkeypatch):
    real = builtins.__import__

    def without(name, *more):
        if name.startswith("matplotlib"):
            raise ImportError(name)
        return real(name, *more)

    monkeypatch.setattr(builtins, "__import__", without)
    with pytest.raises(ImportError, match=r"pip install matplotlib"):
        LossDisplay.from_losses(rl.losses.Hinge())


def test_displays_say_what_they_need():
    with pytest.raises(NotFittedError):
        PathDisplay.from_estimator(PLQClassifierCV())
    plain = PLQClassifier().fit(X, LABELS)
    with pytest.raises(TypeError, match=r"chooses a strength.*PLQClassifier"):
        PathDisplay.from_estimator(plain)
    with pytest.raises(TypeError, match="QuantileRegressor"):
        QuantileDisplay.from_estimator(plain, X)


def test_stages_of_a_solve_are_named_where_they_begin():
    def at(seconds, gap, solver):
        return rl.Progress(solver, 1, seconds, rl.Certificate(primal=1.0, gap=gap, violation=0.0))

    history = [at(0.1, 1e-1, "rehline"), at(0.2, 1e-2, "rehline"), at(0.3, 1e-9, "newton")]
    display = ConvergenceDisplay([history], ["a solve"]).plot()
    assert [text.get_text() for text in display.ax_.texts] == ["rehline", "newton"]
    assert not ConvergenceDisplay([history[:2]], ["a solve"]).plot().ax_.texts
