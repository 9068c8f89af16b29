"""Run R's quantreg and Rectiline on six tables and print in how many digits they agree.

``make r-check``, for a machine where R has quantreg. A row that agrees in fewer
digits than its kind should has a sentence that says why, or counts as a failure.
"""

import shutil
import subprocess
import sys
import tempfile
import warnings
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd
from scipy.optimize import linprog

import rectiline as rl

SCRIPT = Path(__file__).with_name("quantreg.R")
# Digits that agree at least where both answers are unique. R solves the neighbouring quantiles of
# "nid" to 1e-6, the steps of a rank test jump where two samples tie, a bootstrap is random.
EXPECTED = {"coef": 9, "iid": 9, "ker": 9, "nid": 5, "rank": 6, "rank_nid": 5, "boot": 0.6}
EXPECTED |= {"anova_rank": 8, "anova_slopes": 4}
EXPECTED |= {f"weighted_{kind}": EXPECTED[kind] for kind in ("iid", "nid", "ker")}
WHY = {
    "fit": "the optimum is not unique (R warns, we say unique=False)",
    "sparsity": "the sparsity is not unique: its median regression has several optimal lines",
    "refused": "R or Rectiline finds the densities singular",
    "around": "a quantile or a neighbouring one is not unique: densities come from one of several",
    "step": "both ends lie on one step of the rank score, but are interpolated between other bases",
    "reduced": "rank scores are not unique: without the columns more samples lie on the plane than "
    "it has coefficients",
    "boot": "random draws of a tiny sample: a replicate in many is far out",
}


@dataclass(frozen=True)
class Row:
    """What was compared, in how many digits it agrees, and why in no more."""

    table: str
    level: float
    what: str
    digits: float
    why: str

    @property
    def holds(self) -> bool:
        return bool(self.why) or self.digits >= EXPECTED[self.what]


def has_quantreg():
    """Whether R and quantreg are here."""
    call = ["Rscript", "-e", "quit(status = !requireNamespace('quantreg', quietly = TRUE))"]
    return shutil.which("Rscript") and not subprocess.run(call, capture_output=True).returncode


def found_by_r(folder):
    """Return what R found, by (table, level, what), and the tables."""
    subprocess.run(["Rscript", str(SCRIPT), str(folder)], check=True, capture_output=True)
    lines = (Path(folder) / "found.csv").read_text("utf-8").splitlines()
    found = {}
    for line in lines:
        table, level, what, *numbers = line.split(",")
        values = np.array([np.nan if one == "NA" else float(one) for one in numbers])
        found[table, float(level), what] = values
    names = dict.fromkeys(table for table, _, _ in found)
    return found, {name: pd.read_csv(Path(folder) / f"{name}.csv") for name in names}


def agreement(ours, theirs):
    """Return the digits in which the worst number agrees, relative to the larger of the two."""
    size = np.maximum(np.abs(ours), np.abs(theirs))
    least = 1e-6 * size[np.isfinite(size)].max(initial=0.0)  # a coefficient of zero has no digits
    with np.errstate(invalid="ignore"):
        off = np.abs(ours - theirs) / np.maximum(size, least)
    off = np.where(ours == theirs, 0.0, off)  # infinite ends of intervals
    return float(-np.log10(max(np.max(off), 1e-16)))


def compare(found, tables):
    """Yield a row for every number of R's."""
    fits = {}
    for (name, level, what), theirs in found.items():
        table = tables[name]
        X, y = table.drop(columns="y"), table["y"]
        weight = 0.5 + (np.arange(1, len(y) + 1) % 5) * 0.7
        weight = weight if what.startswith("weighted") else None
        quantile = [0.25, 0.5, 0.75] if what == "anova_slopes" else level
        key = (name, level, weight is None)
        if key not in fits:
            fits[key] = rl.QuantileRegressor(quantile=quantile, alpha=0, tol=1e-11)
            fits[key].fit(X, y, weight)
        ours, why = ours_of(fits[key], X, y, weight, what)
        if ours is None or not np.isfinite(np.sum(np.where(np.isinf(theirs), 0, theirs))):
            yield Row(name, level, what, 0.0, WHY["refused"])
            continue
        digits = agreement(ours, theirs)
        differs = what.startswith("rank") and digits < EXPECTED[what]
        pairs = enumerate(zip(ours, theirs, strict=True))
        if differs and all(same_step(X, y, level, k, *ends) for k, ends in pairs):
            why = WHY["step"]
        yield Row(name, level, what, digits, why if digits < EXPECTED[what] else "")


