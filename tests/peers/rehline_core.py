"""The compiled module of rehline, `rehline._internal`, with our solver in its place.

Every class of rehline ends in one call, `rehline_internal(result, X, A, b, rho, U, ...)`; here it
solves `rectiline.Problem.from_units` and fills in the result. Starting points are not used.
"""

from __future__ import annotations

import warnings

import numpy as np

import rectiline as rl

_TOL = 1e-10  # their tests compare coefficients to 1e-6


class rehline_result:
    """Coefficients, multipliers of units, constraints and L1 terms, and how the solver ended."""

    def __init__(self):
        self.beta = self.xi = self.mu = np.zeros(0)
        self.Lambda = self.Gamma = np.zeros((0, 0))
        self.niter, self.dual_objfns, self.primal_objfns = 0, [], []


def rehline_internal(
    result, X, A, b, rho, U, V, S, T, Tau, max_iter, tol, shrink=1, verbose=0, trace_freq=100
):
    """Minimise the units plus ``|beta|^2 / 2 + rho' |beta|`` over ``A beta + b >= 0``."""
    X, n = np.asarray(X, dtype=float), len(X)
    U, V, S, T, Tau = (np.reshape(one, (-1, n)).astype(float) for one in (U, V, S, T, Tau))
    relu = {"U": U, "V": V} if U.size else {}
    rehu = {"S": S, "T": T, "tau": Tau} if S.size else {}
    penalty = rl.penalties.Ridge(1.0)
    if np.any(rho):
        penalty = rl.penalties.Columnwise(l1=rho, l2=np.ones_like(rho))
    rows = {"A": A, "b": b} if len(A) else {}
    problem = rl.Problem.from_units(X, **relu, **rehu, **rows, penalty=penalty)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", rl.exceptions.ConvergenceWarning)
        solution = rl.solve(problem, tol=_TOL, max_iter=max_iter)
    result.beta = solution.coef
    result.niter = min(solution.n_iter, max_iter - 1) if solution.status == "solved" else max_iter
    result.primal_objfns = [solution.certificate.primal]
    result.dual_objfns = [solution.certificate.primal - solution.certificate.gap]
    result.Lambda, result.Gamma = _multipliers(solution.dual.sample, U, V, S, T, Tau)
    result.xi = solution.dual.inequality
    if np.size(rho):  # stationarity: beta + X'(slopes) = A'xi + 2 mu - rho
        slopes = (U * result.Lambda).sum(0) + (S * result.Gamma).sum(0)
        pull = result.beta + X.T @ slopes - (np.transpose(A) @ result.xi if len(A) else 0.0)
        result.mu = np.clip((pull + rho) / 2, 0.0, rho)


def _multipliers(slopes, U, V, S, T, Tau):
    """Sort the slopes of our rows, which stand sample by sample, into the units of rehline."""
    Lambda, Gamma = np.zeros(U.shape), np.zeros(S.shape)
    units = []  # (sample, kind, values to fill, unit, what the slope is divided by)
    for values, slope, shift, ends in ((Lambda, U, V, None), (Gamma, S, T, Tau)):
        for unit, sample in np.argwhere((slope != 0) | (np.asarray(shift) > 0)):
            size, growing = slope[unit, sample], slope[unit, sample] > 0
            if ends is None:
                kind, size = (0 if growing else 1), size or 1.0
            elif np.isinf(ends[unit, sample]):
                kind, size = (2 if growing else 3), size or 1.0
            elif ends[unit, sample] > 0:
                kind, size = 4, ends[unit, sample]
            else:
                continue
            units.append((sample, kind, values, unit, size))
    units.sort(key=lambda one: one[:2])
    for (sample, _, values, unit, size), slope in zip(units, slopes, strict=True):
        values[unit, sample] = slope / size
    return Lambda, Gamma
