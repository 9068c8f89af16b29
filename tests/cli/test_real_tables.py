"""Tables as people have them: text, missing cells, three classes, separators, compression."""

from __future__ import annotations

import gzip
import io
import json
import subprocess
import sys
from datetime import date, timedelta
from decimal import Decimal
from pathlib import Path

import numpy as np
import pytest
from sklearn.svm import SVC

import rectiline as rl
from rectiline.cli import load_model, save_model

from .test_cli import rectiline

HIDE = """
import sys
hidden = sys.argv.pop(1).split(",")
class Hidden:
    def find_spec(name, *_):
        if name in hidden:
            raise ModuleNotFoundError(name, name=name)
sys.meta_path.insert(0, Hidden)
from rectiline.cli import main
sys.exit(main(sys.argv[1:]))
"""


def penguins(n: int = 240) -> str:
    """Return a table with a text column, a category, missing cells and three classes."""
    rng = np.random.default_rng(7)
    species = rng.choice(["Adelie", "Chinstrap", "Gentoo"], n)
    centre = {"Adelie": (39, 190, 3700), "Chinstrap": (49, 196, 3730), "Gentoo": (47, 217, 5080)}
    lines = ["island,bill,flipper,mass,sex,species"]
    for k, one in enumerate(species):
        island = {"Adelie": "Dream", "Chinstrap": "Dream", "Gentoo": "Biscoe"}[one]
        bill, flipper, mass = np.array(centre[one]) + rng.normal(size=3) * (2.5, 6, 350)
        sex = rng.choice(["male", "female"])
        cells = [island, f"{bill:.1f}", f"{flipper:.0f}", f"{mass:.0f}", sex, one]
        if k % 40 == 3:
            cells[4] = "NA"
        if k % 60 == 5:
            cells[1] = ""
        lines.append(",".join(cells))
    return "\n".join(lines) + "\n"


@pytest.fixture
def table(tmp_path: Path) -> Path:
    path = tmp_path / "penguins.csv"
    path.write_text(penguins(), "utf-8")
    return path


def hiding(modules: str, *arguments: object) -> subprocess.CompletedProcess[str]:
    """Run the command in a process in which some libraries do not exist."""
    command = [sys.executable, "-c", HIDE, modules, *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True)


def with_the_extra_alone(*arguments: object) -> subprocess.CompletedProcess[str]:
    return hiding("pandas,polars", *arguments)


@pytest.mark.parametrize("run", [rectiline, with_the_extra_alone], ids=["all", "extra alone"])
def test_a_stranger_needs_two_commands(table: Path, run) -> None:
    model = table.with_name("model.json")
    done = run("fit", table, "--target", "species", "--missing", "drop", "-o", model)
    assert (done.returncode, done.stderr) == (0, "")
    first, second, third, fourth, titles, *coef = done.stdout.splitlines()
    assert "230 rows (10 dropped), 7 features; target species: Adelie, Chinstrap, Gentoo" in first
    assert second.startswith("solved: 3 problems, the largest relative gap")
    assert third.startswith("accuracy 0.9") and "the most frequent class alone: 0.3" in third
    assert " s with " in fourth and titles.split() == ["Adelie", "Chinstrap", "Gentoo"]
    assert [line.split()[0] for line in coef[:3]] == ["intercept", "island=Biscoe", "island=Dream"]
    done = run("verify", model, table)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith("The claim holds: 3 problems, the largest relative gap")
    assert f"\n{third}\n" in done.stdout


def test_a_library_that_the_command_needs_is_named(table: Path) -> None:
    done = hiding("pyarrow", "fit", table)
    assert (done.returncode, done.stdout) == (2, "")
    assert "needs pyarrow" in done.stderr and 'the extra "cli"' in done.stderr


def test_types_of_arrow_become_numbers_and_levels(tmp_path: Path) -> None:
    pa = pytest.importorskip("pyarrow")
    import pyarrow.parquet as pq

    n, rng = 60, np.random.default_rng(2)
    kind = np.array(["a", "b", "c"])[rng.integers(3, size=n)]
    kinds = [None if k == 7 else one for k, one in enumerate(kind)]
    price = [Decimal(int(v)) / 100 for v in rng.integers(1000, size=n)]
    columns = {
        "kind": pa.chunked_array([pa.array(kinds[:30]), pa.array(kinds[30:])]).dictionary_encode(),
        "price": pa.array(price, pa.decimal128(8, 2)),
        "day": pa.array([date(2020, 1, 1) + timedelta(k) for k in range(n)]),
        "late": pa.array(rng.random(n) < 0.5),
        "y": pa.array(rng.standard_normal(n)),
    }
    pq.write_table(pa.table(columns), tmp_path / "a.parquet")
    options = ("--missing", "drop", "--json", "-o", tmp_path / "m.json")
    found = json.loads(rectiline("fit", tmp_path / "a.parquet", *options).stdout)
    assert list(found["coef"]) == ["kind=a", "kind=b", "kind=c", "price", "day", "late"]
    assert found["rows"] == n - 1
    kept = np.arange(n) != 7
    days = 18262.0 + np.arange(n)  # from the first day of 1970 to the first day of 2020
    plain = [kind == "a", kind == "b", kind == "c", np.array(price, float), days, columns["late"]]
    X = np.column_stack([np.asarray(one, dtype=float) for one in plain])[kept]
    expected = X @ list(found["coef"].values()) + found["intercept"]
    lines = rectiline("predict", tmp_path / "m.json", tmp_path / "a.parquet").stdout.splitlines()
    np.testing.assert_allclose([float(v) for v in lines[1:] if v != '""'], expected, rtol=1e-9)