def ours_of(model, X, y, weight, what):
    """Return our numbers in the order of R's, and why they may differ."""
    options = {} if weight is None else {"sample_weight": weight, "weights_are": "probability"}
    try:
        if what == "anova_slopes":
            test = rl.inference.equal_slopes(model, X, y)
            return np.array([test.statistic]), around(model, X, y, weight)
        if what == "anova_rank":
            columns = list(X.columns[-2:])
            test = rl.inference.rank_test(model, X, y, columns)
            less = X.drop(columns=columns)
            small = rl.QuantileRegressor(quantile=model.quantile, alpha=0, tol=1e-11).fit(less, y)
            on_plane = np.abs(y - small.predict(less)) <= 1e-9 * np.abs(y).max()
            degenerate = np.count_nonzero(on_plane) > less.shape[1] + 1
            return np.array([test.statistic]), WHY["reduced"] if degenerate else ""
        if what.startswith("rank"):
            table = model.summary(X, y, "rank", level=0.9, iid=what == "rank")
            return table.interval.T.ravel(), "" if table.unique else WHY["fit"]
        kinds = {"coef": "iid", "ker": "kernel", "boot": "bootstrap"}
        kind = kinds.get(what.split("_")[-1], what.split("_")[-1])
        table = model.summary(X, y, kind, n_boot=1000, **options)
    except ValueError:
        return None, WHY["refused"]
    found = table.coef if what == "coef" else table.std_error
    if not table.unique:
        return found, WHY["fit"]
    if what.endswith("iid") and "not unique" in table.note:
        return found, WHY["sparsity"]
    if what == "boot":
        return found, WHY["boot"] if len(y) < 60 else ""
    return found, around(model, X, y, weight) if what.endswith("nid") else ""


def same_step(X, y, level, k, one, other):
    """Whether the rank score of a coefficient is the same at two values, by HiGHS."""
    if agreement(np.array([one]), np.array([other])) >= EXPECTED["rank"]:
        return True
    rows = np.column_stack([np.ones(len(y)), X])
    column, rest = rows[:, k % rows.shape[1]], np.delete(rows, k % rows.shape[1], axis=1)
    scores = []
    for value in (one, other):
        dual = linprog(
            column * value - y,
            A_eq=rest.T,
            b_eq=(1 - level) * rest.sum(axis=0),
            bounds=(0, 1),
            method="highs-ds",
        )
        scores.append(column @ dual.x)
    return abs(scores[0] - scores[1]) <= 1e-6 * np.abs(column).sum()


def is_unique(level, X, y, weight):
    """Whether a quantile regression has one answer."""
    model = rl.QuantileRegressor(quantile=level, alpha=0, tol=1e-11).fit(X, y, weight)
    options = {} if weight is None else {"sample_weight": weight, "weights_are": "probability"}
    return model.summary(X, y, "rank", **options).unique


def around(model, X, y, weight):
    """Return why densities differ: a neighbouring quantile is not unique."""
    for level in model.quantiles_:
        h = rl.inference.hall_sheather(float(level), len(y))
        while level - h <= 0 or level + h >= 1:
            h /= 2
        if not all(is_unique(one, X, y, weight) for one in (level - h, level, level + h)):
            return WHY["around"]
    return ""


def main():
    """Print the table; return 1 if a row does not hold."""
    with tempfile.TemporaryDirectory() as folder, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        rows = list(compare(*found_by_r(folder)))
    tables = list(dict.fromkeys(row.table for row in rows))
    print("digits of agreement with R, worst over levels; * where a sentence below says why")
    print("".ljust(14) + "".join(name.rjust(12) for name in tables))
    for what in EXPECTED:
        cells = []
        for name in tables:
            mine = [row for row in rows if row.table == name and row.what == what]
            plain = [row.digits for row in mine if not row.why]
            worst = f"{min(plain):.1f}" if plain else ""
            star = "*" if len(plain) < len(mine) else ""
            cells.append((f"{worst}{star}" or "-").rjust(12))
        print(what.ljust(14) + "".join(cells))
    for row in rows:
        if row.why or not row.holds:
            print(
                f"{row.table} {row.what} at {row.level:g}: {row.digits:.1f} digits; "
                f"{row.why or 'NOT EXPLAINED'}"
            )
    return int(not all(row.holds for row in rows))


if __name__ == "__main__":
    sys.exit(main() if has_quantreg() else print("R with quantreg is not here."))
