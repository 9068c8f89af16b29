"""What is printed when Python ends: nothing, and no compiled object is left over."""

from __future__ import annotations

import os
import subprocess
import sys
import textwrap

import pytest

SETUP = """
import numpy as np, rectiline as rl
rng = np.random.default_rng(0)
X = rng.standard_normal((80, 4))
y = np.where(X[:, 0] + rng.standard_normal(80) > 0, 1, -1)
problem = rl.Problem(X, y, rl.losses.Hinge(), rl.penalties.Ridge(1.0))
"""
CASES = {
    "solved": "found = rl.solve(problem)",
    "an error at the end": "rl.solve(problem); rl.Problem(X, y[:3], rl.losses.Hinge())",
    "a cycle through a problem": "found = [rl.solve(problem)]; found.append(found)",
}
DAEMON = """
import threading
ready = threading.Event()
def hold():
    mine = problem.with_penalty(rl.penalties.Ridge(2.0))
    found = rl.solve(mine)
    ready.set()
    threading.Event().wait()
threading.Thread(target=hold, daemon=True).start()
ready.wait()
"""
SOLVING = """
import threading, time
def solve_on(**options):
    more = rl.Problem(np.tile(X, (50, 1)), np.tile(X[:, 0], 50), rl.losses.Absolute())
    while True:
        rl.solve(more, tol=1e-9, **options)
for options in ({}, {"callback": lambda record: None}):
    threading.Thread(target=solve_on, kwargs=options, daemon=True).start()
time.sleep(%s)
"""
FORKING = """
import os, threading, time, warnings
warnings.simplefilter("ignore")  # newer Pythons warn about every fork beside threads
from rectiline.solvers._threads import one_thread
locked = threading.Event()
def lock():
    with one_thread._lock:
        locked.set()
        time.sleep(60)
threading.Thread(target=lock, daemon=True).start()
locked.wait()
child = os.fork()
big = rl.Problem(np.tile(X, (50, 1)), np.tile(X[:, 0], 50), rl.losses.Absolute())
if child == 0:
    with one_thread:
        rl.solve(big)
    os._exit(7)
for _ in range(300):
    done, status = os.waitpid(child, os.WNOHANG)
    if done:
        break
    time.sleep(0.1)
else:
    os.kill(child, 9)
os._exit(os.waitstatus_to_exitcode(status))
"""


def ended(lines, **environment):
    return run(lines, **environment).stderr


def run(lines, **environment):
    return subprocess.run(
        [sys.executable, "-X", "dev", "-c", textwrap.dedent(SETUP) + lines],
        capture_output=True,
        text=True,
        timeout=300,
        env={**os.environ, **environment},
    )


@pytest.mark.parametrize("case", CASES)
def test_no_compiled_object_is_left_over(case):
    assert "nanobind" not in ended(CASES[case], RECTILINE_REPORT_LEAKS="1")


def test_daemon_threads_are_no_reason_to_complain():
    """Python never unwinds them, so what they hold is there at the end: asked for, it is listed."""
    assert "leaked" in ended(DAEMON, RECTILINE_REPORT_LEAKS="1")
    assert "nanobind" not in ended(DAEMON)


@pytest.mark.parametrize("seconds", [0.2, 0.5])
def test_a_process_ends_while_daemon_threads_solve(seconds):
    done = run(SOLVING % seconds)
    assert done.returncode == 0, done.stderr


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork")
def test_a_child_forked_while_a_thread_holds_the_lock_solves():
    done = run(FORKING)
    assert done.returncode == 7, done.stderr
