"""Wrong input is refused with a message that names the argument, the value and what is allowed."""

import math

import numpy as np
import pytest

import rectiline as rl
from rectiline import DualPoint, Problem
from rectiline.constraints import Box, Fairness, LinearEquality, LinearInequality, Nonnegative
from rectiline.losses import Absolute, Hinge, Huber, Pinball
from rectiline.penalties import L1, ElasticNet, GroupLinf, Ridge, Slope

RNG = np.random.default_rng(0)
X = RNG.normal(size=(12, 3))
LABELS = np.where(X[:, 0] > 0, 1, -1)
TARGETS = X @ [1.0, -2.0, 0.5]


def regression(**changes):
    given = {"X": X, "y": TARGETS, "loss": Absolute(), **changes}
    return Problem(given.pop("X"), given.pop("y"), **given)


def classification(**changes):
    return regression(**{"y": LABELS, "loss": Hinge(), **changes})


def bad(array, value):
    changed = np.array(array, dtype=float)
    changed.flat[7] = value
    return changed


BAD_PROBLEMS = [
    # NaN, infinity, shapes, dtypes, emptiness of X
    (lambda: regression(X=bad(X, math.nan)), r"X contains NaN or infinity: X\[2, 1\] is nan"),
    (lambda: regression(X=bad(X, -math.inf)), r"X\[2, 1\] is -inf"),
    (lambda: regression(X=X[:, 0]), "X must be a 2-D array"),
    (lambda: regression(X=X[:, :0]), "X has no columns"),
    (lambda: regression(X=X[:0], y=[]), "X has no rows"),
    (lambda: regression(X=X[:0]), "X has no rows"),
    (
        lambda: regression(X=np.full((12, 3), "a", dtype=object)),
        "X must hold real numbers; got dtype object",
    ),
    # y
    (lambda: regression(y=bad(TARGETS, math.nan)), r"y must hold finite numbers.*y\[7\] is nan"),
    (lambda: regression(y=bad(TARGETS, math.inf)), r"y\[7\] is inf"),
    (lambda: regression(y=TARGETS[:-1]), "y has 11 entries but X has 12 rows"),
    (lambda: classification(y=LABELS[:-1]), "y has 11 entries but X has 12 rows"),
    (lambda: regression(y=TARGETS[:, None]), r"y must be one-dimensional.*\(12, 1\)"),
    (lambda: regression(y=3.0), "y must be one-dimensional"),
    (lambda: regression(y=["a"] * 12), "y must hold finite numbers"),
    (lambda: regression(y=np.array([object()] * 12)), "y must hold finite numbers"),
    (lambda: classification(y=np.ones(12)), "y has one class only, 1.0"),
    (lambda: classification(y=["yes"] * 12), "y has one class only, 'yes'"),
    (lambda: classification(y=np.arange(12) % 3), "y has 3 distinct labels"),
    (lambda: classification(y=TARGETS), "y has 12 distinct labels"),
    (lambda: classification(y=bad(LABELS, math.nan)), r"y\[7\] is nan; labels must be finite"),
    (lambda: classification(y=[None] * 12), r"y\[0\] is None"),
    # weights
    (lambda: regression(sample_weight=bad(np.ones(12), -2.0)), r"sample_weight\[7\] is -2.0"),
    (lambda: regression(sample_weight=bad(np.ones(12), math.nan)), r"sample_weight\[7\] is nan"),
    (lambda: regression(sample_weight=bad(np.ones(12), math.inf)), r"sample_weight\[7\] is inf"),
    (lambda: regression(sample_weight=np.zeros(12)), "sample_weight must have at least one"),
    (lambda: regression(sample_weight=np.ones(11)), r"sample_weight must have shape \(12,\)"),
    (lambda: regression(sample_weight=np.ones((12, 1))), r"sample_weight must have shape \(12,\)"),
    (lambda: regression(sample_weight=["a"] * 12), "sample_weight"),
    (lambda: regression(sample_weight=-1.0), "sample_weight"),
    # losses
    (lambda: Pinball(quantile=0.0), r"quantile=0.0.*strictly between 0 and 1"),
    (lambda: Pinball(quantile=1.0), "quantile=1.0"),
    (lambda: Pinball(quantile=1.2), "quantile=1.2"),
    (lambda: Pinball(quantile=math.nan), "quantile=nan"),
    (lambda: rl.losses.Expectile(quantile=-0.1), "quantile=-0.1"),
    (lambda: Huber(delta=0.0), "delta"),
    (lambda: rl.losses.EpsilonInsensitive(epsilon=-1.0), "epsilon"),
    # constraints
    (lambda: Box(lower=1.0, upper=0.0), "lower bound 1 > upper bound 0"),
    (lambda: Box([0.0, 2.0], [1.0, 1.0]), "lower bound 2 > upper bound 1 at column 1"),
    (
        lambda: regression(constraints=[Nonnegative(), Box(upper=[1.0, -1.0, 2.0])]),
        "column 1: lower bound 0 > upper bound -1",
    ),
    (lambda: regression(constraints=[Box(lower=[0.0, 1.0])]), "lower has 2 values.*3 columns"),
    (lambda: regression(constraints=[LinearInequality(np.ones((1, 4)))]), "A has 4 columns"),
    (lambda: regression(constraints=[LinearEquality(np.ones((1, 2)))]), "E has 2 columns"),
    (lambda: LinearInequality([[1.0, math.nan]]), "A"),
    (lambda: LinearEquality([[1.0, 0.0]], [math.inf]), "f"),
    (lambda: regression(constraints=[Fairness(np.ones(5), 0.1)]), "sensitive"),
    (lambda: Fairness(np.ones(12), -0.1), "tolerance"),
    (lambda: regression(constraints="abc"), 'constraints "abc": it names columns'),
    # penalties
    (lambda: regression(penalty=L1(1.0, weights=[1.0, 2.0])), "weights"),
    (lambda: regression(penalty=Slope([2.0, 1.0])), "strengths"),
    (lambda: regression(penalty=GroupLinf(1.0, [0, 1])), "2 group labels.*3 columns"),
    (lambda: GroupLinf(1.0, [[0, 1], [1, 2]]), "groups"),
    (lambda: regression(penalty=GroupLinf(1.0, [[0, 7]])), "groups"),
    (lambda: Ridge(-1.0), "strength"),
    (lambda: ElasticNet(1.0, math.nan), "l2"),
    (lambda: Slope([1.0, 2.0]), "strengths"),
]


