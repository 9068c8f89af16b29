"""The convex program and what can be proved about a point."""

from rectiline.problems._certificate import Certificate, DualPoint, InfeasibilityCertificate
from rectiline.problems._many import certify_all, predict_all
from rectiline.problems._multitask import MultiTaskProblem
from rectiline.problems._problem import Problem
from rectiline.problems._slopes import SlopeMultipliers, certify_slopes, gather_slopes
from rectiline.problems._span import certify_span

__all__ = [
    "Certificate",
    "DualPoint",
    "InfeasibilityCertificate",
    "MultiTaskProblem",
    "Problem",
    "SlopeMultipliers",
    "certify_all",
    "certify_slopes",
    "certify_span",
    "gather_slopes",
    "predict_all",
]
