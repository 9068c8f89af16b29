"""The solver `passes`: many rows, in memory or in blocks, in a few passes over them."""

from rectiline.solvers.passes._family import solve_family, solve_rows

__all__ = ["solve_family", "solve_rows"]
