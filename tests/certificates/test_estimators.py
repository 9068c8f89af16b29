"""`save_certificate` of fitted models: all problems of a fit, about the user's own data."""

from __future__ import annotations

import inspect
import pickle
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sklearn.model_selection import GroupKFold

import rectiline as rl
from rectiline import verify

RNG = np.random.default_rng(6)
X = RNG.standard_normal((90, 3))
Y = X @ [1.0, 0.0, -1.0] + RNG.standard_normal(90)
NAMES = np.array(["low", "middle", "high"])[np.digitize(Y, [-0.7, 0.7])]
WEIGHT = RNG.uniform(0.5, 2.0, size=90)

CLASSIFIERS: dict[str, Any] = {
    "two classes": rl.PLQClassifier(C=0.3),
    "one against the rest": rl.PLQClassifier(),
    "pairs": rl.PLQClassifier(multi_class="ovo", class_weight="balanced"),
    "squares": rl.PLQClassifier(loss="squared_error", class_weight={"low": 2.0}),
    "search": rl.PLQClassifierCV(Cs=3, cv=3),
}
REGRESSORS: dict[str, Any] = {
    "huber": rl.PLQRegressor(loss="huber"),
    "outputs": rl.PLQRegressor(),
    "search": rl.PLQRegressorCV(Cs=3, cv=3),
    "quantile": rl.QuantileRegressor(alpha=0.0),
    "quantiles": rl.QuantileRegressor(quantile=[0.9, 0.1], alpha=0.01),
    "not crossing": rl.QuantileRegressor(quantile=[0.9, 0.1, 0.5], alpha=0.01, non_crossing=True),
    "shared slopes": rl.QuantileRegressor(quantile=[0.1, 0.9], alpha=0.01, shared_slopes=True),
    "quantile search": rl.QuantileRegressorCV(quantile=[0.2, 0.8], alphas=3, cv=3),
}


def units(model: Any, X: Any, y: Any, weight: Any) -> list[float]:
    """Return the objectives of the problems of a fit, sums over rows."""
    problems = model.problem(X, y, weight)
    solutions = model.solution_
    if isinstance(problems, rl.Problem):
        problems, solutions = (problems,), (solutions,)
    pairs = zip(problems, solutions, strict=True)
    return [problem.objective(one.coef, one.intercept) for problem, one in pairs]


def check_file(path: Path, model: Any, y: Any, weight: Any) -> None:
    """Check the file of a fit: with its weights, none, and others."""
    wanted = units(model, X, y, weight)
    given = [(X, y)] if weight is None else [(X, y, weight)]
    found = verify.check_all(path, given)
    assert [one.objective for one in found] == pytest.approx(wanted, rel=1e-6)
    assert all(one.gap <= 1e-5 * abs(one.objective) for one in found)
    with pytest.raises(verify.Refused, match="weights of the data"):
        verify.check_all(path, [(X, y, np.arange(90.0))])
    other = np.roll(y, 1, axis=0)
    with pytest.raises(verify.Refused, match="not those of the certificate"):
        verify.check_all(path, [(X, other)])


@pytest.mark.parametrize("weight", [None, WEIGHT], ids=["", "weights"])
@pytest.mark.parametrize("name", CLASSIFIERS)
def test_classifiers(tmp_path: Path, name: str, weight: Any) -> None:
    y = np.where(Y > 0, "yes", "no") if name == "two classes" else NAMES
    model = CLASSIFIERS[name].fit(X, y, weight)
    model.save_certificate(tmp_path / "fit.rlcert", X, y, weight)
    check_file(tmp_path / "fit.rlcert", model, y, weight)
    said = verify.check_all(tmp_path / "fit.rlcert", [(X, y)])[-1].problem
    assert ("'yes'" if name == "two classes" else "'middle'") in said


