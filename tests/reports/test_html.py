"""The HTML report: what it says, and that a browser shows it without network or errors."""

from __future__ import annotations

import re
import shutil
import subprocess
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
        assert f"<td>{name}</td><td class=n>{value:.8g}</td>" in page
    for title in ("The problem", "Coefficients", "Residuals", "Constraints", "How to verify"):
        assert f"<h2>{title}</h2>" in page
    assert not re.search(r"(src|href)=|url\(|@import|<script[^>]", page)
    assert page.count("<script>") == 1  # the checker of the certificate


def test_an_infeasible_problem_has_a_page_too(tmp_path: Path) -> None:
    problem, solution = fitted(infeasible=True)
    write_report(tmp_path / "fit.html", problem, solution)
    assert "no coefficients satisfy the constraints" in (tmp_path / "fit.html").read_text("utf-8")


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
    shown = f"<td>a</td><td class=n>0</td><td class=n>{solution.coef[0]:.6g}</td><td class=n>∞</td>"
    assert shown in page and "float(" not in page
    at_bound = np.isin(solution.coef[:2], [0.0, 1.0]).sum()
    assert f"Bounded coefficients: 2, at a bound: {at_bound}." in page
