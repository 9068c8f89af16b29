"""One set of supported versions: pyproject.toml, the page, the oldest environment, the recipe."""

import re
import tomllib
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
LEAST = dict(re.fullmatch(r"([\w-]+)>=([\d.]+)", one).groups() for one in PROJECT["dependencies"])


def numbers(version):
    """Return a version as numbers, without zeros at its end."""
    parts = [int(one) for one in version.split(".")]
    while len(parts) > 1 and parts[-1] == 0:
        parts.pop()
    return parts


def test_the_page_shows_what_pyproject_asks_for():
    page = (ROOT / "docs" / "versions.rst").read_text("utf-8")
    shown = dict(re.findall(r"\* - ([\w-]+)[^\n]*\n     - ([\d.]+)\n", page))
    shown = {name.lower(): version for name, version in shown.items()}
    for name in ("numpy", "scipy", "scikit-learn", "highspy"):
        assert shown[name] == LEAST[name]
    assert f">={shown['python']}" == PROJECT["requires-python"]
    assert f"{LEAST['joblib']}, {LEAST['threadpoolctl']}" in page


def test_the_oldest_environment_has_the_oldest_versions():
    makefile = (ROOT / "Makefile").read_text("utf-8")
    pinned = dict(re.findall(r"([\w-]+)==([\d.]+)", makefile))
    for name, version in LEAST.items():
        least, tested = numbers(version), numbers(pinned[name])
        assert tested[: len(least)] == least, f"{name}: {pinned[name]} for >={version}"


def test_the_recipe_agrees():
    recipe = (ROOT / "recipe" / "meta.yaml").read_text("utf-8")
    assert f'version = "{PROJECT["version"]}"' in recipe
    run = recipe.split("  run:")[1].split("  run_constrained:")[0]
    assert dict(re.findall(r"- ([\w-]+) >=([\d.]+)", run)) == LEAST


def test_the_citation_names_the_version():
    page = (ROOT / "docs" / "citing.rst").read_text("utf-8")
    assert f"version = {{{PROJECT['version']}}}" in page
