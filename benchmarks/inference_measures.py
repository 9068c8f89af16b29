"""What inference costs, as ratios side by side: the table of `make bench-inference`.

Standard errors of kind "nid" and 200 bootstrap replicates against one cold fit; rank intervals
against the straightforward way, which solves the dual linear program of the regression with one
coefficient fixed again and again with HiGHS while it bisects for each end; a fit with "nid" errors
against pyfixest, where that is installed. CPU seconds, the least of several repeats.
"""

from __future__ import annotations

import time
import warnings
from functools import partial
from pathlib import Path

import numpy as np
from scipy.optimize import linprog
from scipy.stats import t as student

import rectiline as rl

FOLDER = Path(__file__).parent / "results"
BISECTIONS = 12  # halvings of an end's bracket: three digits


def cpu_seconds(call, repeats):
    """Return the least CPU time of several calls."""
    times = []
    for _ in range(repeats):
        began = time.process_time()
        call()
        times.append(time.process_time() - began)
    return min(times)


def make(n, p):
    """Return data whose spread grows with one column."""
    rng = np.random.default_rng(0)
    X = rng.uniform(0, 2, (n, p))
    return X, X.sum(axis=1) + (0.5 + X[:, 0]) * rng.standard_normal(n)


def resolve(X, y, model, level=0.9):
    """Return rank intervals by solving a linear program at each trial value."""
    D = np.column_stack([np.ones(len(y)), X])
    coef = np.r_[model.intercept_, model.coef_]
    cut = student.ppf(0.5 + 0.5 * level, len(y) - D.shape[1])
    size = np.sqrt(0.25 / np.diag(np.linalg.inv(D.T @ D)))
    spread = np.sqrt(np.diag(rl.inference.covariance(model, X, y, kind="iid")))
    found = np.empty((D.shape[1], 2))
    for j in range(D.shape[1]):
        Z = np.delete(D, j, axis=1)
        side = 0.5 * Z.sum(axis=0)
        for k, direction in enumerate((-1.0, 1.0)):
            low, high = coef[j], coef[j] + direction * 4 * spread[j]
            for _ in range(BISECTIONS):
                middle = 0.5 * (low + high)
                cost = -(y - middle * D[:, j])
                a = linprog(cost, A_eq=Z.T, b_eq=side, bounds=(0, 1), method="highs").x
                inside = abs(D[:, j] @ (a - 0.5)) <= cut * size[j]
                low, high = (middle, high) if inside else (low, middle)
            found[j, k] = low
    return found


def pyfixest_row(X, y):
    """Return the row of a fit with "nid" errors against pyfixest's; none if it is not installed."""
    try:
        import pandas as pd
        import pyfixest
    except ImportError:
        return []
    table = pd.DataFrame(X, columns=[f"x{j}" for j in range(X.shape[1])])
    formula = "y ~ " + " + ".join(table.columns)
    table["y"] = y
    model = rl.QuantileRegressor(quantile=0.5, alpha=0)
    ours = cpu_seconds(lambda: model.fit(X, y).summary(X, y, kind="nid"), 3)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # its quantile regression calls itself experimental
        call = partial(pyfixest.quantreg, formula, data=table, quantile=0.5, vcov="nid")
        theirs = cpu_seconds(call, 3)
        their_errors = call().se().to_numpy() / np.sqrt(len(y) / (len(y) - X.shape[1] - 1))
    apart = np.max(np.abs(model.summary(X, y, kind="nid").std_error / their_errors - 1))
    return [
        f"| fit and nid errors, {len(y):,} x {X.shape[1]} | {ours:.3f} | pyfixest | {theirs:.3f} "
        f"| {theirs / ours:.1f}x faster; errors differ by at most {apart:.1e} |"
    ]


def main():
    """Measure and write the table."""
    X, y = make(1000, 5)
    model = rl.QuantileRegressor(quantile=0.5, alpha=0).fit(X, y)
    ours = cpu_seconds(lambda: model.conf_int(X, y, "rank", level=0.9), 5)
    theirs = cpu_seconds(lambda: resolve(X, y, model), 1)
    apart = np.abs(resolve(X, y, model) - model.conf_int(X, y, "rank", level=0.9)).max()
    rows = [
        f"| rank intervals, 1,000 x 5 | {ours:.4f} | HiGHS again and again | {theirs:.3f} "
        f"| {theirs / ours:.0f}x faster; ends differ by at most {apart:.1e} |"
    ]
    X, y = make(100_000, 10)
    model = rl.QuantileRegressor(quantile=0.5, alpha=0)
    cold = cpu_seconds(lambda: model.fit(X, y), 3)
    for name, options in (
        ("nid errors", {"kind": "nid"}),
        ("rank intervals", {"kind": "rank"}),
        ("200 replicates, pairs", {"kind": "bootstrap", "method": "pairs"}),
        ("200 replicates, weights", {"kind": "bootstrap", "method": "weights"}),
        ("200 replicates, wild", {"kind": "bootstrap", "method": "wild"}),
    ):
        spent = cpu_seconds(lambda chosen=options: model.summary(X, y, **chosen), 2)
        rows.append(
            f"| {name}, 100,000 x 10 | {spent:.3f} | one cold fit | {cold:.3f} "
            f"| {spent / cold:.1f} fits |"
        )
    rows += pyfixest_row(X, y)
    head = ["| what | CPU s | against | CPU s | ratio |", "|---|---:|---|---:|---|"]
    text = "\n".join(["# What inference costs", "", *head, *rows]) + "\n"
    FOLDER.mkdir(exist_ok=True)
    (FOLDER / "inference.md").write_text(text, encoding="utf-8")
    print(text)


if __name__ == "__main__":
    main()
