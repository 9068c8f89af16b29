"""Results have the same bits for any number of threads, whoever uses them."""

from __future__ import annotations

import os
import subprocess
import sys
import threading

import numpy as np
import pytest
from scipy import sparse

import rectiline as rl
from rectiline import _core
from rectiline._thread_count import using_threads
from rectiline.backends import as_design
from rectiline.estimators.multitask import MultiTaskRegressor

COUNTS = (1, 2, 3, 5, 16)


def same_bits(work):
    """Call with each number of threads; all results, sequences of arrays, must be equal."""
    found = []
    for count in COUNTS:
        with using_threads(count):
            found.append([np.array(one) for one in work()])
    for other in found[1:]:
        for one, many in zip(found[0], other, strict=True):
            np.testing.assert_array_equal(many, one)
    return found[0]


def sparse_entries(n, d):
    rng = np.random.default_rng(0)
    return np.where(rng.random((n, d)) < 0.9, rng.standard_normal((n, d)), 0.0)


DENSE = np.random.default_rng(0).standard_normal((9000, 70))
STORAGES = {
    "rows": DENSE,
    "columns": np.asfortranarray(DENSE),
    "float32": DENSE.astype(np.float32),
    "strided": np.repeat(DENSE, 2, axis=1)[:, ::2],
    "csr": sparse.csr_array(sparse_entries(20_000, 80)),
    "csc": sparse.csc_array(sparse_entries(20_000, 80)),
}


@pytest.mark.parametrize("storage", STORAGES)
def test_products(storage):
    X = STORAGES[storage]
    n, d = X.shape
    b, g = np.linspace(-1, 1, d), np.linspace(-2, 1, n)
    g[::7] = 0.0

    def work():
        design = as_design(X)  # a fresh one: norms are computed once
        yield design.dot(b)
        yield design.tdot(g)
        yield from design.both(b, g)
        yield design.row_squares(b**2)
        yield design.column_squares(g**2)
        yield from design.norm_bounds
        yield from _core.twofold_dot(design.view, b)
        yield from _core.twofold_tdot(design.view, g)

    z, q, *_ = same_bits(work)
    exact = np.asarray(X.toarray() if sparse.issparse(X) else X, dtype=np.float64)
    np.testing.assert_allclose(z, exact @ b, rtol=1e-11, atol=1e-11)
    np.testing.assert_allclose(q, exact.T @ g, rtol=1e-10, atol=1e-9)


def table(n, d, margin=False):
    rng = np.random.default_rng(1)
    X = rng.standard_normal((n, d))
    y = X @ np.linspace(-1, 1, d) + rng.standard_t(3, n)
    return X, np.where(y > 0, 1.0, -1.0) if margin else y


LOSSES = {
    "hinge": rl.losses.Hinge(),
    "pinball": rl.losses.Pinball(0.8),
    "huber": rl.losses.Huber(1.0),
    "squared_hinge": rl.losses.SquaredHinge(),
}


@pytest.mark.parametrize("solver", ["newton", "passes"])
@pytest.mark.parametrize("loss", LOSSES)
def test_solves_and_certificates(solver, loss):
    X, y = table(150_000, 6, "hinge" in loss)

    def work():
        problem = rl.Problem(X, y, loss=LOSSES[loss], penalty=rl.penalties.Ridge(0.1))
        found = rl.solve(problem, solver)
        proof = problem.certify(found)
        assert found.status == "solved" and proof.holds(1e-6)
        yield from (found.coef, found.intercept, found.dual.sample, found.n_iter)
        yield from (proof.primal, proof.gap, found.certificate.gap)

    same_bits(work)


@pytest.mark.parametrize("make", [sparse.csr_array, sparse.csc_array, np.float32])
def test_solves_on_other_storages(make):
    X, y = table(60_000, 8)
    stored = make(np.where(np.abs(X) > 0.5, X, 0.0))

    def work():
        problem = rl.Problem(stored, y, loss=rl.losses.Huber(1.0))
        found = rl.solve(problem, "newton")
        yield from (found.coef, found.intercept, found.dual.sample)

    same_bits(work)


def fit_search(n_jobs):
    X, y = table(400, 5, True)
    model = rl.PLQClassifierCV("hinge", Cs=6, cv=4, n_jobs=n_jobs).fit(X, y)
    return model.coef_, model.cv_results_["mean_test_score"]


def fit_classes(n_jobs):
    X, _ = table(500, 5)
    model = rl.PLQClassifier("squared_hinge", n_jobs=n_jobs).fit(X, X.argmax(axis=1))
    return model.coef_, model.intercept_


def fit_quantiles(n_jobs):
    model = rl.QuantileRegressor(quantile=[0.1, 0.5, 0.9], alpha=0.01, n_jobs=n_jobs).fit(
        *table(800, 4)
    )
    return model.coef_, model.intercept_


def fit_shared_passes(n_jobs):
    """Quantiles of rows in blocks share their passes."""
    rows = rl.rows.from_arrays(*table(100_000, 2), block_rows=30_000)
    model = rl.QuantileRegressor(quantile=[0.2, 0.5, 0.8], alpha=0.01, n_jobs=n_jobs).fit(rows)
    assert all(one.solver == "passes" for one in model.solution_)
    return model.coef_, model.intercept_


