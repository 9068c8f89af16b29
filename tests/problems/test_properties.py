"""Properties that hold for every small problem hypothesis can think of."""

import numpy as np
import pytest
from cases import COUPLED, FLAT, LOSSES, RIDGES
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

import rectiline as rl
from rectiline import DualPoint, Problem
from rectiline.constraints import Box, LinearEquality, LinearInequality, Monotone, Nonnegative
from rectiline.losses import Absolute, Huber, Pinball
from rectiline.penalties import ElasticNet, Ridge

# Round numbers make ties, zeros and repeated rows likely.
entries = st.one_of(
    st.integers(-3, 3).map(float),
    st.floats(-100, 100, allow_subnormal=False),
    st.floats(-1e-6, 1e-6, allow_subnormal=False),
)
multipliers = st.one_of(st.just(0.0), st.floats(-1e9, 1e9, allow_subnormal=False))


def vectors(size, elements=entries):
    return hnp.arrays(np.float64, size, elements=elements)


@st.composite
def problems(draw, penalties=(*RIDGES, *FLAT, *COUPLED)):
    n, d = draw(st.integers(2, 8)), draw(st.integers(3, 5))
    loss = draw(st.sampled_from(LOSSES)).loss
    X = draw(hnp.arrays(np.float64, (n, d), elements=entries))
    y = draw(vectors(n))
    if loss.of == "margin":
        y = np.where(np.arange(n) % 2 == 0, 1.0, -1.0)
    weight = draw(st.one_of(st.none(), vectors(n, st.sampled_from([0.0, 0.5, 1.0, 7.0]))))
    if weight is not None:
        weight[0] = 1.0
    constraints = draw(
        st.sampled_from(
            [
                [],
                [Nonnegative()],
                [Box(-1.0, 2.0)],
                [Monotone(), Box(upper=1.0)],
                [LinearInequality(np.ones(d), 0.5), LinearEquality(np.arange(d) - 1.0)],
            ]
        )
    )
    return Problem(
        X,
        y,
        loss=loss,
        penalty=draw(st.sampled_from(penalties)).make(d),
        constraints=constraints,
        sample_weight=weight,
        fit_intercept=draw(st.booleans()),
    )


@st.composite
def pairs(draw):
    """A problem with any coefficients, intercept and multipliers."""
    problem = draw(problems())
    rows = problem.constraint_rows
    dual = DualPoint(
        draw(vectors(problem.n_samples, multipliers)),
        draw(vectors(rows.c.size, multipliers)),
        draw(vectors(rows.f.size, multipliers)),
    )
    intercept = draw(entries) if problem.fit_intercept else 0.0
    return problem, draw(vectors(problem.n_features)), intercept, dual


@given(pairs())
def test_no_gap_is_negative(pair):
    problem, coef, intercept, dual = pair
    proof = problem.certify(coef, intercept, dual)
    assert proof.gap >= 0.0
    assert proof.dual <= proof.primal
    assert proof.relative_gap >= 0.0
    assert proof.violation >= 0.0


@given(pairs(), st.data())
def test_a_bound_is_below_every_feasible_value(pair, data):
    """The bound proved at one point holds at every other feasible point."""
    problem, coef, intercept, dual = pair
    proof = problem.certify(coef, intercept, dual)
    bound = proof.dual  # a difference: it is rounded as the objective is
    other = problem.move_into_constraints(data.draw(vectors(problem.n_features)))
    if problem.violation(other)[0] > 0.0:
        return
    offset = data.draw(entries) if problem.fit_intercept else 0.0
    value = problem.objective(other, offset)
    level = abs(value) + abs(bound) + problem.objective(np.zeros(problem.n_features))
    assert bound <= value + 1e-9 * level + 1e-14 * proof.primal


@given(pairs(), st.integers(-8, 8))
def test_bounds_scale_with_the_weights(pair, exponent):
    """Weights, multipliers and strength times a power of two: every number is multiplied."""
    problem, coef, intercept, dual = pair
    factor = 2.0**exponent

    def proof_at(unit):
        times = Problem(
            problem.design,
            np.where(np.arange(problem.n_samples) % 2 == 0, 1.0, -1.0),
            loss=problem.loss,
            penalty=ElasticNet(0.5 * unit, 2.0 * unit),
            sample_weight=unit * problem.weight,
            fit_intercept=problem.fit_intercept,
        )
        return times.certify(coef, intercept, unit * dual.sample)

    one, many = proof_at(1.0), proof_at(factor)
    assert many.primal == pytest.approx(factor * one.primal, rel=1e-12)
    assert many.gap == pytest.approx(factor * one.gap, rel=1e-9)


@given(problems(penalties=RIDGES[:2]))
def test_what_is_solved_is_proved(problem):
    if problem.has_constraint_rows and problem.feasibility.proof is not None:
        return
    size = np.abs(problem.design.X).max()
    if size > 10.0:  # coordinate ascent may need too many sweeps
        return
    solution = rl.solve(problem, solver="rehline", callback=lambda progress: progress.n_iter > 5000)
    proof = solution.certificate
    assert proof.gap >= 0.0 and proof.primal >= proof.dual
    if solution.status == "solved":
        assert proof.relative_gap <= 1e-6
        again = problem.certify(solution.coef, solution.intercept, solution.dual)
        assert abs(again.primal - proof.primal) <= again.rounding + proof.rounding
        assert again.relative_violation <= 1e-9
        # and nothing nearby is better than the proof allows
        rng = np.random.default_rng(0)
        for _ in range(5):
            moved = solution.coef + 1e-2 * rng.normal(size=problem.n_features)
            moved = problem.move_into_constraints(moved)
            if problem.violation(moved)[0] == 0.0:
                value = problem.objective(moved, solution.intercept)
                assert value >= proof.dual - 1e-12 * abs(proof.primal)


@given(
    hnp.arrays(np.float64, (6, 3), elements=st.floats(-5, 5)),
    hnp.arrays(np.float64, 6, elements=st.floats(-5, 5)),
    st.sampled_from([Absolute(), Pinball(0.2), Huber(0.5)]),
    st.sampled_from([Ridge(3.0), ElasticNet(0.4, 2.0)]),
    st.booleans(),
)
def test_a_weight_of_two_is_a_repeated_row(X, y, loss, penalty, intercept):
    weight = np.array([2.0, 1.0, 3.0, 1.0, 1.0, 0.0])
    count = weight.astype(int)
    whole = Problem(X, y, loss=loss, penalty=penalty, sample_weight=weight, fit_intercept=intercept)
    repeated = Problem(
        np.repeat(X, count, axis=0),
        np.repeat(y, count),
        loss=loss,
        penalty=penalty,
        fit_intercept=intercept,
    )
    for coef in (np.zeros(3), np.array([0.5, -1.0, 2.0])):
        assert whole.objective(coef) == pytest.approx(repeated.objective(coef), rel=1e-12)
