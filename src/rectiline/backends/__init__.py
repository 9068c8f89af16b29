"""Storage of the design matrix, and products with it."""

from rectiline.backends._checked import as_design
from rectiline.backends._design import Design, take_rows

__all__ = ["Design", "as_design", "take_rows"]
