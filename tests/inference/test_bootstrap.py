"""Bootstrap replicates are the fits that they stand for, and do not depend on threads."""

import numpy as np
import pytest
from scipy.optimize import linprog
from scipy.stats import norm

from rectiline.estimators import PLQClassifier, PLQRegressor, QuantileRegressor
from rectiline.inference import bootstrap, covariance, hall_sheather
from rectiline.inference._bootstrap_quantile import Resampling, mammen, replicate_seeds

RNG = np.random.default_rng(2)
N = 300
X = np.column_stack([RNG.standard_normal(N), RNG.uniform(0, 2, N)])
Y = X @ [1.0, -1.0] + (0.5 + X[:, 1]) * RNG.standard_normal(N)
GROUPS = np.arange(N) // 6
D = np.column_stack([np.ones(N), X])


def quantile_fit(X, y, tau, weight=None):
    model = QuantileRegressor(quantile=tau, alpha=0).fit(X, y, weight)
    return np.r_[model.intercept_, model.coef_]


@pytest.mark.parametrize("groups", [None, GROUPS])
@pytest.mark.parametrize("method", ["pairs", "weights"])
def test_replicates_are_refits(method, groups):
    model = QuantileRegressor(quantile=0.3, alpha=0).fit(X, Y)
    draws = bootstrap(model, X, Y, method=method, n_boot=6, groups=groups, random_state=4)
    resampling = Resampling(method, np.ones(N), groups)
    for found, seed in zip(draws, replicate_seeds(4, 6), strict=True):
        expected = quantile_fit(X, Y, 0.3, resampling.draw(seed))
        np.testing.assert_allclose(found, expected, rtol=1e-6, atol=1e-8)


def test_large_samples_are_reduced_to_those_near_the_plane():
    rng = np.random.default_rng(8)
    Z = rng.standard_normal((6000, 3))
    y = Z @ [1.0, 0.0, 2.0] + rng.standard_normal(6000)
    model = QuantileRegressor(quantile=0.5, alpha=0).fit(Z, y)
    draws = bootstrap(model, Z, y, method="weights", n_boot=3)
    resampling = Resampling("weights", np.ones(6000))
    for found, seed in zip(draws, replicate_seeds(None, 3), strict=True):
        expected = quantile_fit(Z, y, 0.5, resampling.draw(seed))
        np.testing.assert_allclose(found, expected, rtol=1e-7)


def left_out_sizes(residual, tau):
    """Return |u| + h |psi| / f(0), from the definitions."""
    basis = np.abs(residual) < 1e-8
    psi = np.where(residual > 0, tau, tau - 1)
    psi[basis] = np.linalg.solve(D[basis].T, -D[~basis].T @ psi[~basis])
    assert basis.sum() == 3 and (psi >= tau - 1).all() and (psi <= tau).all()
    leverage = np.einsum("ij,ij->i", D @ np.linalg.inv(D.T @ D), D)
    h = hall_sheather(tau, N)
    quartiles = np.quantile(residual, [0.25, 0.75], method="inverted_cdf")
    width = min(residual.std(ddof=1), np.ptp(quartiles) / 1.34)
    width *= norm.ppf(tau + h) - norm.ppf(tau - h)
    density = norm.pdf(residual / width).mean() / width
    return np.abs(residual) + leverage * np.abs(psi) / density


def test_wild_replicates_are_fits_to_redrawn_residuals():
    tau = 0.25
    model = QuantileRegressor(quantile=tau, alpha=0).fit(X, Y)
    fitted = model.predict(X)
    draws = bootstrap(model, X, Y, method="wild", n_boot=4, random_state=1)
    size = left_out_sizes(Y - fitted, tau)
    for found, seed in zip(draws, replicate_seeds(1, 4), strict=True):
        upper = np.random.default_rng(seed).random(N) < 1 - tau
        factor = np.where(upper, 2 * (1 - tau), -2 * tau)
        expected = quantile_fit(X, fitted + factor * size, tau)
        np.testing.assert_allclose(found, expected, rtol=1e-6, atol=1e-7)


def test_wild_counts_frequencies_as_repeated_samples():
    weight = np.where(np.arange(N) % 3 == 0, 2.0, 1.0)
    once = QuantileRegressor(quantile=0.4, alpha=0).fit(X, Y, weight)
    often = np.repeat(np.arange(N), weight.astype(int))
    repeated = QuantileRegressor(quantile=0.4, alpha=0).fit(X[often], Y[often])
    ours = covariance(once, X, Y, "bootstrap", method="wild", sample_weight=weight, n_boot=400)
    theirs = covariance(repeated, X[often], Y[often], "bootstrap", method="wild", n_boot=400)
    np.testing.assert_allclose(np.diag(ours), np.diag(theirs), rtol=0.3)


def test_wild_where_most_samples_lie_on_the_plane():
    x = np.arange(40.0)
    y = np.where(x % 5 == 0, 2 * x + 3, 2 * x)
    model = QuantileRegressor(quantile=0.5, alpha=0).fit(x[:, None], y)
    draws = bootstrap(model, x[:, None], y, method="wild", n_boot=3)
    np.testing.assert_allclose(draws, np.tile([0.0, 2.0], (3, 1)), atol=1e-8)


