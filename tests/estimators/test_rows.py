"""Estimators on sources of rows: the answers, proofs and names of the arrays behind them."""

import pickle

import numpy as np
import pytest
import scipy.sparse as sp

import rectiline as rl
from rectiline.exceptions import InfeasibleError, UnsupportedProblemError
from rectiline.rows import on_host, spread_rows

N, D = 12_000, 4
NAMES = [f"c{k}" for k in range(D)]


def data():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((N, D))
    y = X @ np.arange(1.0, D + 1) + (1 + 0.5 * np.abs(X[:, 0])) * rng.standard_t(3, N)
    return X, y


X, Y = data()
CODES = np.digitize(Y, [-4.0, 4.0])
WEIGHT = np.random.default_rng(1).integers(0, 3, N).astype(float)
OPTIONS = {"solver": "passes", "tol": 1e-9}
MODELS = {
    "regressor": (rl.PLQRegressor("pinball", loss_params={"quantile": 0.8}, C=0.1), Y),
    "auto": (rl.PLQRegressor(), Y),
    "two classes": (rl.PLQClassifier(C=0.01), CODES > 0),
    "three classes": (rl.PLQClassifier("squared_hinge", C=0.01, class_weight="balanced"), CODES),
    "pairs": (rl.PLQClassifier(C=0.01, multi_class="ovo"), CODES),
    "quantiles": (rl.QuantileRegressor(quantile=[0.9, 0.1, 0.5], alpha=0.01), Y),
}


def model_of(name, **more):
    model, y = MODELS[name]
    return model.__class__(**{**model.get_params(), **OPTIONS, **more}), y


def source_of(kind, y, folder, weight=None):
    if kind == "arrays":
        return rl.rows.from_arrays(X, y, weight, block_rows=5000)
    if kind == "stream":
        parts = [slice(0, 5000), slice(5000, 5001), slice(5001, N)]
        return rl.rows.from_stream(
            lambda: ((X[k], y[k]) if weight is None else (X[k], y[k], weight[k]) for k in parts)
        )
    if kind == "npy":
        np.save(folder / "X.npy", X)
        np.save(folder / "y.npy", y)
        return rl.rows.from_npy(folder / "X.npy", folder / "y.npy", weight, block_rows=5000)
    if kind == "parquet":
        pa = pytest.importorskip("pyarrow")
        pq = pytest.importorskip("pyarrow.parquet")
        columns = {**dict(zip(NAMES, X.T, strict=True)), "y": y}
        columns |= {} if weight is None else {"w": weight}
        for k, rows in enumerate((slice(0, 7000), slice(7000, N))):
            table = pa.table({name: column[rows] for name, column in columns.items()})
            pq.write_table(table, folder / f"{k}.parquet")
        return rl.rows.from_parquet(folder, target="y", weight=None if weight is None else "w")
    torch = pytest.importorskip("torch")
    tensors = [None if one is None else torch.as_tensor(one) for one in (X, y, weight)]
    return rl.rows.from_arrays(*tensors, block_rows=5000)


def proofs_of(model):
    found = model.certificate_
    return found if isinstance(found, tuple) else (found,)


def assert_same_fit(one, other):
    """Both are proved; with gaps this small the objectives are the same number."""
    for a, b in zip(proofs_of(one), proofs_of(other), strict=True):
        assert a.relative_gap <= 1e-9 and b.relative_gap <= 1e-9
        assert a.primal == pytest.approx(b.primal, rel=2e-9)
    np.testing.assert_allclose(one.coef_, other.coef_, rtol=1e-3, atol=1e-4)
    np.testing.assert_allclose(one.intercept_, other.intercept_, rtol=1e-3, atol=1e-4)


