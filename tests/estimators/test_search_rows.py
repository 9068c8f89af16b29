"""Searches on rows in blocks: those of the arrays behind them, with shared passes."""

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.model_selection import KFold, PredefinedSplit

import rectiline as rl
from rectiline.problems.blocks import fold_of_rows

N, D, FOLDS = 20_000, 4, 3
RNG = np.random.default_rng(0)
X = RNG.standard_normal((N, D))
Y = X @ np.arange(1.0, D + 1) + RNG.standard_t(3, N)
CODES = np.digitize(Y, [-4.0, 4.0])
WEIGHT = RNG.integers(0, 3, N).astype(float)
ROW_FOLDS = fold_of_rows(np.arange(N), FOLDS)
OPTIONS = {"Cs": [1e-4, 1e-2, 1.0], "tol": 1e-9}
MODELS = {
    "huber": (rl.PLQRegressorCV("huber", loss_params={"delta": 1.0}, **OPTIONS), Y),
    "elastic net": (
        rl.PLQRegressorCV("huber", penalty="elasticnet", l1_ratios=[0.2, 0.8], **OPTIONS),
        Y,
    ),
    "two classes": (rl.PLQClassifierCV("squared_hinge", **OPTIONS), np.where(Y > 1, "up", "down")),
    "three classes": (
        rl.PLQClassifierCV("smoothed_hinge", class_weight="balanced", **OPTIONS),
        CODES,
    ),
    "quantile": (rl.QuantileRegressorCV(quantile=0.3, alphas=[0.001, 0.1, 1.0], tol=1e-9), Y),
    "two quantiles": (
        rl.QuantileRegressorCV(
            quantile=[0.2, 0.9], alphas=[0.01, 0.1], l1_ratios=[0.5, 1.0], tol=1e-9
        ),
        Y,
    ),
}


@pytest.mark.parametrize("weight", [None, WEIGHT], ids=["unweighted", "weighted"])
@pytest.mark.parametrize("name", MODELS)
def test_a_search_on_rows_is_the_search_in_memory(name, weight):
    model, y = MODELS[name]
    make = type(model)
    params = model.get_params()
    memory = make(**{**params, "cv": PredefinedSplit(ROW_FOLDS)}).fit(X, y, weight)
    rows = rl.rows.from_arrays(X, y, weight, block_rows=7001)
    blocks = make(**{**params, "cv": FOLDS}).fit(rows)
    assert list(blocks.cv_results_) == list(memory.cv_results_)
    for key, values in memory.cv_results_.items():
        if key.endswith("test_score") and not key.startswith("rank"):
            # One row in a fold is worth 1.5e-4 of an accuracy; R^2 moves with the coefficients.
            np.testing.assert_allclose(blocks.cv_results_[key], values, atol=3.1e-4, err_msg=key)
    name = "C_" if hasattr(memory, "C_") else "alpha_"
    assert getattr(blocks, name) == getattr(memory, name)
    assert blocks.l1_ratio_ == memory.l1_ratio_
    np.testing.assert_allclose(blocks.coef_, memory.coef_, atol=2e-4)
    paths = blocks.path_ if isinstance(blocks.path_, tuple) else (blocks.path_,)
    assert all(path.relative_gaps.max() <= 1e-9 for path in paths)
    np.testing.assert_array_equal(blocks.predict(rows), blocks.predict(X))


def test_strengths_and_folds_share_their_passes(monkeypatch):
    rows = rl.rows.from_arrays(X, Y, block_rows=5000)
    counts = []
    original = type(rows).map_blocks

    def counted(self, function, state):
        if self is rows:
            counts.append(function.__name__)
        return original(self, function, state)

    monkeypatch.setattr(type(rows), "map_blocks", counted)
    model = rl.PLQRegressorCV("absolute", Cs=[1e-3, 1e-2, 1e-1, 1.0], cv=FOLDS).fit(rows)
    assert 2 <= counts.count("run_block") <= 4  # for sixteen problems
    assert counts.count("_score_block") == 1
    assert model.cv_results_["mean_test_score"].shape == (4,)


