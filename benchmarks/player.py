"""One solver on one case after the other, in a process of its own: both ends of the pipe."""

from __future__ import annotations

import gc
import importlib.metadata
import time
from typing import Any

from .process import Process, interpreter, serve


class Player(Process):
    """The parent's end. A process that had to be killed is started anew with the case it had."""

    def __init__(self, solver: str) -> None:
        super().__init__("benchmarks.player", interpreter())
        self.solver = solver
        self._case: dict[str, Any] = {}
        self.is_cold = True  # has not solved anything since it was started

    def start(self) -> None:
        super().start()
        self.is_cold = True

    def load(self, suite: str, case: str) -> dict[str, Any]:
        """Give it a case; the reply may hold a ``skip`` or an ``error``."""
        self._case = {"suite": suite, "case": case, "solver": self.solver}
        return self.ask("load", **self._case)

    def run(self, tol: float, time_limit: float) -> dict[str, Any]:
        """One timed solve, then its score, for which the clock does not run."""
        if not self.is_alive and "error" in (reply := self.ask("load", **self._case)):
            return reply
        limits = {"limit": 1.05 * time_limit + 0.2, "of_cpu": True}
        solved = self.ask("run", **limits, tol=tol, time_limit=time_limit)
        if "error" in solved:
            return solved
        self.is_cold = False
        return {**solved, **self.ask("score", 600.0)}


class Worker:
    """The child's end. Holds the objective, the adapter and its last result between commands."""

    objective: Any = None
    rival: Any = None
    raw: Any = None

    def load(self, suite: str, case: str, solver: str) -> dict[str, Any]:
        from . import suites
        from .objective import build
        from .rivals import get

        chosen = next(c for c in suites.cases(suite) if c.name == case)
        self.rival = self.raw = None  # frees the memory of the case before
        self.objective, origin = build(chosen)
        reply: dict[str, Any] = {
            "origin": origin,
            "n": self.objective.n,
            "d": self.objective.d,
            "zero": self.objective.value_at_zero(),
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
        tolerances = list(self.rival.ladder(tuple(targets), size))
        return {"tolerances": tolerances, "tight": self.rival.tight}

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


if __name__ == "__main__":
    serve(Worker())
