"""Labels of plots: those that were given, and none that run off the picture."""

from __future__ import annotations

import matplotlib
import numpy as np
import pytest
from sklearn.datasets import load_diabetes

import rectiline as rl
from rectiline.estimators import PLQClassifier, PLQRegressor
from rectiline.losses import Absolute, Huber, PiecewiseLQ, SquaredHinge
from rectiline.reports import ConvergenceDisplay, LossDisplay, PathDisplay

matplotlib.use("Agg")
import matplotlib.pyplot as plt

LONG = PiecewiseLQ.maximum([(0, k, -(k**2) / 8.0) for k in range(-20, 21)])


@pytest.fixture(autouse=True)
def close():
    yield
    plt.close("all")


def runs_off(ax) -> bool:
    """Whether the title or the legend reaches beyond the figure."""
    figure = ax.figure
    figure.canvas.draw()
    parts = ([ax.title] if ax.get_title() else []) + ([ax.get_legend()] if ax.get_legend() else [])
    boxes = [part.get_window_extent() for part in parts]
    return any(
        box.x0 < 0 or box.y0 < 0 or box.x1 > figure.bbox.x1 or box.y1 > figure.bbox.y1
        for box in boxes
    )


def texts(ax) -> list[str]:
    return [entry.get_text() for entry in ax.get_legend().get_texts()]


def test_a_loss_takes_a_label_and_a_title():
    ax = Huber(2.0).plot(label="ours", title="losses", color="C3")
    Absolute().plot(ax, label="theirs", title="losses")
    assert texts(ax) == ["ours", "theirs"] and ax.get_title() == "losses"
    assert ax.lines[0].get_color() == "C3"


@pytest.mark.parametrize("loss", [LONG, LONG + 2 * LONG, Huber(1e7), Huber(1e-7) + Absolute()])
def test_long_descriptions_stay_in_the_picture(loss):
    assert not runs_off(loss.plot())
    assert not runs_off(LossDisplay.from_losses([loss, Absolute()]).ax_)


def test_labels_of_losses():
    display = LossDisplay.from_losses([LONG, Absolute()], labels=["many pieces", "two"])
    assert texts(display.ax_) == ["many pieces", "two"]
    with pytest.raises(ValueError, match="1 labels for 2 losses"):
        LossDisplay.from_losses([LONG, Absolute()], labels=["one"])


def test_the_loss_of_a_fit_is_the_one_that_was_fitted():
    X, y = load_diabetes(return_X_y=True)
    model = PLQRegressor().fit(X, y)
    display = LossDisplay.from_estimator(model)
    assert display.losses == [Huber(model.delta_)]


def test_labels_of_solutions():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 3))
    problem = rl.Problem(X, X[:, 0] > 0, SquaredHinge(), rl.penalties.L1(1.0))
    display = ConvergenceDisplay.from_solution(rl.solve(problem), label="mine")
    assert texts(display.ax_) == ["mine"]
    three = PLQClassifier().fit(X, np.digitize(X[:, 0], [-0.5, 0.5]))
    named = ConvergenceDisplay.from_estimator(three, labels=["low", "mid", "high"])
    assert texts(named.ax_) == ["low", "mid", "high"]
    names = [f"a very long name of a column that is number {k} of three" for k in range(3)]
    drawn = PathDisplay.from_path(rl.path(problem, n_strengths=4), feature_names=names)
    assert not runs_off(drawn.ax_)
