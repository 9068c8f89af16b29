"""The certificate: repairs, bounds that hold for any point, and what is refused."""

import numpy as np
import pytest

from rectiline import losses
from rectiline.penalties import Ridge, SharedSubspace
from rectiline.problems import DualPoint, MultiTaskProblem, Problem
from rectiline.problems.proof._tasks import balance_common_part
from rectiline.problems.proofs import prove_tasks
from rectiline.solvers.multitask import solve_multitask

from .cases import CASES, Case

SOME = [case for case in CASES if case.name.split("-")[0] in ("plain", "weighted", "centred")]
some_cases = pytest.mark.parametrize("case", SOME, ids=lambda case: case.name)


@some_cases
def test_any_multipliers_give_a_bound(case):
    problem = case.problem()
    optimum = solve_multitask(problem).objective
    rng = np.random.default_rng(0)
    for scale in (1e-3, 0.1, 10.0):
        U = scale * rng.normal(size=(case.n_features, len(case.sizes)))
        dual = [scale * rng.normal(size=n) for n in case.sizes]
        proof = problem.certify(U, None, dual)
        assert proof.primal == pytest.approx(problem.objective(U))
        assert proof.gap >= 0.0
        assert proof.dual <= optimum * (1 + 1e-9)


@some_cases
def test_repaired_multipliers_are_feasible(case):
    problem = case.problem()
    U = np.ones((case.n_features, len(case.sizes)))
    proof, points = prove_tasks(problem, U)
    if proof.gap == proof.primal:
        return  # nothing but the trivial bound
    Q = dual_image(problem, points)
    for task, point in zip(problem.tasks, points):
        low, high = task.dual_boxes
        assert (point.sample >= low - 1e-15).all() and (point.sample <= high + 1e-15).all()
        assert abs(point.sample.sum()) <= 1e-13
    if case.center:
        assert np.abs(Q.sum(axis=1)).max() <= 1e-11 * max(1.0, np.abs(Q).max())


def test_the_gap_is_primal_minus_dual():
    case = Case("direct", losses.Huber(0.7))
    problem = case.problem()
    solution = solve_multitask(problem, tol=1e-4)
    conjugate = 0.0
    for task, point in zip(problem.tasks, solution.dual):
        y = task.offset
        conjugate += losses.Huber(0.7).conjugate(y, point.sample, task.weight).sum()
    Q = dual_image(problem, solution.dual)
    dual = -conjugate - problem.penalty.conjugate(Q)
    assert solution.certificate.dual == pytest.approx(dual, rel=1e-10)


def test_one_task_is_a_problem_with_ridge():
    case = Case("one", losses.Pinball(0.4), sizes=(30,), seed=2)
    X, y, _ = case.data()
    single = Problem(X[0], y[0], losses.Pinball(0.4), Ridge(0.2), sample_weight=np.full(30, 1 / 30))
    many = case.problem()
    u, b = np.array([0.3, -1.0, 0.2, 0.0, 1.0]), 0.7
    assert many.objective(u[:, None], [b]) == pytest.approx(single.objective(u, b))
    g = np.random.default_rng(0).normal(size=30) / 30
    one, other = many.certify(u[:, None], [b], [g]), single.certify(u, b, DualPoint(g))
    assert one.gap == pytest.approx(other.gap)


def test_weights_are_repetitions():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(10, 3)), rng.normal(size=10)
    count = rng.integers(0, 4, size=10)
    count[0] = 1
    repeated = np.repeat(np.arange(10), count)
    loss, penalty = losses.Huber(1.0), SharedSubspace(1, 1.0, 0.5)
    U, b = rng.normal(size=(3, 2)), np.array([0.1, -0.2])
    weighted = MultiTaskProblem([X, X], [y, -y], loss, penalty, sample_weight=[count, count])
    longer = MultiTaskProblem([X[repeated]] * 2, [y[repeated], -y[repeated]], loss, penalty)
    assert weighted.objective(U, b) == pytest.approx(longer.objective(U, b))


