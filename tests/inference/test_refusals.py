"""Where no standard error is valid, an error says why and what may be done."""

import numpy as np
import pandas as pd
import pytest

from rectiline.constraints import LinearEquality, Nonnegative
from rectiline.estimators import PLQClassifier, PLQRegressor, QuantileRegressor
from rectiline.inference import covariance

RNG = np.random.default_rng(0)
X = RNG.standard_normal((80, 2))
Y = X @ [1.0, -1.0] + RNG.standard_normal(80)


@pytest.mark.parametrize(
    ("model", "message"),
    [
        (QuantileRegressor(alpha=0.1), "penalty .alpha=0.1.*bootstrap"),
        (PLQRegressor("huber"), "penalty='l2'"),
        (PLQRegressor("huber", penalty=None, constraints=Nonnegative()), "on its bound"),
        (PLQRegressor("huber", penalty=None, monotone={1: 1}), "on its bound"),
        (PLQRegressor("huber", penalty=None, order=[[0, 1]]), "constraint is active"),
        (
            PLQRegressor("huber", penalty=None, constraints=LinearEquality([1.0, 1.0], 0.0)),
            "equality constraint",
        ),
        (QuantileRegressor(quantile=[0.3, 0.7], alpha=0, non_crossing=True), "not to cross"),
        (QuantileRegressor(quantile=[0.3, 0.7], alpha=0, shared_slopes=True), "shared"),
    ],
)
def test_no_errors_under_penalties_and_active_constraints(model, message):
    model.fit(X, Y)
    with pytest.raises(ValueError, match=message):
        model.summary(X, Y)


def test_constraints_that_are_not_active_change_nothing():
    free = PLQRegressor("huber", penalty=None).fit(X, Y)
    held = PLQRegressor("huber", penalty=None, constraints={0: ">=0", 1: (-5, 5)}).fit(X, Y)
    np.testing.assert_allclose(covariance(held, X, Y), covariance(free, X, Y), rtol=1e-4)


def test_few_samples():
    model = QuantileRegressor(alpha=0).fit(X[:3], Y[:3])
    with pytest.raises(ValueError, match=r"more samples than coefficients.*3 samples"):
        model.summary(X[:3], Y[:3])


def test_dependent_columns():
    doubled = np.column_stack([X, X[:, 0] + X[:, 1]])
    model = QuantileRegressor(alpha=0).fit(doubled, Y)
    with pytest.raises(ValueError, match="linearly dependent"):
        model.summary(doubled, Y)


def test_other_data_than_those_of_the_fit():
    model = QuantileRegressor(alpha=0).fit(X, Y)
    with pytest.raises(ValueError, match="those that the model was fitted on"):
        model.summary(X, Y + 1.0)
    with pytest.raises(ValueError, match="those that the model was fitted on"):
        model.summary(X[:70], Y[:70])
    weighted = QuantileRegressor(alpha=0).fit(X, Y, np.full(80, 2.0))
    with pytest.raises(ValueError, match="weights included"):
        weighted.summary(X, Y)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"kind": "white"}, "kind='white'"),
        ({"kind": "sandwich", "bandwidth": -1.0}, "must be positive"),
        ({"kind": "nid", "bandwidth": 0.7}, "between 0 and 0.5"),
        ({"kind": "nid", "bandwidth": "wide"}, "bandwidth='wide'"),
        ({"kind": "iid", "sparsity": "box"}, "sparsity='box'"),
        ({"kind": "margin_density"}, "hinge"),
        ({"kind": "cluster"}, "needs groups"),
        ({"kind": "cluster", "groups": np.zeros(80)}, "at least two clusters"),
        ({"kind": "cluster", "groups": np.zeros(7)}, "one label for each of the 80"),
        ({"kind": "nid", "level": 1.0}, "level=1.0"),
    ],
)
def test_bad_options(options, message):
    model = QuantileRegressor(alpha=0).fit(X, Y)
    with pytest.raises(ValueError, match=message):
        model.summary(X, Y, **options)


def test_kinds_that_do_not_suit_the_loss():
    model = PLQRegressor("huber", penalty=None).fit(X, Y)
    with pytest.raises(ValueError, match="for quantile regressions"):
        model.summary(X, Y, kind="nid")


def test_several_outputs_and_classes():
    model = PLQRegressor("huber", penalty=None).fit(X, np.column_stack([Y, Y]))
    with pytest.raises(ValueError, match="one column of y"):
        model.summary(X, np.column_stack([Y, Y]))
    labels = np.arange(80) % 3
    with pytest.raises(ValueError, match="two classes"):
        PLQClassifier(penalty=None).fit(X, labels).summary(X, labels)


def test_an_optimum_that_is_not_unique_is_flagged():
    points = np.zeros((4, 1))
    points[2:] = 1.0
    y = np.array([0.0, 1.0, 0.0, 1.0])  # every line between the two ends is best
    model = QuantileRegressor(quantile=0.5, alpha=0).fit(points, y)
    assert not model.summary(points, y, kind="sandwich").unique
    assert QuantileRegressor(alpha=0).fit(X, Y).summary(X, Y, kind="nid").unique


def test_dependent_columns_are_named():
    table = pd.DataFrame(X, columns=["a", "b"]).assign(total=X.sum(axis=1))
    model = QuantileRegressor(alpha=0).fit(table, Y)
    with pytest.raises(ValueError, match="such as 'total', and fit again"):
        model.summary(table, Y)


@pytest.mark.filterwarnings("ignore:The quantiles around the fitted ones cross")
def test_densities_that_are_zero_everywhere_have_a_message_for_ranks_too():
    group = (np.arange(80) < 20).astype(float)
    y = np.where(group == 1, 5.0, Y)  # the quantiles of the group are all equal
    table = np.column_stack([X[:, :1], group])
    table[:20, 0] = 0.0
    model = QuantileRegressor(quantile=0.5, alpha=0).fit(table, y)
    with pytest.raises(ValueError, match="second derivative of the loss is singular"):
        model.summary(table, y, "rank", iid=False)
