"""Torch tensors in the memory of the host: taken as arrays, answered in kind under dispatch."""

import os
import subprocess
import sys

import numpy as np
import pytest

import rectiline as rl

torch = pytest.importorskip("torch")

# scikit-learn dispatches only if SciPy was told to before it was imported.
DISPATCHED = """
import numpy as np, torch, sklearn, rectiline as rl
rng = np.random.default_rng(0)
X = rng.standard_normal((300, 3))
y = X @ [1.0, -1.0, 0.5] + rng.standard_normal(300)
label = (y > 0).astype(np.int64)
tX, ty, tlabel = map(torch.as_tensor, (X, y, label))
with sklearn.config_context(array_api_dispatch=True):
    cases = [
        (rl.PLQRegressor("huber"), ty, y, ("predict",)),
        (rl.PLQClassifier(calibration="sigmoid"), tlabel, label,
         ("predict", "decision_function", "predict_proba")),
        (rl.QuantileRegressor(quantile=[0.05, 0.5, 0.95], alpha=0.0), ty, y,
         ("predict", "predict_interval")),
    ]
    for model, target, plain, methods in cases:
        model.fit(tX, target, sample_weight=torch.ones(300))
        other = sklearn.clone(model).fit(X, plain)
        assert isinstance(other.coef_, np.ndarray)
        assert isinstance(model.coef_, torch.Tensor), type(model.coef_)
        assert isinstance(model.intercept_, torch.Tensor)
        assert torch.equal(model.coef_, torch.as_tensor(other.coef_))
        for name in methods:
            found = getattr(model, name)(tX)
            assert isinstance(found, torch.Tensor), (name, type(found))
            assert found.device == tX.device
            expected = getattr(other, name)(X)
            assert np.allclose(found.numpy(), expected, rtol=1e-13), name
            assert np.allclose(getattr(model, name)(X), expected, rtol=1e-13), name
        assert 0.0 < float(model.score(X, plain)) <= 1.0
print("all follow")
"""


def test_answers_follow_X_under_dispatch():
    done = subprocess.run(
        [sys.executable, "-W", "error::UserWarning", "-c", DISPATCHED],
        env={**os.environ, "SCIPY_ARRAY_API": "1"},
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert done.stdout.strip() == "all follow", done.stderr


def test_without_dispatch_answers_are_numpy_arrays():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((100, 2))
    y = X.sum(axis=1)
    model = rl.PLQRegressor("huber").fit(torch.as_tensor(X), torch.as_tensor(y))
    assert isinstance(model.coef_, np.ndarray)
    assert isinstance(model.predict(torch.as_tensor(X)), np.ndarray)
    assert np.array_equal(model.coef_, rl.PLQRegressor("huber").fit(X, y).coef_)
