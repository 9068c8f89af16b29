"""The paper's own variant of coordinate ascent: the same answers, one unit at a time."""

import itertools
import time

import numpy as np
import pytest
from cases import CONSTRAINTS, LOSSES
from scipy import sparse as sp

import rectiline as rl
from rectiline import Problem
from rectiline.exceptions import UnsupportedProblemError
from rectiline.losses import Absolute, Hinge, Huber, PiecewiseLQ, Pinball, SquaredError
from rectiline.penalties import ElasticNet, Ridge
from rectiline.solvers import Rehline
from rectiline.solvers._base import Budget
from rectiline.solvers.rehline_units import split_sample_dual

RNG = np.random.default_rng(8)
X = RNG.normal(size=(280, 5))  # more than one block of rows
SIGNAL = X @ [1.0, -0.5, 0.3, 0.0, 0.2] + 0.7 * RNG.normal(size=280)
LABELS = np.where(SIGNAL > 0.1, 1, -1)
WEIGHT = RNG.uniform(0.2, 2.0, 280) * (RNG.random(280) < 0.9)
HOLES = RNG.random(X.shape) < 0.6
SLOPING = RNG.normal(size=(2, 5))
TALL = RNG.normal(size=(3000, 41))
MIXED = PiecewiseLQ([-1, 0, 1], [(0, -2, 0), (0, -1, 1), (0, 0, 1), (0.5, 0, 0.5)])
SWITCHES = [
    dict(zip(("shrink", "shuffle"), flags, strict=True))
    for flags in itertools.product([True, False], repeat=2)
]
NAMED = pytest.mark.parametrize("case", LOSSES, ids=[case.name for case in LOSSES])


def target(loss):
    return LABELS if loss.of == "margin" else SIGNAL


def small(loss, data=X, penalty=None, **more):
    penalty = Ridge(60.0) if penalty is None else penalty
    return Problem(data, target(loss), loss=loss, penalty=penalty, fit_intercept=False, **more)


def caps(units, root):
    """Return the ends of the ReHUs' duals; rows without weight have none to speak of."""
    return units.rehu_tau[:, None] * np.where(root > 0, root, 1.0)


def started(problem, **options):
    method = Rehline(variant="unit", **options)
    form = method.form.apply(problem)
    return method, form, method.start(form, None, 0)


def assert_agrees(problem, sample=None, **options):
    if sample is None:
        sample = rl.solve(problem, solver="rehline", tol=1e-8, accelerate=False)
    unit = rl.solve(problem, solver="rehline", tol=1e-8, variant="unit", **options)
    assert sample.status == unit.status == "solved"
    assert unit.objective == pytest.approx(sample.objective, rel=1e-6)
    np.testing.assert_allclose(unit.coef, sample.coef, atol=1e-3)
    return sample


# ---- the same answers as the exact step per sample --------------------------------------------


@NAMED
def test_every_loss_and_switch_leads_to_the_same_answer(case):
    problem = small(case.loss, sample_weight=WEIGHT)
    sample = None
    for switches in SWITCHES:
        sample = assert_agrees(problem, sample, **switches)


@pytest.mark.parametrize("loss", [Hinge(), MIXED, Huber(0.5)], ids=lambda loss: loss.name)
@pytest.mark.parametrize("case", CONSTRAINTS, ids=[case.name for case in CONSTRAINTS])
def test_penalties_bounds_and_constraints_lead_to_the_same_answer(case, loss):
    for penalty, switches in ((Ridge(60.0), SWITCHES[0]), (ElasticNet(4.0, 60.0), SWITCHES[3])):
        assert_agrees(small(loss, penalty=penalty, constraints=case.make(X)), **switches)


STORAGES = {
    "rows": np.ascontiguousarray,
    "columns": np.asfortranarray,
    "strided": lambda data: np.repeat(data, 2, axis=1)[:, ::2],
    "float32": lambda data: data.astype(np.float32),
    "float32-columns": lambda data: np.asfortranarray(data, dtype=np.float32),
    "sparse": sp.csr_array,
    "sparse-columns": sp.csc_array,
    "sparse-float32": lambda data: sp.csr_array(data.astype(np.float32)),
}


