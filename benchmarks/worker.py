"""One solver on one case, in a process of its own. Speaks JSON lines on stdin and stdout.

The parent sets the thread variables before this process imports NumPy, and kills it when a run
takes too long. Whatever a solver prints goes to stderr.
"""

from __future__ import annotations

import gc
import importlib.metadata
import json
import os
import sys
import time
import traceback
from typing import Any


class Worker:
    """Holds the objective, the adapter and its last result between commands."""

    objective: Any = None
    rival: Any = None
    raw: Any = None

    def load(self, suite: str, case: str, solver: str) -> dict[str, Any]:
        from . import suites
        from .build import build
        from .rivals import get

        chosen = next(c for c in suites.cases(suite) if c.name == case)
        self.rival = self.raw = None  # frees the memory of the case before
        self.objective, origin = build(chosen)
        reply: dict[str, Any] = {
            "origin": origin,
            "n": self.objective.n,
            "d": self.objective.d,
            "zero": self.objective.value(_zeros(self.objective.d)),
            "fingerprint": self.objective.fingerprint(),
        }
        self.rival = get(solver)
        if reason := self.rival.skip(self.objective):
            return {**reply, "skip": reason}
        try:
            reply["version"] = importlib.metadata.version(self.rival.package)
        except importlib.metadata.PackageNotFoundError:
            return {**reply, "skip": f"{self.rival.package} is not installed"}
        try:
            self.rival.prepare(self.objective)
        except ImportError as error:
            return {**reply, "skip": f"{self.rival.package} cannot be imported: {error}"}
        except Exception as error:
            return {**reply, "error": f"{type(error).__name__}: {error}"[:400]}
        reply["compiles"] = self.rival.compiles
        if self.rival.package == "rectiline":  # our Problem() checks the data: others do so in fit
            began = time.perf_counter()
            self.rival.prepare(self.objective)
            reply["problem_seconds"] = time.perf_counter() - began
        return reply

    def ladder(self, targets: list[float], size: float) -> dict[str, Any]:
        return {"tolerances": list(self.rival.ladder(tuple(targets), size))}

    def tight(self) -> dict[str, Any]:
        return {"tolerance": self.rival.tight}

    def run(self, tol: float, time_limit: float) -> dict[str, Any]:
        """Time one solve; only the call itself is between the clocks."""
        gc.collect()
        gc.disable()
        try:
            cpu, wall = time.process_time(), time.perf_counter()
            self.raw = self.rival.solve(tol, time_limit)
            wall, cpu = time.perf_counter() - wall, time.process_time() - cpu
        finally:
            gc.enable()
        return {"tol": tol, "wall": wall, "cpu": cpu}

    def score(self) -> dict[str, Any]:
        """Return the score of the solve just made."""
        from .scoring import score

        answer = self.rival.answer(self.raw)
        return {"word": answer.word, **score(self.objective, answer).to_json()}


def _zeros(d: int) -> Any:
    import numpy as np

    return np.zeros(d)


def main() -> None:
    """Answer commands until stdin closes."""
    protocol = os.fdopen(os.dup(1), "w", buffering=1)
    os.dup2(2, 1)
    worker = Worker()
    for line in sys.stdin:
        command = json.loads(line)
        try:
            reply = getattr(worker, command.pop("do"))(**command)
        except Exception as error:
            traceback.print_exc()
            reply = {"error": f"{type(error).__name__}: {error}"[:400]}
        protocol.write(json.dumps(reply) + "\n")


if __name__ == "__main__":
    main()
