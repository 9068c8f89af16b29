"""Constraints written as texts, mappings and lists, for problems and estimators."""

import pickle

import numpy as np
import pandas as pd
import pytest

import rectiline as rl
from rectiline.constraints import (
    Box,
    LinearConstraint,
    LinearEquality,
    LinearInequality,
    Nonnegative,
    named_constraints,
)

NAMES = np.array(["age", "sex", "body mass"], dtype=object)
RNG = np.random.default_rng(0)
X = pd.DataFrame(RNG.standard_normal((60, 3)), columns=NAMES)
Y = X @ [1.0, -2.0, 0.5] + RNG.standard_normal(60)


def made(given, **options):
    return named_constraints(given, names=NAMES, n_features=3, **options)


def test_texts_become_rows_and_bounds():
    assert made("nonnegative") == [Nonnegative()]
    assert made("age + sex >= 0") == [LinearInequality([[1.0, 1.0, 0.0]], [0.0])]
    assert made("age + sex <= 2*`body mass` + 1") == [LinearInequality([[-1, -1, 2]], [1.0])]
    assert made(["age = sex"]) == [LinearEquality([[1.0, -1.0, 0.0]], [0.0])]
    infinity = np.inf
    assert made("-2 * sex >= 3") == [Box([-infinity] * 3, [infinity, -1.5, infinity])]
    assert made("sex == 3") == [
        Box([-infinity, 3, -infinity], [infinity, 3, infinity]),
    ]
    low, high = made("0 <= sex <= 1")
    assert low.lower[1] == 0.0 and high.upper[1] == 1.0


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("age", 'write it as "bmi >= 0"'),
        ("ages >= 0", "no column 'ages'. Did you mean 'age'"),
        ("q >= 0", "its columns are 'age', 'sex', 'body mass'"),
        ("age * sex >= 0", "not a linear expression"),
        ("age + >= 0", "not a linear expression"),
        ("1 >= 0", "names no column"),
    ],
)
def test_wrong_texts_are_refused(text, message):
    with pytest.raises(ValueError, match=message):
        made(text)
    with pytest.raises(ValueError, match="X has no column names"):
        named_constraints("age >= 0", names=None, n_features=3)


@pytest.mark.parametrize(
    ("named", "plain"),
    [
        (LinearEquality({"age": 1, "sex": -1}), LinearEquality([[1.0, -1, 0]])),
        (LinearEquality({0: 1, "sex": -1}, 2.0), LinearEquality([[1.0, -1, 0]], 2.0)),
        (
            LinearInequality([{"age": 1}, {"body mass": 2, "sex": 1}], [0.0, 1.0]),
            LinearInequality([[1.0, 0, 0], [0, 1, 2]], [0.0, 1.0]),
        ),
        (LinearConstraint({"sex": 2.0}, 0.0, 1.0), LinearConstraint([[0, 2.0, 0]], 0.0, 1.0)),
    ],
)
def test_rows_by_name(named, plain):
    (found,) = made(named)
    for part in ("A", "c", "E", "f"):
        ours, theirs = (getattr(one.rows(3), part) for one in (found, plain))
        ours = ours.toarray() if hasattr(ours, "toarray") else ours
        np.testing.assert_array_equal(ours, theirs)
    assert eval(repr(named), vars(rl.constraints)) == named
    assert pickle.loads(pickle.dumps(named)) == named
    assert hash(named) != hash(plain)
    with pytest.raises(ValueError, match="names columns"):
        named.rows(3)
    with pytest.raises(ValueError, match="no column 'agee'"):
        made(LinearEquality({"agee": 1}))


def test_problems_and_estimators_take_texts():
    plain = LinearEquality([1.0, 1.0, 0.0], 0.0)
    solved = rl.solve(rl.Problem(X, Y, "squared_error", None, plain), tol=1e-10)
    for given in ("age + sex = 0", LinearEquality({"age": 1, "sex": 1})):
        again = rl.solve(rl.Problem(X, Y, "squared_error", None, given), tol=1e-10)
        np.testing.assert_allclose(again.coef, solved.coef, atol=1e-8)
        model = rl.PLQRegressor("squared_error", penalty=None, constraints=given, tol=1e-10)
        np.testing.assert_allclose(model.fit(X, Y).coef_, solved.coef, atol=1e-6)
    model = rl.PLQRegressor("squared_error", penalty=None, constraints="nonnegative").fit(X, Y)
    assert model.coef_.min() == 0.0


def test_directions_as_a_list():
    listed = rl.PLQRegressor("huber", monotone=[0, 1, -1]).fit(X, Y)
    mapped = rl.PLQRegressor("huber", monotone={"sex": 1, "body mass": -1}).fit(X, Y)
    np.testing.assert_array_equal(listed.coef_, mapped.coef_)
    with pytest.raises(ValueError, match="monotone has 2 entries but X has 3 columns"):
        rl.PLQRegressor("huber", monotone=[1, -1]).fit(X, Y)


def test_weights_of_l1_by_name():
    options = {"loss": "huber", "penalty": "l1", "C": 0.05}
    named = rl.PLQRegressor(**options, penalty_params={"weights": {"sex": 0.0, 2: 3.0}})
    plain = rl.PLQRegressor(**options, penalty_params={"weights": [1.0, 0.0, 3.0]})
    np.testing.assert_array_equal(named.fit(X, Y).coef_, plain.fit(X, Y).coef_)
    wrong = rl.PLQRegressor(**options, penalty_params={"weights": {"sexe": 0.0}})
    with pytest.raises(ValueError, match="Did you mean 'sex'"):
        wrong.fit(X, Y)


def test_hints_about_names_of_other_libraries():
    with pytest.raises(ValueError, match=r"logistic loss is not piecewise.*'smoothed_hinge'"):
        rl.losses.get("log_loss")
    with pytest.raises(ValueError, match="Did you mean None"):
        rl.PLQRegressor("huber", penalty="none").fit(X, Y)
