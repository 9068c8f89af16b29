"""Sums and multiples of losses: their values, their text, and what is refused."""

from __future__ import annotations

import pickle
from itertools import combinations_with_replacement

import numpy as np
import pytest
from losses.cases import CASES

import rectiline as rl
from rectiline.losses import *  # noqa: F403  (representations are evaluated)
from rectiline.losses import (
    Absolute,
    Asymmetric,
    Hinge,
    Huber,
    PiecewiseLQ,
    Pinball,
    SquaredError,
    SquaredHinge,
)

RESIDUAL = [case.loss for case in CASES if case.loss.of == "residual"]
T = np.linspace(-7.3, 6.1, 211)


def test_every_pair_of_losses_adds_up():
    for first, second in combinations_with_replacement(RESIDUAL, 2):
        both = first + 3 * second
        assert isinstance(both, PiecewiseLQ) and both.of == "residual"
        expected = first.value(T, 0.0) + 3 * second.value(T, 0.0)
        np.testing.assert_allclose(both.value(T, 0.0), expected, rtol=1e-12, atol=1e-12)
        units = both.units.constant + sum(
            np.maximum(u * T + v, 0) for u, v in zip(both.units.relu_u, both.units.relu_v)
        )
        if not both.units.rehu_s.size:
            np.testing.assert_allclose(units, expected, rtol=1e-12, atol=1e-12)


def test_text_makes_the_loss_again():
    for loss in (2 * Pinball(0.8) + Absolute(), (Huber() + Absolute()) / 4, 3.0 * Hinge()):
        assert eval(repr(loss)) == loss == pickle.loads(pickle.dumps(loss))
        assert hash(loss) == hash(eval(repr(loss)))
    assert repr(2 * Pinball(0.8) + Absolute()) == "2.0 * Pinball(quantile=0.8) + Absolute()"


def test_order_and_numpy_numbers_do_not_matter():
    assert Absolute() * 2 == 2 * Absolute() == np.float64(2) * Absolute() == Absolute() / 0.5
    assert sum([Absolute(), Pinball(0.3)]) == Pinball(0.3) + Absolute()
    assert np.int64(2) * SquaredHinge() == SquaredHinge() + SquaredHinge()
    np.testing.assert_array_equal((0.5 * Asymmetric(1, 3)).curve.right, [1.5])


@pytest.mark.parametrize("factor", [0, -1.0, np.inf, np.nan])
def test_factors_keep_a_loss_convex(factor):
    with pytest.raises(ValueError, match="finite and > 0"):
        factor * Absolute()


def test_what_cannot_be_added():
    with pytest.raises(ValueError, match=r"of the residual and Hinge.* of the margin"):
        Absolute() + Hinge()
    for other in (1.0, "hinge", None, True):
        with pytest.raises(TypeError):
            Absolute() + other
        with pytest.raises(TypeError):
            Absolute() * (other if other != 1.0 else "2")
    with pytest.raises(ZeroDivisionError):
        Absolute() / 0


@pytest.mark.filterwarnings("error")
def test_losses_that_overflow_are_refused_without_a_warning():
    with pytest.raises(ValueError, match="must be finite"):
        1e100 * Huber(1e150)
    with pytest.raises(ValueError, match="must be finite"):
        1e300 * (1e10 * SquaredError())


def test_a_sum_is_solved_like_any_loss():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(80, 3)), rng.normal(size=80)
    loss = 2 * Pinball(0.8) + Absolute() + 0.1 * SquaredError()
    solution = rl.solve(rl.Problem(X, y, loss), tol=1e-9)
    z = X @ solution.coef + solution.intercept
    parts = 2 * Pinball(0.8).value(y, z) + Absolute().value(y, z) + 0.1 * SquaredError().value(y, z)
    assert solution.status == "solved"
    assert solution.objective == pytest.approx(parts.sum() + 0.5 * solution.coef @ solution.coef)


def test_asymmetric_is_a_quantile():
    rng = np.random.default_rng(1)
    X, y = np.zeros((101, 1)), rng.normal(size=101)
    solution = rl.solve(rl.Problem(X, y, Asymmetric(over=1, under=4)), tol=1e-9)
    assert solution.intercept == pytest.approx(np.quantile(y, 0.8, method="inverted_cdf"))
    with pytest.raises(ValueError, match=r"Asymmetric\(under=-1"):
        Asymmetric(1, -1)
