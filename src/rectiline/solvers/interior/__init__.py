"""Interior point methods: for large programs, for small ones, and in twofold arithmetic."""

from rectiline.solvers.interior.solver import Interior
from rectiline.solvers.interior.units import SmallInterior, TwofoldInterior

__all__ = ["Interior", "SmallInterior", "TwofoldInterior"]
