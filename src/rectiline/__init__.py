"""Linear models with any convex piecewise linear-quadratic loss, with a proof of optimality."""

from rectiline import constraints, losses, penalties
from rectiline.exceptions import ConvergenceWarning, InfeasibleError, UnsupportedProblemError
from rectiline.problems import Certificate, DualPoint, InfeasibilityCertificate, Problem
from rectiline.solvers import Progress, Solution, Status, solve

__version__ = "0.1.0"

__all__ = [
    "Certificate",
    "ConvergenceWarning",
    "DualPoint",
    "InfeasibilityCertificate",
    "InfeasibleError",
    "Problem",
    "Progress",
    "Solution",
    "Status",
    "UnsupportedProblemError",
    "constraints",
    "losses",
    "penalties",
    "solve",
]
