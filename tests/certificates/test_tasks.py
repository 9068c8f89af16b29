"""Tasks that share a subspace are saved, and a file cannot lie about their penalty."""

from __future__ import annotations

import io
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import rectiline as rl
from certificates.make_vectors import flat, write
from certificates.tasks import ProvedTasks
from rectiline import verify
from rectiline.estimators.multitask import (
    MultiTaskClassifier,
    MultiTaskRegressor,
    MultiTaskRegressorCV,
)

RNG = np.random.default_rng(3)
X = RNG.standard_normal((40, 3))
Y = X @ RNG.standard_normal((3, 2)) @ RNG.standard_normal((2, 4)) + RNG.standard_normal((40, 4))
row_tasks = np.arange(40) % 3
WEIGHT = RNG.uniform(0.5, 2.0, size=40)


def saved(tmp_path: Path, model: Any, *data: Any, **params: Any) -> Path:
    model.fit(*data, **params).save_certificate(tmp_path / "fit.rlcert", *data, **params)
    return tmp_path / "fit.rlcert"


@pytest.mark.parametrize("exact", [False, True])
@pytest.mark.parametrize("center", [False, True])
@pytest.mark.parametrize("loss", ["huber", "absolute", "squared_error"])
def test_tasks_on_the_same_rows(tmp_path: Path, loss: str, center: bool, exact: bool) -> None:
    model = MultiTaskRegressor(loss, shared_dim=2, center=center)
    path = saved(tmp_path, model, X, Y)
    found = verify.check(path, [(X[:9], Y[:9]), (X[9:], Y[9:])], exact)
    assert found is not None and "2 shared dimensions" in found.problem
    assert found.objective == pytest.approx(model.certificate_.primal, rel=1e-12)
    assert found.gap <= model.certificate_.gap + 1e-9 * found.objective
    with pytest.raises(verify.Refused, match="not those of the certificate"):
        verify.check(path, [(X, Y[:, ::-1])])


def test_tasks_with_rows_of_their_own(tmp_path: Path) -> None:
    model = MultiTaskRegressor("huber", constraints=rl.constraints.Box(-0.2, 1.0))
    path = saved(tmp_path, model, X, Y[:, 0], sample_weight=WEIGHT, tasks=row_tasks)
    for block in ((X, Y[:, 0]), (X, Y[:, 0], WEIGHT)):
        found = verify.check(path, [block])
        assert found is not None and found.gap <= 1e-5 * found.objective
    with pytest.raises(verify.Refused, match="weights of the data"):
        verify.check(path, [(X, Y[:, 0], WEIGHT[::-1])])
    listed = [X[row_tasks == k] for k in range(3)], [Y[row_tasks == k, 0] for k in range(3)]
    path = saved(tmp_path, MultiTaskRegressor("huber", fit_intercept=False), *listed)
    found = verify.check(path, list(zip(*listed, strict=True)))
    assert found is not None and found.radius == np.inf


def test_searches_and_classifiers(tmp_path: Path) -> None:
    model = MultiTaskRegressorCV(cv=2, alphas=[1.0], betas=[0.1])
    assert verify.check(saved(tmp_path, model, X, Y), [(X, Y)]) is not None
    labels = np.where(Y > 0, "yes", "no")
    found = verify.check(saved(tmp_path, MultiTaskClassifier(), X, labels), [(X, labels)])
    assert found is not None and "'yes': 0 + z" in found.problem


def test_tasks_without_a_file_say_why(tmp_path: Path) -> None:
    missing = Y.copy()
    missing[3, 1] = np.nan
    with pytest.raises(ValueError, match="missing targets"):
        saved(tmp_path, MultiTaskRegressor(), X, missing)
    labels = np.column_stack([Y[:, 0] > 0, np.where(Y[:, 1] > 0, 5, 7)])
    with pytest.raises(ValueError, match="different labels"):
        saved(tmp_path, MultiTaskClassifier(), X, labels)


