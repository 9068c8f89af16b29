"""Start, question and, if need be, kill the worker processes."""

from __future__ import annotations

import json
import os
import queue
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
THREAD_VARIABLES = (
    "OMP_NUM_THREADS",
    "OPENBLAS_NUM_THREADS",
    "MKL_NUM_THREADS",
    "NUMBA_NUM_THREADS",
    "NUMEXPR_NUM_THREADS",
    "VECLIB_MAXIMUM_THREADS",
    "RECTILINE_NUM_THREADS",
)


def interpreter() -> str:
    """The rivals' environment if it was set up, else the Python that runs this."""
    folder = ROOT / "benchmarks" / ".venv"
    for candidate in (folder / "bin" / "python", folder / "Scripts" / "python.exe"):
        if candidate.exists():
            return str(candidate)
    return sys.executable


class Player:
    """A worker with one solver loaded; restarted after it had to be killed."""

    def __init__(self, suite: str, case: str, solver: str, python: str | None = None) -> None:
        self.solver = solver
        self._load = {"do": "load", "suite": suite, "case": case, "solver": solver}
        self._python = python or interpreter()
        self._process: subprocess.Popen[str] | None = None
        self.info: dict[str, Any] = {}

    @property
    def alive(self) -> bool:
        return self._process is not None and self._process.poll() is None

    def start(self, timeout: float = 900.0) -> dict[str, Any]:
        """Spawn the process and load the case; the reply may hold a ``skip`` or an ``error``."""
        threads = self.solver.rpartition("@")[2] if "@" in self.solver else "1"
        environment = {**os.environ, **dict.fromkeys(THREAD_VARIABLES, threads)}
        self._process = subprocess.Popen(
            [self._python, "-m", "benchmarks.worker"],
            cwd=ROOT,
            env=environment,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
        )
        self._lines: queue.Queue[str] = queue.Queue()
        threading.Thread(target=self._read, args=(self._process,), daemon=True).start()
        self.info = self.ask(self._load, timeout)
        return self.info

    def _read(self, process: subprocess.Popen[str]) -> None:
        assert process.stdout is not None
        for line in process.stdout:
            self._lines.put(line)
        self._lines.put("")  # the process has ended

    def ask(self, command: dict[str, Any], timeout: float) -> dict[str, Any]:
        """Send a command; an answer that is late or never comes is an ``error``."""
        if not self.alive:
            return {"error": "not running"}
        assert self._process is not None and self._process.stdin is not None
        try:
            self._process.stdin.write(json.dumps(command) + "\n")
            self._process.stdin.flush()
            line = self._lines.get(timeout=timeout)
        except queue.Empty:
            self.stop()
            return {"error": f"killed after {timeout:.0f} s", "timeout": True}
        except BrokenPipeError:
            line = ""
        if not line:
            code = self._process.wait()
            return {"error": f"ended with code {code}"}
        reply: dict[str, Any] = json.loads(line)
        return reply

    def run(self, tol: float, time_limit: float, capped: bool = False) -> dict[str, Any]:
        """One timed solve, restarting the process if an earlier run had it killed."""
        if not self.alive and "error" in (reply := self.start()):
            return reply
        # The judge needs time of its own after the solve.
        command = {"do": "run", "tol": tol, "time_limit": time_limit, "capped": capped}
        return self.ask(command, time_limit * (3.0 if capped else 1.1) + 30)

    def stop(self) -> None:
        if self._process is not None and self._process.poll() is None:
            self._process.kill()
            self._process.wait()
