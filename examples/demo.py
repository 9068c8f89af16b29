"""Fit three models on real data, show what is proved about each, and draw the losses.

Run it with ``make demo``, or, where Rectiline is installed with its plots extra, with
``python examples/demo.py --output demo.png``.
"""

from __future__ import annotations

import argparse
import math
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.datasets import load_breast_cancer, load_diabetes
from sklearn.preprocessing import StandardScaler

import rectiline as rl

TOLERANCE = 1e-8

# A forecast that is at most 20 off is good enough. Promising too much costs in proportion;
# promising too little is forgiven at first and then costs twice as much. Each row (a, b, c) of the
# pieces is a t^2 + b t + c between two knots, where t is the measured value minus the forecast.
FORECAST_LOSS = rl.losses.PiecewiseLQ(
    knots=[-20.0, 20.0, 60.0],
    pieces=[(0.0, -1.0, -20.0), (0.0, 0.0, 0.0), (0.025, -1.0, 10.0), (0.0, 2.0, -80.0)],
    of="residual",
)


@dataclass(frozen=True)
class Job:
    """One model to fit: its name, its data and its loss, and where to draw the loss."""

    name: str
    data: str
    X: np.ndarray
    y: np.ndarray
    loss: Any
    argument: str
    span: tuple[float, float]
    colour: str


def jobs() -> list[Job]:
    """List the three models; columns are standardised, so one ridge strength fits all of them."""
    cancer, diabetes = load_breast_cancer(), load_diabetes(scaled=False)
    tumours = StandardScaler().fit_transform(cancer.data)
    patients = StandardScaler().fit_transform(diabetes.data)
    quantile, margin, residual = rl.losses.Pinball(0.9), "margin  y z", "residual  y − z"
    return [
        Job("support vector machine", "breast cancer", tumours, cancer.target,
            rl.losses.Hinge(), margin, (-1.5, 3.0), "#4477aa"),
        Job("0.9-quantile", "diabetes", patients, diabetes.target,
            quantile, residual, (-100.0, 100.0), "#228833"),
        Job("custom forecast loss", "diabetes", patients, diabetes.target,
            FORECAST_LOSS, residual, (-100.0, 100.0), "#cc6677"),
    ]  # fmt: skip


def fit(job: Job) -> rl.Solution:
    """Solve one model to a certified relative gap of at most ``TOLERANCE``."""
    problem = rl.Problem(job.X, job.y, loss=job.loss, penalty=rl.penalties.Ridge(1.0))
    return rl.solve(problem, tol=TOLERANCE)


def print_table(fitted: list[tuple[Job, rl.Solution]]) -> None:
    """Print what is known about each answer: the proof is in the gap and in the violation."""
    titles = ("model", "data", "rows", "objective", "rel. gap", "violation", "time", "solver")
    rows = [
        (
            job.name,
            job.data,
            f"{job.X.shape[0]} x {job.X.shape[1]}",
            f"{solution.certificate.primal:.6f}",
            f"{solution.certificate.relative_gap:.1e}",
            f"{solution.certificate.violation:.1e}",
            f"{1e3 * solution.seconds:.1f} ms",
            f"{solution.solver} ({solution.status})",
        )
        for job, solution in fitted
    ]
    widths = [max(len(row[k]) for row in [titles, *rows]) for k in range(len(titles))]
    left_aligned = {0, 1, 7}
    for row in [titles, tuple("-" * width for width in widths), *rows]:
        cells = (
            cell.ljust(width) if k in left_aligned else cell.rjust(width)
            for k, (cell, width) in enumerate(zip(row, widths, strict=True))
        )
        print("  ".join(cells).rstrip())


def draw(fitted: list[tuple[Job, rl.Solution]], path: Path) -> None:
    """Draw the three losses above the way their certified gaps went down."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    plt.rcParams.update({"axes.spines.top": False, "axes.spines.right": False, "font.size": 9})
    figure = plt.figure(figsize=(9, 6), layout="constrained")
    grid = figure.add_gridspec(2, len(fitted), height_ratios=(1, 1.15))
    gaps = figure.add_subplot(grid[1, :])

    for k, (job, solution) in enumerate(fitted):
        panel = figure.add_subplot(grid[0, k])
        points = np.linspace(*job.span, 601)
        panel.plot(points, job.loss.curve.value(points), color=job.colour, linewidth=2)
        knots = np.asarray(job.loss.curve.knots)
        panel.plot(knots, job.loss.curve.value(knots), "o", color=job.colour, markersize=4)
        panel.set(title=f"{job.name}\n({job.data})", xlabel=job.argument)
        panel.grid(alpha=0.25)
        if k == 0:
            panel.set_ylabel("loss of one sample")

        seen = [r for r in solution.history if math.isfinite(r.relative_gap)]
        times = [1e3 * r.seconds for r in seen]
        # A gap can be zero to the last digit, which a logarithmic axis cannot show.
        heights = [max(r.relative_gap, 1e-16) for r in seen]
        gaps.plot(times, heights, "o-", color=job.colour, markersize=3, label=job.name)

    gaps.axhline(TOLERANCE, color="0.4", linewidth=1, linestyle="--", label="tolerance")
    gaps.set(
        yscale="log",
        xlabel="milliseconds",
        ylabel="certified relative gap",
        title="How far from optimal each answer can be, proved along the way",
    )
    gaps.grid(alpha=0.25)
    gaps.legend(frameon=False)
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path, dpi=110)
    plt.close(figure)


def main() -> int:
    """Fit, print and draw; the exit status tells whether every answer is proved optimal."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument(
        "--output", type=Path, default=Path("demo.png"), help="the picture to write"
    )
    path = parser.parse_args().output

    fitted = [(job, fit(job)) for job in jobs()]
    print_table(fitted)
    try:
        draw(fitted, path)
    except ModuleNotFoundError as error:
        print(f'No picture: {error}. Install it with: pip install "rectiline[plots]"')
    else:
        print(f"\nThe losses and the convergence are drawn in {path}")
    return 0 if all(solution.status == "solved" for _, solution in fitted) else 1


if __name__ == "__main__":
    raise SystemExit(main())
