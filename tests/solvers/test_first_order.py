"""First-order answers are rough but certified."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

import rectiline as rl
from rectiline.problems.forms import CompositeForm
from rectiline.solvers.first_order import screened_columns, smoothed_start, zero_dual

L, P = rl.losses, rl.penalties


def problem(loss, penalty, n=80, d=60):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((n, d))
    z = X[:, :5].sum(axis=1) + rng.standard_normal(n)
    return rl.Problem(X, np.where(z > 0, 1, -1) if loss.of == "margin" else z, loss, penalty)


PENALTIES = [P.L1(4.0), P.GroupLinf(8.0, np.repeat(np.arange(20), 3)), P.Slope.bh(60, 0.1, 2.0)]
LOSSES = [L.Hinge(), L.Pinball(0.3), L.EpsilonInsensitive(0.2), L.Huber(1.0), L.SquaredHinge()]


@pytest.mark.parametrize("penalty", PENALTIES, ids=lambda one: type(one).__name__)
@pytest.mark.parametrize("loss", LOSSES, ids=lambda one: one.name)
@pytest.mark.parametrize("method", ["gradient", "blocks"])
def test_reaches_a_rough_gap(loss, penalty, method):
    if method == "blocks" and isinstance(penalty, P.Slope):
        with pytest.raises(rl.UnsupportedProblemError, match="no blocks"):
            rl.solve(problem(loss, penalty), solver="first_order", method=method)
        return
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", rl.ConvergenceWarning)
        limit = 800 if method == "gradient" else 150
        solution = rl.solve(
            problem(loss, penalty), solver="first_order", method=method, tol=5e-2, max_iter=limit
        )
    assert solution.certificate.relative_gap <= (5e-2 if method == "gradient" else 0.15)


def test_constraint_rows_are_refused():
    rng = np.random.default_rng(1)
    one = rl.Problem(
        rng.standard_normal((9, 3)),
        rng.standard_normal(9),
        L.Absolute(),
        P.L1(1.0),
        constraints=[rl.constraints.Monotone()],
    )
    with pytest.raises(rl.UnsupportedProblemError, match="proximal step"):
        rl.solve(one, solver="first_order")


@pytest.mark.parametrize("options", [{"method": "magic"}, {"smoothing": 0.0}])
def test_options_are_checked(options):
    (name,) = options
    with pytest.raises(ValueError, match=name):
        rl.solve(problem(L.Hinge(), P.L1(1.0)), solver="first_order", **options)


def test_screening_keeps_whole_groups():
    form = CompositeForm(problem(L.Hinge(), PENALTIES[1]))
    _, g = zero_dual(form)
    chosen = screened_columns(form, form.design.tdot(g), 9)
    assert chosen.size % 3 == 0 and chosen.size >= 3


def test_slopes_at_zero_are_balanced():
    form = CompositeForm(problem(L.Hinge(), PENALTIES[0]))
    _, g = zero_dual(form)
    assert abs(g.sum()) <= 1e-12 * np.abs(g).sum()


def test_subsamples_find_the_support():
    form = CompositeForm(problem(L.Hinge(), P.L1(10.0), n=400))
    _, g = zero_dual(form)
    q = -form.design.tdot(g)
    coef, _ = smoothed_start(form, q, n_columns=60, n_samples=200, repeats=3)
    assert set(np.argsort(-np.abs(coef))[:5]) == set(range(5))
