"""Time limits of sparse problems: analysis, set-up and proofs ask for the time; counted."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse as sp
from solvers.test_time_limits import Counting

import rectiline as rl
from rectiline._polling import OutOfTime, asked_at_checkpoints
from rectiline.backends import _design
from rectiline.problems.forms import EpigraphForm
from rectiline.problems.proof import _sparse_system
from rectiline.problems.proof._sparse_system import SparseNormalSystem
from rectiline.solvers import _drive, _run
from rectiline.solvers._base import RunLimits
from rectiline.solvers.interior.method import Method


def panel(n: int = 900, firms: int = 300) -> rl.Problem:
    rng = np.random.default_rng(0)
    at, firm = np.arange(n), rng.integers(firms, size=n)
    effects = sp.csr_array((np.ones(n), (at, firm)), shape=(n, firms))
    X = sp.csr_array(sp.hstack([sp.csr_array(rng.normal(size=(n, 2))), effects]))
    return rl.Problem(X, rng.normal(size=n), "absolute", None, fit_intercept=False)


def test_no_time_for_the_choice_of_a_solver_is_a_time_limit(monkeypatch):
    def late(*_):
        raise OutOfTime

    monkeypatch.setattr(_drive, "choose", late)
    with pytest.raises(rl.NoAnswerError, match=r"time_limit=50\.0"):
        rl.solve(panel(), time_limit=50.0)


@pytest.mark.parametrize("solver", ["auto", "interior"])
def test_the_analysis_of_squares_knows_the_time_limit(monkeypatch, solver):
    given, time_left = [], _design.time_left
    monkeypatch.setattr(_design, "time_left", lambda: given.append(time_left()) or given[-1])
    assert rl.solve(panel(), solver, time_limit=50.0).status == "solved"
    assert given and max(given) <= 50.0


def test_sparse_rows_are_not_copied_without_time_for_it():
    problem = panel()
    form = EpigraphForm.apply(problem)
    assert problem.design.has_sparse_squares
    for begin in (
        lambda: Method(form, 16, 1e-12),
        lambda: SparseNormalSystem(problem.design, False),
    ):
        with asked_at_checkpoints(Counting(1000, seconds=1e-9)), pytest.raises(OutOfTime):
            begin()
        with asked_at_checkpoints(Counting(1000, seconds=10.0)):
            begin()


def test_a_certificate_of_a_trend_takes_few_factors(monkeypatch):
    y = np.sin(np.linspace(0, 9, 1500)) + np.random.default_rng(1).standard_t(3, 1500)
    penalty = rl.penalties.Fused(5.0, order=2)
    eye = sp.identity(1500, format="csr")
    problem = rl.Problem(eye, y, rl.losses.Pinball(0.9), penalty, fit_intercept=False)
    answer, factors = rl.solve(problem), []
    factorise = SparseNormalSystem._factorise
    monkeypatch.setattr(
        SparseNormalSystem,
        "_factorise",
        lambda self, ridge: factors.append(ridge) or factorise(self, ridge),
    )
    assert problem.certify(answer).relative_gap <= 1e-6
    assert 1 <= len(factors) <= 12


def test_no_burst_follows_when_time_is_up_before_a_first_certificate(monkeypatch):
    offered = []

    def out_of_time(self, *_):
        offered.append(1)
        raise OutOfTime

    monkeypatch.setattr(_run.Best, "offer", out_of_time)
    monkeypatch.setattr(_run.Clock, "is_late", property(lambda clock: True))
    with pytest.raises(rl.NoAnswerError):
        rl.solve(panel(), "newton", tol=1e-12, time_limit=50.0)
    assert len(offered) == 1


def test_a_last_pair_is_kept_without_a_proof_that_takes_too_long(monkeypatch):
    problem = panel()

    def out_of_time(self, *_):
        raise OutOfTime

    monkeypatch.setattr(rl.Problem, "prove", out_of_time)
    run = _run.Run(problem, RunLimits(1e-6, None, 1.0, 0))
    run._keep_last("interior", *problem.zero_pair())
    assert run.best.pair is not None and run.best.certificate.gap == np.inf


def test_no_factor_is_made_that_takes_too_much_memory(monkeypatch):
    rng = np.random.default_rng(0)
    X = sp.random_array((3_000, 400), density=0.02, rng=rng, format="csr")
    y = X @ rng.standard_normal(400) + rng.standard_normal(3_000)
    made = [rl.Problem(X.copy(), y, rl.losses.Huber(1.0), None) for _ in range(2)]
    answer = rl.solve(made[0], "newton")
    assert made[0].certify(answer).radius == np.inf
    monkeypatch.setattr(_sparse_system, "_MOST_ENTRIES_OF_A_FACTOR", 100.0)
    assert made[1].certify(answer).radius < np.inf
