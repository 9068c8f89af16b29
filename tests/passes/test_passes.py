"""The solver `passes`: answers, proofs and counters on every kind of rows, and the known traps."""

import numpy as np
import pytest
import scipy.sparse as sp

import rectiline as rl
from rectiline.exceptions import UnsupportedProblemError
from rectiline.problems.blocks import SplitDual

L, P, C = rl.losses, rl.penalties, rl.constraints
N, D = 20_000, 5


def data(seed=0, n=N, d=D):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, d))
    y = X @ np.arange(1.0, d + 1) + (1 + 0.5 * np.abs(X[:, 0])) * rng.standard_t(3, n)
    return X, y


X, Y = data()
LABELS = np.where(Y > 1, "yes", "no")
CASES = {
    "pinball": {"loss": L.Pinball(0.9)},
    "hinge": {"loss": L.Hinge(), "y": LABELS},
    "squared hinge": {"loss": L.SquaredHinge(), "y": LABELS},
    "huber": {"loss": L.Huber(1.0)},
    "squared": {"loss": L.SquaredError()},
    "epsilon": {"loss": L.EpsilonInsensitive(0.5)},
    "expectile": {"loss": L.Expectile(0.8)},
    "no intercept": {"loss": L.Absolute(), "fit_intercept": False},
    "no penalty": {"loss": L.Pinball(0.3), "penalty": None},
    "no penalty, no intercept": {"loss": L.Huber(0.5), "penalty": None, "fit_intercept": False},
    "strong ridge": {"loss": L.Absolute(), "penalty": P.Ridge(1e5)},
    "weak ridge": {"loss": L.Hinge(), "penalty": P.Ridge(1e-4), "y": LABELS},
    "l1": {"loss": L.Pinball(0.3), "penalty": P.L1(2000.0)},
    "elastic net": {"loss": L.Huber(1.0), "penalty": P.ElasticNet(500.0, 0.5)},
    "slope": {"loss": L.Absolute(), "penalty": P.Slope(np.linspace(900, 500, D))},
    "group": {"loss": L.Absolute(), "penalty": P.GroupLinf(900.0, [[0, 1], [2, 3, 4]])},
    "nonnegative": {"loss": L.Pinball(0.3), "y": -Y, "constraints": [C.Nonnegative()]},
    "box": {"loss": L.Absolute(), "constraints": [C.Box(0.0, 2.5)]},
    "equality": {"loss": L.Absolute(), "constraints": [C.LinearEquality(np.ones((1, D)), [-7.0])]},
    "inequality": {
        "loss": L.Huber(1.0),
        "constraints": [C.LinearInequality(-np.ones((1, D)), [9.0])],
    },
}


def problem_of(case, X=X, **more):
    options = {"y": Y, **case, **more}
    return rl.Problem(X, **options)


@pytest.mark.parametrize("name", CASES)
def test_the_answer_is_that_of_other_solvers_and_proved(name):
    problem = problem_of(CASES[name])
    solution = rl.solve(problem, solver="passes", tol=1e-8)
    assert solution.status == "solved" and solution.solver == "passes"
    assert solution.passes <= 4 and solution.rows_kept <= 0.3 * N
    proof = problem.certify(solution)  # on all rows, by the proof of problems in memory
    assert proof.holds(1.1e-8)
    assert proof.gap == pytest.approx(solution.certificate.gap, rel=0.1, abs=1e-9 * proof.primal)
    other = rl.solve(problem, tol=1e-8)
    assert solution.objective == pytest.approx(other.objective, rel=3e-8)


@pytest.mark.parametrize("name", ["pinball", "hinge", "squared", "no penalty", "equality", "group"])
def test_rows_in_blocks_give_the_same_answer(name):
    case = {"y": Y, **CASES[name]}
    y = case.pop("y")
    memory = rl.solve(rl.Problem(X, y, **case), solver="passes", tol=1e-8)

    def blocks():
        for start, end in ((0, 1), (1, 1), (1, 7000), (7000, N)):  # also one row, and none
            yield X[start:end], y[start:end]

    for rows in (rl.rows.from_arrays(X, y, block_rows=3001), rl.rows.from_stream(blocks)):
        problem = rl.Problem(rows, **case)
        solution = rl.solve(problem, tol=1e-8)
        assert solution.status == "solved"
        assert solution.objective == pytest.approx(memory.objective, rel=3e-8)
        assert isinstance(solution.dual, SplitDual)
        again = problem.certify(solution)  # one more pass
        assert again.relative_gap <= 1.1e-8
        assert again.primal == pytest.approx(solution.objective, rel=1e-12)


