"""Make true and false certificate files and see what the checker says; `make fuzz-verify`.

True files are those of solved random problems: all of them must verify, with a gap close to that of
the solver. False ones claim a smaller gap than there is: coefficients away from the optimum, or the
coefficients and multipliers of one problem in the file of another (another loss, other weights,
penalties or bounds), whose optimum is known from its own solution. None of them may verify.

    python tests/fuzz_verify.py --files 10000 --seed 7
"""

from __future__ import annotations

import argparse
import io
import sys
import time
import warnings
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import date
from typing import Any

import numpy as np
from certificates.make_vectors import flat, nested, write
from certificates.tasks import ProvedTasks
from random_problems import RandomProblem, _loss, _penalty, random_problem

import rectiline as rl
from rectiline import verify
from rectiline.constraints import Box

FORGED_PER_PAIR = 6
LEAST_LIE = 1e-7  # share of the objective by which a false claim is wrong at least
SLOPES = 1e-9  # share of the objective that a file loses by leaving out slopes that nearly follow
ZERO = 1e-20  # share of the objective at zero that is nothing: an exact fit, summed otherwise
ANSWERS = ("coef", "split_coef", "slope_rows", "slopes", "inequality", "equality")
SECONDS_PER_PROBLEM = 5.0
TASKS_EVERY = 10  # cases, one is about tasks that share a subspace


@dataclass
class Proved:
    """A solved problem, its file in parts and the data for the checker."""

    given: RandomProblem
    problem: rl.Problem
    answer: rl.Solution
    header: dict[str, Any]
    arrays: dict[str, Any]
    blocks: list[Any]


def solved(given: RandomProblem) -> Proved | None:
    """Return a problem with its true file; None if it has no optimum."""
    problem = given.problem()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        answer = rl.solve(problem, time_limit=SECONDS_PER_PROBLEM)
    if answer.status != "solved":
        return None
    file = io.BytesIO()
    answer.save(file, problem)
    X, y = given.X, given.y
    if given.linear is not None:  # one more row
        X, y = np.vstack([X, given.linear]), np.append(y, float(given.loss.loss.of == "margin"))
    return Proved(given, problem, answer, *flat(*verify.read(file)), [(X, y)])


def accepts(header: dict[str, Any], arrays: dict[str, Any], blocks: Any) -> verify.Verdict | None:
    """Return the verdict about a file with these parts, None if it is refused."""
    file = io.BytesIO()
    write(file, header, arrays)
    try:
        return verify.check(file, blocks)
    except verify.Refused:
        return None


def check_true(one: Proved) -> str:
    """Check the file of a solution as it was written."""
    found = accepts(one.header, one.arrays, one.blocks)
    assert found is not None, "a true file is refused"
    allowed = 10 * (one.answer.certificate.gap + found.rounding) + SLOPES * abs(found.objective)
    allowed += ZERO * abs(one.problem.objective(np.zeros(one.problem.n_features)))
    if found.radius < np.inf:  # what is left on free columns is charged by the radius
        return "true, radius"
    assert found.gap <= allowed, f"gap {found.gap:.2g}, the solver's {one.answer.certificate.gap}"
    return "true"


def another(given: RandomProblem, rng: np.random.Generator) -> tuple[str, RandomProblem]:
    """Return a problem on the same rows that differs in one part."""
    n, d = given.X.shape
    kind = rng.choice(["loss", "weight", "penalty", "bounds"])
    if kind == "loss":
        loss = _loss(rng)
        while loss.loss.of != given.loss.loss.of:
            loss = _loss(rng)
        return kind, replace(given, loss=loss)
    if kind == "weight":
        return kind, replace(given, weight=rng.exponential(size=n))
    if kind == "penalty":
        penalty, charge = _penalty(rng, d)
        return kind, replace(given, penalty=penalty, charge=charge)
    reach = 10.0 ** rng.uniform(-2, 8)
    return kind, replace(given, constraints=[Box(-reach, reach)], conditions=[])


