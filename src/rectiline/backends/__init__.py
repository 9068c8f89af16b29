"""Storage of the design matrix, and products with it."""

from rectiline.backends._checked import as_design
from rectiline.backends._design import Design, array_if_small, take_rows

__all__ = ["Design", "array_if_small", "as_design", "take_rows"]
