"""First-order methods: rough answers, and first guesses for generation."""

from rectiline.solvers.first_order._initial import screened_columns, smoothed_start, zero_dual
from rectiline.solvers.first_order._smooth import spread_of_arguments

__all__ = ["screened_columns", "smoothed_start", "spread_of_arguments", "zero_dual"]
