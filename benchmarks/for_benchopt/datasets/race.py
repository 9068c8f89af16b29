"""A race of ``benchmarks/suites`` as a benchopt data set; by default those of the quick suite."""

import sys
from pathlib import Path

from benchopt import BaseDataset

sys.path.insert(0, str(Path(__file__).resolve().parents[3]))

from benchmarks import suites
from benchmarks.build import build


class Dataset(BaseDataset):
    """``suite`` and ``number`` name the race: ``python -m benchmarks list SUITE`` counts from 0."""

    name = "race"
    parameters = {"suite, number": [("quick", k) for k in range(len(suites.cases("quick")))]}

    def get_data(self):
        objective, _ = build(suites.cases(self.suite)[self.number])
        return {"objective": objective}
