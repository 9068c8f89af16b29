"""What every solver promises, over the one list of solvers."""

import pickle
import warnings

import numpy as np
import pytest
from scipy import sparse

import rectiline as rl
from cases import LOSSES, SOLVERS
from rectiline import Problem
from rectiline.constraints import Box, Fairness, LinearEquality, LinearInequality, Monotone
from rectiline.losses import Absolute, Hinge, Huber, Pinball, SquaredError, SquaredHinge
from rectiline.penalties import L1, ElasticNet, Ridge
from rectiline.solvers import Solution, Status

NAMES = [solver.name for solver in SOLVERS]
solvers = pytest.mark.parametrize("solver", NAMES)
RNG = np.random.default_rng(12)
X = RNG.normal(size=(60, 6))
X[np.abs(X) < 0.4] = 0.0
SIGNAL = X @ RNG.normal(size=6) + RNG.normal(size=60) + 0.5
LABELS = np.where(SIGNAL > 0.3, 1, -1)
GROUP = (RNG.random(60) < 0.5).astype(float)

ROWS = [Fairness(GROUP, 0.01), LinearEquality([1, 0, -1, 0, 0, 0], 0.05)]
KINDS = {
    "hinge": {"y": LABELS, "loss": Hinge(), "penalty": Ridge(8.0)},
    "hinge, origin": {"y": LABELS, "loss": Hinge(), "penalty": Ridge(8.0), "fit_intercept": False},
    "squared hinge": {"y": LABELS, "loss": SquaredHinge(), "penalty": ElasticNet(0.5, 9.0)},
    "pinball": {"y": SIGNAL, "loss": Pinball(0.8), "penalty": Ridge(9.0)},
    "huber": {
        "y": SIGNAL,
        "loss": Huber(0.7),
        "penalty": ElasticNet(1.0, 9.0),
        "fit_intercept": False,
    },
    "box": {
        "y": SIGNAL,
        "loss": Absolute(),
        "penalty": Ridge(9.0),
        "constraints": [Box(-0.1, 0.2)],
    },
    "rows": {"y": SIGNAL, "loss": Absolute(), "penalty": Ridge(9.0), "constraints": ROWS},
    "order": {"y": SIGNAL, "loss": Huber(1.0), "penalty": Ridge(20.0), "constraints": [Monotone()]},
}
FLAT_KINDS = {
    "l1": {"y": SIGNAL, "loss": Pinball(0.3), "penalty": L1(3.0)},
    "l1 weights": {"y": LABELS, "loss": Hinge(), "penalty": L1(1.0, weights=[1, 0, 2, 0, 1, 1])},
    "l1 bounds": {
        "y": SIGNAL,
        "loss": Huber(0.5),
        "penalty": L1(1.0),
        "constraints": [Box(0.0, 0.3)],
    },
    "no penalty": {"y": SIGNAL, "loss": Absolute(), "penalty": None},
    "no penalty, rows": {"y": SIGNAL, "loss": SquaredError(), "penalty": None, "constraints": ROWS},
}
kinds = pytest.mark.parametrize("kind", KINDS)
EVERY = [
    pytest.param(solver.name, kind, id=f"{solver.name}-{name}")
    for solver in SOLVERS
    for name, kind in {**KINDS, **(FLAT_KINDS if solver.flat else {})}.items()
]


def make(kind, X=X, **changes):
    return Problem(X, **{**KINDS[kind], **changes})


def solved(problem, solver, tol=1e-9, **options):
    solution = rl.solve(problem, solver=solver, tol=tol, **options)
    assert solution.status == "solved"
    return solution


def same(one, other):
    """Two answers to one problem, each proved to 1e-9: strong convexity bounds their distance."""
    assert other.objective == pytest.approx(one.objective, rel=4e-9)
    scale = np.linalg.norm(one.coef) + 1e-3
    assert np.linalg.norm(other.coef - one.coef) <= 1e-3 * scale


# ---- the gap ----------------------------------------------------------------------------------


