"""Coverage of confidence intervals in simulation, by kind: the table of `make bench-coverage`.

Two designs whose true coefficients are known: errors whose spread grows with a column, and errors
that clusters share. Each draw is fitted once and every kind gives its interval for the slope; the
table holds the share of intervals that contain the true slope, its standard error, and their mean
width.
"""

from __future__ import annotations

import argparse
import warnings
from pathlib import Path

import numpy as np
from scipy.stats import norm

import rectiline as rl

LEVEL = 0.9
BOOTSTRAPS = ("pairs", "weights", "wild")
FOLDER = Path(__file__).parent / "results"


def spread_grows(rng, tau):
    """Return X, y, groups and the true slope: y = 1 + 2 x + (1 + x) e."""
    x = rng.uniform(0, 3, 300)
    y = 1 + 2 * x + (1 + x) * rng.standard_normal(300)
    return x[:, None], y, None, 2 + norm.ppf(tau)


def clusters_share(rng, tau):
    """Return X, y, groups and the true slope: 80 clusters of 6 share half of the variance."""
    groups = np.repeat(np.arange(80), 6)
    x = np.repeat(rng.standard_normal(80), 6) + 0.5 * rng.standard_normal(480)
    shared = np.repeat(rng.standard_normal(80), 6)
    y = 1 + 2 * x + np.sqrt(0.5) * (shared + rng.standard_normal(480))
    return x[:, None], y, groups, 2.0


CASES = {
    "spread grows": (
        spread_grows,
        ["iid", "nid", "kernel", "rank", "rank, iid=False", "pairs", "weights", "wild"],
    ),
    "clusters share": (clusters_share, ["nid", "cluster", "pairs", "wild"]),
}


def interval(model, X, y, groups, name, seed):
    """Return the interval of the slope for one named kind."""
    options = {"level": LEVEL}
    if name in BOOTSTRAPS:
        options |= {"method": name, "n_boot": 200, "groups": groups, "random_state": seed}
        name = "bootstrap"
    elif name == "cluster":
        options["groups"] = groups
    elif name.startswith("rank,"):
        name, options["iid"] = "rank", False
    return model.conf_int(X, y, name, **options)[1]


def simulate(case, tau, draws):
    """Return for each kind how often the interval holds the true slope, and its mean width."""
    make, kinds = CASES[case]
    # Bootstraps cost a hundred times as much as formulas: they get a tenth of the draws.
    counts = {name: draws // 10 if name in BOOTSTRAPS else draws for name in kinds}
    found = {name: np.empty((count, 2)) for name, count in counts.items()}
    for draw in range(draws):
        X, y, groups, slope = make(np.random.default_rng([draw, int(100 * tau)]), tau)
        model = rl.QuantileRegressor(quantile=tau, alpha=0).fit(X, y)
        for name in (one for one in kinds if draw < counts[one]):
            low, high = interval(model, X, y, groups, name, draw)
            found[name][draw] = low <= slope <= high, high - low
    return found


def main():
    """Simulate and write the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--draws", type=int, default=2000)
    draws = parser.parse_args().draws
    warnings.simplefilter("ignore", UserWarning)  # of neighbouring quantiles that cross
    lines = [
        f"# Coverage of {100 * LEVEL:g} % intervals for a slope",
        "",
        f"Made by `make bench-coverage`. `*` marks shares within two standard errors of {LEVEL:g}.",
        "",
        "| data | quantile | kind | draws | coverage | standard error | mean width |",
        "|---|---:|---|---:|---:|---:|---:|",
    ]
    for case in CASES:
        for tau in (0.5, 0.75):
            for name, table in simulate(case, tau, draws).items():
                share, width = table.mean(axis=0)
                error = np.sqrt(LEVEL * (1 - LEVEL) / len(table))
                mark = " *" if abs(share - LEVEL) <= 2 * error else ""
                line = f"| {case} | {tau:g} | {name} | {len(table)} | {share:.4f}{mark} "
                line += f"| {error:.4f} | {width:.3f} |"
                lines.append(line)
                print(line, flush=True)
    FOLDER.mkdir(exist_ok=True)
    (FOLDER / "inference_coverage.md").write_text("\n".join(lines) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
