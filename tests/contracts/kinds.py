"""Small problems that every solver is held to, and how two answers are compared."""

import numpy as np
import pytest
from cases import FLAT, GENERAL, SOLVERS

import rectiline as rl
from rectiline import Problem
from rectiline.constraints import Box, Fairness, LinearEquality, Monotone
from rectiline.losses import Absolute, Hinge, Huber, Pinball, SquaredError, SquaredHinge
from rectiline.penalties import L1, ElasticNet, Ridge

NAMES = [solver.name for solver in SOLVERS]
solvers = pytest.mark.parametrize("solver", [solver.name for solver in GENERAL])
RNG = np.random.default_rng(12)
X = RNG.normal(size=(60, 6))
X[np.abs(X) < 0.4] = 0.0
SIGNAL = X @ RNG.normal(size=6) + RNG.normal(size=60) + 0.5
LABELS = np.where(SIGNAL > 0.3, 1, -1)
GROUP = (RNG.random(60) < 0.5).astype(float)

ROWS = [Fairness(GROUP, 0.01), LinearEquality([1, 0, -1, 0, 0, 0], 0.05)]
KINDS = {
    "hinge": {"y": LABELS, "loss": Hinge(), "penalty": Ridge(8.0)},
    "hinge, origin": {"y": LABELS, "loss": Hinge(), "penalty": Ridge(8.0), "fit_intercept": False},
    "squared hinge": {"y": LABELS, "loss": SquaredHinge(), "penalty": ElasticNet(0.5, 9.0)},
    "pinball": {"y": SIGNAL, "loss": Pinball(0.8), "penalty": Ridge(9.0)},
    "huber": {
        "y": SIGNAL,
        "loss": Huber(0.7),
        "penalty": ElasticNet(1.0, 9.0),
        "fit_intercept": False,
    },
    "box": {
        "y": SIGNAL,
        "loss": Absolute(),
        "penalty": Ridge(9.0),
        "constraints": [Box(-0.1, 0.2)],
    },
    "rows": {"y": SIGNAL, "loss": Absolute(), "penalty": Ridge(9.0), "constraints": ROWS},
    "order": {"y": SIGNAL, "loss": Huber(1.0), "penalty": Ridge(20.0), "constraints": [Monotone()]},
}
FLAT_KINDS = {
    "l1": {"y": SIGNAL, "loss": Pinball(0.3), "penalty": L1(3.0)},
    "l1 weights": {"y": LABELS, "loss": Hinge(), "penalty": L1(1.0, weights=[1, 0, 2, 0, 1, 1])},
    "l1 bounds": {
        "y": SIGNAL,
        "loss": Huber(0.5),
        "penalty": L1(1.0),
        "constraints": [Box(0.0, 0.3)],
    },
    "no penalty": {"y": SIGNAL, "loss": Absolute(), "penalty": None},
    "no penalty, rows": {"y": SIGNAL, "loss": SquaredError(), "penalty": None, "constraints": ROWS},
}
# What solvers take that are not for everything.
SPECIAL = {
    "generation": ["l1", "l1 weights", "l1 bounds"],
    "reduced_newton": ["hinge", "hinge, origin", "pinball"],
    "smoothed": ["l1"],
}


def pairs(solvers, flat=False):
    """Mark a test for solvers, each with the kinds of problems that it takes."""
    listed = []
    for solver in solvers:
        taken = [*KINDS, *(FLAT_KINDS if flat and FLAT[0] in solver.penalties else [])]
        for kind in taken if solver.is_general else SPECIAL[solver.name]:
            listed.append(pytest.param(solver.name, kind, id=f"{solver.name}-{kind}"))
    return pytest.mark.parametrize(("solver", "kind"), listed)


each = pairs([solver for solver in SOLVERS if solver.tol <= 1e-10])
every = pairs(SOLVERS, flat=True)


def make(kind, X=X, **changes):
    return Problem(X, **{**{**KINDS, **FLAT_KINDS}[kind], **changes})


def y_of(kind):
    return {**KINDS, **FLAT_KINDS}[kind]["y"]


def solved(problem, solver, tol=1e-9, **options):
    solution = rl.solve(problem, solver=solver, tol=tol, **options)
    assert solution.status == "solved"
    return solution


def same(one, other):
    """Two answers to one problem, each proved to 1e-9: strong convexity bounds their distance."""
    assert other.objective == pytest.approx(one.objective, rel=4e-9)
    scale = np.linalg.norm(one.coef) + 1e-3
    assert np.linalg.norm(other.coef - one.coef) <= 1e-3 * scale
