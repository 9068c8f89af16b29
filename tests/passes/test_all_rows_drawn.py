"""Rows in blocks that are few for their columns: all are drawn and solved in memory."""

import numpy as np
import pytest

import rectiline as rl
from rectiline.solvers import _row_plan
from rectiline.solvers.rows import _start

L, P, C = rl.losses, rl.penalties, rl.constraints


def wide(n=90, d=120, seed=3):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, d))
    return X, X[:, :5].sum(axis=1) + rng.standard_t(3, n)


def stream(X, y):
    def blocks():
        for start in range(0, len(y), 13):
            yield X[start : start + 13], y[start : start + 13]

    return rl.rows.from_stream(blocks)


CASES = {
    "ridge": {"loss": L.Pinball(0.8), "penalty": P.Ridge(0.5)},
    "l1": {"loss": L.Absolute(), "penalty": P.L1(4.0)},
    "box": {"loss": L.Huber(1.0), "penalty": P.Ridge(0.1), "constraints": [C.Box(-0.2, 0.3)]},
    "equality": {
        "loss": L.Absolute(),
        "constraints": [C.LinearEquality(np.ones((1, 120)), [-1.0])],
    },
    "hinge": {"loss": L.Hinge(), "penalty": P.Ridge(1.0)},
}


@pytest.mark.parametrize("source", [lambda X, y: rl.rows.from_arrays(X, y, block_rows=13), stream])
@pytest.mark.parametrize("name", CASES)
def test_the_covariance_of_a_sample_is_not_asked_for(name, source, monkeypatch):
    def never(*arguments):
        raise AssertionError("there is no sampling error")

    monkeypatch.setattr(_start, "_directions", never)
    X, y = wide()
    if name == "hinge":  # one class has far more rows than the other
        y = np.where(y > np.quantile(y, 0.8), 1.0, -1.0)
    found = rl.solve(rl.Problem(source(X, y), **CASES[name]), tol=1e-9)
    in_memory = rl.Problem(X, y, **CASES[name])
    assert (found.status, found.passes) == ("solved", 2)
    best = rl.solve(in_memory, tol=1e-10).certificate
    assert found.certificate.relative_gap <= 1e-9
    assert in_memory.objective(found.coef, found.intercept) == pytest.approx(best.primal, rel=1e-8)


def test_more_columns_than_a_covariance_can_have_take_all_rows():
    most = _row_plan._MOST_COLUMNS_TO_SPLIT
    assert _row_plan.RowPlan(10_000_000, most + 1).sampled_rows == 10_000_000
    assert _row_plan.RowPlan(10_000_000, most).sampled_rows < 10_000_000
