"""Pictures of the results: time to accuracy, performance profiles, scaling, kinds of problems."""

from __future__ import annotations

import math
import statistics
from pathlib import Path
from statistics import median
from typing import Any

from . import scoring
from .results import FACTOR, REGIMES, TARGET, Record, is_ours, ratios, solver_times

WORST = 1e3  # right end of the profiles
PROFILED = ("rehline", "quantile")  # suites of the first profile


def draw(results: list[Record], regimes: dict[str, list[Record]], folder: Path) -> None:
    """Draw everything there is data for; without matplotlib, nothing."""
    try:
        import matplotlib
    except ImportError:
        print("matplotlib is not installed: no pictures")
        return
    matplotlib.use("Agg")
    by_suite = {result["suite"]: result for result in results}
    first = [by_suite[name] for name in PROFILED if name in by_suite]
    made = {
        "seconds": door(by_suite.get("door", {"cases": []})),
        "profile": profile(results),
        "profile_first": profile(first, (TARGET,)),
        "accuracy": accuracy(by_suite.get("accuracy", {"cases": []})),
        "scaling": scaling(by_suite.get("scaling", {"cases": []})),
        "regimes": by_kind(regimes),
    }
    for name, figure in made.items():
        if figure is not None:
            if figure.get_layout_engine() is None:
                figure.tight_layout()
            figure.savefig(folder / f"{name}.png", dpi=110)
            matplotlib.pyplot.close(figure)


DOOR = {
    "adult": "Adult, SVM\n48,842 rows",
    "cal_housing": "California housing, median\n20,640 rows",
    "diamonds": "Diamonds, 0.9 quantile\n53,940 rows",
}
PACKAGES = {"liblinear": "LinearSVC", "sklearn-quantile": "QuantileRegressor"}


def door(result: Record) -> Any:
    """Bars of the README: CPU seconds to the target, hatched where the target is not reached."""
    import matplotlib.pyplot as plt

    records = result["cases"]
    if not records:
        return None
    figure, panels = plt.subplots(1, len(records), figsize=(11, 2.4), layout="constrained")
    for axes, record in zip(panels, records):
        times = solver_times(record, TARGET)
        for k, (name, time) in enumerate(times.items()):
            entry = record["solvers"][name]
            style: dict[str, Any] = {"color": "C0" if k else "C3"}
            shown, text = time, f"{time:.2g} s"
            if math.isinf(time):
                style = {"hatch": "//", "fill": False, "edgecolor": "0.5"}
                shown, text = entry["limit"], f"not in {entry['limit']:.0f} s"
                if entry["reached"] is not None:
                    shown = max(run["cpus"][0] for run in entry["runs"] if "cpus" in run)
                    text = f"{shown:.2g} s, stops at {entry['reached']:.1e}"
            axes.barh(k, shown, **style)
            axes.text(shown, k, f" {text}", va="center", fontsize=8)
        axes.set_yticks(range(len(times)), [PACKAGES.get(name, name) for name in times], fontsize=8)
        axes.set(xscale="log", title=DOOR[record["definition"]["data"]["name"]])
        axes.set_xlim(right=100 * axes.get_xlim()[1])
        axes.title.set_fontsize(9)
        axes.invert_yaxis()
        axes.spines[["top", "right"]].set_visible(False)
        axes.tick_params(axis="x", labelsize=7)
    return figure


