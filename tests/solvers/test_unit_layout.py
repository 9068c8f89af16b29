"""Units and their samples: a unit per sample, several, or none."""

import numpy as np
import pytest

from rectiline.solvers.generation._units import UnitLayout


@pytest.mark.parametrize(
    "sample",
    [[0, 1, 2, 3], [0, 2, 3], [3, 1], [0, 0, 2, 2, 1], [2, 0, 1, 3]],
    ids=["all", "some", "turned", "several", "mixed"],
)
def test_rows_of_samples_become_rows_of_units(sample):
    sample = np.array(sample)
    X = np.arange(8.0).reshape(4, 2)
    layout = UnitLayout.of(sample, np.ones(sample.size), 4)
    rows = X if layout.samples is None else X[layout.samples]
    rows = rows if layout.places is None else rows[layout.places]
    assert np.array_equal(rows, X[sample])


def test_nothing_is_looked_up_where_the_order_is_that_of_the_samples():
    signs = np.ones(3)
    assert UnitLayout.of(np.arange(3), signs, 3).samples is None
    assert UnitLayout.of(np.array([0, 2, 3]), signs, 4).places is None


def test_values_of_samples_and_of_units():
    sample, sign = np.array([0, 0, 2]), np.array([1.0, -1.0, 1.0])
    layout = UnitLayout.of(sample, sign, 4)
    assert np.array_equal(layout.gathered(np.array([5.0, 2.0, 7.0])), [3.0, 0.0, 7.0, 0.0])
    base = np.array([4.0, 0.0, 6.0, 0.0])
    assert np.array_equal(layout.share(base), [2.0, -2.0, 6.0])
    # What units share adds up to the values of their samples.
    assert np.array_equal(np.bincount(sample, sign * layout.share(base), minlength=4), base)
    assert layout.share(np.array([4.0, 1.0, 6.0, 0.0])) is None
