"""The common part of ``python -m benchmarks.NAME``: options, printing, ``results/NAME.csv``."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any

from .store import write_table

Row = dict[str, Any]


def run(rows: Callable[..., Iterable[Row]], keys: Sequence[str], /, **options: Any) -> None:
    """Print and keep every row that ``rows`` yields for the options of the command line.

    Each option has a default: a flag (``False``), a number, a text, or a list of one type; a type
    (``Path``) stands for a value that must be given. ``keys`` name the columns that identify a row.
    """
    module = sys.modules["__main__"]
    name = Path(str(module.__file__)).stem
    parser = argparse.ArgumentParser(
        description=module.__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    for option, default in options.items():
        flag = f"--{option.replace('_', '-')}"
        if isinstance(default, type):
            parser.add_argument(option, type=default)
        elif default is False:
            parser.add_argument(flag, action="store_true")
        elif isinstance(default, list):
            parser.add_argument(flag, nargs="+", type=type(default[0]), default=default)
        else:
            kind = str if default is None else type(default)
            parser.add_argument(flag, type=kind, default=default)
    for row in rows(**vars(parser.parse_args())):
        print("  ".join(f"{key}={value}" for key, value in row.items()), flush=True)
        write_table(name, [row], keys)
