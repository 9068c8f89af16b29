"""The suites of peers: which tests of theirs run, and which classes are put in place."""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

__all__ = ["SUITES", "Suite"]

HERE = Path(__file__).parent


@dataclass(frozen=True)
class Suite:
    """Tests of an installed package or of a clone, and how our classes get into them."""

    name: str
    modules: tuple[str, ...]  # modules to import, or files of the clone
    put_in_place: Callable[[], None]
    needs: tuple[str, ...]  # packages that must be importable; none where the clone brings its own
    clone: str = ""  # owner/name of a repository, for tests that no wheel contains
    about: str = ""  # a pattern in the name or the source of the tests that are about these classes
    word_in_values: bool = False  # look for it in the values of tests with parameters


def _quantile_regressor() -> None:
    import sklearn.linear_model

    import rectiline as rl

    sklearn.linear_model.QuantileRegressor = rl.QuantileRegressor


def _support_vectors() -> None:
    import sklearn.svm
    from svm_classes import LinearSVC, LinearSVR

    sklearn.svm.LinearSVC, sklearn.svm.LinearSVR = LinearSVC, LinearSVR


def _quantreg() -> None:
    import statsmodels.regression.quantile_regression as theirs
    from quantreg_class import QuantReg

    theirs.QuantReg = QuantReg


def _rehline() -> None:
    import rehline_core

    sys.modules["rehline._internal"] = rehline_core


def _pyfixest() -> None:
    import pyfixest_solver

    pyfixest_solver.put_in_place()


def _skglm() -> None:
    import skglm_solver

    skglm_solver.put_in_place()


def _sortedl1() -> None:
    import sortedl1_solver

    sortedl1_solver.put_in_place()


_ALL = (
    Suite(
        "sklearn-quantile",
        ("sklearn.linear_model.tests.test_quantile",),
        _quantile_regressor,
        ("sklearn",),
    ),
    Suite(
        "sklearn-svm",
        ("sklearn.svm.tests.test_svm",),
        _support_vectors,
        ("sklearn",),
        about="LinearSV",
    ),
    Suite(
        "sklearn-common",
        ("sklearn.linear_model.tests.test_common",),
        _support_vectors,
        ("sklearn",),
        about="LinearSV",
        word_in_values=True,
    ),
    Suite(
        "statsmodels-quantreg",
        ("statsmodels.regression.tests.test_quantile_regression",),
        _quantreg,
        ("statsmodels",),
    ),
    Suite(
        "pyfixest-quantreg",
        ("tests/test_quantreg.py",),
        _pyfixest,
        ("pyfixest",),
        "py-econometrics/pyfixest",
    ),
    Suite(
        "skglm-estimators",
        ("skglm.tests.test_estimators",),
        _skglm,
        ("skglm",),
        about=r"\b(Lasso|wLasso|ElasticNet|SVC)\b",
        word_in_values=True,
    ),
    Suite(
        "sortedl1-slope",
        ("tests/test_basic.py", "tests/test_sklearn.py"),
        _sortedl1,
        ("sortedl1",),
        "jolars/sortedl1",
    ),
    Suite("osqp-classes", (str(HERE / "osqp_classes.py"),), lambda: None, ("cvxpy", "clarabel")),
    Suite(
        "same-problems",
        (str(HERE / "same_problems.py"),),
        lambda: None,
        ("sortedl1", "skglm"),
    ),
    Suite("rehline", ("tests",), _rehline, (), "softmin/ReHLine-python"),
)
SUITES = {one.name: one for one in _ALL}
