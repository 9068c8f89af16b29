"""Matrix factorisation: exact alternating steps, constraints, strangers, labels."""

import cvxpy as cp
import numpy as np
import pytest

import rectiline as rl


def ratings(seed=0, n_users=15, n_items=12, share=0.7, rank=2):
    """Return pairs and ratings of a random low rank table, some of its entries."""
    rng = np.random.default_rng(seed)
    P, Q = rng.standard_normal((n_users, rank)), rng.standard_normal((n_items, rank))
    pairs = np.argwhere(rng.random((n_users, n_items)) < share)
    y = (P[pairs[:, 0]] * Q[pairs[:, 1]]).sum(axis=1) + 0.1 * rng.standard_normal(len(pairs))
    return pairs, y + 3.0


@pytest.mark.parametrize("loss", ["squared_error", "absolute", "huber", rl.losses.Pinball(0.8)])
def test_the_objective_falls_and_is_the_formula(loss):
    pairs, y = ratings()
    model = rl.MatrixFactorization(loss, rank=2, C=5.0, tol=1e-3, max_iter=100).fit(pairs, y)
    values = [entry["objective"] for entry in model.history_]
    slack = 2e-6 * abs(values[0])
    assert (np.diff(values) <= slack).all() and model.n_iter_ < 100
    curve = rl.losses.get(loss) if isinstance(loss, str) else loss
    squares = sum(
        float((part**2).sum())
        for part in (
            model.user_factors_,
            model.item_factors_,
            model.user_bias_,
            model.item_bias_,
        )
    )
    value = 5.0 * curve.value(y, model.predict(pairs)).sum() + squares / 2
    assert model.objective_ == pytest.approx(value, rel=1e-9)
    constant = 5.0 * curve.value(y, np.full(y.size, model.intercept_)).sum()
    assert model.objective_ < 0.8 * constant


def test_a_step_is_clarabels():
    pairs, y = ratings(seed=1)
    model = rl.MatrixFactorization("absolute", rank=2, C=3.0, max_iter=1, step_tol=1e-9)
    with pytest.warns(rl.ConvergenceWarning, match="max_iter=1"):
        model.fit(pairs, y)
    P = np.column_stack([model.user_factors_, model.user_bias_])
    Q = cp.Variable((12, 3))
    own = cp.sum(cp.multiply(P[pairs[:, 0], :2], Q[pairs[:, 1], :2]), axis=1) + Q[pairs[:, 1], 2]
    residual = y - model.intercept_ - own - P[pairs[:, 0], 2]
    objective = 3.0 * cp.sum(cp.abs(residual)) + cp.sum_squares(Q) / 2 + (P**2).sum() / 2
    reference = cp.Problem(cp.Minimize(objective))
    reference.solve(solver=cp.CLARABEL)
    assert model.objective_ == pytest.approx(reference.value, rel=1e-7)
    assert model.history_[-1]["gap"] <= 1e-7 * model.objective_


def test_constraints_hold():
    pairs, y = ratings()
    model = rl.MatrixFactorization(
        rank=3,
        C=2.0,
        biased=False,
        user_constraints=[rl.constraints.Nonnegative()],
        item_constraints=rl.constraints.Box(0.0, 1.5),
    ).fit(pairs, np.abs(y))
    assert (model.user_factors_ >= -1e-12).all()
    assert (model.item_factors_ >= -1e-12).all() and (model.item_factors_ <= 1.5 + 1e-12).all()


def test_labels_and_strangers():
    pairs, y = ratings(share=0.8)
    labels = np.where(y > 3.0, "like", "pass")
    model = rl.MatrixFactorization("hinge", rank=2, C=1.0).fit(pairs, labels)
    assert (model.predict(pairs) == labels).mean() > 0.9
    assert set(model.classes_) == {"like", "pass"} and model.intercept_ == 0.0
    again = model.set_params(loss="squared_error").fit(pairs, y)
    assert again.predict(pairs).dtype == np.float64  # ratings, not the labels of the first fit
    stranger = rl.MatrixFactorization(rank=2).fit(pairs, y)
    assert stranger.predict([[999, 999]]) == pytest.approx(stranger.intercept_)
    named = np.array([[f"u{u}", f"i{i}"] for u, i in pairs])
    same = rl.MatrixFactorization(rank=2).fit(named, y)
    assert same.objective_ == pytest.approx(stranger.objective_, rel=0.2)


def test_wrong_input_is_named():
    pairs, y = ratings()
    with pytest.raises(ValueError, match=r"shape \(n_ratings, 2\)"):
        rl.MatrixFactorization().fit(pairs[:, :1], y)
    with pytest.raises(ValueError, match="one rating for each row"):
        rl.MatrixFactorization().fit(pairs, y[1:])
    with pytest.raises(ValueError, match="exactly two"):
        rl.MatrixFactorization("hinge").fit(pairs, y)
    with pytest.raises(ValueError, match=r"y\[3\] is nan"):
        rl.MatrixFactorization().fit(pairs, np.where(np.arange(y.size) == 3, np.nan, y))
    with pytest.raises(ValueError, match=r"row 0 is \[nan"):
        rl.MatrixFactorization().fit(np.where(pairs == 0, np.nan, pairs), y)
    with pytest.raises(ValueError, match=r"[Nn]egative"):
        rl.MatrixFactorization().fit(pairs, y, sample_weight=-np.ones(y.size))
    with pytest.raises(ValueError, match="'rank'"):
        rl.MatrixFactorization(rank=0).fit(pairs, y)
