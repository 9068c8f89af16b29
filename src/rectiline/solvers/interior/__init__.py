"""Interior point method."""

from rectiline.solvers.interior.solver import Interior

__all__ = ["Interior"]