@pytest.mark.parametrize(("solver", "kind"), EVERY)
@pytest.mark.parametrize("tol", [1e-2, 1e-6, 1e-10])
def test_closes_the_gap(solver, kind, tol):
    problem = Problem(X, **kind)
    solution = solved(problem, solver, tol)
    assert isinstance(solution, Solution) and solution.status is Status.SOLVED
    assert solution.certificate.relative_gap <= tol
    assert solution.certificate.relative_violation <= 1e-9
    again = problem.certify(solution.coef, solution.intercept, solution.dual)
    assert again.primal == solution.certificate.primal == solution.objective
    assert again.relative_gap <= 2 * tol
    assert again.violation == solution.certificate.violation


@solvers
@pytest.mark.parametrize("case", LOSSES, ids=[case.name for case in LOSSES])
def test_closes_the_gap_for_every_loss(solver, case):
    y = LABELS if case.loss.of == "margin" else SIGNAL
    for intercept in (True, False):
        problem = Problem(X, y, loss=case.loss, penalty=Ridge(9.0), fit_intercept=intercept)
        solved(problem, solver, 1e-8)


@solvers
@kinds
def test_the_answer_says_how_it_was_found(solver, kind):
    solution = solved(make(kind), solver, 1e-6)
    assert solution.solver in [name for name in NAMES if name != "auto"] or solver == "auto"
    if solver != "auto":
        assert solution.solver == solver
    assert solution.reason
    assert solution.n_iter >= 1 and solution.seconds > 0
    assert solution.infeasibility is None
    assert [p.seconds for p in solution.history] == sorted(p.seconds for p in solution.history)
    for name in {progress.solver for progress in solution.history}:  # one or several stages
        counts = [progress.n_iter for progress in solution.history if progress.solver == name]
        assert counts == sorted(counts)
    assert solution.history[-1].n_iter == solution.n_iter
    assert solution.history[-1].relative_gap == solution.certificate.relative_gap
    for word in ("solved", "objective", "relative_gap", "violation", solution.solver):
        assert word in repr(solution)


# ---- storage ----------------------------------------------------------------------------------

STORES = {
    "Fortran": np.asfortranarray,
    "every other row": lambda X: np.repeat(X, 2, axis=0)[::2],
    "every other column": lambda X: np.repeat(X, 2, axis=1)[:, ::2],
    "CSR": sparse.csr_array,
    "CSC": sparse.csc_array,
}


@solvers
@kinds
@pytest.mark.parametrize("store", STORES)
def test_storage_does_not_matter(solver, kind, store):
    same(solved(make(kind), solver), solved(make(kind, X=STORES[store](X)), solver))


@solvers
@kinds
@pytest.mark.parametrize("make_sparse", [sparse.csr_array, sparse.csc_array])
def test_width_of_indices_does_not_matter(solver, kind, make_sparse):
    narrow, wide = make_sparse(X), make_sparse(X)
    narrow.indices, narrow.indptr = narrow.indices.astype("i4"), narrow.indptr.astype("i4")
    wide.indices, wide.indptr = wide.indices.astype("i8"), wide.indptr.astype("i8")
    first, second = (solved(make(kind, X=stored), solver) for stored in (narrow, wide))
    np.testing.assert_array_equal(first.coef, second.coef)


@solvers
@kinds
def test_float32_is_near_float64(solver, kind):
    exact, rounded = solved(make(kind), solver), solved(make(kind, X=X.astype("f4")), solver)
    assert rounded.objective == pytest.approx(exact.objective, rel=1e-5)
    np.testing.assert_allclose(rounded.coef, exact.coef, atol=1e-4)
    stored = X.astype("f4").astype("f8")
    same(solved(make(kind, X=stored), solver), rounded)


# ---- invariance -------------------------------------------------------------------------------


@solvers
@kinds
def test_the_order_of_samples_does_not_matter(solver, kind):
    order = np.random.default_rng(0).permutation(60)
    changes = {"y": KINDS[kind]["y"][order], "X": X[order]}
    if kind == "rows":
        changes["constraints"] = [Fairness(GROUP[order], 0.01), ROWS[1]]
    same(solved(make(kind), solver), solved(make(kind, **changes), solver))


@solvers
@pytest.mark.parametrize("kind", ["hinge", "squared hinge", "pinball", "huber", "box"])
def test_the_order_of_columns_does_not_matter(solver, kind):
    order = np.random.default_rng(0).permutation(6)
    first, second = solved(make(kind), solver), solved(make(kind, X=X[:, order]), solver)
    assert second.objective == pytest.approx(first.objective, rel=4e-9)
    np.testing.assert_allclose(second.coef, first.coef[order], atol=1e-4)


