"""While rows are read: progress for each block, limits and Ctrl-C between items, warm starts."""

import os
import signal
import time
import warnings

import numpy as np
import pytest

import rectiline as rl
from rectiline.exceptions import ConvergenceWarning

BLOCKS, ROWS = 6, 15_000


@pytest.fixture(scope="module")
def parts():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((BLOCKS, ROWS, 3))
    return [(one, one.sum(axis=1) + rng.standard_t(3, ROWS)) for one in X]


class Heard:
    """A callback that notes how far each pass is."""

    def __init__(self):
        self.seen = []

    def __call__(self, progress):
        return False

    def during_pass(self, number, done, total):
        self.seen.append((number, done))


FITS = {
    "solve": lambda rows, told: rl.solve(rl.Problem(rows, loss="absolute"), callback=told),
    "huber": lambda rows, told: rl.PLQRegressor("huber", callback=told).fit(rows),
    "quantile": lambda rows, told: rl.QuantileRegressor(alpha=0, callback=told).fit(rows),
}


@pytest.mark.parametrize("fit", FITS.values(), ids=FITS)
def test_callbacks_hear_about_every_block_of_a_pass(parts, fit):
    told = Heard()
    fit(rl.rows.from_stream(lambda: iter(parts)), told)
    for number in (1, 2):
        done = [rows for one, rows in told.seen if one == number]
        assert done == [ROWS * (k + 1) for k in range(BLOCKS)]


def test_a_callback_stops_a_pass_with_the_answer_on_what_was_drawn(parts):
    def blocks():
        for one in parts:
            time.sleep(0.3 / BLOCKS)
            yield one

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        problem = rl.Problem(rl.rows.from_stream(blocks), rl.losses.Absolute(), None)
        solution = rl.solve(problem, callback=lambda progress: True)
    assert solution.status == "stopped" and solution.coef.any()
    assert solution.certificate.relative_gap == np.inf


@pytest.fixture
def raised_interrupts():
    """SIGINT raises KeyboardInterrupt, also in a process that was started in the background."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.mark.usefixtures("raised_interrupts")
def test_an_interrupt_ends_a_pass_between_blocks(parts):
    opened = []

    def open_blocks():
        for part in parts:
            opened.append(len(opened))
            yield part

    class Interrupted(Heard):
        def during_pass(self, number, done, total):
            if number == 1 and done >= 2 * ROWS:
                os.kill(os.getpid(), signal.SIGINT)

    rows = rl.rows.from_stream(open_blocks)
    # The first block is looked at when the source is made; the sample reads all.
    before = BLOCKS + 1
    with pytest.raises(KeyboardInterrupt):
        rl.solve(rl.Problem(rows, loss="absolute"), callback=Interrupted())
    assert len(opened) < before + BLOCKS


def test_an_executor_gets_no_items_after_the_limit(parts, monkeypatch):
    X, y = (np.concatenate(some) for some in zip(*parts))
    given, left = [], [True]

    class Slow:
        def map(self, function, items):
            for item in items:
                given.append(item)
                left[0] = len(given) < 8
                yield function(item)

    class Ending:
        def is_over(self):
            return not left[0]

        def left(self):
            return 1e9 if left[0] else 0.0

    from rectiline._polling import OutOfTime, asked_at_checkpoints

    rows = rl.rows.from_arrays(X, y, block_rows=1000, executor=Slow())
    with pytest.raises(OutOfTime), asked_at_checkpoints(Ending()):
        list(rows)
    assert len(given) == 8


def test_a_fit_of_known_coefficients_takes_one_pass(parts):
    rows = rl.rows.from_stream(lambda: iter(parts))
    problem = rl.Problem(rows, loss="absolute")
    first = rl.solve(problem, tol=1e-6)
    again = rl.solve(problem, tol=1e-6, warm_start=first)
    assert first.passes >= 2 and again.passes == 1 and again.status == "solved"


def test_default_tolerances_are_reached_on_blocks():
    """Columns of zeros and ones beside numbers ended at the limit of precision."""
    rng = np.random.default_rng(1)
    numbers, level = rng.standard_normal((20_000, 15)), rng.integers(9, size=20_000)
    X = np.column_stack([numbers, np.eye(9)[level, 1:]])
    y = X.sum(axis=1) + rng.standard_t(3, len(X))
    model = rl.QuantileRegressor(alpha=0).fit(rl.rows.of(X, y, block_rows=5_000))
    assert model.solution_.status == "solved"
    assert model.certificate_.relative_gap <= model.tol


@pytest.mark.parametrize("d", [3, 60])  # copies of many entries ask for time, too
def test_a_time_limit_while_a_sample_is_drawn_leaves_an_answer_on_what_was_drawn(d):
    def blocks():
        for seed in range(60):
            time.sleep(0.03)
            X = np.random.default_rng(seed).standard_normal((5_000, d))
            yield X, X.sum(axis=1)

    problem = rl.Problem(rl.rows.from_stream(blocks), loss="absolute")
    with pytest.warns(ConvergenceWarning, match="time_limit"):
        found = rl.solve(problem, time_limit=0.6)
    assert found.status == "time_limit"
    np.testing.assert_allclose(found.coef, 1.0, atol=0.1)


def test_a_time_limit_holds_while_an_estimator_counts_rows():
    read = []

    def blocks():
        for seed in range(100):
            time.sleep(0.03)
            read.append(seed)
            X = np.random.default_rng(seed).standard_normal((50, 2))
            yield X, X.sum(axis=1)

    rows = rl.rows.from_stream(blocks)
    read.clear()
    with pytest.raises(rl.NoAnswerError, match=r"time_limit=0\.3"):
        rl.QuantileRegressor(alpha=0.0, time_limit=0.3).fit(rows)
    assert len(read) < 50
