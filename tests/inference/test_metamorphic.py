"""Laws that every covariance obeys: weights as copies, changes of units, order of the rows."""

import numpy as np
import pytest
from scipy import sparse

from rectiline.estimators import PLQClassifier, PLQRegressor, QuantileRegressor
from rectiline.inference import covariance

RNG = np.random.default_rng(7)
N = 180
X = np.column_stack([RNG.standard_normal(N), RNG.uniform(0, 3, N)])
Y = 1.0 + X @ [2.0, -1.0] + (0.5 + X[:, 1]) * RNG.standard_normal(N)
LABELS = np.where(X @ [1.0, -0.7] + 0.8 * RNG.standard_normal(N) > -1.0, 1, 0)
GROUPS = np.arange(N) % 25
WEIGHT = RNG.integers(0, 4, N).astype(float)
COPIES = np.repeat(np.arange(N), WEIGHT.astype(int))

QUANTILE_KINDS = ["iid", "nid", "kernel", "cluster"]


def quantile_cov(kind, X=X, y=Y, quantile=0.4, sample_weight=None, groups=GROUPS, **options):
    model = QuantileRegressor(quantile=quantile, alpha=0).fit(X, y, sample_weight)
    groups = groups if kind == "cluster" else None
    return covariance(model, X, y, kind=kind, sample_weight=sample_weight, groups=groups, **options)


@pytest.mark.parametrize("sparsity", ["order", "epanechnikov", "biweight", "gaussian"])
def test_frequency_weights_are_copies_of_rows_iid(sparsity):
    weighted = quantile_cov("iid", sample_weight=WEIGHT, sparsity=sparsity)
    copied = quantile_cov("iid", X[COPIES], Y[COPIES], sparsity=sparsity)
    np.testing.assert_allclose(weighted, copied, rtol=1e-7)


@pytest.mark.parametrize("kind", QUANTILE_KINDS)
def test_frequency_weights_are_copies_of_rows(kind):
    weighted = quantile_cov(kind, sample_weight=WEIGHT)
    copied = quantile_cov(kind, X[COPIES], Y[COPIES], groups=GROUPS[COPIES])
    np.testing.assert_allclose(weighted, copied, rtol=1e-7)


@pytest.mark.parametrize(
    "loss", ["huber", "expectile", "squared_error", "squared_epsilon_insensitive"]
)
def test_frequency_weights_are_copies_of_rows_for_smooth_losses(loss):
    model = PLQRegressor(loss, penalty=None)
    weighted = covariance(model.fit(X, Y, WEIGHT), X, Y, sample_weight=WEIGHT)
    copied = covariance(model.fit(X[COPIES], Y[COPIES]), X[COPIES], Y[COPIES])
    np.testing.assert_allclose(weighted, copied, rtol=1e-5)


@pytest.mark.parametrize("loss", ["hinge", "squared_hinge", "smoothed_hinge"])
def test_frequency_weights_are_copies_of_rows_for_classifiers(loss):
    model = PLQClassifier(loss, penalty=None, tol=1e-9)
    weighted = covariance(model.fit(X, LABELS, WEIGHT), X, LABELS, sample_weight=WEIGHT)
    copied = covariance(model.fit(X[COPIES], LABELS[COPIES]), X[COPIES], LABELS[COPIES])
    np.testing.assert_allclose(weighted, copied, rtol=1e-5)


@pytest.mark.parametrize("kind", QUANTILE_KINDS)
def test_units_of_y_and_x(kind):
    base = quantile_cov(kind)
    np.testing.assert_allclose(quantile_cov(kind, y=100 * Y), 1e4 * base, rtol=1e-6)
    np.testing.assert_allclose(quantile_cov(kind, y=Y + X @ [3.0, 4.0] - 7.0), base, rtol=1e-6)
    scale = np.diag([1.0, 10.0, 0.1])
    changed = quantile_cov(kind, X=X * [0.1, 10.0])
    np.testing.assert_allclose(changed, scale @ base @ scale, rtol=1e-6)


