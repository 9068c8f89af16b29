"""Start, question and, if need be, kill the worker processes."""

from __future__ import annotations

import json
import os
import queue
import subprocess
import sys
import threading
import time
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


def cpu_seconds(pid: int) -> float | None:
    """CPU time of a process so far, where the system tells."""
    try:
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
    except (OSError, AttributeError, ValueError, IndexError):
        return None


class Player:
    """A process with one solver in it. It serves one case after the other and is started anew
    after it had to be killed, so that imports and compilation are paid for once."""

    def __init__(self, solver: str, python: str | None = None) -> None:
        self.solver = solver
        self._case: dict[str, Any] = {}
        self._python = python or interpreter()
        self._process: subprocess.Popen[str] | None = None
        self.cold = True  # has not solved anything since it was started

    @property
    def alive(self) -> bool:
        return self._process is not None and self._process.poll() is None

    def load(self, suite: str, case: str, timeout: float = 900.0) -> dict[str, Any]:
        """Give it a case; the reply may hold a ``skip`` or an ``error``."""
        self._case = {"do": "load", "suite": suite, "case": case, "solver": self.solver}
        if not self.alive:
            self._start()
        return self.ask(self._case, timeout)

    def _start(self) -> None:
        environment = {**os.environ, **dict.fromkeys(THREAD_VARIABLES, "1")}
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
        reader = threading.Thread(target=_read, args=(self._process, self._lines), daemon=True)
        reader.start()
        self.cold = True

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
            return {"error": f"killed after {timeout:.3g} s", "timeout": True}
        except BrokenPipeError:
            line = ""
        return self._reply(line)

    def _reply(self, line: str) -> dict[str, Any]:
        assert self._process is not None
        if not line:
            code = self._process.wait()
            return {"error": f"ended with code {code}"}
        reply: dict[str, Any] = json.loads(line)
        return reply

    def run(self, tol: float, time_limit: float) -> dict[str, Any]:
        """One timed solve, then its score, for which the clock does not run."""
        if not self.alive:
            self._start()
            if "error" in (reply := self.ask(self._case, 900.0)):
                return reply
        command = {"do": "run", "tol": tol, "time_limit": time_limit}
        solved = self._race(command, 1.05 * time_limit + 0.2)
        if "error" in solved:
            return solved
        self.cold = False
        return {**solved, **self.ask({"do": "score"}, 600.0)}

    def _race(self, command: dict[str, Any], limit: float) -> dict[str, Any]:
        """Like `ask`, but the limit is in CPU seconds: a busy machine must not stop a rival."""
        assert self._process is not None and self._process.stdin is not None
        before, began = cpu_seconds(self._process.pid), time.perf_counter()
        self._process.stdin.write(json.dumps(command) + "\n")
        self._process.stdin.flush()
        while True:
            try:
                return self._reply(self._lines.get(timeout=max(0.05, limit / 50)))
            except queue.Empty:
                wall = time.perf_counter() - began
                now = cpu_seconds(self._process.pid)
                used = wall if now is None or before is None else now - before
                if used > limit or wall > 5.0 * limit:
                    self.stop()
                    return {"error": f"killed after {limit:.3g} s", "timeout": True}

    def stop(self) -> None:
        if self._process is not None and self._process.poll() is None:
            self._process.kill()
            self._process.wait()


def _read(process: subprocess.Popen[str], lines: queue.Queue[str]) -> None:
    assert process.stdout is not None
    for line in process.stdout:
        lines.put(line)
    lines.put("")  # the process has ended


class Players:
    """The players of a suite by the name of their solver, started when first asked for."""

    def __init__(self) -> None:
        self._players: dict[str, Player] = {}

    def __getitem__(self, solver: str) -> Player:
        if solver not in self._players:
            self._players[solver] = Player(solver)
        return self._players[solver]

    def __enter__(self) -> Players:
        return self

    def __exit__(self, *_: object) -> None:
        for player in self._players.values():
            player.stop()
