"""The interior point method."""

from rectiline.solvers.interior.solver import Interior, InteriorState

__all__ = ["Interior", "InteriorState"]
