"""Every case against a semidefinite program of an independent solver, with default settings."""

import numpy as np
import pytest

from rectiline import constraints, losses
from rectiline.solvers.multitask import solve_multitask

from .cases import CASES, Case

CONSTRAINED = [
    Case(f"{type(held[0]).__name__}-{loss.name}-{center}", loss, constraints=held, center=center)
    for held in (
        (constraints.Nonnegative(),),
        (constraints.Box(-0.2, 0.3),),
        (constraints.Monotone(),),
        (constraints.LinearEquality(np.ones((1, 5)), -1.0),),
        (constraints.LinearInequality(np.ones((1, 5)), -1.0), constraints.Nonnegative()),
    )
    for loss, center in (
        (losses.Hinge(), False),
        (losses.SquaredError(), True),
        (losses.Pinball(0.3), False),
    )
]

EACH_ITS_OWN = (
    (constraints.Nonnegative(),),
    (),
    (constraints.Box(-0.1, 0.2), constraints.LinearEquality(np.ones((1, 5)), -0.1)),
    (constraints.Monotone(),),
)
CONSTRAINED += [
    Case(f"each-its-own-{loss.name}", loss, constraints=EACH_ITS_OWN, seed=12)
    for loss in (losses.SquaredHinge(), losses.Huber(0.7), losses.Pinball(0.3))
]


@pytest.mark.parametrize("case", CASES + CONSTRAINED, ids=lambda case: case.name)
def test_certified_and_equal_to_the_semidefinite_program(case):
    solution = solve_multitask(case.problem())  # a warning would be an error
    proof = solution.certificate
    assert solution.status == "solved"
    assert proof.relative_gap <= 1e-6
    assert proof.violation <= 1e-12
    optimum = case.reference()
    assert solution.objective == pytest.approx(optimum, rel=2e-6, abs=1e-7)
    # The bound is a bound, up to the accuracy of the other solver.
    assert proof.dual <= optimum + 1e-6 * max(abs(optimum), 0.1)
