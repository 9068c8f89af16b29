"""Command line of the benchmarks.

python -m benchmarks setup                       make the rivals' environment
python -m benchmarks check                       do all adapters mean the same objective?
python -m benchmarks list [SUITE]                suites, or the cases of one
python -m benchmarks quick                       one race per suite, under five minutes
python -m benchmarks run SUITE [--filter TEXT]   race a suite (or "all")
python -m benchmarks report                      write the page and the plots from the results
"""

from __future__ import annotations

import argparse
import importlib.util
import os
import subprocess
import sys
from pathlib import Path

from . import suites
from .cases import select


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
    run.add_argument("--also", default="", help="further solvers for every case, by comma")
    run.add_argument("--time-limit", type=float, help="seconds for one solve, at most")
    run.add_argument("--repeats", type=int, help="timed repeats, at most")
    for racing in (quick, run):
        racing.add_argument("--data", help="folder of .npz files (else $RECTILINE_DATA)")
        racing.add_argument("--offline", action="store_true", help="never ask OpenML")
    report = commands.add_parser("report", help="write the page and the plots")
    report.add_argument("--clock", choices=("cpu", "wall"), default="cpu")
    return parser


def main(arguments: list[str] | None = None) -> int:
    """Run one command; the exit status is 1 when a promise is broken (``quick`` and ``report``)."""
    options = _parser().parse_args(arguments)
    if getattr(options, "data", None):
        os.environ["RECTILINE_DATA"] = str(Path(options.data).resolve())
    if getattr(options, "offline", False):
        os.environ["RECTILINE_OPENML"] = "0"
    match options.command:
        case "setup":
            from .environment import make

            make()
        case "check":
            return _elsewhere("benchmarks.check")
        case "list":
            _list(options.suite)
        case "quick":
            return _quick()
        case "run":
            _run(options)
        case "report":
            return _report(options.clock)
    return 0


def _list(suite: str | None) -> None:
    if suite is None:
        for name in suites.NAMES:
            print(f"{name:14s} {len(suites.cases(name)):4d} cases")
        return
    for case in suites.cases(suite):
        print(f"{case.name:72s} {' '.join(case.solvers)}")


def _run(options: argparse.Namespace) -> None:
    from . import report, runner

    extra = tuple(name for name in options.also.split(",") if name)
    for suite in suites.NAMES if options.suite == "all" else (options.suite.replace("-", "_"),):
        cases = select(suites.cases(suite), options.filter)
        cases = [c.trimmed(options.time_limit or 1e9, options.repeats or 10**6) for c in cases]
        if not cases:
            print(f"no case of {suite} matches {options.filter!r}", file=sys.stderr)
            continue
        path = runner.run_suite(suite, cases, extra=extra)
        report.print_table(report.load([path], only={case.name for case in cases}))


def _report(clock: str) -> int:
    """Write the page here, or in the rivals' environment if only that one can draw."""
    from .process import interpreter

    if importlib.util.find_spec("matplotlib") is None and interpreter() != sys.executable:
        return _elsewhere("benchmarks", "report", "--clock", clock)
    from .page import write_page

    return write_page(clock)


def _elsewhere(module: str, *arguments: str) -> int:
    """Run a module in the rivals' environment."""
    from .process import ROOT, interpreter

    command = [interpreter(), "-W", "ignore", "-m", module, *arguments]
    return subprocess.run(command, cwd=ROOT).returncode


def _quick() -> int:
    from . import report, runner

    path = runner.run_suite("quick", list(suites.cases("quick")))
    return report.print_table(report.load([path]), worst_last=True)


if __name__ == "__main__":
    sys.exit(main())
