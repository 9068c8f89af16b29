"""The command, on real files."""

from __future__ import annotations

import contextlib
import io
import json
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pytest
from scipy.optimize import linprog
from sklearn.datasets import dump_svmlight_file, load_diabetes

import rectiline as rl
from rectiline import PLQRegressor
from rectiline.cli import load_model, main, save_model

pytest.importorskip("typer")
pandas = pytest.importorskip("pandas")


class Done(NamedTuple):
    returncode: int
    stdout: str
    stderr: str


def rectiline(*arguments: object) -> Done:
    """Run the command in this process; `test_in_a_process_of_its_own` starts one."""
    out, err = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        code = main([str(one) for one in arguments])
    return Done(code, out.getvalue(), err.getvalue())


def test_in_a_process_of_its_own(folder: Path) -> None:
    command = [sys.executable, "-m", "rectiline", "fit", str(folder / "diabetes.csv"), "--json"]
    done = subprocess.run(command, capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")
    assert json.loads(done.stdout)["status"] == "solved"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("tables")
    X, y = load_diabetes(return_X_y=True, as_frame=True)
    frame = X.assign(y=y)
    frame.to_csv(path / "diabetes.csv", index=False)
    frame.to_parquet(path / "diabetes.parquet")
    np.savez(path / "diabetes.npz", X=X.to_numpy(), y=y.to_numpy())
    dump_svmlight_file(X.to_numpy(), y.to_numpy(), str(path / "diabetes.svmlight"))
    frame.assign(y=np.where(y > 150, "high", "low")).to_csv(path / "labels.csv", index=False)
    return path


def test_fit_predict_verify(folder: Path, tmp_path: Path) -> None:
    done = rectiline(
        "fit", folder / "diabetes.csv", "--target", "y", "--loss", "pinball:0.9",
        "--penalty", "l1:0.01", "--constraint", "bmi>=0", "--constraint", "s1 + s2 <= 0",
        "--tol", "1e-6", "-o", tmp_path / "model.json",
        "--certificate", tmp_path / "fit.rlcert", "--json",
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    result = json.loads(done.stdout)
    assert result["status"] == "solved"
    assert result["relative_gap"] <= 1e-6
    assert result["violation"] <= 1e-9
    assert result["objective"] == pytest.approx(_quantile_by_highs(), rel=1e-5)
    written = json.loads((tmp_path / "model.json").read_text("utf-8"))
    assert written["library"] == f"rectiline {rl.__version__}"

    done = rectiline(
        "predict", tmp_path / "model.json", folder / "diabetes.parquet", "-o", tmp_path / "out.csv"
    )
    assert done.returncode == 0, done.stderr
    X = load_diabetes(as_frame=True).data
    predicted = pandas.read_csv(tmp_path / "out.csv")["prediction"]
    expected = X.to_numpy() @ [result["coef"][name] for name in X.columns] + result["intercept"]
    np.testing.assert_allclose(predicted, expected, rtol=1e-12)

    for table in ("diabetes.csv", "diabetes.parquet"):
        done = rectiline("verify", tmp_path / "fit.rlcert", folder / table, "--target", "y")
        assert (done.returncode, done.stderr) == (0, "")
        assert done.stdout.startswith("The claim holds: the objective")
    changed = pandas.read_csv(folder / "diabetes.csv")
    changed.loc[3, "bmi"] += 1e-6
    changed.to_csv(tmp_path / "changed.csv", index=False)
    done = rectiline("verify", tmp_path / "fit.rlcert", tmp_path / "changed.csv")
    assert done.returncode == 1
    assert done.stdout == "The claim does not hold: the data are not those of the certificate.\n"


def _quantile_by_highs() -> float:
    """Return the optimum of the constrained quantile regression above, as a linear program."""
    data = load_diabetes(as_frame=True)
    X, y, names = data.data.to_numpy(), data.target.to_numpy(), list(data.data.columns)
    n, d = X.shape
    cost = np.concatenate([np.full(2 * d, 0.01), [0.0], np.full(n, 0.9), np.full(n, 0.1)])
    equal = np.hstack([X, -X, np.ones((n, 1)), np.eye(n), -np.eye(n)])
    less = np.zeros((2, cost.size))
    j, k, m = (names.index(name) for name in ("bmi", "s1", "s2"))
    less[0, [j, d + j]] = -1.0, 1.0
    less[1, [k, m, d + k, d + m]] = 1.0, 1.0, -1.0, -1.0
    bounds = [(0, None)] * (2 * d) + [(None, None)] + [(0, None)] * (2 * n)
    return float(linprog(cost, less, [0, 0], equal, y, bounds).fun)


@pytest.mark.parametrize("name", ["diabetes.npz", "diabetes.svmlight", "diabetes.parquet"])
def test_formats_give_one_answer(folder: Path, name: str) -> None:
    found = [
        json.loads(rectiline("fit", folder / table, "--loss", "huber:20", "--json").stdout)
        for table in ("diabetes.csv", name)
    ]
    assert found[0]["objective"] == pytest.approx(found[1]["objective"], rel=1e-6)


def test_labels(folder: Path, tmp_path: Path) -> None:
    model, cert = tmp_path / "model.json", tmp_path / "fit.rlcert"
    done = rectiline(
        "fit", folder / "labels.csv", "--loss", "hinge", "-o", model, "--certificate", cert
    )
    assert done.returncode == 0, done.stderr
    assert "relative gap" in done.stdout
    rectiline("predict", model, folder / "labels.csv", "-o", tmp_path / "out.csv")
    predicted = pandas.read_csv(tmp_path / "out.csv")
    truth = pandas.read_csv(folder / "labels.csv")["y"]
    assert (predicted["prediction"] == truth).mean() > 0.7
    assert rectiline("verify", cert, folder / "labels.csv").returncode == 0


WRONG = [
    (["fit", "missing.csv"], "there is no such file"),
    (["fit", "{csv}", "--target", "z"], "no column 'z'"),
    (["fit", "{csv}", "--loss", "hing"], "hinge"),
    (["fit", "{csv}", "--loss", "pinball:1.5"], "strictly between 0 and 1"),
    (["fit", "{csv}", "--loss", "pinball:x"], "are not numbers"),
    (["fit", "{csv}", "--penalty", "lasso:1"], "l1:STRENGTH"),
    (["fit", "{csv}", "--penalty", "l1"], "write l1:STRENGTH"),
    (["fit", "{csv}", "--constraint", "weight>=0"], "no column 'weight'"),
    (["fit", "{csv}", "--constraint", "bmi*age>=0"], "not a linear expression"),
    (["fit", "{csv}", "--tol", "-1"], "tol"),
    (["fit", "{csv}", "--no-such-option"], "no-such-option"),
    (["fit", "{csv}", "--loss", "hinge"], "distinct labels"),
    (["fit"], "Missing argument"),
    (["predict", "{csv}", "{csv}", "-o", "out.csv"], "not a model file"),
    (["verify", "missing.rlcert", "{csv}"], "there is no such file"),
    (["nothing"], "nothing"),
]


@pytest.mark.parametrize(("arguments", "message"), WRONG, ids=lambda one: str(one)[:40])
def test_wrong_use_is_one_line(folder: Path, arguments: list[str], message: str) -> None:
    filled = [one.format(csv=folder / "diabetes.csv") for one in arguments]
    done = rectiline(*filled)
    assert done.returncode == 2
    assert message in done.stderr
    assert done.stderr.count("\n") == 1, done.stderr
    assert done.stdout == ""


def test_an_infeasible_problem_is_said_and_saved(folder: Path, tmp_path: Path) -> None:
    done = rectiline(
        "fit", folder / "diabetes.csv", "--constraint", "bmi>=1", "--constraint", "bmi + age <= 0",
        "--constraint", "age>=0", "--json", "--certificate", tmp_path / "no.rlcert",
    )  # fmt: skip
    assert done.returncode == 1
    assert json.loads(done.stdout)["status"] == "infeasible"
    done = rectiline("verify", tmp_path / "no.rlcert")
    said = "The claim holds: no coefficients satisfy the constraints. Problem: bounds on "
    assert done.stdout.startswith(said) and done.stdout.endswith(" linear constraints.\n")


def test_help_names_the_four_commands() -> None:
    done = rectiline("--help")
    assert done.returncode == 0
    for name in ("fit", "predict", "verify", "report"):
        assert f" {name} " in done.stdout


def test_parquet_has_labels_and_its_errors_name_the_file(folder: Path, tmp_path: Path) -> None:
    table, cert = tmp_path / "labels.parquet", tmp_path / "fit.rlcert"
    pandas.read_csv(folder / "labels.csv").to_parquet(table, row_group_size=100)
    done = rectiline("fit", table, "--loss", "hinge", "--certificate", cert, "--json")
    assert json.loads(done.stdout)["status"] == "solved"
    assert rectiline("verify", cert, table).returncode == 0
    missing = rectiline("fit", table, "--target", "nobody")
    assert missing.returncode == 2 and "labels.parquet" in missing.stderr
    assert "'nobody'" in missing.stderr
    holes = pandas.read_parquet(table)
    holes.loc[7, "bmi"] = None
    holes.to_parquet(table)
    broken = rectiline("fit", table, "--loss", "hinge")
    assert broken.returncode == 2 and "labels.parquet" in broken.stderr
    assert "bmi" in broken.stderr and broken.stderr.count("\n") == 1


def test_threads_of_arrow_hold_no_object_of_python(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One that lets go of a file object while Python ends aborts the process (exit code 134)."""
    pyarrow = pytest.importorskip("pyarrow")
    table = pytest.importorskip("rectiline.cli._table")
    given: list[object] = []

    def read(source: object, *options: object) -> object:
        given.append(source)
        return original(source, *options)

    original = table.arrow_csv.read_csv
    monkeypatch.setattr(table.arrow_csv, "read_csv", read)
    table.read_table(next(folder.glob("*.csv")), table.Asked("y"))
    assert [type(source) for source in given] == [pyarrow.BufferReader]


@pytest.mark.parametrize("ending", ["csv", "parquet"])
def test_names_of_columns_may_hold_an_equals_sign(tmp_path: Path, ending: str) -> None:
    rng = np.random.default_rng(0)
    frame = pandas.DataFrame(rng.normal(size=(60, 3)), columns=["a", "a=b", "c=d=e"])
    frame["city"] = rng.choice(["Rome", "x=y"], 60)
    frame["is=in"] = rng.choice(["u", "v"], 60)
    frame["y"] = 2 * frame["a=b"] - frame["c=d=e"] + (frame["city"] == "Rome") + frame["a"]
    data, model, claim = (tmp_path / name for name in (f"data.{ending}", "m.json", "claim.npz"))
    frame.to_csv(data, index=False) if ending == "csv" else frame.to_parquet(data)
    assert rectiline("fit", data, "-o", model, "--certificate", claim).returncode == 0
    names = ["a", "a=b", "c=d=e", "city=Rome", "city=x=y", "is=in=u", "is=in=v"]
    assert json.loads(model.read_text())["names"] == names
    done = rectiline("predict", model, data)
    assert (done.returncode, done.stderr) == (0, "")
    found = np.array(done.stdout.split()[1:], dtype=float)
    np.testing.assert_allclose(found, load_model(model).predict(frame.drop(columns="y")))
    assert np.corrcoef(found, frame["y"])[0, 1] > 0.99
    for proof in (claim, model):
        assert rectiline("verify", proof, data).returncode == 0
    assert rectiline("report", model, data, "-o", tmp_path / "page.html").returncode == 0


def test_models_of_python_keep_an_equals_sign_in_names(tmp_path: Path) -> None:
    frame = pandas.DataFrame({"a": [0.0, 1.0, 2.0, 3.0], "a=b": [1.0, 0.0, 0.0, 1.0]})
    model = PLQRegressor("absolute", C=1.0).fit(frame, [0.0, 1.0, 2.0, 4.0])
    save_model(tmp_path / "m.json", model)
    np.testing.assert_array_equal(
        load_model(tmp_path / "m.json").predict(frame), model.predict(frame)
    )


def test_a_column_called_like_a_level_of_another_is_refused(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text("a,a=b,y\nb,1,0\nc,2,1\nb,3,0\nc,5,1\n")
    done = rectiline("fit", tmp_path / "t.csv")
    assert done.returncode == 2
    assert "'a=b' would be a level of column 'a' and a column 'a=b'; rename" in done.stderr