def fit_one(n_jobs):
    model = rl.PLQRegressor("huber", n_jobs=n_jobs).fit(*table(50_000, 4))
    return model.coef_, model.intercept_


def fit_tasks(n_jobs):
    X, y = table(300, 4)
    model = MultiTaskRegressor(loss="huber", shared_dim=2, n_jobs=n_jobs)
    model.fit(X, y, tasks=np.arange(300) % 5)
    return model.coef_, model.intercept_


FITS = [fit_search, fit_classes, fit_quantiles, fit_shared_passes, fit_one, fit_tasks]


@pytest.mark.parametrize("fit", FITS, ids=lambda fit: fit.__name__)
def test_n_jobs(fit):
    first = fit(None)
    for n_jobs in (1, 2, 4, -1):
        for one, many in zip(first, fit(n_jobs), strict=True):
            np.testing.assert_array_equal(many, one)


# ---- how many -----------------------------------------------------------------------------------


@pytest.fixture
def restored():
    before = _core.set_process_thread_count(0)
    yield
    _core.set_process_thread_count(before)


def test_the_innermost_setting_counts(restored):
    assert rl.set_threads(np.int64(3)) >= 1
    seen = []
    with using_threads(5):
        with using_threads(2):
            seen.append(_core.thread_count())
            # Other threads have the setting of the process.
            other = threading.Thread(target=lambda: seen.append(_core.thread_count()))
            other.start()
            other.join()
        with using_threads(None):
            seen.append(_core.thread_count())
        with pytest.raises(ZeroDivisionError), using_threads(4):
            raise ZeroDivisionError
        seen.append(_core.thread_count())
    assert seen == [2, 3, 5, 5] and rl.set_threads(-1) == 3
    assert 1 <= rl.set_threads(None) <= (os.cpu_count() or 1)


def test_a_solve_sets_its_own_number(restored):
    X, y = table(200, 3)
    seen = []

    def note(_):
        seen.append(_core.thread_count())

    rl.solve(rl.Problem(X, y, loss=rl.losses.Absolute()), callback=note, n_threads=7)
    assert set(seen) == {7} and _core.thread_count() != 7
    rl.PLQRegressor("huber", callback=note, n_jobs=6).fit(X, y)
    assert seen[-1] == 6
    # Problems side by side have one thread each.
    rl.QuantileRegressor(quantile=[0.1, 0.9], alpha=0.01, callback=note, n_jobs=2).fit(X, y)
    assert seen[-1] == 1


@pytest.mark.parametrize("wrong", [0, -2, 1.5, True, "2"])
def test_wrong_numbers(wrong):
    problem = rl.Problem(np.eye(2), [1.0, 2.0], loss=rl.losses.Absolute())
    for call in (rl.set_threads, lambda n: rl.solve(problem, n_threads=n)):
        with pytest.raises(ValueError, match="n_threads="):
            call(wrong)


@pytest.mark.parametrize(
    ("variables", "expected"),
    [
        ({}, 1),
        ({"OMP_NUM_THREADS": "3"}, 3),
        ({"OMP_NUM_THREADS": "3", "RECTILINE_NUM_THREADS": "2"}, 2),
        ({"RECTILINE_NUM_THREADS": "many"}, 1),
    ],
)
def test_the_environment_sets_the_default(variables, expected):
    names = ("OMP_NUM_THREADS", "RECTILINE_NUM_THREADS")
    environment = {name: value for name, value in os.environ.items() if name not in names}
    code = (  # the extension alone: the package takes a while to import
        "from importlib import machinery, util\n"
        f"loader = machinery.ExtensionFileLoader('_core', {_core.__file__!r})\n"
        "core = util.module_from_spec(util.spec_from_loader('_core', loader))\n"
        "loader.exec_module(core)\n"
        "print(core.thread_count())"
    )
    command = [sys.executable, "-c", code]
    done = subprocess.run(command, env={**environment, **variables}, capture_output=True)
    assert done.stdout.decode().strip() == str(expected), done.stderr


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system does not fork")
def test_a_forked_child_has_threads_of_its_own():
    X, y = table(60_000, 8)
    g = np.linspace(-1, 1, y.size)
    design = as_design(X)
    with using_threads(3):
        expected = design.tdot(g)
        child = os.fork()
        if child == 0:
            equal = np.array_equal(design.tdot(g), expected)
            os._exit(0 if equal else 1)
        assert os.waitpid(child, 0)[1] == 0


def test_calls_from_many_threads_at_once():
    X, y = table(60_000, 8)
    g = np.linspace(-1, 1, y.size)
    design, found = as_design(X), [None] * 6
    expected = design.tdot(g)

    def work(k):
        with using_threads(4):
            found[k] = [design.tdot(g) for _ in range(20)]

    threads = [threading.Thread(target=work, args=(k,)) for k in range(6)]
    for one in threads:
        one.start()
    for one in threads:
        one.join()
    for products in found:
        for q in products:
            np.testing.assert_array_equal(q, expected)
