"""Groups of columns by label, by name and by position."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_diabetes

from rectiline.estimators import PLQRegressor, PLQRegressorCV
from rectiline.penalties import GroupLinf

X, Y = load_diabetes(return_X_y=True, as_frame=True)
LABELS = ["person"] * 2 + ["body"] * 2 + ["serum"] * 6
BY_LABEL = {"person": ["age", "sex"], "body": ["bmi", "bp"], "serum": [4, 5, 6, 7, 8, "s6"]}
SAME = [
    LABELS,
    np.array(LABELS),
    pd.Series(LABELS),
    [0, 0, 1, 1, 2, 2, 2, 2, 2, 2],
    BY_LABEL,
    list(BY_LABEL.values()),
    dict(zip(X.columns, LABELS, strict=True)),
    dict(enumerate(LABELS)),
]


def fitted(groups, data=X):
    return PLQRegressor(penalty="group", penalty_params={"groups": groups}, C=1.0).fit(data, Y)


@pytest.mark.parametrize("groups", SAME, ids=lambda groups: type(groups).__name__)
def test_all_ways_of_writing_groups_are_one(groups):
    expected = PLQRegressor(penalty=GroupLinf(1.0, LABELS)).fit(X, Y)
    np.testing.assert_array_equal(fitted(groups).coef_, expected.coef_)


def test_columns_in_no_group_pay_nothing():
    some = {"serum": [f"s{k}" for k in range(1, 7)]}
    expected = PLQRegressor(penalty=GroupLinf(1.0, [[4, 5, 6, 7, 8, 9]])).fit(X, Y)
    np.testing.assert_array_equal(fitted(some).coef_, expected.coef_)


def test_a_search_keeps_the_groups():
    parameters = {"groups": BY_LABEL}
    model = PLQRegressorCV(Cs=4, penalty="group", penalty_params=parameters, cv=3).fit(X, Y)
    assert model.path_.relative_gaps.max() <= 1e-6
    sizes = np.abs(model.path_.coefs[1])
    assert sizes[2] == pytest.approx(sizes[3], rel=1e-6)  # the largest of a group tie


@pytest.mark.parametrize(
    ("groups", "message"),
    [
        ({"g": ["agee"]}, "no column 'agee'"),
        ({"agee": "g"}, "no column 'agee'"),
        ({"g": ["age"], "h": ["sex", "age"]}, "'age' is in group 'g' and in group 'h'"),
        ({"g": ["age", "age"]}, "'age' is in group 'g' and in group 'g'"),
        ({"age": "g", 0: "h"}, "two labels"),
        ({"g": []}, "'g' is empty"),
        ({}, "no group"),
        ({"age": 0.5}, "label 0.5"),
        ({"g": ["age"], "sex": "h"}, "'h' is not"),
        (LABELS[:4], "4 labels for 10 columns"),
        ("age", "one label per column"),
        (7, "one label per column"),
        ([["age", 11]], "column 11 does not exist"),
    ],
)
def test_wrong_groups(groups, message):
    with pytest.raises((ValueError, TypeError), match=message):
        fitted(groups)


def test_names_need_a_frame():
    with pytest.raises(ValueError, match="no column names"):
        fitted(BY_LABEL, X.to_numpy())
    with pytest.raises(ValueError, match="needs penalty_params"):
        PLQRegressor(penalty="group").fit(X, Y)
