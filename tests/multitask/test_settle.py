"""A task as linear equations: the answer of a solver that always gets there, or none at all."""

from dataclasses import replace

import numpy as np
import pytest
import scipy.sparse as sp

from rectiline import constraints, losses
from rectiline.penalties import SharedSubspace, Subspace
from rectiline.problems import DualPoint, MultiTaskProblem
from rectiline.problems._task import Pieces
from rectiline.solvers import solve
from rectiline.solvers.multitask._held import Held, settle

from .cases import FIVE

MORE = [*FIVE, losses.Absolute(), losses.EpsilonInsensitive(0.2)]
by_loss = pytest.mark.parametrize("loss", MORE, ids=lambda one: one.name)


def one_task(loss, n=30, d=4, seed=0, sparse=False, **options):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d)) * (rng.random((n, d)) < 0.8)
    z = X @ rng.normal(size=d) + 0.3 * rng.standard_t(3, size=n)
    y = np.where(z > 0, 1.0, -1.0) if loss.of == "margin" else z
    rows = sp.csr_array(X) if sparse else X
    problem = MultiTaskProblem([rows], [y], loss, SharedSubspace(1, 1.0, 0.1), **options)
    basis = np.linalg.qr(rng.normal(size=(d, 2)))[0]
    held = Held(Subspace(basis, np.array([0.9, 0.4]), 0.05), 0.1, 0.5)
    return problem.tasks[0], held, rng.normal(size=d)


def by_solver(task, held, start):
    program = task.step(held.space, held.eta, held.strength, start)
    found = solve(program.problem, tol=1e-12)
    return program.coef(found.coef), found.intercept, found.dual


@by_loss
@pytest.mark.parametrize("shape", [(30, 4), (90, 4), (6, 20)])
@pytest.mark.parametrize("fit_intercept", [True, False])
@pytest.mark.parametrize("sparse", [True, False])
def test_it_agrees_with_the_solver(loss, shape, fit_intercept, sparse):
    task, held, start = one_task(loss, *shape, sparse=sparse, fit_intercept=fit_intercept)
    for begin in (None, start):
        u, b, _ = by_solver(task, held, begin)
        # From the places of a neighbour: the same task under another strength.
        near = by_solver(task, Held(held.space, held.eta, 1.02 * held.strength), begin)
        exact = settle(task, near, held, begin, 1e-12)
        if exact is None:
            continue  # allowed, but not for all: see below
        np.testing.assert_allclose(exact[0], u, atol=2e-5)
        assert exact[1] == pytest.approx(b, abs=1e-4)
        program = task.step(held.space, held.eta, held.strength, begin)
        v = program.variable(exact[0])
        proof = program.problem.certify(v, *exact[1:])
        assert proof.relative_gap <= 1e-9


@by_loss
def test_most_tasks_settle_next_to_their_answer(loss):
    settled = 0
    for seed in range(20):
        task, held, _ = one_task(loss, seed=seed)
        near = by_solver(task, Held(held.space, held.eta, 1.001 * held.strength), None)
        settled += settle(task, near, held, None, 1e-9) is not None
    assert settled >= (7 if (loss.curve.left != loss.curve.right).any() else 19)


@by_loss
def test_rows_without_weight_settle_as_if_they_were_not_there(loss):
    settled = 0
    for seed in range(20):
        weight = np.random.default_rng(seed).integers(0, 3, 30).astype(float)
        task, held, _ = one_task(loss, seed=seed, sample_weight=[weight])
        near = by_solver(task, Held(held.space, held.eta, 1.001 * held.strength), None)
        exact = settle(task, near, held, None, 1e-9)
        if exact is None:
            continue
        settled += 1
        u, b, _ = by_solver(task, held, None)
        np.testing.assert_allclose(exact[0], u, atol=2e-5)
        assert exact[1] == pytest.approx(b, abs=1e-4)
        assert not exact[2].sample[weight == 0].any()
    assert settled >= (7 if (loss.curve.left != loss.curve.right).any() else 19)


def test_it_declines_constraints_and_large_systems(monkeypatch):
    loss = losses.Huber(0.7)
    task, held, _ = one_task(loss, constraints=constraints.Nonnegative())
    assert settle(task, (np.zeros(4), 0.0, DualPoint(np.zeros(30))), held, None, 1.0) is None
    task, held, _ = one_task(loss)
    near = by_solver(task, held, None)
    assert settle(task, near, held, None, 1e-9) is not None
    monkeypatch.setattr("rectiline.solvers.multitask._held._MOST_UNKNOWNS", 3)
    assert settle(task, near, held, None, 1e-9) is None


def test_it_declines_an_intercept_that_is_not_determined():
    # All rows on straight pieces: any intercept within reach of all kinks does.
    task, held, _ = one_task(losses.Hinge())
    assert settle(task, (np.zeros(4), 1e3, DualPoint(np.zeros(30))), held, None, 0.0) is None


@by_loss
def test_places_are_those_of_the_graph(loss):
    rng = np.random.default_rng(1)
    n = 200
    direction = np.where(rng.random(n) < 0.5, 1.0, -1.0)
    offset = rng.normal(size=n)
    weight, reach = rng.uniform(0.5, 2.0, n), rng.uniform(0.1, 5.0, n)
    task, _, _ = one_task(loss)
    part = replace(task.data.samples, direction=direction, offset=offset, weight=weight)
    pieces = Pieces(part)
    # Points on the graph by the prox: t + reach s = sought, s a slope at t.
    sought = 3.0 * rng.normal(size=n)
    t = np.array([loss.curve.prox([v], r)[0] for v, r in zip(sought, reach)])
    slope = (sought - t) / reach
    z, g = (t - offset) / direction, weight * direction * slope
    places = pieces.place(z, g, reach)
    rows = pieces.resisting(places)
    level, give = pieces.lines(places, rows)
    np.testing.assert_allclose(z[rows], level + give * g[rows], atol=1e-12)
    others = np.setdiff1d(np.arange(n), rows)
    np.testing.assert_allclose(pieces.resting(places)[others], g[others], atol=1e-12)
    assert not pieces.resting(places)[rows].any()
