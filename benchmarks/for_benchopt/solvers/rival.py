"""Every adapter of ``benchmarks/rivals``, ours included, as a benchopt solver."""

import sys
from pathlib import Path

from benchopt import BaseSolver

sys.path.insert(0, str(Path(__file__).resolve().parents[3]))

from benchmarks.rivals import NAMES, get


class Solver(BaseSolver):
    """Runs at ever smaller tolerances; what an adapter cannot express it skips with its reason."""

    name = "rival"
    parameters = {"solver": list(NAMES)}
    sampling_strategy = "tolerance"
    time_limit = 60.0

    def skip(self, objective):
        reason = get(self.solver).skip(objective)
        return reason is not None, reason

    def set_objective(self, objective):
        self.rival = get(self.solver)
        self.rival.prepare(objective)

    def run(self, tolerance):
        loosest, tightest = self.rival.tolerances[0], self.rival.tight
        self.raw = self.rival.solve(min(max(tolerance, tightest), loosest), self.time_limit)

    def get_result(self):
        return {"answer": self.rival.answer(self.raw)}
