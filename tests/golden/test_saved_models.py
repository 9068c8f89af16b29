"""Models that version 0.2.0 pickled: they load, and predict as they did."""

import gzip
import pickle
from pathlib import Path

import numpy as np
import pytest
from sklearn.base import clone

SAVED = pickle.loads(gzip.decompress(Path(__file__).with_name("models_0_2_0.pkl.gz").read_bytes()))


def loaded(name):
    if name == "MatrixFactorization":  # says nothing of versions
        return pickle.loads(SAVED["models"][name])
    with pytest.warns(UserWarning, match=r"saved by rectiline 0\.2\.0 or earlier"):
        return pickle.loads(SAVED["models"][name])


@pytest.mark.filterwarnings("ignore:Trying to unpickle:UserWarning")
@pytest.mark.parametrize("name", SAVED["models"])
def test_a_model_of_0_2_0_loads_and_predicts(name):
    model = loaded(name)
    X = SAVED["pairs"] if name == "MatrixFactorization" else SAVED["X"][:5]
    found, expected = np.asarray(model.predict(X)), SAVED["predictions"][name]
    if expected.dtype.kind == "f":
        np.testing.assert_allclose(found, expected, rtol=1e-12, atol=1e-12)
    else:
        np.testing.assert_array_equal(found, expected)
    again = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(np.asarray(again.predict(X)), found)
    assert repr(clone(model)) == repr(model)
    if hasattr(model, "certificate_"):
        proofs = model.certificate_
        for proof in proofs if isinstance(proofs, tuple) else (proofs,):
            assert proof.relative_gap <= 1e-6


@pytest.mark.filterwarnings("ignore:Trying to unpickle:UserWarning")
def test_a_model_of_0_2_0_is_verified_and_refitted():
    model = loaded("PLQRegressor")
    X, y = SAVED["X"], SAVED["s"]
    assert model.verify(X, y).relative_gap <= 1e-6
    before = model.coef_.copy()
    # The default C is larger since 0.3.0: at noise as large as here, by little.
    np.testing.assert_allclose(model.fit(X, y).coef_, before, atol=0.01)
