"""`model.report` writes a page about the fit, for every kind of fit."""

from __future__ import annotations

import pickle
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
    for row, title in zip(coef, model._coef_titles(), strict=True):
        if len(coef) > 1:
            assert f'<h1 class="part">{title}</h1>' in text
        for column, value in zip(data.columns, row, strict=True):
            shown = re.escape(column)
            assert re.search(rf"<td>{shown}</td><td>{re.escape(f'{value:.8g}')}<", text)
    assert f"<td>{len(data):,} × {data.shape[1]}</td>" in text


def test_quantiles_that_must_not_cross_are_shown_one_by_one(tmp_path: Path) -> None:
    page = tmp_path / "fit.html"
    rule = rl.constraints.LinearInequality(np.eye(10)[2], -350.0)  # bmi >= 350
    model = rl.QuantileRegressor(
        quantile=[0.9, 0.4, 0.5], alpha=0.0, non_crossing=True, constraints=[rule]
    ).fit(X, Y)
    model.report(page, X, Y)
    text = page.read_text("utf-8")
    assert "1,326" not in text and " at 0.9</td>" not in text
    assert "The 3 quantiles are fitted together" in text
    shown = re.compile(r"<td>bmi &gt;= 350</td><td>\S+</td><td>(\S+)</td>")
    compared = 0
    for level, coef in zip(model.quantiles_, model.coef_, strict=True):
        alone = rl.QuantileRegressor(quantile=level, alpha=0.0, constraints=[rule]).fit(X, Y)
        part = text.split(f'<h1 class="part">{level}</h1>')[1].split("<h1")[0]
        if np.allclose(alone.coef_, coef, atol=1e-5):  # it crosses no other
            compared += 1
            price = shown.findall(part)[0]
            assert float(price) == pytest.approx(alone.solution_.dual.inequality[0], rel=1e-3)
    assert compared


LISTED = [X.to_numpy()[:200], X.to_numpy()[200:]], [Y.to_numpy()[:200], Y.to_numpy()[200:]]
TASKS = np.where(np.arange(len(Y)) % 3, "odd", "third")
TASK_FITS = {
    "stacked": (rl.MultiTaskRegressor(beta=1e-3), X, Y, {"tasks": TASKS}),
    "listed": (rl.MultiTaskRegressor("absolute"), *LISTED, {}),
    "shared": (rl.MultiTaskRegressor(center=True), X, np.c_[Y, np.sqrt(Y)], {}),
    "labels": (rl.MultiTaskClassifier(), X, Y > 140, {"tasks": TASKS}),
    "search": (rl.MultiTaskRegressorCV(alphas=[1.0], betas=[1e-3, 0.1], cv=2), X, Y, {}),
}


@pytest.mark.parametrize("name", TASK_FITS)
def test_the_page_of_tasks_shows_each_task_and_one_proof(name: str, tmp_path: Path) -> None:
    model, data, target, given = TASK_FITS[name]
    page = tmp_path / "fit.html"
    model.fit(data, target, **given).report(page, data, target, **given)
    text = page.read_text("utf-8")
    assert text.count("<h2>The certificate</h2>") == 1
    assert text.count("<h2>Coefficients</h2>") == len(model.tasks_)
    for task, row in zip(model.tasks_, model.coef_, strict=True):
        assert len(model.tasks_) == 1 or f'<h1 class="part">{task}</h1>' in text
        assert all(f"<td>{value:.8g}<" in text for value in row)
    if name == "labels":
        rows = TASKS == "odd"
        right = np.mean(model.predict(X, TASKS)[rows] == (Y > 140)[rows])
        assert f"<td>odd</td><td>{right:.4f}</td>" in text
    problem = model.problem(data, target, **given)
    for found in (model, pickle.loads(pickle.dumps(model))):
        proof = found.verify(data, target, **given)
        assert proof.relative_gap < 2e-6
        assert proof.primal == pytest.approx(problem.objective(model.coef_.T, model.intercept_))
    with pytest.raises(ValueError, match="verify needs the data of the fit"):
        model.verify(X.iloc[:100], Y.iloc[:100] > 140, tasks=TASKS[:100])
    model.save_certificate(tmp_path / "fit.rlcert", data, target, **given)
    blocks = list(zip(data, target, strict=True)) if name == "listed" else [(data, target)]
    (found,) = rl.verify.check_all(tmp_path / "fit.rlcert", blocks)
    assert found.gap < 2e-6 * found.objective


def test_the_page_names_the_parameters_and_the_target(tmp_path: Path) -> None:
    page = tmp_path / "fit.html"
    model = rl.QuantileRegressor(quantile=0.3, alpha=0.02).fit(X, Y)
    model.report(page, X, Y.rename("progression"), about={"data": "diabetes.csv"})
    text = page.read_text("utf-8")
    assert "<td>model</td><td>QuantileRegressor(alpha=0.02, quantile=0.3)</td>" in text
    assert "<td>target</td><td>progression</td>" in text
    assert "<td>data</td><td>diabetes.csv</td>" in text


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
