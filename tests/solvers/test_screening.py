"""First looks at problems: screened columns and slopes at zero."""

from __future__ import annotations

import numpy as np
import pytest

import rectiline as rl
from rectiline.problems.forms import CompositeForm
from rectiline.solvers._screening import screened_columns, zero_dual

L, P = rl.losses, rl.penalties


def problem(loss, penalty, n=80, d=60):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((n, d))
    z = X[:, :5].sum(axis=1) + rng.standard_normal(n)
    return rl.Problem(X, np.where(z > 0, 1, -1) if loss.of == "margin" else z, loss, penalty)


PENALTIES = [P.L1(4.0), P.GroupLinf(8.0, np.repeat(np.arange(20), 3)), P.Slope.bh(60, 0.1, 2.0)]


def test_the_name_first_order_names_its_successor():
    with pytest.raises(ValueError, match=r"'first_order' is gone.*'smoothed'"):
        rl.solve(problem(L.Hinge(), P.L1(1.0)), solver="first_order")


def test_screening_keeps_whole_groups():
    form = CompositeForm(problem(L.Hinge(), PENALTIES[1]))
    _, g = zero_dual(form)
    chosen = screened_columns(form, form.design.tdot(g), 9)
    assert chosen.size % 3 == 0 and chosen.size >= 3


def test_slopes_at_zero_are_balanced():
    form = CompositeForm(problem(L.Hinge(), PENALTIES[0]))
    _, g = zero_dual(form)
    assert abs(g.sum()) <= 1e-12 * np.abs(g).sum()


def test_slopes_that_overflow_choose_every_column():
    rng = np.random.default_rng(0)
    X, y = 1e160 * rng.standard_normal((26, 3)), 1e150 * rng.standard_normal(26)
    problem = rl.Problem(X, y, "squared_error", rl.penalties.Slope([6e-200, 5e-200, 3e-200]))
    form = CompositeForm.apply(problem)
    assert screened_columns(form, np.full(3, np.nan), 3).tolist() == [0, 1, 2]