@pytest.mark.parametrize("kind", ["iid", "nid", "kernel"])
def test_reflection_turns_a_quantile_into_its_opposite(kind):
    turned = quantile_cov(kind, y=-Y, quantile=0.6)
    np.testing.assert_allclose(turned, quantile_cov(kind, quantile=0.4), rtol=1e-6)


@pytest.mark.parametrize("kind", QUANTILE_KINDS)
def test_order_and_storage_of_rows_do_not_matter(kind):
    base = quantile_cov(kind)
    order = RNG.permutation(N)
    shuffled = quantile_cov(kind, X[order], Y[order], groups=GROUPS[order])
    np.testing.assert_allclose(shuffled, base, rtol=1e-6)
    stored = quantile_cov(kind, X=sparse.csc_array(X))
    np.testing.assert_allclose(stored, base, rtol=1e-6)


@pytest.mark.parametrize("kind", QUANTILE_KINDS)
def test_blocks_of_several_levels_are_the_single_covariances(kind):
    joint = quantile_cov(kind, quantile=[0.2, 0.4, 0.7])
    assert joint.shape == (9, 9)
    np.testing.assert_allclose(joint[3:6, 3:6], quantile_cov(kind), rtol=1e-7)
    assert np.linalg.eigvalsh(joint)[0] > 0
    if kind == "iid":  # for two levels of one density the correlation is known
        expected = np.sqrt((0.2 * 0.6) / (0.8 * 0.4))
        found = joint[1, 4] / np.sqrt(joint[1, 1] * joint[4, 4])
        np.testing.assert_allclose(found, expected, rtol=1e-9)


def test_without_intercept():
    model = QuantileRegressor(quantile=0.5, alpha=0, fit_intercept=False).fit(X, Y)
    table = model.summary(X, Y, kind="kernel")
    assert table.names == ("x0", "x1") and table.std_error.shape == (2,)
    constant = np.column_stack([np.ones(N), X])
    model = QuantileRegressor(quantile=0.5, alpha=0, fit_intercept=False).fit(constant, Y)
    explicit = model.summary(constant, Y, kind="kernel").std_error
    expected = np.sqrt(np.diag(quantile_cov("kernel", quantile=0.5)))
    np.testing.assert_allclose(explicit, expected, rtol=1e-6)


@pytest.mark.parametrize("kind", ["iid", "nid", "kernel", "sandwich", "rank", "bootstrap"])
def test_one_huge_target_does_not_change_the_errors_of_the_others(kind):
    changed = Y.copy()
    top = np.argmax(Y)
    changed[top] = 1e9  # it stays above every fitted quantile
    models = [QuantileRegressor(quantile=0.4, alpha=0).fit(X, y) for y in (Y, changed)]
    np.testing.assert_allclose(models[0].coef_, models[1].coef_, rtol=1e-6)
    before, after = (
        model.summary(X, y, kind=kind).interval
        for model, y in zip(models, (Y, changed), strict=True)
    )
    np.testing.assert_allclose(after, before, rtol=2e-3)


@pytest.mark.parametrize("kind", ["iid", "kernel", "sandwich"])
def test_a_shift_of_the_targets_changes_no_error(kind):
    # Seconds since 1970; the rounding of y alone moves residuals by 1e-7.
    shifted = quantile_cov(kind, y=Y + 1.7e9)
    np.testing.assert_allclose(shifted, quantile_cov(kind), rtol=1e-3)


@pytest.mark.parametrize(("of_x", "of_y"), [(1e200, 1.0), (1e-200, 1.0), (1.0, 1e200)])
@pytest.mark.parametrize("kind", ["iid", "nid", "bootstrap"])
def test_values_without_squares_are_refused_with_the_reason(kind, of_x, of_y):
    model = QuantileRegressor(quantile=0.4, alpha=0).fit(of_x * X, of_y * Y)
    with pytest.raises(ValueError, match=r"made of squares.*Choose another unit"):
        model.summary(of_x * X, of_y * Y, kind=kind)
