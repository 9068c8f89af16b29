"""The solver `passes`: many rows, in memory or in blocks, in a few passes over them."""

from rectiline.solvers.passes._family import check_takes_rows, solve_family, solve_rows, try_passes

__all__ = ["check_takes_rows", "solve_family", "solve_rows", "try_passes"]
