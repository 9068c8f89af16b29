"""The convex program and what can be proved about a point."""

from rectiline.problems._certificate import Certificate, DualPoint, InfeasibilityCertificate
from rectiline.problems._multitask import MultiTaskProblem
from rectiline.problems._problem import Problem
from rectiline.problems._prove import prove_many as prove_many  # for paths, not public
from rectiline.problems._saved import save_infeasibility, save_optimality

__all__ = [
    "Certificate",
    "DualPoint",
    "InfeasibilityCertificate",
    "MultiTaskProblem",
    "Problem",
    "save_infeasibility",
    "save_optimality",
]
