"""The solvers agree, their proofs are honest at every pass, and units do not matter."""

import numpy as np
import pytest
import scipy.sparse as sp
from reference_methods.apg import APG
from reference_methods.apg_joint import JointAPG

from rectiline import constraints, losses
from rectiline._polling import OutOfTime
from rectiline.exceptions import (
    ConvergenceWarning,
    InfeasibleError,
)
from rectiline.penalties import SharedSubspace
from rectiline.problems import MultiTaskProblem
from rectiline.solvers.multitask import (
    SOLVERS,
    _round,
    round_solution,
    shared_directions,
    solve_multitask,
)

from .cases import CASES, Case

NAMED = {case.name: case for case in CASES}
PLAIN = [case for case in CASES if case.name.startswith("plain")]
by_name = pytest.mark.parametrize("case", PLAIN, ids=lambda case: case.name)


COMPARED = [
    case for case in CASES if case.name.split("-")[0] in ("plain", "line", "rank", "weighted")
]


@pytest.mark.parametrize(
    ("case", "solver", "options"),
    [
        *(pytest.param(case, "proximal", {}, id=f"{case.name}-proximal") for case in COMPARED),
        *(
            pytest.param(
                case,
                "bcd",
                {"memory": 0},
                id=f"{case.name}-bcd-plain",
                marks=[] if case in PLAIN else [pytest.mark.slow],
            )
            for case in COMPARED
        ),
    ],
)
def test_all_solvers_agree(case, solver, options, monkeypatch):
    monkeypatch.setitem(SOLVERS, APG.name, APG)
    best = solve_multitask(case.problem(), tol=1e-7)
    other = solve_multitask(case.problem(), solver, tol=1e-6, max_iter=5000, **options)
    assert other.solver == solver
    assert other.objective == pytest.approx(best.objective, rel=1e-6)
    np.testing.assert_allclose(other.coef, best.coef, atol=5e-3 * np.abs(best.coef).max())


@pytest.mark.parametrize(
    "case",
    [
        pytest.param(case, id=case.name, marks=[pytest.mark.slow] if k >= 2 else [])
        for k, case in enumerate(PLAIN)
    ],
)
def test_the_method_of_the_paper_gets_there_too(case, monkeypatch):
    monkeypatch.setitem(SOLVERS, "joint", JointAPG)
    problem = case.problem()
    best = solve_multitask(problem, tol=1e-7)
    other = solve_multitask(problem, "joint", tol=1e-7)
    assert other.objective == pytest.approx(best.objective, rel=1e-6)


@pytest.mark.parametrize("solver", ["bcd", "proximal"])
@pytest.mark.parametrize("name", ["centred-strong-squared_error", "centred-huber"])
def test_centred_solvers_agree(name, solver, monkeypatch):
    monkeypatch.setitem(SOLVERS, APG.name, APG)
    problem = NAMED[name].problem()
    best = solve_multitask(problem, tol=1e-7)
    assert solve_multitask(problem, solver, tol=1e-6).objective == pytest.approx(
        best.objective, rel=1e-6
    )


@pytest.mark.parametrize(
    "name", ["plain-hinge", "plain-squared_error", "wide-pinball", "centred-hinge", "rank-huber"]
)
@pytest.mark.parametrize("solver", ["bcd", "proximal"])
def test_the_gap_is_honest_at_every_pass(name, solver, monkeypatch):
    monkeypatch.setitem(SOLVERS, APG.name, APG)
    problem = NAMED[name].problem()
    optimum = solve_multitask(problem, tol=1e-8, max_iter=3000).certificate
    seen = []

    def note(progress):
        seen.append(progress.certificate)
        return progress.n_iter >= 12

    solve_multitask(problem, solver, tol=1e-9, callback=note)
    assert seen
    slack = 1e-9 * optimum.primal
    for proof in seen:
        assert proof.gap >= 0.0
        assert proof.dual <= optimum.primal + slack
        assert proof.primal >= optimum.dual - slack


@pytest.mark.parametrize(
    ("loss", "power"),
    [(losses.SquaredError(), 0), (losses.Pinball(0.3), -1), (losses.Huber(1.0), 0)],
)
def test_the_unit_of_y_does_not_matter(loss, power):
    # The loss of 1000 y is 1000^(2+power) times that of y, the penalty 1000^2 times.
    case = Case("unit", loss)
    X, y, _ = case.data()
    factor = 1000.0
    scaled = losses.Huber(factor) if isinstance(loss, losses.Huber) else loss
    small = MultiTaskProblem(X, y, loss, SharedSubspace(2, 1.0, 0.1))
    large = MultiTaskProblem(
        X,
        [factor * one for one in y],
        scaled,
        SharedSubspace(2, factor**power, 0.1 * factor**power),
    )
    one, other = solve_multitask(small, tol=1e-8), solve_multitask(large, tol=1e-8)
    np.testing.assert_allclose(other.coef / factor, one.coef, atol=1e-4)
    assert other.objective == pytest.approx(one.objective * factor ** (2 + power), rel=1e-7)


