"""Problems on rows in blocks are problems: the same class, the same values, clear refusals."""

import dataclasses

import numpy as np
import pytest

import rectiline as rl

RNG = np.random.default_rng(0)
N, D = 3000, 3
X = RNG.standard_normal((N, D))
Y = X @ np.array([1.0, 2.0, 3.0]) + RNG.standard_normal(N)
WEIGHT = RNG.uniform(0.5, 2.0, N)
LOSS = rl.losses.Pinball(0.7)


def on_rows(**options):
    rows = rl.rows.from_arrays(X, Y, WEIGHT, block_rows=700)
    return rl.Problem(rows, **{"loss": LOSS, **options})


def test_it_is_a_frozen_problem():
    problem = on_rows()
    assert type(problem) is rl.Problem and not problem.is_in_memory
    assert (problem.n_samples, problem.n_features) == (N, D)
    assert problem.loss is LOSS and problem.penalty == rl.penalties.Ridge(1.0)
    with pytest.raises(dataclasses.FrozenInstanceError):
        problem.terms = None
    before = dict(vars(problem))
    problem.certify(rl.solve(problem))
    assert vars(problem) == before


@pytest.mark.parametrize("penalty", [None, rl.penalties.L1(2.0)])
def test_loss_and_penalty_may_be_given_by_position(penalty):
    rows = rl.rows.from_arrays(X, Y, block_rows=700)
    assert rl.Problem(rows, LOSS, penalty).penalty == penalty
    assert rl.Problem(rows, LOSS, penalty=penalty).penalty == penalty
    assert rl.Problem(rows, LOSS).penalty == rl.penalties.Ridge(1.0)
    with pytest.raises(TypeError, match=r"constraints=\.\.\. by name"):
        rl.Problem(rows, LOSS, penalty, rl.constraints.Nonnegative())


@pytest.mark.parametrize("box", [(), rl.constraints.Box(0.0, 2.5)], ids=["free", "box"])
def test_values_and_proofs_are_those_in_memory(box):
    rows, memory = on_rows(constraints=box), rl.Problem(X, Y, LOSS, constraints=box)
    memory = memory.with_sample_weight(WEIGHT)
    point = np.array([1.0, 2.0, 3.0]), 0.5
    assert rows.objective(*point) == pytest.approx(memory.objective(*point), rel=1e-13)
    assert rows.violation(point[0])[0] == memory.violation(point[0])[0]
    found, expected = rl.solve(rows, tol=1e-9), rl.solve(memory, tol=1e-9)
    assert found.objective == pytest.approx(expected.objective, rel=2e-9)
    one, other = rows.certify_many([found, found])
    assert one.relative_gap <= 1e-9 and one == other


def test_losses_and_penalties_are_exchanged():
    changed = on_rows().with_loss("absolute").with_penalty(rl.penalties.Ridge(5.0))
    expected = rl.Problem(X, Y, "absolute", rl.penalties.Ridge(5.0), sample_weight=WEIGHT)
    assert changed.objective(np.ones(D)) == pytest.approx(expected.objective(np.ones(D)), rel=1e-13)
    with pytest.raises(ValueError, match="loss must be of the residual"):
        on_rows().with_loss("hinge")


@pytest.mark.parametrize(
    "ask",
    [
        lambda problem: problem.design,
        lambda problem: problem.weight,
        lambda problem: problem.on_rows(np.arange(5)),
        lambda problem: problem.with_sample_weight(np.ones(N)),
        lambda problem: problem.prove(np.zeros(D)),
        lambda problem: rl.path(problem),
    ],
)
def test_what_needs_arrays_says_so(ask):
    with pytest.raises(TypeError, match=r"X is in memory; .* rows in blocks, ArrayRows\(3000 x 3"):
        ask(on_rows())


@pytest.mark.parametrize(
    "options",
    [
        {"y": Y},
        {"sample_weight": WEIGHT},
        {"loss_index": np.zeros(N, dtype=int)},
        {"linear": np.ones(D), "fit_intercept": False},
        {"penalty": rl.penalties.Fused(1.0), "fit_intercept": False},
    ],
    ids=lambda options: next(iter(options)),
)
def test_arguments_that_rows_do_not_take_are_named(options):
    name = next(iter(options))
    with pytest.raises(ValueError, match=rf"{name}.* needs X in memory, .* rows in blocks"):
        on_rows(**options)
