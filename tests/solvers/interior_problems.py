"""Small problems for the tests of the interior point method, and what it promises on them."""

import numpy as np
import pytest

import rectiline as rl
from rectiline import Problem
from rectiline.losses import (
    Absolute,
    EpsilonInsensitive,
    Expectile,
    Hinge,
    Huber,
    ModifiedHuber,
    PiecewiseLQ,
    Pinball,
    SmoothedHinge,
    SquaredEpsilonInsensitive,
    SquaredError,
    SquaredHinge,
)

MARGIN = {
    "hinge": Hinge(),
    "squared hinge": SquaredHinge(),
    "smoothed hinge": SmoothedHinge(),
    "modified huber": ModifiedHuber(),
}
RESIDUAL = {
    "absolute": Absolute(),
    "epsilon": EpsilonInsensitive(0.1),
    "squared epsilon": SquaredEpsilonInsensitive(0.1),
    "pinball": Pinball(0.9),
    "huber": Huber(0.5),
    "squared error": SquaredError(),
    "expectile": Expectile(0.8),
    "pieces": PiecewiseLQ([-1, 2], [(0, -3, 0), (0.5, 0, 2.5), (1, 0, 0.5)]),
}
LOSSES = {**MARGIN, **RESIDUAL}
losses = pytest.mark.parametrize("name", LOSSES)
three = pytest.mark.parametrize("name", ["hinge", "pinball", "huber"])


def data(name, n, d, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d))
    signal = X @ rng.normal(size=d) / np.sqrt(d) + rng.normal(size=n)
    return X, np.where(signal > 0, 1, -1) if name in MARGIN else signal


def solved(problem, most=60, tol=1e-9, **options):
    solution = rl.solve(problem, solver="interior", tol=tol, **options)
    assert solution.status == "solved"
    assert problem.certify(solution).holds(tol)
    assert solution.n_iter <= most
    return solution


def make(name, X, y, penalty, **more):
    return Problem(X, y, loss=LOSSES[name], penalty=penalty, **more)
