"""Solve random awkward problems and compare with Clarabel; `make fuzz-solve`.

Every problem is solved without a warning, to an objective at most 1e-6 above Clarabel's, within ten
seconds of CPU time, or refused as infeasible or unbounded, as Clarabel does. Where the two
disagree, or Clarabel fails, `rectiline.verify` checks our certificate in rational arithmetic: what
is proved there is right. One line is printed for each failure, then a summary.

    python tests/fuzz_solve.py --problems 1000 --seed 7
    python tests/fuzz_solve.py --seed 7 --case 31     # one problem, with everything about it
"""

from __future__ import annotations

import argparse
import io
import math
import sys
import time
import warnings
from collections import Counter
from datetime import date

import cvxpy as cp
import numpy as np
from random_problems import Program, RandomProblem, random_problem

import rectiline as rl
from rectiline import verify

WORSE = 1e-6  # relative to the optimum
SECONDS = 10.0  # of CPU time: most that a problem may take
FEASIBLE = 1e-8  # relative violation of our answers


class Failure(Exception):
    """A problem that is not solved as it should be."""


def clarabel(program: Program) -> tuple[str, float, float]:
    """Return status, value and tolerance of the most exact run that Clarabel calls finished."""
    problem = cp.Problem(cp.Minimize(program.objective), program.constraints)
    status = "error"
    for tol in (1e-11, 1e-9, 1e-8):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            try:
                problem.solve(
                    solver=cp.CLARABEL, tol_gap_abs=tol, tol_gap_rel=tol, tol_feas=tol, max_iter=300
                )
                status = problem.status
            except cp.SolverError:
                status = "error"
        if status in ("optimal", "infeasible", "unbounded"):
            return status, float(problem.value), tol
    return status, math.nan, math.inf


def check(given: RandomProblem, show: bool = False) -> tuple[str, float]:
    """Solve a problem both ways; return what came out and our seconds, or raise Failure."""
    problem = given.problem()
    began = time.process_time()
    try:
        answer = rl.solve(problem, time_limit=20 * SECONDS)
    except Warning as warning:
        raise Failure(f"warning: {warning}") from warning
    seconds = time.process_time() - began
    program = given.program()
    status, value, tol = clarabel(program)
    if show:
        print(answer, answer.reason, sep="\n")
        print(f"Clarabel: {status} {value!r} at {tol}; ours: {answer.objective!r}")
    if seconds > SECONDS:
        raise Failure(f"took {seconds:.1f} s")
    if answer.status in ("infeasible", "unbounded"):
        if status.removesuffix("_inaccurate") != answer.status and not is_proved(given, answer):
            raise Failure(f"called {answer.status}; Clarabel: {status} {value}")
        return str(answer.status), seconds
    if answer.status != "solved":
        raise Failure(f"ended as {answer.status}; Clarabel: {status} {value}")
    if answer.certificate.relative_violation > FEASIBLE:
        raise Failure(f"violation {answer.certificate.relative_violation:.1e}")
    ours = program.value(answer.coef, answer.intercept)
    least = 1e-9 * abs(problem.objective(np.zeros(problem.n_features)))
    least = max(least, 1e-9 * abs(problem.objective(2 * answer.coef, 2 * answer.intercept)))
    size = max(abs(value), abs(ours), least)
    if status == "optimal" and ours - value <= (WORSE + 10 * tol) * size:
        return "solved", seconds
    if not is_proved(given, answer, least):
        raise Failure(f"solved, {ours!r}, not proved; Clarabel: {status} {value!r}")
    return "solved and proved, Clarabel differs", seconds


def is_proved(given: RandomProblem, answer: rl.Solution, least: float = 0.0) -> bool:
    """Whether the certificate holds in rational arithmetic, read from a file by `verify`."""
    file = io.BytesIO()
    answer.save(file, given.problem())
    file.seek(0)
    X, y, weight = given.X, given.y, given.weight
    if given.linear is not None:  # one more row
        X, y = np.vstack([X, given.linear]), np.append(y, float(given.loss.loss.of == "margin"))
        weight = None if weight is None else np.append(weight, 1.0)
    try:
        found = verify.check(file, [(X, y) if weight is None else (X, y, weight)], exact=True)
    except verify.Refused:
        return False
    if answer.status == "infeasible" or found is None:
        return answer.status == "infeasible" and found is None
    if answer.status == "unbounded" or found.kind == "unbounded":
        return answer.status == found.kind
    # The checker charges free columns by a radius where the library shows exact multipliers.
    allowed = max(2 * WORSE * abs(found.objective), 10 * answer.certificate.gap) + 1e-3 * least
    return bool(found.gap <= allowed)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--problems", type=int, default=1000)
    parser.add_argument("--seconds", type=float, default=math.inf, help="stop after this long")
    parser.add_argument("--seed", type=int, default=int(date.today().strftime("%Y%m%d")))
    parser.add_argument("--first", type=int, default=0, help="the case to begin with")
    parser.add_argument("--case", type=int, help="run this case alone and show everything")
    arguments = parser.parse_args()
    warnings.simplefilter("error")
    if arguments.case is not None:
        given = random_problem(arguments.seed, arguments.case)
        print(given.name)
        print(check(given, show=True))
        return 0
    began = time.perf_counter()
    outcomes: Counter[str] = Counter()
    slowest, failures = (0.0, 0), 0
    for case in range(arguments.first, arguments.first + arguments.problems):
        if time.perf_counter() - began > arguments.seconds:
            break
        given = random_problem(arguments.seed, case)
        try:
            outcome, seconds = check(given)
        except Exception as error:
            failures += 1
            said = str(error) if isinstance(error, Failure) else f"{type(error).__name__}: {error}"
            again = f"python tests/fuzz_solve.py --seed {arguments.seed} --case {case}"
            print(f"{again}: {given.name}: {said}", flush=True)
            continue
        outcomes[outcome] += 1
        slowest = max(slowest, (seconds, case))
    total = sum(outcomes.values()) + failures
    print(f"{total} problems of seed {arguments.seed}: {dict(outcomes)}, {failures} failures")
    print(f"slowest of ours: case {slowest[1]}, {slowest[0]:.2f} s")
    return 1 if failures else 0


if __name__ == "__main__":
    np.set_printoptions(precision=12)
    sys.exit(main())
