"""Feasible points found without a linear program, against the program."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse as sp
from scipy.optimize import linprog

import rectiline as rl
from rectiline.problems import _region


def problem_with(A, low, high, lower=-np.inf, upper=np.inf):
    d = A.shape[1]
    return rl.Problem(
        np.eye(d),
        np.zeros(d),
        "squared_error",
        constraints=[
            rl.constraints.LinearConstraint(A, low, high),
            rl.constraints.Box(lower, upper),
        ],
    )


@pytest.mark.parametrize("seed", range(30))
def test_the_verdict_is_that_of_the_linear_program(seed):
    rng = np.random.default_rng(seed)
    d, m = rng.integers(2, 12), rng.integers(1, 40)
    A = rng.normal(size=(m, d)) * (rng.random((m, d)) < 0.5)
    middle = A @ rng.normal(size=d) + (seed % 3 == 0) * rng.normal(size=m)
    width = rng.random(m) * (rng.random(m) < 0.8)  # some rows are equalities
    box = np.inf if seed % 2 else 3.0
    region = problem_with(A, middle - width, middle + width, -box, box).terms.region
    found = linprog(
        np.zeros(d),
        np.vstack([A, -A]),
        np.concatenate([middle + width, width - middle]),
        bounds=(-box if box < np.inf else None, box if box < np.inf else None),
    )
    assert (region.contradiction is None) == (found.status == 0)
    if found.status == 0:
        assert region.violation(region.near_zero, np.zeros(d))[1] <= 1e-9


def test_no_linear_program_where_there_is_room(monkeypatch):
    def refuse(*_):
        raise AssertionError("a linear program was solved")

    monkeypatch.setattr(_region, "check_feasibility", refuse)
    rng = np.random.default_rng(0)
    A = sp.random(300, 30, 0.2, "csr", random_state=rng, data_rvs=rng.standard_normal)
    middle = A @ rng.normal(size=30)
    ranges = problem_with(A, middle - rng.random(300), middle + rng.random(300))
    equalities = problem_with(A[:10], middle[:10], middle[:10], -50.0, 50.0)
    for problem in (ranges, equalities):
        assert problem.terms.region.contradiction is None
        assert rl.solve(problem).status == "solved"


def test_rows_that_cannot_be_met_exactly_end_the_repair():
    A = np.array([[1.0, 1.0], [1.0, 1.0 + 1e-9]])
    rows = rl.constraints.ConstraintRows.make(2, E=A, f=np.array([-1.0, -1.0]))
    moved = rl.problems._feasibility.move_into_constraints(
        np.zeros(2), rows, _region.Region(rows).stacked
    )
    assert np.abs(A @ moved - 1.0).max() <= 1e-12
