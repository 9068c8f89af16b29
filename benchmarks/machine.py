"""Where and with what a measurement was made (no names of machines or people), and the environment.

The rivals' own virtual environment ``.venv`` is made from ``requirements-rivals.txt``, so that the
library never needs them.
"""

from __future__ import annotations

import datetime
import os
import platform
import subprocess
import sys
import venv
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
RIVALS = HERE / ".venv"
STAMP = RIVALS / "rectiline-revision.txt"  # the commit that was installed into it


def describe() -> dict[str, Any]:
    """CPU, cores, memory, load, system, Python and date."""
    return {
        "cpu": _cpu(),
        "cores": os.cpu_count(),
        "memory_gib": _memory(),
        "load": [round(x, 2) for x in os.getloadavg()] if hasattr(os, "getloadavg") else None,
        "system": f"{platform.system()} {platform.machine()}",
        "python": platform.python_version(),
        "date": datetime.date.today().isoformat(),
        "revision": _revision(),
    }


def _cpu() -> str:
    path = Path("/proc/cpuinfo")
    if path.exists():
        for line in path.read_text().splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    return platform.processor() or "unknown"


def _memory() -> float | None:
    try:
        pages, size = os.sysconf("SC_PHYS_PAGES"), os.sysconf("SC_PAGE_SIZE")
    except (ValueError, OSError, AttributeError):
        return None
    return round(pages * size / 2**30, 1)


def _revision() -> str | None:
    """The commit of the library that is raced: the one installed beside the rivals, if it is known,
    else that of the checkout, with a mark if it has local changes."""
    return STAMP.read_text().strip() if STAMP.exists() else checkout()


def checkout() -> str | None:
    """The commit of this checkout, marked if there are changes beyond the results of benchmarks."""

    def git(*arguments: str) -> str:
        command = ["git", "-C", str(HERE.parent), *arguments]
        return subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()

    try:
        changes = git("status", "--porcelain", "--", ".", ":!benchmarks")
        return git("rev-parse", "--short", "HEAD") + ("+" if changes else "")
    except (OSError, subprocess.CalledProcessError):
        return None


def make_environment() -> None:
    """Create or update the rivals' environment and install this checkout into it."""
    if not RIVALS.exists():
        print(f"==> {RIVALS.name}")
        venv.create(RIVALS, with_pip=True)
    binaries = RIVALS / ("Scripts" if sys.platform == "win32" else "bin")
    pip = [str(binaries / "python"), "-m", "pip", "--disable-pip-version-check", "-q", "install"]
    for line in (HERE / "requirements-rivals.txt").read_text().splitlines():
        wanted = line.partition("#")[0].strip()
        # One by one: a rival that is missing for this platform is skipped by its adapter.
        if wanted and subprocess.run([*pip, wanted]).returncode:
            print(f"    {wanted} could not be installed; its adapter will skip", file=sys.stderr)
    subprocess.run([*pip, "--force-reinstall", "--no-deps", str(HERE.parent)], check=True)
    STAMP.write_text(f"{checkout() or 'unknown'}\n")
