"""What fits give back: tables with names, certificates in words, diagrams, and types."""

from __future__ import annotations

import sys
from typing import Any, Self, get_type_hints

import numpy as np
import pytest
from numpy.typing import NDArray
from sklearn.datasets import load_diabetes, load_iris
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils import estimator_html_repr

import rectiline as rl
from rectiline.estimators import (
    PLQClassifier,
    PLQClassifierCV,
    PLQRegressor,
    PLQRegressorCV,
    QuantileRegressor,
)
from rectiline.estimators.multitask import MultiTaskRegressor

X, Y = load_diabetes(return_X_y=True, as_frame=True)
IRIS = load_iris(return_X_y=True)


def test_coefficients_come_with_names():
    model = PLQRegressor("absolute").fit(X, Y)
    frame = model.coef_frame()
    assert list(frame.index) == [*X.columns, "(intercept)"] and list(frame) == ["coef"]
    assert frame.loc["bmi", "coef"] == model.coef_[2]
    assert frame.loc["(intercept)", "coef"] == model.intercept_


@pytest.mark.parametrize(
    ("model", "data", "titles"),
    [
        (PLQClassifier(), IRIS, [0, 1, 2]),
        (PLQClassifier(multi_class="ovo"), IRIS, ["0 vs 1", "0 vs 2", "1 vs 2"]),
        (PLQClassifier(), (IRIS[0], IRIS[1] > 0), ["coef"]),
        (QuantileRegressor(quantile=[0.2, 0.8], alpha=0.1), (X, Y), [0.2, 0.8]),
        (QuantileRegressor(quantile=[0.2], alpha=0.1), (X, Y), [0.2]),
        (PLQRegressor("squared_error"), (X, np.c_[Y, -Y]), [0, 1]),
        (MultiTaskRegressor(), (X, np.c_[Y, -Y]), [0, 1]),
    ],
)
def test_several_problems_are_columns(model, data, titles):
    frame = model.fit(*data).coef_frame()
    assert list(frame) == titles
    np.testing.assert_array_equal(frame.to_numpy()[:-1].T, np.atleast_2d(model.coef_))
    np.testing.assert_array_equal(frame.loc["(intercept)"], np.atleast_1d(model.intercept_))


def test_solutions_have_a_table():
    problem = rl.Problem(X.to_numpy(), Y, rl.losses.Absolute())
    solution = rl.solve(problem)
    assert list(solution.to_frame().index) == [*range(10), "(intercept)"]
    assert solution.to_frame(X.columns).loc["s5", "coef"] == solution.coef[8]
    with pytest.raises(ValueError, match="2 names for 10 coefficients"):
        solution.to_frame(["a", "b"])


def test_tables_say_what_to_install(monkeypatch):
    model = PLQRegressor("squared_error").fit(X, Y)
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(ImportError, match=r"PLQRegressor.coef_frame .* pip install pandas"):
        model.coef_frame()


@pytest.mark.parametrize(
    ("cv", "plain"), [(PLQClassifierCV, PLQClassifier), (PLQRegressorCV, PLQRegressor)]
)
def test_the_loss_comes_first(cv, plain):
    assert cv("squared_error").loss == plain("squared_error").loss == "squared_error"
    with pytest.raises(TypeError, match="positional"):
        cv("squared_error", 5)


def test_the_proof_shows_inside_a_pipeline():
    steps = make_pipeline(StandardScaler(), PLQRegressor())
    assert "relative gap" not in estimator_html_repr(steps)
    steps.fit(X, Y)
    gap = steps[-1].certificate_.relative_gap
    assert f"solved, relative gap {gap:.1e}" in estimator_html_repr(steps)
    several = make_pipeline(StandardScaler(), PLQClassifier()).fit(*IRIS)
    worst = max(proof.relative_gap for proof in several[-1].certificate_)
    assert f"solved, relative gap {worst:.1e}" in estimator_html_repr(several)


def test_the_diagram_of_a_multi_task_model_has_a_table():
    model = MultiTaskRegressor().fit(X, np.c_[Y, -Y])
    assert model.status_ == "solved"
    assert "rectiline-certificate" in model._repr_html_()


def test_results_have_types():
    """mypy checks `result_types.py` as a part of `make lint`; here only that nothing is Any."""
    for kind in (PLQRegressor, PLQRegressorCV, PLQClassifier, QuantileRegressor):
        assert get_type_hints(kind)["coef_"] == NDArray[np.float64]
        assert get_type_hints(kind.fit)["return"] not in (Any, None)
        assert get_type_hints(kind.predict)["return"] != Any
    assert get_type_hints(MultiTaskRegressor.fit)["return"] is Self