@pytest.mark.parametrize("weight", [None, WEIGHT], ids=["", "weights"])
@pytest.mark.parametrize("name", REGRESSORS)
def test_regressors_also_from_a_pickle(tmp_path: Path, name: str, weight: Any) -> None:
    y = np.column_stack([Y, Y**2]) if name == "outputs" else Y
    model = REGRESSORS[name].fit(X, y, sample_weight=weight)
    for one in (model, pickle.loads(pickle.dumps(model))):
        one.save_certificate(tmp_path / "fit.rlcert", X, y, weight)
        check_file(tmp_path / "fit.rlcert", model, y, weight)


@pytest.mark.parametrize("name", ["one against the rest", "pairs", "quantiles", "not crossing"])
def test_models_on_rows_in_blocks(tmp_path: Path, name: str) -> None:
    model = (CLASSIFIERS | REGRESSORS)[name]
    y = NAMES if name in CLASSIFIERS else Y
    rows = rl.rows.from_arrays(X, y, WEIGHT, block_rows=40)
    model.fit(rows).save_certificate(tmp_path / "fit.rlcert", rows)
    found = verify.check_all(
        tmp_path / "fit.rlcert", [(X[:7], y[:7], WEIGHT[:7]), (X[7:], y[7:], WEIGHT[7:])]
    )
    assert all(one.gap <= 1e-4 * abs(one.objective) for one in found)
    assert all("weights of the data" in one.problem for one in found)
    with pytest.raises(verify.Refused):
        verify.check_all(tmp_path / "fit.rlcert", [(X, y, WEIGHT[::-1])])