def forgeries(
    kind: str, one: Proved, other: Proved, rng: np.random.Generator
) -> Iterator[tuple[str, dict[str, Any], dict[str, Any]]]:
    """Yield files about `other` whose claim is false."""
    best, size = other.answer.objective, np.abs(other.answer.coef).max(initial=1e-3)
    for k in range(FORGED_PER_PAIR):
        arrays = {name: array.copy() for name, array in other.arrays.items()}
        if k % 2 == 0 and one.arrays["coef"].shape == arrays["coef"].shape:
            arrays |= {name: one.arrays[name].copy() for name in ANSWERS}
        else:
            kind = "moved"
            move = size * 10.0 ** rng.uniform(-4, 1) * rng.normal(size=arrays["coef"].size)
            arrays["coef"] = np.clip(arrays["coef"] + move, arrays["lower"], arrays["upper"])
        if k >= FORGED_PER_PAIR - 2:
            arrays["split_coef"] = arrays["coef"]
        coef, intercept = arrays["coef"], 0.0
        if other.given.intercept:
            coef, intercept = coef[:-1], float(coef[-1])
        objective = other.problem.objective(coef, intercept)
        lie = objective - best
        if np.isfinite(objective) and lie > LEAST_LIE * max(abs(objective), abs(best)):
            claim = {"objective": float(objective).hex(), "gap": float(0.9 * lie).hex()}
            yield kind, {**other.header, "claim": claim}, arrays


def is_competitor(other: Proved, header: dict[str, Any], arrays: dict[str, Any]) -> bool:
    """Whether the optimum is among the coefficients that a verdict with a radius is about."""
    (checker,) = verify.problems(*nested(header, arrays))
    verify.show_rows([checker], other.blocks)
    checker.verdict()
    free = (arrays["rho"] == 0) & (np.isinf(arrays["lower"]) | np.isinf(arrays["upper"]))
    return bool((np.abs(other.arrays["coef"]) <= checker.far)[free].all())


def check_tasks(rng: np.random.Generator) -> Iterator[str]:
    """Check true and false files of tasks that share a subspace."""
    one = ProvedTasks.random(rng)
    assert accepts(one.header, one.arrays, one.blocks) is not None, "a true file is refused"
    yield "true, tasks"
    for header, arrays in one.forgeries(rng):
        assert accepts(header, arrays, one.blocks) is None, "a false claim about tasks verifies"
        yield "false, tasks"


def main() -> int:
    """Make files, print what became of them, and return 1 if the checker was wrong."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--files", type=int, default=10_000, help="false files to make")
    parser.add_argument("--seconds", type=float, default=np.inf, help="stop after this long")
    parser.add_argument("--seed", type=int, default=int(date.today().strftime("%Y%m%d")))
    arguments = parser.parse_args()
    began, outcomes, case, failures = time.perf_counter(), Counter[str](), 0, 0
    while (
        sum(outcomes[name] for name in outcomes if name.startswith("false")) < arguments.files
        and time.perf_counter() - began < arguments.seconds
    ):
        rng = np.random.default_rng([arguments.seed, case, 1])
        try:
            if case % TASKS_EVERY == 0:
                outcomes.update(check_tasks(rng))
            one = solved(random_problem(arguments.seed, case))
            if one is not None:
                outcomes[check_true(one)] += 1
                kind, changed = another(one.given, rng)
                other = solved(changed)
                for name, header, arrays in forgeries(kind, one, other, rng) if other else ():
                    outcomes[f"false, {name}"] += 1
                    found = accepts(header, arrays, one.blocks)
                    if found is not None and is_competitor(other, header, arrays):
                        raise AssertionError(f"a false claim verifies ({name}): {found}")
                    outcomes["true within its radius"] += found is not None
        except Exception as error:
            failures += 1
            print(f"case {case} of seed {arguments.seed}: {type(error).__name__}: {error}")
        case += 1
    seconds = time.perf_counter() - began
    print(f"{case} problems in {seconds:.0f} s: {dict(sorted(outcomes.items()))}, {failures} wrong")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
