"""A few pinned numbers on real data: whoever changes them has to say why.

Each value was found by the library to a certified relative gap of 1e-11 and confirmed by Clarabel.
"""

import numpy as np
import pytest
from cases import GENERAL
from sklearn.datasets import load_breast_cancer, load_diabetes, load_wine

import rectiline as rl
from rectiline.constraints import Box, Fairness, LinearEquality, Monotone, Nonnegative
from rectiline.losses import Absolute, Hinge, Huber, PiecewiseLQ, Pinball, SquaredHinge
from rectiline.penalties import ElasticNet, Ridge


def standardised(load):
    X, y = load(return_X_y=True)
    return (X - X.mean(axis=0)) / X.std(axis=0), y


def cancer():
    return standardised(load_breast_cancer)


def diabetes():
    X, y = standardised(load_diabetes)
    return X, y / 100.0


def wine():
    X, y = standardised(load_wine)
    return X, y == 0


AGE = standardised(load_diabetes)[0][:, 0]
STEEP = PiecewiseLQ([-1, 0, 0.5], [(0, -1, -0.5), (0.5, 0, 0), (0, 1, 0), (0, 3, -1)])

GOLDEN = {
    "svm": (cancer, {"loss": Hinge(), "penalty": Ridge(50.0)}, 69.90452448262812),
    "squared svm, elastic net": (
        cancer,
        {"loss": SquaredHinge(), "penalty": ElasticNet(5.0, 80.0)},
        84.96365188573326,
    ),
    "quantile 0.9": (diabetes, {"loss": Pinball(0.9), "penalty": Ridge(40.0)}, 44.65002784997103),
    "custom loss": (diabetes, {"loss": STEEP, "penalty": Ridge(40.0)}, 129.0551468567763),
    "nonnegative huber": (
        diabetes,
        {"loss": Huber(0.5), "penalty": Ridge(40.0), "constraints": [Nonnegative()]},
        59.84295781239167,
    ),
    "fair median": (
        diabetes,
        {"loss": Absolute(), "penalty": Ridge(40.0), "constraints": [Fairness(AGE, 0.01)]},
        198.8674774661641,
    ),
    "ordered, bounded, summing to one": (
        wine,
        {
            "loss": Hinge(),
            "penalty": Ridge(40.0),
            "constraints": [Monotone(), Box(-0.5, 0.5), LinearEquality(np.ones(13), -1.0)],
            "fit_intercept": False,
        },
        80.68154178757742,
    ),
}


@pytest.mark.parametrize("solver", [solver.name for solver in GENERAL])
@pytest.mark.parametrize("name", GOLDEN)
def test_objective(name, solver):
    data, options, value = GOLDEN[name]
    solution = rl.solve(rl.Problem(*data(), **options), solver=solver, tol=1e-10)
    assert solution.status == "solved"
    assert solution.objective == pytest.approx(value, rel=1e-9)
    assert solution.certificate.violation <= 1e-12
