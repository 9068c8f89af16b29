"""Where and with what a measurement was made. No names of machines or people."""

from __future__ import annotations

import datetime
import os
import platform
import subprocess
from pathlib import Path
from typing import Any

from .environment import STAMP, folder


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
    stamp = folder("rivals") / STAMP
    if stamp.exists():
        return stamp.read_text().strip()
    return checkout()


def checkout() -> str | None:
    """The commit of this checkout, marked if there are changes beyond the results of benchmarks."""
    here = Path(__file__).parent

    def git(*arguments: str) -> str:
        command = ["git", "-C", str(here.parent), *arguments]
        return subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()

    try:
        changes = git("status", "--porcelain", "--", ".", ":!benchmarks")
        return git("rev-parse", "--short", "HEAD") + ("+" if changes else "")
    except (OSError, subprocess.CalledProcessError):
        return None
