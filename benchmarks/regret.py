# ruff: noqa: E402  (the clock is exchanged before the library reads it)
"""Regret of `auto`: its time over that of the best solver that can be named; on random mixes.

    python -m benchmarks.regret --mixes 300            # writes benchmarks/results/regret.csv
    python -m benchmarks.regret --mixes 1 --first 17   # one mix again, with every solver's time

A mix is a random size, density, loss, penalty with a strength, and constraint. A named solver
counts if it reaches the certified tolerance. Times are CPU times of one thread, each the least of
several runs on a fresh problem, so that nothing computed in an earlier run is at hand. Limits are
counted in CPU time as well: the clock of Python is exchanged before anything is imported.
"""

from __future__ import annotations

import os
import time
import warnings
from collections.abc import Callable, Iterator

os.environ.setdefault("OMP_NUM_THREADS", "1")
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
time.perf_counter = time.process_time

import numpy as np
from scipy import sparse as sp

import rectiline as rl
from rectiline import constraints as rc
from rectiline import losses as rlo
from rectiline import penalties as rp

from . import store

NAMED = ("newton", "interior", "generation", "reduced_newton", "rehline")
TOL = 1e-6
LONGEST = 30.0  # seconds that auto may take
REPEATS = 6  # of runs that are shorter than this many seconds together
SHORT = 0.2
LOSSES = [
    rlo.Hinge(),
    rlo.SquaredHinge(),
    rlo.SmoothedHinge(0.5),
    rlo.Absolute(),
    rlo.Pinball(0.9),
    rlo.Huber(),
    rlo.SquaredError(),
    rlo.EpsilonInsensitive(0.2),
]
PENALTIES = ("ridge", "elastic net", "l1", "weighted l1", "group", "slope", "oscar", "none")
CONSTRAINTS = ("free",) * 6 + ("nonnegative", "box", "monotone", "rows", "simplex", "fairness")
Row = dict[str, str | int | float]


def random_mix(seed: int, mix: int) -> tuple[Callable[[], rl.Problem], Row]:
    """Return a function that makes the problem, and what to say about it."""
    rng = np.random.default_rng([seed, mix])
    n = d = 0
    while not 2_000 < n * d < 1_000_000:
        n, d = int(10.0 ** rng.uniform(1.5, 4.3)), int(10.0 ** rng.uniform(0.6, 3.3))
    density = float(rng.choice([1.0, 1.0, 0.1, 0.02])) if n * d > 10_000 else 1.0
    loss = LOSSES[rng.integers(len(LOSSES))]
    kind = str(rng.choice(PENALTIES))
    if kind == "none" and n < 3 * d:
        kind = "l1"
    constraint = str(rng.choice(CONSTRAINTS))
    X = rng.normal(size=(n, d)) * (rng.choice([1.0, 3.0, 0.3], d) if rng.random() < 0.5 else 1.0)
    if rng.random() < 0.3:
        X = X + rng.normal(size=(n, 1))
    if density < 1.0:
        X = sp.csr_array(X * (rng.random((n, d)) < density))
    truth = rng.normal(size=d) * (rng.random(d) < min(1.0, 10.0 / d))
    signal = X @ truth
    y = signal + (0.3 * float(np.std(signal)) + 0.1) * rng.standard_t(4, n)
    if loss.of == "margin":
        y = np.where(y > np.median(y), 1.0, -1.0)
    penalty = _penalty(rng, kind, d, float(np.abs(X.T @ (y - np.median(y))).max()))
    constraints = _constraints(rng, constraint, X)
    said: Row = {
        "mix": mix,
        "rows": n,
        "columns": d,
        "density": density,
        "loss": loss.name,
        "penalty": kind,
        "constraint": constraint,
    }
    return lambda: rl.Problem(X, y, loss, penalty, constraints), said


