"""`model.report` writes a page about the fit, for every kind of fit."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest
from sklearn.datasets import load_diabetes, load_iris
from sklearn.exceptions import NotFittedError

import rectiline as rl
from rectiline.constraints import Fairness

X, Y = load_diabetes(return_X_y=True, as_frame=True)
IRIS = load_iris(return_X_y=True, as_frame=True)
LEVELS = {"quantile": [0.8, 0.2], "alpha": 0.01}
CASES = {
    "regressor": (rl.PLQRegressor(constraints={"bmi": ">=0"}), X, Y),
    "outputs": (rl.PLQRegressor("absolute", penalty="l1"), X, np.c_[Y, np.sqrt(Y)]),
    "classifier": (rl.PLQClassifier(), *IRIS),
    "ovo": (rl.PLQClassifier(multi_class="ovo"), *IRIS),
    "quantile": (rl.QuantileRegressor(quantile=0.3, alpha=0.02), X, Y),
    "quantiles": (rl.QuantileRegressor(**LEVELS), X, Y),
    "non-crossing": (rl.QuantileRegressor(non_crossing=True, **LEVELS), X, Y),
    "shared": (rl.QuantileRegressor(shared_slopes=True, **LEVELS), X, Y),
    "search": (rl.PLQRegressorCV("absolute", Cs=3, cv=2), X, Y),
}


def listed(value: object) -> list[object]:
    return list(value) if isinstance(value, tuple) else [value]


@pytest.mark.parametrize("name", CASES)
def test_the_page_shows_the_problems_of_the_fit(name: str, tmp_path: Path) -> None:
    model, data, target = CASES[name]
    page = tmp_path / "fit.html"
    before = set(vars(model.fit(data, target)))
    model.report(page, data, target)
    assert set(vars(model)) == before
    text = page.read_text("utf-8")
    problems = listed(model.problem(data, target))
    assert text.count("<h2>The certificate</h2>") == len(problems)
    coef = np.atleast_2d(model.coef_)
    joint = len(problems) != coef.shape[0]  # several quantiles in one problem
    for row, title in zip(coef, model._coef_titles(), strict=True):
        if not joint and len(coef) > 1:
            assert f'<h1 class="part">{title}</h1>' in text
        for column, value in zip(data.columns, row, strict=True):
            shown = rf"{re.escape(column)}( at {title})?" if joint else re.escape(column)
            assert re.search(rf"<td>{shown}</td><td class=n>{re.escape(f'{value:.8g}')}<", text)


def test_standard_errors_and_groups_are_shown(tmp_path: Path) -> None:
    page = tmp_path / "fit.html"
    model = rl.QuantileRegressor(alpha=0).fit(X, Y)
    model.report(page, X, Y, inference="nid")
    error = model.summary(X, Y, "nid").to_html()
    assert "<h2>Standard errors</h2>" in page.read_text("utf-8")
    assert error in page.read_text("utf-8")
    kept = rl.QuantileRegressor(alpha=0, inference="iid").fit(X, Y)
    kept.report(page, X, Y)
    assert kept.summary_.to_html() in page.read_text("utf-8")
    group = np.where(IRIS[0].iloc[:, 0] > 5.8, "long", "short")
    fair = rl.PLQClassifier(constraints=[Fairness(tolerance=0.01)])
    fair.fit(IRIS[0], IRIS[1] > 0, sensitive_features=group)
    fair.report(page, IRIS[0], IRIS[1] > 0, sensitive_features=group)
    text = page.read_text("utf-8")
    assert "<h2>Fairness</h2>" in text and "<h2>Constraints</h2>" in text
    assert f"{fair.fairness_['mean_decision'][0]:.4g}" in text


@pytest.mark.parametrize("name", ["regressor", "classifier", "quantiles"])
def test_a_page_about_rows_in_blocks_says_what_that_of_arrays_does(
    name: str, tmp_path: Path
) -> None:
    model, data, target = CASES[name]
    rows = rl.rows.from_arrays(np.asarray(data), np.asarray(target), block_rows=50)
    shown = []
    given = {"constraints": {2: ">=0"}} if name == "regressor" else {}
    for fitted_on in ((np.asarray(data), np.asarray(target)), (rows,)):
        page = tmp_path / "fit.html"
        make = type(model)(**(model.get_params() | given | {"tol": 1e-9}))
        make.fit(*fitted_on).report(page, *fitted_on)
        text = page.read_text("utf-8")
        found = re.findall(r"95 %: ([-0-9.]+), ([-0-9.]+), ([-0-9.]+)\.<", text)
        shown.append(np.array(found, dtype=float))
        assert "relative gap" in text
    assert shown[0].size
    np.testing.assert_allclose(shown[1], shown[0], rtol=2e-3, atol=2e-3)


def test_wrong_use_is_named_and_writes_nothing(tmp_path: Path) -> None:
    page = tmp_path / "fit.html"
    model = rl.PLQRegressor().fit(X, Y)
    with pytest.raises(ValueError, match="report needs the data of the fit: it had 442 samples"):
        model.report(page, X[:9], Y[:9])
    with pytest.raises(NotFittedError):
        rl.PLQRegressor().report(page, X, Y)
    two = rl.PLQClassifier().fit(IRIS[0], IRIS[1] > 0)
    with pytest.raises(ValueError, match="No valid standard errors: the fit has a penalty"):
        two.report(page, IRIS[0], IRIS[1] > 0, inference="iid")
    assert not page.exists()


def test_titles_and_solutions_must_fit(tmp_path: Path) -> None:
    problem = rl.PLQRegressor().problem(X, Y)
    solution = rl.solve(problem)
    write = rl.reports.write_report
    with pytest.raises(ValueError, match="There are 2 problems but 1 solutions"):
        write(tmp_path / "a.html", [problem, problem], solution)
    with pytest.raises(ValueError, match="titles has 1 entries for 2 problems"):
        write(tmp_path / "a.html", [problem] * 2, [solution] * 2, titles=["one"])
    write(tmp_path / "a.html", [problem] * 13, [solution] * 13)
    assert "the first 12 of 13 problems" in (tmp_path / "a.html").read_text("utf-8")
