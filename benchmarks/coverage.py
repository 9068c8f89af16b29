"""Coverage of confidence intervals in simulation, by kind, to ``results/coverage.csv``.

Two designs whose true coefficients are known: errors whose spread grows with a column, and errors
that clusters share. Each draw is fitted once and every kind gives its interval for the slope. The
table holds the share of intervals that contain the true slope, its standard error, the verdict and
the mean width. A kind that assumes away what a design does is expected to cover too little, and
the table says so. The draws are seeded one by one: the table is the same for any `--jobs`.
"""

from __future__ import annotations

import warnings
from concurrent.futures import ProcessPoolExecutor
from itertools import repeat
from multiprocessing import get_context

import numpy as np
from scipy.stats import norm

import rectiline as rl

from . import store

LEVEL = 0.9
# What is known about a kind in samples of a few hundred.
KNOWN = {
    "kernel": "R's bandwidth is wide for a few hundred samples: cautious",
    "wild": "its residuals shrink a little, corrected to first order",
}
QUANTILES = (0.5, 0.75)
BOOTSTRAPS = ("pairs", "weights", "wild")


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


# Each design with its kinds, and those whose assumptions it violates.
CASES = {
    "spread grows": (
        spread_grows,
        ["iid", "nid", "kernel", "rank", "rank, iid=False", "pairs", "weights", "wild"],
        {"iid", "rank"},
    ),
    "clusters share": (clusters_share, ["nid", "cluster", "pairs", "wild"], {"nid"}),
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


def one_draw(case, tau, draw):
    """Return for each kind whether its interval holds the true slope, and its width."""
    warnings.simplefilter("ignore", UserWarning)  # of neighbouring quantiles that cross
    make, kinds, _ = CASES[case]
    X, y, groups, slope = make(np.random.default_rng([draw, int(100 * tau)]), tau)
    model = rl.QuantileRegressor(quantile=tau, alpha=0).fit(X, y)
    ends = np.array([interval(model, X, y, groups, name, draw) for name in kinds])
    return np.column_stack([(ends[:, 0] <= slope) & (slope <= ends[:, 1]), np.ptp(ends, axis=1)])


def verdict(share, error, is_violated, name):
    """Return what the share says about a kind, in units of its standard error."""
    distance = (share - LEVEL) / error
    if abs(distance) <= 2:
        said = "holds"
    else:
        said = f"too {'low' if distance < 0 else 'high'} by {abs(distance):.1f} SE"
    if is_violated:
        return f"{said}; its assumptions do not hold here"
    return f"{said}; {KNOWN[name]}" if said != "holds" and name in KNOWN else said


def rows_of(case, tau, draws, run):
    """Yield the rows of the table for one design and one level; `run` maps over the draws."""
    found = np.array(list(run(one_draw, repeat(case), repeat(tau), range(draws))))
    error = np.sqrt(LEVEL * (1 - LEVEL) / draws)
    _, kinds, violated = CASES[case]
    for name, (share, width) in zip(kinds, found.mean(axis=0), strict=True):
        said = verdict(share, error, name in violated, name)
        row = {"data": case, "quantile": f"{tau:g}", "kind": name, "draws": draws}
        row |= {"coverage": f"{share:.4f}", "standard_error": f"{error:.4f}"}
        yield row | {"verdict": said, "mean_width": f"{width:.3f}"}


def rows(draws, jobs):
    """Simulate, with as many processes as asked for."""
    with ProcessPoolExecutor(jobs, mp_context=get_context("spawn")) as pool:

        def run(function, *arguments):
            return pool.map(function, *arguments, chunksize=10)

        for case in CASES:
            for tau in QUANTILES:
                yield from rows_of(case, tau, draws, run)


if __name__ == "__main__":
    store.run(rows, ("data", "quantile", "kind"), draws=2000, jobs=1)
