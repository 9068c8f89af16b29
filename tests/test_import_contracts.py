"""Who may import whom: the contracts of ``.importlinter``, and proof that they bite.

The contracts are checked on a copy of the installed package in which an empty ``_core.py`` stands
for the compiled module: the import graph is read from Python files, and without the stand-in
``from rectiline import _core`` would look like an import of the whole package.
"""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import rectiline

ROOT = Path(__file__).resolve().parents[1]
CONTRACTS = ROOT / ".importlinter"
COMMAND = "from importlinter.cli import lint_imports_command as run; run()"

# (the offending file, its one line, the two rooms the report has to name)
BROKEN = [
    ("losses/_bad.py", "from rectiline.solvers import solve", ["rectiline.losses", "solvers"]),
    ("losses/_bad.py", "import rectiline.penalties", ["rectiline.losses", "penalties"]),
    ("backends/_bad.py", "from rectiline.problems import Problem", ["backends", "problems"]),
    ("problems/_bad.py", "import rectiline as rl", ["rectiline.problems", "solvers"]),
    ("solvers/_bad.py", "from rectiline.losses import Hinge", ["solvers", "rectiline.losses"]),
    (
        "solvers/_bad.py",
        "from rectiline.problems.proof._prove import prove",
        ["rectiline.solvers._bad", "rectiline.problems.proof._prove"],
    ),
    (
        "paths/_bad.py",
        "from rectiline.problems.forms import _base",
        ["rectiline.paths._bad", "rectiline.problems.forms._base"],
    ),
    ("attic/__init__.py", "", ["rectiline.attic", "not listed as layers"]),
]


@pytest.fixture
def package(tmp_path):
    """Copy the Python files of the installed package to a folder of their own."""
    source = Path(rectiline.__file__).parent
    for file in source.rglob("*.py"):
        target = tmp_path / "rectiline" / file.relative_to(source)
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(file, target)
    (tmp_path / "rectiline" / "_core.py").touch()
    return tmp_path / "rectiline"


def check_contracts(package):
    command = [sys.executable, "-c", COMMAND, "--config", str(CONTRACTS), "--no-cache"]
    places = [str(package.parent), str(ROOT / "tests"), os.environ.get("PYTHONPATH", "")]
    path = os.pathsep.join(places)
    environment = {**os.environ, "PYTHONPATH": path, "COLUMNS": "200", "PYTHONIOENCODING": "utf-8"}
    return subprocess.run(
        command, cwd=package.parent, env=environment, capture_output=True, text=True, timeout=120
    )


def test_contracts_are_kept(package):
    result = check_contracts(package)
    assert result.returncode == 0, result.stdout + result.stderr
    assert "3 kept, 0 broken" in result.stdout


@pytest.mark.parametrize(("file", "line", "named"), BROKEN, ids=[f"{b[0]}: {b[1]}" for b in BROKEN])
def test_a_violation_is_reported(package, file, line, named):
    (package / file).parent.mkdir(exist_ok=True)
    (package / file).write_text(line + "\n")
    result = check_contracts(package)
    assert result.returncode != 0
    assert "1 broken" in result.stdout
    for name in named:
        assert name in result.stdout


@pytest.mark.skipif(not (ROOT / "core").is_dir(), reason="the C++ sources are not here")
def test_core_knows_nothing_of_python():
    files = [path for path in (ROOT / "core").rglob("*") if path.suffix in {".hpp", ".cpp"}]
    assert files
    for path in files:
        found = re.search(
            r'#\s*include\s*[<"](Python\.h|nanobind/|numpy/)', path.read_text("utf-8")
        )
        assert found is None, f"{path.relative_to(ROOT)} includes {found.group(1)}"
