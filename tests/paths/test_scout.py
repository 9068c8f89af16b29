"""Paths of many samples that few of them go ahead of."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse

import rectiline as rl
from rectiline.estimators import PLQClassifierCV
from rectiline.estimators import _search as search_module
from rectiline.paths import _ahead as ahead
from rectiline.paths import _path as path_module
from rectiline.paths import _scout as scout
from rectiline.paths import default_strengths, path
from rectiline.penalties import L1, Ridge

RNG = np.random.default_rng(3)
N, D = 4000, 4
X = RNG.normal(size=(N, D)) * [1, 20, 0.1, 1] + [0, 30, 0, 0]
Y = X[:, 0] - 3 * X[:, 2] + 0.03 * X[:, 1] + RNG.standard_t(3, N)
LABELS = np.where(np.quantile(Y, 0.4) < Y, 1, -1)
LOSSES = [rl.losses.Hinge(), rl.losses.Absolute(), rl.losses.EpsilonInsensitive(0.5)]


@pytest.fixture
def small(monkeypatch):
    """Sizes from which on scouts pay, brought down to those of tests; what scouts returned."""
    monkeypatch.setattr(scout, "_SIZE", 10_000)
    monkeypatch.setattr(ahead, "_FOCUS_SIZE", 1000)
    found, original = {}, path_module._scouted

    def heard(problem, *others):
        found[problem.n_samples] = original(problem, *others)
        return found[problem.n_samples]

    monkeypatch.setattr(path_module, "_scouted", heard)
    return found


def problem(loss, penalty=Ridge(1.0), rows=slice(None), weight=None, layout=np.asarray):  # noqa: B008
    y = LABELS if loss.of == "margin" else Y
    return rl.Problem(layout(X[rows]), y[rows], loss, penalty, sample_weight=weight)


def check(one, found, tol=1e-3):
    assert found.relative_gaps.max() <= tol
    for strength, solution in list(zip(found.strengths, found, strict=True))[::4]:
        here = one.with_penalty(one.penalty.with_strength(float(strength)))
        assert here.certify(solution.coef, solution.intercept, solution.dual).relative_gap <= tol
        best = rl.solve(here, tol=1e-8).certificate.primal
        assert best * (1 - 1e-8) <= solution.certificate.primal <= best * (1 + 1.1 * tol)


@pytest.mark.parametrize("loss", LOSSES, ids=repr)
@pytest.mark.parametrize("layout", [np.asarray, np.asfortranarray, np.float32, sparse.csr_array])
def test_paths_behind_scouts_are_certified(loss, layout, small):
    one = problem(loss, layout=layout)
    found = path(one, tol=1e-3)
    assert len(found) == 30 and isinstance(small[N], scout.Scout)
    check(one, found)


def test_weights_and_order_of_the_samples_do_no_harm(small):
    weight = RNG.uniform(0.5, 2, N) * (np.arange(N) % 8 > 0)  # every eighth is left out
    rows = np.argsort(Y)
    one = problem(rl.losses.Absolute(), rows=rows, weight=weight)
    part = scout.scouting_part(one, default_strengths(one, 30), 1e-3)
    assert part.n_samples > N // 25 and (part.weight > 0).all()
    np.testing.assert_allclose(part.weight.sum(), weight.sum())
    assert (
        np.unique(np.diff(np.flatnonzero(np.isin(Y[rows], -part.direction * part.offset)))).size > 5
    )
    check(one, path(one, tol=1e-3))


def test_scouts_that_are_led_astray_cost_time_only(small, monkeypatch):
    original = scout.Problem.on_rows

    def astray(self, chosen, weight):
        found = original(self, chosen, weight)
        found.direction = -found.direction
        return original(found, np.arange(found.n_samples), weight)

    monkeypatch.setattr(scout.Problem, "on_rows", astray)
    one = problem(rl.losses.Hinge())
    found = path(one, tol=1e-3)
    assert small[N] is not None
    check(one, found)


@pytest.mark.parametrize(
    "one, tol",
    [
        (problem(rl.losses.Huber()), 1e-3),  # no kinks
        (problem(rl.losses.Hinge()), 1e-6),
        (problem(rl.losses.Hinge(), L1(1.0)), 1e-3),
        (problem(rl.losses.Hinge(), rows=slice(1000)), 1e-3),  # few samples
        (problem(rl.losses.Hinge(), weight=np.where(LABELS > 0, 1.0, 0.0)), 1e-3),
    ],
    ids=["smooth", "accurate", "l1", "few", "one class"],
)
def test_nobody_goes_ahead_where_that_does_not_pay(one, tol, small):
    assert scout.scouting_part(one, np.geomspace(10, 0.1, 30), tol) is None


def test_those_who_listen_hear_of_answers_one_by_one(small):
    heard = []
    path(problem(rl.losses.Hinge()), tol=1e-3, callback=lambda progress: heard.append(progress))
    assert len(heard) >= 30 and not small


def test_a_search_begins_with_scouts(small, monkeypatch):
    monkeypatch.setattr(search_module, "_SMALL", 1000)
    search = PLQClassifierCV(loss="hinge").fit(X, LABELS)
    assert [n for n, one in small.items() if one is not None] == [N]
    assert search.path_.relative_gaps.max() <= 1e-3


@pytest.mark.parametrize("options", [{"solver": "newton"}, {"max_iter": 50}], ids=repr)
def test_nobody_goes_ahead_of_those_who_know_the_way(options, small):
    found = path(problem(rl.losses.Hinge()), tol=1e-3, n_strengths=8, **options)
    assert len(found) == 8 and small[N] is None


@pytest.mark.parametrize("tol", ["small", -1.0, None])
def test_what_is_wrong_with_a_tolerance_is_said(tol, small):
    with pytest.raises((TypeError, ValueError), match="tol"):
        path(problem(rl.losses.Hinge()), tol=tol, n_strengths=8)
