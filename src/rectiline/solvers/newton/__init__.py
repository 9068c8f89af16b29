"""Semismooth-Newton method of multipliers."""

from rectiline.solvers.newton._follow import Follower, SpanFollower
from rectiline.solvers.newton._leave_out import LeaveOut
from rectiline.solvers.newton.reduced import ReducedNewton
from rectiline.solvers.newton.solver import Newton

__all__ = ["Follower", "LeaveOut", "Newton", "ReducedNewton", "SpanFollower"]