@solvers
@pytest.mark.parametrize("unit", [1e-3, 1e3])
@pytest.mark.parametrize("loss", [Absolute(), Pinball(0.8), Huber(0.5)])
def test_the_unit_of_the_target_does_not_matter(solver, loss, unit):
    """y, coefficients and intercept times `unit`; status, sweeps and relative gap stay."""
    first = solved(Problem(X, SIGNAL, loss=loss, penalty=Ridge(9.0)), solver, 1e-7)
    if isinstance(loss, Huber):
        scaled = Problem(X, unit * SIGNAL, loss=Huber(0.5 * unit), penalty=Ridge(9.0))
        value = unit**2
    else:
        scaled = Problem(X, unit * SIGNAL, loss=loss, penalty=Ridge(9.0 / unit))
        value = unit
    second = solved(scaled, solver, 1e-7)
    assert second.objective == pytest.approx(value * first.objective, rel=3e-7)
    np.testing.assert_allclose(second.coef / unit, first.coef, atol=1e-3)
    assert second.intercept / unit == pytest.approx(first.intercept, abs=1e-2)
    if solver != "auto":  # which may take another solver
        assert second.n_iter == pytest.approx(first.n_iter, rel=0.5, abs=30)


@solvers
@pytest.mark.parametrize("unit", [1e-4, 1e4])
def test_the_unit_of_a_constraint_does_not_matter(solver, unit):
    rows = np.vstack([np.eye(6)[:2], np.ones((1, 6))])
    found = [
        solved(make("huber", constraints=[LinearInequality(u * rows, 0.05 * u)]), solver)
        for u in (1.0, unit)
    ]
    same(*found)


@solvers
@pytest.mark.parametrize("unit", [0.25, 4.0])
def test_the_unit_of_all_columns_is_that_of_the_strength(solver, unit):
    """Every column times `unit`, the ridge times its square: the same program in other words."""
    one = solved(make("pinball"), solver)
    two = solved(make("pinball", X=unit * X, penalty=Ridge(9.0 * unit**2)), solver)
    assert two.objective == pytest.approx(one.objective, rel=4e-9)
    np.testing.assert_allclose(unit * two.coef, one.coef, atol=1e-4)


@solvers
@pytest.mark.parametrize("intercept", [True, False])
@pytest.mark.parametrize("loss", [Absolute(), Huber(0.5), Hinge(), SquaredHinge()])
def test_a_weight_is_a_number_of_copies(solver, loss, intercept):
    weight = np.random.default_rng(3).integers(0, 4, 60)
    y = LABELS if loss.of == "margin" else SIGNAL
    options = {"loss": loss, "penalty": Ridge(9.0), "fit_intercept": intercept}
    weighted = Problem(X, y, sample_weight=weight, **options)
    copied = Problem(np.repeat(X, weight, axis=0), np.repeat(y, weight), **options)
    first, second = solved(weighted, solver, 1e-10), solved(copied, solver, 1e-10)
    assert second.objective == pytest.approx(first.objective, rel=1e-9)
    np.testing.assert_allclose(second.coef, first.coef, atol=1e-4)
    certificate = copied.certify(first.coef, first.intercept, second.dual)
    assert certificate.relative_gap <= 1e-7


@solvers
@kinds
def test_samples_of_weight_zero_do_not_matter(solver, kind):
    weight = np.ones(60)
    weight[::4] = 0.0
    kept = weight > 0
    spoiled = X.copy()
    spoiled[~kept] = 1e6
    changes = {} if kind != "rows" else {"constraints": [ROWS[1]]}
    small = make(kind, X=X[kept], y=KINDS[kind]["y"][kept], **changes)
    whole = make(kind, X=spoiled, sample_weight=weight, **changes)
    same(solved(small, solver), solved(whole, solver))


# ---- repeatability ----------------------------------------------------------------------------


