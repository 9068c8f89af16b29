"""Semismooth-Newton method of multipliers."""

from rectiline.solvers.newton._follow import NewtonFollower
from rectiline.solvers.newton.reduced import ReducedNewton
from rectiline.solvers.newton.solver import Newton

__all__ = ["Newton", "NewtonFollower", "ReducedNewton"]
