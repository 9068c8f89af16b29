"""Interior point methods, in doubles and in twofold arithmetic."""

from rectiline.solvers.interior.columns import generates_columns
from rectiline.solvers.interior.solver import Interior
from rectiline.solvers.interior.twofold import TwofoldInterior

__all__ = ["Interior", "TwofoldInterior", "generates_columns"]
