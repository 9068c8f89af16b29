"""Problems with a linear term: a proved direction, or an optimum."""

from __future__ import annotations

import numpy as np
import pytest

import rectiline as rl
from rectiline.constraints import Box, LinearInequality
from rectiline.penalties import L1, Ridge

_rng = np.random.default_rng(8)
X = _rng.normal(size=(20, 3))
Y = X @ [1.0, 2.0, 3.0]


def solve(**given):
    return rl.solve(rl.Problem(X, Y, loss="absolute", fit_intercept=False, **given))


@pytest.mark.parametrize("penalty", [None, L1(1.0)], ids=repr)
@pytest.mark.parametrize("constraints", [(), [LinearInequality([[0.0, 1.0, 0.0]], 1.0)]])
def test_a_term_that_outweighs_the_losses_has_no_optimum(penalty, constraints):
    linear = np.array([200.0, 0.0, 0.0])
    answer = solve(penalty=penalty, constraints=constraints, linear=linear)
    assert answer.status == "unbounded" and "direction" in answer.status.advice
    # Far along the direction the objective falls at a constant rate, whoever adds it up.
    d = answer.direction

    def objective(b):
        charge = 0.0 if penalty is None else np.abs(b).sum()
        return np.abs(Y - X @ b).sum() + linear @ b + charge

    far = [objective(step * d) for step in (1e3, 1e4, 1e5)]
    assert far[2] < far[1] < far[0] < objective(np.zeros(3))
    for constraint in constraints:
        assert (constraint.rows(3).A @ d >= 0).all()


@pytest.mark.parametrize(
    "given",
    [
        {"penalty": None, "linear": [0.1, 0.0, 0.0]},
        {"penalty": Ridge(1.0), "linear": [200.0, 0.0, 0.0]},
        {"penalty": L1(300.0), "linear": [200.0, 0.0, 0.0]},
        {"penalty": None, "linear": [200.0, 0.0, 0.0], "constraints": [Box(-5.0, 5.0)]},
    ],
    ids=["weak", "ridge", "l1", "box"],
)
def test_other_terms_have_one(given):
    answer = solve(**given)
    assert answer.status == "solved" and answer.direction is None