ODD: dict[str, Callable[[dict[str, Any]], Any]] = {
    "a weaker penalty": lambda a: a["shared"].__setitem__(0, a["shared"][0] / 2),
    "no penalty": lambda a: a["shared"].__setitem__(0, 0.0),
    "another ratio": lambda a: a["shared"].__setitem__(1, 2 * a["shared"][1]),
    "more dimensions than the shares": lambda a: a["shared"].__setitem__(2, 3.0),
    "half a dimension": lambda a: a["shared"].__setitem__(2, 1.5),
    "means that are charged": lambda a: a["shared"].__setitem__(3, 1.0),
    "half a mean": lambda a: a["shared"].__setitem__(3, 0.5),
    "shares above one": lambda a: a["shares"].__setitem__(0, 1.0 + 2.0**-52),
    "more shares than dimensions": lambda a: a["shares"].fill(0.9),
    "a negative share": lambda a: a["shares"].__setitem__(1, -0.1),
    "witnesses that shrink": lambda a: a["turns"][1, :, 0].__imul__(0.9),
    "witnesses that are zero": lambda a: a["turns"].fill(0.0),
    "witnesses that are not finite": lambda a: a["turns"].__setitem__((1, 0, 0), np.nan),
    "witnesses of other coefficients": lambda a: a.update(turns=np.stack([np.eye(4)] * 2)),
    "one witness": lambda a: a.update(turns=a["turns"][:1]),
    "a coefficient twice": lambda a: a["tasks"].__setitem__((0, 0), 1),
    "a coefficient that is not there": lambda a: a["tasks"].__setitem__((0, 0), 99),
    "a coefficient that is left out": lambda a: a.update(tasks=a["tasks"][1:]),
    "an intercept among the tasks": lambda a: a["tasks"].__setitem__((0, 0), 12),
    "bounds beside the penalty": lambda a: a["lower"].__setitem__(0, -1e3),
    "a ridge beside the penalty": lambda a: a["rho"].__setitem__(0, 1.0),
    "a group beside the penalty": lambda a: a["groups"].__setitem__(0, 0),
    "no shares": lambda a: a.pop("shares"),
}


@pytest.mark.parametrize("exact", [False, True])
@pytest.mark.parametrize("how", ODD)
def test_false_penalties_are_refused(tmp_path: Path, how: str, exact: bool) -> None:
    model = MultiTaskRegressor("squared_error", shared_dim=2, tol=1e-10)
    header, arrays = flat(*verify.read(saved(tmp_path, model, X, Y)))
    ODD[how](arrays)
    file = io.BytesIO()
    write(file, header, arrays)
    with pytest.raises(verify.Refused):
        verify.check(file, [(X, Y)], exact)


@pytest.mark.parametrize("seed", range(8))
def test_random_tasks_and_lies_about_them(seed: int) -> None:
    rng = np.random.default_rng(seed)
    one = ProvedTasks.random(rng)
    file = io.BytesIO()
    write(file, one.header, one.arrays)
    found = verify.check(file, one.blocks)
    assert found is not None
    for header, arrays in one.forgeries(rng):
        file = io.BytesIO()
        write(file, header, arrays)
        with pytest.raises(verify.Refused):
            verify.check(file, one.blocks)


@pytest.mark.filterwarnings("ignore::rectiline.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("exact", [False, True])
def test_squares_that_underflow_hide_nothing(tmp_path: Path, exact: bool) -> None:
    """Squares of 1e-170 are zero in doubles, but not when they are divided by a tiny strength."""
    one, y = np.ones((2, 1)), np.array([[1e-170, 1e-170], [1e-170, 1e-170]])
    model = MultiTaskRegressor("squared_error", fit_intercept=False)
    header, arrays = flat(*verify.read(saved(tmp_path, model, one, y)))
    arrays["shared"][0] = 2.0**-1060
    arrays["coef"][:] = arrays["split_coef"][:] = 0.0
    arrays["slopes"][:] = -1e-170
    header["claim"] = {"objective": (0.0).hex(), "gap": (2.0**-1040).hex()}
    file = io.BytesIO()
    write(file, header, arrays)
    with pytest.raises(verify.Refused):
        verify.check(file, [(one, y)], exact)
