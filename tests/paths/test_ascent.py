"""The smallest strength with zeros only, from below, against linear programs solved by HiGHS."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse
from scipy.optimize import linprog

import rectiline as rl
from rectiline.paths import largest_strength
from rectiline.paths._largest import zero_point
from rectiline.penalties import L1

RNG = np.random.default_rng(4)
N, D = 400, 6
X = RNG.normal(size=(N, D)) * [1, 1, 30, 0.01, 1, 1] + [0, 5, 0, 0, 0, 0]
X[:, 4] = X[:, 0] + 1e-3 * X[:, 4]  # nearly the same column
LABELS = np.where(X[:, 0] + 0.5 * RNG.normal(size=N) > 0.7, 1, -1)
TARGETS = np.round(X[:, 0] + RNG.normal(size=N))  # with ties, so that multipliers are open
ZEROS = RNG.uniform(0, 2, N) * (RNG.random(N) < 0.8)

# Each with its definition: predictions z, and labels or targets y.
LOSSES = {
    "hinge": (rl.losses.Hinge(), LABELS, lambda z, y: np.maximum(1 - y * z, 0)),
    "absolute": (rl.losses.Absolute(), TARGETS, lambda z, y: np.abs(y - z)),
    "pinball": (
        rl.losses.Pinball(0.77),
        TARGETS,
        lambda z, y: np.maximum(0.77 * (y - z), -0.23 * (y - z)),
    ),
    "insensitive": (
        rl.losses.EpsilonInsensitive(1.0),
        TARGETS,
        lambda z, y: np.maximum(np.abs(y - z) - 1, 0),
    ),
}


def oracle(problem, costs, name="hinge"):
    """Return the least t such that multipliers of the model without coefficients allow it.

    The losses are straight lines next to zero: their slopes on either side are all that counts.
    """
    X = problem.design.X
    X = np.asarray(X.toarray() if sparse.issparse(X) else X, dtype=np.float64)
    _, y, value = LOSSES[name]
    z, step = zero_point(problem).intercept, 2.0**-20
    left, here, right = (value(z + move, y) for move in (-step, 0.0, step))
    low, high = (problem.weight * one / step for one in (here - left, right - here))
    n, d = X.shape
    # Over t, g: minimise t with |X'g| <= t costs.
    sides = np.vstack([np.hstack([-costs[:, None], X.T]), np.hstack([-costs[:, None], -X.T])])
    found = linprog(
        np.append(1.0, np.zeros(n)),
        A_ub=sides,
        b_ub=np.zeros(2 * d),
        A_eq=np.append(0.0, np.ones(n))[None] if problem.fit_intercept else None,
        b_eq=[0.0] if problem.fit_intercept else None,
        bounds=[(0, None), *zip(low, high, strict=True)],
        method="highs",
        options={"primal_feasibility_tolerance": 1e-10, "dual_feasibility_tolerance": 1e-10},
    )
    return found.fun


@pytest.mark.parametrize("weight", [None, ZEROS], ids=["equal", "zeros"])
@pytest.mark.parametrize("name", LOSSES)
def test_it_ends_at_the_strength_and_proves_it(name, weight):
    loss, y, _ = LOSSES[name]
    problem = rl.Problem(X, y, loss, L1(1.0), sample_weight=weight)
    wanted = oracle(problem, np.ones(D), name)
    found = zero_point(problem)
    assert found.strength == pytest.approx(wanted, rel=1e-7)
    # Multipliers prove as much from above.
    proved = problem.penalty.dual_norm(-X.T @ found.dual.sample)
    assert proved == pytest.approx(found.strength, rel=1e-8)


@pytest.mark.parametrize("fit_intercept", [True, False])
@pytest.mark.parametrize(
    "form",
    [np.float32, np.asfortranarray, sparse.csr_array, sparse.csc_array],
    ids=["float32", "fortran", "csr", "csc"],
)
def test_however_x_is_stored(form, fit_intercept):
    X_ = form(np.where(np.abs(X) > 0.4 * np.abs(X).max(axis=0), 0.0, X))
    # Without an intercept nothing is open at zero under the hinge loss.
    name = "hinge" if fit_intercept else "absolute"
    loss, y, _ = LOSSES[name]
    problem = rl.Problem(X_, y, loss, L1(1.0), fit_intercept=fit_intercept)
    wanted = oracle(problem, np.ones(D), name)
    assert largest_strength(problem) == pytest.approx(wanted, rel=1e-7)


def test_columns_may_cost_more_or_less():
    costs = np.array([1.0, 3.0, 0.2, 1.0, 1.0, 2.0])
    problem = rl.Problem(X, LABELS, rl.losses.Hinge(), L1(1.0, weights=costs))
    wanted = oracle(problem, costs)
    assert largest_strength(problem) == pytest.approx(wanted, rel=1e-7)


def test_every_strength_leaves_no_coefficients():
    """Columns that say nothing: there is nothing to rise to."""
    problem = rl.Problem(np.zeros((20, 2)), LABELS[:20], rl.losses.Hinge(), L1(1.0))
    assert largest_strength(problem) == 0.0
