"""First-order methods: rough answers, and first guesses for generation."""

from rectiline.solvers.first_order._initial import screened_columns, smoothed_start, zero_dual
from rectiline.solvers.first_order._smooth import spread_of_arguments
from rectiline.solvers.first_order._solver import FirstOrder

__all__ = [
    "FirstOrder",
    "screened_columns",
    "smoothed_start",
    "spread_of_arguments",
    "zero_dual",
]
