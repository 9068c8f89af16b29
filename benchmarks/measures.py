"""What is not a race: one number each, measured in a process of its own.

    python -m benchmarks.measures [--filter TEXT]

Rows go to ``results/measures.csv``: searches and default grids over single fits, warm sweeps over
cold ones, the overhead of an estimator, the memory of a fit, ten classes beside LinearSVC.
"""

from __future__ import annotations

import resource
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from . import machine, store
from .process import apart, least_seconds

REPEATS = 3  # of searches and of cold fits
SMALL = ("breast_cancer", "diabetes", "wine")  # tables of scikit-learn


@dataclass(frozen=True)
class Measure:
    """A function of this module with its arguments, and the most it should return."""

    name: str
    function: str
    arguments: tuple[Any, ...]
    unit: str
    at_most: float


OVER = "fit above rl.solve, CPU time"
COST = "CV of 5 folds x 30 strengths over one cold fit per fold at the weakest strength"
GRID = "default grid of hinge L1, a quarter of the labels positive, over a fit at its weakest"
IMAGES = "ten digits of mnist, 4,000 x 784, squared hinge, over LinearSVC(tol=1e-6)"
REAL_GRID = "default grid under L1, raw columns, over a fit at its weakest"
SWEEP = "1,000 solves, each from the answer before, over cold ones"
MEMORY = "QuantileRegressor 1,000,000 x 20: memory beyond X, in sizes of X"
SEARCHED = """
    breast_cancer hinge l2, breast_cancer hinge l1, wine hinge l2, diabetes huber l2,
    diabetes quantile l1, 20000x50 hinge l2, 20000x50 pinball l2, 20000x50 huber l2,
    2000x200 hinge l1, 2000x50 quantile l1, 5000x50 quantile l2, 5000x100 pinball elasticnet,
    3000x200 hinge l2, 50000x10 hinge l2, 50000x10 huber l2, 200000x20 hinge l2, 200000x20 huber l2,
    colon hinge l2, glioma squared_hinge l2, leukemia_allaml hinge l2, leukemia_allaml hinge l1,
    spf hinge l2, spf hinge l1, creditcard_subset14240 hinge l2, jasmine squared_hinge l2,
    abalone absolute l1, bike_sharing absolute l2, cal_housing huber l2, house_8L absolute l2,
    communities_crime huber l2, diamonds absolute l2
"""
SWEEPS = """
    100x3 levels none, 100x3 levels l2, 100x3 levels l1, 500x10 levels l2, 500x50 levels l2,
    2000x20 levels none, 2000x20 levels l2, 2000x20 levels l1, 500x10 strengths l2,
    2000x20 strengths l2, 2000x20 strengths l1, 2000x20 caps l2, 2000x20 targets l2
"""
GRIDS = {
    "hinge": ("spf", "creditcard_subset14240", "connect4"),
    "absolute": ("pol", "winequality_white"),
}


def search_label(table: str, loss: str, penalty: str) -> str:
    """Say what is searched, as rows of result files say it."""
    if table == "wine":
        return f"{table} {loss} {penalty}, three classes"
    is_real = table not in SMALL and "x" not in table
    return f"{table}{' raw,' if is_real else ''} {loss} {penalty}"


MEASURES = [
    *(Measure(f"{OVER}: {table}", "overhead", (table,), "ms", 2.0) for table in SMALL),
    Measure(MEMORY, "memory", (1_000_000, 20), "X", 3.0),
    *(
        Measure(f"{IMAGES}: {form}", "beside_linear_svc", (form,), "fits of it", 1.25)
        for form in ("dense", "csr")
    ),
    *(
        Measure(f"{COST}: {search_label(*words)}", "search_cost", tuple(words), "cold fits", 3.0)
        for words in (line.split() for line in SEARCHED.split(","))
    ),
    *(
        Measure(f"{SWEEP}: {line.strip()}", "sweep_cost", tuple(line.split()), "cold", 1.0)
        for line in SWEEPS.split(",")
    ),
    *(
        Measure(f"{GRID}: {size}", "grid_cost", (size, "hinge"), "fits", 10.0)
        for size in ("20000x50", "3000x200", "50000x10")
    ),
    *(
        Measure(f"{REAL_GRID}: {loss}, {table}", "grid_cost", (table, loss), "fits", 10.0)
        for loss, names in GRIDS.items()
        for table in names
    ),
]


