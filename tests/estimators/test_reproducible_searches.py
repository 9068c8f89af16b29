"""Searches are pure: equal inputs give equal tables, bit for bit, for any number of threads."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
import scipy.sparse as sp

from rectiline.estimators import PLQClassifierCV, PLQRegressorCV, QuantileRegressorCV

REPEATS = 20
RNG = np.random.default_rng(0)
X = RNG.normal(size=(120, 6))
SCORE = X[:, 0] - X[:, 1] + RNG.normal(size=120)
LABELS = np.where(SCORE > 0.3, 1, -1)
WIDE = RNG.normal(size=(30, 300))
SPARSE = sp.csr_array(np.where(np.abs(X) > 0.7, X, 0.0))

CASES = {
    "hinge": (X, LABELS, PLQClassifierCV("hinge")),
    "squared hinge": (X, LABELS, PLQClassifierCV("squared_hinge")),
    "huber": (X, SCORE, PLQRegressorCV("huber")),
    "pinball": (X, SCORE, QuantileRegressorCV(quantile=0.7, l1_ratios=[0.0])),
    "pinball l1": (X, SCORE, QuantileRegressorCV(quantile=0.7)),
    "hinge l1": (X, LABELS, PLQClassifierCV("hinge", penalty="l1")),
    "wide l1": (WIDE, LABELS[:30], PLQClassifierCV("hinge", penalty="l1")),
    "wide": (WIDE, LABELS[:30], PLQClassifierCV("squared_hinge")),
    "sparse": (SPARSE, LABELS, PLQClassifierCV("hinge")),
}


def table(model):
    """Return everything that a search found, without times."""
    found = {name: one for name, one in model.cv_results_.items() if "time" not in name}
    paths = model.path_ if isinstance(model.path_, tuple) else (model.path_,)
    for k, one in enumerate(paths):
        found[f"coefs {k}"], found[f"intercepts {k}"] = one.coefs, one.intercepts
    return {**found, "coef": model.coef_, "intercept": model.intercept_}


def assert_equal_bits(one, other):
    assert one.keys() == other.keys()
    for name in one:
        assert np.array_equal(one[name], other[name], equal_nan=True), name


@pytest.mark.parametrize("name", CASES)
def test_equal_searches_give_equal_bits(name):
    data, y, model = CASES[name]
    grid = "alphas" if isinstance(model, QuantileRegressorCV) else "Cs"
    model.set_params(cv=4, **{grid: 6})
    expected = table(model.set_params(n_jobs=None).fit(data, y))
    for repeat in range(REPEATS):
        n_jobs = (1, 2, 4)[repeat % 3]
        assert_equal_bits(table(model.set_params(n_jobs=n_jobs).fit(data, y)), expected)


def test_folds_in_threads_do_not_see_one_another():
    """On this table five different results came out of 25 equal fits at 0.1."""
    rng = np.random.default_rng(0)
    data = rng.normal(size=(2500, 40))
    y = np.where(data[:, 0] + rng.normal(size=2500) > 0, 1, -1)
    expected = table(PLQClassifierCV("squared_hinge", cv=8, n_jobs=1).fit(data, y))
    for _ in range(4):
        found = PLQClassifierCV("squared_hinge", cv=8, n_jobs=4).fit(data, y)
        assert_equal_bits(table(found), expected)


@pytest.mark.parametrize("kind", [PLQClassifierCV, PLQRegressorCV, QuantileRegressorCV])
def test_paths_and_tables_hold_nothing_of_the_size_of_the_samples(kind):
    sizes = []
    for copies in (1, 20):
        y = LABELS if kind is PLQClassifierCV else SCORE
        model = kind(cv=3, **{"alphas" if kind is QuantileRegressorCV else "Cs": 5})
        model.fit(np.tile(X, (copies, 1)), np.tile(y, copies))
        sizes.append(len(pickle.dumps((model.path_, model.cv_results_))))
    assert sizes[1] <= sizes[0] + 500