def test_a_grid_of_a_number_of_strengths_follows_the_rows():
    model = rl.PLQClassifierCV("squared_hinge", Cs=3, cv=2)
    memory = model.fit(X, Y > 0).Cs_.copy()
    rows = model.fit(rl.rows.from_arrays(X, Y > 0)).Cs_
    np.testing.assert_allclose(rows, memory, rtol=1e-3)  # all rows are in the sample


def test_folds_are_even_and_do_not_depend_on_blocks():
    folds = fold_of_rows(np.arange(100_000), 5)
    np.testing.assert_allclose(np.bincount(folds), 20_000, rtol=0.03)
    np.testing.assert_array_equal(folds[40_000:], fold_of_rows(np.arange(40_000, 100_000), 5))


def test_what_a_search_on_rows_refuses():
    rows = rl.rows.from_arrays(X, Y)
    with pytest.raises(ValueError, match=r"cv=KFold.*number of folds"):
        rl.PLQRegressorCV(cv=KFold(3)).fit(rows)
    for scoring in ("max_error", "accuracy", lambda *_: 0.0):
        with pytest.raises(ValueError, match=r"scoring=.*'neg_mean_absolute_error'.* in memory"):
            rl.PLQRegressorCV(scoring=scoring).fit(rows)
    with pytest.raises(ValueError, match="fold_tol needs X and y in memory"):
        rl.PLQRegressorCV(fold_tol=1e-3).fit(rows)
    with pytest.raises(ValueError, match="groups"):
        rl.PLQRegressorCV().fit(rows, groups=np.zeros(N))
    with pytest.raises(ValueError, match="multi_class='ovo'"):
        rl.PLQClassifierCV(multi_class="ovo").fit(rl.rows.from_arrays(X, CODES))


@pytest.mark.parametrize(
    "scoring",
    ["r2", "neg_mean_squared_error", "neg_root_mean_squared_error", "neg_mean_absolute_error"],
)
def test_scores_by_name_are_those_in_memory(scoring):
    model = rl.PLQRegressorCV("huber", scoring=scoring, **OPTIONS)
    memory = clone(model).set_params(cv=PredefinedSplit(ROW_FOLDS)).fit(X, Y, WEIGHT)
    rows = rl.rows.from_arrays(X, Y, WEIGHT, block_rows=7001)
    found = clone(model).set_params(cv=FOLDS).fit(rows).cv_results_["mean_test_score"]
    np.testing.assert_allclose(found, memory.cv_results_["mean_test_score"], atol=1e-4)


def test_a_search_tells_how_far_it_is(capsys, monkeypatch):
    from rectiline.estimators import _row_folds

    monkeypatch.setattr(_row_folds, "_MEMBERS", 4)  # one strength at a time
    heard = []
    rows = rl.rows.from_arrays(X, Y, block_rows=5000)
    model = rl.PLQRegressorCV("huber", Cs=[1e-3, 1e-2], cv=FOLDS, callback=heard.append, verbose=1)
    model.fit(rows)
    assert len(heard) >= 2 * (FOLDS + 1) and all(one.solver == "passes" for one in heard)
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) == 2 and "round 2/2" in lines[1]
    assert "4 of 4 problems solved" in lines[1] and "mean score" in lines[1]
    model.set_params(verbose=2, callback=None).fit(rows)
    assert len(capsys.readouterr().out.splitlines()) >= 2 + 2 * (FOLDS + 1)


def test_a_search_draws_a_bar(monkeypatch):
    from rectiline.estimators import _show

    drawn, closed = [], []

    class Bar:
        def __init__(self, total, title):
            drawn.append((total, title))

        def set(self, done, text):
            drawn.append((done, text))

        def close(self):
            closed.append(True)

    monkeypatch.setattr(_show, "ProgressBar", Bar)
    rows = rl.rows.from_arrays(X, Y, block_rows=5000)
    rl.PLQRegressorCV("huber", Cs=[1e-3, 1e-2], cv=FOLDS, progress_bar=True).fit(rows)
    assert drawn[0] == (1, "PLQRegressorCV") and closed
    assert any("rows" in text for _, text in drawn[1:]) and drawn[-1][0] == 1.0
