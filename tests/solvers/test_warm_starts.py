"""Sweeps of neighbouring problems: what a warm start saves, counted in proofs and iterations."""

import pickle

import numpy as np
import pytest

import rectiline as rl
from rectiline.problems import Problem

RNG = np.random.default_rng(3)
X = RNG.standard_normal((120, 4))
Y = X @ RNG.standard_normal(4) + RNG.standard_t(3, 120)
SIDES = np.where(Y > 0, 1.0, -1.0)
LEVELS = np.linspace(0.4, 0.45, 51)
PENALTIES = (None, rl.penalties.Ridge(0.1), rl.penalties.L1(2.0), rl.penalties.ElasticNet(1.0, 0.5))


@pytest.fixture
def proofs(monkeypatch):
    """Return a list that grows by one at every proof."""
    counted, prove = [], Problem.prove

    def counting(self, *args, **kwargs):
        counted.append(self)
        return prove(self, *args, **kwargs)

    monkeypatch.setattr(Problem, "prove", counting)
    return counted


def swept(problems, **options):
    """Return the solutions of problems, each started from the one before."""
    found, last = [], None
    for problem in problems:
        last = rl.solve(problem, warm_start=last, **options)
        found.append(last)
    return found


def assert_as_good_as_cold(solutions):
    for one in solutions:
        cold = rl.solve(one.problem)
        allowed = one.certificate.gap + cold.certificate.gap
        assert one.status == "solved"
        assert abs(one.objective - cold.objective) <= allowed


def quantiles(X, y, penalty, levels=LEVELS):
    return [rl.Problem(X, y, rl.losses.Pinball(level), penalty) for level in levels]


@pytest.mark.parametrize("penalty", PENALTIES)
def test_quantile_levels(penalty):
    found = swept(quantiles(X, Y, penalty))
    assert_as_good_as_cold(found[::5])
    steps = [one.n_iter for one in found[1:]]
    cold = rl.solve(found[25].problem).n_iter
    assert np.mean(steps) <= 0.6 * cold


def test_next_levels_without_a_penalty_mostly_need_no_step():
    """The rows on knots keep their places: their multipliers only have to be balanced anew."""
    found = swept(quantiles(X, Y, None))
    assert np.mean([one.n_iter == 0 for one in found[1:]]) >= 0.8


@pytest.mark.parametrize("penalty", PENALTIES)
@pytest.mark.parametrize("n", [600, 2500])
def test_a_start_that_cannot_be_certified_costs_no_proof(penalty, n, proofs):
    rng = np.random.default_rng(4)
    wide = rng.standard_normal((n, 20))
    y = wide.sum(axis=1) + rng.standard_t(3, n)
    first, second = quantiles(wide, y, penalty, (0.3, 0.4))
    start = rl.solve(first)
    proofs.clear()
    cold = rl.solve(second)
    n_cold = len(proofs)
    proofs.clear()
    warm = rl.solve(second, warm_start=start)
    assert len(proofs) <= n_cold
    assert abs(warm.objective - cold.objective) <= warm.certificate.gap + cold.certificate.gap


@pytest.mark.parametrize("penalty", PENALTIES)
@pytest.mark.parametrize("solver", ["auto", "newton", "interior"])
def test_the_same_problem_again_takes_one_proof(penalty, solver, proofs):
    problem = rl.Problem(X, SIDES, rl.losses.Hinge(), penalty)
    first = rl.solve(problem, solver)
    proofs.clear()
    again = rl.solve(problem, solver, warm_start=first)
    assert (again.n_iter, len(proofs), again.solver) == (0, 1, first.solver)
    assert again.reason == "the warm start is already certified"
    np.testing.assert_array_equal(again.coef, first.coef)


@pytest.mark.parametrize(
    ("loss", "y"),
    [
        (rl.losses.Pinball(0.3), Y),
        (rl.losses.Hinge(), SIDES),
        (rl.losses.EpsilonInsensitive(0.5), Y),
        (rl.losses.Huber(), Y),
    ],
)
def test_multipliers_follow_the_weights(loss, y):
    """Twice the weights under twice the penalty have the same answer and twice the multipliers."""
    one = rl.Problem(X, y, loss, rl.penalties.Ridge(0.5))
    two = rl.Problem(X, y, loss, rl.penalties.Ridge(1.0), sample_weight=np.full(120, 2.0))
    again = rl.solve(two, warm_start=rl.solve(one))
    assert again.n_iter == 0
    assert again.objective == pytest.approx(2.0 * rl.solve(one).objective, rel=2e-6)


