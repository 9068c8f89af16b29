"""First-order methods: rough answers, and first guesses for generation."""

from rectiline.solvers.first_order._initial import screened_columns, smoothed_start, zero_dual

__all__ = ["screened_columns", "smoothed_start", "zero_dual"]
