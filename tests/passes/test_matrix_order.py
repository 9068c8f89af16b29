"""The solver `passes` gives the same bits whatever the order of a matrix in memory."""

import numpy as np
import pytest

import rectiline as rl

L, P = rl.losses, rl.penalties
N, D, TOL = 20_000, 5, 1e-7


def problem_of(loss, order="C", dtype=np.float64, d=D):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((N, d)).astype(dtype)
    y = X @ np.arange(1.0, d + 1) + rng.standard_t(3, N)
    X = np.asarray(X, order=order)
    y = np.where(y > 0, 1.0, -1.0) if loss.of == "margin" else y
    return rl.Problem(X, y, loss=loss, penalty=P.Ridge(1.0))


@pytest.mark.parametrize("d", [1, 3, 8, 13, 70])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_the_order_of_a_matrix_does_not_change_a_bit(d, dtype):
    by_rows, by_columns = (
        rl.solve(problem_of(L.Pinball(0.7), order, dtype, d), "passes", tol=TOL) for order in "CF"
    )
    assert by_rows.coef.tobytes() == by_columns.coef.tobytes()
    assert by_rows.intercept == by_columns.intercept
    assert by_rows.certificate.relative_gap == pytest.approx(by_columns.certificate.relative_gap)