def test_multipliers_follow_the_level():
    low, high = quantiles(X, Y, None, (0.3, 0.302))
    start = rl.solve(low, polish=True)
    again = rl.solve(high, warm_start=start)
    slopes = np.isclose(start.dual.sample, low.dual_boxes[0])
    np.testing.assert_allclose(again.dual.sample[slopes], high.dual_boxes[0][slopes])


@pytest.mark.parametrize("penalty", PENALTIES)
def test_caps_targets_and_widths(penalty):
    caps = np.linspace(0.5, 1.0, 6)
    boxed = [
        rl.Problem(X, Y, rl.losses.Absolute(), penalty, rl.constraints.Box(-cap, cap))
        for cap in caps
    ]
    shifted = [rl.Problem(X, Y + 0.01 * k * X[:, 0] ** 2, "absolute", penalty) for k in range(6)]
    widths = [rl.Problem(X, Y, rl.losses.EpsilonInsensitive(e), penalty) for e in caps]
    for problems in (boxed, shifted, widths):
        assert_as_good_as_cold(swept(problems))


def test_losses_with_and_without_ends_of_their_slopes():
    squared = rl.Problem(X, Y, rl.losses.SquaredError(), rl.penalties.Ridge(0.1))
    kinked = rl.Problem(X, Y, rl.losses.Pinball(0.3), rl.penalties.Ridge(0.1))
    assert_as_good_as_cold(swept([squared, kinked, squared]))
    unused = np.where(np.arange(120) < 60, 0.0, 1.0)
    part = rl.Problem(X, Y, rl.losses.Pinball(0.3), rl.penalties.Ridge(0.1), sample_weight=unused)
    assert_as_good_as_cold(swept([kinked, part, kinked]))


def test_a_solution_without_its_problem_is_a_start():
    first, second = quantiles(X, Y, rl.penalties.Ridge(0.1), (0.3, 0.31))
    start = pickle.loads(pickle.dumps(rl.solve(first)))
    assert_as_good_as_cold([rl.solve(second, warm_start=start)])


@pytest.mark.filterwarnings("ignore::rectiline.ConvergenceWarning")
def test_a_limit_leaves_nothing_worse_than_the_start():
    first, second = quantiles(X, Y, rl.penalties.Ridge(0.1), (0.3, 0.5))
    start = rl.solve(first)
    found = rl.solve(second, tol=1e-12, warm_start=start, max_iter=1)
    assert found.objective <= second.objective(start.coef, start.intercept)


@pytest.mark.filterwarnings("ignore::rectiline.ConvergenceWarning")
def test_a_solver_that_fails_leaves_nothing_worse_than_a_start_without_a_proof(monkeypatch):
    """Such a start was only estimated; solvers that end without an answer fall back on zeros."""
    first, second = quantiles(X, Y, rl.penalties.Ridge(0.1), (0.3, 0.5))
    start = rl.solve(first)

    def overflows(*_):
        raise OverflowError

    monkeypatch.setattr(rl.solvers.Newton, "advance", overflows)
    found = rl.solve(second, "newton", tol=1e-12, warm_start=start)
    assert found.status == "stalled"
    assert found.objective <= second.objective(start.coef, start.intercept)


def test_small_linear_programs_go_on_by_newton_and_larger_ones_by_their_basis():
    rng = np.random.default_rng(6)
    wide = rng.standard_normal((90, 70))
    y = wide[:, :3].sum(axis=1) + rng.standard_t(3, 90)
    for columns, solver in ((wide[:, :10], "newton"), (wide, "generation")):
        problems = quantiles(columns, y, rl.penalties.L1(2.0), (0.5, 0.52))
        assert swept(problems)[1].solver == solver


def test_a_warm_sweep_repeats_its_bits():
    problems = quantiles(X, Y, rl.penalties.L1(2.0))
    for one, other in zip(swept(problems), swept(problems), strict=True):
        np.testing.assert_array_equal(one.coef, other.coef)
        np.testing.assert_array_equal(one.dual.sample, other.dual.sample)