@pytest.mark.parametrize("kind", ["arrays", "stream", "npy", "parquet", "tensors"])
@pytest.mark.parametrize("name", MODELS)
def test_sources_give_the_answers_of_arrays(kind, name, tmp_path):
    model, y = model_of(name)
    memory, _ = model_of(name, solver="auto")
    memory.fit(X, y)
    rows = source_of(kind, y, tmp_path)
    assert model.fit(rows) is model
    assert_same_fit(model, memory)
    assert model.n_features_in_ == D
    assert not hasattr(model, "dual_coef_")
    solutions = model.solution_ if isinstance(model.solution_, tuple) else (model.solution_,)
    assert all(one.solver == "passes" and one.passes <= 6 for one in solutions)
    assert len({one.passes for one in solutions}) == 1  # they share them
    if kind == "parquet":
        assert list(model.feature_names_in_) == NAMES
    else:
        assert not hasattr(model, "feature_names_in_")
    if name.startswith(("two", "three", "pairs")):
        np.testing.assert_array_equal(model.classes_, memory.classes_)
        assert np.mean(model.predict(rows) != memory.predict(X)) < 1e-3
    else:
        np.testing.assert_allclose(model.predict(rows), memory.predict(X), rtol=1e-3, atol=1e-3)
    parts = list(model.predict(rows, blocks=True))
    assert len(parts) == len(list(rows))
    np.testing.assert_array_equal(np.concatenate(parts), model.predict(rows))


@pytest.mark.parametrize("kind", ["stream", "parquet", "tensors"])
@pytest.mark.parametrize("name", ["regressor", "three classes", "quantiles"])
def test_weights_come_with_the_rows(kind, name, tmp_path):
    model, y = model_of(name)
    memory, _ = model_of(name, solver="auto")
    assert_same_fit(
        model.fit(source_of(kind, y, tmp_path, WEIGHT)), memory.fit(X, y, sample_weight=WEIGHT)
    )


def test_defaults_come_from_a_sample_of_many_rows():
    many, y = np.tile(X, (17, 1)), np.tile(Y, 17)  # 204,000 rows, of which 100,000 are looked at
    model = rl.PLQRegressor().fit(rl.rows.from_arrays(many, y))
    at, _ = spread_rows(len(many), 100_000, on_host(0))
    whole = rl.PLQRegressor().fit(many[at], y[at])
    assert model.delta_ == whole.delta_ and model.C_ == whole.C_


@pytest.mark.parametrize("name", ["regressor", "two classes", "three classes", "quantiles"])
def test_fitted_models_are_proved_again_and_pickled(name, tmp_path):
    model, y = model_of(name)
    rows = source_of("parquet", y, tmp_path)
    model.fit(rows)
    again = model.verify(rows)
    again = again if isinstance(again, tuple) else (again,)
    for proof, fitted in zip(again, proofs_of(model), strict=True):
        assert proof.relative_gap <= 1.1e-9
        assert proof.primal == pytest.approx(fitted.primal, rel=1e-12)
    stored = pickle.dumps(model)
    assert len(stored) < 20_000
    np.testing.assert_array_equal(pickle.loads(stored).predict(rows), model.predict(rows))
    with pytest.raises(ValueError, match="rows in blocks"):
        model.verify(X, y)


def test_labels_may_be_texts_and_rare(tmp_path):
    labels = np.array(["low", "mid", "top"])[CODES]
    rows = source_of("parquet", labels, tmp_path)
    model = rl.PLQClassifier(C=0.01).fit(rows)
    assert model.classes_.tolist() == ["low", "mid", "top"]
    assert np.mean(model.predict(rows) == labels) > 0.7
    weight = np.where(labels == "mid", 0.0, 1.0)  # a label without weight is no class
    two = rl.PLQClassifier(C=0.01, tol=1e-9).fit(source_of("stream", labels, None, weight))
    assert two.classes_.tolist() == ["low", "top"]
    memory = rl.PLQClassifier(C=0.01, tol=1e-9).fit(X, labels, sample_weight=weight)
    assert two.certificate_.primal == pytest.approx(memory.certificate_.primal, rel=2e-9)


