"""The solver `passes`: many rows, in memory or in blocks, in a few passes over them."""

from rectiline.solvers.passes._family import solve_family, solve_rows
from rectiline.solvers.passes._pays import passes_pay

__all__ = ["passes_pay", "solve_family", "solve_rows"]