@pytest.mark.parametrize("shuffle", [True, False])
@pytest.mark.parametrize("storage", STORAGES)
def test_storage_changes_nothing(storage, shuffle):
    data = X.astype(np.float32).astype(np.float64) * HOLES
    problem = small(MIXED, data=STORAGES[storage](data), sample_weight=WEIGHT)
    answer = rl.solve(problem, solver="rehline", tol=1e-8, variant="unit", shuffle=shuffle)
    plain = rl.solve(small(MIXED, data=data, sample_weight=WEIGHT), solver="rehline", tol=1e-9)
    assert answer.status == "solved"
    assert answer.objective == pytest.approx(plain.objective, rel=1e-6)


def test_rows_may_pay_different_losses():
    losses = [Pinball(0.2), MIXED, SquaredError()]  # with different numbers of units
    problem = Problem(
        X,
        SIGNAL,
        loss=losses,
        loss_index=np.arange(280) % 3,
        penalty=Ridge(50.0),
        sample_weight=WEIGHT,
        fit_intercept=False,
    )
    for switches in SWITCHES:
        assert_agrees(problem, **switches)


# ---- step by step: Algorithms 1 and 2 in plain Python -----------------------------------------


class Printed:
    """The algorithms of the paper in cyclic order, with the corrections; ridge part rho."""

    def __init__(self, form):
        (units,), c = form.units, form.weight
        p, o, root = form.direction, form.offset, np.sqrt(form.weight)
        self.X, self.rho = X, form.columns.rho[0]
        self.U = c * np.outer(units.relu_u, p)
        self.V = c * (np.outer(units.relu_u, o) + units.relu_v[:, None])
        self.S = root * np.outer(units.rehu_s, p)
        self.T = root * (np.outer(units.rehu_s, o) + units.rehu_t[:, None])
        self.tau = caps(units, root)
        rows = form.problem.constraint_rows
        self.A, self.c = np.asarray(rows.A), rows.c
        self.xi, self.lam = np.zeros(self.c.size), np.zeros(self.U.shape)
        self.gam, self.b = np.zeros(self.S.shape), np.zeros(X.shape[1])
        self.r = (X**2).sum(axis=1) / self.rho
        self.take_back()

    def take_back(self):
        self.sets = {
            "xi": list(np.ndindex(self.xi.shape)),
            "lam": [at for at in np.ndindex(self.lam.shape) if self.U[at] != 0],
            "gam": [at for at in np.ndindex(self.gam.shape) if self.S[at] != 0],
        }
        self.bars = dict.fromkeys(self.sets, (np.inf, -np.inf))

    def gradient(self, name, at):
        """Return the gradient, the second derivative, the dual's end and its row in b."""
        if name == "xi":
            row = self.A[at]
            return row @ self.b + self.c[at], row @ row / self.rho, np.inf, row
        x, r = self.X[at[1]], self.r[at[1]]
        if name == "lam":
            u = self.U[at]
            return -(u * (x @ self.b) + self.V[at]), u * u * r, 1.0, -u * x
        s = self.S[at]
        g = self.gam[at] - (s * (x @ self.b) + self.T[at])
        return g, s * s * r + 1.0, self.tau[at], -s * x

    def sweep(self, shrink):
        for name, order in self.sets.items():
            dual, (above, below) = getattr(self, name), self.bars[name]
            high, low, kept = -np.inf, np.inf, []
            for at in order:
                g, second, cap, row = self.gradient(name, at)
                if (dual[at] == 0 and g > above) or (dual[at] == cap and g < below):
                    continue
                kept.append(at)
                still = (dual[at] == 0 and g >= 0) or (dual[at] == cap and g <= 0)
                high, low = max(high, 0.0 if still else g), min(low, 0.0 if still else g)
                step = np.clip(dual[at] - g / second, 0.0, cap) - dual[at]
                dual[at] += step
                self.b = self.b + step * row / self.rho
            if shrink:
                self.sets[name] = kept
                self.bars[name] = (high if high > 0 else np.inf, low if low < 0 else -np.inf)


