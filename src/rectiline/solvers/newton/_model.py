"""The part of the program that lives in coefficient space, in scaled variables.

Coefficients are scaled so that every column of X has standard deviation one (root mean square one
without an intercept), the intercept is that of centred columns, and constraint rows have norm one.
All this is applied to d-vectors and d x d matrices only: X itself is never touched.

    h(b) = sum_j rho_j/2 b_j^2 + l1_j |b_j| + [lower_j <= b_j <= upper_j],     R b + k >= 0 (or = 0)

The last variable is the intercept when there is one. Kinked columns (l1, bounds) and constraints
are rows of their own in the method of multipliers, each with its own penalty parameter.
"""

from __future__ import annotations

from copy import copy
from dataclasses import dataclass
from importlib import import_module
from typing import Any

import numpy as np
from scipy import sparse as sp

from rectiline import _core
from rectiline._typing import Matrix, Vector
from rectiline.problems.forms import FormPoint, RectifiedForm

__all__ = ["Model", "Multipliers", "take_routines"]


@dataclass(slots=True, eq=False)
class Multipliers:
    """Duals of the kinked columns and of the constraint rows, in scaled units."""

    column: Vector
    constraint: Vector


def take_routines() -> bool:
    """Hand SciPy's Cholesky and symmetric product to the compiled core; return whether it can.

    SciPy exports the Fortran routines it is built on as capsules, each named after the C type of
    its function. The core takes them if they have the type it calls, with 32-bit integers, and
    keeps its own loops otherwise.
    """
    try:
        lapack: dict[str, Any] = import_module("scipy.linalg.cython_lapack").__pyx_capi__
        blas: dict[str, Any] = import_module("scipy.linalg.cython_blas").__pyx_capi__
        _core.use_dense_routines(lapack["dpotrf"], lapack["dpotrs"], blas["dsyrk"])
    except (ImportError, AttributeError, KeyError, ValueError):
        return False
    return True


take_routines()


