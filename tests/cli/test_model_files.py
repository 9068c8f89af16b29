"""Model files of the command that somebody has changed: an error says what is wrong."""

import json

import numpy as np
import pytest

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


@pytest.mark.parametrize("text", ["", "[", "[" * 100_000, "NaN", '{"format": 1}', "9" * 5000])
def test_text_that_is_no_model(tmp_path, text):
    with pytest.raises(ValueError, match="not a model file"):
        loaded(tmp_path, text)


def test_a_folder_is_no_model(tmp_path):
    with pytest.raises(ValueError, match="cannot be read"):
        Model.load(tmp_path)