@pytest.mark.parametrize("shrink", [True, False])
@pytest.mark.parametrize("loss", [Hinge(), Absolute(), Huber(0.5), MIXED], ids=lambda x: x.name)
def test_sweeps_are_those_of_the_paper(loss, shrink):
    rows = [rl.constraints.LinearInequality(SLOPING, [0.05, -0.1])]
    problem = small(loss, penalty=Ridge(40.0), constraints=rows, sample_weight=WEIGHT)
    method, form, state = started(problem, shrink=shrink, shuffle=False)
    printed = Printed(form)
    done = state.loop.run(6, -1.0, 0.0, 10.0)
    active = 0
    for _ in range(6):
        active = len(printed.sets["lam"]) + len(printed.sets["gam"])
        printed.sweep(shrink)
    assert done.n_active == active and done.sweeps == 6
    weighed = WEIGHT > 0
    tight = {"rtol": 1e-9, "atol": 1e-11}
    np.testing.assert_allclose(state.loop.relu_dual[:, weighed], printed.lam[:, weighed], **tight)
    np.testing.assert_allclose(state.loop.rehu_dual[:, weighed], printed.gam[:, weighed], **tight)
    np.testing.assert_allclose(state.loop.constraint_dual, printed.xi, **tight)
    np.testing.assert_allclose(method.point(state).coef, printed.b, **tight)


# ---- what holds at every point of the loop ----------------------------------------------------


@pytest.mark.parametrize("constrained", [True, False])
@NAMED
def test_unit_duals_stay_in_their_boxes_and_add_up(case, constrained):
    """lambda in [0, 1], gamma in [0, sqrt(c) tau]; their sum is the dual handed out; b follows."""
    rows = CONSTRAINTS[-1].make(X) if constrained else []
    problem = small(case.loss, constraints=rows, sample_weight=WEIGHT)
    method, form, state = started(problem)
    units, root = case.loss.units, np.sqrt(form.weight)
    for sweeps in (1, 4, 120):
        method.advance(state, Budget(sweeps, 10.0, 0.0))
        relu, rehu = state.loop.relu_dual, state.loop.rehu_dual
        assert relu.shape == (units.n_relu, 280) and rehu.shape == (units.n_rehu, 280)
        assert (relu >= 0).all() and (relu <= 1).all()
        assert (rehu >= 0).all() and (rehu <= caps(units, root)).all()
        g = form.weight * (units.relu_u @ relu) + root * (units.rehu_s @ rehu)
        point = method.point(state)
        np.testing.assert_allclose(point.sample, form.direction * g, rtol=1e-12, atol=1e-14)
        assert (point.constraint[: form.n_inequalities] >= 0).all()
        q = form.constraint_design.tdot(point.constraint) - X.T @ point.sample
        np.testing.assert_allclose(point.coef, form.columns.minimiser(q), rtol=1e-8, atol=1e-10)
        assert point.intercept == 0.0


@NAMED
def test_the_dual_never_falls(case):
    method, form, state = started(small(case.loss, penalty=ElasticNet(1.0, 9.0)), shrink=False)
    bounds = []
    for _ in range(12):
        method.advance(state, Budget(1, 10.0, 0.0))
        bounds.append(form.problem.certify(*form.invert(method.point(state))).dual)
    assert (np.diff(bounds) >= -1e-10 * form.problem.objective(np.zeros(5))).all()


@NAMED
def test_its_own_estimate_of_the_gap_is_an_estimate(case):
    problem = small(case.loss, sample_weight=WEIGHT, constraints=CONSTRAINTS[-1].make(X))
    method, form, state = started(problem)
    done = state.loop.run(5000, 0.0, 1e-8, 10.0)
    assert done.reached and not done.interrupted and done.sweeps < 5000
    proof = problem.certify(*form.invert(method.point(state)))
    assert proof.gap / abs(proof.primal) <= 1e-5
    assert done.objective == pytest.approx(proof.primal, rel=1e-4)


def test_shrinking_visits_fewer_units():
    problem = small(Pinball(0.9))
    _, _, shrinking = started(problem)
    assert shrinking.loop.run(8, -1.0, 0.0, 10.0).n_active < 200
    _, _, everything = started(problem, shrink=False)
    assert everything.loop.run(8, -1.0, 0.0, 10.0).n_active == 560


def test_zero_rows_are_never_visited():
    data = X.copy()
    data[::4] = 0.0
    problem = Problem(data, LABELS, loss=Hinge(), penalty=Ridge(9.0), fit_intercept=False)
    method, _, state = started(problem)
    assert state.loop.run(1, 0.0, 0.0, 10.0).n_active == 210
    np.testing.assert_array_equal(method.point(state).sample[::4], -LABELS[::4])
    assert_agrees(problem)


