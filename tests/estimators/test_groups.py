"""Groups of columns by label, by name and by position."""

from __future__ import annotations

import cvxpy
import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_diabetes
from sklearn.model_selection import GridSearchCV, KFold

import rectiline as rl
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
        ({"age": "g", 0: "h"}, "column 0 is in group 'g' and in group 'h'"),
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


@pytest.mark.parametrize("loss", [rl.losses.Huber(1.0), rl.losses.Absolute()])
def test_a_search_with_sparse_groups_scores_as_direct_fits_do(loss):
    rng = np.random.default_rng(5)
    X = rng.standard_normal((60, 6))
    y = X @ [1.0, 0.5, 0.0, 0.0, 0.0, 0.0] + 0.5 * rng.standard_normal(60)
    penalty = rl.penalties.SparseGroupLinf(0.3, 0.7, [0, 0, 1, 1, 2, 2])
    folds, Cs = list(KFold(3).split(X)), [0.02, 0.2, 2.0]
    search = rl.PLQRegressorCV(loss, penalty=penalty, Cs=Cs, cv=folds, tol=1e-9).fit(X, y)
    for row, C in enumerate(search.cv_results_["param_C"]):
        for k, (train, test) in enumerate(folds):
            direct = rl.PLQRegressor(loss, C=C, penalty=penalty, tol=1e-9).fit(X[train], y[train])
            expected = direct.score(X[test], y[test])
            found = search.cv_results_[f"split{k}_test_score"][row]
            assert found == pytest.approx(expected, abs=2e-4)
    direct = rl.PLQRegressor(loss, C=search.C_, penalty=penalty, tol=1e-9).fit(X, y)
    np.testing.assert_allclose(search.coef_, direct.coef_, atol=1e-4)


def test_fused_is_searched_by_a_grid_as_the_message_says():
    rng = np.random.default_rng(6)
    X = rng.standard_normal((60, 5))
    y = X @ [1.0, 1.0, 1.0, 0.0, 0.0] + 0.3 * rng.standard_normal(60)
    fused = {"loss": "absolute", "penalty": rl.penalties.Fused(1.0), "fit_intercept": False}
    with pytest.raises(ValueError, match="GridSearchCV over C"):
        rl.PLQRegressorCV(**fused).fit(X, y)
    with pytest.raises(ValueError, match="add a column of ones to X"):
        rl.PLQRegressor(loss="absolute", penalty=rl.penalties.Fused(1.0)).fit(X, y)
    grid = GridSearchCV(rl.PLQRegressor(**fused), {"C": [0.01, 0.1, 1.0]}, cv=3).fit(X, y)
    assert grid.best_params_["C"] in (0.1, 1.0) and grid.best_estimator_.status_ == "solved"
    # An unpenalised intercept: a column of ones that Fused leaves out.
    ones = np.column_stack([X, np.ones(60)])
    free = rl.PLQRegressor(
        "absolute", penalty=rl.penalties.Fused(1.0, columns=range(5)), fit_intercept=False, tol=1e-9
    ).fit(ones, y + 7.0)
    b, c = cvxpy.Variable(5), cvxpy.Variable()
    program = cvxpy.Problem(
        cvxpy.Minimize(cvxpy.norm1(X @ b + c - y - 7.0) + cvxpy.norm1(cvxpy.diff(b)))
    )
    program.solve(solver="CLARABEL")
    assert free.certificate_.primal == pytest.approx(program.value, rel=1e-6)
    assert free.coef_[5] == pytest.approx(7.0, abs=0.3)
