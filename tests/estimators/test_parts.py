"""Parts the estimators stand on: several losses in a problem, column-wise penalties, polishing."""

from __future__ import annotations

import numpy as np
import pytest

import rectiline as rl
from rectiline.penalties import Columnwise, ElasticNet

RNG = np.random.default_rng(0)
X = RNG.normal(size=(200, 6))
Y = X @ RNG.normal(size=6) + RNG.standard_t(3, size=200)
LABELS = np.sign(X[:, 0] + RNG.normal(size=200))


def test_rows_with_losses_of_their_own():
    losses = [rl.losses.Pinball(0.2), rl.losses.Huber(0.5)]
    index = np.arange(200) % 2
    problem = rl.Problem(X, Y, losses, rl.penalties.Ridge(0.5), loss_index=index)
    solution = rl.solve(problem, tol=1e-9)
    z = X @ solution.coef + solution.intercept
    paid = sum(losses[k].value(Y[index == k], z[index == k]).sum() for k in (0, 1))
    assert solution.certificate.primal == pytest.approx(
        paid + 0.25 * solution.coef @ solution.coef, rel=1e-12
    )
    one = rl.Problem(X, Y, losses[:1], rl.penalties.Ridge(0.5), loss_index=np.zeros(200, int))
    same = rl.solve(rl.Problem(X, Y, losses[0], rl.penalties.Ridge(0.5)), tol=1e-9)
    assert rl.solve(one, tol=1e-9).objective == pytest.approx(same.objective, rel=1e-8)


@pytest.mark.parametrize(
    ("loss", "index", "message"),
    [
        ([rl.losses.Hinge(), rl.losses.Huber()], np.zeros(200, int), "one kind"),
        ([rl.losses.Huber()], np.ones(200, int), "between 0 and 0"),
        ([rl.losses.Huber()], np.zeros(3, int), "200 integers"),
        ([3], np.zeros(200, int), "loss must be a Loss such as"),
    ],
)
def test_wrong_losses_of_rows(loss, index, message):
    with pytest.raises((ValueError, TypeError), match=message):
        rl.Problem(X, Y, loss, loss_index=index)


def test_columnwise_is_elastic_net_when_uniform():
    uniform, columns = ElasticNet(1.0, 2.0), Columnwise(np.ones(6), np.full(6, 2.0))
    point = RNG.normal(size=6)
    for method in ("value", "conjugate", "dual_norm"):
        assert getattr(uniform, method)(point) == pytest.approx(getattr(columns, method)(point))
    np.testing.assert_allclose(uniform.prox(point, 0.3), columns.prox(point, 0.3))
    assert columns == Columnwise(np.ones(6), np.full(6, 2.0)) and columns.strength == 3.0
    with pytest.raises(ValueError, match="one strength per column"):
        columns.check(5)


PENALTIES = [rl.penalties.Ridge(1.0), rl.penalties.ElasticNet(2.0, 1.0), rl.penalties.L1(3.0), None]


@pytest.mark.parametrize("penalty", PENALTIES, ids=repr)
@pytest.mark.parametrize(
    "loss", [rl.losses.SquaredHinge(), rl.losses.Pinball(0.3), rl.losses.Huber()], ids=repr
)
def test_small_fits_are_exact(loss, penalty):
    problem = rl.Problem(X, LABELS if loss.of == "margin" else Y, loss, penalty)
    rough, exact = rl.solve(problem, tol=1e-6), rl.solve(problem, tol=1e-6, polish=True)
    assert exact.certificate.relative_gap <= 1e-12
    # The polish is a part of the solve that can be seen.
    assert exact.n_iter >= rough.n_iter and len(exact.history) >= len(rough.history)
    if exact.certificate.relative_gap < rough.certificate.relative_gap:
        assert "polish" in exact.reason and exact.n_iter > rough.n_iter


def test_polishing_never_makes_answers_worse():
    for constraint in (rl.constraints.Nonnegative(), rl.constraints.LinearEquality(np.ones(6))):
        for loss in (rl.losses.Hinge(), rl.losses.ModifiedHuber()):
            problem = rl.Problem(X, LABELS, loss, rl.penalties.L1(3.0), constraint)
            rough = rl.solve(problem, tol=1e-4)
            exact = rl.solve(problem, tol=1e-4, polish=True)
            assert exact.certificate.relative_gap <= rough.certificate.relative_gap
            assert exact.certificate.relative_violation <= 1e-9