def test_sparse_is_dense():
    rng = np.random.default_rng(0)
    dense = [rng.normal(size=(30, 6)) * (rng.random((30, 6)) < 0.4) for _ in range(3)]
    y = [X @ rng.normal(size=6) + rng.normal(size=30) for X in dense]
    for loss in (losses.SquaredError(), losses.Huber(0.5)):
        answers = [
            solve_multitask(MultiTaskProblem(X, y, loss, SharedSubspace(1, 1.0, 0.1)), tol=1e-8)
            for X in (dense, [sp.csr_array(X) for X in dense], [sp.csc_matrix(X) for X in dense])
        ]
        for other in answers[1:]:
            np.testing.assert_allclose(other.coef, answers[0].coef, atol=1e-4)


def test_few_rows_and_many_columns_take_the_short_way():
    rng = np.random.default_rng(1)
    X = [rng.normal(size=(8, 90)) for _ in range(3)]
    y = [one[:, 0] + 0.1 * rng.normal(size=8) for one in X]
    for loss in (losses.SquaredError(), losses.Absolute()):
        for rows in (X, [sp.csr_array(one) for one in X]):
            problem = MultiTaskProblem(rows, y, loss, SharedSubspace(2, 0.1, 0.05))
            assert solve_multitask(problem).certificate.relative_gap <= 1e-6


def test_threads_change_nothing():
    problem = NAMED["plain-hinge"].problem()
    one, two = solve_multitask(problem, n_threads=1), solve_multitask(problem, n_threads=3)
    np.testing.assert_array_equal(one.coef, two.coef)


def test_warm_starts_help():
    problem = NAMED["plain-squared_error"].problem()
    first = solve_multitask(problem)
    again = solve_multitask(problem, warm_start=first)
    assert again.n_iter <= 2
    nearby = problem.with_penalty(SharedSubspace(2, 1.05, 0.105))
    assert solve_multitask(nearby, warm_start=first).certificate.relative_gap <= 1e-6


def test_limits_warn_with_numbers():
    problem = NAMED["plain-hinge"].problem()
    with pytest.warns(ConvergenceWarning, match=r"'bcd' .* after 1 iterations .*max_iter"):
        short = solve_multitask(problem, max_iter=1)
    assert short.status == "iteration_limit"
    assert short.certificate.relative_gap > 1e-6


def test_one_class_in_a_task_and_in_all():
    rng = np.random.default_rng(0)
    X = [rng.normal(size=(10, 3)) for _ in range(3)]
    y = [np.ones(10), -np.ones(10), np.where(rng.random(10) < 0.5, 1.0, -1.0)]
    for loss in (losses.Hinge(), losses.SquaredHinge()):
        answer = solve_multitask(MultiTaskProblem(X, y, loss))
        assert answer.intercept[0] >= 1 - 1e-3
        assert answer.intercept[1] <= -1 + 1e-3
        alone = solve_multitask(MultiTaskProblem(X, [np.ones(10)] * 3, loss))
        np.testing.assert_allclose(alone.coef, 0.0, atol=1e-6)


def test_targets_of_zero():
    X = [np.random.default_rng(0).normal(size=(10, 3))] * 2
    answer = solve_multitask(MultiTaskProblem(X, [np.zeros(10)] * 2, losses.SquaredError()))
    np.testing.assert_array_equal(answer.coef, 0.0)
    assert answer.status == "solved"


def test_contradicting_constraints_name_the_task():
    X = [np.eye(3), np.eye(3)]
    clash = [(), (constraints.Nonnegative(), constraints.LinearInequality([-1.0, -1, -1], -1.0))]
    problem = MultiTaskProblem(X, [np.ones(3)] * 2, losses.SquaredError(), constraints=clash)
    with pytest.raises(InfeasibleError, match="task 1"):
        solve_multitask(problem)


def test_rounding_is_tight_when_the_spectrum_is():
    rng = np.random.default_rng(2)
    U = np.outer(rng.normal(size=4), rng.normal(size=5))
    X = [rng.normal(size=(40, 4)) for _ in range(5)]
    y = [one @ u for one, u in zip(X, U.T)]
    problem = MultiTaskProblem(X, y, losses.SquaredError(), SharedSubspace(1, 1.0, 1.0))
    solution = solve_multitask(problem, tol=1e-9)
    rounded = round_solution(problem, solution)
    np.testing.assert_allclose(rounded.weights, 1.0)
    assert rounded.bound <= 1e-8
    np.testing.assert_allclose(np.trace(rounded.basis * rounded.weights @ rounded.basis.T), 1.0)


