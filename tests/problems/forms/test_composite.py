"""The composite form: its estimate of the gap."""

from __future__ import annotations

import numpy as np
import pytest

import rectiline as rl
from rectiline.constraints import LinearInequality, Nonnegative
from rectiline.problems.forms import CompositeForm, FormPoint


@pytest.mark.parametrize("spread", [0.0, 6.0])
def test_rounding_of_q_does_not_spoil_the_estimated_gap(spread):
    """Without a penalty all of q is rounding, and bounds on one side forbid one of its signs."""
    rng = np.random.default_rng(5)
    scale = 10.0 ** rng.uniform(-spread, spread, 8)
    X = rng.normal(size=(60, 8))
    y = X @ rng.uniform(1.0, 2.0, 8) + rng.normal(size=60)
    form = CompositeForm(rl.Problem(X * scale, y, "squared_error", None, [Nonnegative()]))
    coef = np.linalg.lstsq(X, y, rcond=None)[0]
    g = X @ coef - y
    point = FormPoint(coef / scale, 0.0, g, np.zeros(0))
    z, q = form.design.both(point.coef, g)
    for sign in (1.0, -1.0):  # one of them has entries that the bounds forbid
        primal, gap = form.gap(point, z, sign * q)
        assert gap <= 1e-12 * primal


def test_multipliers_of_constraint_rows_count_in_the_rounding_of_q():
    """They cancel one another here, and beside them the products of X are next to nothing."""
    rng = np.random.default_rng(5)
    rows = 1e6 * np.array([[0.1, 0.3], [-0.1, -0.3]])
    constraints = [Nonnegative(), LinearInequality(rows, -rows.sum(axis=1))]
    X = np.linalg.qr(rng.normal(size=(20, 3)))[0]
    y = X.sum(axis=1)
    form = CompositeForm(rl.Problem(X[:, :2], y, "squared_error", None, constraints))
    coef, g = np.ones(2), -X[:, 2]
    point = FormPoint(coef, 0.0, g, np.array([3.0, 3.0]))
    q = np.array([1e-9, 0.0])  # as rounding may leave it
    primal, gap = form.gap(point, y + g, q)
    assert gap <= 1e-12 * primal
