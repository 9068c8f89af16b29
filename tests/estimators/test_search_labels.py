"""Labels that are made small for the splitter: the folds are those of the labels themselves."""

import numpy as np
import pytest
from sklearn.model_selection import StratifiedKFold, check_cv

from rectiline.estimators import PLQClassifierCV

RNG = np.random.default_rng(0)
LABELS = {
    "text": RNG.choice(["no", "yes", "a"], 200),
    "floats": RNG.choice([-1.0, 1.0], 200),
    "large": RNG.choice([10**9, 5, -7], 200),
    "bools": RNG.random(200) < 0.4,
    "objects": RNG.choice(np.array(["x", "y"], dtype=object), 200),
    "many": np.repeat(np.arange(150), 5),
}


@pytest.mark.parametrize("name", LABELS)
def test_folds_are_the_same(name):
    y = LABELS[name]
    X = np.zeros((y.size, 1))
    model = PLQClassifierCV(cv=5)
    found = model._folds(model._read(X, y))
    expected = check_cv(5, y, classifier=True).split(X, y)
    for one, other in zip(expected, found, strict=True):
        np.testing.assert_array_equal(one[0], other[0])
        np.testing.assert_array_equal(one[1], other[1])


def test_a_splitter_of_the_user_sees_the_labels():
    seen = []

    class Splitter(StratifiedKFold):
        def split(self, X, y=None, groups=None):
            seen.append(y)
            return super().split(X, y, groups)

    X = RNG.standard_normal((200, 2))
    PLQClassifierCV(cv=Splitter(3), Cs=3).fit(X, LABELS["text"])
    np.testing.assert_array_equal(seen[0], LABELS["text"])


def test_a_class_with_too_few_samples_is_still_reported():
    X, y = RNG.standard_normal((20, 2)), np.array(["a"] * 17 + ["b"] * 3)
    with pytest.warns(UserWarning, match="least populated class"):
        PLQClassifierCV(cv=5, Cs=3).fit(X, y)