def test_arrays_in_memory_can_be_predicted_by_blocks():
    model = rl.PLQRegressor("absolute", C=1.0).fit(X, Y)
    parts = list(model.predict(X, blocks=True))
    np.testing.assert_array_equal(np.concatenate(parts), model.predict(X))


def test_tensors_on_the_host_are_arrays():
    torch = pytest.importorskip("torch")
    model, y = model_of("regressor", solver="auto")
    memory, _ = model_of("regressor", solver="auto")
    model.fit(torch.as_tensor(X), torch.as_tensor(y))
    memory.fit(X, y)
    np.testing.assert_array_equal(model.coef_, memory.coef_)
    np.testing.assert_array_equal(model.predict(torch.as_tensor(X)), memory.predict(X))


def test_callbacks_and_lines_are_about_passes(capsys):
    seen = []
    rows = source_of("arrays", Y, None)
    rl.QuantileRegressor(quantile=[0.2, 0.8], alpha=0, callback=seen.append, verbose=1).fit(rows)
    assert {one.solver for one in seen} == {"passes"}
    text = capsys.readouterr().out
    assert "problem 1/2" in text and "problem 2/2" in text
    stopped = rl.QuantileRegressor(alpha=0, tol=1e-15, callback=lambda progress: True)
    assert stopped.fit(rows).status_ == "stopped"
    assert stopped.certificate_.relative_gap < 1e-3


def test_constraints_and_names(tmp_path):
    rows = source_of("parquet", Y, tmp_path)
    model = rl.PLQRegressor("absolute", C=1.0, monotone={"c3": -1}).fit(rows)
    assert model.coef_[3] <= 0
    contradicting = rl.PLQRegressor("absolute", C=1.0, constraints={"c0": (3, 3), "c1": (4, 5)})
    contradicting.set_params(order=[["c1", "c0"]])
    with pytest.raises(InfeasibleError, match="c0"):
        contradicting.fit(rows)


class TestRefusals:
    @pytest.fixture
    def rows(self):
        return source_of("arrays", Y, None)

    def test_y_beside_rows(self, rows):
        with pytest.raises(ValueError, match="their own y"):
            rl.PLQRegressor().fit(rows, Y)

    def test_rows_without_targets(self):
        for model in (rl.PLQRegressor(), rl.PLQClassifier(), rl.QuantileRegressor()):
            with pytest.raises(ValueError, match="needs targets y"):
                model.fit(rl.rows.from_arrays(X))

    def test_what_needs_arrays(self, rows):
        with pytest.raises(ValueError, match="sensitive_features"):
            rl.PLQRegressor().fit(rows, sensitive_features=CODES)
        with pytest.raises(ValueError, match="weights='adaptive'"):
            rl.PLQRegressor(penalty="l1", penalty_params={"weights": "adaptive"}).fit(rows)

    def test_solvers(self, rows):
        with pytest.raises(UnsupportedProblemError, match="newton"):
            rl.PLQRegressor("absolute", C=1.0, solver="newton").fit(rows)

    def test_numbers_as_labels(self, rows):
        with pytest.raises(ValueError, match="not a whole number"):
            rl.PLQClassifier().fit(rows)

    def test_other_columns(self, rows, tmp_path):
        model = rl.PLQRegressor("absolute", C=1.0).fit(source_of("parquet", Y, tmp_path))
        with pytest.raises(ValueError, match="3 features"):
            model.predict(rl.rows.from_arrays(X[:, :3]))
        pd = pytest.importorskip("pandas")
        other = pd.DataFrame(X, columns=NAMES[::-1])
        with pytest.raises(ValueError, match="column 0 is 'c3', at the fit it was 'c0'"):
            model.predict(rl.rows.of(other))

    def test_a_failed_fit_leaves_the_model_as_it_was(self, rows):
        model = rl.PLQRegressor("absolute", C=1.0).fit(X, Y)
        before = model.coef_.copy()
        broken = X.copy()
        broken[-1, 2] = np.nan
        with pytest.raises(ValueError, match="row 11999, column 2"):
            model.fit(rl.rows.from_arrays(broken, Y))
        np.testing.assert_array_equal(model.coef_, before)
        assert model.solution_.dual.sample.size == N
        with pytest.raises(ValueError, match="finite"):
            model.predict(rl.rows.from_arrays(broken))