def test_missing_cells_are_named(table: Path) -> None:
    done = rectiline("fit", table, "--target", "species")
    assert done.returncode == 2
    assert "column 'bill', data row 6 is missing" in done.stderr
    assert "--missing drop" in done.stderr


def test_predictions_of_dropped_rows_are_empty_and_levels_must_be_known(table: Path) -> None:
    model, out = table.with_name("model.json"), table.with_name("out.csv")
    rectiline("fit", table, "--target", "species", "--missing", "drop", "-o", model)
    assert rectiline("predict", model, table, "-o", out).returncode == 0
    lines = out.read_text().splitlines()
    assert lines[0] == "prediction,decision Adelie,decision Chinstrap,decision Gentoo"
    assert len(lines) == 241 and sum(line == ",,," for line in lines) == 10
    printed = rectiline("predict", model, table)
    assert printed.stdout.splitlines() == lines
    table.write_text(penguins().replace("Biscoe", "Java", 1), "utf-8")
    done = rectiline("predict", model, table)
    assert done.returncode == 2
    assert "column 'island' holds 'Java' in row" in done.stderr


def test_columns_are_chosen_by_name(table: Path) -> None:
    common = ("fit", table, "--target", "species", "--json")
    some = json.loads(rectiline(*common, "--features", "flipper,mass").stdout)
    assert np.shape(some["coef"]) == (3, 2)
    rest = json.loads(rectiline(*common, "--drop", "bill,sex,island").stdout)
    assert rest["coef"] == some["coef"]
    coded = json.loads(
        rectiline(*common, "--features", "flipper", "--categorical", "flipper").stdout
    )
    assert np.shape(coded["coef"])[1] > 20
    wrong = rectiline(*common, "--features", "fliper")
    assert wrong.returncode == 2 and "no column 'fliper'" in wrong.stderr


def numbers(n: int = 60) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(1)
    X = rng.standard_normal((n, 3))
    return X, X @ [1.0, -2.0, 0.5] + 0.1 * rng.standard_normal(n)


def csv_text(X: np.ndarray, y: np.ndarray, separator: str = ",") -> str:
    rows = [separator.join(["a", "b", "c", "y"])]
    rows += [separator.join(repr(float(v)) for v in (*x, t)) for x, t in zip(X, y)]
    return "\n".join(rows) + "\n"


def test_defaults_are_those_of_the_estimators(tmp_path: Path) -> None:
    X, y = numbers()
    (tmp_path / "data.csv").write_text(csv_text(X, y))
    found = json.loads(rectiline("fit", tmp_path / "data.csv", "--json").stdout)
    model = rl.PLQRegressor().fit(X, y)
    np.testing.assert_array_equal(list(found["coef"].values()), model.coef_)
    assert found["score"] == model.score(X, y) and found["rows"] == 60
    labels = np.where(y > 0, 1, 0)
    (tmp_path / "labels.csv").write_text(csv_text(X, labels))
    found = json.loads(rectiline("fit", tmp_path / "labels.csv", "--json").stdout)
    svm = SVC(kernel="linear", C=1.0, tol=1e-8).fit(X, labels)
    expected = rl.PLQClassifier().fit(X, labels)
    np.testing.assert_array_equal(list(found["coef"].values()), expected.coef_[0])
    np.testing.assert_allclose(svm.coef_, expected.coef_, rtol=1e-3)
    ridge, l2 = (
        json.loads(rectiline("fit", tmp_path / "data.csv", "--penalty", one, "--json").stdout)
        for one in ("ridge:2", "l2:2")
    )
    assert ridge["coef"] == l2["coef"]