class Model:
    """Scaled columns, constraints and units of a rectified form."""

    def __init__(self, form: RectifiedForm, argument_scale: float, slope_width: float) -> None:
        self.form = form
        design, columns = form.design, form.columns
        d = design.n_features
        self.d, self.order = d, d + form.fit_intercept
        self.center, unit = form.column_units()
        self.scale = np.ones(self.order)
        self.scale[:d] = unit
        self.rho, self.l1, self.lower, self.upper = np.zeros((4, self.order))
        self.rho[:d] = columns.rho * unit * unit
        self.lower.fill(-np.inf)
        self.upper.fill(np.inf)
        self.kinked = np.zeros(0, dtype=np.int64)
        if columns.has_l1 or columns.has_bounds:
            self.l1[:d] = columns.l1 * unit
            self.lower[:d] = columns.lower / unit
            self.upper[:d] = columns.upper / unit
            bounded = np.isfinite(self.lower) | np.isfinite(self.upper)
            self.kinked = np.flatnonzero((self.l1 > 0) | bounded).astype(np.int64, copy=False)
        self._set_constraints(unit)
        # Natural units: arguments vary by `argument_scale`, all slopes together by total_width.
        self.argument_scale = argument_scale
        self.total_width = form.total_weight * slope_width
        stiffness = self.total_width / argument_scale
        self.row_stiffness = slope_width / argument_scale
        self.constraint_stiffness = 10.0 * stiffness
        self._set_strength_terms()

    def _set_strength_terms(self) -> None:
        """Set what follows from the strength of the penalty: rho and l1 are known."""
        d, pull = self.d, self.l1[self.kinked]
        stiffness = self.total_width / self.argument_scale
        self.column_stiffness = pull
        if pull.size:
            stiff = 20.0 * pull / self.argument_scale
            self.column_stiffness = np.where(pull > 0, stiff, 10.0 * stiffness)
        # The proximal term holds columns whose own curvature cannot be relied on. A weak penalty
        # that is not tiny makes the Newton matrix safe without.
        self.proximal = np.zeros(self.order)
        if self.form.fit_intercept or (self.rho[:d] < 1e-9 * stiffness).any():
            weak = self.rho < 1e-2 * stiffness
            weak[d:] = True
            self.proximal[weak] = 1e-3 * stiffness
        self.loop = _core.NewtonLoop(
            self.scale,
            self.center,
            self.rho,
            self.l1,
            self.lower,
            self.upper,
            self.kinked,
            self.column_stiffness,
            self.rows,
            self.offset,
            self.equality,
            self.constraint_stiffness,
            d,
        )

    def times_strength(self, factor: float) -> Model:
        """Return the model with a penalty so many times as strong; it shares everything else."""
        other = copy(self)
        other.rho, other.l1 = factor * self.rho, factor * self.l1
        other._set_strength_terms()
        return other

    def _set_constraints(self, unit: Vector) -> None:
        form = self.form
        self.n_constraints = form.n_constraints
        if not self.n_constraints:
            self.equality = np.zeros(0, dtype=np.uint8)
            self.rows: Matrix = np.zeros((0, self.order))
            self.row_norm = self.offset = np.zeros(0)
            return
        self.equality = form.is_equality
        raw = form.constraint_design.X
        dense = raw.toarray() if sp.issparse(raw) else np.asarray(raw)
        scaled = np.zeros((self.n_constraints, self.order))
        scaled[:, : self.d] = dense * unit
        norm = np.linalg.norm(scaled, axis=1)
        self.row_norm = np.where(norm > 0, norm, 1.0)
        self.rows = scaled / self.row_norm[:, None]
        self.offset = form.constraint_offset / self.row_norm

    # ---- there and back --------------------------------------------------------------------

    def expand(self, b: Vector) -> Vector:
        """Return a vector of scaled variables in the user's units, intercept last."""
        user = b * self.scale
        if self.center is not None:
            user[self.d] -= float(self.center @ user[: self.d])
        return user

    def contract(self, gradient: Vector) -> Vector:
        """Return a gradient in the user's variables as one in scaled variables."""
        if self.center is None:
            return gradient * self.scale
        out = gradient * self.scale
        out[: self.d] -= gradient[self.d] * self.center * self.scale[: self.d]
        return out

    def contract_matrix(self, H: Matrix) -> Matrix:
        """Return a Hessian in the user's variables as one in scaled variables (may overwrite H)."""
        if self.center is not None:
            d, m = self.d, self.center
            H[:d] -= np.outer(m, H[d])
            H[:, :d] -= np.outer(H[:, d], m)
        H *= self.scale
        H *= self.scale[:, None]
        return H

    def to_user(self, b: Vector) -> tuple[Vector, float]:
        """Return coefficients and intercept in the user's units."""
        user = self.expand(b)
        return user[: self.d].copy(), float(user[self.d]) if self.form.fit_intercept else 0.0

    def from_user(self, coef: Vector, intercept: float) -> Vector:
        """Return scaled variables."""
        if not self.form.fit_intercept:
            return coef / self.scale
        shift = 0.0 if self.center is None else float(self.center @ coef)
        return np.append(coef, intercept + shift) / self.scale

    def no_multipliers(self) -> Multipliers:
        """Return zero multipliers."""
        return Multipliers(np.zeros(self.kinked.size), np.zeros(self.n_constraints))

    # ---- starts ----------------------------------------------------------------------------

    def column_multipliers(self, b: Vector, warm: FormPoint) -> Vector:
        """Return what the kinked columns' own terms must pull with at a warm start."""
        gradient = np.zeros(self.order)
        gradient[: self.d] = self.form.design.tdot(np.ascontiguousarray(warm.sample))
        pull = -self.contract(gradient) - self.rho * b
        if self.n_constraints:
            pull += self.rows.T @ (warm.constraint * self.row_norm)
        k = self.kinked
        # Beyond an l1 term only a bound can pull, and only outwards.
        most = np.where(np.isfinite(self.upper[k]), np.inf, self.l1[k])
        least = np.where(np.isfinite(self.lower[k]), -np.inf, -self.l1[k])
        return np.clip(pull[k], least, most)

    def gentle_start(self) -> float:
        """Return a growth at which one row's envelope is about as stiff as the ridge part.

        With about as many columns as rows the data can be fitted exactly, and multipliers are tiny
        against their boxes: a start in units of the boxes would be far too stiff.
        """
        design = self.form.design
        row = design.mean_row_square(1.0 / self.form.columns.rho)
        stiffness = self.total_width / (self.argument_scale * design.n_samples)
        return 10.0 / max(stiffness * row, 1e-300)
