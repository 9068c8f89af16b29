"""Tables and plots of solutions, paths and fitted estimators."""

from rectiline.reports._html import write_report
from rectiline.reports._models import FairnessDisplay, PartialEffectDisplay, SubspaceDisplay
from rectiline.reports._quantiles import CoefficientDisplay, CoverageDisplay, QuantileDisplay
from rectiline.reports._solving import ConvergenceDisplay, LossDisplay, PathDisplay, solution_table

__all__ = [
    "CoefficientDisplay",
    "ConvergenceDisplay",
    "CoverageDisplay",
    "FairnessDisplay",
    "LossDisplay",
    "PartialEffectDisplay",
    "PathDisplay",
    "QuantileDisplay",
    "SubspaceDisplay",
    "solution_table",
    "write_report",
]