def has_labels(loss: str) -> bool:
    return "hinge" in loss


def data(table: str, loss: str) -> tuple[np.ndarray, np.ndarray]:
    """Return a table: one of scikit-learn's, a size ("2000x50", made here), or a real one, raw."""
    import sklearn.datasets

    from .datasets import linear_model, load_real

    kind = "margin" if has_labels(loss) else "residual"
    if table in SMALL:
        return getattr(sklearn.datasets, f"load_{table}")(return_X_y=True)
    if table[0].isdigit():
        n, _, d = table.partition("x")
        return linear_model("good", int(n), int(d), kind, seed=3)
    X, y, _, _ = load_real(table, kind, "y", 3)
    return (X.toarray() if hasattr(X, "toarray") else X), y


def _cpu_seconds(call: Callable[[], Any], repeats: int = 1) -> float:
    return least_seconds(call, repeats)[1]


def overhead(name: str, repeats: int = 101) -> float:
    """Milliseconds of CPU time of a fit beyond making and solving its problems."""
    import rectiline as rl

    loss = rl.losses.Huber() if name == "diabetes" else rl.losses.Hinge()
    X, y = data(name, loss.name)
    targets, model = [y], rl.PLQClassifier()
    if name == "diabetes":
        model = rl.PLQRegressor(loss, C=1.0)
    elif np.unique(y).size > 2:
        targets = [y == label for label in np.unique(y)]
    fit = solve = np.inf
    for _ in range(repeats):
        fit = min(fit, _cpu_seconds(lambda: model.fit(X, y)))
        some = lambda: [rl.solve(rl.Problem(X, one, loss)) for one in targets]  # noqa: E731
        solve = min(solve, _cpu_seconds(some))
    return 1e3 * (fit - solve)


def memory(n: int, d: int) -> float:
    """Peak memory of a fit beyond what was there before, in sizes of X."""
    from rectiline.estimators import QuantileRegressor

    rng = np.random.default_rng(0)
    X = rng.standard_normal((n, d))
    y = X @ rng.standard_normal(d) + rng.standard_t(3, n)
    QuantileRegressor(alpha=0.01).fit(X[:1000], y[:1000])  # imports
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    before = pages * resource.getpagesize()
    QuantileRegressor(alpha=0.01).fit(X, y)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
    return max(peak - before, 0) / X.nbytes


def beside_linear_svc(form: str) -> float:
    """CPU time of a certified fit of ten classes over that of scikit-learn's LinearSVC."""
    from sklearn.svm import LinearSVC

    from rectiline.estimators import PLQClassifier

    from .cases import real
    from .datasets import load

    table = load(real("mnist_5k", "residual", n=4000, columns="unit", form=form))
    models = PLQClassifier("squared_hinge", C=1.0), LinearSVC(tol=1e-6, max_iter=2**30)
    ours, theirs = (_cpu_seconds(lambda m=m: m.fit(table.X, table.y), REPEATS) for m in models)
    return ours / theirs


def searching(loss: str, penalty: str) -> tuple[Any, Callable[[float], Any]]:
    """Return a CV estimator, and the plain one at a strength."""
    from rectiline import estimators as face
    from rectiline.losses import Pinball

    if loss == "quantile":
        ratio = {"l1": 1.0, "l2": 0.0}[penalty]
        plain = lambda alpha: face.QuantileRegressor(  # noqa: E731
            quantile=0.7, alpha=alpha, l1_ratio=ratio
        )
        return face.QuantileRegressorCV(quantile=0.7, l1_ratios=[ratio]), plain
    named = Pinball(0.5) if loss == "pinball" else loss
    kind = "Classifier" if has_labels(loss) else "Regressor"
    one, many = getattr(face, f"PLQ{kind}"), getattr(face, f"PLQ{kind}CV")
    return many(loss=named, penalty=penalty), lambda C: one(named, penalty=penalty, C=C)


def search_cost_call(table: str, loss: str, penalty: str) -> Callable[[], Any]:
    """Return the search that `search_cost` times."""
    X, y = data(table, loss)
    search, _ = searching(loss, penalty)
    return lambda: search.fit(X, y)


