"""The data sets that ship with the package and the generators."""

import numpy as np
import pandas as pd
import pytest

import rectiline as rl

LOADERS = {
    "load_adult_sample": (4000, 8),
    "load_engel": (235, 1),
    "load_stackloss": (21, 3),
    "load_statecrime": (51, 4),
    "load_wine_quality": (1599, 11),
}


@pytest.mark.parametrize("name", LOADERS)
def test_three_ways_to_load_agree(name):
    load = getattr(rl.datasets, name)
    bunch = load()
    assert bunch.data.shape == LOADERS[name] and bunch.target.shape == LOADERS[name][:1]
    assert np.isfinite(bunch.data).all() and bunch.data.flags.c_contiguous
    words = " ".join(bunch.DESCR.split())
    assert any(word in words for word in ("ublic domain", "CC BY 4.0"))
    X, y = load(return_X_y=True, as_frame=True)
    assert isinstance(X, pd.DataFrame) and list(X.columns) == bunch.feature_names
    assert y.name == bunch.target_name
    np.testing.assert_array_equal(X.to_numpy(), bunch.data)
    np.testing.assert_array_equal(load(return_X_y=True)[1], y)


def test_engel_has_its_rows_and_names():
    bunch = rl.datasets.load_engel()
    np.testing.assert_allclose(bunch.data[0, 0], 420.157650843928)
    np.testing.assert_allclose(bunch.target.sum(), 146675.276159, rtol=1e-10)
    assert "Engel" in bunch.DESCR and bunch.feature_names == ["income"]


def test_stackloss_has_the_published_least_squares_fit():
    X, y = rl.datasets.load_stackloss(return_X_y=True)
    fit = np.linalg.lstsq(np.column_stack([np.ones(21), X]), y, rcond=None)[0]
    # Published by Brownlee (1965) and in every textbook since.
    np.testing.assert_allclose(fit, [-39.9197, 0.7156, 1.2953, -0.1521], atol=1e-4)


def test_columns_apart_are_no_features():
    people = rl.datasets.load_adult_sample(as_frame=True)
    assert set(people.male.unique()) == {0.0, 1.0} and "male" not in people.data.columns
    assert people.target.dtype == np.int64
    assert rl.datasets.load_statecrime().state[0] == "Alabama"


def test_generators_depend_on_the_seed_alone():
    def everything(seed):
        demand = np.column_stack(rl.datasets.make_demand(50, random_state=seed))
        return np.column_stack([demand, rl.datasets.make_returns(50, random_state=seed)])

    np.testing.assert_array_equal(everything(0), everything(0))
    assert not np.array_equal(everything(0), everything(1))


def test_generators_refuse_nonsense():
    with pytest.raises(ValueError, match="n_days=0: must be a positive integer"):
        rl.datasets.make_demand(0)
    with pytest.raises(ValueError, match="n_assets=-1: must be a positive integer"):
        rl.datasets.make_returns(10, -1)
