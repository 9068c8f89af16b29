"""All regression quantiles at once, against R's quantreg, HiGHS and the definition."""

import shutil
import subprocess

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.optimize import linprog

import rectiline as rl
from rectiline import quantile_process

RSCRIPT = shutil.which("Rscript")
rng = np.random.default_rng(5)

# rq(tau = -1) of R's quantreg 5.x on its own copies of the data (Koenker, "Quantile Regression",
# 2005): the levels at which a basis changes; of Engel's the first ones at which coefficients do.
STACKLOSS = [
    0.1240939403, 0.1300537178, 0.1303646338, 0.1494252874, 0.1607142857, 0.1945661700,
    0.2231167338, 0.2539682540, 0.2751061789, 0.3310042472, 0.3749882109, 0.3918757467,
    0.4094881398, 0.4898446834, 0.5647876616, 0.5923716842, 0.6042232908, 0.6199888641,
    0.6511309116, 0.6897261684, 0.7621009269, 0.7684323901, 0.7739207048, 0.7776777678,
    0.8142857143, 0.8339207048, 0.9130603783,
]  # fmt: skip
ENGEL = [
    0.005669182704, 0.016002452119, 0.017173806184, 0.022001831807,
    0.026435754034, 0.031292991880, 0.035919184840, 0.040646854807, 0.045214744345,
]  # fmt: skip
ENGEL_COEF = {  # just above these levels: intercept and slope
    0.01717380618: (108.60498762, 0.3466437658),
    0.37803889666: (111.25911818, 0.4882341412),
    0.72384603906: (61.68733119, 0.6402501291),
    0.99539307862: (225.38247898, 0.6403102068),
}


def loss_of(rows, y, coef, level, weight):
    residual = y - rows @ coef
    return float(weight @ np.where(residual > 0, level * residual, (level - 1) * residual))


def least_loss(rows, y, level, weight):
    """The optimum by HiGHS."""
    n, p = rows.shape
    cost = np.concatenate([np.zeros(p), level * weight, (1 - level) * weight])
    table = sp.hstack([sp.csr_array(rows), sp.eye_array(n), -sp.eye_array(n)])
    bounds = [(None, None)] * p + [(0, None)] * (2 * n)
    return linprog(cost, A_eq=table, b_eq=y, bounds=bounds, method="highs").fun


def cases():
    X = rng.standard_normal((60, 3))
    yield "normal", X, X @ [1.0, -2.0, 0.5] + rng.standard_t(3, 60), None
    yield "weights", X, rng.standard_normal(60), rng.integers(0, 4, 60).astype(float)
    few = rng.integers(0, 3, (80, 2)).astype(float)
    yield "ties", few, rng.integers(0, 4, 80).astype(float), None
    yield "scales", X * [1e6, 1e-4, 1.0], 1e3 * rng.standard_normal(60), None


@pytest.mark.parametrize("fit_intercept", [True, False])
@pytest.mark.parametrize(
    "name, X, y, weight", list(cases()), ids=lambda v: v if isinstance(v, str) else ""
)
def test_every_interval_is_optimal(name, X, y, weight, fit_intercept):
    found = quantile_process(X, y, fit_intercept=fit_intercept, sample_weight=weight)
    assert found.levels[0] == 0 and found.levels[-1] == 1 and (np.diff(found.levels) > 0).all()
    assert found.coef.shape == (found.levels.size - 1, X.shape[1])
    rows = np.column_stack([X, np.ones(y.size)]) if fit_intercept else X
    w = np.ones(y.size) if weight is None else weight
    for level in rng.uniform(0.01, 0.99, 12):
        coef = found.coef_at(level)
        if fit_intercept:
            coef = np.append(coef, found.intercept_at(level))
        best = least_loss(rows, y, level, w)
        assert loss_of(rows, y, coef, level, w) <= best + 1e-9 * (1 + abs(best))
    # At a level where the coefficients change, both are optimal.
    k = found.levels.size // 2
    sides = [found.coef[i] for i in (k - 1, k)]
    if fit_intercept:
        sides = [np.append(b, found.intercept[i]) for b, i in zip(sides, (k - 1, k), strict=True)]
    one, other = (loss_of(rows, y, b, found.levels[k], w) for b in sides)
    assert one == pytest.approx(other, rel=1e-9) and not np.allclose(*sides, rtol=1e-9, atol=0)


