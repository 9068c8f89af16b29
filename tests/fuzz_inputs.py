"""Throw numbers from 1e-300 to 1e300 and odd arrays at problems and estimators; `make fuzz-inputs`.

Every case either is refused when the problem is made or the fit begins, by a ValueError or a
TypeError, or it is solved or reported as unsolved. Nothing else may come out: no other error, no
warning but ConvergenceWarning, no "solved" with an objective that is not finite.

    python tests/fuzz_inputs.py --seconds 120 --seed 7
"""

from __future__ import annotations

import argparse
import sys
import time
import traceback
import warnings
from collections import Counter
from datetime import date

import numpy as np
from scipy import sparse as sp

import rectiline as rl
from rectiline.exceptions import ConvergenceWarning

LOSSES = [
    rl.losses.Absolute(),
    rl.losses.Huber(),
    rl.losses.Pinball(0.3),
    rl.losses.SquaredError(),
    rl.losses.EpsilonInsensitive(),
    rl.losses.SquaredEpsilonInsensitive(),
    rl.losses.Expectile(0.8),
]
MARGIN = [
    rl.losses.Hinge(),
    rl.losses.SquaredHinge(),
    rl.losses.SmoothedHinge(),
    rl.losses.ModifiedHuber(),
]


def power(rng: np.random.Generator, most: float = 300.0) -> float:
    """Return a size: mostly tame, sometimes anything that a float64 can hold."""
    return float(10.0 ** rng.uniform(-most, most)) if rng.random() < 0.5 else 1.0


def numbers(rng: np.random.Generator, shape: tuple[int, ...]) -> np.ndarray:
    """Return numbers of one size, or of many sizes at once."""
    with np.errstate(all="ignore"):
        values = rng.normal(size=shape) * power(rng)
        if rng.random() < 0.2:
            values = values * 10.0 ** rng.uniform(-200, 200, shape)
        if rng.random() < 0.2:
            values = np.where(rng.random(shape) < 0.5, 0.0, values)
    return np.nan_to_num(values, posinf=1e300, neginf=-1e300)


def problem(rng: np.random.Generator) -> tuple[rl.Problem, str]:
    n, d = int(rng.integers(1, 30)), int(rng.integers(1, 8))
    X = numbers(rng, (n, d))
    form = rng.integers(4)
    if form == 1:
        X = sp.csr_array(X)
    elif form == 2:
        X = np.asfortranarray(X)
    elif form == 3:
        with np.errstate(all="ignore"):
            X = np.clip(X, -3e38, 3e38).astype(np.float32)
    if rng.random() < 0.3 and n > 1:
        loss = MARGIN[rng.integers(len(MARGIN))]
        y = np.arange(n) % 2
    else:
        loss = LOSSES[rng.integers(len(LOSSES))]
        y = numbers(rng, (n,))
        if rng.random() < 0.3 and isinstance(loss, rl.losses.Huber):
            loss = rl.losses.Huber(power(rng, 150.0))
    if rng.random() < 0.2:
        loss = power(rng, 100.0) * loss
    strength = power(rng)
    penalty = [
        rl.penalties.Ridge(strength),
        rl.penalties.L1(strength),
        rl.penalties.ElasticNet(strength, power(rng)),
        rl.penalties.GroupLinf(strength, [k % 2 for k in range(d)]),
        rl.penalties.Slope(np.linspace(strength, 0.5 * strength, d)),
        None,
    ][rng.integers(6)]
    constraints: list[rl.constraints.Constraint] = []
    if rng.random() < 0.2:
        constraints.append(rl.constraints.Nonnegative())
    if rng.random() < 0.2:
        constraints.append(rl.constraints.Box(-power(rng), power(rng)))
    if rng.random() < 0.2:
        constraints.append(rl.constraints.LinearInequality(numbers(rng, (2, d)), power(rng)))
    if rng.random() < 0.15:
        constraints.append(rl.constraints.LinearEquality(numbers(rng, (1, d)), power(rng)))
    weight = np.abs(numbers(rng, (n,))) + 1e-300 if rng.random() < 0.3 else None
    intercept = bool(rng.random() < 0.5)
    made = rl.Problem(X, y, loss, penalty, constraints, weight, intercept)
    return made, repr(made)


