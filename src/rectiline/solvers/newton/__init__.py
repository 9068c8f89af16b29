"""Semismooth-Newton method of multipliers."""

from rectiline.solvers.newton._follow import NewtonFollower
from rectiline.solvers.newton._follow_kinks import KinkedFollower
from rectiline.solvers.newton.solver import Newton, ReducedNewton

__all__ = ["KinkedFollower", "Newton", "NewtonFollower", "ReducedNewton"]