def dual_image(problem, points):
    """Return ``q_t = A'xi_t + E'nu_t - X_t'g_t`` of every task, one column each."""
    pairs = zip(problem.tasks, points, strict=True)
    return np.column_stack(
        [task.terms.region.combined(one) - task.design.tdot(one.sample) for task, one in pairs]
    )


@pytest.mark.parametrize("loss", [losses.Hinge(), losses.Huber(0.5), losses.SquaredError()])
def test_rows_without_weight_are_not_there(loss):
    case = Case("fold", loss, sizes=(30, 40, 20))
    X, y, _ = case.data()
    problem = MultiTaskProblem(X, y, loss, SharedSubspace(1, 1.0, 0.1))
    kept = [np.random.default_rng(t).random(one.size) < 0.7 for t, one in enumerate(y)]
    fewer = MultiTaskProblem(
        [rows[k] for rows, k in zip(X, kept)],
        [one[k] for one, k in zip(y, kept)],
        loss,
        SharedSubspace(1, 1.0, 0.1),
    )
    found = solve_multitask(problem.with_sample_weight(kept), tol=1e-9)
    expected = solve_multitask(fewer, tol=1e-9)
    np.testing.assert_allclose(found.coef, expected.coef, atol=1e-4)
    assert found.objective == pytest.approx(expected.objective, rel=1e-8)
    with pytest.raises(ValueError, match=r"sample_weight\[1\] must have at least one"):
        problem.with_sample_weight([kept[0], np.zeros(40), kept[2]])


@pytest.mark.parametrize("loss", [losses.Hinge(), losses.Pinball(0.3), losses.SquaredError()])
def test_balance_of_the_common_part(loss):
    case = Case("balance", loss, sizes=(30, 40, 20))
    problem = case.problem()
    rng = np.random.default_rng(1)
    samples = []
    for task in problem.tasks:
        low, high = (np.clip(box, -0.1, 0.1) for box in task.dual_boxes)
        g = low + (high - low) * rng.random(low.size)
        task.rows.balance(g)
        samples.append(g)
    moved, left = balance_common_part(problem, samples, np.zeros(5))
    assert left <= 1e-13
    total = sum(task.design.tdot(g) for task, g in zip(problem.tasks, moved))
    assert np.abs(total).max() <= 1e-12
    for task, g in zip(problem.tasks, moved):
        low, high = task.dual_boxes
        assert (g >= low).all() and (g <= high).all()
        assert abs(g.sum()) <= 1e-13


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"y": [np.zeros(3)]}, r"y\[0\] has 3 entries but X\[0\] has 4 rows"),
        ({"X": [np.ones((4, 2)), np.ones((4, 3))], "y": [np.zeros(4)] * 2}, "same columns"),
        ({"X": [np.ones((4, 2))] * 3}, "X holds 3 tasks but y holds 1"),
        ({"sample_weight": [np.zeros(4)]}, r"sample_weight\[0\] must have at least one positive"),
        ({"sample_weight": [-np.ones(4)]}, r"sample_weight\[0\] must hold finite numbers >= 0"),
        ({"constraints": [(), ()]}, "1 tasks, but 2 entries"),
        ({"center": True}, "at least two tasks"),
        ({"penalty": SharedSubspace(3)}, "at most the number of features, 2"),
        ({"y": []}, "at least one task"),
    ],
)
def test_bad_input_is_named(change, message):
    given = {"X": [np.ones((4, 2))], "y": [np.zeros(4)], "loss": losses.SquaredError()} | change
    with pytest.raises(ValueError, match=message):
        MultiTaskProblem(**given)


def test_wrong_types_are_named():
    X, y = [np.ones((4, 2))], [np.zeros(4)]
    with pytest.raises(TypeError, match="loss must be a Loss"):
        MultiTaskProblem(X, y, "hinge")
    with pytest.raises(TypeError, match="SharedSubspace"):
        MultiTaskProblem(X, y, losses.SquaredError(), Ridge(1.0))
    problem = MultiTaskProblem(X, y, losses.SquaredError())
    with pytest.raises(ValueError, match=r"shapes \(2, 1\)"):
        problem.objective(np.ones(2))
    with pytest.raises(ValueError, match="one entry per task"):
        problem.certify(np.ones((2, 1)), None, [])