def estimator(rng: np.random.Generator) -> None:
    n, d = int(rng.integers(2, 30)), int(rng.integers(1, 6))
    X, y = numbers(rng, (n, d)), numbers(rng, (n,))
    weight = np.abs(numbers(rng, (n,))) + 1e-300 if rng.random() < 0.3 else None
    kind = int(rng.integers(4))
    names = ["huber", "absolute", "epsilon_insensitive", "squared_error"]
    if kind == 0:
        rl.PLQRegressor(names[rng.integers(4)], time_limit=3).fit(X, y, weight)
    elif kind == 1:
        rl.PLQClassifier(C=power(rng), time_limit=3).fit(X, np.arange(n) % 2, weight)
    elif kind == 2:
        model = rl.QuantileRegressor(quantile=0.7, alpha=power(rng), time_limit=3)
        model.fit(X, y, weight)
    else:
        rl.PLQRegressorCV(names[rng.integers(4)], Cs=3, cv=2, time_limit=3).fit(X, y, weight)


REFUSED = (ValueError, TypeError)


def one_case(rng: np.random.Generator) -> str:
    """Run one case; return "refused" or a status, or raise."""
    if rng.random() < 0.25:
        try:
            estimator(rng)
        except REFUSED as error:
            check_message(error)
            return "estimator refused"
        except rl.NoAnswerError:
            return "estimator out of time"
        return "estimator"
    try:
        made, text = problem(rng)
    except REFUSED as error:
        check_message(error)
        return "refused"
    try:
        solution = rl.solve(made, time_limit=3)
    except rl.UnsupportedProblemError:
        return "unsupported"
    except rl.NoAnswerError:
        return "out of time"
    except Exception as error:
        raise AssertionError(f"accepted, then {type(error).__name__}: {error} in {text}") from error
    if solution.status == "solved" and not np.isfinite(solution.objective):
        raise AssertionError(f"solved with objective {solution.objective} in {text}")
    if np.isnan(solution.certificate.gap):
        raise AssertionError(f"the gap is not a number in {text}")
    return str(solution.status)


def check_message(error: Exception) -> None:
    """Raise unless the message is one of ours: it says what is wrong and is not about duals."""
    if len(str(error)) < 15 or "dual" in str(error):
        raise AssertionError(f"an unhelpful message: {error}") from error


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seconds", type=float, default=120.0)
    parser.add_argument("--seed", type=int, default=int(date.today().strftime("%Y%m%d")))
    parser.add_argument("--case", type=int, help="run this case alone and show everything")
    arguments = parser.parse_args()
    warnings.simplefilter("error")
    warnings.simplefilter("ignore", ConvergenceWarning)
    warnings.filterwarnings("ignore", "QuantileRegressor: the penalty of the default")
    if arguments.case is not None:
        print(one_case(np.random.default_rng([arguments.seed, arguments.case])))
        return 0
    began, case = time.perf_counter(), 0
    outcomes: Counter[str] = Counter()
    failures: dict[str, list[int]] = {}
    while time.perf_counter() - began < arguments.seconds:
        try:
            outcomes[one_case(np.random.default_rng([arguments.seed, case]))] += 1
        except Exception as error:
            frame = traceback.extract_tb((error.__cause__ or error).__traceback__)[-1]
            key = f"{type(error.__cause__ or error).__name__} at {frame.filename}:{frame.lineno}"
            failures.setdefault(f"{key}: {str(error)[:160]}"[:260], []).append(case)
        case += 1
    print(f"{case} cases of seed {arguments.seed}: {dict(outcomes)}")
    for text, cases in sorted(failures.items(), key=lambda one: -len(one[1])):
        print(f"{len(cases)} x {text} (cases {cases[:4]})")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
