"""Models written as formulas: terms, splines with shapes, fixed effects (extra `formula`)."""

from rectiline.formulas._design import FormulaDesign, formula
from rectiline.formulas._model import FormulaModel

__all__ = ["FormulaDesign", "FormulaModel", "formula"]
