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


def ended(lines, **environment):
    run = subprocess.run(
        [sys.executable, "-X", "dev", "-c", textwrap.dedent(SETUP) + lines],
        capture_output=True,
        text=True,
        timeout=300,
        env={**os.environ, **environment},
    )
    return run.stderr


@pytest.mark.parametrize("case", CASES)
def test_no_compiled_object_is_left_over(case):
    assert "nanobind" not in ended(CASES[case], RECTILINE_REPORT_LEAKS="1")


def test_daemon_threads_are_no_reason_to_complain():
    """Python never unwinds them, so what they hold is there at the end: asked for, it is listed."""
    assert "leaked" in ended(DAEMON, RECTILINE_REPORT_LEAKS="1")
    assert "nanobind" not in ended(DAEMON)
