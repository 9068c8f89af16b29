"""The best pair of a run keeps what has been proved about it."""

from types import SimpleNamespace

import numpy as np

from rectiline.problems import Certificate
from rectiline.solvers._best import Best

GOOD = Certificate(primal=1.0, gap=1e-5, violation=0.0)
LOST = Certificate(primal=1.0, gap=np.inf, violation=0.0)
SHARP = Certificate(primal=1.0, gap=1e-6, violation=0.0)


def best_after(*proofs):
    """Return the best pair after a certificate and the two of `sharpen`."""
    made = iter(proofs)
    problem = SimpleNamespace(prove=lambda coef, intercept, dual, tol=None: (next(made), dual))
    best = Best(problem, 1e-6)
    best.keep(np.zeros(1), 0.0, "multipliers", "newton")
    best.sharpen()
    return best


def test_a_sharper_proof_that_fails_costs_nothing():
    """Moving multipliers once more can lose the bound that the pair had."""
    assert best_after(GOOD, GOOD, LOST).certificate is GOOD


def test_a_sharper_proof_counts():
    assert best_after(GOOD, GOOD, SHARP).certificate is SHARP
