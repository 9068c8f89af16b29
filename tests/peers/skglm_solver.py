"""The coordinate descent of skglm, `AndersonCD`, with our solvers in its place.

`Lasso`, `WeightedLasso`, `ElasticNet` and `LinearSVC` end in one call of `AndersonCD.solve` with a
data fit and a penalty. Those that are PLQ are solved here, all others by skglm itself. The tests
import celer at their head, for groups with L2 norms: a stand-in lets the others run.
"""

from __future__ import annotations

import importlib.util
import sys
from typing import Any
from unittest import mock

import numpy as np
from scipy import sparse as sp
from skglm.datafits import Quadratic, QuadraticSVC
from skglm.penalties import L1, IndicatorBox, L1_plus_L2, WeightedL1
from skglm.solvers import AndersonCD

import rectiline as rl

_theirs = AndersonCD.solve


def _penalty(penalty: Any, n: int) -> Any:
    """Our penalty times the number of samples: theirs is added to a mean."""
    strength = n * penalty.alpha
    if isinstance(penalty, L1_plus_L2):
        share = penalty.l1_ratio
        return rl.penalties.ElasticNet(l1=strength * share, l2=strength * (1 - share))
    return rl.penalties.L1(strength, weights=getattr(penalty, "weights", None))


def solve(self, X, y, datafit, penalty, w_init=None, Xw_init=None, **options):
    """Return coefficients (with the intercept last), objectives on the way, and the gap."""
    if isinstance(datafit, QuadraticSVC) and isinstance(penalty, IndicatorBox):
        coef, answer = _support_vectors(X, penalty.alpha)
    elif isinstance(datafit, Quadratic) and type(penalty) in (L1, L1_plus_L2, WeightedL1):
        coef, answer = _lasso(X, y, penalty, self.fit_intercept)
    else:
        return _theirs(self, X, y, datafit, penalty, w_init, Xw_init, **options)
    at_start = w_init is not None and np.array_equal(w_init, coef)
    objectives = [] if at_start else [answer.objective] * max(1, answer.n_iter)
    return coef.astype(X.dtype), np.array(objectives), answer.certificate.gap


def _support_vectors(X, C):
    """Solve for the multipliers; the columns of X are the samples times their labels."""
    rows = X.T.tocsr() if sp.issparse(X) else np.ascontiguousarray(X.T)
    hinge = rl.losses.PiecewiseLQ([0.0], [(0, 0, 0), (0, 1, 0)])  # of the residual 1 - x'b
    ridge = rl.penalties.Ridge(1.0 / C)
    problem = rl.Problem(rows, np.ones(rows.shape[0]), hinge, ridge, fit_intercept=False)
    answer = rl.solve(problem, tol=1e-12)
    return np.clip(-C * answer.dual.sample, 0.0, C), answer


def _lasso(X, y, penalty, fit_intercept):
    positive = rl.constraints.Nonnegative() if penalty.positive else ()
    problem = rl.Problem(
        X, y, "squared_error", _penalty(penalty, len(y)), positive, fit_intercept=fit_intercept
    )
    answer = rl.solve(problem, tol=1e-12, polish=True)
    return np.append(answer.coef, answer.intercept) if fit_intercept else answer.coef, answer


def put_in_place() -> None:
    """Exchange the solver, and celer where it is missing."""
    if importlib.util.find_spec("celer") is None:
        sys.modules["celer"] = mock.MagicMock()
    AndersonCD.solve = solve