@pytest.mark.parametrize("name", ["plain-squared_error", "line-huber", "centred-squared_error"])
def test_rounding_is_never_below_the_bound(name):
    problem = NAMED[name].problem()
    solution = solve_multitask(problem, tol=1e-8)
    rounded = round_solution(problem, solution)
    h = problem.penalty.shared_dim
    assert rounded.value >= solution.certificate.dual
    np.testing.assert_allclose(rounded.components @ rounded.components.T, np.eye(h), atol=1e-12)
    assert rounded.weights.sum() == pytest.approx(h)


@pytest.mark.parametrize("name", ["plain-squared_error", "line-huber", "centred-squared_error"])
def test_rounding_without_time_is_a_model_of_the_rounded_subspace(name, monkeypatch):
    problem = NAMED[name].problem()
    solution = solve_multitask(problem, tol=1e-8)
    rounded = round_solution(problem, solution)
    monkeypatch.setattr(_round, "make_steps", _out_of_time)
    cut = round_solution(problem, solution, time_limit=1.0)
    assert cut.value >= rounded.value - 1e-9 * abs(rounded.value)
    penalty, own = problem.penalty, problem.charged(solution.coef)
    metric = np.linalg.inv(penalty.eta * np.eye(own.shape[0]) + cut.components.T @ cut.components)
    value = problem.loss_value(solution.coef, solution.intercept)
    value += penalty.scale * float(np.sum(own * (metric @ own)))
    assert cut.value == pytest.approx(value)
    assert cut.bound == pytest.approx((cut.value - solution.certificate.dual) / cut.value)


def _out_of_time(*_):
    raise OutOfTime


@pytest.mark.parametrize("gone, successor", [("apg", "'bcd'"), ("bcd_plain", "memory=0")])
def test_solvers_that_are_gone_name_their_successor(gone, successor):
    with pytest.raises(ValueError, match=f"{gone}.*is gone.*{successor}"):
        solve_multitask(PLAIN[0].problem(), gone)


def test_no_subspace_is_better_than_the_bound_says():
    """Two columns, one shared direction: every direction of the plane is tried."""
    rng = np.random.default_rng(4)
    X = [rng.normal(size=(12, 2)) for _ in range(5)]
    y = [one @ rng.normal(size=2) + 0.1 * rng.normal(size=12) for one in X]
    alpha, beta = 1.0, 0.05
    problem = MultiTaskProblem(X, y, losses.SquaredError(), SharedSubspace(1, alpha, beta))
    solution = solve_multitask(problem, tol=1e-9)
    rounded = round_solution(problem, solution, tol=1e-9)

    def best_with(theta):
        metric = 2 * ((alpha + beta) * np.eye(2) - alpha * np.outer(theta, theta))
        total = 0.0
        for rows, target in zip(X, y):
            rows, target = rows - rows.mean(axis=0), target - target.mean()
            gram = rows.T @ rows / 12 + metric
            total += target @ target / 24
            total -= 0.5 * (rows.T @ target / 12) @ np.linalg.solve(gram, rows.T @ target / 12)
        return total

    angles = np.linspace(0.0, np.pi, 4001)
    best = min(best_with(np.array([np.cos(a), np.sin(a)])) for a in angles)
    assert rounded.value == pytest.approx(best_with(rounded.components[0]), rel=1e-8)
    assert rounded.bound > 1e-6  # not tight, so that something is tested
    assert solution.objective <= best * (1 + 1e-9)
    assert rounded.value * (1 - rounded.bound) <= best * (1 + 1e-6)


def test_directions_are_completed_and_signed():
    U = np.outer([0.0, 2.0, -1.0, 0.0], [1.0, 3.0])
    rows = shared_directions(U, 3)
    np.testing.assert_allclose(rows @ rows.T, np.eye(3), atol=1e-14)
    np.testing.assert_allclose(rows[0], np.array([0.0, 2.0, -1.0, 0.0]) / 5**0.5, atol=1e-15)
    assert (rows[np.arange(3), np.abs(rows).argmax(axis=1)] > 0).all()
    np.testing.assert_allclose(shared_directions(-U, 3), rows, atol=1e-14)


@pytest.mark.parametrize("loss", [losses.Hinge(), losses.SquaredHinge(), losses.SquaredError()])
def test_a_penalty_that_rounding_hides_ends_soon_and_is_named(loss):
    """Columns of 1e15 leave 1e-31 of the objective to the penalty: 2,000 passes took minutes."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(120, 8))
    Z = X @ rng.normal(size=(8, 3)) + 0.3 * rng.normal(size=(120, 3))
    Y = Z if loss.of == "residual" else np.sign(Z)
    problem = MultiTaskProblem(1e15 * X, list(Y.T), loss)
    with pytest.warns(ConvergenceWarning, match="penalty is only .* of the objective"):
        answer = solve_multitask(problem, max_iter=100)
    assert answer.status == "stalled"
    assert answer.n_iter <= (40 if loss.of == "residual" else 10)
    easy = MultiTaskProblem(X, list(Y.T), loss, SharedSubspace(1, 1e-9, 1e-10))
    np.testing.assert_allclose(answer.objective, solve_multitask(easy).objective, rtol=1e-5)
