"""Rows drawn for a sample: spread, rare labels on their own, and together they stand for all."""

import numpy as np
import pytest

from rectiline.rows import on_host, spread_rows

N = 10_000


def libraries():
    yield "numpy", on_host, np.asarray
    try:
        import torch
    except ImportError:
        return
    from rectiline.rows._spread import on_device

    yield "torch", lambda seed: on_device(seed, "cpu"), torch.as_tensor


@pytest.fixture(params=list(libraries()), ids=lambda one: one[0])
def library(request):
    return request.param[1:]


def test_a_plain_sample_has_one_row_of_each_stretch(library):
    make, _ = library
    rows, stands_for = (np.asarray(part) for part in spread_rows(N, 100, make(0)))
    assert (rows // 100 == np.arange(100)).all()
    assert stands_for.dtype == np.float64 and (stands_for == 100.0).all()
    again, _ = spread_rows(N, 100, make(0))
    assert (np.asarray(again) == rows).all()


def test_of_few_rows_all_are_drawn(library):
    rows, stands_for = spread_rows(7, 100, library[0](0))
    assert np.asarray(rows).tolist() == list(range(7))
    assert np.asarray(stands_for).tolist() == [1.0] * 7


def test_rare_labels_are_drawn_on_their_own(library):
    make, array = library
    y = np.zeros(N)
    y[[17, 5000, 9999]] = 1.0
    y[100:400] = 2.0
    rows, stands_for = spread_rows(N, 1000, make(1), array(y), (0.0, 1.0, 2.0))
    rows, stands_for = np.asarray(rows), np.asarray(stands_for)
    assert (np.diff(rows) > 0).all()
    for label, count in ((0.0, N - 303), (1.0, 3), (2.0, 300)):
        assert stands_for[y[rows] == label].sum() == pytest.approx(count)
    assert np.count_nonzero(y[rows] == 1.0) == 3
    # A sixth of the sample at most: two stretches of 1.8 rows may draw the same one.
    assert 120 < np.count_nonzero(y[rows] == 2.0) <= 166
