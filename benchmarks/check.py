"""Do all adapters mean the same objective? Small problems, every loss, every solver that takes it.

A translation with a wrong factor shows up as an error that does not vanish with the tolerance.
``python -m benchmarks check`` runs this in the rivals' environment.
"""

from __future__ import annotations

import importlib.metadata
import math
import sys

from .cases import Case, margin, residual
from .objective import build
from .rivals import MARGIN, NAMES, get
from .scoring import ROUNDING, Score, relative, score

SIZE = (400, 8)
PLAIN = (
    ("hinge", None),
    ("squared_hinge", None),
    ("smoothed_hinge", 0.7),
    ("modified_huber", None),
    ("pinball", 0.5),
    ("pinball", 0.9),
    ("absolute", None),
    ("huber", 0.7),
    ("squared_error", None),
    ("epsilon_insensitive", 0.1),
    ("squared_epsilon_insensitive", 0.1),
    ("expectile", 0.8),
)
TOLERANCE = {"sgd": 1e-3, "snapml": 1e-7, "osqp": 1e-6, "skglm": 1e-10}
ALLOWED = {"sgd": 0.1, "snapml": 1e-5, "osqp": 1e-3}  # slow or single precision


def _case(loss: str, parameter: float | None, **options: object) -> Case:
    data = (margin if loss in MARGIN else residual)("good", *SIZE)
    return Case(data, loss, parameter, C=3.0, **options)  # type: ignore[arg-type]


CASES = [
    *(_case(loss, parameter) for loss, parameter in PLAIN),
    *(_case(loss, parameter, l2=0.5, intercept=True) for loss, parameter in PLAIN),
    _case("pinball", 0.3, l1=0.1, l2=0.5),
    _case("huber", 1.0, l1=0.1, l2=0.5, intercept=True),
    _case("hinge", None, fairness=0.01),
    _case("hinge", None, l1=0.05, l2=0.0, intercept=True),
    _case("pinball", 0.3, l1=0.05, l2=0.0, intercept=True),
    _case("pinball", 0.3, l2=0.0, intercept=True),
    _case("absolute", None, l2=0.0, intercept=True),
]


def answers(case: Case) -> dict[str, Score | str]:
    """The score of every solver that takes the case, or what it raised."""
    objective, _ = build(case)
    found: dict[str, Score | str] = {}
    for name in NAMES:
        rival = get(name)
        if rival.skip(objective):
            continue
        try:
            importlib.metadata.version(rival.package)
            rival.prepare(objective)
            found[name] = score(objective, rival.answer(rival.solve(TOLERANCE.get(name, 1e-9), 20)))
        except importlib.metadata.PackageNotFoundError:
            continue
        except Exception as error:
            found[name] = f"{type(error).__name__}: {error}"
    return found


def main() -> int:
    """Print a line per case; the status is 1 when any solver disagrees."""
    wrong = 0
    for case in CASES:
        found = answers(case)
        scores = {name: s for name, s in found.items() if isinstance(s, Score)}
        bound = max((s.bound for s in scores.values()), default=-math.inf)
        errors = {name: relative(s.primal, bound) for name, s in scores.items()}
        bad = {
            name: f"{error:.1e}"
            for name, error in errors.items()
            if not -ROUNDING * 10 - scores[name].violation <= error <= ALLOWED.get(name, 1e-6)
        }
        bad |= {name: text for name, text in found.items() if isinstance(text, str)}
        agree = len(found) - len(bad)
        print(f"{'BAD' if bad else 'ok '} {case.name}: {agree} solvers agree" + _why(bad))
        wrong += bool(bad)
    return int(wrong > 0)


def _why(bad: dict[str, str]) -> str:
    return "" if not bad else " except " + ", ".join(f"{k} ({v})" for k, v in bad.items())


if __name__ == "__main__":
    sys.exit(main())
