"""Generation gives up where the basis becomes large, and `auto` knows what comes next."""

import numpy as np
import pytest

import rectiline as rl
from rectiline.solvers._choose import choose

RNG = np.random.default_rng(11)


def problem_of(n, d, share, loss=None, dense=True):
    X = RNG.normal(size=(n, d))
    coef = RNG.normal(size=d) / np.sqrt(d)
    if not dense:
        coef = np.where(np.arange(d) < 5, 2.0 * np.sqrt(d) * coef, 0.0)
    y = X @ coef + 0.5 * RNG.standard_t(3, n)
    loss = loss or rl.losses.Pinball(0.5)
    if loss.of == "margin":
        y = np.where(y > 0, 1.0, -1.0)
    g = np.sign(y - np.median(y)) / 2 if loss.of == "residual" else y
    top = np.abs(X.T @ (g - g.mean())).max()
    return rl.Problem(X, y, loss, rl.penalties.L1(float(share * top)))


@pytest.mark.parametrize("start", ["path", "subsample"])
@pytest.mark.parametrize("loss", [rl.losses.Hinge(), rl.losses.Pinball(0.5)], ids=repr)
def test_it_stops_when_patience_runs_out(start, loss):
    problem = problem_of(300, 250, 0.02, loss)
    with pytest.warns(rl.exceptions.ConvergenceWarning):
        short = rl.solve(problem, solver="generation", patience=1e4, start_with=start)
    assert short.certificate.relative_gap > 1e-6
    whole = rl.solve(problem, solver="generation", patience=1e12, start_with=start)
    assert whole.certificate.relative_gap <= 1e-6
    assert short.objective >= whole.objective * (1.0 - 1e-6)


@pytest.mark.parametrize("patience", [0.0, -1.0, np.nan])
def test_patience_must_be_positive(patience):
    with pytest.raises(ValueError, match="patience="):
        rl.solve(problem_of(20, 5, 0.5), solver="generation", patience=patience)


@pytest.mark.parametrize(
    ("shape", "dense", "loss", "first"),
    [
        ((400, 400), True, rl.losses.Pinball(0.5), "interior"),
        ((400, 400), False, rl.losses.Pinball(0.5), "generation"),
        ((3000, 250), True, rl.losses.Pinball(0.5), "newton"),
        ((400, 400), True, rl.losses.Hinge(), "generation"),
        ((80, 2000), True, rl.losses.Pinball(0.5), "generation"),
        ((400, 400), True, rl.losses.Huber(1.0), "interior"),
        ((900, 400), True, rl.losses.Huber(1.0), "interior"),  # 0.12 s, newton 0.56 s
    ],
)
def test_auto_looks_at_the_size_of_the_basis(shape, dense, loss, first):
    stages = choose(problem_of(*shape, 0.1, loss, dense))
    assert len(stages) == 3
    assert stages[0].method.name == first
    assert {stage.method.name for stage in stages} == {"generation", "interior", "newton"}


def test_another_solver_takes_over():
    problem = problem_of(400, 400, 0.08, rl.losses.Hinge())
    solution = rl.solve(problem, tol=1e-7)
    assert {record.solver for record in solution.history} == {"generation", "interior"}
    assert solution.certificate.relative_gap <= 1e-7
    vertex = rl.solve(problem, solver="generation", tol=1e-9)
    np.testing.assert_allclose(solution.objective, vertex.objective, rtol=2e-7)
