"""One pass over a block against the same sums written out in NumPy."""

import numpy as np
import pytest
import scipy.sparse as sp

import rectiline as rl
from rectiline import _core
from rectiline._thread_count import using_threads
from rectiline.backends import Design
from rectiline.problems._samples import curve_arrays
from rectiline.problems.blocks import LengthBound, NextSplit

LOSSES = [
    rl.losses.Pinball(0.9),
    rl.losses.Hinge(),
    rl.losses.SquaredHinge(),
    rl.losses.Huber(0.7),
    rl.losses.SquaredError(),
    rl.losses.EpsilonInsensitive(0.3),
    rl.losses.Expectile(0.8),
    rl.losses.PiecewiseLQ(
        [-2, -1, 0, 1], [(0, -2, -1), (0, -1, 1), (0, -0.5, 1.5), (0.5, 0, 1.5), (0, 2, 0)]
    ),
]
STORAGES = {
    "C": lambda X: X,
    "F": np.asfortranarray,
    "float32": lambda X: X.astype(np.float32),
    "strided": lambda X: np.repeat(np.repeat(X, 2, axis=0), 2, axis=1)[::2, ::2],
    "csr": sp.csr_array,
}
N, D = 700, 5
NOTHING = np.zeros(0, np.int64)


def make(loss, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((N, D)).astype(np.float32).astype(np.float64)
    X[rng.random((N, D)) < 0.3] = 0.0
    margin = loss.of == "margin"
    direction = np.where(rng.random(N) < 0.4, 1.0, -1.0) if margin else np.full(N, -1.0)
    offset = np.zeros(N) if margin else rng.standard_normal(N)
    weight = np.where(rng.random(N) < 0.1, 0.0, rng.uniform(0.5, 2, N))
    return X, direction, offset, weight


def slope_of_piece(curve, t_split, t):
    """Slope at t of the piece that holds t_split, and its curvature."""
    k = int(np.count_nonzero(t_split > curve.knots))
    j = min(k, curve.knots.size - 1)
    base = curve.left[j] if j == k else curve.right[j]
    return base + curve.curvature[k] * (t - curve.knots[j]), curve.curvature[k]


def fenchel_young(curve, s, t):
    return float(curve.value(t) + curve.conjugate(s) - s * t)


def expected(loss, X, direction, offset, weight, split, point, listed, reach, directions):
    """Sums of the pass, row by row."""
    curve = loss.curve
    low, high = curve.domain()
    bends = [
        k
        for k, left, right, c in zip(
            curve.knots, curve.left, curve.right, np.diff(curve.curvature), strict=True
        )
        if left != right or c != 0
    ]
    names = ("g", "g_next", "curved", "curved_next")
    out = {"loss": 0.0, "gap": 0.0, "near": [], **{name: np.zeros(N) for name in names}}
    for i in range(N):
        t0 = direction[i] * (X[i] @ split[0] + split[1]) + offset[i]
        t = direction[i] * (X[i] @ point[0] + point[1]) + offset[i]
        s, q = slope_of_piece(curve, t0, t)
        s = min(max(s, low), high)
        own, own_q = slope_of_piece(curve, t, t)
        is_listed = i in listed
        if not is_listed:
            out["loss"] += weight[i] * float(curve.value(t))
            out["gap"] += weight[i] * fenchel_young(curve, s, t)
            out["g"][i] = direction[i] * weight[i] * s
            out["curved"][i] = weight[i] * q
        slack = min((abs(t - k) for k in bends), default=np.inf)
        length = np.linalg.norm(directions @ np.append(X[i], 1.0))
        is_near = weight[i] > 0 and (
            slack <= reach * length or (not is_listed and abs(s - own) > 1e-12)
        )
        if is_near:
            out["near"].append(i)
        else:
            out["g_next"][i] = direction[i] * weight[i] * own
            out["curved_next"][i] = weight[i] * own_q
    return out


@pytest.mark.parametrize("intercept", [True, False])
def test_lengths_of_rows_are_bounded(intercept):
    rng = np.random.default_rng(2)
    X = rng.standard_normal((400, D)) * np.logspace(-3, 3, D) + np.linspace(-50, 1000, D)
    mean = X.mean(axis=0)
    for directions in (np.eye(D + intercept), rng.standard_normal((D, D + intercept))):
        bound = LengthBound.of(directions, mean)
        moved = X @ directions[:, :D].T + (directions[:, D] if intercept else 0.0)
        quick = bound.least + ((bound.scale * (X - bound.mean)) ** 2).sum(axis=1)
        assert (quick >= (moved**2).sum(axis=1) * (1 - 1e-12)).all()
    uncorrelated = LengthBound.of(np.eye(D), np.zeros(D))  # nothing is lost here
    np.testing.assert_allclose(uncorrelated.scale, 1.0, rtol=1e-8)


@pytest.mark.parametrize("storage", STORAGES)
@pytest.mark.parametrize("loss", LOSSES, ids=repr)
def test_a_pass_adds_up_what_it_says(loss, storage):
    X, direction, offset, weight = make(loss)
    rng = np.random.default_rng(1)
    split = rng.standard_normal(D), 0.3
    point = split[0] + 0.2 * rng.standard_normal(D), 0.2
    directions = rng.standard_normal((3, D + 1))
    listed = np.unique(rng.integers(0, N, 60))
    reach = 0.05
    want = expected(loss, X, direction, offset, weight, split, point, listed, reach, directions)
    rows = _core.RowFunctions([curve_arrays(loss)], direction, offset, weight, None)
    out = np.full(N, np.nan)
    mean = np.zeros(D) if "cs" in storage else X.mean(axis=0)
    near = NextSplit(reach, 1.0, directions, LengthBound.of(directions, mean)).parts
    member = _core.PassMember(rows, point, True, listed, split, out, near)
    view = Design(STORAGES[storage](X)).view
    (got,) = _core.run_pass(view, [member], 1e9)
    assert got["near"].tolist() == want["near"]
    for name in ("loss", "gap"):
        assert got[name] == pytest.approx(want[name], rel=1e-10, abs=1e-10)
    assert got["gap"] >= want["gap"] - 1e-12
    X1 = np.column_stack([X, np.ones(N)])
    np.testing.assert_allclose(out, want["g"], atol=1e-12)
    np.testing.assert_allclose(got["gradient"], X.T @ want["g"], atol=1e-10)
    assert got["total"] == pytest.approx(want["g"].sum(), abs=1e-10)
    change = want["g_next"] - want["g"]
    np.testing.assert_allclose(got["change"], X.T @ change, atol=1e-10)
    assert got["change_total"] == pytest.approx(change.sum(), abs=1e-10)
    curved = (X1 * (want["curved_next"] - want["curved"])[:, None]).T @ X1
    found = got["curvature"].reshape(D + 1, D + 1) if got["curvature"].size else 0.0
    np.testing.assert_allclose(found, curved, atol=1e-10)
    np.testing.assert_allclose(view.column_sizes(weight), np.abs(X).T @ weight, rtol=1e-12)


@pytest.mark.parametrize("loss", LOSSES[:4], ids=repr)
def test_several_losses_take_the_way_row_by_row(loss):
    X, direction, offset, weight = make(loss)
    point, split = (np.ones(D), 0.0), (0.9 * np.ones(D), 0.1)
    curves = [curve_arrays(loss), curve_arrays(loss)]
    index = (np.arange(N) % 2).astype(np.uint8)
    answers = []
    for given, curve_index in ((curves[:1], None), (curves, index)):
        rows = _core.RowFunctions(given, direction, offset, weight, curve_index)
        near = NextSplit(0.1, 1.0, np.eye(D + 1), LengthBound.of(np.eye(D + 1), np.zeros(D))).parts
        member = _core.PassMember(rows, point, True, NOTHING, split, next_split=near)
        answers.append(_core.run_pass(Design(X).view, [member], 1e9)[0])
    one, two = answers
    assert one["near"].tolist() == two["near"].tolist()
    for name in ("loss", "gap", "total", "gradient", "change", "curvature"):
        np.testing.assert_allclose(one[name], two[name], rtol=1e-11, atol=1e-11)


def test_bits_do_not_depend_on_threads_or_company():
    rng = np.random.default_rng(0)
    n = 300_000
    X, y = rng.standard_normal((n, 4)), rng.standard_normal(n)
    curves = [curve_arrays(rl.losses.Huber(1.0))]
    rows = _core.RowFunctions(curves, np.full(n, -1.0), y, np.ones(n), None)

    bound = LengthBound.of(np.eye(5), np.zeros(4))  # one array: members share lengths

    def member(shift):
        near = NextSplit(0.05, 1.0, np.eye(5), bound).parts
        point, split = (np.full(4, shift), 0.1), (np.zeros(4), 0.0)
        return _core.PassMember(rows, point, True, NOTHING, split, None, near)

    view = Design(X).view
    (alone,) = _core.run_pass(view, [member(0.1)], 1e9)
    sizes = view.column_sizes(np.ones(n))
    with using_threads(4):
        (threads,) = _core.run_pass(view, [member(0.1)], 1e9)
        np.testing.assert_array_equal(view.column_sizes(np.ones(n)), sizes)
    with using_threads(3):
        together = _core.run_pass(view, [member(0.7), member(0.1)], 1e9)[1]
    for name, value in alone.items():
        np.testing.assert_array_equal(value, threads[name])
        np.testing.assert_array_equal(value, together[name])
    np.testing.assert_allclose(sizes, np.abs(X).sum(axis=0), rtol=1e-13)


def test_the_gap_bounds_rounding_of_float32_data_with_a_large_offset():
    from fractions import Fraction

    rng = np.random.default_rng(3)
    n = 60
    X = (1e6 * rng.standard_normal((n, 3)) + 1e5).astype(np.float32)
    coef, split = np.array([1.0, -2.0, 1.0]) / 3, np.array([1.0, -2.0, 1.0]) / 3
    z = X.astype(np.float64) @ coef
    y = z + np.where(rng.random(n) < 0.5, 0.0, 1e-10) * rng.standard_normal(n)
    rows = _core.RowFunctions(
        [curve_arrays(rl.losses.Absolute())], np.full(n, -1.0), y, np.ones(n), None
    )
    member = _core.PassMember(rows, (coef, 0.0), False, NOTHING, (split, 0.0))
    (got,) = _core.run_pass(Design(X).view, [member], 1e9)
    exact = Fraction(0)
    signs = np.empty(n)
    member = _core.PassMember(rows, (coef, 0.0), False, NOTHING, (split, 0.0), signs)
    _core.run_pass(Design(X).view, [member], 1e9)
    for i in range(n):
        t = Fraction(float(y[i])) - sum(
            Fraction(float(X[i, j])) * Fraction(float(coef[j])) for j in range(3)
        )
        exact += abs(t) + Fraction(float(signs[i])) * t  # the multiplier is minus the slope
    assert exact > 0
    assert Fraction(got["gap"]) >= exact


def test_a_pass_ends_at_its_deadline():
    n = 400_000
    X = np.ones((n, 60))
    rows = _core.RowFunctions(
        [curve_arrays(rl.losses.Absolute())], np.full(n, -1.0), np.ones(n), np.ones(n), None
    )
    member = _core.PassMember(rows, (np.ones(60), 0.0), False, NOTHING, (np.zeros(60), 0.0))
    assert _core.run_pass(Design(X).view, [member], 0.0) is None