def profile(results: list[Record], targets: tuple[float, ...] = ()) -> Any:
    """Share of all (case, target) pairs that a solver solves within a factor of the fastest one.

    A solver that does not take a kind of problem counts as not solving it; a case that nobody
    solves counts against everybody.
    """
    import matplotlib.pyplot as plt

    found: dict[str, list[float]] = {}
    count = 0
    for record in (record for result in results for record in result["cases"]):
        ours = record["definition"]["solvers"][0]
        for target in targets or record["definition"]["targets"]:
            times = solver_times(record, target)
            best = min(times.values(), default=math.inf)
            count += 1
            for name, time in times.items():
                label = "rectiline" if name == ours else name
                found.setdefault(label, []).append(time / best if math.isfinite(time) else math.inf)
    if not count:
        return None
    figure, axes = plt.subplots(figsize=(8, 5))
    for k, (name, values) in enumerate(sorted(found.items(), key=lambda x: x[0] != "rectiline")):
        finite = sorted(v for v in values if math.isfinite(v))
        heights = [(k + 1) / count for k in range(len(finite))]
        axes.step(
            [1.0, *finite, WORST],
            [0.0, *heights, heights[-1] if heights else 0.0],
            ("-", "--", ":", "-.")[k // 10 % 4],
            where="post",
            lw=2.4 if name == "rectiline" else 1.2,
            label=name,
        )
    axes.axvline(FACTOR, color="0.8", lw=0.8)
    axes.set(xscale="log", xlim=(1.0, WORST), ylim=(0.0, 1.02))
    axes.set(xlabel="time over that of the fastest solver", ylabel="share of problems solved")
    axes.legend(fontsize=7, ncols=2)
    return figure


def accuracy(result: Record) -> Any:
    """Error against time, one panel for each case."""
    import matplotlib.pyplot as plt

    records = result["cases"]
    if not records:
        return None
    columns = 3
    lines = -(-len(records) // columns)
    figure, grid = plt.subplots(lines, columns, figsize=(12, 3.1 * lines), squeeze=False)
    names = sorted({name for record in records for name in record["solvers"]})
    for axes, record in zip(grid.flat, records):
        for name, entry in record["solvers"].items():
            runs = [run for run in entry["runs"] if "error" not in run]
            if not runs:
                continue
            errors = [max(scoring.error(r, record["bound"], "suboptimality"), 1e-13) for r in runs]
            times = [median(run["cpus"]) for run in runs]
            width = 2.2 if is_ours(name) else 1.1
            colour = f"C{names.index(name) % 10}"
            axes.plot(times, errors, "o-", ms=3, lw=width, label=name, color=colour)
        axes.set(xscale="log", yscale="log", ylim=(3e-14, 10.0))
        axes.set_title(record["name"], fontsize=8)
        axes.legend(fontsize=6)
        axes.tick_params(which="both", labelsize=6)
    for axes in list(grid.flat)[len(records) :]:
        axes.remove()
    figure.supxlabel("seconds", fontsize=9)
    figure.supylabel("true relative error", fontsize=9)
    return figure


def exponents(result: Record) -> dict[tuple[str, str, str], Any]:
    """Times along each line (tag, loss, solver) and the slope of a least-squares fit in logs."""
    field = {"by-n": "n", "by-d": "d", "by-C": "C"}
    lines: dict[tuple[str, str, str], list[tuple[float, float]]] = {}
    for record in result["cases"]:
        definition = record["definition"]
        axis = field[definition["tag"]]
        x = float(definition["C"] if axis == "C" else definition["data"][axis])
        for name, time in solver_times(record, definition["targets"][0]).items():
            if math.isfinite(time):
                key = (definition["tag"], definition["loss"], name)
                lines.setdefault(key, []).append((x, time))
    return {key: (sorted(points), _slope(points)) for key, points in lines.items()}


def _slope(points: list[tuple[float, float]]) -> float:
    if len(points) < 2:
        return math.nan
    xs, times = zip(*((math.log(x), math.log(t)) for x, t in points))
    return statistics.linear_regression(xs, times).slope


def scaling(result: Record) -> Any:
    """Time against n, d and C with the fitted exponent in the legend."""
    import matplotlib.pyplot as plt

    lines = exponents(result)
    tags = sorted({tag for tag, _, _ in lines}, reverse=True)
    if not tags:
        return None
    figure, grid = plt.subplots(1, len(tags), figsize=(5 * len(tags), 4), squeeze=False)
    for axes, tag in zip(grid.flat, tags):
        for (own, loss, name), (points, slope) in lines.items():
            if own == tag:
                axes.plot(*zip(*points), "o-", label=f"{name} {loss}: exponent {slope:.2f}")
        axes.set(xscale="log", yscale="log", xlabel=tag.removeprefix("by-"), ylabel="seconds")
        axes.legend(fontsize=7)
    return figure


def by_kind(found: dict[str, list[Record]]) -> Any:
    """One panel for each kind of problem, one dot for each case and rival."""
    import matplotlib.pyplot as plt

    counts = {name: ratios(cases) for name, cases in found.items()}
    heights = [len(rivals) + 1.5 for rivals in counts.values()]
    figure, panels = plt.subplots(
        len(counts), sharex=True, figsize=(8, 0.24 * sum(heights)), height_ratios=heights
    )
    for ax, (name, rivals) in zip(panels, counts.items()):
        order = sorted(rivals, key=lambda rival: statistics.median(rivals[rival]))
        for k, rival in enumerate(order):
            shown = [min(max(value, 0.1), 1e3) for value in rivals[rival]]
            colours = ["C3" if value < 1 else "C0" for value in rivals[rival]]
            ax.scatter(shown, [k] * len(shown), s=10, c=colours, alpha=0.5, linewidths=0)
        ax.axvline(1.0, color="k", linewidth=0.8)
        ax.set(xscale="log", xlim=(0.09, 1.3e3), ylim=(-0.7, len(order) - 0.3))
        ax.set_yticks(range(len(order)), order, fontsize=7)
        ax.set_title(REGIMES[name][0], fontsize=9, loc="left")
    panels[-1].set_xlabel("the rival's time over ours (red: it is faster; right edge: not solved)")
    return figure
