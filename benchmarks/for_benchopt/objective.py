"""Our races as a benchopt benchmark: ``benchopt run benchmarks/for_benchopt`` in the repository.

The three files only translate: tables, objectives, rivals and the judge are ours.
"""

import sys
from pathlib import Path

import numpy as np
from benchopt import BaseObjective

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from benchmarks import judge
from benchmarks.rivals import Answer


class Objective(BaseObjective):
    """The judge's value of an answer; the bound that its dual point proves is recorded as well."""

    name = "piecewise linear-quadratic loss"
    min_benchopt_version = "1.6"

    def set_data(self, objective):
        self.objective = objective

    def get_objective(self):
        return {"objective": self.objective}

    def evaluate_result(self, answer):
        score = judge.score(self.objective, answer)
        return {"value": score.primal, "violation": score.violation, "bound": score.bound}

    def get_one_result(self):
        return {"answer": Answer(np.zeros(self.objective.d))}
