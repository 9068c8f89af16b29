"""The HTML report: what it says, and that a browser shows it without network or errors."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import rectiline as rl
from rectiline.reports import write_report

CHROMIUM = shutil.which("chromium")
FLAGS = [
    "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
    "--disable-background-networking", "--disable-component-update", "--disable-sync",
    "--enable-logging=stderr", "--virtual-time-budget=2000",
]  # fmt: skip


def fitted(infeasible: bool = False) -> tuple[rl.Problem, rl.Solution]:
    rng = np.random.default_rng(3)
    X = rng.standard_normal((80, 3))
    y = X @ [1.0, 0.0, -2.0] + rng.standard_normal(80)
    rules = [rl.constraints.Nonnegative(), rl.constraints.LinearInequality([[-1.0, 0, 0]], [0.5])]
    if infeasible:
        rules.append(rl.constraints.LinearInequality([[1.0, 0, 0]], [-1.0]))
    problem = rl.Problem(X, y, rl.losses.Huber(1.0), rl.penalties.L1(0.5), rules)
    return problem, rl.solve(problem)


def test_the_page_tells_the_numbers_of_the_solution(tmp_path: Path) -> None:
    problem, solution = fitted()
    write_report(tmp_path / "fit.html", problem, solution, feature_names=["a<b", "mass", "age"])
    page = (tmp_path / "fit.html").read_text("utf-8")
    assert f"{solution.certificate.relative_gap:.2e}" in page
    assert f"{solution.objective:.12g}" in page
    for name, value in zip(["a&lt;b", "mass", "age"], solution.coef, strict=True):
        assert f"<td>{name}</td><td>{value:.8g}</td>" in page
    for title in ("The problem", "Coefficients", "Residuals", "Constraints", "How to verify"):
        assert f"<h2>{title}</h2>" in page
    outside = (
        r"(src|href)=\"?[^\"#]|url\([^#]|@import|<script[^>]"  # references within the page will do
    )
    assert not re.search(outside, page)
    assert page.count("<script>") == 1  # the checker of the certificate


def test_an_infeasible_problem_has_a_page_too(tmp_path: Path) -> None:
    problem, solution = fitted(infeasible=True)
    write_report(tmp_path / "fit.html", problem, solution)
    assert "no coefficients satisfy the constraints" in (tmp_path / "fit.html").read_text("utf-8")


def test_without_matplotlib_the_page_says_so(tmp_path: Path, monkeypatch) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    problem, solution = fitted()
    write_report(tmp_path / "fit.html", problem, solution)
    page = (tmp_path / "fit.html").read_text("utf-8")
    assert "Pictures need matplotlib" in page and "<svg" not in page
    assert f"{solution.objective:.12g}" in page


def test_names_must_fit(tmp_path: Path) -> None:
    problem, solution = fitted()
    with pytest.raises(ValueError, match="feature_names has 2 entries but X has 3 columns"):
        write_report(tmp_path / "fit.html", problem, solution, feature_names=["a", "b"])
    assert not (tmp_path / "fit.html").exists()


@pytest.mark.skipif(CHROMIUM is None, reason="needs chromium")
def test_a_browser_shows_it(tmp_path: Path) -> None:
    problem, solution = fitted()
    write_report(tmp_path / "fit.html", problem, solution)
    page, picture = tmp_path / "fit.html", tmp_path / "page.png"
    profile = f"--user-data-dir={tmp_path / 'profile'}"
    command = [CHROMIUM, *FLAGS, profile, f"--screenshot={picture}", "--dump-dom", page.as_uri()]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0
    assert f"{solution.objective:.12g}" in done.stdout
    assert done.stdout.count("<svg") >= 3
    assert "CONSOLE" not in done.stderr


def test_bounds_are_listed_by_name(tmp_path: Path) -> None:
    X, y = np.eye(3), [1.0, -2.0, 3.0]
    problem = rl.Problem(
        X,
        y,
        "absolute",
        "l2",
        constraints=[{"a": ">=0"}, {"b": (0.0, 1.0)}],
        feature_names=list("abc"),
    )
    solution = rl.solve(problem)
    write_report(tmp_path / "fit.html", problem, solution)
    page = (tmp_path / "fit.html").read_text("utf-8")
    shown = f"<td>a</td><td>0</td><td>{solution.coef[0]:.6g}</td><td>∞</td>"
    assert shown in page and "float(" not in page
    at_bound = np.isin(solution.coef[:2], [0.0, 1.0]).sum()
    assert f"Bounded coefficients: 2, at a bound: {at_bound}." in page


def test_notebooks_show_problems_solutions_certificates_and_paths():
    problem, solution = fitted()
    path = rl.path(rl.Problem(np.eye(3), [1.0, 2.0, 3.0], "absolute", "l1"), n_strengths=4)
    for one, words in (
        (problem, ("Problem", "80 x 3", "Huber(delta=1.0)", "L1(strength=0.5)")),
        (solution, ("Solution", "solved", f"{solution.objective:.8g}", solution.solver)),
        (solution.certificate, ("Certificate", f"{solution.certificate.dual:.8g}")),
        (path, ("Path", f"{path.strengths[1]:.8g}", f"{path.solutions[2].objective:.8g}")),
    ):
        shown = one._repr_html_()
        assert shown.startswith("<table>") and all(word in shown for word in words), shown


def test_the_page_scores_the_fit_beside_a_constant(tmp_path):
    X, y = rl.datasets.load_engel(return_X_y=True)
    model = rl.PLQRegressor("absolute").fit(X, y)
    model.report(tmp_path / "a.html", X, y, about={"data": "Engel", "target": "food"})
    page = (tmp_path / "a.html").read_text("utf-8")
    for word in ("Engel", "food", f"rectiline {rl.__version__}", f"{model.score(X, y):.4f}"):
        assert f">{word}<" in page
    assert f"{np.abs(y - np.median(y)).mean():.6g}" in page
    assert f"the objective {model.certificate_.primal:.10g} is proved" in page
    labels = np.where(y > 500, "much", "little")
    svm = rl.PLQClassifier().fit(X, labels)
    svm.report(tmp_path / "b.html", X, labels)
    page = (tmp_path / "b.html").read_text("utf-8")
    right = np.sum((svm.predict(X) == "much") & (labels == "much"))
    assert f"Accuracy {svm.score(X, labels):.4f}" in page
    assert re.search(rf"<td>much</td><td>\d+</td><td>{right}</td>", page)
    levels = [0.1, 0.9]
    both = rl.QuantileRegressor(quantile=levels, alpha=0).fit(X, y)
    both.report(tmp_path / "c.html", X, y)
    page = (tmp_path / "c.html").read_text("utf-8")
    share = np.mean(y <= both.predict(X)[:, 1] + 1e-6)
    assert f"<td>0.9</td><td>{share:.4f}</td>" in page
    mean = both.certificate_[0].primal
    assert f"the objective {mean:.10g} is proved" in page


def test_constraints_are_named_with_their_shadow_prices(tmp_path):
    problem, solution = fitted()
    write_report(tmp_path / "a.html", problem, solution, feature_names=["a", "b", "c"])
    page = (tmp_path / "a.html").read_text("utf-8")
    price = f"{solution.dual.inequality[0]:.4g}"
    assert "shadow price" in page and "<td>a &lt;= 0.5</td>" in page and price in page


def test_the_page_of_a_search_shows_its_curve_and_what_was_chosen(tmp_path):
    X, y = rl.datasets.load_stackloss(return_X_y=True)
    model = rl.PLQRegressorCV("huber", Cs=4, cv=3).fit(X, y)
    model.report(tmp_path / "a.html", X, y)
    page = (tmp_path / "a.html").read_text("utf-8")
    best = model.cv_results_["mean_test_score"].max()
    assert f"Chosen among 4 candidates: C = {model.C_:.4g}; mean score {best:.6g}." in page
    section = page[page.index("<h2>Search</h2>") :]
    assert section.index("<svg") < section.index("<h2>Coefficients</h2>")
    both = rl.PLQRegressorCV(
        "absolute", penalty="elasticnet", l1_ratios=[0.2, 0.8], Cs=3, cv=3
    ).fit(X, y)
    both.report(tmp_path / "b.html", X, y)
    page = (tmp_path / "b.html").read_text("utf-8")
    assert "Chosen among 6 candidates" in page and "l1_ratio = 0.8" in page