STORAGES = {
    "F": np.asfortranarray,
    "float32": lambda X: X.astype(np.float32),
    "csr": lambda X: sp.csr_array(np.where(np.abs(X) > 0.5, X, 0.0)),
    "csc": lambda X: sp.csc_array(np.where(np.abs(X) > 0.5, X, 0.0)),
    "strided": lambda X: np.repeat(X, 2, axis=0)[::2],
}


@pytest.mark.parametrize("storage", STORAGES)
@pytest.mark.parametrize("loss", [L.Pinball(0.7), L.Huber(1.0)], ids=repr)
def test_every_storage(storage, loss):
    problem = rl.Problem(STORAGES[storage](X), Y, loss=loss)
    solution = rl.solve(problem, solver="passes", tol=1e-8)
    assert solution.status == "solved"
    assert problem.certify(solution).holds(1.1e-8)


def test_equal_inputs_give_equal_bits():
    problem = problem_of(CASES["pinball"])
    first = rl.solve(problem, solver="passes", n_threads=1)
    second = rl.solve(problem, solver="passes", n_threads=3)
    np.testing.assert_array_equal(first.coef, second.coef)
    np.testing.assert_array_equal(first.dual.sample, second.dual.sample)
    assert first.certificate == second.certificate


# ---- traps ----------------------------------------------------------------------------------


def trap_rare_levels():
    rng = np.random.default_rng(1)
    level = rng.integers(0, 4, N)
    level[rng.choice(N, 12, replace=False)] = 4  # a level with 12 rows
    hot = np.eye(5)[level]
    return np.column_stack([X, hot]), Y + 5 * hot[:, 4], {"loss": L.Absolute()}


def trap_rare_class():
    y = np.where(np.argsort(np.argsort(Y)) >= N - 20, 1, 0)
    return X, y, {"loss": L.Hinge()}


def trap_heavy_columns():
    rng = np.random.default_rng(2)
    heavy = X.copy()
    heavy[:, 1] = rng.standard_cauchy(N)
    return heavy, Y, {"loss": L.Absolute()}


def trap_ties():
    return np.round(X), np.round(Y), {"loss": L.Absolute()}


def trap_counts():
    return X, np.random.default_rng(0).poisson(1.0, N).astype(float), {"loss": L.Pinball(0.5)}


def trap_duplicates():
    return np.repeat(X[:500], 40, axis=0), np.repeat(Y[:500], 40), {"loss": L.Pinball(0.2)}


def trap_constant_columns():
    return np.column_stack([X, np.zeros(N), np.ones(N)]), Y, {"loss": L.Absolute()}


def trap_zero_weights():
    weight = (np.arange(N) % 3 == 0) * 2.0
    return X, Y, {"loss": L.Absolute(), "sample_weight": weight}


def trap_collinear():
    return np.column_stack([X, X[:, 0] + X[:, 1]]), Y, {"loss": L.Pinball(0.8)}


def trap_large_float32():
    big = (1e6 * X + 1e5).astype(np.float32)
    return big, Y, {"loss": L.Absolute(), "penalty": P.Ridge(1e3)}


def trap_separable():
    return X, np.where(X[:, 0] > 0, 1, -1), {"loss": L.Hinge(), "penalty": P.Ridge(1e-2)}


def trap_sorted():
    order = np.argsort(Y)
    return X[order], Y[order], {"loss": L.Pinball(0.9)}


TRAPS = [value for name, value in sorted(globals().items()) if name.startswith("trap_")]


