"""What weights are: frequencies count copies, probabilities belong to one observation each.

Numbers for "probability" are those of R 4.2.2 with quantreg 5.94 (``rq(..., weights = w)`` and
``summary``), and of statsmodels 0.15.0 (``WLS`` and ``GLM(freq_weights)`` with HC0 and clusters).
"""

import warnings

import numpy as np
import pytest

import rectiline as rl
from rectiline.inference import bootstrap, covariance

X, Y = rl.datasets.load_engel(return_X_y=True)
N = len(Y)
WEIGHT = 0.5 + (np.arange(1, N + 1) % 5) * 0.7
CLUSTERS = np.arange(N) % 20

STACK_LOSS = """
42 80 27 89 37 80 27 88 37 75 25 90 28 62 24 87 18 62 22 87 18 62 23 87 19 62 24 93
20 62 24 93 15 58 23 87 14 58 18 80 14 58 18 89 13 58 17 88 11 58 18 82 12 58 19 93
8 50 18 89 7 50 18 86 8 50 19 72 8 50 19 79 9 50 20 80 15 56 20 82 15 70 20 91
"""
R_ERRORS = {
    (0.25, "iid"): (8.33896540508822426, 0.00725033561882808),
    (0.25, "nid"): (26.939093733830408, 0.035805395370786),
    (0.25, "kernel"): (32.3679890910248744, 0.0392208193032335),
    (0.5, "iid"): (6.15518580763672674, 0.00535164264794567),
    (0.5, "nid"): (27.6823909223311446, 0.0375637790237563),
    (0.5, "kernel"): (36.6104434050079135, 0.0438743053479245),
    (0.9, "iid"): (9.9120346359691407, 0.0086180448395162),
    (0.9, "nid"): (25.9480884974502324, 0.0304329505113081),
    (0.9, "kernel"): (21.5523547759319491, 0.0250746377522551),
}
R_RANKS = {  # (level, iid): intervals of 90 %
    (0.25, True): [
        (60.186494765085762, 124.752938071203815),
        (0.398417149521101, 0.519411116087676),
    ],
    (0.9, False): [
        (20.113448431009942, 78.282809003451320),
        (0.655822151118643, 0.742995691939377),
    ],
}


def fitted(level, weight=WEIGHT):
    return rl.QuantileRegressor(quantile=level, alpha=0, tol=1e-10).fit(X, Y, weight)


@pytest.mark.parametrize(("level", "kind"), R_ERRORS)
def test_probabilities_give_the_errors_of_r(level, kind):
    table = fitted(level).summary(X, Y, kind, sample_weight=WEIGHT, weights_are="probability")
    # R solves the neighbouring quantiles of "nid" to about 1e-6 of its own.
    np.testing.assert_allclose(table.std_error, R_ERRORS[level, kind], rtol=1e-8)
    assert table.n_samples == N
    assert table.df == N - 2


@pytest.mark.parametrize(("level", "iid"), R_RANKS)
def test_probabilities_give_the_rank_intervals_of_r(level, iid):
    options = {"sample_weight": WEIGHT, "weights_are": "probability", "level": 0.9, "iid": iid}
    table = fitted(level).summary(X, Y, "rank", **options)
    np.testing.assert_allclose(table.interval, R_RANKS[level, iid], rtol=1e-7)


def test_smooth_losses_have_the_errors_of_statsmodels():
    model = rl.PLQRegressor("squared_error", penalty=None, tol=1e-10)
    options = {"sample_weight": WEIGHT, "weights_are": "probability"}
    model.fit(X, Y, WEIGHT)
    plain = model.summary(X, Y, "sandwich", **options).std_error
    np.testing.assert_allclose(plain, [62.296616312423275, 0.0683604184519], rtol=1e-7)
    clustered = model.summary(X, Y, groups=CLUSTERS, **options)
    assert clustered.kind == "cluster"
    np.testing.assert_allclose(
        clustered.std_error, [63.3223562312345, 0.068030247185642], rtol=1e-7
    )
    counts = 1 + np.arange(1, N + 1) % 3
    model.fit(X, Y, counts)
    table = model.summary(X, Y, "sandwich", sample_weight=counts)
    np.testing.assert_allclose(table.std_error, [30.59801932299088, 0.03386545296531], rtol=1e-7)
    assert table.n_samples == counts.sum()


@pytest.mark.parametrize("kind", ["iid", "nid", "kernel", "cluster", "bootstrap"])
def test_the_unit_of_probabilities_does_not_matter(kind):
    groups = CLUSTERS if kind == "cluster" else None
    found = [
        covariance(
            fitted(0.4, unit * WEIGHT),
            X,
            Y,
            kind,
            sample_weight=unit * WEIGHT,
            weights_are="probability",
            groups=groups,
            n_boot=20,
        )
        for unit in (1.0, 1e-3)
    ]
    np.testing.assert_allclose(found[0], found[1], rtol=1e-6)


