"""What does not matter to any solver: storage, order, units, copies."""

import numpy as np
import pytest
from cases import GENERAL
from contracts.kinds import (
    GROUP,
    LABELS,
    ROWS,
    SIGNAL,
    X,
    each,
    make,
    pairs,
    same,
    solved,
    solvers,
    y_of,
)
from scipy import sparse

from rectiline import Problem
from rectiline.constraints import Fairness, LinearInequality
from rectiline.losses import Absolute, Hinge, Huber, Pinball, SquaredHinge
from rectiline.penalties import Ridge

# ---- storage ----------------------------------------------------------------------------------

STORES = {
    "Fortran": np.asfortranarray,
    "every other row": lambda X: np.repeat(X, 2, axis=0)[::2],
    "every other column": lambda X: np.repeat(X, 2, axis=1)[:, ::2],
    "CSR": sparse.csr_array,
    "CSC": sparse.csc_array,
}


@each
@pytest.mark.parametrize("store", STORES)
def test_storage_does_not_matter(solver, kind, store):
    same(solved(make(kind), solver), solved(make(kind, X=STORES[store](X)), solver))


@each
@pytest.mark.parametrize("make_sparse", [sparse.csr_array, sparse.csc_array])
def test_width_of_indices_does_not_matter(solver, kind, make_sparse):
    narrow, wide = make_sparse(X), make_sparse(X)
    narrow.indices, narrow.indptr = narrow.indices.astype("i4"), narrow.indptr.astype("i4")
    wide.indices, wide.indptr = wide.indices.astype("i8"), wide.indptr.astype("i8")
    first, second = (solved(make(kind, X=stored), solver) for stored in (narrow, wide))
    np.testing.assert_array_equal(first.coef, second.coef)


@each
def test_float32_is_near_float64(solver, kind):
    exact, rounded = solved(make(kind), solver), solved(make(kind, X=X.astype("f4")), solver)
    assert rounded.objective == pytest.approx(exact.objective, rel=1e-5)
    np.testing.assert_allclose(rounded.coef, exact.coef, atol=1e-4)
    stored = X.astype("f4").astype("f8")
    same(solved(make(kind, X=stored), solver), rounded)


# ---- invariance -------------------------------------------------------------------------------


@each
def test_the_order_of_samples_does_not_matter(solver, kind):
    order = np.random.default_rng(0).permutation(60)
    changes = {"y": y_of(kind)[order], "X": X[order]}
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


@pairs(GENERAL)
def test_samples_of_weight_zero_do_not_matter(solver, kind):
    weight = np.ones(60)
    weight[::4] = 0.0
    kept = weight > 0
    spoiled = X.copy()
    spoiled[~kept] = 1e6
    changes = {} if kind != "rows" else {"constraints": [ROWS[1]]}
    small = make(kind, X=X[kept], y=y_of(kind)[kept], **changes)
    whole = make(kind, X=spoiled, sample_weight=weight, **changes)
    same(solved(small, solver), solved(whole, solver))
