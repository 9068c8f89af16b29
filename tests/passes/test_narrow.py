"""Narrowing of kept rows: what is frozen again adds up, and answers rest on few rows."""

from functools import partial
from types import SimpleNamespace

import numpy as np
import pytest

import rectiline as rl
from rectiline.problems.blocks import LengthBound, NearRows, NextSplit
from rectiline.rows import TensorRows
from rectiline.solvers._row_plan import RowPlan
from rectiline.solvers.rows import _row_run
from rectiline.solvers.rows._reduced import Frozen, split_again

L = rl.losses
N, D = 3000, 4
EYE = np.eye(D + 1)
BOUND = LengthBound.of(EYE, np.zeros(D))


def kept_rows(loss, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((N, D))
    y = X.sum(axis=1) + rng.standard_t(3, N)
    given = rl.Problem(X, y, loss=loss, sample_weight=rng.uniform(0.5, 2, N))
    numbers = np.arange(0, 7 * N, 7)  # within a larger source
    near = NearRows(numbers, X, given.data.samples)
    totals = SimpleNamespace(near_rows=numbers, near=lambda: near)
    return given, numbers, partial(split_again, given, totals, 6)


@pytest.mark.parametrize("loss", [L.Pinball(0.3), L.Huber(1.0), L.Expectile(0.8)], ids=repr)
def test_frozen_and_near_rows_add_up_to_the_kept_ones(loss):
    given, kept, split_kept = kept_rows(loss)
    rng = np.random.default_rng(1)
    root = rng.standard_normal((D + 1, D + 1))
    before = Frozen(np.full(D, 0.8), 0.3, rng.standard_normal(D), 2.0, root @ root.T, 1.0)
    split = NextSplit(3.0, 1.0, EYE, BOUND, always=kept[:5])
    centre = (np.full(D, 0.9), 0.1)
    found = split_kept(before, split, 1e8, lambda some, error: centre)
    near, frozen = found.near, found.frozen
    places = near.rows // 7
    assert set(kept[:5]) <= set(near.rows) and near.rows.size < N / 2
    X = given.design.X
    np.testing.assert_array_equal(near.X, X[places])
    np.testing.assert_array_equal(near.samples.weight, given.weight[places])

    extended = np.column_stack([X, np.ones(N)])
    left = np.zeros(N, bool)
    left[places] = True

    def gradient_of(term, point, rows):
        step = np.append(point[0] - term.coef, point[1] - term.intercept)
        slopes = np.asarray(given.rows.slopes(X @ point[0] + point[1]))
        frozen = np.append(term.gradient, term.total)
        if term.curvature is not None:
            frozen = frozen + term.curvature @ step
        return frozen + extended[rows].T @ slopes[rows]

    for point in (centre, (centre[0] + 1e-6, centre[1] - 1e-6)):  # no frozen row crosses a knot
        old = gradient_of(before, point, np.ones(N, bool))
        np.testing.assert_allclose(gradient_of(frozen, point, left), old, rtol=1e-9)

    sums, multipliers = found.evaluated(centre[0] + 1e-6, centre[1])
    slopes = np.asarray(given.rows.slopes(X @ (centre[0] + 1e-6) + centre[1]))
    np.testing.assert_allclose(multipliers[~left], slopes[~left], rtol=1e-12, atol=1e-14)
    np.testing.assert_allclose(sums["gradient"], X[~left].T @ slopes[~left], rtol=1e-9)
    assert (multipliers[left] == 0).all() and found.places.size == left.sum()


def test_the_error_that_is_left_follows_from_the_rows():
    given, kept, split_kept = kept_rows(L.Pinball(0.5))
    weight = given.weight[::6]
    expected = np.sqrt((1 - 1 / 6) * 0.25 * 36 * float(weight @ weight) / 1e5)
    before = Frozen(np.zeros(D), 0.0, np.zeros(D), 0.0, None, 1.0)
    split = NextSplit(3.0, 1.0, EYE, BOUND)
    told = []

    def solved(some, error):
        told.append((some, error))
        return np.ones(D), 0.0

    assert split_kept(before, split, 1e5, solved) is not None
    some, error = told[0]
    assert error == pytest.approx(expected)
    np.testing.assert_array_equal(some.rows, kept[::6])
    np.testing.assert_allclose(some.samples.weight, 6 * weight)
    assert split_kept(before, split, 1e3, solved) is None  # more than half is left


def test_few_near_rows_are_solved_as_they_are():
    narrow, wide = RowPlan(10**9, D), RowPlan(10**9, 1000)
    assert [narrow.rows_per_second_sample(kept) for kept in (100_000, 1_000_000)] == [1, 34]
    assert [wide.rows_per_second_sample(kept) for kept in (100_000, 400)] == [2, 1]


@pytest.mark.parametrize("loss", [L.Hinge(), L.Pinball(0.9)], ids=repr)
@pytest.mark.parametrize("holds", ["arrays", "tensors"])
def test_answers_on_narrowed_rows_are_proved_in_two_passes(loss, holds, monkeypatch):
    rng = np.random.default_rng(3)
    n, d = 600_000, 60
    X = rng.standard_normal((n, d), dtype=np.float32)
    y = X @ np.linspace(-1, 1, d) + rng.standard_t(3, n)
    y = np.sign(y) if loss.of == "margin" else y
    rows = rl.rows.from_arrays(X, y)
    if holds == "tensors":
        torch = pytest.importorskip("torch")
        rows = TensorRows(torch.from_numpy(X), torch.from_numpy(y))
    problem = rl.Problem(rows, loss=loss, penalty=rl.penalties.Ridge(n / 1e4))
    sizes = []

    def noted(*args):
        found = split_again(*args)
        sizes.append((found.rows.size, found.near.rows.size))
        return found

    monkeypatch.setattr(_row_run, "split_again", noted)
    solution = rl.solve(problem, tol=1e-8)
    assert solution.status == "solved" and solution.passes <= (3 if holds == "tensors" else 2)
    kept, left = sizes[-1]
    assert kept == solution.rows_kept and left < 0.5 * kept
    assert solution.passes == 3 or solution.dual.rows.size == kept
    assert problem.certify(solution).holds(1.1e-8)
