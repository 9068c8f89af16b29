"""Column and constraint generation."""

from rectiline.solvers.generation._solver import Generation

__all__ = ["Generation"]
