"""What every constraint promises, checked on every constraint."""

import copy
import pickle

import numpy as np
import pytest
from scipy import sparse

from rectiline import constraints
from rectiline.constraints import Constraint, ConstraintRows, Fairness, LinearInequality, combine

from .cases import CONSTRAINTS, DESIGN, D

every_constraint = pytest.mark.parametrize("case", CONSTRAINTS, ids=lambda case: case.name)


def broken_by(rows: ConstraintRows, b: np.ndarray) -> float:
    parts = [-(rows.A @ b + rows.c), np.abs(rows.E @ b + rows.f), rows.lower - b, b - rows.upper]
    return max(0.0, float(np.max(np.concatenate(parts))))


@every_constraint
def test_rows_hold_exactly_where_the_definition_does(case):
    rows = case.constraint.rows(D, DESIGN)
    for b in case.points():
        assert broken_by(rows, b) == pytest.approx(case.broken_by(b), abs=1e-13)


@every_constraint
def test_rows_have_the_promised_types_and_shapes(case):
    rows = case.constraint.rows(D, DESIGN)
    assert isinstance(rows, ConstraintRows)
    assert rows.n_features == D
    for matrix, shift in ((rows.A, rows.c), (rows.E, rows.f)):
        assert matrix.shape == (shift.size, D)
        assert matrix.dtype == shift.dtype == np.float64
        assert isinstance(matrix, np.ndarray | sparse.csr_array)
        assert np.all(np.isfinite(shift))
    assert rows.lower.shape == rows.upper.shape == (D,)
    assert rows.lower.dtype == rows.upper.dtype == np.float64
    assert rows.is_empty == (case.name in {"box-open", "fairness-constant"})


@every_constraint
def test_constraints_are_values(case):
    for twin in (
        pickle.loads(pickle.dumps(case.constraint)),
        copy.copy(case.constraint),
        copy.deepcopy(case.constraint),
    ):
        assert twin == case.constraint
        assert hash(twin) == hash(case.constraint)
        with pytest.raises(AttributeError, match="immutable"):
            twin.anything = 1
        with pytest.raises(AttributeError, match="immutable"):
            del twin.anything


@every_constraint
def test_short_representations_make_the_constraint_again(case):
    text = repr(case.constraint)
    assert text.startswith(type(case.constraint).__name__ + "(")
    if "<" not in text:
        assert eval(text, vars(constraints)) == case.constraint


def test_all_are_constraints_and_differ():
    assert all(isinstance(case.constraint, Constraint) for case in CONSTRAINTS)
    assert len({case.constraint for case in CONSTRAINTS}) == len(CONSTRAINTS)
    assert CONSTRAINTS[0].constraint != "Nonnegative()"


@pytest.mark.parametrize("form", ["csr", "csc", "coo", "lil", "dok", "dia", "bsr"])
@pytest.mark.parametrize("kind", ["matrix", "array"])
def test_every_sparse_format_is_read_and_left_alone(form, kind):
    dense = np.array([[0.0, 2.0, 0.0], [1.0, 0.0, -1.0]])
    given = getattr(sparse, f"{form}_{kind}")(dense)
    constraint = LinearInequality(given, [1.0, 2.0])
    rows = constraint.rows(3)
    assert isinstance(rows.A, sparse.csr_array)
    np.testing.assert_array_equal(rows.A.toarray(), dense)
    assert constraint == LinearInequality(sparse.csr_array(dense), [1.0, 2.0])
    np.testing.assert_array_equal(given.toarray(), dense)
    np.testing.assert_array_equal(rows.A.T @ np.ones(2), dense.sum(axis=0))


def test_what_was_given_may_change_afterwards():
    A, s = np.eye(2), np.array([0.0, 1.0])
    linear, fair = LinearInequality(A, 1.0), Fairness(s, 0.1)
    S = sparse.csr_array(np.eye(2))
    thin = LinearInequality(S, 1.0)
    A[0, 0], s[0], S.data[0] = 9.0, 9.0, 9.0
    assert linear.A[0, 0] == 1.0
    assert thin.A[0, 0] == 1.0
    assert fair.sensitive[0] == 0.0
    for array in (linear.A, linear.c, thin.A.data, thin.A.indices, fair.sensitive):
        with pytest.raises(ValueError, match="read-only"):
            array[...] = 0


def test_all_constraints_combine():
    # The bounds of all boxes at once still leave room.
    parts = [case.constraint.rows(D, DESIGN) for case in CONSTRAINTS]
    rows = combine(parts, D)
    rng = np.random.default_rng(0)
    for _ in range(20):
        b = rng.normal(size=D)
        assert broken_by(rows, b) == pytest.approx(max(c.broken_by(b) for c in CONSTRAINTS))
