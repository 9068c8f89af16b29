"""Groups: the interior point method and the sign vectors, against the full linear program."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse as sp
from solvers.generation_reference import full_program

import rectiline as rl
from rectiline.exceptions import UnsupportedProblemError
from rectiline.solvers.generation._directions import Directions

L, P, C = rl.losses, rl.penalties, rl.constraints

LOSSES = [L.Hinge(), L.Pinball(0.3), L.Absolute(), L.EpsilonInsensitive(0.3)]
KINDS = [
    "plain",
    "duplicates",
    "zero_columns",
    "rounded",
    "single",
    "one_class",
    "separable",
    "zero_weights",
    "one_group",
]


def table(seed, loss, kind, share):
    """Return a small problem of the given kind at a share of the largest strength."""
    rng = np.random.default_rng([seed, LOSSES.index(loss), KINDS.index(kind)])
    n, d = int(rng.integers(6, 40)), int(rng.integers(3, 30))
    X = rng.standard_normal((n, d))
    if kind == "duplicates":
        X[:, d // 2 :], X[n // 2 :] = X[:, : d - d // 2], X[: n - n // 2]
    elif kind == "zero_columns":
        X[:, ::3] = 0.0
    elif kind == "rounded":
        X = np.round(X)
    labels = rng.integers(0, max(1, d // 4), d)
    if kind == "single":
        labels = np.arange(d)
    elif kind == "one_group":
        labels = np.zeros(d, dtype=int)
    if loss.of == "margin":
        y = np.where(rng.random(n) < (0.95 if kind == "one_class" else 0.5), 1.0, -1.0)
        y = np.where(X[:, 0] + X[:, 1] > 0, 1.0, -1.0) if kind == "separable" else y
        y[:2] = 1.0, -1.0
    else:
        y = X @ rng.standard_normal(d) if kind == "separable" else rng.standard_normal(n)
    weight = rng.uniform(0.1, 2.0, n)
    if kind == "zero_weights":
        weight[2::3] = 0.0
    top = max(np.abs(X[:, labels == g]).sum() for g in np.unique(labels))
    return rl.Problem(
        X,
        y,
        loss=loss,
        penalty=P.GroupLinf(share * top, labels),
        sample_weight=weight,
        fit_intercept=bool(rng.random() < 0.7),
    )


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("loss", LOSSES, ids=lambda loss: loss.name)
@pytest.mark.parametrize("solver", ["interior", "generation"])
def test_both_solvers_agree_with_the_full_program(solver, loss, kind):
    for seed, share in enumerate((0.2, 0.03, 1e-4, 1.0)):
        problem = table(seed, loss, kind, share)
        options = {"master": "linear"} if solver == "generation" else {"digits": 16}
        solution = rl.solve(problem, solver=solver, **options)
        assert solution.status == "solved"
        size = max(problem.loss_at_zero, 1e-12)
        assert solution.objective == pytest.approx(full_program(problem), rel=2e-6, abs=1e-8 * size)


def test_the_interior_point_method_alone_closes_the_gap():
    # Not by way of the method that takes over where its equations cannot be solved.
    for seed in range(20):
        problem = table(seed, L.Hinge(), "plain", 0.03)
        assert rl.solve(problem, solver="interior", digits=16, tol=1e-7).status == "solved"


def weak_signal(n, d, seed):
    rng = np.random.default_rng(seed)
    labels = np.searchsorted(np.cumsum(rng.integers(2, 20, d)), np.arange(d), side="right")
    common = rng.standard_normal((n, labels.max() + 1))
    X = common[:, labels] + rng.standard_normal((n, d))
    y = np.where(np.arange(n) % 2 == 0, 1.0, -1.0)
    X[:, labels < 3] += 0.1 * y[:, None]
    top = max(np.abs(X[:, labels == g]).sum() for g in range(labels.max() + 1))
    return X, y, labels, top


def test_zeros_and_caps_are_exact():
    X, y, labels, top = weak_signal(120, 300, 0)
    problem = rl.Problem(X, y, loss=L.Hinge(), penalty=P.GroupLinf(0.05 * top, labels))
    coef = np.abs(rl.solve(problem, solver="interior", digits=16).coef)
    vertex = np.abs(rl.solve(problem, solver="generation", master="linear").coef)
    zero = [not coef[labels == g].any() for g in range(labels.max() + 1)]
    assert zero == [not vertex[labels == g].any() for g in range(labels.max() + 1)]
    assert any(zero) and not all(zero)
    for g in range(labels.max() + 1):
        part = coef[labels == g]
        if part.any() and part.size > 8:
            assert np.sum(part == part.max()) > part.size // 3


@pytest.mark.parametrize(
    "constraints",
    [[], [C.Nonnegative()], [C.LinearInequality(np.ones((1, 300)), [-0.1]), C.Box(-0.01, 0.02)]],
    ids=["none", "signs", "rows"],
)
def test_interior_takes_over_when_sign_vectors_are_too_many(monkeypatch, constraints):
    from rectiline.solvers.generation import _linear

    lost = property(lambda state: state.plan.master == "auto" and state.rounds > 1)
    monkeypatch.setattr(_linear.LinearState, "is_lost", lost)
    X, y, labels, top = weak_signal(100, 300, 2)
    penalty = P.GroupLinf(0.02 * top, labels)
    problem = rl.Problem(X, y, loss=L.Hinge(), penalty=penalty, constraints=constraints)
    solution = rl.solve(problem, solver="generation", columns_per_round=5)
    assert solution.status == "solved" and solution.solver == "interior"
    reference = rl.solve(problem, solver="generation", master="linear")
    assert solution.objective == pytest.approx(reference.objective, rel=2e-6)


@pytest.mark.parametrize("layout", ["F", "float32", "csr", "csc"])
def test_other_storage_of_X(layout):
    X, y, labels, top = weak_signal(50, 120, 3)
    X = np.where(np.abs(X) > 0.8, X, 0.0)
    penalty = P.GroupLinf(0.05 * top, labels)
    dense = rl.solve(rl.Problem(X, y, loss=L.Hinge(), penalty=penalty), solver="generation")
    store = {
        "F": np.asfortranarray,
        "float32": np.float32,
        "csr": sp.csr_array,
        "csc": sp.csc_array,
    }[layout]
    problem = rl.Problem(store(X), y, loss=L.Hinge(), penalty=penalty)
    for master in ("linear", "second_order"):
        solution = rl.solve(problem, solver="generation", master=master)
        assert solution.status == "solved"
        assert solution.objective == pytest.approx(dense.objective, rel=3e-6)


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"penalty": P.Ridge(1.0)}, "ridge"),
        ({"loss": L.SquaredHinge()}, "curvature"),
    ],
)
def test_refusals(change, reason):
    X = np.random.default_rng(0).standard_normal((10, 4))
    y = np.where(np.arange(10) % 2 == 0, 1, -1)
    given = {"loss": L.Hinge(), "penalty": P.GroupLinf(1.0, [0, 0, 1, 1]), **change}
    with pytest.raises(UnsupportedProblemError, match=reason):
        rl.solve(rl.Problem(X, y, **given), solver="generation", master="linear")


def test_atoms_keep_their_columns():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((7, 9))
    atoms = Directions(9)
    atoms.add(np.array([0, 2, 4]), np.array([1.0, -1.0, 1.0]), np.array([2, 1]), np.ones(2))
    atoms.add(np.array([5, 6, 8]), np.array([-1.0, 1.0, 1.0]), np.array([3]), np.full(1, 2.0))
    dense = np.zeros((9, 3))
    dense[[0, 2], 0], dense[4, 1], dense[[5, 6, 8], 2] = (1, -1), 1, (-1, 1, 1)
    for store in (np.asarray, np.asfortranarray, sp.csr_array):
        design = rl.backends.as_design(store(X))
        for samples, first in ((np.arange(X.shape[0]), 0), (np.array([1, 4, 4]), 1)):
            block = atoms.block(design, samples, first)
            block = block.toarray() if sp.issparse(block) else block
            np.testing.assert_allclose(block, X[samples] @ dense[:, first:], atol=1e-14)
    v = rng.standard_normal(9)
    np.testing.assert_allclose(atoms.along(v, 1), dense[:, 1:].T @ v, atol=1e-14)
    lengths = np.array([0.5, 0.0, -2.0])
    np.testing.assert_array_equal(atoms.spread(lengths), dense @ lengths)