@pytest.mark.parametrize("trap", TRAPS, ids=lambda one: one.__name__)
def test_traps(trap):
    A, y, options = trap()
    problem = rl.Problem(A, y, **options)
    solution = rl.solve(problem, solver="passes", tol=1e-7)
    assert solution.status == "solved"
    assert solution.passes <= 4
    assert problem.certify(solution).holds(1.1e-7)


@pytest.mark.parametrize("n", [30, 100, 400])
def test_few_rows_are_solved_too(n):
    problem = rl.Problem(X[:n], Y[:n], loss=L.Absolute())
    solution = rl.solve(problem, solver="passes", tol=1e-7)
    assert solution.status == "solved"
    assert problem.certify(solution).holds(1.1e-7)


# ---- families -------------------------------------------------------------------------------


def test_a_family_shares_its_passes():
    opened = []

    def blocks():
        opened.append(1)
        return iter([(X[:9000], Y[:9000]), (X[9000:], Y[9000:])])

    rows = rl.rows.from_stream(blocks)
    levels = (0.1, 0.5, 0.9)
    problems = [rl.Problem(rows, loss=L.Pinball(q)) for q in levels]
    opened.clear()
    solutions = rl.solve_family(problems, tol=1e-7)
    assert len(opened) == 1 + max(one.passes for one in solutions)  # the draw, and the passes
    for q, solution in zip(levels, solutions, strict=True):
        alone = rl.solve(rl.Problem(X, Y, loss=L.Pinball(q)), tol=1e-7)
        assert solution.objective == pytest.approx(alone.objective, rel=3e-7)


def test_a_family_in_memory_may_differ_in_everything_but_X():
    weight = np.random.default_rng(0).poisson(1.0, N).astype(float)
    problems = [
        rl.Problem(X, Y, loss=L.Absolute()),
        rl.Problem(X, Y, loss=L.Absolute(), sample_weight=weight),
        rl.Problem(X, Y, loss=L.Huber(1.0), penalty=P.Ridge(100.0)),
        rl.Problem(X, LABELS, loss=L.Hinge()),
    ]
    for problem, solution in zip(problems, rl.solve_family(problems, tol=1e-7), strict=True):
        assert problem.certify(solution).holds(1.1e-7)


def test_families_must_share_their_rows():
    one = rl.Problem(X, Y, loss=L.Absolute())
    with pytest.raises(ValueError, match="another X"):
        rl.solve_family([one, rl.Problem(X.copy(), Y, loss=L.Absolute())])
    with pytest.raises(ValueError, match="agree about fit_intercept"):
        rl.solve_family([one, rl.Problem(X, Y, loss=L.Absolute(), fit_intercept=False)])
    with pytest.raises(ValueError, match="at least one"):
        rl.solve_family([])
    with pytest.raises(TypeError, match="must hold Problem"):
        rl.solve_family([X])


# ---- bad input --------------------------------------------------------------------------------


@pytest.mark.parametrize("value", [np.nan, np.inf])
def test_numbers_that_are_none_are_named(value):
    bad = X.copy()
    bad[N - 3, 2] = value
    rows = rl.rows.from_arrays(bad, Y, block_rows=4096)
    with pytest.raises(ValueError, match=rf"row {N - 3}, column 2 is {value}"):
        rl.solve(rl.Problem(rows, loss=L.Absolute()))
    y = Y.copy()
    y[5] = value
    with pytest.raises(ValueError, match="row 5 has"):
        rl.solve(rl.Problem(rl.rows.of(X, y), loss=L.Absolute()))


def test_bad_requests_are_named():
    rows = rl.rows.of(X, Y)
    problem = rl.Problem(rows, loss=L.Absolute())
    with pytest.raises(UnsupportedProblemError, match="rows are in blocks"):
        rl.solve(problem, solver="newton")
    with pytest.raises(TypeError, match="no option 'patience'"):
        rl.solve(problem, patience=3)
    with pytest.raises(ValueError, match="two distinct labels"):
        rl.solve(rl.Problem(rl.rows.of(X, np.ones(N)), loss=L.Hinge()))
    with pytest.raises(ValueError, match="must be one of the labels"):
        y = np.where(Y > 0, 1, 0)
        y[-1] = 7
        rl.solve(rl.Problem(rl.rows.of(X, y, block_rows=5000), loss=L.Hinge()))
    with pytest.raises(ValueError, match="no targets"):
        rl.Problem(rl.rows.of(X), loss=L.Absolute())
    with pytest.raises(TypeError, match="SplitDual"):
        problem.certify(np.zeros(D), 0.0, np.zeros(N))