def search_cost(table: str, loss: str, penalty: str) -> float:
    """CPU time of a search over that of one cold fit per fold at the weakest strength.

    The search is ``fit`` of a CV estimator with 30 strengths and 5 folds as a user meets it: grid,
    folds, scores, the path on all the data and the fit with the chosen strength. A cold fit is
    ``fit`` of the plain estimator on the training part of a fold.
    """
    from sklearn.model_selection import check_cv

    X, y = data(table, loss)
    search, plain = searching(loss, penalty)
    order = np.argsort(y, kind="stable")
    few = order[:: max(1, len(y) // 200)]
    few = np.unique(np.concatenate([order[:50], few, order[-50:]]))  # all classes, however rare
    search.fit(X[few], y[few])  # imports
    total = _cpu_seconds(lambda: search.fit(X, y), REPEATS)
    weakest = (search.alphas_ if loss == "quantile" else search.Cs_)[-1]
    cold = 0.0
    for train, _ in check_cv(5, y, classifier=has_labels(loss)).split(X, y):
        part, targets, model = X[train], y[train], plain(weakest)
        cold += _cpu_seconds(lambda m=model, a=part, b=targets: m.fit(a, b), REPEATS)
    return total / cold


def sweep_problems(size: str, what: str, penalty: str) -> list[Callable[[], Any]]:
    """Return the makers of 1,000 neighbouring problems: levels, strengths, caps or targets move."""
    import rectiline as rl

    X, y = data(size, "absolute")
    noise = np.random.default_rng(0).standard_normal(y.size)
    kind = {"l1": rl.penalties.L1, "l2": rl.penalties.Ridge, "none": lambda strength: None}[penalty]
    base = {"l1": 2.0, "l2": 0.1, "none": 0.0}[penalty]
    cap = rl.constraints.Box

    def problem(share: float) -> Any:
        if what == "levels":
            return rl.Problem(X, y, rl.losses.Pinball(0.001 + 0.998 * share), kind(base))
        if what == "strengths":
            return rl.Problem(X, y, "absolute", kind(base * 100.0**share))
        if what == "caps":
            return rl.Problem(X, y, "absolute", kind(base), cap(-0.2 - share, 0.2 + share))
        return rl.Problem(X, y + share * noise, "absolute", kind(base))

    return [lambda share=share: problem(share) for share in np.linspace(0.0, 1.0, 1000)]


def sweep_cost(size: str, what: str, penalty: str) -> float:
    """CPU time of a sweep whose solves start from the answer before, over that of cold solves."""
    import rectiline as rl

    warm, cold, last = [], [], None
    for index, make in enumerate(sweep_problems(size, what, penalty)):
        if index % 5 == 0:
            cold.append(_cpu_seconds(lambda make=make: rl.solve(make())))
        began = time.process_time()
        last = rl.solve(make(), warm_start=last)
        warm.append(time.process_time() - began)
    return float(np.median(warm) / np.median(cold))


def grid_problem(table: str, loss: str) -> Callable[[float], Any]:
    """Return the problem of a row about default grids at a strength."""
    import rectiline as rl

    if table[0].isdigit():  # a quarter of the labels is positive
        X, y = data(table, "absolute")
        y = np.where(y > np.quantile(y, 0.75), 1, -1)
    else:
        X, y = data(table, loss)
    return lambda strength: rl.Problem(X, y, loss, rl.penalties.L1(strength))


def grid_cost_call(table: str, loss: str) -> Callable[[], Any]:
    """Return the making of a default grid that `grid_cost` times."""
    from rectiline.paths import default_strengths

    problem = grid_problem(table, loss)
    return lambda: default_strengths(problem(1.0))


def grid_cost(table: str, loss: str) -> float:
    """CPU time of the default grid, largest strength included, over that of one fit."""
    import rectiline as rl

    problem, make = grid_problem(table, loss), grid_cost_call(table, loss)
    weakest = float(make()[-1])
    fit = _cpu_seconds(lambda: rl.solve(problem(weakest)), REPEATS)
    return _cpu_seconds(make, REPEATS) / fit


def rows(filter: str) -> Iterator[dict[str, Any]]:
    """Yield a row for each measure whose name contains the text."""
    about = machine.describe()
    for one in MEASURES:
        if filter in one.name:
            shown = f"{apart(globals()[one.function], *one.arguments):.3g}"
            row = {"what": one.name, "measured": shown, "at_most": one.at_most}
            yield row | {"unit": one.unit, "cpu": about["cpu"], "revision": about["revision"]}


if __name__ == "__main__":
    store.run(rows, ("what",), filter="")