@pytest.mark.parametrize(("make", "message"), BAD_PROBLEMS, ids=[m for _, m in BAD_PROBLEMS])
def test_bad_values(make, message):
    with pytest.raises(ValueError, match=message):
        make()


BAD_TYPES = [
    (lambda: regression(loss=None), "loss must be a Loss .* or the name of one; got None"),
    (lambda: regression(loss=Hinge), r"loss=Hinge is a class; give an object: Hinge\(\)"),
    (lambda: regression(penalty=1.0), "penalty must be a Penalty.*1.0"),
    (lambda: regression(penalty=Ridge), r"penalty=Ridge is a class; give an object: Ridge\(\)"),
    (lambda: regression(constraints=[1]), "constraints must be a Constraint .*got 1"),
    (lambda: regression(constraints=[Nonnegative]), "constraints=Nonnegative is a class"),
    (lambda: regression(constraints=[b"abc"]), "constraints must be a Constraint .*b'abc'"),
    (
        lambda: regression().with_penalty(2.0),
        "penalty must be a Penalty such as .* or None; got 2.0",
    ),
]


@pytest.mark.parametrize(("make", "message"), BAD_TYPES, ids=[m for _, m in BAD_TYPES])
def test_bad_types(make, message):
    with pytest.raises(TypeError, match=message):
        make()


@pytest.fixture
def problem():
    return regression(
        constraints=[LinearInequality(np.eye(3)[:2]), LinearEquality(np.ones((1, 3)))],
        fit_intercept=False,
    )


def finite_dual(sample=12, inequality=2, equality=1):
    return DualPoint(np.zeros(sample), np.zeros(inequality), np.zeros(equality))


BAD_POINTS = [
    (([0.0, 0.0],), r"coef must have shape \(3,\).*\(2,\)"),
    ((np.zeros((3, 1)),), r"coef must have shape \(3,\)"),
    (([0.0, math.nan, 0.0],), "coef and intercept must be finite"),
    (([0.0, 1.0, 0.0], math.inf), "coef and intercept must be finite"),
    (([0.0, 1.0, 0.0], 1.0), "intercept=1.0 but the problem has no intercept"),
    (([0.0, 1.0, 0.0], 0.0, np.zeros(11)), r"dual: the sample part must hold 12.*\(11,\)"),
    (([0.0, 1.0, 0.0], 0.0, np.full(12, math.nan)), "dual: the sample part must hold 12 finite"),
    (([0.0, 1.0, 0.0], 0.0, finite_dual(inequality=3)), "dual: the inequality part must hold 2"),
    (([0.0, 1.0, 0.0], 0.0, finite_dual(equality=2)), "dual: the equality part must hold 1"),
    (
        ([0.0, 1.0, 0.0], 0.0, DualPoint(np.zeros(12), np.array([math.inf, 0.0]))),
        "dual: the inequality part must hold 2 finite",
    ),
]


@pytest.mark.parametrize(("point", "message"), BAD_POINTS, ids=[m for _, m in BAD_POINTS])
def test_bad_points_are_not_certified(problem, point, message):
    with pytest.raises(ValueError, match=message):
        problem.certify(*point)


def test_bad_points_have_no_objective(problem):
    with pytest.raises(ValueError, match=r"coef must have shape \(3,\)"):
        problem.objective([1.0])
    with pytest.raises(ValueError, match=r"coef must have shape \(3,\)"):
        problem.violation([1.0])


def test_bounds_that_contradict_each_other_are_infeasible():
    bounds = [rl.constraints.Box(lower=2.0), rl.constraints.Box(upper=1.0)]
    with pytest.raises(rl.InfeasibleError, match=r"column 0: lower bound 2 > upper bound 1"):
        rl.Problem(np.eye(3), np.ones(3), "absolute", constraints=bounds)
    with pytest.raises(rl.InfeasibleError, match="exclude each other"):
        rl.PLQRegressor(constraints=bounds).fit(np.eye(3), np.ones(3))
