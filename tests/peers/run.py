"""Run the tests of peers with our classes in place; `make peers`.

    python tests/peers/run.py                     # every suite whose package is installed
    python tests/peers/run.py sklearn-quantile    # one of them

Tests that cannot apply are skipped with the reasons of `reasons.py`. Fails if any other test does.
"""

from __future__ import annotations

import importlib.util
import os
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE))

from suites import SUITES, Suite  # noqa: E402


def folder_of(clone: str) -> Path | None:
    """Where a clone of the repository lies: in the folder that CLONES names."""
    folder = Path(os.environ.get("CLONES", "")) / clone.split("/")[1]
    return folder.resolve() if os.environ.get("CLONES") and folder.is_dir() else None


def missing(suite: Suite) -> str:
    """What a suite needs and has not got; nothing if it can run."""
    for package in suite.needs:
        if importlib.util.find_spec(package) is None:
            return f"{package} is not installed"
    if suite.clone and folder_of(suite.clone) is None:
        return f"needs a clone of {suite.clone} in the folder CLONES"
    return ""


def run(suite: Suite) -> bool:
    """Run a suite in a process of its own; whether all tests that apply pass."""
    paths, tests, where = [str(HERE)], ["--pyargs", *suite.modules], None
    if suite.clone:
        folder = folder_of(suite.clone)
        tests = [
            "--noconftest",
            "--rootdir",
            str(folder),
            *(str(folder / one) for one in suite.modules),
        ]
        if not suite.needs:
            paths, where = [*paths, str(folder)], folder
    inherited = map(os.path.abspath, os.environ.get("PYTHONPATH", "").split(os.pathsep))
    environment = {
        **os.environ,
        "PEERS_SUITE": suite.name,
        "PYTHONPATH": os.pathsep.join([*paths, *inherited]),
    }
    command = [sys.executable, "-m", "pytest", "-c", str(HERE / "pytest.ini"), "-p", "plugin"]
    return subprocess.run([*command, *tests], env=environment, cwd=where).returncode == 0


def main(names: list[str]) -> int:
    failed = []
    for suite in [SUITES[name] for name in names] or list(SUITES.values()):
        lacks = missing(suite)
        print(f"==> {suite.name}" + (f": left out, {lacks}" if lacks else ""), flush=True)
        if not lacks and not run(suite):
            failed.append(suite.name)
    print("failed: " + ", ".join(failed) if failed else "all tests that apply pass")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
