"""Rows in torch tensors: the same answers as NumPy arrays, by plain torch on any device."""

import numpy as np
import pytest

import rectiline as rl
from rectiline.problems.blocks import LengthBound, NextSplit, PassState, Query, run_pass

torch = pytest.importorskip("torch")
DEVICES = ["cpu", "cuda"] if torch.cuda.is_available() else ["cpu"]
L = rl.losses
N, D = 8000, 4
BOUND = LengthBound.of(np.eye(D + 1), np.zeros(D))


def data():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((N, D))
    y = X @ np.arange(1.0, D + 1) + rng.standard_t(3, N)
    return X, y


LOSSES = [L.Pinball(0.9), L.Hinge(), L.Huber(1.0), L.SquaredError(), L.EpsilonInsensitive(0.5)]


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("loss", LOSSES, ids=repr)
def test_a_pass_over_tensors_is_a_pass_over_arrays(loss, dtype, device):
    X, y = data()
    X = X.astype(dtype)
    y = np.where(y > 0, 1.0, 0.0) if loss.of == "margin" else y
    answers = []
    tensors = (torch.as_tensor(X, device=device), torch.as_tensor(y, device=device))
    for source in ((X, y), tensors):
        rows = rl.rows.from_arrays(*source, block_rows=3000)
        problem = rl.Problem(rows, loss=loss)
        split = NextSplit(0.1, 1e3, np.eye(D + 1), BOUND, always=np.array([5, 7000]))
        query = Query(
            problem.samples,
            np.arange(1.0, D + 1),
            0.1,
            split=(np.arange(1.0, D + 1) - 0.1, 0.0),
            listed=np.arange(0, N, 50),
            next_split=split,
        )
        (totals,) = run_pass(rows, PassState((query,), True))
        answers.append(totals)
    host, device_totals = answers
    for name in ("loss", "gap", "total", "total_size", "gradient", "change", "change_total"):
        np.testing.assert_allclose(device_totals[name], host[name], rtol=1e-9, atol=1e-9)
    assert device_totals.has("curvature") == host.has("curvature")
    if host.has("curvature"):
        np.testing.assert_allclose(device_totals["curvature"], host["curvature"], atol=1e-9)
    np.testing.assert_array_equal(device_totals.near().rows, host.near().rows)
    np.testing.assert_array_equal(device_totals.near().X, host.near().X)


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("loss", LOSSES, ids=repr)
def test_problems_on_tensors_are_solved_and_certified(loss, device):
    X, y = data()
    y = np.where(y > 0, 1, 0) if loss.of == "margin" else y
    rows = rl.rows.of(torch.as_tensor(X, device=device), torch.as_tensor(y, device=device))
    problem = rl.Problem(rows, loss=loss)
    solution = rl.solve(problem, tol=1e-8)
    assert solution.status == "solved"
    assert problem.certify(solution).relative_gap <= 1.1e-8
    memory = rl.solve(rl.Problem(X, y, loss=loss), tol=1e-8)
    assert solution.objective == pytest.approx(memory.objective, rel=3e-8)


def test_weights_and_bad_values():
    X, y = data()
    weight = np.arange(N) % 3 * 1.0
    rows = rl.rows.from_arrays(torch.as_tensor(X), torch.as_tensor(y), torch.as_tensor(weight))
    solution = rl.solve(rl.Problem(rows, loss=L.Absolute()), tol=1e-7)
    memory = rl.solve(rl.Problem(X, y, loss=L.Absolute(), sample_weight=weight), tol=1e-7)
    assert solution.objective == pytest.approx(memory.objective, rel=3e-7)
    X[7, 1] = np.nan
    with pytest.raises(ValueError, match="row 7, column 1 is nan"):
        rl.solve(rl.Problem(rl.rows.of(torch.as_tensor(X), torch.as_tensor(y)), loss=L.Absolute()))
    with pytest.raises(ValueError, match="float32 or float64"):
        rl.rows.of(torch.zeros((3, 2), dtype=torch.int64), torch.zeros(3))


def test_rows_spread_over_a_tensor_stand_for_all_of_them():
    X, _ = data()
    labels = np.where(np.arange(N) % 100 == 7, 1.0, -1.0)
    rows = rl.rows.from_arrays(torch.as_tensor(X), torch.as_tensor(labels))
    at, stands_for = rows.spread(400, seed=3, labels=(-1.0, 1.0))
    assert bool((at.diff() > 0).all()) and int(at[-1]) < N
    rare = torch.as_tensor(labels)[at] == 1.0
    assert int(rare.sum()) == 80  # all of them: fewer than a quarter of the sample
    assert float(stands_for[rare].sum()) == pytest.approx(80)
    assert float(stands_for.sum()) == pytest.approx(N)
    again, _ = rows.spread(400, seed=3, labels=(-1.0, 1.0))
    assert torch.equal(at, again)
    part = rows.picked(at, stands_for)
    assert part.n_rows == len(at) and part.total_weight() == pytest.approx(N)


@pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a GPU")
@pytest.mark.parametrize("d", [7, 40])
@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("loss", [L.Pinball(0.9), L.Hinge(), L.EpsilonInsensitive(0.5)], ids=repr)
def test_millions_of_rows_on_a_gpu_take_two_passes(loss, dtype, d):
    torch.manual_seed(1)
    n = 6_000_000
    X = torch.randn((n, d), dtype=getattr(torch, dtype), device="cuda")
    y = X @ torch.linspace(-1, 1, d, dtype=X.dtype, device="cuda")
    y = y + torch.randn(n, dtype=X.dtype, device="cuda")
    if loss.of == "margin":
        y = torch.where(y > 1.0, 1.0, 0.0)
    problem = rl.Problem(rl.rows.from_arrays(X, y), loss=loss)
    solution = rl.solve(problem, tol=1e-8)
    assert solution.status == "solved" and solution.passes <= 3
    assert problem.certify(solution).relative_gap <= 1.1e-8
    again = rl.solve(rl.Problem(rl.rows.from_arrays(X, y), loss=loss), tol=1e-8)
    np.testing.assert_array_equal(again.coef, solution.coef)


@pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a GPU")
def test_bad_rows_on_a_gpu_are_named():
    X = torch.randn((50_000, 3), device="cuda")
    y = torch.where(X[:, 0] > 0, 1.0, -1.0)
    y[40_001] = 0.5
    with pytest.raises(ValueError, match=r"row 40001 has 0\.5"):
        rl.solve(rl.Problem(rl.rows.from_arrays(X, y), loss=L.Hinge()))
    y = X[:, 0].clone()
    y[123] = float("nan")
    with pytest.raises(ValueError, match="row 123 has nan"):
        rl.solve(rl.Problem(rl.rows.from_arrays(X, y), loss=L.Absolute()))
