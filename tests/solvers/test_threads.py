"""The limit on threads of the linear algebra, and the routines that the core borrows."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.linalg.cython_blas
import scipy.linalg.cython_lapack
from threadpoolctl import ThreadpoolController

import rectiline as rl
from rectiline import _core
from rectiline.solvers import one_thread
from rectiline.solvers.newton import _model
from rectiline.solvers.newton._model import take_routines


def threads():
    return [one["num_threads"] for one in ThreadpoolController().select(user_api="blas").info()]


def test_the_last_to_leave_puts_back_what_was_there():
    before = threads()
    with one_thread:
        assert set(threads()) == {1}
        with one_thread:
            pass
        assert set(threads()) == {1}
    assert threads() == before


def test_the_limit_is_lifted_after_an_error():
    before = threads()
    with pytest.raises(ZeroDivisionError), one_thread:
        raise ZeroDivisionError
    assert threads() == before


def test_missing_routines_leave_the_core_its_own(monkeypatch):
    def missing(name):
        raise ImportError(name)

    assert take_routines()
    monkeypatch.setattr(_model, "import_module", missing)
    assert not take_routines()


@pytest.mark.parametrize("wrong", ["dpotrs", "spotrf", "zpotrf", "dlamch"])
def test_routines_of_another_type_are_refused(wrong):
    """The name of a capsule is the type of its function: number and kinds of arguments count."""
    lapack = scipy.linalg.cython_lapack.__pyx_capi__
    syrk = scipy.linalg.cython_blas.__pyx_capi__["dsyrk"]
    expected = r'expected is "void \(char \*, int \*, double \*, int \*, int \*\)"'
    with pytest.raises(ValueError, match=expected):
        _core.use_dense_routines(lapack[wrong], lapack["dpotrs"], syrk)
    with pytest.raises(ValueError, match=r'expected is "void \(char \*, char \*, int \*, int \*'):
        _core.use_dense_routines(lapack["dpotrf"], lapack["dpotrs"], lapack["dpotrs"])


def test_a_session_of_another_type_is_refused():
    X = np.eye(4)
    problem = rl.Problem(X, np.arange(4.0), rl.losses.Absolute(), rl.penalties.Ridge(1.0))
    with pytest.raises(TypeError, match=r"session must be a .*Session or None; got 'hot'"):
        rl.solve(problem, session="hot")
