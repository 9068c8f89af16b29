"""The Frisch-Newton solver of pyfixest's `quantreg` with ours in its place.

Every quantile regression of pyfixest is one call of `frisch_newton_solver`; here its coefficients
come from `rectiline.Problem` with the pinball loss. The tests import rpy2 at their head, for
comparisons with R: where there is no R a stand-in lets the others run.
"""

from __future__ import annotations

import importlib
import importlib.util
import sys
from unittest import mock

import numpy as np

import rectiline as rl


def frisch_newton_solver(A, b, c, u, q, **options):
    """Return the coefficients, whether they are proved and after how many iterations.

    The variables of their linear program follow; nothing reads them.
    """
    problem = rl.Problem(
        np.ascontiguousarray(A.T), -np.ravel(c), rl.losses.Pinball(q), None, fit_intercept=False
    )
    solution = rl.solve(problem, tol=1e-9, polish=True)
    return solution.coef, solution.status == "solved", solution.n_iter, *[None] * 5


def put_in_place() -> None:
    """Exchange the solver, and rpy2 where it is missing."""
    if importlib.util.find_spec("rpy2") is None:
        for name in ("rpy2", "rpy2.robjects", "rpy2.robjects.packages"):
            sys.modules[name] = mock.MagicMock()
    theirs = importlib.import_module("pyfixest.estimation.quantreg.quantreg_")
    theirs.frisch_newton_solver = frisch_newton_solver