@solvers
@kinds
def test_the_same_seed_gives_the_same_answer(solver, kind):
    first, second = (solved(make(kind), solver, 1e-6, random_state=7) for _ in range(2))
    np.testing.assert_array_equal(first.coef, second.coef)
    np.testing.assert_array_equal(first.dual.sample, second.dual.sample)
    assert (first.n_iter, first.certificate) == (second.n_iter, second.certificate)


@solvers
@kinds
def test_any_seed_gives_a_good_answer(solver, kind):
    same(solved(make(kind), solver, random_state=0), solved(make(kind), solver, random_state=99))


@solvers
@kinds
def test_a_problem_can_be_solved_again(solver, kind):
    problem = make(kind)
    first, second = (solved(problem, solver, 1e-6) for _ in range(2))
    np.testing.assert_array_equal(first.coef, second.coef)


@pytest.mark.parametrize("solver", [solver.name for solver in SOLVERS if solver.warm])
@kinds
def test_a_warm_start_takes_fewer_iterations(solver, kind):
    problem = make(kind)
    cold = solved(problem, solver, 1e-8)
    warm = solved(problem, solver, 1e-8, warm_start=cold)
    assert warm.n_iter <= max(2, 0.5 * cold.n_iter)


@solvers
@kinds
def test_a_warm_start_from_a_similar_problem(solver, kind):
    penalty = KINDS[kind]["penalty"]
    problem = make(kind, penalty=penalty.with_strength(1.05 * penalty.strength))
    solution = solved(problem, solver, warm_start=solved(make(kind), solver))
    same(solved(problem, solver), solution)


@solvers
def test_a_solution_can_be_pickled(solver):
    solution = solved(make("hinge"), solver, 1e-6)
    copy = pickle.loads(pickle.dumps(solution))
    np.testing.assert_array_equal(copy.coef, solution.coef)
    assert copy.certificate == solution.certificate
    assert copy.status == "solved"


@solvers
@kinds
def test_nothing_is_printed_or_warned(solver, kind, capfd):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        solved(make(kind), solver, 1e-6)
    captured = capfd.readouterr()
    assert (captured.out, captured.err) == ("", "")


# ---- extremes ---------------------------------------------------------------------------------


@solvers
def test_one_sample_and_one_column(solver):
    solution = solved(Problem([[2.0]], [3.0], loss=Absolute(), fit_intercept=False), solver)
    assert solution.coef[0] == pytest.approx(1.5, rel=1e-4)
    solution = solved(Problem([[2.0]], [3.0], loss=Absolute()), solver)
    assert solution.objective == pytest.approx(0.0, abs=1e-9)


@solvers
@pytest.mark.parametrize("loss", [Hinge(), Absolute(), SquaredError()])
def test_a_design_of_zeros(solver, loss):
    """Only the intercept can do anything."""
    y = LABELS if loss.of == "margin" else SIGNAL
    solution = solved(Problem(np.zeros((60, 3)), y, loss=loss), solver, 1e-8)
    np.testing.assert_allclose(solution.coef, 0.0, atol=1e-3)
    best = min(
        float(loss.value(y, np.full(60, b0)).sum()) for b0 in (np.mean(y), np.median(y), 1.0, -1.0)
    )
    assert solution.objective == pytest.approx(best, rel=1e-6)
    origin = Problem(np.zeros((60, 3)), y, loss=loss, fit_intercept=False)
    assert solved(origin, solver).objective == pytest.approx(origin.objective(np.zeros(3)))


@solvers
def test_all_coefficients_fixed_by_bounds(solver):
    problem = Problem(X, SIGNAL, loss=Absolute(), penalty=Ridge(9.0), constraints=[Box(0.1, 0.1)])
    solution = solved(problem, solver)
    np.testing.assert_array_equal(solution.coef, np.full(6, 0.1))
    assert solution.intercept == pytest.approx(np.median(SIGNAL - 0.1 * X.sum(axis=1)), abs=0.2)


@solvers
def test_a_target_that_is_met_exactly(solver):
    """All residuals inside the insensitive zone: the optimum is zero at zero."""
    loss = rl.losses.EpsilonInsensitive(epsilon=100.0)
    solution = solved(Problem(X, SIGNAL, loss=loss, penalty=Ridge(1.0)), solver)
    assert solution.objective == pytest.approx(0.0, abs=1e-9)
    np.testing.assert_allclose(solution.coef, 0.0, atol=1e-4)
