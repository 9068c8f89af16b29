"""How much memory a solve takes beside X, measured from outside in a process of its own."""

import subprocess
import sys

import pytest

# Prints, in bytes: the size of X, the number of samples, and by how much the peak of the process
# rose above what it held once X was there.
MEASURE = """
import sys
import numpy as np
import rectiline as rl

def held(key):
    with open("/proc/self/status") as status:
        return next(int(line.split()[1]) * 1024 for line in status if line.startswith(key))

loss, order, dtype, intercept = sys.argv[1:]
def make(n):
    rng = np.random.default_rng(0)
    X = np.empty((n, 60), dtype=dtype, order=order)
    for first in range(0, n, 500):  # in pieces, so that making X is not the peak
        X[first:first + 500] = rng.standard_normal((min(500, n - first), 60))
    signal = X[:, 0] + rng.standard_normal(n)
    y = signal if loss in ("Pinball", "Huber") else np.where(signal > 0, 1.0, -1.0)
    return X, y

def run(X, y):
    problem = rl.Problem(X, y, loss=getattr(rl.losses, loss)(),
                         penalty=rl.penalties.Ridge(float(len(y))),
                         fit_intercept=intercept == "True")
    solution = rl.solve(problem, solver="rehline")
    assert solution.status == "solved"
    return problem.certify(solution.coef, solution.intercept, solution.dual)

run(*make(200))  # imports and pools first
X, y = make(60_000)
try:
    with open("/proc/self/clear_refs", "w") as reset:  # forget the peak so far
        reset.write("5")
except OSError:
    pass  # not allowed in some containers; X was made in pieces, so the peak is near
before = held("VmHWM")
run(X, y)
print(X.nbytes, len(y), held("VmHWM") - before)
"""

KINDS = [
    ("Hinge", "C", "float64", True),
    ("Pinball", "C", "float64", False),
    ("Huber", "F", "float64", True),
    ("SmoothedHinge", "C", "float32", False),
]


@pytest.mark.parametrize(("loss", "order", "dtype", "intercept"), KINDS)
def test_memory_beside_the_data(loss, order, dtype, intercept):
    if not sys.platform.startswith("linux"):
        pytest.skip("the peak is read from /proc")
    result = subprocess.run(
        [sys.executable, "-c", MEASURE, loss, order, dtype, str(intercept)],
        capture_output=True,
        text=True,
        timeout=600,
    )
    assert result.returncode == 0, result.stderr
    size, n_samples, extra = (int(word) for word in result.stdout.split())
    assert extra <= 0.25 * size + 200 * n_samples