def test_sparse_rows():
    thin = sp.csr_array(np.where(np.abs(X) > 0.5, X, 0.0))
    model, y = model_of("regressor")
    memory, _ = model_of("regressor", solver="auto")
    assert_same_fit(model.fit(rl.rows.from_arrays(thin, y, block_rows=5000)), memory.fit(thin, y))
    np.testing.assert_allclose(model.predict(rl.rows.from_arrays(thin)), model.predict(thin))


# ---- files and scores ---------------------------------------------------------------------------


def test_scores_of_rows_are_those_of_arrays():
    rng = np.random.default_rng(2)
    X = rng.standard_normal((900, 3))
    y, weight = X.sum(axis=1) + rng.standard_normal(900), rng.uniform(0, 2, 900)
    rows = rl.rows.from_arrays(X, y, weight, block_rows=200)
    for model in (rl.PLQRegressor("absolute"), rl.QuantileRegressor(quantile=[0.2, 0.8], alpha=0)):
        model.fit(rows)
        assert model.score(rows) == pytest.approx(model.score(X, y, weight), rel=1e-12)
        assert model.score(rows, y) == pytest.approx(model.score(X, y), rel=1e-12)
    labels = rl.rows.from_arrays(X, y > 0, block_rows=200)
    classifier = rl.PLQClassifier("hinge").fit(labels)
    assert classifier.score(labels) == classifier.score(X, y > 0) > 0.5
    with pytest.raises(ValueError, match="score needs targets y, or rows that hold them"):
        model.score(rl.rows.from_arrays(X))


def test_files_are_predicted_by_the_names_of_their_columns(tmp_path):
    pq = pytest.importorskip("pyarrow.parquet")
    pa = pytest.importorskip("pyarrow")
    rng = np.random.default_rng(2)
    a, b = rng.standard_normal((2, 1200))
    kind = rng.choice(["bus", "car"], 1200)
    y = a - b + 2 * (kind == "car") + rng.standard_normal(1200)
    whole = pa.table({"y": y, "b": b, "kind": kind, "a": a})  # in another order than at the fit
    for year in range(2):
        (tmp_path / "in" / f"year={year}").mkdir(parents=True)
        path = tmp_path / "in" / f"year={year}" / "part.parquet"
        pq.write_table(whole.slice(600 * year, 600), path, row_group_size=150)
    rows = rl.rows.from_parquet(
        tmp_path / "in", "y", columns=["a", "b", "kind"], categorical="onehot", block_rows=100
    )
    model = rl.QuantileRegressor(quantile=[0.2, 0.8], alpha=0).fit(rows)
    expected = model.predict(rows)
    np.testing.assert_array_equal(model.predict(tmp_path / "in"), expected)
    one = str(tmp_path / "in" / "year=1" / "part.parquet")
    np.testing.assert_array_equal(model.predict(one), expected[600:])
    for X in (rows, tmp_path / "in"):
        folder = tmp_path / f"out-{type(X).__name__}"
        files = model.predict(X, to=folder)
        assert {path.name for path in folder.iterdir()} == {"year=0", "year=1"}
        parts = [pq.ParquetFile(path).read() for path in sorted(files)]
        found = pa.concat_tables(parts)
        assert found.column_names == ["prediction_0", "prediction_1"]
        np.testing.assert_array_equal(np.column_stack(found.columns), expected)
    with pytest.raises(ValueError, match="the folder to write to must be empty"):
        model.predict(rows, to=folder)
    with pytest.raises(ValueError, match="the table has no column 'b'"):
        pq.write_table(whole.drop(["b"]), tmp_path / "other.parquet")
        model.predict(tmp_path / "other.parquet")