@pytest.mark.parametrize("kind", ["nid", "kernel", "iid", "cluster"])
def test_zero_probabilities_are_samples_left_out(kind):
    weight = np.where(np.arange(N) % 7 == 0, 0.0, WEIGHT)
    kept = weight > 0
    groups = CLUSTERS if kind == "cluster" else None
    options = {"weights_are": "probability", "kind": kind}
    ours = covariance(fitted(0.4, weight), X, Y, sample_weight=weight, groups=groups, **options)
    small = rl.QuantileRegressor(quantile=0.4, alpha=0, tol=1e-10)
    small.fit(X[kept], Y[kept], weight[kept])
    theirs = covariance(
        small,
        X[kept],
        Y[kept],
        sample_weight=weight[kept],
        groups=None if groups is None else groups[kept],
        **options,
    )
    np.testing.assert_allclose(ours, theirs, rtol=1e-6)


@pytest.mark.parametrize("method", ["pairs", "weights", "wild"])
def test_replicates_of_probabilities_spread_as_the_sandwich(method):
    rng = np.random.default_rng(0)
    x = rng.uniform(0, 2, (600, 1))
    y = 1 + x[:, 0] + rng.standard_normal(600)
    weight = rng.uniform(0.2, 4.0, 600)
    model = rl.QuantileRegressor(quantile=0.5, alpha=0).fit(x, y, weight)
    options = {"sample_weight": weight, "weights_are": "probability"}
    draws = bootstrap(model, x, y, method=method, n_boot=400, **options)
    table = model.summary(x, y, "kernel", **options)
    np.testing.assert_allclose(draws.std(axis=0), table.std_error, rtol=0.25)


def test_probabilities_of_a_penalised_fit_are_resampled():
    model = rl.PLQRegressor("huber", C=1.0).fit(X, Y, WEIGHT)
    options = {"sample_weight": WEIGHT, "n_boot": 30}
    ours = bootstrap(model, X, Y, weights_are="probability", **options)
    assert np.isfinite(ours).all()
    assert ours[:, 1].std() > 0


def test_weights_that_are_hardly_frequencies_are_warned_about():
    model = fitted(0.5)
    with pytest.warns(UserWarning, match=r"446.5 samples where X has 235 rows.*'probability'"):
        model.summary(X, Y, "nid", sample_weight=WEIGHT)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model.summary(X, Y, "iid", sample_weight=WEIGHT, weights_are="frequency")
        same = WEIGHT * N / WEIGHT.sum()
        fitted(0.5, same).summary(X, Y, "iid", sample_weight=same)
        whole = 1.0 + np.arange(N) % 4
        fitted(0.5, whole).summary(X, Y, "iid", sample_weight=whole)
    with pytest.raises(ValueError, match="weights_are='survey': must be 'frequency'"):
        model.summary(X, Y, sample_weight=WEIGHT, weights_are="survey")


def test_many_columns_have_kernel_errors_by_default():
    rng = np.random.default_rng(1)
    firm = rng.integers(0, 60, 2000)
    wide = np.column_stack([rng.standard_normal(2000), np.eye(60)[firm][:, 1:]])
    y = wide[:, 0] + firm % 3 + rng.standard_t(3, 2000)
    model = rl.QuantileRegressor(quantile=0.5, alpha=0).fit(wide, y)
    table = model.summary(wide, y)
    assert table.kind == "kernel"
    assert "the default for as many as 61 coefficients of 2000 samples" in str(table)
    replicates = bootstrap(model, wide, y, n_boot=100)
    assert abs(np.log(table.std_error[1] / replicates[:, 1].std())) < 0.25
    few = rl.QuantileRegressor(quantile=0.5, alpha=0).fit(wide[:, :5], y)
    assert few.summary(wide[:, :5], y).kind == "nid"
    assert "default" not in few.summary(wide[:, :5], y, "kernel").note


def test_a_sparsity_that_is_not_unique_is_said_to_be():
    """Stack loss at the median: R's own median regression has several optimal lines."""
    rows = np.array(STACK_LOSS.split(), dtype=float).reshape(21, 4)
    y, x = rows[:, 0], rows[:, 1:]
    model = rl.QuantileRegressor(quantile=[0.25, 0.5], alpha=0).fit(x, y)
    unique, several = model.summary(x, y, "iid")
    assert "not unique" not in unique.note
    assert several.note.endswith("sparsity 5.63917 (not unique)")
