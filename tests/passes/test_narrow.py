"""Narrowing of kept rows: what is frozen again adds up, and answers rest on few rows."""

import numpy as np
import pytest

import rectiline as rl
from rectiline.problems import DualPoint
from rectiline.problems.blocks import BlockProblem, LengthBound, NearRows, NextSplit, PassState
from rectiline.solvers.passes import _member
from rectiline.solvers.passes._frozen import Frozen, Reduced
from rectiline.solvers.passes._narrow import Narrowed, every_kept, remaining_error

L = rl.losses
N, D = 3000, 4


def kept_rows(loss, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((N, D))
    y = X.sum(axis=1) + rng.standard_t(3, N)
    given = rl.Problem(X, y, loss=loss, sample_weight=rng.uniform(0.5, 2, N))
    problem = BlockProblem.on_arrays(given)
    numbers = np.arange(0, 7 * N, 7)  # within a larger source
    targets = problem.targets.pick(None, np.arange(N))
    return given, problem, NearRows(numbers, X, targets)


@pytest.mark.parametrize("loss", [L.Pinball(0.3), L.Huber(1.0), L.Expectile(0.8)], ids=repr)
def test_frozen_and_near_rows_add_up_to_the_kept_ones(loss):
    given, problem, kept = kept_rows(loss)
    rng = np.random.default_rng(1)
    root = rng.standard_normal((D + 1, D + 1))
    before = Frozen(rng.standard_normal(D), 0.3, rng.standard_normal(D), 2.0, root @ root.T, 1.0)
    eye = np.eye(D + 1)
    split = NextSplit(0.12, 1.0, eye, LengthBound.of(eye, np.zeros(D)), always=kept.rows[:5])
    centre = (np.full(D, 0.9), 0.1)
    state = PassState((), True)
    found = Narrowed.of(kept, before, centre, problem.curves, split, state)
    assert set(kept.rows[:5]) <= set(found.near.rows) and found.near.rows.size < N / 2
    np.testing.assert_array_equal(kept.rows[found.places], found.near.rows)

    extended = np.column_stack([kept.X, np.ones(N)])
    left = np.zeros(N, bool)
    left[found.places] = True

    def gradient_of(term, point, rows):
        step = np.append(point[0] - term.coef, point[1] - term.intercept)
        slopes = np.asarray(given.rows.slopes(kept.X @ point[0] + point[1]))
        frozen = np.append(term.gradient, term.total)
        if term.curvature is not None:
            frozen = frozen + term.curvature @ step
        return frozen + extended[rows].T @ slopes[rows]

    for point in (centre, (centre[0] + 1e-6, centre[1] - 1e-6)):  # no frozen row crosses a knot
        old = gradient_of(before, point, np.ones(N, bool))
        np.testing.assert_allclose(gradient_of(found.frozen, point, left), old, rtol=1e-9)

    answer = Reduced(centre[0] + 1e-6, centre[1], DualPoint(np.full(found.places.size, 0.1)), 1, 0)
    everywhere = found.with_all_multipliers(answer, state).dual.sample
    slopes = np.asarray(given.rows.slopes(kept.X @ answer.coef + answer.intercept))
    np.testing.assert_allclose(everywhere[~left], slopes[~left], rtol=1e-12, atol=1e-14)
    assert (everywhere[left] == 0.1).all()


def test_the_error_that_is_left_follows_from_the_rows():
    given, _, _ = kept_rows(L.Pinball(0.5))
    weight = given.weight
    expected = np.sqrt(5 * 0.25 * float(weight @ weight) / 1e5)
    assert remaining_error(given, 6, np.zeros(D), 0.0, 1e5) == pytest.approx(expected)
    assert remaining_error(given, 6, np.zeros(D), 0.0, 1e3) == 1.0  # more than half is left
    assert every_kept(200_000, D) == 1 and every_kept(1_000_000, D) == 6
    assert every_kept(100_000, 1000) == 2 and every_kept(5_000, 1000) == 1


@pytest.mark.parametrize("loss", [L.Hinge(), L.Pinball(0.9)], ids=repr)
def test_answers_on_narrowed_rows_are_proved_in_two_passes(loss, monkeypatch):
    rng = np.random.default_rng(3)
    n, d = 600_000, 60
    X = rng.standard_normal((n, d), dtype=np.float32)
    y = X @ np.linspace(-1, 1, d) + rng.standard_t(3, n)
    y = np.sign(y) if loss.of == "margin" else y
    problem = rl.Problem(X, y, loss=loss, penalty=rl.penalties.Ridge(n / 1e4))
    sizes = []
    original = Narrowed.of.__func__

    def noted(cls, kept, *args):
        found = original(cls, kept, *args)
        sizes.append((kept.rows.size, found.near.rows.size))
        return found

    monkeypatch.setattr(_member.Narrowed, "of", classmethod(noted))
    solution = rl.solve(problem, solver="passes", tol=1e-8)
    assert solution.status == "solved" and solution.passes == 2
    kept, left = sizes[-1]  # those before are of the sample
    assert kept == solution.rows_kept and left < 0.5 * kept
    assert problem.certify(solution).holds(1.1e-8)
