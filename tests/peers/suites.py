"""The suites of peers: which tests of theirs run, and which classes are put in place."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

__all__ = ["SUITES", "Suite"]


@dataclass(frozen=True)
class Suite:
    """Tests of an installed package, and how our classes get into them."""

    name: str
    modules: tuple[str, ...]
    put_in_place: Callable[[], None]
    about: str = ""  # a word in the name or the source of the tests that are about these classes
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


_ALL = (
    Suite("sklearn-quantile", ("sklearn.linear_model.tests.test_quantile",), _quantile_regressor),
    Suite(
        "sklearn-svm",
        ("sklearn.svm.tests.test_svm",),
        _support_vectors,
        about="LinearSV",
    ),
    Suite(
        "sklearn-common",
        ("sklearn.linear_model.tests.test_common",),
        _support_vectors,
        about="LinearSV",
        word_in_values=True,
    ),
    Suite(
        "statsmodels-quantreg",
        ("statsmodels.regression.tests.test_quantile_regression",),
        _quantreg,
    ),
)
SUITES = {one.name: one for one in _ALL}
