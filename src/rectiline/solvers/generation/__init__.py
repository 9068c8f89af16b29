"""Column and constraint generation."""

from rectiline.solvers.generation._follow import BasisFollower
from rectiline.solvers.generation._solver import Generation

__all__ = ["BasisFollower", "Generation"]
