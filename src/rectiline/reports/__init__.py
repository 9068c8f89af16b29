"""Tables and plots of solutions, paths and fitted estimators."""

from rectiline.reports._coefficients import CoefficientDisplay
from rectiline.reports._convergence import ConvergenceDisplay
from rectiline.reports._coverage import CoverageDisplay
from rectiline.reports._effect import PartialEffectDisplay
from rectiline.reports._fairness import FairnessDisplay
from rectiline.reports._html import write_report
from rectiline.reports._loss import LossDisplay
from rectiline.reports._path import PathDisplay
from rectiline.reports._quantile import QuantileDisplay
from rectiline.reports._subspace_display import SubspaceDisplay
from rectiline.reports._tables import solution_table

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
