"""Numbers that NumPy would bend or that overflow: refused, or never called solved."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from fuzz_inputs import one_case

import rectiline as rl
from rectiline.exceptions import ConvergenceWarning

RNG = np.random.default_rng(0)
X = RNG.normal(size=(30, 3))
Y = X[:, 0] + RNG.normal(size=30)
HIDDEN = np.ma.masked_array(Y, mask=np.arange(30) < 3)


@pytest.mark.parametrize(
    ("name", "arguments"),
    [
        ("X", (np.ma.masked_array(X, mask=X > 2), Y, None)),
        ("y", (X, HIDDEN, None)),
        ("sample_weight", (X, Y, np.abs(HIDDEN))),
    ],
)
def test_masked_arrays_are_refused(name, arguments):
    data, target, weight = arguments
    with pytest.raises(ValueError, match=f"{name} is a masked array"):
        rl.Problem(data, target, "huber", sample_weight=weight)
    for model in (rl.PLQRegressor(), rl.QuantileRegressor(), rl.PLQRegressorCV()):
        with pytest.raises(ValueError, match=f"{name} is a masked array"):
            model.fit(data, target, weight)


def test_complex_weights_are_refused():
    with pytest.raises(ValueError, match="sample_weight must hold numbers >= 0; got dtype complex"):
        rl.Problem(X, Y, "huber", sample_weight=np.ones(30) * 1j)
    with pytest.raises(ValueError, match=r"[Cc]omplex"):
        rl.PLQRegressor().fit(X, Y, np.ones(30) * 1j)


@pytest.mark.parametrize("loss", ["squared_error", "expectile", "squared_epsilon_insensitive"])
def test_an_infinite_objective_is_refused_at_once(loss):
    with pytest.raises(ValueError, match=r"overflows float64 .* rescale y or sample_weight"):
        rl.Problem(X, 1e155 * Y, loss)
    with pytest.raises(ValueError, match="overflows float64"):
        rl.PLQRegressor(loss, C=1.0).fit(X, 1e155 * Y)
    assert rl.solve(rl.Problem(X, 1e100 * Y, loss)).status == "solved"


# Cases of the fuzzer (`make fuzz-inputs`) that raised or warned: overflow in the scales of columns,
# in normal equations, in certificates; pairs that are not finite; a division by zero.
@pytest.mark.parametrize("case", [1, 2, 4, 10, 12, 26, 34, 50, 56, 61, 64, 69, 75, 80, 101])
def test_cases_of_the_fuzzer(case):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        warnings.filterwarnings("ignore", "QuantileRegressor: the penalty of the default")
        one_case(np.random.default_rng([1, case]))


# Later ones: entries that HiGHS refuses, rows whose products overflow, a linear program or levels
# of constraints that are not finite, scores of strengths that were not reached, widths of a master
# and reduced costs that overflow, proximal steps that do, knots that are one beside the targets.
@pytest.mark.parametrize(
    ("seed", "case"),
    [
        *((1, 157), (1, 422), (1, 612), (1, 669), (2, 53), (2, 66), (2, 345), (3, 207)),
        *((80113, 888), (80113, 3217), (8811, 252), (8812, 1966), (8812, 2936)),
    ],
)
def test_later_cases_of_the_fuzzer(seed, case):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        warnings.filterwarnings("ignore", "QuantileRegressor: the penalty of the default")
        one_case(np.random.default_rng([seed, case]))


# The charge of the penalty vanishes beside such coefficients, and no step in its units is finite.
@pytest.mark.parametrize(
    ("loss", "penalty", "target"),
    [
        (rl.losses.Expectile(0.8), rl.penalties.Slope([1.0, 0.5]), 1e100),
        (rl.losses.Expectile(0.8), rl.penalties.GroupLinf(1.0, [0, 1]), 1e130),
        (rl.losses.Huber(), rl.penalties.GroupLinf(1.0, [0, 1]), 1e171),
    ],
)
def test_penalties_that_vanish_beside_the_coefficients(loss, penalty, target):
    rng = np.random.default_rng(0)
    data = rng.normal(size=(16, 2))
    y = data[:, 0] + rng.normal(size=16)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        found = rl.solve(rl.Problem(1e71 * data, target * y, loss, penalty), time_limit=3)
    assert np.isfinite(found.objective)
