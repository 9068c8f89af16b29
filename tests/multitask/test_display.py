"""The picture of the shared subspace."""

import numpy as np
import pytest

matplotlib = pytest.importorskip("matplotlib")
matplotlib.use("Agg")

from matplotlib import pyplot as plt  # noqa: E402

from rectiline.estimators.multitask import MultiTaskRegressor  # noqa: E402
from rectiline.reports import SubspaceDisplay  # noqa: E402


@pytest.mark.parametrize("shared_dim", [1, 2])
def test_components_and_tasks_are_drawn(shared_dim):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(40, 5))
    Y = X[:, :2] @ rng.normal(size=(2, 4))
    model = MultiTaskRegressor(shared_dim=shared_dim).fit(X, Y)
    display = SubspaceDisplay.from_estimator(model)
    assert display.image_.get_array().shape == (shared_dim, 5)
    offsets = np.asarray(display.points_.get_offsets())
    np.testing.assert_allclose(offsets[:, 0], model.task_components_[:, 0])
    assert (display.shares >= 0).all() and (display.shares <= 1).all()
    assert len(display.axes_) == 2
    plt.close(display.figure_)


def test_given_axes_and_style_are_used():
    figure, pair = plt.subplots(1, 2)
    display = SubspaceDisplay(np.eye(2, 3), np.ones((4, 2)), np.ones(4))
    display.plot(ax=pair, marker="s")
    assert display.figure_ is figure
    plt.close(figure)
