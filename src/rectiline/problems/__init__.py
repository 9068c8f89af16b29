"""The convex program and what can be proved about a point.

Solvers find more in `rectiline.problems.forms` (what an algorithm sees of a problem) and
`rectiline.problems.proofs` (certificates with the multipliers behind them).
"""

from rectiline.problems._certificate import Certificate, DualPoint, InfeasibilityCertificate
from rectiline.problems._multitask import MultiTaskProblem
from rectiline.problems._problem import Problem

__all__ = [
    "Certificate",
    "DualPoint",
    "InfeasibilityCertificate",
    "MultiTaskProblem",
    "Problem",
]
