"""What every form promises: the objective of its problem, and a way back."""

import numpy as np
import pytest
from cases import COUPLED, SEPARABLE, SolverCase
from combinations import pairwise
from scipy import sparse

from rectiline import DualPoint, Problem
from rectiline.constraints import Box, LinearEquality, LinearInequality, Monotone
from rectiline.losses import Absolute
from rectiline.penalties import Ridge
from rectiline.problems.forms import RectifiedForm

FORMS = [RectifiedForm]
CASES = pairwise(SolverCase("any", SEPARABLE))[::2]
forms = pytest.mark.parametrize("form", FORMS)
cases = pytest.mark.parametrize("case", CASES, ids=[case.name for case in CASES])


def random_pair(problem, seed=0):
    rng, rows = np.random.default_rng(seed), problem.constraint_rows
    low, high = problem.dual_boxes
    dual = DualPoint(
        np.clip(rng.normal(size=problem.n_samples), low, high),
        np.abs(rng.normal(size=rows.c.size)),
        rng.normal(size=rows.f.size),
    )
    return rng.normal(size=problem.n_features), rng.normal() * problem.fit_intercept, dual


@forms
@cases
def test_invert_undoes_point_of(form, case):
    problem = case.problem
    made = form.apply(problem)
    coef, intercept, dual = random_pair(problem)
    back_coef, back_intercept, back = made.invert(made.point_of(coef, intercept, dual))
    np.testing.assert_array_equal(back_coef, coef)
    assert back_intercept == intercept
    np.testing.assert_array_equal(back.sample, dual.sample)
    np.testing.assert_array_equal(back.inequality, dual.inequality)
    np.testing.assert_array_equal(back.equality, dual.equality)


@cases
def test_the_rectified_form_has_the_objective_of_its_problem(case):
    problem = case.problem
    form = RectifiedForm.apply(problem)
    coef, intercept, _ = random_pair(problem)
    inside = np.clip(coef, form.columns.lower, form.columns.upper)
    for b in (coef, inside):
        z = form.design.dot(b) + intercept
        value = form.rows.loss(z) + form.columns.value(b)
        assert value == pytest.approx(problem.objective(b, intercept), rel=1e-14)


@cases
def test_the_rectified_form_has_the_constraints_of_its_problem(case):
    problem = case.problem
    form = RectifiedForm.apply(problem)
    coef, _, _ = random_pair(problem)
    value = form.constraint_design.dot(coef) + form.constraint_offset
    equality = form.is_equality.astype(bool)
    assert form.n_constraints == value.size
    assert not equality[: form.n_inequalities].any() and equality[form.n_inequalities :].all()
    worst = np.max(np.where(equality, np.abs(value), -value), initial=0.0)
    outside = np.maximum(form.columns.lower - coef, coef - form.columns.upper)
    worst = max(worst, np.max(outside, initial=0.0))
    assert problem.violation(coef)[0] == pytest.approx(worst, rel=1e-12, abs=1e-15)


@forms
def test_the_data_is_shared(form):
    problem = CASES[0].problem
    assert form.apply(problem).design is problem.design
    assert form.apply(problem).problem is problem


@forms
@pytest.mark.parametrize("penalty", COUPLED, ids=[case.name for case in COUPLED])
def test_a_penalty_that_couples_columns_has_no_rectified_form(form, penalty):
    problem = Problem(np.eye(4), np.ones(4), loss=Absolute(), penalty=penalty.make(4))
    reason = form.accepts(problem)
    assert type(problem.penalty).__name__ in reason and "couples columns" in reason
    with pytest.raises(ValueError, match="couples columns"):
        form.apply(problem)


@pytest.mark.parametrize("sparse_rows", [False, True])
def test_rows_are_stacked_inequalities_first(sparse_rows):
    A, E = np.eye(30)[:2], np.ones((1, 30))
    store = sparse.csr_array if sparse_rows else np.asarray
    problem = Problem(
        np.ones((3, 30)),
        np.ones(3),
        loss=Absolute(),
        penalty=Ridge(1.0),
        constraints=[LinearEquality(store(E), -2.0), LinearInequality(store(A), 1.0), Box(0, 9)],
    )
    form = RectifiedForm.apply(problem)
    coef = np.arange(30.0)
    np.testing.assert_allclose(form.constraint_design.dot(coef), [0.0, 1.0, coef.sum()])
    np.testing.assert_array_equal(form.constraint_offset, [1.0, 1.0, -2.0])
    np.testing.assert_array_equal(form.is_equality, [0, 0, 1])
    alone = RectifiedForm.apply(
        Problem(np.ones((3, 300)), np.ones(3), loss=Absolute(), constraints=[Monotone()])
    )
    assert alone.constraint_design.is_sparse and alone.n_inequalities == 299