def test_no_rows_at_all_still_meets_the_constraints():
    problem = Problem(
        np.zeros((5, 3)),
        np.ones(5),
        loss=MIXED,
        penalty=Ridge(2.0),
        constraints=[rl.constraints.LinearInequality([1.0, 1.0, 0.0], -2.0)],
        fit_intercept=False,
    )
    solution = rl.solve(problem, solver="rehline", tol=1e-9, variant="unit")
    assert solution.status == "solved"
    np.testing.assert_allclose(solution.coef, [1.0, 1.0, 0.0], atol=1e-6)


# ---- starts and stops -------------------------------------------------------------------------


@NAMED
def test_a_sample_dual_splits_into_unit_duals(case):
    """The split adds up to the same slope, so a warm start is where the other variant stood."""
    problem = small(case.loss, sample_weight=WEIGHT, constraints=CONSTRAINTS[-1].make(X))
    sample = Rehline(accelerate=False)
    form = sample.form.apply(problem)
    state = sample.start(form, None, 0)
    sample.advance(state, Budget(7, 10.0, 0.0))
    point = sample.point(state)
    unit = Rehline(variant="unit")
    restored = unit.point(unit.start(form, point, 0))
    np.testing.assert_allclose(restored.sample, point.sample, rtol=1e-9, atol=1e-9)
    np.testing.assert_array_equal(restored.constraint, point.constraint)
    np.testing.assert_allclose(restored.coef, point.coef, rtol=1e-7, atol=1e-9)
    units = case.loss.units
    relu, rehu = split_sample_dual(form, np.full(280, 1e9))  # of another problem: clipped
    assert relu.shape == (units.n_relu, 280) and rehu.shape == (units.n_rehu, 280)
    assert np.isfinite(relu).all() and np.isfinite(rehu).all()


def test_a_solution_of_either_variant_warm_starts_the_other():
    problem = small(Huber(0.5), sample_weight=WEIGHT)
    for first, second in (("sample", "unit"), ("unit", "sample")):
        cold = rl.solve(problem, solver="rehline", tol=1e-8, variant=first)
        warm = rl.solve(problem, solver="rehline", tol=1e-7, variant=second, warm_start=cold)
        assert warm.n_iter <= 3


def test_the_seed_decides_the_order():
    problem = small(Hinge(), penalty=Ridge(1.0))
    method = Rehline(variant="unit")
    form = method.form.apply(problem)
    coefs = []
    for seed in (3, 3, 4):
        state = method.start(form, None, seed)
        method.advance(state, Budget(2, 10.0, 0.0))
        coefs.append(method.point(state).coef)
    np.testing.assert_array_equal(coefs[0], coefs[1])
    assert (coefs[0] != coefs[2]).any()


def test_a_deadline_stops_the_loop_at_a_consistent_point():
    data = np.asfortranarray(TALL[:, :40])
    y = TALL.sum(axis=1)
    problem = Problem(data, y, loss=Pinball(0.5), penalty=Ridge(1e-3), fit_intercept=False)
    method, form, state = started(problem, shrink=False)
    began = time.perf_counter()
    done = state.loop.run(10**9, -1.0, 0.0, 0.05)
    assert done.interrupted and not done.reached
    assert time.perf_counter() - began < 5.0
    point = method.point(state)
    np.testing.assert_allclose(
        point.coef, form.columns.minimiser(-data.T @ point.sample), rtol=1e-6, atol=1e-6
    )


def test_patience_gives_up_when_too_many_sweeps_are_left():
    method, _, state = started(small(Absolute(), penalty=Ridge(1e-4)), patience=5)
    step = method.advance(state, Budget(10_000, 10.0, 1e-12))
    assert step.exhausted and step.iterations < 1000


# ---- refusals ---------------------------------------------------------------------------------


def test_an_intercept_is_refused_with_a_way_out():
    problem = Problem(X, LABELS, loss=Hinge(), penalty=Ridge(1.0))
    with pytest.raises(UnsupportedProblemError, match="variant='sample'") as refusal:
        rl.solve(problem, solver="rehline", variant="unit")
    assert "fit_intercept" in str(refusal.value)


def test_an_unknown_variant_is_refused():
    with pytest.raises(ValueError, match="variant='row': must be 'sample' or 'unit'"):
        Rehline(variant="row")