def test_contradicting_constraints_are_proved_infeasible():
    rows = rl.rows.of(X, Y)
    A = np.ones((2, D)) * np.array([[1.0], [-1.0]])
    problem = rl.Problem(rows, loss=L.Absolute(), constraints=[C.LinearInequality(A, [-1.0, -1.0])])
    solution = rl.solve(problem)
    assert solution.status == "infeasible" and solution.infeasibility.proves


@pytest.mark.parametrize("loss", ["squared_hinge", "huber"])
def test_where_sums_over_blocks_round_too_much(loss):
    rng = np.random.default_rng(0)
    A = rng.standard_normal((N, 4))
    y = A[:, 1] - A[:, 2] + rng.standard_normal(N)
    y = np.where(y > 0, 1.0, -1.0) if loss == "squared_hinge" else y
    A[:, 0] = 1e6 * np.abs(rng.standard_cauchy(N))
    problem = rl.Problem(A, y, loss=loss)
    solution = rl.solve(problem, "passes", tol=1e-10)  # rounding is bounded sharply in memory
    assert solution.status == "solved" and solution.passes <= 4
    assert problem.certify(solution).holds(1e-10)
    blocks = rl.Problem(rl.rows.from_arrays(A, y), loss=loss)
    precise = rl.solve(blocks, tol=1e-10)  # one more pass adds up in twofold arithmetic
    assert precise.status == "solved" and precise.passes <= 5
    assert precise.objective == pytest.approx(solution.objective, rel=1e-9)


def test_problems_do_not_change_when_they_are_solved():
    rng = np.random.default_rng(5)
    X = 1e3 * rng.standard_normal((60_000, 3))
    y = X.sum(axis=1) + rng.standard_t(3, 60_000)
    rows = rl.rows.from_arrays(X, y)
    first, second = (rl.Problem(rows, loss=rl.losses.Pinball(q)) for q in (0.3, 0.6))
    before = dict(vars(first))
    alone = rl.solve(first, tol=1e-6)
    answers = rl.solve_family([first, second], tol=1e-6)
    assert vars(first) == before  # what passes measure belongs to the run
    assert all(one.status == "solved" and one.certificate.rounding > 0 for one in answers)
    np.testing.assert_array_equal(alone.coef, rl.solve(first, tol=1e-6).coef)
    with pytest.raises(AttributeError):
        first.terms = second.terms


@pytest.mark.parametrize("penalty", [None, rl.penalties.Ridge(1.0)], ids=["none", "ridge"])
def test_coefficients_without_multipliers_are_certified_on_rows(penalty):
    rng = np.random.default_rng(0)
    X, y = rng.standard_normal((50, 3)), rng.standard_normal(50)
    problem = rl.Problem(rl.rows.from_arrays(X, y), loss="absolute", penalty=penalty)
    proof = problem.certify(np.zeros(3))
    best = rl.solve(rl.Problem(X, y, loss="absolute", penalty=penalty), tol=1e-9)
    assert proof.primal == pytest.approx(np.abs(y).sum())
    assert proof.primal - proof.gap <= best.objective


@pytest.mark.parametrize("seed", [1, 6])
def test_a_weak_ridge_costs_no_pass_for_rows_that_cross_a_knot(seed):
    """What they changed in X'g added its square over twice the strength to the gap."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((60_000, 4))
    y = X @ np.arange(1.0, 5) + rng.standard_t(3, 60_000)
    rows = rl.rows.from_arrays(X, y, block_rows=20_000)
    problem = rl.Problem(rows, loss="huber", penalty=rl.penalties.Ridge(1e-4))
    solution = rl.solve(problem, tol=1e-6)
    assert solution.status == "solved" and solution.passes == 2
    again = problem.certify(solution)
    assert again.holds(1e-6)
