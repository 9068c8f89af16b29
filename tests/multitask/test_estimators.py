"""The scikit-learn face: three forms of input, attributes, routing, and what is refused."""

import pickle

import numpy as np
import pytest
import scipy.sparse as sp
import sklearn
from sklearn.base import clone
from sklearn.model_selection import GroupKFold, cross_validate
from sklearn.utils.estimator_checks import parametrize_with_checks

from rectiline import constraints
from rectiline._polling import OutOfTime
from rectiline.estimators.multitask import (
    MultiTaskClassifier,
    MultiTaskClassifierCV,
    MultiTaskRegressor,
    MultiTaskRegressorCV,
)
from rectiline.exceptions import ConvergenceWarning
from rectiline.problems import MultiTaskProblem

SMALL = {"alphas": (1.0,), "betas": (0.1,), "cv": 2}


@parametrize_with_checks(
    [
        MultiTaskRegressor(),
        MultiTaskClassifier(),
        MultiTaskRegressorCV(**SMALL),
        MultiTaskClassifierCV(**SMALL),
    ]
)
def test_scikit_learn(estimator, check):
    check(estimator)


@pytest.fixture
def data():
    rng = np.random.default_rng(0)
    n, d, m = 90, 6, 3
    X = rng.normal(size=(n, d))
    U = np.outer(rng.normal(size=d), rng.normal(size=m))
    Y = X @ U + [0.5, -1.0, 2.0] + 0.1 * rng.normal(size=(n, m))
    return X, Y, np.repeat(["b", "a", "c"], n // m)


def stacked(Y, ids):
    column = {"a": 0, "b": 1, "c": 2}
    return np.array([row[column[t]] for row, t in zip(Y, ids)])


def test_three_forms_are_one(data):
    X, Y, ids = data
    y = stacked(Y, ids)
    one = MultiTaskRegressor(tol=1e-9).fit(X, y, tasks=ids)
    listed = [X[ids == t] for t in "abc"]
    two = MultiTaskRegressor(tol=1e-9).fit(listed, [y[ids == t] for t in "abc"])
    absent = np.full(Y.shape, np.nan)
    for k, t in enumerate("abc"):
        absent[ids == t, k] = y[ids == t]
    three = MultiTaskRegressor(tol=1e-9).fit(X, absent)
    assert one.tasks_ == ["a", "b", "c"]
    assert two.tasks_ == three.tasks_ == [0, 1, 2]
    for other in (two, three):
        np.testing.assert_allclose(other.coef_, one.coef_, atol=1e-9)
        np.testing.assert_allclose(other.intercept_, one.intercept_, atol=1e-9)
    np.testing.assert_allclose(one.predict(X, tasks=ids)[ids == "c"], two.predict(listed)[2])
    np.testing.assert_allclose(
        three.predict(X)[ids == "b", 1], one.predict(X, tasks=ids)[ids == "b"]
    )
    assert three.predict(X).shape == (90, 3)
    assert one.score(X, y, tasks=ids) == pytest.approx(
        two.score(listed, [y[ids == t] for t in "abc"])
    )
    assert 0.5 < three.score(X, absent) <= 1.0


def test_attributes_fit_together(data):
    X, Y, _ = data
    for center in (False, True):
        model = MultiTaskRegressor(shared_dim=2, alpha=2.0, beta=0.3, center=center).fit(X, Y)
        parts = model.task_components_ @ model.shared_components_ + model.specific_components_
        np.testing.assert_allclose(model.common_ + parts, model.coef_, atol=1e-12)
        gram = model.shared_components_ @ model.shared_components_.T
        np.testing.assert_allclose(gram, np.eye(2), atol=1e-12)
        assert np.trace(model.M_) == pytest.approx(2.0)
        eigenvalues = np.linalg.eigvalsh(model.M_)
        assert eigenvalues.min() > -1e-12 and eigenvalues.max() < 1 + 1e-12
        assert model.eta_ == pytest.approx(0.15)
        assert model.certificate_.relative_gap <= 1e-6
        assert 0.0 <= model.aso_bound_ < 1.0
        assert model.solver_ == "bcd" and model.n_iter_ >= 1
        assert model.coef_.shape == (3, 6) and model.task_components_.shape == (3, 2)


def test_rank_below_the_dimension_keeps_the_trace():
    X = np.random.default_rng(0).normal(size=(30, 5))
    model = MultiTaskRegressor(shared_dim=3).fit(X, np.outer(X[:, 0], [1.0, 2.0]))
    assert np.trace(model.M_) == pytest.approx(3.0)
    np.testing.assert_allclose(model.M_ @ model.M_, model.M_, atol=1e-10)


def test_classifier_in_three_forms():
    rng = np.random.default_rng(1)
    X = rng.normal(size=(80, 4))
    Y = (X[:, :2] + 0.3 * rng.normal(size=(80, 2)) > 0).astype(int)
    model = MultiTaskClassifier(alpha=0.1, beta=0.01).fit(X, Y)
    assert model.predict(X).shape == Y.shape
    assert set(np.unique(model.predict(X))) <= {0, 1}
    np.testing.assert_array_equal(model.decision_function(X) > 0, model.predict(X) == 1)
    assert model.score(X, Y) > 0.7
    ids = np.repeat([0, 1], 40)
    words = np.where(Y[np.arange(80), ids] > 0, "yes", "no")
    other = MultiTaskClassifier(alpha=0.1, beta=0.01).fit(X, words, tasks=ids)
    assert list(other.classes_) == ["no", "yes"]
    assert other.score(X, words, tasks=ids) > 0.8
    lists = [X[ids == t] for t in (0, 1)]
    third = MultiTaskClassifier(alpha=0.1, beta=0.01).fit(lists, [words[ids == t] for t in (0, 1)])
    np.testing.assert_allclose(third.coef_, other.coef_, atol=1e-6)
    assert third.score(lists, [words[ids == t] for t in (0, 1)]) > 0.8


def test_labels_that_are_absent():
    rng = np.random.default_rng(5)
    X = rng.normal(size=(60, 4))
    Y = (X[:, :3] > 0).astype(float)
    Y[rng.random(Y.shape) < 0.3] = np.nan
    model = MultiTaskClassifier(alpha=0.1, beta=0.01).fit(X, Y)
    present = ~np.isnan(Y)
    listed = MultiTaskClassifier(alpha=0.1, beta=0.01).fit(
        [X[column] for column in present.T], [Y[column, t] for t, column in enumerate(present.T)]
    )
    np.testing.assert_allclose(model.coef_, listed.coef_, atol=1e-6)
    assert model.score(X, Y) > 0.8
    assert set(np.unique(model.predict(X))) <= {0.0, 1.0}


def test_labels_of_their_own_and_one_class():
    rng = np.random.default_rng(2)
    X = rng.normal(size=(60, 3))
    ids = np.repeat(["p", "q", "r"], 20)
    y = np.where(X[:, 0] > 0, 1, 0)
    y[ids == "q"] += 5
    y[ids == "r"] = 9
    model = MultiTaskClassifier(alpha=0.1, beta=0.01).fit(X, y, tasks=ids)
    assert [list(k) for k in model.classes_] == [[0, 1], [5, 6], [9]]
    found = model.predict(X, tasks=ids)
    assert set(found[ids == "q"]) <= {5, 6} and set(found[ids == "r"]) == {9}
    assert model.score(X, y, tasks=ids) > 0.8


def test_sparse_stays_sparse_and_gives_the_same(data):
    X, Y, ids = data
    X = X * (np.abs(X) > 1.0)
    y = stacked(Y, ids)
    dense = MultiTaskRegressor(tol=1e-8).fit(X, y, tasks=ids)
    for form in (sp.csr_array, sp.csc_matrix):
        model = MultiTaskRegressor(tol=1e-8).fit(form(X), y, tasks=ids)
        np.testing.assert_allclose(model.coef_, dense.coef_, atol=1e-5)
        np.testing.assert_allclose(
            model.predict(form(X), tasks=ids), dense.predict(X, tasks=ids), atol=1e-4
        )


def test_metadata_is_routed(data):
    X, Y, ids = data
    y = stacked(Y, ids)
    with sklearn.config_context(enable_metadata_routing=True):
        model = MultiTaskRegressor()
        model.set_fit_request(tasks=True).set_predict_request(tasks=True)
        model.set_score_request(tasks=True)
        folds = GroupKFold(3).set_split_request(groups=True)
        rows = np.arange(90) % 3
        found = cross_validate(model, X, y, cv=folds, params={"tasks": ids, "groups": rows})
    assert (found["test_score"] > 0.8).all()


def test_constraints_of_each_task(data):
    X, Y, _ = data
    for held in (constraints.Nonnegative(), [constraints.Nonnegative()] * 3):
        model = MultiTaskRegressor(constraints=held, loss="huber").fit(X, Y)
        assert model.coef_.min() >= 0.0
    only = [(constraints.Nonnegative(),), (), ()]
    model = MultiTaskRegressor(constraints=only).fit(X, Y)
    assert model.coef_[0].min() >= 0.0 and model.coef_[1:].min() < 0.0


def test_warm_start_pickle_clone(data):
    X, Y, _ = data
    model = MultiTaskRegressor(warm_start=True).fit(X, Y)
    first = model.n_iter_
    assert model.fit(X, Y).n_iter_ <= first
    again = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(again.predict(X), model.predict(X))
    assert not hasattr(clone(model), "coef_")


def test_cv_finds_the_dimension():
    rng = np.random.default_rng(3)
    X = [rng.normal(size=(25, 10)) for _ in range(8)]
    U = rng.normal(size=(10, 1)) @ rng.normal(size=(1, 8))
    y = [one @ u + 0.5 * rng.normal(size=25) for one, u in zip(X, U.T)]
    model = MultiTaskRegressorCV(shared_dims=[1, 8], alphas=[1.0], betas=[0.1, 0.01], cv=3).fit(
        X, y
    )
    assert model.shared_dim_ == 1
    assert model.loss_path_.shape == (2, 1, 2, 3)
    assert model.coef_.shape == (8, 10)


def test_search_gives_equal_bits_for_any_number_of_threads():
    rng = np.random.default_rng(4)
    X = rng.standard_normal((60, 5))
    Y = X @ rng.standard_normal((5, 3)) + 0.3 * rng.standard_normal((60, 3))
    grid = {"shared_dims": [1, 2], "alphas": [0.1, 1.0], "betas": [0.1, 0.01], "cv": 3}
    made = [MultiTaskRegressorCV(n_jobs=n_jobs, **grid).fit(X, Y) for n_jobs in (None, 2, 3)]
    for other in made[1:]:
        assert (other.loss_path_ == made[0].loss_path_).all()
    table, losses = made[0].cv_results_, made[0].loss_path_
    assert table["mean_test_score"].shape == (8,)
    np.testing.assert_allclose(table["split1_test_score"], -losses[..., 1].ravel())
    best = int(np.argmin(table["rank_test_score"]))
    chosen = (made[0].shared_dim_, made[0].alpha_, made[0].beta_)
    assert chosen == tuple(table[f"param_{name}"][best] for name in ("shared_dim", "alpha", "beta"))
    # The loss of a candidate on a fold is that of a fit of its own.
    model = MultiTaskRegressor(shared_dim=2, alpha=1.0, beta=0.01)
    folds = np.random.default_rng(0).permutation(np.arange(60) % 3)
    for fold in range(3):
        out = folds == fold
        found = model.fit(X[~out], Y[~out]).predict(X[out])
        expected = 0.5 * np.mean((found - Y[out]) ** 2)
        np.testing.assert_allclose(losses[1, 1, 1, fold], expected, rtol=0.02)


def test_cv_splitters_and_errors(data):
    X, Y, ids = data
    y = stacked(Y, ids)
    options = {"shared_dims": [1], "alphas": [1.0], "betas": [0.1]}
    rows = [(np.arange(30, 90), np.arange(30)), (np.arange(60), np.arange(60, 90))]
    model = MultiTaskRegressorCV(cv=rows, **options).fit(X, Y)
    assert model.loss_path_.shape == (1, 1, 1, 2)
    assert MultiTaskRegressorCV(cv=2, **options).fit(X, y, tasks=ids).alpha_ == 1.0
    with pytest.raises(ValueError, match="number of folds"):
        MultiTaskRegressorCV(cv=rows, **options).fit([X, X], [y, y])
    with pytest.raises(ValueError, match="shared_dims holds 7"):
        MultiTaskRegressorCV(shared_dims=[7]).fit(X, Y)
    with pytest.raises(ValueError, match="alphas"):
        MultiTaskRegressorCV(alphas=[-1.0]).fit(X, Y)


@pytest.mark.parametrize("name", ["shared_dim", "alpha", "beta"])
def test_wrong_parameters_are_named(data, name):
    X, Y, _ = data
    with pytest.raises(ValueError, match=name):
        MultiTaskRegressor(**{name: 0}).fit(X, Y)
    with pytest.raises(ValueError, match="shared_dim must be at most the number of features, 6"):
        MultiTaskRegressor(shared_dim=7).fit(X, Y)


def test_wrong_input_is_named(data):
    X, Y, ids = data
    y = stacked(Y, ids)
    model = MultiTaskRegressor().fit(X, y, tasks=ids)
    with pytest.raises(ValueError, match=r"tasks\[1\] is 'z'"):
        model.predict(X[:2], tasks=["a", "z"])
    with pytest.raises(ValueError, match="tasks must say"):
        model.predict(X)
    with pytest.raises(ValueError, match="one label per row"):
        model.predict(X, tasks=["a"])
    with pytest.raises(ValueError, match="one label per row"):
        MultiTaskRegressor().fit(X, y, tasks=["a"])
    with pytest.raises(ValueError, match="list with one entry per task"):
        MultiTaskRegressor().fit([X, X], [y])
    with pytest.raises(ValueError, match="tasks must be None"):
        MultiTaskRegressor().fit([X], [y], tasks=ids)
    with pytest.raises(ValueError, match="loss of the margin"):
        MultiTaskRegressor(loss="hinge").fit(X, Y)
    gone = Y.copy()
    gone[:, 1] = np.nan
    with pytest.raises(ValueError, match=r"y\[:, 1\] has no entry"):
        MultiTaskRegressor().fit(X, gone)
    with pytest.raises(ValueError, match="3 classes in one task"):
        MultiTaskClassifier().fit(X, np.arange(90)[:, None] % 3)


@pytest.mark.parametrize("kind", [MultiTaskRegressor, MultiTaskClassifier])
def test_a_vector_y_is_one_task(kind, data):
    X, Y, _ = data
    y = Y[:, 0] if kind is MultiTaskRegressor else np.where(Y[:, 0] > 0, "yes", "no")
    vector, column = kind(tol=1e-9).fit(X, y), kind(tol=1e-9).fit(X, y[:, None])
    stacked_task = kind(tol=1e-9).fit(X, y, tasks=np.zeros(90))
    assert vector.tasks_ == [0] and vector.coef_.shape == (1, 6)
    np.testing.assert_array_equal(vector.coef_, column.coef_)
    np.testing.assert_array_equal(vector.coef_, stacked_task.coef_)
    assert vector.predict(X).shape == (90,) and column.predict(X).shape == (90, 1)
    np.testing.assert_array_equal(vector.predict(X), vector.predict(X, tasks=np.zeros(90)))
    assert vector.score(X, y) == column.score(X, y[:, None]) > 0.3


@pytest.mark.parametrize(
    ("tasks", "message"),
    [
        (np.zeros((30, 2)), "one-dimensional"),
        ([[1]] * 30, "hashable"),
        (5, "one per row of X; got int"),
        (np.r_[np.nan, np.ones(29)], "NaN"),
        (np.ma.masked_equal(np.arange(30), 3), "masked"),
        (np.zeros(29), "30 rows, 29 labels"),
    ],
)
def test_tasks_that_are_no_labels_are_refused(tasks, message):
    X, y = np.random.default_rng(0).normal(size=(30, 2)), np.arange(30.0)
    with pytest.raises(ValueError, match=message):
        MultiTaskRegressor().fit(X, y, tasks=tasks)
    model = MultiTaskRegressor().fit(X, y, tasks=np.arange(30) % 2)
    with pytest.raises(ValueError, match=message):
        model.predict(X, tasks=tasks)


@pytest.mark.parametrize(
    "labels", [[3, 1, 2], ["b", "a", "c"], [2.5, -1.0, 0.0], [1, "a", None], [True, False, True]]
)
def test_labels_of_any_kind_come_back_as_python_objects(labels):
    X, y = np.random.default_rng(0).normal(size=(30, 2)), np.arange(30.0)
    tasks = labels * 10
    made = [MultiTaskRegressor().fit(X, y, tasks=one) for one in (tasks, np.array(tasks, object))]
    for model in made:
        try:
            assert model.tasks_ == sorted(set(labels))
        except TypeError:
            assert model.tasks_ == labels  # what cannot be sorted stays in order of appearance
        assert all(type(one) in (int, str, float, bool, type(None)) for one in model.tasks_)
        np.testing.assert_array_equal(model.predict(X, tasks=tasks), made[0].predict(X, tasks))
    with pytest.raises(ValueError, match=r"tasks\[29\] is 'new', which was not among the"):
        made[0].predict(X, tasks=[*tasks[:29], "new"])


def test_a_search_that_time_cuts_off_says_so():
    rng = np.random.default_rng(0)
    X, Y = rng.normal(size=(60, 4)), rng.normal(size=(60, 3))
    with pytest.warns(ConvergenceWarning) as seen:
        MultiTaskRegressorCV(cv=3, time_limit=1e-6).fit(X, Y)
    said = [str(one.message) for one in seen]
    assert "before 24 of 24 candidates" in said[0] and "none was compared" in said[0]
    assert len(said) == 2 and "ended (time_limit)" in said[1]


def test_a_fold_trains_every_task_on_rows_that_count():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(20, 2)), rng.normal(size=20)
    weight = np.r_[np.zeros(9), 1.0, np.ones(10)]  # one row of the first task counts
    model = MultiTaskRegressorCV(alphas=[1.0], betas=[0.1], cv=3)
    model.fit(X, y, tasks=np.repeat([0, 1], 10), sample_weight=weight)
    assert np.isfinite(model.loss_path_).all()


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("n_jobs", [None, 2])
def test_candidates_that_time_leaves_out_have_infinite_losses(n_jobs, monkeypatch):
    rng = np.random.default_rng(0)
    X, Y = rng.normal(size=(60, 4)), rng.normal(size=(60, 3))

    def too_late(self, weight):
        raise OutOfTime

    monkeypatch.setattr(MultiTaskProblem, "with_sample_weight", too_late)
    model = MultiTaskRegressorCV(cv=3, time_limit=100.0, n_jobs=n_jobs).fit(X, Y)
    assert np.isinf(model.loss_path_).all()
    assert np.isneginf(model.cv_results_["mean_test_score"]).all()
    assert model.shared_dim_ == model.shared_dims_[0]
    assert model.predict(X).shape == Y.shape