def test_wild_gradient_replicates_solve_the_perturbed_program():
    tau = 0.6
    model = QuantileRegressor(quantile=tau, alpha=0).fit(X, Y)
    residual = Y - model.predict(X)
    slope = np.where(residual > 1e-9, tau, tau - 1.0)
    sums = np.array([(D * slope[:, None])[g == GROUPS].sum(axis=0) for g in range(50)])
    draws = bootstrap(model, X, Y, method="wild", n_boot=3, groups=GROUPS)
    for found, seed in zip(draws, replicate_seeds(None, 3), strict=True):
        push = mammen(np.random.default_rng(seed), 50) @ sums
        cost = np.concatenate([push, np.full(N, tau), np.full(N, 1 - tau)])
        rows = np.hstack([D, np.eye(N), -np.eye(N)])
        bounds = [(None, None)] * 3 + [(0, None)] * (2 * N)
        best = linprog(cost, A_eq=rows, b_eq=Y, bounds=bounds, method="highs")
        np.testing.assert_allclose(found, best.x[:3], rtol=1e-6, atol=1e-7)


def test_mammen_moments():
    draws = mammen(np.random.default_rng(0), 400_000)
    moments = [np.mean(draws**k) for k in (1, 2, 3)]
    np.testing.assert_allclose(moments, [0, 1, 1], atol=0.02)


@pytest.mark.parametrize("method", ["pairs", "weights", "wild"])
def test_threads_change_nothing(method):
    model = QuantileRegressor(quantile=[0.3, 0.6], alpha=0).fit(X, Y)
    one = bootstrap(model, X, Y, method=method, n_boot=60)
    two = bootstrap(model, X, Y, method=method, n_boot=60, n_jobs=2)
    assert one.shape == (60, 2, 3) and (one == two).all()
    assert (one == bootstrap(model, X, Y, method=method, n_boot=60, random_state=0)).all()
    assert not (one == bootstrap(model, X, Y, method=method, n_boot=60, random_state=1)).all()


def test_levels_share_their_draws():
    model = QuantileRegressor(quantile=[0.3, 0.6], alpha=0).fit(X, Y)
    joint = bootstrap(model, X, Y, n_boot=10)
    single = bootstrap(QuantileRegressor(quantile=0.6, alpha=0).fit(X, Y), X, Y, n_boot=10)
    np.testing.assert_allclose(joint[:, 1], single, rtol=1e-9)


@pytest.mark.parametrize("method", ["pairs", "weights", "wild"])
def test_spread_is_near_the_analytic_one(method):
    model = QuantileRegressor(quantile=0.5, alpha=0).fit(X, Y)
    spread = np.sqrt(np.diag(covariance(model, X, Y, "bootstrap", method=method, n_boot=300)))
    analytic = np.sqrt(np.diag(covariance(model, X, Y, "nid")))
    np.testing.assert_allclose(spread, analytic, rtol=0.35)


def test_smooth_losses_and_classifiers():
    model = PLQRegressor("huber", penalty=None, loss_params={"delta": 1.0}).fit(X, Y)
    draws = bootstrap(model, X, Y, method="weights", n_boot=60)
    spread, analytic = draws.std(axis=0), np.sqrt(np.diag(covariance(model, X, Y)))
    np.testing.assert_allclose(spread, analytic, rtol=0.4)
    labels = np.where(Y > 0, "yes", "no")
    model = PLQClassifier("squared_hinge", C=0.5).fit(X, labels)
    weight = Resampling("pairs", np.ones(N)).draw(replicate_seeds(None, 2)[1])
    expected = PLQClassifier("squared_hinge", C=0.5).fit(X, labels, weight)
    found = bootstrap(model, X, labels, n_boot=2)[1]
    np.testing.assert_allclose(found, np.r_[expected.intercept_, expected.coef_[0]], rtol=1e-4)


def test_penalties_are_allowed_and_named():
    model = QuantileRegressor(quantile=0.5, alpha=0.05).fit(X, Y)
    table = model.summary(X, Y, kind="bootstrap", n_boot=20)
    assert "20 replicates" in table.note and "bias" in table.note
    assert (table.std_error > 0).all()


def test_callback_reports_and_stops():
    model = QuantileRegressor(quantile=0.5, alpha=0).fit(X, Y)
    seen = []
    bootstrap(model, X, Y, n_boot=60, callback=lambda done, count: seen.append((done, count)))
    assert seen == [(25, 60), (50, 60), (60, 60)]
    stopped = bootstrap(model, X, Y, n_boot=60, callback=lambda done, count: True)
    assert stopped.shape == (25, 3)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"n_boot": 1}, "n_boot=1"),
        ({"n_boot": 2.5}, "n_boot=2.5"),
        ({"method": "jackknife"}, "method='jackknife'"),
        ({"groups": [1, 2]}, "one label for each"),
    ],
)
def test_bad_options(options, message):
    model = QuantileRegressor(quantile=0.5, alpha=0).fit(X, Y)
    with pytest.raises(ValueError, match=message):
        bootstrap(model, X, Y, **options)


def test_wild_refuses_what_it_cannot_do():
    with pytest.raises(ValueError, match="for quantile regressions"):
        bootstrap(PLQRegressor("huber", penalty=None).fit(X, Y), X, Y, method="wild")
    weight = np.full(N, 0.5)
    model = QuantileRegressor(alpha=0).fit(X, Y, weight)
    with pytest.raises(ValueError, match="whole numbers"):
        bootstrap(model, X, Y, method="wild", sample_weight=weight, weights_are="frequency")


@pytest.mark.parametrize("method", ["pairs", "weights"])
def test_frequency_weights_have_the_spread_of_copies(method):
    weight = RNG.integers(1, 4, N).astype(float)
    draws = np.array([Resampling(method, weight).draw(seed) for seed in replicate_seeds(0, 4000)])
    # The weight of w copies: mean w, and variance about w for both methods.
    np.testing.assert_allclose(draws.mean(axis=0), weight, rtol=0.1)
    np.testing.assert_allclose(draws.var(axis=0), weight, rtol=0.2)
