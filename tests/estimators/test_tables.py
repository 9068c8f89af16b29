"""Tables with texts, categories, booleans, dates and missing cells, from three libraries."""

import datetime

import numpy as np
import pandas as pd
import pytest

import rectiline as rl

RNG = np.random.default_rng(3)
N = 120
CITY = RNG.choice(["Bergen", "Lima", "Oslo"], N)
KIND = RNG.choice(["x", "y"], N)
SMOKES = RNG.random(N) < 0.4
DAY = [datetime.date(2020, 1, 1) + datetime.timedelta(days=int(k)) for k in RNG.integers(0, 90, N)]
AGE = RNG.uniform(20, 60, N)
Y = 0.1 * AGE + 2.0 * (CITY == "Oslo") + SMOKES + RNG.standard_normal(N)
COLUMNS = {"city": CITY, "age": AGE, "kind": KIND, "smokes": SMOKES, "day": DAY}


def pandas_table():
    table = pd.DataFrame(COLUMNS)
    return table.assign(kind=table["kind"].astype("category"), day=pd.to_datetime(table["day"]))


def polars_table():
    pl = pytest.importorskip("polars")
    return pl.DataFrame(COLUMNS).with_columns(pl.col("kind").cast(pl.Categorical))


def arrow_table():
    pa = pytest.importorskip("pyarrow")
    columns = {name: pa.array(list(one)) for name, one in COLUMNS.items()}
    return pa.table(columns | {"kind": columns["kind"].dictionary_encode()})


TABLES = {"pandas": pandas_table, "polars": polars_table, "pyarrow": arrow_table}
DAYS = np.array([(one - datetime.date(1970, 1, 1)).days for one in DAY], dtype=float)
HAND = np.column_stack(
    [CITY[:, None] == ["Bergen", "Lima", "Oslo"], AGE, KIND[:, None] == ["x", "y"], SMOKES, DAYS]
).astype(float)


@pytest.mark.parametrize("library", TABLES)
def test_onehot_is_what_one_would_do_by_hand(library):
    X = TABLES[library]()
    model = rl.PLQRegressor("huber", categorical="onehot", C=1.0, tol=1e-9).fit(X, Y)
    hand = rl.PLQRegressor("huber", C=1.0, tol=1e-9).fit(HAND, Y)
    assert model.certificate_.primal == pytest.approx(hand.certificate_.primal, rel=1e-6)
    np.testing.assert_allclose(model.predict(X), hand.predict(HAND), atol=1e-3)
    assert model.feature_names_in_.tolist() == [
        *("city=Bergen", "city=Lima", "city=Oslo", "age", "kind=x", "kind=y", "smokes", "day")
    ]
    assert model.score(X, Y) == pytest.approx(hand.score(HAND, Y), abs=1e-4)
    assert model.coef_frame().shape[0] == 9


@pytest.mark.parametrize("library", TABLES)
def test_texts_are_refused_by_column_and_value(library):
    with pytest.raises(ValueError, match=r"column 'city' holds .* in row 0.*categorical='onehot'"):
        rl.PLQClassifier().fit(TABLES[library](), Y.mean() < Y)


def test_without_a_penalty_the_first_level_is_the_reference():
    X = pandas_table()
    model = rl.QuantileRegressor(alpha=0, categorical="onehot").fit(X, Y)
    assert "city=Bergen" not in model.feature_names_in_ and model.coef_.size == 6
    assert model.summary(X, Y, kind="nid").names[1:3] == ("city=Lima", "city=Oslo")


@pytest.mark.parametrize("library", TABLES)
def test_missing_cells(library):
    holes = dict(COLUMNS)
    holes["age"] = np.where(np.arange(N) == 7, np.nan, AGE)
    holes["city"] = np.array(CITY, dtype=object)
    holes["city"][11] = None
    if library == "pandas":
        X = pd.DataFrame(holes)
    elif library == "polars":
        X = pytest.importorskip("polars").DataFrame({k: list(v) for k, v in holes.items()})
    else:
        pa = pytest.importorskip("pyarrow")
        X = pa.table({name: pa.array(list(one)) for name, one in holes.items()})
    model = rl.PLQRegressor("absolute", categorical="onehot", C=1.0)
    with pytest.raises(ValueError, match="row 11, column 'city'"):
        model.fit(X, Y)
    model.set_params(missing="drop").fit(X, Y, np.ones(N))
    used = np.setdiff1d(np.arange(N), [7, 11])
    hand = rl.PLQRegressor("absolute", C=1.0).fit(HAND[used], Y[used])
    assert model.certificate_.primal == pytest.approx(hand.certificate_.primal, rel=1e-5)
    assert model.dual_coef_.size == N - 2
    assert model.verify(X, Y, np.ones(N)).relative_gap <= 1e-6


def test_missing_numbers_name_row_and_column():
    X = pd.DataFrame({"a": AGE, "b": np.where(np.arange(N) == 5, np.nan, AGE)})
    with pytest.raises(ValueError, match=r"contains NaN in row 5, column 'b'"):
        rl.PLQRegressor().fit(X, Y)
    with pytest.raises(ValueError, match=r"contains NaN in row 5, column 1"):
        rl.PLQRegressor().fit(X.to_numpy(), Y)
    X["a"], targets = RNG.standard_normal(N), np.where(np.arange(N) == 3, np.nan, Y)
    model = rl.QuantileRegressor(alpha=0, missing="drop").fit(X, targets)
    assert model.dual_coef_.size == N - 2
    groups, used = np.arange(N) % 20, np.setdiff1d(np.arange(N), [3, 5])
    table = model.summary(X, targets, kind="cluster", groups=groups)
    hand = rl.QuantileRegressor(alpha=0).fit(X.iloc[used], Y[used])
    expected = hand.summary(X.iloc[used], Y[used], kind="cluster", groups=groups[used])
    np.testing.assert_allclose(table.std_error, expected.std_error, rtol=1e-6)


def test_new_levels_of_categories():
    X = pandas_table()
    new = X.iloc[:2].assign(city=["Quito", "Oslo"])
    model = rl.PLQRegressor("absolute", categorical="onehot", C=1.0).fit(X, Y)
    with pytest.raises(ValueError, match="'city' holds 'Quito' in row 0"):
        model.predict(new)
    model.set_params(new_levels="zero").fit(X, Y)
    without = model.coef_[[0, 1, 2]]
    oslo = model.predict(new.assign(city="Oslo"))
    np.testing.assert_allclose(model.predict(new), oslo - [without[2], 0.0])


def test_columns_in_another_order_are_refused():
    X = pandas_table()
    model = rl.PLQRegressor("absolute", categorical="onehot", C=1.0).fit(X, Y)
    with pytest.raises(ValueError, match="same order"):
        model.predict(X[["age", "city", "kind", "smokes", "day"]])
    with pytest.raises(ValueError, match="had 5"):
        model.predict(X[["age"]])


def test_searches_and_classifiers_take_tables():
    X = pandas_table()
    labels = np.where(np.median(Y) < Y, "up", "down")
    search = rl.PLQClassifierCV(Cs=3, cv=3, categorical="onehot").fit(X, labels)
    assert search.score(X, labels) > 0.6
    quantiles = rl.QuantileRegressorCV(alphas=3, cv=3, categorical="onehot").fit(X, Y)
    assert quantiles.predict(X).shape == (N,)
    rows = rl.rows.from_arrays(HAND, Y)
    with pytest.raises(ValueError, match="categorical"):
        rl.PLQRegressor("absolute", C=1.0, categorical="onehot").fit(rows)
