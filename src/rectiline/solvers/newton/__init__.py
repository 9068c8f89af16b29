"""Semismooth-Newton method of multipliers."""

from rectiline.solvers.newton._follow import KinkedFollower, NewtonFollower
from rectiline.solvers.newton.solver import Newton, ReducedNewton

__all__ = ["KinkedFollower", "Newton", "NewtonFollower", "ReducedNewton"]
