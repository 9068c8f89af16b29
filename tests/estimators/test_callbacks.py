"""Who is told about the progress of a fit, and who may stop it."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer, load_iris

from rectiline.estimators import PLQClassifier, PLQClassifierCV

X, Y = load_breast_cancer(return_X_y=True)


def test_a_plain_callback_stops():
    seen = []
    model = PLQClassifier(solver="rehline", callback=lambda p: seen.append(p) or len(seen) == 3)
    model.fit(X, Y)
    assert model.status_ == "stopped" and len(seen) == 3
    assert np.isfinite(model.coef_).all()
    assert seen[-1].n_iter > seen[0].n_iter


def test_verbose_prints_certificates(capsys):
    PLQClassifier(verbose=1, tol=1e-9).fit(*load_iris(return_X_y=True))
    printed = capsys.readouterr().out
    assert "[PLQClassifier] problem 3/3" in printed and "(solved)" in printed
    gaps = [line for line in printed.splitlines() if "relative gap" in line]
    assert len({line.split(" s: ")[1] for line in gaps}) == len(gaps)  # none is printed twice


def test_scikit_learns_protocol():
    pytest.importorskip("sklearn.callback")

    class Recorder:
        def __init__(self):
            self.events = []

        def setup(self, estimator, context):
            self.events.append("setup")

        def teardown(self, estimator, context):
            self.events.append("teardown")

        def on_fit_task_begin(self, estimator, context):
            self.events.append(f"begin {context.task_name}")

        def on_fit_task_end(self, estimator, context):
            self.events.append(f"end {context.task_name}")
            return context.task_name == "certificate" and self.events.count("end certificate") == 2

    recorder = Recorder()
    model = PLQClassifier(solver="rehline").set_callbacks(recorder)
    model.fit(X, Y)
    assert model.status_ == "stopped"
    assert recorder.events[0] == "setup" and recorder.events[-1] == "teardown"
    assert recorder.events.count("end certificate") == 2
    assert recorder.events.count("begin fit") == recorder.events.count("end fit") == 1
    assert recorder.events.count("begin problem") == recorder.events.count("end problem") == 1
    model.set_params(solver="auto").set_callbacks().fit(X, Y)
    assert model.status_ == "solved"


def test_a_search_tells_of_its_paths(capsys):
    heard = []
    model = PLQClassifierCV(Cs=3, cv=2, verbose=1, callback=heard.append).fit(X, Y)
    lines = capsys.readouterr().out.splitlines()
    assert [line.split(" Path")[0] for line in lines] == [
        f"[PLQClassifierCV] path {k}/3" for k in (1, 2, 3)
    ]
    assert heard and model.status_ == "solved"
    PLQClassifierCV(Cs=3, cv=2, verbose=2).fit(X, Y)
    assert len(capsys.readouterr().out.splitlines()) > 3


def test_a_search_that_is_stopped_keeps_what_it_has():
    model = PLQClassifierCV(Cs=5, cv=2, solver="rehline", tol=1e-9, callback=lambda p: True)
    model.fit(X, Y)
    assert len(model.path_) == 1 and model.path_[0].status == "stopped"
    assert np.isneginf(model.cv_results_["mean_test_score"][1:]).all()


@pytest.mark.parametrize("n_jobs", [None, 2])
def test_a_search_speaks_scikit_learns_protocol(n_jobs):
    pytest.importorskip("sklearn.callback")

    class Recorder:
        def __init__(self):
            self.begun, self.ended = [], []

        def setup(self, estimator, context):
            assert context.task_name == "fit"

        def teardown(self, estimator, context):
            assert len(self.begun) == len(self.ended)

        def on_fit_task_begin(self, estimator, context):
            self.begun.append(context.task_name)

        def on_fit_task_end(self, estimator, context):
            self.ended.append(context.task_name)

    recorder = Recorder()
    PLQClassifierCV(Cs=3, cv=2, n_jobs=n_jobs).set_callbacks(recorder).fit(X, Y)
    assert recorder.begun.count("path") == 3 and "certificate" in recorder.begun
    assert sorted(recorder.begun) == sorted(recorder.ended)
