"""Semismooth-Newton method of multipliers."""

from rectiline.solvers.newton.solver import Newton, ReducedNewton

__all__ = ["Newton", "ReducedNewton"]
