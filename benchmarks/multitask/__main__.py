"""``python -m benchmarks.multitask [PART ...]``."""

from __future__ import annotations

import sys

from .tables import run

if __name__ == "__main__":
    run(sys.argv[1:])
