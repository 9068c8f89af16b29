"""Small data sets that ship with the package, for examples and tests."""

from rectiline.datasets._engel import load_engel

__all__ = ["load_engel"]
