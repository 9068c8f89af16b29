"""First answers on many rows in memory are judged before anything is split around them."""

from dataclasses import replace

import numpy as np
import pytest

import rectiline as rl
from rectiline.exceptions import ConvergenceWarning
from rectiline.solvers.passes import _start

L, P = rl.losses, rl.penalties
N, D, TOL = 20_000, 5, 1e-7


def problem_of(loss, order="C", dtype=np.float64, d=D):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((N, d)).astype(dtype)
    y = X @ np.arange(1.0, d + 1) + rng.standard_t(3, N)
    X = np.asarray(X, order=order)
    y = np.where(y > 0, 1.0, -1.0) if loss.of == "margin" else y
    return rl.Problem(X, y, loss=loss, penalty=P.Ridge(1.0))


@pytest.fixture
def judged_first(monkeypatch):
    monkeypatch.setattr(_start, "_MANY_ROWS", 0)
    monkeypatch.setattr(_start, "_ROWS_PER_COLUMN", 0)


@pytest.mark.parametrize("loss", [L.Pinball(0.9), L.Hinge(), L.Huber(1.0), L.SquaredHinge()])
def test_a_good_answer_needs_no_next_split(loss, judged_first):
    problem = problem_of(loss)
    found = rl.solve(problem, "passes", tol=TOL)
    assert found.status == "solved" and found.passes == 2
    assert problem.certify(found.coef, found.intercept, found.dual).holds(TOL)


@pytest.mark.parametrize("loss", [L.Pinball(0.9), L.Hinge(), L.Huber(1.0), L.SquaredHinge()])
def test_a_refused_answer_is_split_in_a_pass_of_its_own(loss, judged_first, monkeypatch):
    real = _start.first_split

    def too_near(*args):
        split, is_crowded, _ = real(*args)
        return replace(split, reach=0.2 * split.reach), is_crowded, True

    problem = problem_of(loss)
    monkeypatch.setattr(_start, "first_split", too_near)
    found = rl.solve(problem, "passes", tol=TOL)
    assert found.status == "solved" and found.passes >= 4  # split, judge, split, judge
    assert found.certificate.relative_gap <= TOL
    other = rl.solve(problem, "newton", tol=TOL)
    np.testing.assert_allclose(found.objective, other.objective, rtol=2 * TOL)

    with pytest.warns(ConvergenceWarning):
        stopped = rl.solve(problem, "passes", tol=TOL, max_iter=3)  # no pass is left to judge with
    assert stopped.status == "iteration_limit" and stopped.passes == 2


@pytest.mark.parametrize("d", [1, 3, 8, 13, 70])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_the_order_of_a_matrix_does_not_change_a_bit(d, dtype):
    by_rows, by_columns = (
        rl.solve(problem_of(L.Pinball(0.7), order, dtype, d), "passes", tol=TOL) for order in "CF"
    )
    assert by_rows.coef.tobytes() == by_columns.coef.tobytes()
    assert by_rows.intercept == by_columns.intercept
    assert by_rows.certificate.relative_gap == pytest.approx(by_columns.certificate.relative_gap)
