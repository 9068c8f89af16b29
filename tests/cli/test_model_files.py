"""Model files of the command that somebody has changed: an error says what is wrong."""

import json

import numpy as np
import pytest

from rectiline.cli import main as run
from rectiline.cli._model import Model

GOOD = {
    "format": "rectiline-model",
    "version": 2,
    "names": ["a", "b"],
    "coef": [[1.0, -2.5]],
    "intercept": [0.5],
    "classes": ["no", "yes"],
    "terms": {"loss": "hinge"},
    "result": {},
}
ODD = [None, True, 7, -1.5, "text", [], [None], ["a", 1], [[1.0]], {}, {"a": 1}, 10**400]


def loaded(tmp_path, content):
    path = tmp_path / "model.json"
    path.write_text(content if isinstance(content, str) else json.dumps(content), "utf-8")
    return Model.load(path)


def test_a_good_file_is_read(tmp_path):
    assert loaded(tmp_path, GOOD).coef == [[1.0, -2.5]]


@pytest.mark.parametrize("name", GOOD)
def test_parts_that_are_missing_or_odd_are_named(tmp_path, name):
    without = {key: value for key, value in GOOD.items() if key != name}
    if name != "result":
        with pytest.raises(ValueError, match=r"model\.json: "):
            loaded(tmp_path, without)
    for odd in ODD:
        try:
            model = loaded(tmp_path, {**GOOD, name: odd})
        except ValueError as error:
            assert "model.json: " in str(error)
        else:
            X = np.array([[1.0, 2.0], [0.0, 1.0]])
            assert len(model.estimator().predict(X)) == 2


@pytest.mark.parametrize(
    "name", ["loss", "penalty", "target", "C", "tol", "constraints", "features", "encoding"]
)
def test_odd_terms_are_named_by_every_command(tmp_path, name, capsys):
    (tmp_path / "data.csv").write_text("a,b,y\n1,2,no\n0,1,yes\n2,2,no\n3,1,yes\n")
    for odd in ODD:
        content = {**GOOD, "terms": {"target": "y", "loss": "hinge", name: odd}}
        (tmp_path / "model.json").write_text(json.dumps(content), "utf-8")
        for command in ("predict", "verify"):
            code = run([command, str(tmp_path / "model.json"), str(tmp_path / "data.csv")])
            said = capsys.readouterr().err
            assert code in (0, 1) or (code == 2 and said.count("\n") == 1)


def test_what_is_proved_is_what_a_fit_counts_as_solved(tmp_path, capsys):
    data, model = str(tmp_path / "data.csv"), tmp_path / "model.json"
    (tmp_path / "data.csv").write_text("a,b,y\n" + "1,1,1\n" * 20)  # the optimum is zero
    assert run(["fit", data, "-o", str(model)]) == run(["verify", str(model), data]) == 0
    (tmp_path / "data.csv").write_text("a,b,y\n" + "".join(f"{k},{-k},{k}\n" for k in range(20)))
    assert run(["fit", data, "--constraint", "a <= 0.25", "-o", str(model)]) == 0
    changed = json.loads(model.read_text())
    changed["coef"][0][0] = 0.5  # better than all that the constraint allows
    model.write_text(json.dumps(changed))
    assert run(["verify", str(model), data]) == 1
    assert "The claim does not hold" in capsys.readouterr().out


def test_a_time_limit_that_is_too_short_is_one_line(tmp_path, capsys):
    lines = [f"{k % 7},{k % 5},{k}" for k in range(2000)]
    (tmp_path / "data.csv").write_text("\n".join(["a,b,y", *lines, ""]))
    assert run(["fit", str(tmp_path / "data.csv"), "--time-limit", "1e-9"]) == 2
    assert capsys.readouterr().err.startswith("rectiline: time_limit=1e-09: the time was up")


def test_only_files_that_name_their_target_are_proved(tmp_path, capsys):
    (tmp_path / "data.csv").write_text("a,b,y\n1,2,no\n0,1,yes\n")
    (tmp_path / "model.json").write_text(json.dumps(GOOD), "utf-8")
    for command in (["verify"], ["report", "-o", str(tmp_path / "page.html")]):
        name, *options = command
        files = [str(tmp_path / "model.json"), str(tmp_path / "data.csv")]
        assert run([name, *files, *options]) == 2
        assert "does not say which column is the target" in capsys.readouterr().err


@pytest.mark.parametrize("text", ["", "[", "[" * 100_000, "NaN", '{"format": 1}', "9" * 5000])
def test_text_that_is_no_model(tmp_path, text):
    with pytest.raises(ValueError, match="not a model file"):
        loaded(tmp_path, text)


def test_a_folder_is_no_model(tmp_path):
    with pytest.raises(ValueError, match="cannot be read"):
        Model.load(tmp_path)