def _penalty(rng: np.random.Generator, kind: str, d: int, pull: float) -> rp.Penalty | None:
    strength = pull * float(10.0 ** rng.uniform(-3, -0.5))
    if kind == "ridge":
        return rp.Ridge(float(10.0 ** rng.uniform(-3, 3)))
    if kind == "elastic net":
        return rp.ElasticNet(strength, float(10.0 ** rng.uniform(-2, 2)))
    if kind == "l1":
        return rp.L1(strength)
    if kind == "weighted l1":
        return rp.L1(strength, weights=rng.uniform(0.5, 2.0, d))
    if kind == "group":
        return rp.GroupLinf(2.0 * strength, np.arange(d) // 4)
    if kind == "slope":  # two levels
        return rp.Slope(strength * np.where(np.arange(d) < max(1, d // 10), 1.0, 0.5))
    if kind == "oscar":  # distinct strengths
        return rp.Slope(strength * np.linspace(1.0, 0.3, d))
    return None


def _constraints(rng: np.random.Generator, kind: str, X: np.ndarray) -> list[rc.Constraint]:
    n, d = X.shape
    if kind == "nonnegative":
        return [rc.Nonnegative()]
    if kind == "box":
        return [rc.Box(-0.3, 0.3)]
    if kind == "monotone":
        return [rc.Monotone()]
    if kind == "rows":
        return [rc.LinearInequality(rng.normal(size=(3, d)), 0.1)]
    if kind == "simplex":
        return [rc.LinearEquality(np.ones(d), -1.0), rc.Nonnegative()]
    if kind == "fairness":
        return [rc.Fairness(rng.random(n) < 0.4, 0.01)]
    return []


def seconds_of(
    make: Callable[[], rl.Problem], solver: str, limit: float
) -> tuple[float, rl.Solution | None]:
    """Return the least CPU time of a few runs, infinity unless solved, and the last answer."""
    least, spent, answer = np.inf, 0.0, None
    for _ in range(REPEATS):
        problem = make()
        began = time.process_time()
        try:
            answer = rl.solve(problem, solver=solver, tol=TOL, time_limit=limit)
        except (rl.UnsupportedProblemError, rl.NoAnswerError):
            return np.inf, None
        took = time.process_time() - began
        spent += took
        if answer.status != "solved":
            return np.inf, answer
        least = min(least, took)
        if spent > SHORT:
            break
    return least, answer


def measure(seed: int, mix: int, show: bool = False) -> Row | None:
    """Return the row of a mix; None where it is infeasible or larger than meant here."""
    make, row = random_mix(seed, mix)
    own, answer = seconds_of(make, "auto", LONGEST)
    if answer is None or answer.status == "infeasible":
        return None
    limit = max(0.02, min(own, LONGEST))
    times = {}
    for name in NAMED:
        times[name], found = seconds_of(make, name, LONGEST if show else limit)
        if show:
            said = "refuses" if found is None else found.status
            print(f"  {name}: {times[name]:.4f} s, {said}")
    if own < SHORT:  # the first solver finds everything cold: another turn, after the others
        own = min(own, seconds_of(make, "auto", LONGEST)[0])
    best = min(times, key=lambda name: times[name])
    if not np.isfinite(min(own, times[best])):
        return row | {"auto_stages": "unsolved", "auto_seconds": LONGEST, "regret": np.inf}
    stages = " > ".join(part.split(":")[0] for part in answer.reason.split("; then "))
    return row | {
        "auto_stages": stages,
        "auto_seconds": round(own, 5),
        "best_solver": best if times[best] < own else answer.solver,
        "best_seconds": round(min(times[best], own), 5),
        "regret": round(own / min(times[best], own), 2),
    }


def rows(mixes: int, first: int, seed: int, seconds: float) -> Iterator[Row]:
    """Yield a row for each mix, and print a summary at the end."""
    warnings.simplefilter("ignore")
    began, regrets = time.perf_counter(), []
    for mix in range(first, first + mixes):
        if time.perf_counter() - began > seconds:
            break
        row = measure(seed, mix, show=mixes == 1)
        if row is not None:
            regrets.append(float(row["regret"]))
            yield {"seed": seed, **row}
    print(
        f"{len(regrets)} mixes: median regret {np.median(regrets):.2f}, "
        f"90 % {np.quantile(regrets, 0.9):.2f}, worst {max(regrets):.1f}"
    )


if __name__ == "__main__":
    store.run(rows, ("seed", "mix"), mixes=300, first=0, seed=18, seconds=np.inf)
