"""A pickle of a fitted model holds the model: its size does not depend on the number of samples."""

import pickle

import numpy as np
import pytest

import rectiline as rl
import rectiline.estimators as est
from rectiline.estimators.multitask import MultiTaskRegressor

SMALL, LARGE = 150, 1500
MODELS = {
    "two classes": lambda: est.PLQClassifier(),
    "three classes": lambda: est.PLQClassifier(loss="squared_hinge"),
    "regression": lambda: est.PLQRegressor(loss="huber"),
    "two outputs": lambda: est.PLQRegressor(loss="squared_error"),
    "quantile": lambda: est.QuantileRegressor(quantile=0.3, alpha=0.01),
    "quantiles": lambda: est.QuantileRegressor(quantile=[0.2, 0.8], alpha=0.01),
    "search": lambda: est.PLQClassifierCV(Cs=5, cv=2),
    "search of quantiles": lambda: est.QuantileRegressorCV(alphas=5, cv=2),
    "tasks": lambda: MultiTaskRegressor(shared_dim=1),
}


def fitted(name, n, **parameters):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((n, 3))
    signal = X[:, 0] + rng.standard_normal(n)
    y = {
        "two classes": np.where(signal > 0, "b", "a"),
        "search": np.where(signal > 0, 1, 0),
        "three classes": np.digitize(signal, [-1.0, 1.0]),
        "two outputs": np.column_stack([signal, -signal]),
    }.get(name, signal)
    model = MODELS[name]().set_params(**parameters)
    if name == "tasks":
        return X, model.fit(X, y, tasks=np.arange(n) % 3)
    return X, model.fit(X, y)


@pytest.mark.parametrize("name", MODELS)
def test_the_size_does_not_grow_with_the_samples(name):
    sizes = [len(pickle.dumps(fitted(name, n)[1])) for n in (SMALL, LARGE)]
    # One number per sample would add 8 bytes for each; histories differ by a few certificates.
    assert sizes[1] - sizes[0] < 4 * (LARGE - SMALL)


@pytest.mark.parametrize("name", [name for name in MODELS if name != "tasks"])
def test_the_copy_predicts_as_the_model(name):
    X, model = fitted(name, SMALL)
    copy = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(copy.predict(X), model.predict(X))
    assert copy.certificate_ == model.certificate_
    assert not hasattr(copy, "dual_coef_")
    assert model.dual_coef_.shape[-1] == SMALL  # the model itself is as it was


def test_a_fit_that_is_continued_takes_its_multipliers_along():
    _, model = fitted("regression", SMALL, warm_start=True)
    copy = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(copy.dual_coef_, model.dual_coef_)
    np.testing.assert_array_equal(copy.solution_.dual.sample, model.solution_.dual.sample)


@pytest.mark.parametrize("name", ["two classes", "three classes", "regression", "two outputs"])
def test_a_copy_is_verified_with_multipliers_found_anew(name):
    X, model = fitted(name, SMALL)
    y = model.predict(X)  # any targets; the copy is fitted to them below
    model.fit(X, y)
    copy = pickle.loads(pickle.dumps(model))
    proofs = copy.verify(X, y)
    for proof in proofs if isinstance(proofs, tuple) else (proofs,):
        assert proof.relative_gap <= 1e-6 or proof.gap <= 1e-9
    other = copy.verify(X, y[::-1])  # of other data it is not the optimum
    for proof in other if isinstance(other, tuple) else (other,):
        assert proof.relative_gap > 1e-3


def test_standard_errors_of_a_copy_are_those_of_the_model():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((60, 2))
    y = X[:, 0] + rng.standard_normal(60)
    model = est.QuantileRegressor(alpha=0.0).fit(X, y)
    copy = pickle.loads(pickle.dumps(model))
    for kind in ("iid", "nid", "rank"):
        np.testing.assert_array_equal(
            copy.summary(X, y, kind).interval, model.summary(X, y, kind).interval
        )
    with pytest.raises(ValueError, match="must be those that the model was fitted on"):
        copy.summary(X, y[::-1])
    smooth = est.PLQRegressor("huber", penalty=None).fit(X, y)
    copy = pickle.loads(pickle.dumps(smooth))
    np.testing.assert_array_equal(copy.summary(X, y).std_error, smooth.summary(X, y).std_error)
    kept = est.QuantileRegressor(alpha=0.0, inference="iid").fit(X, y)
    assert pickle.loads(pickle.dumps(kept)).summary_ is not None


def test_pickles_of_another_version_are_told(monkeypatch):
    saved = pickle.dumps(rl.PLQRegressor("absolute", C=2.0))
    monkeypatch.setattr(rl, "__version__", "9.9.9")
    with pytest.warns(UserWarning, match=r"PLQRegressor was saved by rectiline .* loaded by 9\.9"):
        again = pickle.loads(saved)
    assert again.C == 2.0 and again.get_params()["missing"] == "error"