def test_separators_compression_encoding_and_pipes(tmp_path: Path, monkeypatch) -> None:
    X, y = numbers()
    text = csv_text(X, y)
    (tmp_path / "a.csv").write_text(text)
    expected = json.loads(rectiline("fit", tmp_path / "a.csv", "--json").stdout)["coef"]
    for separator in ";\t|":
        (tmp_path / "b.csv").write_text(csv_text(X, y, separator))
        assert json.loads(rectiline("fit", tmp_path / "b.csv", "--json").stdout)["coef"] == expected
    (tmp_path / "c.csv.gz").write_bytes(gzip.compress(text.encode()))
    assert json.loads(rectiline("fit", tmp_path / "c.csv.gz", "--json").stdout)["coef"] == expected
    (tmp_path / "d.csv").write_bytes(text.replace("a,b", "größe,b").encode("latin-1"))
    refused = rectiline("fit", tmp_path / "d.csv")
    assert refused.returncode == 2 and "--encoding latin-1" in refused.stderr
    read = rectiline("fit", tmp_path / "d.csv", "--encoding", "latin-1", "--json")
    assert list(json.loads(read.stdout)["coef"]) == ["größe", "b", "c"]
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(text.encode())))
    model = rectiline("fit", "-", "-o", "-")
    assert json.loads(model.stdout)["names"] == ["a", "b", "c"]
    assert "R2 0.9" in model.stderr


def test_what_is_refused_is_refused_before_the_fit(tmp_path: Path) -> None:
    X, y = numbers()
    (tmp_path / "twins.csv").write_text(csv_text(X, y).replace("a,b,c", "a,b,a", 1))
    done = rectiline("fit", tmp_path / "twins.csv")
    assert done.returncode == 2 and "2 columns are called 'a'" in done.stderr
    (tmp_path / "data.csv").write_text(csv_text(X, y))
    for option in ("-o", "--certificate"):
        done = rectiline("fit", tmp_path / "data.csv", option, tmp_path / "none" / "file")
        assert done.returncode == 2 and "no file can be written there" in done.stderr
    ids = csv_text(X, y).replace("a,", "name,", 1)
    lines = [f"p{k},{line.partition(',')[2]}" for k, line in enumerate(ids.splitlines() * 3)]
    (tmp_path / "ids.csv").write_text("\n".join([ids.splitlines()[0], *lines[1:60], *lines[62:]]))
    done = rectiline("fit", tmp_path / "ids.csv")
    assert done.returncode == 2 and "--drop name" in done.stderr
    assert rectiline("--version").stdout == f"rectiline {rl.__version__}\n"


def test_data_that_cannot_be_read_are_no_verdict(table: Path, tmp_path: Path) -> None:
    model = tmp_path / "model.json"
    rectiline("fit", table, "--target", "species", "--missing", "drop", "-o", model)
    for data in (tmp_path, tmp_path / "no.csv", model):
        assert rectiline("verify", model, data).returncode == 2
    changed = penguins().replace("Adelie\n", "Gentoo\n", 30)
    table.write_text(changed, "utf-8")
    done = rectiline("verify", model, table)
    assert done.returncode == 1 and done.stdout.startswith("The claim does not hold")


def test_a_certificate_of_encoded_columns_is_checked_without_the_model(table: Path) -> None:
    two = table.read_text("utf-8").replace("Chinstrap", "Adelie")
    table.write_text(two, "utf-8")
    cert = table.with_name("fit.rlcert")
    options = ("--target", "species", "--missing", "drop")
    done = rectiline("fit", table, *options, "--certificate", cert)
    assert done.returncode == 0, done.stderr
    done = rectiline("verify", cert, table, *options)
    assert done.returncode == 0 and done.stdout.startswith("The claim holds: the objective")
    table.write_text(two.replace("Biscoe", "Dream", 1), "utf-8")
    assert rectiline("verify", cert, table, *options).returncode == 1


def test_models_go_to_python_and_back(table: Path, tmp_path: Path) -> None:
    pandas = pytest.importorskip("pandas")
    model, again = tmp_path / "model.json", tmp_path / "again.json"
    options = ("--target", "species", "--missing", "drop", "--penalty", "none")
    rectiline("fit", table, *options, "-o", model)
    loaded = load_model(model)
    save_model(again, loaded, target="species")
    frame = pandas.read_csv(table).dropna()
    named = loaded.predict(frame.drop(columns="species")).tolist()
    frame.to_csv(table, index=False)
    for path in (model, again):
        lines = rectiline("predict", path, table).stdout.splitlines()
        assert [line.split(",")[0] for line in lines[1:]] == named
    assert rectiline("verify", model, table).returncode == 0
    refused = rectiline("verify", again, table)
    assert refused.returncode == 2 and "only fits of the command are proved" in refused.stderr


def test_a_model_file_of_version_1_still_predicts(tmp_path: Path) -> None:
    old = {
        "format": "rectiline-model", "version": 1, "names": ["a", "b"], "coef": [1.0, -2.0],
        "intercept": 0.5, "of": "margin", "labels": ["no", "yes"], "terms": {"loss": "hinge"},
    }  # fmt: skip
    (tmp_path / "old.json").write_text(json.dumps(old))
    (tmp_path / "data.csv").write_text("a,b\n1,0\n0,1\n")
    done = rectiline("predict", tmp_path / "old.json", tmp_path / "data.csv")
    assert done.stdout == "prediction,decision\nyes,1.5\nno,-1.5\n"
