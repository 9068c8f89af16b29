"""Processes that answer commands, one JSON line each: started, asked and, if need be, killed."""

from __future__ import annotations

import json
import os
import queue
import subprocess
import sys
import threading
import time
import traceback
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from multiprocessing import get_context
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
ONE_THREAD = dict.fromkeys(
    (
        "OMP_NUM_THREADS",
        "OPENBLAS_NUM_THREADS",
        "MKL_NUM_THREADS",
        "NUMBA_NUM_THREADS",
        "NUMEXPR_NUM_THREADS",
        "VECLIB_MAXIMUM_THREADS",
        "RECTILINE_NUM_THREADS",
    ),
    "1",
)


def interpreter() -> str:
    """The rivals' environment if it was set up, else the Python that runs this."""
    folder = ROOT / "benchmarks" / ".venv"
    for candidate in (folder / "bin" / "python", folder / "Scripts" / "python.exe"):
        if candidate.exists():
            return str(candidate)
    return sys.executable


def cpu_seconds(pid: int) -> float | None:
    """CPU time of a process so far, where the system tells."""
    try:
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
    except (OSError, AttributeError, ValueError, IndexError):
        return None


class Process:
    """A module that calls `serve`, on one thread, in an interpreter of its own."""

    def __init__(self, module: str, python: str, path: str | None = None) -> None:
        self._command = [python, "-W", "ignore", "-m", module]
        self._environment = {**os.environ, **ONE_THREAD} | ({"PYTHONPATH": path} if path else {})
        self._process: subprocess.Popen[str] | None = None

    @property
    def is_alive(self) -> bool:
        return self._process is not None and self._process.poll() is None

    def start(self) -> None:
        self._process = subprocess.Popen(
            self._command,
            cwd=ROOT,
            env=self._environment,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
        )
        self._lines: queue.Queue[str] = queue.Queue()
        reader = threading.Thread(target=_read, args=(self._process, self._lines), daemon=True)
        reader.start()

    def ask(
        self, do: str, limit: float = 900.0, of_cpu: bool = False, **arguments: Any
    ) -> dict[str, Any]:
        """Return the reply; one that is late or never comes is an ``error``.

        The limit is in seconds, of CPU time where a busy machine must not stop a solver.
        """
        if not self.is_alive:
            self.start()
        process = self._process
        assert process is not None and process.stdin is not None
        before, began = cpu_seconds(process.pid), time.perf_counter()
        try:
            process.stdin.write(json.dumps({"do": do, **arguments}) + "\n")
            process.stdin.flush()
        except BrokenPipeError:
            return {"error": f"ended with code {process.wait()}"}
        while True:
            try:
                line = self._lines.get(timeout=max(0.05, limit / 50) if of_cpu else limit)
            except queue.Empty:
                wall = time.perf_counter() - began
                now = cpu_seconds(process.pid) if of_cpu else None
                used = wall if now is None or before is None else now - before
                if used > limit or wall > 5.0 * limit:
                    self.stop()
                    return {"error": f"killed after {limit:.3g} s", "timeout": True}
                continue
            if not line:
                return {"error": f"ended with code {process.wait()}"}
            reply: dict[str, Any] = json.loads(line)
            return reply

    def stop(self) -> None:
        if self._process is not None and self._process.poll() is None:
            self._process.kill()
            self._process.wait()


def _read(process: subprocess.Popen[str], lines: queue.Queue[str]) -> None:
    assert process.stdout is not None
    for line in process.stdout:
        lines.put(line)
    lines.put("")  # the process has ended


def serve(worker: Any) -> None:
    """Call the methods that commands name until stdin closes; what they print goes to stderr."""
    protocol = os.fdopen(os.dup(1), "w", buffering=1)
    os.dup2(2, 1)
    for line in sys.stdin:
        command = json.loads(line)
        try:
            reply = getattr(worker, command.pop("do"))(**command)
        except Exception as error:
            traceback.print_exc()
            reply = {"error": f"{type(error).__name__}: {error}"[:400]}
        protocol.write(json.dumps(reply) + "\n")


def least_seconds(
    work: Callable[[], Any], repeats: int = 1, clock: Callable[[], float] = time.process_time
) -> tuple[Any, float]:
    """Return what the work returns, and its least seconds; other programs only ever add time."""
    least = float("inf")
    for _ in range(repeats):
        began = clock()
        found = work()
        least = min(least, clock() - began)
    return found, least


def apart(function: Callable[..., Any], *arguments: Any, seconds: float | None = None) -> Any:
    """Return what a function returns in a fresh process with one thread.

    None if it takes more than so many CPU seconds.
    """
    os.environ.update(ONE_THREAD)
    context = get_context("spawn")
    with ProcessPoolExecutor(1, context, initializer=_limit, initargs=(seconds,)) as pool:
        try:
            return pool.submit(function, *arguments).result()
        except BrokenProcessPool:
            if seconds is None:
                raise
            return None


def _limit(seconds: float | None) -> None:
    if seconds is not None:
        import resource

        resource.setrlimit(resource.RLIMIT_CPU, (int(seconds) + 1, int(seconds) + 5))