def test_names_of_columns_and_target_find_them_in_a_table(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame(X, columns=["a", "b", "c"]).assign(price=Y)
    model = rl.QuantileRegressor(quantile=[0.1, 0.9], alpha=0.0)
    model.fit(frame[["a", "b", "c"]], frame["price"])
    model.save_certificate(tmp_path / "fit.rlcert", frame[["a", "b", "c"]], frame["price"])
    header = verify.read(tmp_path / "fit.rlcert")[0]
    assert header["columns"] == ["a", "b", "c"] and header["targets"] == ["price"]
    assert header["library"] == f"rectiline {rl.__version__}"
    frame[["c", "price", "a", "b"]].to_csv(tmp_path / "data.csv", index=False)
    assert verify.main([str(tmp_path / "fit.rlcert"), str(tmp_path / "data.csv")]) == 0
    # A file chooses the columns that it is about, so a reader is told which they were.
    assert "target 'price'; columns 'a', 'b', 'c'." in capsys.readouterr().out


@pytest.mark.parametrize("penalty", ["l2", None])
def test_tables_with_texts_are_checked_by_the_names_of_their_levels(
    tmp_path: Path, penalty: str | None
) -> None:
    pandas = pytest.importorskip("pandas")
    pytest.importorskip("typer")
    cli = pytest.importorskip("rectiline.cli")
    frame = pandas.DataFrame(X[:, :2], columns=["a", "b"]).assign(
        city=np.resize(["Oslo", "Rome", "Bonn, West"], 90), answer=np.where(Y > 0, "yes", "no")
    )
    table, fit = tmp_path / "data.csv", tmp_path / "fit.rlcert"
    frame[["answer", "b", "city", "a"]].to_csv(table, index=False)
    names, y = frame[["a", "b", "city"]], frame["answer"]
    model = rl.PLQClassifier("squared_hinge", penalty=penalty, categorical="onehot").fit(names, y)
    model.save_certificate(fit, names, y)
    wanted = ["city=Bonn, West", "city=Oslo", "city=Rome"][penalty is None :]
    assert verify.read(fit)[0]["columns"] == ["a", "b", *wanted]
    assert verify.main([str(fit), str(table)]) == 0
    done = subprocess.run([sys.executable, "-m", "rectiline", "verify", fit, table])
    assert cli and done.returncode == 0
    frame.assign(city=np.roll(frame["city"], 1)).to_csv(table, index=False)
    assert verify.main([str(fit), str(table)]) == 1


# A fit with the first has no file; what tasks write is in `test_tasks.py`.
WITHOUT_FILE = {"MatrixFactorization": "not convex"}
ESTIMATORS = sorted(
    name
    for name in rl.__all__
    if inspect.isclass(getattr(rl, name)) and hasattr(getattr(rl, name), "fit")
)


def test_estimators_without_a_file_say_why(tmp_path: Path) -> None:
    pairs = np.indices((9, 10)).reshape(2, -1).T
    with pytest.raises(TypeError, match=WITHOUT_FILE["MatrixFactorization"]):
        rl.MatrixFactorization().fit(pairs, Y).save_certificate(tmp_path / "fit.rlcert", pairs, Y)
    assert not (tmp_path / "fit.rlcert").exists()


@pytest.mark.filterwarnings("ignore:QuantileRegressor. the penalty of the default")
@pytest.mark.parametrize("weight", [None, WEIGHT], ids=["", "weights"])
@pytest.mark.parametrize(
    "name", [k for k in ESTIMATORS if k not in WITHOUT_FILE and "Task" not in k]
)
def test_every_estimator_writes_files_with_names_labels_and_weights(
    tmp_path: Path, name: str, weight: Any
) -> None:
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame(X, columns=["a", "b", "c"])
    y = pandas.Series(NAMES if "Classifier" in name else Y, name="price")
    model = getattr(rl, name)().fit(frame, y, sample_weight=weight)
    model.save_certificate(tmp_path / "fit.rlcert", frame, y, weight)
    header = verify.read(tmp_path / "fit.rlcert")[0]
    assert header["columns"] == ["a", "b", "c"] and header["targets"][0] == "price"
    assert header["labels"] == (["high", "low", "middle"] if "Classifier" in name else None)
    if name == "ExpectedShortfallRegressor":
        y = model.both_targets(frame, y)
    given = [(X, y)] if weight is None else [(X, y, weight)]
    found = verify.check_all(tmp_path / "fit.rlcert", given)
    assert all(one.gap <= 1e-5 * abs(one.objective) for one in found)


def test_a_verdict_names_targets_and_factors_of_labels(tmp_path: Path) -> None:
    """A file may be about one of several targets, or hardly count a class: readers must see it."""
    path, both = tmp_path / "fit.rlcert", np.column_stack([Y, Y**2])
    rl.PLQRegressor().fit(X, both).save_certificate(path, X, both)
    said = [one.problem for one in verify.check_all(path, [(X, both)])]
    assert "loss of target 1 - z" in said[0] and "loss of target 2 - z" in said[1]
    y = np.where(Y > 0, "yes", "no")
    model = rl.PLQClassifier(C=0.5, class_weight={"yes": 1e-9}).fit(X, y)
    model.save_certificate(path, X, y)
    (found,) = verify.check_all(path, [(X, y)])
    assert "'no': 0 - z times 0.5" in found.problem
    assert "'yes': 0 + z times 5e-10" in found.problem


SEARCHES: dict[str, Any] = {
    "numbers": rl.PLQRegressorCV(Cs=3, cv=3),
    "outputs": rl.PLQRegressorCV("absolute", penalty="l1", Cs=3, cv=3),
    "labels": rl.PLQClassifierCV(Cs=3, cv=3),
    "pairs": rl.PLQClassifierCV(Cs=3, cv=3, multi_class="ovo", class_weight="balanced"),
    "quantiles": rl.QuantileRegressorCV(quantile=[0.2, 0.8], alphas=3, cv=3),
    "adaptive": rl.PLQRegressorCV(
        penalty="l1", penalty_params={"weights": "adaptive"}, Cs=3, cv=GroupKFold(3)
    ),
}


@pytest.mark.parametrize("weight", [None, WEIGHT], ids=["", "weights"])
@pytest.mark.parametrize("name", SEARCHES)
def test_folds_of_a_search_are_proved(tmp_path: Path, name: str, weight: Any) -> None:
    y = NAMES if name in ("labels", "pairs") else Y
    y = np.column_stack([Y, Y**2]) if name == "outputs" else y
    params = {"groups": np.arange(90) % 9} if name == "adaptive" else {}
    model = SEARCHES[name].fit(X, y, sample_weight=weight, **params)
    model.save_certificate(tmp_path / "fit.rlcert", X, y, weight, folds=True, **params)
    given = [(X, y)] if weight is None else [(X, y, weight)]
    found = verify.check_all(tmp_path / "fit.rlcert", given)
    tasks = len(found) // 4  # the fit on all rows and three folds
    assert len(found) == 4 * tasks and tasks == len(np.atleast_2d(model.coef_))
    assert all(one.gap <= 1e-5 * one.objective for one in found)
    assert all("(60 with a weight)" in one.problem for one in found[tasks:]) or name == "pairs"
    with pytest.raises(verify.Refused, match="weights of the data"):
        verify.check_all(tmp_path / "fit.rlcert", [(X, y, np.arange(90.0))])


def test_the_folds_of_a_search_are_those_of_its_scores(tmp_path: Path) -> None:
    model = rl.PLQRegressorCV(Cs=3, cv=3, fold_tol=1e-9, scoring="neg_mean_absolute_error")
    model.fit(X, Y).save_certificate(tmp_path / "fit.rlcert", X, Y, folds=True)
    arrays = verify.read(tmp_path / "fit.rlcert")[1]
    best = int(np.argmin(model.cv_results_["rank_test_score"]))
    for k in range(3):
        held, coef = arrays[f"{k + 1}/weight"][:, 0] == 0, arrays[f"{k + 1}/coef"]
        errors = Y[held] - X[held] @ coef[:3] - coef[3]
        score = model.cv_results_[f"split{k}_test_score"][best]
        assert -np.abs(errors).mean() == pytest.approx(score, rel=1e-6)


def test_folds_of_rows_in_blocks_have_no_file(tmp_path: Path) -> None:
    rows = rl.rows.from_arrays(X, Y, block_rows=40)
    model = rl.PLQRegressorCV(Cs=3, cv=3).fit(rows)
    with pytest.raises(ValueError, match="folds=True needs arrays"):
        model.save_certificate(tmp_path / "fit.rlcert", rows, folds=True)


def test_other_files_than_those_of_one_problem_need_check_all(tmp_path: Path) -> None:
    rl.PLQClassifier().fit(X, NAMES).save_certificate(tmp_path / "fit.rlcert", X, NAMES)
    with pytest.raises(verify.CannotCheck, match="states 3 problems; use check_all"):
        verify.check(tmp_path / "fit.rlcert", [(X, NAMES)])


def test_an_unbounded_objective_is_proved_far_along_its_direction(tmp_path: Path) -> None:
    box = rl.constraints.Box([-1.0, 0.0], [1.0, np.inf])
    problem = rl.Problem(
        X[:, :2], Y, "absolute", None, box, fit_intercept=False, linear=[0.0, -1e3]
    )
    solution = rl.solve(problem)
    assert solution.status == "unbounded"
    solution.save(tmp_path / "fit.rlcert")
    rows = [(np.vstack([X[:, :2], [[0.0, -1e3]]]), np.append(Y, 0.0))]
    for exact in (False, True):
        (found,) = verify.check_all(tmp_path / "fit.rlcert", rows, exact)
        assert found.kind == "unbounded" and found.objective < -1e9
        assert "far along its direction the objective is -" in verify.sentence(found)


def test_a_pickled_solution_says_what_to_do(tmp_path: Path) -> None:
    model = pickle.loads(pickle.dumps(rl.PLQRegressor().fit(X, Y)))
    with pytest.raises(ValueError, match=r"model\.save_certificate\(path, X, y\)"):
        model.solution_.save(tmp_path / "fit.rlcert", model.problem(X, Y))
