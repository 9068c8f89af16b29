"""Make the rivals' own virtual environment, so that the library never needs them.

One environment serves every rival raced today; each ``requirements-NAME.txt`` is one environment
(``rivals`` lives in ``.venv``, any other in ``.venv-NAME``), because some packages, such as highspy
and ortools, cannot share a process.
"""

from __future__ import annotations

import subprocess
import sys
import venv
from pathlib import Path

HERE = Path(__file__).parent
STAMP = "rectiline-revision.txt"  # in an environment: the commit that was installed into it


def folder(name: str) -> Path:
    return HERE / (".venv" if name == "rivals" else f".venv-{name}")


def make() -> None:
    """Create or update every environment and install this checkout into it."""
    from .machine import checkout  # which looks up the environment

    for requirements in sorted(HERE.glob("requirements-*.txt")):
        name = requirements.stem.removeprefix("requirements-")
        place = folder(name)
        if not place.exists():
            print(f"==> {place.name}")
            venv.create(place, with_pip=True)
        bindir = place / ("Scripts" if sys.platform == "win32" else "bin")
        pip = [str(bindir / "python"), "-m", "pip", "--disable-pip-version-check", "-q", "install"]
        for line in _lines(requirements):
            # One by one: a rival that is missing for this platform is skipped by its adapter.
            if subprocess.run([*pip, line]).returncode:
                print(f"    {line} could not be installed; its adapter will skip", file=sys.stderr)
        subprocess.run([*pip, "--force-reinstall", "--no-deps", str(HERE.parent)], check=True)
        (place / STAMP).write_text(f"{checkout() or 'unknown'}\n")


def _lines(path: Path) -> list[str]:
    lines = (line.partition("#")[0].strip() for line in path.read_text().splitlines())
    return [line for line in lines if line]
