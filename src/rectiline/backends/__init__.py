"""Who stores and multiplies the design matrix."""

from rectiline.backends._design import Design, as_design

__all__ = ["Design", "as_design"]