def test_engel_as_in_r():
    X, y = rl.datasets.load_engel(return_X_y=True)
    found = quantile_process(X, y)
    np.testing.assert_allclose(found.levels[1:10], ENGEL, rtol=0, atol=1e-11)
    for level, (intercept, slope) in ENGEL_COEF.items():
        assert found.intercept_at(level + 1e-9) == pytest.approx(intercept, rel=1e-9)
        assert found.coef_at(level + 1e-9)[0] == pytest.approx(slope, rel=1e-9)


def test_stackloss_as_in_r():
    X, y = rl.datasets.load_stackloss(return_X_y=True)
    found = quantile_process(X, y)
    # R also lists levels at which the basis changes and the coefficients do not.
    away = np.abs(found.levels[1:-1, None] - np.array(STACKLOSS)).min(axis=1)
    assert away.max() < 1e-9 and found.levels.size > 20


@pytest.mark.skipif(RSCRIPT is None, reason="needs R")
def test_r_at_every_level(tmp_path):
    X = rng.standard_normal((150, 2))
    y = X[:, 0] + rng.standard_normal(150) * (1 + np.abs(X[:, 1]))
    np.savetxt(tmp_path / "data.csv", np.column_stack([y, X]), delimiter=",", fmt="%.17g")
    code = (
        "if (!requireNamespace('quantreg', quietly=TRUE)) quit(status=3);"
        f"d <- as.matrix(read.csv('{tmp_path}/data.csv', header=FALSE));"
        "f <- quantreg::rq(d[,1] ~ d[,2] + d[,3], tau=-1);"
        f"write.table(t(f$sol[c(1,4:6),]), '{tmp_path}/sol.txt', row.names=FALSE, col.names=FALSE)"
    )
    done = subprocess.run([RSCRIPT, "-e", code], capture_output=True, timeout=120, check=False)
    if done.returncode == 3:
        pytest.skip("needs the R package quantreg")
    assert done.returncode == 0, done.stderr
    sol = np.loadtxt(tmp_path / "sol.txt")
    found = quantile_process(X, y)
    middle = 0.5 * (sol[1:-1, 0] + sol[2:, 0])
    theirs = sol[1:-1, 1:]
    np.testing.assert_allclose(found.intercept_at(middle), theirs[:, 0], atol=1e-8)
    np.testing.assert_allclose(found.coef_at(middle), theirs[:, 1:], atol=1e-8)


def test_a_sample_quantile_without_columns_of_its_own():
    found = quantile_process(np.ones((5, 1)), [3.0, 1.0, 2.0, 5.0, 4.0], fit_intercept=False)
    np.testing.assert_allclose(found.levels, [0, 0.2, 0.4, 0.6, 0.8, 1])
    np.testing.assert_array_equal(found.coef[:, 0], [1, 2, 3, 4, 5])


def test_sparse_rows_and_equal_bits():
    X = rng.standard_normal((50, 3)) * (rng.uniform(size=(50, 3)) < 0.5)
    y = rng.standard_normal(50)
    one, other = quantile_process(X, y), quantile_process(sp.csr_array(X), y)
    np.testing.assert_array_equal(one.levels, other.levels)
    np.testing.assert_array_equal(one.coef, other.coef)


def test_refusals():
    X = rng.standard_normal((20, 2))
    with pytest.raises(ValueError, match="linearly independent"):
        quantile_process(np.column_stack([X, X[:, 0]]), X[:, 0])
    with pytest.raises(ValueError, match=r"level must lie strictly between 0 and 1; got 1"):
        quantile_process(X, X[:, 0] ** 2).coef_at(1)
