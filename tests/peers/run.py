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

from suites import SUITES  # noqa: E402


def main(names: list[str]) -> int:
    failed = []
    for name in names or list(SUITES):
        suite = SUITES[name]
        package = suite.modules[0].split(".")[0]
        if importlib.util.find_spec(package) is None:
            print(f"==> {name}: {package} is not installed", flush=True)
            continue
        print(f"==> {name}", flush=True)
        paths = os.pathsep.join([str(HERE), os.environ.get("PYTHONPATH", "")])
        environment = {**os.environ, "PEERS_SUITE": name, "PYTHONPATH": paths}
        command = [sys.executable, "-m", "pytest", "-c", str(HERE / "pytest.ini"), "-p", "plugin"]
        done = subprocess.run([*command, "--pyargs", *suite.modules], env=environment)
        if done.returncode != 0:
            failed.append(name)
    print("failed: " + ", ".join(failed) if failed else "all tests that apply pass")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
