"""Who stores and multiplies the design matrix."""

from rectiline.backends._checked import as_design
from rectiline.backends._design import Design

__all__ = ["Design", "as_design"]
