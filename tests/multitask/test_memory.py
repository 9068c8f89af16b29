"""What a fit holds at a time: X, and a few matrices of coefficients. Sparse rows stay sparse."""

import tracemalloc

import numpy as np
import pytest
import scipy.sparse as sp

from rectiline import losses
from rectiline.estimators.multitask import MultiTaskRegressorCV
from rectiline.penalties import SharedSubspace
from rectiline.problems import MultiTaskProblem
from rectiline.solvers.multitask import round_solution, solve_multitask

TASKS, ROWS, COLUMNS = 15, 30, 60_000
UNIT = 8 * TASKS * COLUMNS


def tasks():
    rng = np.random.default_rng(0)
    U = rng.normal(size=(COLUMNS, 2)) @ rng.normal(size=(2, TASKS))
    X = [
        sp.random(ROWS, COLUMNS, density=10 / COLUMNS, format="csr", random_state=t)
        for t in range(TASKS)
    ]
    return X, [one @ u + 0.1 * rng.normal(size=ROWS) for one, u in zip(X, U.T)]


@pytest.mark.parametrize(
    "loss", [losses.SquaredError(), losses.Huber(1.0)], ids=lambda one: one.name
)
def test_memory_is_a_few_matrices_of_coefficients(loss):
    X, y = tasks()
    stored = sum(one.data.nbytes + one.indices.nbytes + one.indptr.nbytes for one in X)
    problem = MultiTaskProblem(X, y, loss, SharedSubspace(2, 1.0, 0.1))
    solve_multitask(problem, tol=0.9)  # imports
    tracemalloc.start()
    try:
        solution = solve_multitask(problem, tol=1e-4)
        assert tracemalloc.get_traced_memory()[1] <= 10 * UNIT + stored
        tracemalloc.reset_peak()
        round_solution(problem, solution)
        assert tracemalloc.get_traced_memory()[1] <= 8 * UNIT + stored
    finally:
        tracemalloc.stop()
    assert solution.certificate.relative_gap <= 1e-4


@pytest.mark.parametrize("loss", ["squared_error", "huber"])
def test_a_search_copies_no_rows(loss):
    rng = np.random.default_rng(0)
    X = [rng.standard_normal((15_000, 40)) for _ in range(2)]
    y = [one[:, 0] + rng.standard_normal(15_000) for one in X]
    model = MultiTaskRegressorCV(loss, shared_dims=[1], alphas=[1.0], betas=[0.1], cv=2)
    model.fit([one[:100] for one in X], [one[:100] for one in y])  # imports
    tracemalloc.start()
    try:
        model.fit(X, y)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    # Programs of curved losses are stretched by the subspace, one task at a time.
    assert peak <= (0.7 if loss == "squared_error" else 1.6) * sum(one.nbytes for one in X)
