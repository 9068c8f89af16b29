"""Progress that users see: printed lines, bars through rich or tqdm, and what they are without."""

from __future__ import annotations

import sys
import types

import numpy as np
import pytest

import rectiline as rl
from rectiline.estimators import PLQClassifier, PLQClassifierCV, PLQRegressor
from rectiline.estimators.multitask import MultiTaskRegressor
from rectiline.solvers import GapProgress

RNG = np.random.default_rng(0)
X = RNG.normal(size=(300, 4))
Y = X[:, 0] + RNG.normal(size=300)
CLASSES = np.digitize(Y, [-0.5, 0.5])
PROBLEM = rl.Problem(X, Y, "absolute")


class Bar:
    """Stands for tqdm and remembers what it was told."""

    made: list[Bar] = []

    def __init__(self, total, desc, bar_format):
        self.total, self.desc, self.n, self.closed, self.texts = total, desc, 0.0, 0, []
        Bar.made.append(self)

    def set_postfix_str(self, text, refresh):
        self.texts.append(text)

    def update(self, step):
        assert step >= 0
        self.n += step

    def close(self):
        self.closed += 1


@pytest.fixture
def tqdm(monkeypatch):
    """An environment with tqdm and without rich."""
    Bar.made = []
    module = types.ModuleType("tqdm.auto")
    module.tqdm = Bar
    monkeypatch.setitem(sys.modules, "rich.progress", None)
    monkeypatch.setitem(sys.modules, "tqdm", types.ModuleType("tqdm"))
    monkeypatch.setitem(sys.modules, "tqdm.auto", module)
    return Bar


def test_verbose_prints_certificates_and_the_end(capsys):
    solution = rl.solve(PROBLEM, verbose=True)
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) == len(solution.history) + 1
    assert f"relative gap {solution.history[-1].relative_gap:.1e}" in lines[-2]
    assert lines[-1] == repr(solution)
    rl.solve(PROBLEM)
    assert capsys.readouterr().out == ""


def test_verbose_and_a_callback(capsys):
    heard = []
    solution = rl.solve(PROBLEM, verbose=True, callback=lambda p: heard.append(p) or True)
    assert len(heard) == 1 and solution.status in ("stopped", "solved")
    assert "objective" in capsys.readouterr().out


def test_a_bar_by_tqdm(tqdm):
    rl.solve(PROBLEM, progress_bar=True, tol=1e-9)
    (bar,) = tqdm.made
    assert bar.total == 1.0 and bar.n == pytest.approx(1.0) and bar.closed
    assert "relative gap" in bar.texts[-1]


def test_a_bar_by_rich(capsys):
    pytest.importorskip("rich")
    rl.solve(PROBLEM, progress_bar=True)
    assert "solve" in capsys.readouterr().out


def test_bars_of_estimators(tqdm):
    PLQClassifier(progress_bar=True).fit(X, CLASSES)
    PLQClassifierCV(Cs=3, cv=2, progress_bar=True, n_jobs=2).fit(X, CLASSES)
    PLQRegressor(progress_bar=True).fit(X, Y)
    MultiTaskRegressor(progress_bar=True).fit(X, np.c_[Y, -Y])
    three, search, one, tasks = tqdm.made
    assert tasks.n == pytest.approx(1.0)
    assert (three.desc, three.total, three.n) == ("PLQClassifier", 3, pytest.approx(3.0))
    assert (search.total, search.n) == (9, pytest.approx(9.0))
    assert "9 of 9 paths" in search.texts[-1] and "3 of 3 problems" in three.texts[-1]
    assert one.n == pytest.approx(1.0) and all(bar.closed for bar in tqdm.made)


def test_a_bar_is_closed_after_an_error(tqdm):
    def fail(progress):
        raise RuntimeError("stop")

    with pytest.raises(RuntimeError):
        rl.solve(PROBLEM, progress_bar=True, callback=fail)
    with pytest.raises(RuntimeError):
        PLQClassifier(progress_bar=True, callback=fail).fit(X, CLASSES)
    assert len(tqdm.made) == 2 and all(bar.closed for bar in tqdm.made)


def test_without_rich_and_tqdm(monkeypatch):
    for module in ("rich.progress", "tqdm.auto", "tqdm"):
        monkeypatch.setitem(sys.modules, module, None)
    with pytest.raises(ImportError, match="rich or tqdm: pip install rich"):
        rl.solve(PROBLEM, progress_bar=True)
    with pytest.raises(ImportError, match="rich or tqdm: pip install rich"):
        PLQRegressor("squared_error", progress_bar=True).fit(X, Y)


def test_the_meter_never_goes_back():
    meter = GapProgress(1e-6)
    shares = [meter.share(gap) for gap in (np.inf, 0.5, 1e-3, 2e-3, 1e-9, 1e-2)]
    assert shares == sorted(shares) and shares[0] == 0.0 and shares[-1] == 1.0
    assert GapProgress(1e-3).share(1e-4) == 1.0


def test_names_reach_the_table():
    pd = pytest.importorskip("pandas")
    frame = pd.DataFrame(X, columns=list("abcd"))
    assert list(rl.solve(rl.Problem(frame, Y, "huber")).to_frame().index[:4]) == list("abcd")


def test_bars_move_during_passes_over_rows(tqdm):
    rng = np.random.default_rng(1)
    A = rng.normal(size=(6000, 3))
    b = A.sum(axis=1) + rng.normal(size=6000)
    rows = rl.rows.from_arrays(A, b, block_rows=2000)
    seen = []
    solution = rl.solve(rl.Problem(rows, "absolute"), progress_bar=True, callback=seen.append)
    (bar,) = tqdm.made
    assert bar.texts[:3] == [f"pass 1: {k},000 of 6,000 rows" for k in (2, 4, 6)]
    assert f"pass {solution.passes}: 6,000 of 6,000 rows" in bar.texts
    assert bar.n == pytest.approx(1.0) and bar.closed == 1
    assert len(seen) == len(solution.history) == solution.passes - 1  # one for each evaluation
    parts = np.split(np.arange(6000), 3)
    stream = rl.rows.from_stream(lambda: ((A[part], b[part]) for part in parts))
    rl.solve(rl.Problem(stream, "absolute"), progress_bar=True)
    read = [f"sample: {k},000 rows" for k in (2, 4, 6)]  # how many there are is not known yet
    assert tqdm.made[-1].texts[:4] == [*read, "pass 1: 2,000 of 6,000 rows"]
    model = rl.QuantileRegressor(quantile=[0.2, 0.7], alpha=0, progress_bar=True).fit(rows)
    bar = tqdm.made[-1]
    assert bar.texts[0] == "0 of 2 problems, pass 1: 2,000 of 6,000 rows"
    assert bar.n == pytest.approx(2.0) and model.n_iter_.tolist() == [model.n_iter_[0]] * 2
