"""A fit that is refused says which argument is wrong and leaves the fitted object as it was."""

import numpy as np
import pytest

import rectiline as rl

RNG = np.random.default_rng(0)
X = RNG.standard_normal((40, 3))
Y = X[:, 0] + RNG.standard_normal(40)
LABELS = np.where(Y > 0, "up", "down")
TASKS = np.arange(40) % 2
PAIRS = np.column_stack([np.arange(40) % 5, np.arange(40) // 5 % 4])
GROUPS = [0, 0, 1]

# Each estimator with its data and what else its fit takes.
FITTED = {
    "PLQRegressor": (rl.PLQRegressor("huber"), X, Y, {}),
    "PLQRegressor fused": (
        rl.PLQRegressor("huber", penalty=rl.penalties.Fused(0.1), fit_intercept=False),
        X,
        Y,
        {},
    ),
    "PLQRegressor sparse groups": (
        rl.PLQRegressor("huber", penalty=rl.penalties.SparseGroupLinf(0.1, 0.1, GROUPS)),
        X,
        Y,
        {},
    ),
    "PLQRegressorCV": (rl.PLQRegressorCV("huber", Cs=[0.1, 1.0], cv=2), X, Y, {}),
    "PLQClassifier": (rl.PLQClassifier(), X, LABELS, {}),
    "PLQClassifierCV": (rl.PLQClassifierCV(Cs=[0.1, 1.0], cv=2), X, LABELS, {}),
    "QuantileRegressor": (rl.QuantileRegressor(quantile=0.5, alpha=0.1), X, Y, {}),
    "QuantileRegressor family": (rl.QuantileRegressor(quantile=[0.2, 0.8], alpha=0.1), X, Y, {}),
    "QuantileRegressor joint": (
        rl.QuantileRegressor(quantile=[0.2, 0.8], alpha=0.1, non_crossing=True),
        X,
        Y,
        {},
    ),
    "QuantileRegressorCV": (
        rl.QuantileRegressorCV(quantile=0.5, alphas=[0.1, 1.0], cv=2),
        X,
        Y,
        {},
    ),
    "ExpectedShortfallRegressor": (rl.ExpectedShortfallRegressor(), X, Y, {}),
    "MatrixFactorization": (rl.MatrixFactorization(rank=1, random_state=0), PAIRS, Y, {}),
    "MultiTaskRegressor": (rl.MultiTaskRegressor(), X, Y, {"tasks": TASKS}),
    "MultiTaskClassifier": (rl.MultiTaskClassifier(), X, LABELS, {"tasks": TASKS}),
    "MultiTaskRegressorCV": (
        rl.MultiTaskRegressorCV(alphas=[1.0], betas=[0.1], cv=2),
        X,
        Y,
        {"tasks": TASKS},
    ),
    "MultiTaskClassifierCV": (
        rl.MultiTaskClassifierCV(alphas=[1.0], betas=[0.1], cv=2),
        X,
        LABELS,
        {"tasks": TASKS},
    ),
}


def _with(values, change):
    out = np.array(values, dtype=float) if np.asarray(values).dtype.kind != "U" else values.copy()
    out.flat[1] = change
    return out


# What is changed, how, and words that the message must contain one of.
BAD = {
    "NaN in X": ("X", lambda v: _with(v, np.nan), ("nan",)),
    "infinite X": ("X", lambda v: _with(v, np.inf), ("inf", "large")),
    "masked X": ("X", lambda v: np.ma.masked_array(v, np.zeros(v.shape, bool)), ("mask",)),
    "complex X": ("X", lambda v: v.astype(complex), ("omplex",)),
    "words in X": ("X", lambda v: np.full(v.shape, "word", object), ("string", "float", "numbers")),
    "X of one dimension": ("X", lambda v: v[:, 0], ("2d", "2-d", "shape (40,)")),
    "no rows": ("X", lambda v: v[:0], ("0 sample", "inconsistent", "shape (0, 2)")),
    "X too short": ("X", lambda v: v[:-1], ("39",)),
    "NaN in y": ("y", lambda v: _with(v, np.nan), ("nan",)),
    "y too short": ("y", lambda v: v[:-1], ("39",)),
    "masked y": ("y", lambda v: np.ma.masked_array(v, np.zeros(v.shape, bool)), ("mask",)),
    "complex y": ("y", lambda v: v.astype(complex), ("omplex",)),
    "no y": ("y", lambda v: None, ("y to be passed", "y must", "requires y", "got ()")),
    "negative weights": ("sample_weight", lambda v: -np.ones(40), ("weight",)),
    "complex weights": ("sample_weight", lambda v: np.ones(40, complex), ("omplex",)),
    "NaN among weights": ("sample_weight", lambda v: _with(np.ones(40), np.nan), ("weight",)),
    "masked weights": ("sample_weight", lambda v: np.ma.ones(40), ("mask",)),
    "words as weights": ("sample_weight", lambda v: ["a"] * 40, ("weight", "float", "numbers")),
    "too few weights": ("sample_weight", lambda v: np.ones(39), ("39",)),
    "unknown solver": ("solver", lambda v: "simplex method", ("solver",)),
    "wrong type of tol": ("tol", lambda v: "small", ("tol",)),
    "negative max_iter": ("max_iter", lambda v: -1, ("max_iter",)),
    "unknown loss": ("loss", lambda v: "hing", ("hinge", "pinball")),
    "wrong constraints": ("constraints", lambda v: [3], ("constraint",)),
    "wrong constraints of users": ("user_constraints", lambda v: 3, ("user_constraints",)),
}


def _state(model):
    return {name: value for name, value in vars(model).items() if name not in model.get_params()}


def _applies(name, bad):
    """Whether an estimator has what is made wrong, and would have to refuse it."""
    model, rows, targets, _ = FITTED[name]
    what = BAD[bad][0]
    if what == "y" and targets is LABELS:
        return bad in ("masked y", "no y")  # labels may be anything else
    if what == "X" and rows is PAIRS:
        return bad not in ("complex X", "words in X")  # users may be anything that can be sorted
    return what in ("X", "y", "sample_weight") or what in model.get_params()


@pytest.mark.parametrize(
    ("name", "bad"), [(name, bad) for name in FITTED for bad in BAD if _applies(name, bad)]
)
def test_a_refused_fit_changes_nothing(name, bad):
    model, rows, targets, extra = FITTED[name]
    what, change, words = BAD[bad]
    if not any(key.endswith("_") for key in vars(model)):
        model.fit(rows, targets, **extra)
    given = {"X": rows, "y": targets, **extra}
    parameters = model.get_params()
    if what in parameters:
        model.set_params(**{what: change(parameters[what])})
    else:
        given[what] = change(given.get(what))
    before = dict(_state(model))
    try:
        with pytest.raises((ValueError, TypeError)) as error:
            model.fit(**given)
    finally:
        model.set_params(**parameters)
    assert any(word in str(error.value).lower() for word in words), str(error.value)
    after = _state(model)
    assert after.keys() == before.keys()
    assert all(after[key] is before[key] for key in before)
