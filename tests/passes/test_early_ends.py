"""Where a solve on rows ends early: limits, callbacks and interrupts leave the best pair known."""

import warnings

import numpy as np
import pytest

import rectiline as rl
from rectiline import _polling
from rectiline.exceptions import ConvergenceWarning

L = rl.losses
N = 20_000
rng = np.random.default_rng(0)
X = rng.standard_normal((N, 5))
Y = X @ np.arange(1.0, 6.0) + (1 + 0.5 * np.abs(X[:, 0])) * rng.standard_t(3, N)


def tube():
    return rl.Problem(X, Y, L.EpsilonInsensitive(0.5))


def test_limits_return_the_best_pair_and_warn():
    problem = tube()
    with pytest.warns(ConvergenceWarning, match=r"after 2 passes .* Raise max_iter"):
        solution = rl.solve(problem, solver="passes", tol=1e-8, max_iter=2)
    assert solution.status == "iteration_limit"
    assert problem.certify(solution).relative_gap <= 1e-2
    with pytest.raises(rl.NoAnswerError, match="time_limit"):
        rl.solve(rl.Problem(rl.rows.of(X, Y), loss=L.Absolute()), time_limit=1e-9)


def test_callbacks_are_called_and_stop_during_passes(monkeypatch):
    monkeypatch.setattr(_polling, "REPORT_EVERY", 0.0)  # whenever somebody asks for the time
    read, calls = [], []

    def blocks():
        for start in range(0, N, 1000):
            read.append(start)
            yield X[start : start + 1000], Y[start : start + 1000]

    problem = rl.Problem(rl.rows.from_stream(blocks), loss=L.Pinball(0.3))
    read.clear()
    solution = rl.solve(problem, tol=1e-7, callback=lambda progress: calls.append(len(read)))
    assert solution.status == "solved"
    assert set(range(1, len(read))) <= set(calls)  # at least once for every block
    read.clear()
    stopped = rl.solve(problem, tol=1e-7, callback=lambda progress: len(read) >= 5)
    assert stopped.status == "stopped" and len(read) <= 6
    seen = []
    array = rl.Problem(np.tile(X, (40, 4)), np.tile(Y, 40), loss=L.Pinball(0.3))
    rl.solve(array, "passes", tol=1e-3, callback=lambda progress: seen.append(progress))
    assert len(seen) > 4  # also within the one block of rows in memory


def test_callbacks_see_every_pass_and_may_stop():
    seen = []
    problem = tube()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        solution = rl.solve(
            problem, solver="passes", tol=1e-8, callback=lambda record: seen.append(record) or True
        )
    assert solution.status == "stopped" and len(seen) == 1
    assert seen[0].solver == "passes" and solution.history == tuple(seen)


def test_an_interrupt_is_raised_also_once_a_pair_is_certified():
    def interrupt(record):
        assert record.certificate.relative_gap < 1.0
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt) as stopped:
        rl.solve(tube(), solver="passes", tol=1e-8, callback=interrupt)
    assert stopped.value.solution.certificate.relative_gap < 1.0


@pytest.mark.parametrize("count", [1, 2])
def test_an_interrupt_of_the_first_pass_carries_the_answers_on_the_sample(count):
    opened = []

    def blocks():
        opened.append(None)
        for start in range(0, N, 4096):
            if len(opened) > 3 and start:  # the first block, the sample, then the first pass
                raise KeyboardInterrupt
            yield X[start : start + 4096], Y[start : start + 4096]

    rows = rl.rows.from_stream(blocks)
    family = [rl.Problem(rows, L.Pinball(q)) for q in (0.3, 0.6)[:count]]
    with pytest.raises(KeyboardInterrupt) as stopped:
        rl.solve_family(family)
    found = stopped.value.solution
    for solution in found if count > 1 else [found]:
        assert solution.status == "stopped" and solution.coef.any()
        assert solution.certificate.relative_gap == np.inf
