"""Promises that are not races: one number each, measured in a process of its own.

    python -m benchmarks.measures [TEXT]      measure those whose name contains TEXT, print a table

Results go to ``results/measures.json``. What is measured is in ``estimator_measures.py``,
``generation_measures.py`` and ``simplex_measures.py``.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from dataclasses import dataclass
from typing import Any

from . import machine, store
from .process import ROOT, THREAD_VARIABLES, interpreter
from .runner import RESULTS


@dataclass(frozen=True)
class Measure:
    """A function of a module of measures with its arguments, and the most it may return."""

    name: str
    function: str
    arguments: tuple[Any, ...]
    unit: str
    at_most: float
    module: str = "estimator_measures"


FIRST = "first call, raw columns, wall time"
OVER = "fit above rl.solve, CPU time"
COST = "CV of 5 folds x 30 strengths over one cold fit per fold at the weakest strength"
GRID = "default grid of hinge L1, a quarter of the labels positive, over a fit at its weakest"
REAL_GRID = "default grid under L1, raw columns, over a fit at its weakest"
TABLES = ("breast_cancer", "diabetes", "wine")
GENERATION = "generation_measures"
REAL = (
    "leukemia_allaml",
    "prostate_ge",
    "colon",
    "arcene",
    "glioma",
    "news20_bydate_tfidf",
    "reuters21578_modapte_tfidf",
    "imdb_tfidf",
)
GRIDS = (
    ("margin", "spf"),
    ("margin", "creditcard_subset14240"),
    ("margin", "connect4"),
    ("residual", "pol"),
    ("residual", "winequality_white"),
)
SEARCHED = (
    ("margin", "colon", "hinge", "l2"),
    ("margin", "glioma", "squared_hinge", "l2"),
    ("margin", "leukemia_allaml", "hinge", "l2"),
    ("margin", "leukemia_allaml", "hinge", "l1"),
    ("margin", "spf", "hinge", "l2"),
    ("margin", "spf", "hinge", "l1"),
    ("margin", "creditcard_subset14240", "hinge", "l2"),
    ("margin", "jasmine", "squared_hinge", "l2"),
    ("residual", "abalone", "absolute", "l1"),
    ("residual", "bike_sharing", "absolute", "l2"),
    ("residual", "cal_housing", "huber", "l2"),
    ("residual", "house_8L", "absolute", "l2"),
    ("residual", "communities_crime", "huber", "l2"),
    ("residual", "diamonds", "absolute", "l2"),
)
MEASURES = (
    Measure(
        "L1-SVM path of 50 strengths, 1000x100000, over its last point",
        "path_cost",
        (1000, 100_000),
        "last points",
        4.0,
        GENERATION,
    ),
    Measure(
        "L1-SVM 100x50000 at 0.05 lambda_max, in products X'v",
        "products",
        (100, 50_000, 0.05),
        "products",
        200.0,
        GENERATION,
    ),
    Measure(
        "Slope-SVM with distinct strengths, 100x10000, over L1",
        "slope_over_l1",
        (10_000,),
        "L1 fits",
        10.0,
        GENERATION,
    ),
    *(
        Measure(
            f"L1-SVM at 11 strengths, largest relative gap: {name}",
            "real_path",
            (name,),
            "",
            1e-6,
            GENERATION,
        )
        for name in REAL
    ),
    *(
        Measure(
            f"compiled simplex method over HiGHS, ten strengths of an L1-SVM, CPU time: {n}x{d}",
            "simplex_over_highs",
            (n, d),
            "of its time",
            0.5,
            "simplex_measures",
        )
        for n, d in ((100, 50), (1000, 100), (200, 500), (100, 2000), (500, 500))
    ),
    *(Measure(f"{FIRST}: {table}", "first_call", (table,), "s", 1.0) for table in TABLES),
    *(Measure(f"{OVER}: {table}", "overhead", (table,), "ms", 2.0) for table in TABLES),
    Measure(
        "QuantileRegressor 1,000,000 x 20: memory beyond X, in sizes of X",
        "memory",
        (1_000_000, 20),
        "X",
        3.0,
    ),
    *(
        Measure(f"{COST}: {label}", "search_cost", arguments, "cold fits", 3.0)
        for label, arguments in {
            "breast_cancer hinge l2": ("breast_cancer", "hinge", "l2", 0, 0),
            "breast_cancer hinge l1": ("breast_cancer", "hinge", "l1", 0, 0),
            "wine hinge l2, three classes": ("wine", "hinge", "l2", 0, 0),
            "diabetes huber l2": ("diabetes", "huber", "l2", 0, 0),
            "diabetes quantile l1": ("diabetes", "quantile", "l1", 0, 0),
            "20000x50 hinge l2": ("margin", "hinge", "l2", 20_000, 50),
            "20000x50 pinball l2": ("residual", "pinball", "l2", 20_000, 50),
            "20000x50 huber l2": ("residual", "huber", "l2", 20_000, 50),
            "2000x200 hinge l1": ("margin", "hinge", "l1", 2_000, 200),
            "2000x50 quantile l1": ("residual", "quantile", "l1", 2_000, 50),
            "5000x50 quantile l2": ("residual", "quantile", "l2", 5_000, 50),
            "5000x100 pinball elasticnet": ("residual", "pinball", "elasticnet", 5_000, 100),
            "3000x200 hinge l2": ("margin", "hinge", "l2", 3_000, 200),
            # Cold fits look at few of these rows.
            "50000x10 hinge l2": ("margin", "hinge", "l2", 50_000, 10),
            "50000x10 huber l2": ("residual", "huber", "l2", 50_000, 10),
            "200000x20 hinge l2": ("margin", "hinge", "l2", 200_000, 20),
            "200000x20 huber l2": ("residual", "huber", "l2", 200_000, 20),
            **{
                f"{name} raw, {loss} {penalty}": (f"{kind}:{name}", loss, penalty, 0, 0)
                for kind, name, loss, penalty in SEARCHED
            },
        }.items()
    ),
    *(
        Measure(f"{GRID}: {n}x{d}", "grid_cost", (n, d), "fits", 10.0)
        for n, d in ((20_000, 50), (3_000, 200), (50_000, 10))
    ),
    *(
        Measure(
            f"{REAL_GRID}: {'hinge' if kind == 'margin' else 'absolute'}, {name}",
            "grid_cost",
            (f"{kind}:{name}",),
            "fits",
            10.0,
        )
        for kind, name in GRIDS
    ),
)


def run(measure: Measure) -> dict[str, Any]:
    """Measure in a fresh process with one thread; an ``error`` if it fails."""
    call = json.dumps([measure.function, list(measure.arguments)])
    done = subprocess.run(
        [interpreter(), "-m", f"benchmarks.{measure.module}", call],
        cwd=ROOT,
        env={**os.environ, **dict.fromkeys(THREAD_VARIABLES, "1")},
        capture_output=True,
        text=True,
    )
    if done.returncode:
        return {"error": done.stderr.strip().rpartition("\n")[2][:400]}
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def main(text: str = "") -> int:
    """Measure, keep and print; the number of broken promises is returned."""
    broken = 0
    for measure in MEASURES:
        if text not in measure.name:
            continue
        found = run(measure)
        kept = found.get("value", float("inf")) <= measure.at_most
        broken += not kept
        shown = f"{found['value']:.3g} {measure.unit}" if "value" in found else found["error"]
        verdict = "kept" if kept else "BROKEN"
        print(f"{verdict:7s} {measure.name}: {shown} (at most {measure.at_most:g})", flush=True)
        entry = {**found, "unit": measure.unit, "at_most": measure.at_most, **machine.describe()}
        store.update(
            RESULTS / "measures.json",
            lambda old, name=measure.name, entry=entry: {**old, name: entry},  # type: ignore[misc]
        )
    return broken


if __name__ == "__main__":
    main(*sys.argv[1:2])
