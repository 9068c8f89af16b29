"""One table of parameters: an estimator has those that its constructor names, and no others."""

import pytest

import rectiline as rl
from rectiline.estimators._base import BaseLinear
from rectiline.estimators._parameters import PARAMETER_RULES

ESTIMATORS = [
    rl.PLQClassifier,
    rl.PLQClassifierCV,
    rl.PLQRegressor,
    rl.PLQRegressorCV,
    rl.QuantileRegressor,
    rl.QuantileRegressorCV,
    rl.MultiTaskClassifier,
    rl.MultiTaskClassifierCV,
    rl.MultiTaskRegressor,
    rl.MultiTaskRegressorCV,
]


@pytest.mark.parametrize("kind", ESTIMATORS)
def test_parameters_are_those_of_the_constructor(kind):
    model = kind()
    assert issubclass(kind, BaseLinear)
    assert list(model._parameter_constraints) == sorted(model.get_params())
    for name in set(PARAMETER_RULES) - set(model.get_params()):
        assert not hasattr(model, name), f"{name} is no parameter of {kind.__name__}"


@pytest.mark.parametrize("kind", ESTIMATORS)
def test_few_classes_stand_behind_an_estimator(kind):
    own = [one for one in kind.__mro__ if one.__module__.startswith("rectiline")]
    assert len(own) <= 6, [one.__name__ for one in own]
