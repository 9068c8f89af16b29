"""Command line of the benchmarks.

python -m benchmarks setup                       make the rivals' environment
python -m benchmarks check                       do all adapters mean the same objective?
python -m benchmarks list [SUITE]                suites, or the cases of one
python -m benchmarks quick                       one race per suite, under five minutes
python -m benchmarks run SUITE [--filter TEXT]   race a suite (or "all")
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
from pathlib import Path

from . import results, runner, suites
from .cases import select
from .machine import RIVALS, make_environment
from .process import ROOT, interpreter


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    commands = parser.add_subparsers(dest="command", required=True)
    commands.add_parser("setup", help="make the rivals' environment")
    commands.add_parser("check", help="compare all adapters on small problems")
    listing = commands.add_parser("list", help="list suites or cases")
    listing.add_argument("suite", nargs="?")
    quick = commands.add_parser("quick", help="one race per suite")
    run = commands.add_parser("run", help="race a suite")
    run.add_argument("suite", help=f"{', '.join(suites.NAMES)}, quick or all")
    run.add_argument("--filter", help="only cases whose name contains this (or matches *, ?)")
    run.add_argument("--time-limit", type=float, default=1e9, help="seconds for one solve, at most")
    run.add_argument("--repeats", type=int, default=10**6, help="timed repeats, at most")
    for racing in (quick, run):
        racing.add_argument("--data", help="folder of .npz files (else $RECTILINE_DATA)")
        racing.add_argument("--offline", action="store_true", help="never ask OpenML")
    return parser


def main(arguments: list[str] | None = None) -> int:
    """Run one command."""
    options = _parser().parse_args(arguments)
    if getattr(options, "data", None):
        os.environ["RECTILINE_DATA"] = str(Path(options.data).resolve())
    if getattr(options, "offline", False):
        os.environ["RECTILINE_OPENML"] = "0"
    match options.command:
        case "setup":
            make_environment()
        case "check":
            command = [interpreter(), "-W", "ignore", "-m", "benchmarks.check"]
            return subprocess.run(command, cwd=ROOT).returncode
        case "list" if options.suite is None:
            for name in suites.NAMES:
                print(f"{name:14s} {len(suites.cases(name)):4d} cases")
        case "list":
            for case in suites.cases(options.suite):
                print(f"{case.name:72s} {' '.join(case.solvers)}")
        case "quick":
            _say_where_data_comes_from()
            path = runner.run_suite("quick", list(suites.cases("quick")))
            results.print_table(results.load([path]), worst_last=True)
        case "run":
            _say_where_data_comes_from()
            _run(options)
    return 0


def _run(options: argparse.Namespace) -> None:
    for suite in suites.NAMES if options.suite == "all" else (options.suite.replace("-", "_"),):
        cases = select(suites.cases(suite), options.filter)
        cases = [case.trimmed(options.time_limit, options.repeats) for case in cases]
        if not cases:
            print(f"no case of {suite} matches {options.filter!r}", file=sys.stderr)
            continue
        path = runner.run_suite(suite, cases)
        results.print_table(results.load([path], only={case.name for case in cases}))


def _say_where_data_comes_from() -> None:
    if not RIVALS.exists():
        print("the rivals' environment is missing (make bench-setup): most rivals will be skipped")
    data = os.environ.get("RECTILINE_DATA")
    if data and Path(data).is_dir():
        print(f"real data sets: .npz files in {data}")
        return
    why = f"RECTILINE_DATA={data} is no folder" if data else "RECTILINE_DATA is not set"
    openml = "" if os.environ.get("RECTILINE_OPENML") == "0" else "OpenML by name, failing that "
    print(f"{why}: real data sets come from {openml}synthetic stand-ins; each row says which")


if __name__ == "__main__":
    sys.exit(main())
