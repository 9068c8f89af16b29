"""The data set that ships with the package."""

import numpy as np
import pandas as pd

import rectiline as rl


def test_engel_has_its_rows_and_names():
    bunch = rl.datasets.load_engel()
    assert bunch.data.shape == (235, 1) and bunch.target.shape == (235,)
    np.testing.assert_allclose(bunch.data[0, 0], 420.157650843928)
    np.testing.assert_allclose(bunch.target.sum(), 146675.276159, rtol=1e-10)
    assert "Engel" in bunch.DESCR
    X, y = rl.datasets.load_engel(return_X_y=True, as_frame=True)
    assert isinstance(X, pd.DataFrame) and list(X.columns) == ["income"] and y.name == "foodexp"
    np.testing.assert_array_equal(X.to_numpy(), bunch.data)
