"""What the package carries besides code: types, a version, a licence."""

import re
import subprocess
import sys
import tomllib
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path

import pytest

import rectiline
from rectiline import _core

ROOT = Path(__file__).resolve().parents[1]
PACKAGE = Path(rectiline.__file__).parent


def test_the_package_is_typed():
    assert (PACKAGE / "py.typed").exists()


def test_the_stub_names_everything_in_the_compiled_module():
    stub = (PACKAGE / "_core.pyi").read_text("utf-8")
    described = set(re.findall(r"^(?:def|class) (\w+)|^(\w+):", stub, re.M))
    described = {name for pair in described for name in pair if name}
    public = {name for name in dir(_core) if not name.startswith("_")}
    assert public <= described, "the stub is older than the module"


def test_one_version_everywhere():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    assert rectiline.__version__ == project["version"]
    citation = (ROOT / "CITATION.cff").read_text("utf-8")
    assert re.search(r"^version: (.+)$", citation, re.M).group(1) == project["version"]
    try:
        installed = distribution("rectiline")
    except PackageNotFoundError:
        pytest.skip("rectiline runs from its sources and is not installed")
    if Path(str(installed.locate_file("rectiline"))) == PACKAGE:
        assert installed.version == project["version"]


def test_public_names_are_there():
    for module in (rectiline, rectiline.losses, rectiline.penalties, rectiline.constraints):
        missing = [name for name in module.__all__ if not hasattr(module, name)]
        assert not missing, f"{module.__name__}: {missing}"


def test_a_default_install_has_the_linear_program_solver_and_all_extras_have_a_name():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    names = {re.match(r"[\w-]+", one).group() for one in project["dependencies"]}
    assert {"highspy", "numpy", "scikit-learn", "scipy"} <= names
    extras = project["optional-dependencies"]
    assert extras["lp"] == []
    (everything,) = extras["all"]
    listed = set(re.fullmatch(r"rectiline\[(.+)\]", everything).group(1).split(","))
    assert listed == set(extras) - {"all", "coverage", "docs", "gpu", "lint", "lp", "test"}
    assert listed == {"arrow", "cli", "dask", "formula", "plots", "spark"}  # torch by name only


def test_importing_the_package_leaves_heavy_modules_alone():
    code = (
        "import sys, rectiline; print(sorted({'highspy', 'matplotlib', 'rich'} & {*sys.modules}))"
    )
    shown = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert shown.stdout.strip() == "[]"
