"""Pictures of the results: time to accuracy, performance profiles, scaling exponents."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

from . import judge
from .rows import solver_times
from .runner import median
from .verdict import FACTOR, PROMISED, TARGET

Results = list[dict[str, Any]]
WORST = 1e3  # right end of the profiles


def draw(results: Results, folder: Path, clock: str) -> list[str]:
    """Draw everything there is data for and say what; without matplotlib, nothing."""
    try:
        import matplotlib
    except ImportError:
        print("matplotlib is not installed: no pictures")
        return []
    matplotlib.use("Agg")
    by_suite = {result["suite"]: result for result in results}
    promised = [by_suite[name] for name in PROMISED if name in by_suite]
    made = {
        "profile": profile(results, clock),
        "profile_promised": profile(promised, clock, (TARGET,)),
        "accuracy": accuracy(by_suite.get("accuracy", {"cases": []}), clock),
        "scaling": scaling(by_suite.get("scaling", {"cases": []}), clock),
    }
    for name, figure in made.items():
        if figure is not None:
            save(figure, folder / f"{name}.png")
    return [name for name, figure in made.items() if figure is not None]


def profile(results: Results, clock: str, targets: tuple[float, ...] = ()) -> Any:
    """Share of all (case, target) pairs that a solver solves within a factor of the fastest one.

    A solver that does not take a kind of problem counts as not solving it; a case that nobody
    solves counts against everybody. Races between thread counts are left out.
    """
    import matplotlib.pyplot as plt

    ratios: dict[str, list[float]] = {}
    count = 0
    for result in results:
        for record in result["cases"]:
            ours = record["definition"]["solvers"][0]
            if "@" in ours:
                continue
            for target in targets or record["definition"]["targets"]:
                times = solver_times(record, target, clock)
                best = min(times.values(), default=math.inf)
                count += 1
                for name, time in times.items():
                    label = "rectiline" if name == ours else name
                    ratio = time / best if math.isfinite(time) else math.inf
                    ratios.setdefault(label, []).append(ratio)
    if not count:
        return None
    figure, axes = plt.subplots(figsize=(8, 5))
    styles = ("-", "--", ":", "-.")
    for k, (name, values) in enumerate(
        sorted(ratios.items(), key=lambda item: item[0] != "rectiline")
    ):
        finite = sorted(v for v in values if math.isfinite(v))
        heights = [(k + 1) / count for k in range(len(finite))]
        axes.step(
            [1.0, *finite, WORST],
            [0.0, *heights, heights[-1] if heights else 0.0],
            styles[k // 10 % 4],
            where="post",
            label=name,
            linewidth=3.0 if name == "rectiline" else 1.2,
        )
    axes.axvline(FACTOR, color="gray", linewidth=0.8, linestyle=":")
    axes.set(xscale="log", xlim=(1, WORST), ylim=(0, 1.02), xlabel="times slower than the fastest")
    axes.set_ylabel(f"share of {count} cases solved")
    axes.legend(fontsize=8)
    return figure


def accuracy(result: dict[str, Any], clock: str) -> Any:
    """Time against the error really reached, one panel per case."""
    import matplotlib.pyplot as plt

    records = [r for r in result["cases"] if any(e["runs"] for e in r["solvers"].values())]
    if not records:
        return None
    wide = min(3, len(records))
    high = math.ceil(len(records) / wide)
    figure, grid = plt.subplots(high, wide, figsize=(5 * wide, 3.4 * high), squeeze=False)
    names = list(dict.fromkeys(name for record in records for name in record["solvers"]))
    for axes, record in zip(grid.flat, records, strict=False):
        for name, entry in record["solvers"].items():
            runs = [run for run in entry["runs"] if "error" not in run]
            if not runs:
                continue
            errors = [max(judge.error(r, record["bound"], "suboptimality"), 1e-13) for r in runs]
            times = [median(run[f"{clock}s"]) for run in runs]
            width = 2.2 if name.startswith("rectiline") else 1.1
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


def exponents(result: dict[str, Any], clock: str) -> dict[tuple[str, str, str], Any]:
    """Times along each line (tag, loss, solver) and the slope of a least-squares fit in logs."""
    field = {"by-n": "n", "by-d": "d", "by-C": "C"}
    lines: dict[tuple[str, str, str], list[tuple[float, float]]] = {}
    for record in result["cases"]:
        definition = record["definition"]
        axis = field[definition["tag"]]
        x = float(definition["C"] if axis == "C" else definition["data"][axis])
        for name, time in solver_times(record, definition["targets"][0], clock).items():
            if math.isfinite(time):
                lines.setdefault((definition["tag"], definition["loss"], name), []).append(
                    (x, time)
                )
    return {key: (sorted(points), _slope(points)) for key, points in lines.items()}


def _slope(points: list[tuple[float, float]]) -> float:
    logs = [(math.log(x), math.log(t)) for x, t in points]
    mx = sum(x for x, _ in logs) / len(logs)
    mt = sum(t for _, t in logs) / len(logs)
    spread = sum((x - mx) ** 2 for x, _ in logs)
    return sum((x - mx) * (t - mt) for x, t in logs) / spread if spread else math.nan


def scaling(result: dict[str, Any], clock: str) -> Any:
    """Time against n, d and C with the fitted exponent in the legend."""
    import matplotlib.pyplot as plt

    lines = exponents(result, clock)
    tags = sorted({tag for tag, _, _ in lines}, reverse=True)
    if not tags:
        return None
    figure, grid = plt.subplots(1, len(tags), figsize=(5 * len(tags), 4), squeeze=False)
    for axes, tag in zip(grid.flat, tags, strict=True):
        for (own, loss, name), (points, slope) in lines.items():
            if own == tag:
                xs, ts = zip(*points, strict=True)
                axes.plot(xs, ts, "o-", label=f"{name} {loss}: exponent {slope:.2f}")
        axes.set(xscale="log", yscale="log", xlabel=tag.removeprefix("by-"), ylabel="seconds")
        axes.legend(fontsize=7)
    return figure


def save(figure: Any, path: Path) -> None:
    import matplotlib.pyplot as plt

    figure.tight_layout()
    figure.savefig(path, dpi=110)
    plt.close(figure)
